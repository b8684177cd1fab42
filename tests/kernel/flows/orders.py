"""Ten order sheets edited unseen by the others, spies, submitting and reopening, a batch record that no seat wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeVar

from domain.errors import RuleError
from domain.ids import DIRECTOR, PUBLIC, Json, Seat, Viewer
from domain.kernel.audience import TABLE
from domain.kernel.choices import Builder, Move, Option, one, span
from domain.kernel.flow import Decision, Fact, Frame, State
from domain.kernel.jsonform import BY_SEAT
from domain.kernel.ruleset import Draft, Meta, MoveType, OptionType, Ruleset, Score, Table, memo
from domain.kernel.shapes import Int, Obj, Word

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


def order_filed(s: Orders, f: Fact) -> Orders:
    order: dict[str, Json] = {"to": f["to"], "units": f["units"]}
    return replace(s, sheets=put(s.sheets, f["seat"], (*s.sheets[f["seat"]], order)))


def sheet_done(s: Orders, f: Fact) -> Orders:
    money = put(s.money, f["seat"], f["money"])
    return replace(s, money=money, sheets=put(s.sheets, f["seat"], ()))


def spied(s: Orders, f: Fact) -> Orders:
    seen = {**s.spied[f["seat"]], f["to"]: f["garrison"]}
    return replace(s, spied=put(s.spied, f["seat"], seen), money=put(s.money, f["seat"], f["money"]))


def garrison_set(s: Orders, f: Fact) -> Orders:
    return replace(s, garrison={**s.garrison, f["to"]: f["units"]})


def place_taken(s: Orders, f: Fact) -> Orders:
    return replace(s, owner={**s.owner, f["to"]: f["seat"]})


def turn_begun(s: Orders, f: Fact) -> Orders:
    return replace(s, turn=f["turn"])


def setup(d: D) -> None:
    for place in PLACES:
        d.add({"t": "garrison_set", "to": place, "units": d.draws.roll("garrison", 1, 6, TABLE)}, TABLE)
    begin(d, 1)


def begin(d: D, turn: int) -> None:
    d.add({"t": "turn_begun", "turn": turn})
    seats = [s for s in range(d.state.seats) if s not in d.state.vacant]
    if turn > d.state.turns or not seats:
        d.finish()
    else:
        d.ask("orders", *seats, turn=turn)


def free(s: Orders, seat: Seat) -> int:
    """The treasury after the sheet; kept per state object."""
    left: int = memo(s, f"free{seat}", lambda: s.money[seat] - sum(o["units"] for o in s.sheets[seat]))
    return left


def do_order(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    if move["to"] not in d.state.owner:
        raise RuleError("unknown_place", "OR-1")
    if move["units"] > free(d.state, seat):
        raise RuleError("insufficient_funds", "OR-2", {"free": free(d.state, seat)})
    d.add({"t": "order_filed", "seat": seat, "to": move["to"], "units": move["units"]}, (seat,))


def do_spy(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    """OR-3: at once, and never undone."""
    if move["to"] not in d.state.owner:
        raise RuleError("unknown_place", "OR-1")
    if free(d.state, seat) < 1:
        raise RuleError("insufficient_funds", "OR-2", {"free": free(d.state, seat)})
    body = {"garrison": d.state.garrison[move["to"]], "money": d.state.money[seat] - 1}
    d.add({"t": "spied", "seat": seat, "to": move["to"], **body}, (seat,))
    d.barrier()


def do_submit(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    d.answered(seat)


def do_reopen(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    if seat not in frame.done:
        raise RuleError("not_submitted", "OR-4")
    d.reopened(seat)


def go_orders(d: D, frame: Frame) -> None:
    d.end()
    d.ask("resolve", engine=True, turn=frame.data["turn"])


def do_resolve(d: D, frame: Frame, seat: None, move: Move) -> None:
    s = d.state
    for empire in range(s.seats):
        for order in s.sheets[empire]:
            left = d.state.garrison[order["to"]] - d.draws.roll("battle", 0, order["units"], TABLE)
            d.add({"t": "garrison_set", "to": order["to"], "units": max(left, 0)}, TABLE)
            if left < 0 and d.state.owner[order["to"]] is None:
                d.add({"t": "place_taken", "to": order["to"], "seat": empire})
        owned = sum(o == empire for o in d.state.owner.values())
        d.add({"t": "sheet_done", "seat": empire, "money": free(s, empire) + 3 + owned}, (empire,))
    d.end()
    begin(d, frame.data["turn"] + 1)


def vacated(d: D, seat: Seat) -> None:
    if d.state.frames and seat in d.state.top.owing:
        d.answered(seat)


def build(s: Orders, seat: Seat) -> Builder:
    if seat in s.top.done:
        return {"type": (yield one("type", ["reopen"]))}
    left = free(s, seat)
    more = [Option("spy", {"money": 1}), "order"] if left > 0 else []
    kind = yield one("type", [Option("submit", ends=True), *more])
    if kind == "submit":
        return {"type": kind}
    to = yield one("to", PLACES)
    return {"type": kind, "to": to} | ({"units": (yield span("units", 1, left))} if kind == "order" else {})


def default(s: Orders, decision: Decision, seat: Seat) -> Move:
    return {"type": "submit"}


def sight(s: Orders, viewer: Viewer) -> Json:
    if viewer == PUBLIC:
        return {"turn": s.turn, "owner": s.owner}
    seats = range(s.seats) if viewer == DIRECTOR else [int(viewer)]
    own = {str(i): {"money": s.money[i], "sheet": list(s.sheets[i]), "spied": s.spied[i]} for i in seats}
    return own | ({"garrison": s.garrison} if viewer == DIRECTOR else {})


def scores(s: Orders) -> list[Score]:
    points = [sum(o == i for o in s.owner.values()) for i in range(s.seats)]
    return [Score(i, 1 + sum(q > p for q in points), p) for i, p in enumerate(points)]


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """What no kept viewer has spied out is nobody's knowledge; sheets of other seats are theirs."""
    if DIRECTOR in keep:
        return
    for place in PLACES:
        if all(place not in d.state.spied[seat] for seat in range(d.state.seats)):
            d.add({"t": "garrison_set", "to": place, "units": d.draws.roll("garrison", 1, 6, TABLE)}, TABLE)
    for seat in range(d.state.seats):
        if seat not in keep:
            d.add({"t": "sheet_done", "seat": seat, "money": d.draws.roll("money", 0, 9, (seat,))}, (seat,))


def blank(table: Table) -> Orders:
    n = table.seats
    owner: dict[str, int | None] = dict.fromkeys(PLACES)
    turns: int = table.options["turns"]
    return Orders(n, turns=turns, owner=owner, money=(5,) * n, sheets=((),) * n, spied=({},) * n)


RULESET: Ruleset[Orders] = Ruleset(
    meta=Meta(
        "orders@1",
        "Orders",
        "OR",
        (2, 3, 10),
        {"turns": OptionType(Int(1, 99), 3)},
        {"unknown_place": "OR-1", "insufficient_funds": "OR-2", "not_submitted": "OR-4"},
        clocks={"orders": "turn"},
    ),
    state=Orders,
    moves={
        "order": MoveType(
            Obj({"to": Word(), "units": Int(1)}), ("orders",), hidden=("*",), anonymous=True, rule="OR-1"
        ),
        "spy": MoveType(Obj({"to": Word()}), ("orders",), hidden=("*",), anonymous=True, rule="OR-3"),
        "submit": MoveType(Obj(), ("orders",), rule="OR-4"),
        "reopen": MoveType(Obj(), ("orders",), by="may", rule="OR-4"),
        "resolve": MoveType(Obj(), ("resolve",), by="engine"),
    },
    do={"order": do_order, "spy": do_spy, "submit": do_submit, "reopen": do_reopen, "resolve": do_resolve},
    go={"orders": go_orders},
    evolve={
        "order_filed": order_filed,
        "sheet_done": sheet_done,
        "spied": spied,
        "garrison_set": garrison_set,
        "place_taken": place_taken,
        "turn_begun": turn_begun,
    },
    setup=setup,
    build=build,
    default=default,
    sight=sight,
    scores=scores,
    check=lambda s: [f"money of {i}" for i in range(s.seats) if free(s, i) < 0],
    redeal=redeal,
    blank=blank,
    may=lambda s: s.top.done if s.top.kind == "orders" else (),
    vacated=vacated,
)


def candidates(s: Orders, seat: Seat) -> Iterator[Move]:
    """Every move that a small world can hold, well-formed or nearly."""
    yield from ({"type": t} for t in ("submit", "reopen"))
    for place in (*PLACES, "nowhere"):
        yield {"type": "spy", "to": place}
        yield from ({"type": "order", "to": place, "units": n} for n in range(1, 30))


def conserved(doc: Json) -> Json:
    """Every place stays on the map, a sheet never costs more than the treasury."""
    spent = {seat: sum(o["units"] for o in sheet) for seat, sheet in doc["sheets"].items()}
    return set(doc["owner"]) == set(PLACES) and all(spent[s] <= doc["money"][s] for s in spent)
