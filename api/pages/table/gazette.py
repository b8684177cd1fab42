"""The gazette above the question: the news since the visitor's last own move, with battles as cards."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from api.pages.common.geometry import load_geometry
from api.pages.common.owners import Owner, Owners
from api.pages.common.presentation import is_bookkeeping, is_loss, load_map, load_players, load_sheet, tell_loss
from api.pages.map.map_drawing import region_name
from api.pages.table.player_row import read_figure
from api.pages.table.table_page import TablePage
from domain.types import Doc

MOST_CARDS = 8
"""Battles as cards; the sentences tell the others."""
IN_SIGHT = 4
"""Lines before the rest folds."""
MOST_ENDS = 2
"""Sentences of the end of a turn of the game."""
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
    def is_against(self) -> bool:
        """Return True if another attacked the visitor in it."""
        return self.sides[1].is_own

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


@dataclass(frozen=True)
class NewsLine:
    """A line of the news: a sentence, or a battle with its card."""

    text: str
    battle: BattleShown | None = None
    is_own: bool = False
    """True for the visitor's own deed, and for what names the visitor."""
    is_against: bool = False
    """True for a deed of others against the visitor, and for what the visitor loses."""


@dataclass
class Gazette:
    """All news since the visitor's last own move: its own result first, then deeds in their order, then bookkeeping.

    In the report of a turn the own battles are that result.
    """

    since: int
    """Version before that move, or before the turn of a report."""
    is_report: bool
    """True for the report of a turn of sheets of orders."""
    lines: Sequence[NewsLine]
    """Those in sight."""
    others: Sequence[NewsLine] = ()
    """Those that fold."""
    changes: Sequence[FigureChange] = ()
    has_ends: bool = False
    """True if a turn of the game has ended."""
    is_filed: bool = False
    """True if they tell of an order on the own sheet: the past board does not show it."""

    @property
    def battles(self) -> Sequence[BattleShown]:
        """Return the battles in sight."""
        return [line.battle for line in self.lines if line.battle]

    @property
    def leads_with_changes(self) -> bool:
        """Return True if the figures stand in sight: at the end of a turn they are the result."""
        return bool(self.changes) and (self.is_report or self.has_ends)

    @property
    def folded(self) -> int:
        """Return the number of folded lines, with the figures if they fold."""
        return len(self.others) + (len(self.changes) if not self.leads_with_changes else 0)


@dataclass(frozen=True)
class _Told:
    """A line before its place is known."""

    line: NewsLine
    rank: int
    """Its weight: the lowest is seen first. Bookkeeping has `_BOOKKEEPING`."""


_OWN, _AGAINST, _END, _FOUGHT, _OWN_GAIN, _NAMED, _GAIN, _DEED, _BOOKKEEPING = range(9)
"""Ranks of lines: the own deed, deeds of others against the visitor, the end of a turn of the game, own battles, own
gains and losses, others that name the visitor, gains and losses of others, their other deeds."""


def find_news(page: TablePage, entries: Sequence[Doc], battles: Sequence[Doc]) -> Gazette | None:
    """Return the news since the visitor's last own move, its own result included, or None before any.

    With sheets of orders it is the last turn worked out, however many orders have been filed since.
    """
    standing = [each for each in entries if page.tell(each) and not each.get("undone")]
    own, begin = _find_begin(page, standing)
    if not begin:
        return None
    is_report = begin != own
    ends = set() if is_report else {*_list_ends(page, standing, own)}
    fresh, fought = _list_since(standing, begin), show_battles(page, _list_since(battles, begin))
    told = _tell_deeds(page, _leave_out_orders(page, fresh, own), fought, ends)
    if is_report:
        told = [_rank_own_battle(each) for each in told]
    if own >= begin:
        told = _lead_with_own(page, told, [each for each in fresh if each["version"] == own])
    seen, folded = _fold(told, IN_SIGHT - is_report)  # its figures take a line
    is_filed = load_sheet(page.labels.rules.package) is not None and not is_report
    return Gazette(begin - 1, is_report, seen, folded, has_ends=bool(ends), is_filed=is_filed)


def _list_since(entries: Sequence[Doc], version: int) -> list[Doc]:
    return [each for each in entries if each["version"] >= version]


def _rank_own_battle(told: _Told) -> _Told:
    """Return an own battle as an own deed, and anything else as it is."""
    return replace(told, rank=_OWN) if told.line.battle and told.line.battle.is_own else told


def _fold(told: Sequence[_Told], most: int) -> tuple[list[NewsLine], list[NewsLine]]:
    """Return the lines in sight, of each rank the newest, and the others: deeds, then bookkeeping. Both keep the order.

    In sight the own deed comes first, then what others did against the visitor. Bookkeeping is in sight only if there
    is no deed.
    """
    deeds = [n for n, each in enumerate(told) if each.rank != _BOOKKEEPING] or range(len(told))
    heaviest = sorted(deeds, key=lambda n: (told[n].rank, -n))[:most]
    seen = sorted(heaviest, key=lambda n: (min(told[n].rank, _END), n))
    rest = sorted({*range(len(told))} - {*seen}, key=lambda n: (told[n].rank == _BOOKKEEPING, n))
    return [told[n].line for n in seen], [told[n].line for n in rest]


def _lead_with_own(page: TablePage, told: Sequence[_Told], entries: Sequence[Doc]) -> list[_Told]:
    """Return the lines with the own deed first: the first line of the own move, bookkeeping only without another."""
    lines = {line for each in entries for line in page.tell(each)}
    own = [n for n, each in enumerate(told) if lines & {each.line.text, *_sentences(each.line)}]
    if not own:
        return list(told)
    first = min(own, key=lambda n: (told[n].rank == _BOOKKEEPING, n))
    led = _Told(replace(told[first].line, is_own=True, is_against=False), _OWN)
    return [led, *told[:first], *told[first + 1 :]]


def _sentences(line: NewsLine) -> Sequence[str]:
    sentences: Sequence[str] = line.battle.doc["sentences"] if line.battle else ()
    return sentences


def _tell_deeds(page: TablePage, entries: Sequence[Doc], battles: Sequence[BattleShown], ends: Set[str]) -> list[_Told]:
    """Return the lines of entries in their order, each once; a battle stands where its last sentence does."""
    found: dict[object, _Told] = {}
    for entry in entries:
        fought = {each.doc["region"] for each in battles if each.doc["version"] == entry["version"]}
        for line, fact in page.tell_facts(entry):
            if battle := _find_battle(battles, line, entry["version"]):
                found.pop(id(battle), None)
                found[id(battle)] = _tell_battle(battle)
            elif short := _tell_own_loss(page, fact):
                found.setdefault(short, _Told(NewsLine(short, is_against=True), _AGAINST))
                found.setdefault(line, _Told(NewsLine(line), _BOOKKEEPING))
            else:
                is_detail = fact is not None and fact.get("region") in fought
                rank = _END if line in ends else _BOOKKEEPING if is_detail else _rank_line(page, line, fact, entry)
                is_against = rank == _AGAINST
                is_own = not is_against and _names_visitor(page, line)
                found.setdefault(line, _Told(NewsLine(line, is_own=is_own, is_against=is_against), rank))
    return list(found.values())


def _tell_own_loss(page: TablePage, fact: Doc | None) -> str:
    """Return the short sentence for a loss of the visitor's with its reason; an empty text for any other fact."""
    texts = page.labels.texts
    if fact is None or page.seat is None or fact.get("seat") != page.seat:
        return ""
    told = tell_loss(page.labels.rules.package, fact, texts.lang)
    return page.labels.sentence(told[0].replace("{value}", texts.grammar.number(told[1]))) if told else ""


def _find_battle(battles: Sequence[BattleShown], line: str, version: int) -> BattleShown | None:
    """Return the battle of a sentence of a version: two battles may share one, such as a loss in their region."""
    of_line = [each for each in battles if line in each.doc["sentences"] and each.doc["version"] >= version]
    return min(of_line, key=lambda each: int(each.doc["version"]), default=None)


def _tell_battle(battle: BattleShown) -> _Told:
    """Return the line of a battle."""
    rank = _AGAINST if battle.is_against else _FOUGHT if battle.is_own else _GAIN
    is_own = battle.is_own and not battle.is_against
    return _Told(NewsLine(battle.doc["told"], battle, is_own=is_own, is_against=battle.is_against), rank)


def _names_visitor(page: TablePage, line: str) -> bool:
    """Return True for a sentence with the visitor's name."""
    return page.seat is not None and page.labels.short_seat(page.seat) in line


def _rank_line(page: TablePage, line: str, fact: Doc | None, entry: Doc) -> int:
    """Return the rank of a sentence. `fact`: what it tells, if it tells one."""
    if _is_against(page, line, fact, entry):
        return _AGAINST
    if _keeps_books(page, fact, entry):
        return _BOOKKEEPING
    is_gain = fact is not None and fact["t"] in page.labels.rules.meta.headlines
    if _names_visitor(page, line):
        return _OWN_GAIN if is_gain else _NAMED
    return _GAIN if is_gain else _DEED


def _is_against(page: TablePage, line: str, fact: Doc | None, entry: Doc) -> bool:
    """Return True for a loss of the visitor's, and for a deed of others that names the visitor."""
    if fact is None or not _names_visitor(page, line) or _is_own(page, entry):
        return False
    if fact.get("seat") == page.seat:
        return is_loss(page.labels.rules.package, fact)
    return not _keeps_books(page, fact, entry)


def _find_begin(page: TablePage, standing: Sequence[Doc]) -> tuple[int, int]:
    """Return the versions of the own last move and of the first news, or 0.

    The news begin with that move, or with the last turn worked out from sheets.
    """
    if page.summary["status"] == "open" or page.seat is None:
        return 0, 0
    own = max((each["version"] for each in standing if each["kind"] == "moved" and _is_own(page, each)), default=0)
    turns = [each["version"] for each in standing if each["kind"] == "resolved"]
    has_report = turns and load_sheet(page.labels.rules.package) is not None
    return own, turns[-1] if has_report else own


def _is_own(page: TablePage, entry: Doc) -> bool:
    """Return True for a move of the visitor's; under seal the public part names no seat."""
    acts = [seat for part in entry.get("own", ()) for seat, _ in part["acts"]]
    return entry["seat"] == page.seat or page.seat in acts


def _leave_out_orders(page: TablePage, told: Sequence[Doc], own: int) -> list[Doc]:
    """Return the entries without sheets of orders of others, and without the orders that the own sheet shows.

    The own last move, version `own`, stays.
    """
    form = load_sheet(page.labels.rules.package)
    if form is None:
        return list(told)
    filed = [move for order in form.list_orders(page.board.get("own") or {}) for move in (form.order_move(order),)]
    ends = form.cancel_move(0)["type"]

    def is_order(entry: Doc) -> bool:
        acts = [move for part in entry.get("own", ()) for _, move in part["acts"]]
        return all(move in filed or move.get("type") == ends for move in acts)

    return [each for each in told if each["kind"] != "moved" or each["version"] == own or not is_order(each)]


def _list_ends(page: TablePage, standing: Sequence[Doc], own: int) -> list[str]:
    """Return the last sentences of each turn of the game that has ended since a version, such as a War."""
    found, turn = list[str](), 0
    for entry in standing:
        now = entry.get("chapter", {"turn": turn})["turn"]
        if entry["version"] >= own and 0 < turn < now:
            line = next((each["line"] for each in entry.get("headings", ())), 0)
            ended = page.tell_facts(entry)[:line]
            found += [text for text, fact in ended if not _keeps_books(page, fact, entry)][-MOST_ENDS:]
        turn = now
    return found


def _keeps_books(page: TablePage, fact: Doc | None, entry: Doc) -> bool:
    """Return True if a sentence tells bookkeeping. `fact`: what it tells, if it tells one."""
    return fact is not None and is_bookkeeping(page.labels.rules.package, fact, entry["facts"])


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


def list_fought(battles: Sequence[BattleShown]) -> list[str]:
    """Return the regions of battles that the map marks."""
    return list(dict.fromkeys(each.doc["region"] for each in battles if each.is_on_map))
