"""The gazette above the question: the news since the visitor's last own move, with battles as cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.pages.common.geometry import load_geometry
from api.pages.common.owners import Owner, Owners
from api.pages.common.presentation import load_map, load_players, load_sheet
from api.pages.map.map_drawing import region_name
from api.pages.table.chronicle import list_told
from api.pages.table.player_row import read_figure
from api.pages.table.table_page import TablePage
from domain.types import Doc

MOST_CARDS = 8
"""Battles as cards; the sentences tell the others."""
MOST_LINES = 12
"""Sentences in sight; of more, those about the visitor."""
FACES = 6
"""Faces of a die that is drawn with pips."""


@dataclass(frozen=True)
class SideShown:
    """A side on a card. `owner` is None for a party without a shield."""

    doc: Doc
    owner: Owner | None
    has_won: bool
    is_own: bool


@dataclass(frozen=True)
class BattleShown:
    """A battle as a card."""

    doc: Doc
    sides: Sequence[SideShown]
    place: str
    """Name of its region."""
    is_on_map: bool

    @property
    def is_own(self) -> bool:
        """Return True if the visitor fought in it."""
        return any(side.is_own for side in self.sides)

    @property
    def has_pips(self) -> bool:
        """Return True if all its dice have the faces of a common one."""
        return all(0 < die <= FACES for side in self.sides for each in side.doc["dice"] for die in each)


@dataclass(frozen=True)
class FigureChange:
    """A figure of the visitor's before and after."""

    name: str
    before: str
    after: str


@dataclass
class Gazette:
    """All news since the visitor's last own move, those about the visitor first."""

    since: int
    """Version of that move, or the one before it if the move itself has led to a battle."""
    is_report: bool
    """True for the report of a turn of sheets of orders."""
    battles: Sequence[BattleShown]
    lines: Sequence[str]
    """All but the sentences on cards."""
    others: Sequence[str]
    """Sentences without the visitor, if there are many."""
    changes: Sequence[FigureChange] = ()

    @property
    def count(self) -> int:
        """Return the number of battles and sentences."""
        return len(self.battles) + len(self.lines) + len(self.others)


def find_news(page: TablePage, entries: Sequence[Doc], battles: Sequence[Doc]) -> Gazette | None:
    """Return the news of others, of dice and of the engine since the visitor's last own move, or None without any.

    With sheets of orders it is the last turn worked out, however many orders have been filed since.
    """
    standing = _list_standing(entries)
    own, is_report = _find_begin(page, standing)
    if not own:
        return None
    fresh = [each for each in battles if each["version"] >= own]
    since = own - 1 if is_report or any(each["version"] == own for each in fresh) else own
    told = list_told(page, [each for each in standing if each["version"] > since])
    if not told:
        return None
    lines, others = _list_lines(page, told, {line for each in battles for line in each["sentences"]})
    cards = show_battles(page, [each for each in fresh if not each["open"]])[:MOST_CARDS]
    return Gazette(since, is_report, cards, lines, others)


def _list_standing(entries: Sequence[Doc]) -> list[Doc]:
    return [each for each in entries if not each.get("undone")]


def _find_begin(page: TablePage, standing: Sequence[Doc]) -> tuple[int, bool]:
    """Return the version of the last turn worked out from sheets and True, or that of the own last move; 0 for none."""
    if page.summary["status"] == "open" or page.seat is None:
        return 0, False
    turns = [each["version"] for each in standing if each["kind"] == "resolved"]
    if turns and load_sheet(page.labels.rules.package) is not None:
        return turns[-1], True
    own = [each["version"] for each in standing if each["kind"] == "moved" and each["seat"] == page.seat]
    return max(own, default=0), False


def _list_lines(page: TablePage, told: Sequence[Doc], on_cards: set[str]) -> tuple[list[str], list[str]]:
    """Return the sentences about the visitor, then others if they are few; and the others if they are many."""
    about = _list_own(page, told)
    lines = [line for line in dict.fromkeys(line for each in told for line in page.tell(each)) if line not in on_cards]
    own, others = [line for line in lines if line in about], [line for line in lines if line not in about]
    return (own, others) if len(lines) > MOST_LINES else ([*own, *others], [])


def _list_own(page: TablePage, told: Sequence[Doc]) -> set[str]:
    """Return the sentences with the visitor's name, and those for the visitor alone."""
    name = page.labels.short_seat(page.seat) if page.seat is not None else ""
    secret = {line for each in told for part in each.get("own", ()) for line in part["text"]}
    return secret | {line for each in told for line in page.tell(each) if name in line}


def list_figure_changes(page: TablePage, earlier: Doc) -> list[FigureChange]:
    """Return the changes of the visitor's figures from an earlier board."""
    if (seat := page.seat) is None:
        return []
    number, found = page.labels.texts.grammar.number, []
    for figure in load_players(page.labels.rules.package).get("figures", ()):
        before, after = (read_figure(page.labels, board, figure, seat).get(seat) for board in (earlier, page.board))
        if before is not None and after is not None and before != after:
            name = page.labels.member(figure["at"].rpartition("/")[2])
            found.append(FigureChange(name, number(before), number(after)))
    return found


def show_battles(page: TablePage, battles: Sequence[Doc]) -> list[BattleShown]:
    """Return battles as cards: the visitor's own first, the newest before older ones."""
    labels, package = page.labels, page.labels.rules.package
    geometry = load_geometry(package)
    owners = Owners(labels, page.board, load_map(package).get("owners", ()))
    shown = []
    for doc in battles:
        sides = []
        for name, side in zip(("attacker", "defender"), doc["sides"], strict=True):
            owner = owners.find(side["who"] if side["seat"] is None else side["seat"])
            is_own = side["seat"] is not None and side["seat"] == page.seat
            sides.append(SideShown(side, owner, doc["winner"] == name, is_own))
        is_on_map = geometry is not None and doc["region"] in geometry.regions
        shown.append(BattleShown(doc, sides, region_name(labels.texts, doc["region"]), is_on_map))
    shown.reverse()
    return sorted(shown, key=lambda battle: not battle.is_own)
