"""Ten order sheets edited unseen by the others, spies, submitting and reopening, a batch record that no seat wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, TypeVar

from domain.errors import RuleError
from domain.kernel.records.audience import TABLE
from domain.kernel.rules import meta
from domain.kernel.rules.choices import Builder, Option, one, span
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Decision, Frame, State, assign
from domain.kernel.rules.meta import OptionType, Table
from domain.kernel.rules.ruleset import Nothing, Ruleset, Score, memo, on
from domain.kernel.schema.declarations import Admission, Fact, Id, Meta, Move, Part, declared_classes
from domain.kernel.schema.json_codec import BY_SEAT
from domain.kernel.schema.validators import IntegerRange
from domain.types import DIRECTOR, Doc, Json, Seat, Viewer
from tests.kernel.flows import orders_frames as frames

PLACES = tuple(f"t{i:02}" for i in range(12))


@dataclass(frozen=True)
class Orders(State):
    """Public: turn, owners. Hidden: sheets, treasuries, what spies have seen, the garrisons (nobody's)."""

    turn: int = 0
    turns: int = 0
    owner: dict[str, int | None] = field(default_factory=dict)
    money: Annotated[tuple[int, ...], BY_SEAT] = ()
    sheets: Annotated[tuple[tuple[dict[str, Json], ...], ...], BY_SEAT] = ()
    spied: Annotated[tuple[dict[str, int], ...], BY_SEAT] = ()
    garrison: dict[str, int] = field(default_factory=dict)


D = Draft[Orders]
T = TypeVar("T")


def put(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


# --- facts ---------------------------------------------------------------------------------------------------


class GarrisonSet(Fact[Orders], frozen=True):
    """How many units hold a place; nobody knows."""

    to: str
    units: int

    def evolve(self, s: Orders) -> Orders:
        return assign(s, garrison={**s.garrison, self.to: self.units})


class TurnBegun(Fact[Orders], frozen=True):
    """A turn begins."""

    turn: int

    def evolve(self, s: Orders) -> Orders:
        return assign(s, turn=self.turn)


class OrderFiled(Fact[Orders], frozen=True):
    """OR-1: an order stands on a sheet."""

    seat: int
    to: str
    units: int

    def evolve(self, s: Orders) -> Orders:
        order: Doc = {"to": self.to, "units": self.units}
        return assign(s, sheets=put(s.sheets, self.seat, (*s.sheets[self.seat], order)))


class Spied(Fact[Orders], frozen=True):
    """OR-3: a seat knows the garrison of a place; `money` is what it has left."""

    seat: int
    to: str
    garrison: int
    money: int

    def evolve(self, s: Orders) -> Orders:
        seen = {**s.spied[self.seat], self.to: self.garrison}
        return assign(s, spied=put(s.spied, self.seat, seen), money=put(s.money, self.seat, self.money))


class PlaceTaken(Fact[Orders], frozen=True):
    """A place belongs to a seat."""

    to: str
    seat: int

    def evolve(self, s: Orders) -> Orders:
        return assign(s, owner={**s.owner, self.to: self.seat})


class SheetDone(Fact[Orders], frozen=True):
    """A sheet has been resolved; `money` is the treasury after it."""

    seat: int
    money: int

    def evolve(self, s: Orders) -> Orders:
        return assign(s, money=put(s.money, self.seat, self.money), sheets=put(s.sheets, self.seat, ()))


# --- moves ---------------------------------------------------------------------------------------------------


class Order(Move, frozen=True):
    """File an order: so many units to a place."""

    admission: ClassVar = Admission(("orders",), hidden=("*",), anonymous=True, rule="OR-1")
    to: Id
    units: Annotated[int, Meta(ge=1)]


class Spy(Move, frozen=True):
    """Look at a garrison, for one coin."""

    admission: ClassVar = Admission(("orders",), hidden=("*",), anonymous=True, rule="OR-3")
    to: Id


class Submit(Move, frozen=True):
    """The sheet is done."""

    admission: ClassVar = Admission(("orders",), rule="OR-4")


class Reopen(Move, frozen=True):
    """The sheet is not done after all."""

    admission: ClassVar = Admission(("orders",), by="may", rule="OR-4")


class Resolve(Move, frozen=True):
    """The engine resolves all sheets."""

    admission: ClassVar = Admission(("resolve",), by="engine")


# --- rules ---------------------------------------------------------------------------------------------------


def setup(d: D) -> None:
    for place in PLACES:
        d.add(GarrisonSet(place, d.draws.roll("garrison", 1, 6, TABLE)), TABLE)
    begin(d, 1)


def begin(d: D, turn: int) -> None:
    d.add(TurnBegun(turn))
    seats = [s for s in range(d.state.seats) if s not in d.state.vacant]
    if turn > d.state.turns or not seats:
        d.finish()
    else:
        d.ask(frames.Orders(turn), *seats)


def free(s: Orders, seat: Seat) -> int:
    """The treasury after the sheet; kept per state object."""
    return memo(s, f"free{seat}", lambda: s.money[seat] - sum(int(o["units"]) for o in s.sheets[seat]))


def do_order(d: D, frame: Frame, seat: Seat, move: Order) -> None:
    if move.to not in d.state.owner:
        raise RuleError("unknown_place", "OR-1")
    if move.units > free(d.state, seat):
        raise RuleError("insufficient_funds", "OR-2", {"free": free(d.state, seat)})
    d.add(OrderFiled(seat, move.to, move.units), (seat,))


def do_spy(d: D, frame: Frame, seat: Seat, move: Spy) -> None:
    """OR-3: at once, and never undone."""
    if move.to not in d.state.owner:
        raise RuleError("unknown_place", "OR-1")
    if free(d.state, seat) < 1:
        raise RuleError("insufficient_funds", "OR-2", {"free": free(d.state, seat)})
    d.add(Spied(seat, move.to, d.state.garrison[move.to], d.state.money[seat] - 1), (seat,))
    d.barrier()


def do_submit(d: D, frame: Frame, seat: Seat, move: Submit) -> None:
    d.mark_answered(seat)


def do_reopen(d: D, frame: Frame, seat: Seat, move: Reopen) -> None:
    if seat not in frame.done:
        raise RuleError("not_submitted", "OR-4")
    d.reopen(seat)


def go_orders(d: D, frame: Frame) -> None:
    d.end()
    d.ask(frames.Resolve(frame.context(frames.Orders).turn), engine=True)


def do_resolve(d: D, frame: Frame, seat: None, move: Resolve) -> None:
    s = d.state
    for empire in range(s.seats):
        for order in s.sheets[empire]:
            left = d.state.garrison[order["to"]] - d.draws.roll("battle", 0, order["units"], TABLE)
            d.add(GarrisonSet(order["to"], max(left, 0)), TABLE)
            if left < 0 and d.state.owner[order["to"]] is None:
                d.add(PlaceTaken(order["to"], empire))
        owned = sum(o == empire for o in d.state.owner.values())
        d.add(SheetDone(empire, free(s, empire) + 3 + owned), (empire,))
    d.end()
    begin(d, frame.context(frames.Resolve).turn + 1)


def vacated(d: D, seat: Seat) -> None:
    if d.state.frames and seat in d.state.top.owing:
        d.mark_answered(seat)


def build(s: Orders, seat: Seat) -> Builder:
    if seat in s.top.done:
        yield one("type", ["reopen"])
        return Reopen()
    left = free(s, seat)
    more = [Option("spy", {"money": 1}), "order"] if left > 0 else []
    kind = yield one("type", [Option("submit", ends=True), *more])
    if kind == "submit":
        return Submit()
    to = yield one("to", PLACES)
    return Spy(to) if kind == "spy" else Order(to, (yield span("units", 1, left)))


def default(s: Orders, decision: Decision, seat: Seat) -> Move:
    return Submit()


class Board(Part, frozen=True):
    """What everybody sees."""

    turn: int
    owner: Mapping[str, int | None]
    """Whose each place is."""


def board(s: Orders) -> Board:
    return Board(s.turn, s.owner)


class Own(Part, frozen=True):
    """What a seat sees besides."""

    money: int
    sheet: tuple[Mapping[str, Json], ...]
    """OR-1: its orders, `to` and `units` of each."""
    spied: Mapping[str, int]
    """OR-3: the garrisons that it has seen, by place."""


def own(s: Orders, seat: Seat) -> Own:
    return Own(s.money[seat], s.sheets[seat], s.spied[seat])


class Hidden(Part, frozen=True):
    """What no seat sees."""

    garrison: Mapping[str, int]
    """Units by place."""


def hidden(s: Orders) -> Hidden:
    return Hidden(s.garrison)


def scores(s: Orders) -> list[Score[Nothing]]:
    points = [sum(o == i for o in s.owner.values()) for i in range(s.seats)]
    return [Score(i, 1 + sum(q > p for q in points), p, Nothing()) for i, p in enumerate(points)]


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """What no kept viewer has spied out is nobody's knowledge; sheets of other seats are theirs."""
    if DIRECTOR in keep:
        return
    for place in PLACES:
        if all(place not in d.state.spied[seat] for seat in range(d.state.seats)):
            d.add(GarrisonSet(place, d.draws.roll("garrison", 1, 6, TABLE)), TABLE)
    for seat in range(d.state.seats):
        if seat not in keep:
            d.add(SheetDone(seat, d.draws.roll("money", 0, 9, (seat,))), (seat,))


def blank(table: Table) -> Orders:
    n = table.seats
    owner: dict[str, int | None] = dict.fromkeys(PLACES)
    turns: int = table.options["turns"]
    return Orders(n, turns=turns, owner=owner, money=(5,) * n, sheets=((),) * n, spied=({},) * n)


RULESET: Ruleset[Orders] = Ruleset(
    meta=meta.Meta(
        "orders@1",
        "Orders",
        "OR",
        (2, 3, 10),
        {"turns": OptionType(IntegerRange(1, 99), 3)},
        {"unknown_place": "OR-1", "insufficient_funds": "OR-2", "not_submitted": "OR-4"},
        clocks={"orders": "turn"},
    ),
    state=Orders,
    moves=declared_classes(__name__, Move),
    facts=declared_classes(__name__, Fact),
    frames=frames.FRAMES,
    handlers=dict(
        (on(Order, do_order), on(Spy, do_spy), on(Submit, do_submit), on(Reopen, do_reopen), on(Resolve, do_resolve))
    ),
    continuations={"orders": go_orders},
    setup=setup,
    build=build,
    default=default,
    board=board,
    own=own,
    hidden=hidden,
    scores=scores,
    check=lambda s: [f"money of {i}" for i in range(s.seats) if free(s, i) < 0],
    redeal=redeal,
    blank=blank,
    may=lambda s: s.top.done if s.top.kind == "orders" else (),
    vacated=vacated,
)


def candidates(s: Orders, seat: Seat) -> Iterator[Doc]:
    """Every move that a small world can hold, well-formed or nearly."""
    yield from ({"type": t} for t in ("submit", "reopen"))
    for place in (*PLACES, "nowhere"):
        yield {"type": "spy", "to": place}
        yield from ({"type": "order", "to": place, "units": n} for n in range(1, 30))


def conserved(doc: Json) -> Json:
    """Every place stays on the map, a sheet never costs more than the treasury."""
    spent = {seat: sum(o["units"] for o in sheet) for seat, sheet in doc["sheets"].items()}
    return set(doc["owner"]) == set(PLACES) and all(spent[s] <= doc["money"][s] for s in spent)
