"""The gazette above the question: what has happened since the visitor's last own move, with battles as cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.pages.common.geometry import load_geometry
from api.pages.common.owners import Owner, Owners
from api.pages.common.presentation import load_map, load_players, load_sheet
from api.pages.map.map_drawing import region_name
from api.pages.table.chronicle import list_told
from api.pages.table.players import read_figure
from api.pages.table.table_page import TablePage
from api.services import Doc

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
class Change:
    """A figure of the visitor's before and after."""

    name: str
    before: str
    after: str


@dataclass
class Gazette:
    """All that has happened since the visitor's last own move: what is about the visitor first."""

    since: int
    """Version of that move, or the one before it if the move itself has led to a battle."""
    is_report: bool
    """True for the report of a turn that has been worked out from sheets of orders."""
    battles: Sequence[BattleShown]
    lines: Sequence[str]
    """What the cards do not tell."""
    others: Sequence[str]
    """Sentences that do not name the visitor, if there are many."""
    changes: Sequence[Change] = ()

    @property
    def count(self) -> int:
        """Return the number of battles and sentences."""
        return len(self.battles) + len(self.lines) + len(self.others)


def find_news(page: TablePage, entries: Sequence[Doc], battles: Sequence[Doc]) -> Gazette | None:
    """Return what others, the dice and the engine have done since the visitor's last own move, or None for nothing.

    With sheets of orders it is the last turn worked out, however many orders have been filed since.
    """
    if page.summary["status"] == "open" or page.seat is None:
        return None
    standing = [each for each in entries if not each.get("undone")]
    turns = [each["version"] for each in standing if each["kind"] == "resolved"]
    is_report = bool(turns) and load_sheet(page.labels.rules.package) is not None
    own = max((e["version"] for e in standing if e["kind"] == "moved" and e["seat"] == page.seat), default=0)
    own = turns[-1] if is_report else own
    if not own:
        return None
    fresh = [each for each in battles if each["version"] >= own]
    since = own - 1 if is_report or any(each["version"] == own for each in fresh) else own
    told = list_told(page, [each for each in standing if each["version"] > since])
    if not told:
        return None
    cards = [each for each in show_battles(page, fresh) if not each.doc["open"]][:MOST_CARDS]
    on_cards = {line for each in battles for line in each["sentences"]}
    lines = [line for line in _order_lines(page, told) if line not in on_cards]
    own_lines = [line for line in lines if line in _list_own(page, told)]
    is_long = len(lines) > MOST_LINES
    return Gazette(
        since,
        is_report,
        cards,
        own_lines if is_long else lines,
        [line for line in lines if line not in own_lines] if is_long else (),
    )


def _order_lines(page: TablePage, told: Sequence[Doc]) -> list[str]:
    """Return the sentences of entries: those about the visitor first."""
    own = _list_own(page, told)
    lines = dict.fromkeys(line for each in told for line in page.tell(each))
    return sorted(lines, key=lambda line: line not in own)


def _list_own(page: TablePage, told: Sequence[Doc]) -> set[str]:
    """Return the sentences that name the visitor, or that the visitor alone may read."""
    name = page.labels.short_seat(page.seat) if page.seat is not None else ""
    secret = {line for each in told for part in each.get("own", ()) for line in part["text"]}
    return secret | {line for each in told for line in page.tell(each) if name in line}


def list_figure_changes(page: TablePage, earlier: Doc) -> list[Change]:
    """Return the visitor's figures that differ from those of an earlier board."""
    package, texts = page.labels.rules.package, page.labels.texts
    found = []
    for figure in load_players(package).get("figures", ()):
        before, after = (read_figure(page.labels, board, figure, page.seat) for board in (earlier, page.board))
        if page.seat in before and page.seat in after and before[page.seat] != after[page.seat]:
            name = page.labels.member(figure["at"].rpartition("/")[2])
            found.append(Change(name, texts.grammar.number(before[page.seat]), texts.grammar.number(after[page.seat])))
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
    return sorted(reversed(shown), key=lambda battle: not battle.is_own)
