"""A long chain of interrupting decisions: attack, allies for binding gold, naval choice, dice, re-rolls, losses.

Unrest is withheld: its causes are public, its total is in the owner's sight alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeVar

from domain.errors import RuleError
from domain.kernel.rules.choices import Builder, Option, one, span
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Decision, Frame, State, assign
from domain.kernel.rules.meta import Meta, OptionType, Table
from domain.kernel.rules.ruleset import Nothing, Ruleset, Score, on
from domain.kernel.schema.declarations import Admission, Count, Fact, Move, Part, among, declared_classes, unwrap
from domain.kernel.schema.json_codec import BY_SEAT
from domain.kernel.schema.validators import IntegerRange
from domain.types import Doc, Json, Seat
from tests.kernel.flows import skirmish_frames as frames

UNITS = ("army", "navy", "fort")


@dataclass(frozen=True)
class Skirmish(State):
    """`turns` still to play; per seat gold, units and reserve tiles, unrest (withheld)."""

    turns: int = 0
    gold: Annotated[tuple[int, ...], BY_SEAT] = ()
    units: Annotated[tuple[dict[str, int], ...], BY_SEAT] = ()
    reserve: Annotated[tuple[int, ...], BY_SEAT] = ()
    unrest: Annotated[tuple[int, ...], BY_SEAT] = ()


D = Draft[Skirmish]
T = TypeVar("T")


def put(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


# --- facts ---------------------------------------------------------------------------------------------------


class GoldSet(Fact[Skirmish], frozen=True):
    """What a seat has in gold."""

    seat: int
    gold: int

    def evolve(self, s: Skirmish) -> Skirmish:
        return assign(s, gold=put(s.gold, self.seat, self.gold))


class UnitLost(Fact[Skirmish], frozen=True):
    """SK-4: a seat has lost a unit; `left` of its kind remain, and its unrest has grown."""

    seat: int
    unit: str
    left: int
    unrest: int

    def evolve(self, s: Skirmish) -> Skirmish:
        units = {**s.units[self.seat], self.unit: self.left}
        return assign(s, units=put(s.units, self.seat, units), unrest=put(s.unrest, self.seat, self.unrest))


class ReserveUsed(Fact[Skirmish], frozen=True):
    """A seat has used a reserve tile."""

    seat: int
    left: int

    def evolve(self, s: Skirmish) -> Skirmish:
        return assign(s, reserve=put(s.reserve, self.seat, self.left))


class TurnBegun(Fact[Skirmish], frozen=True):
    """A turn begins; `left` are still to play."""

    left: int

    def evolve(self, s: Skirmish) -> Skirmish:
        return assign(s, turns=self.left)


# --- moves ---------------------------------------------------------------------------------------------------


class Pass(Move, frozen=True):
    """The turn goes on to the next seat."""

    admission: ClassVar = Admission(("turn",))


class Attack(Move, frozen=True):
    """Attack a seat; an ally is offered gold for its help."""

    admission: ClassVar = Admission(("turn",), rule="SK-1")
    target: Count
    offer: Count


class Support(Move, frozen=True):
    """Help with so many armies, for the gold that is offered."""

    admission: ClassVar = Admission(("support",), rule="SK-3")
    army: Count


class Answer(Move, frozen=True):
    """Whether there is a naval battle, or whether a reserve tile is used."""

    admission: ClassVar = Admission(("naval_choice", "reserve"))
    yes: bool


class ChooseLoss(Move, frozen=True):
    """Which unit is lost."""

    admission: ClassVar = Admission(("choose_loss",), rule="SK-4")
    kind: Annotated[str, among(UNITS)]


# --- rules ---------------------------------------------------------------------------------------------------


def pay(d: D, seat: Seat, gold: int) -> None:
    d.add(GoldSet(seat, d.state.gold[seat] - gold))


def setup(d: D) -> None:
    d.ask(frames.Turn(), 0)


def next_turn(d: D, seat: Seat) -> None:
    d.end()
    d.add(TurnBegun(d.state.turns - 1))
    if d.state.turns == 0:
        d.finish()
    else:
        d.ask(frames.Turn(), (seat + 1) % d.state.seats)


def do_pass(d: D, frame: Frame, seat: Seat, move: Pass) -> None:
    next_turn(d, seat)


def do_attack(d: D, frame: Frame, seat: Seat, move: Attack) -> None:
    target, left = move.target, d.state.gold[seat] - 2
    if target == seat or target >= d.state.seats:
        raise RuleError("invalid_target", "SK-1")
    if left < 0 or move.offer > left:
        raise RuleError("offer_exceeds_gold", "SK-2", {"gold": max(left, 0)})
    pay(d, seat, 2)
    steps: list[list[Json]] = [
        ["help", seat, move.offer],
        ["help", target, 0],
        ["naval", seat],
        ["naval", target],
        ["roll", "navy"],
        ["roll", "army"],
    ]
    d.note(turn_of=seat)
    d.ask(frames.Combat(seat, target, {}, steps))


STEPS: dict[str, Callable[..., None]] = {}


def go_combat(d: D, frame: Frame) -> None:
    combat = frame.context(frames.Combat)
    if not combat.todo:
        d.end()
        next_turn(d, unwrap(d.state.top.context(frames.Turn).turn_of))
        return
    (name, *args), *rest = combat.todo
    d.note(todo=rest)
    STEPS[name](d, combat, *args)


def step_help(d: D, combat: frames.Combat, principal: Seat, offer: int) -> None:
    ally = (principal + 2) % d.state.seats
    if ally not in (combat.att, combat.deff):
        d.ask(frames.Support(principal, offer), ally)


def do_support(d: D, frame: Frame, seat: Seat, move: Support) -> None:
    asked, have = frame.context(frames.Support), d.state.units[seat]["army"]
    if move.army > have:
        raise RuleError("exceeds_available", "SK-3", {"army": have})
    d.mark_answered(seat, end=True)
    if move.army:
        pay(d, asked.principal, asked.offer)
        pay(d, seat, -asked.offer)
    d.note(help={**d.state.top.context(frames.Combat).help, str(asked.principal): move.army})


def step_naval(d: D, combat: frames.Combat, seat: Seat) -> None:
    d.ask(frames.NavalChoice(), seat)


def step_roll(d: D, combat: frames.Combat, unit: str) -> None:
    dice = [d.draws.roll(f"battle.{unit}", 1, 6) for _ in range(4)]
    ask: list[Json] = [["reserve", combat.att, unit], ["reserve", combat.deff, unit], ["result", unit]]
    d.note(dice=dice, todo=[*ask, *d.state.top.context(frames.Combat).todo])


def step_reserve(d: D, combat: frames.Combat, seat: Seat, unit: str) -> None:
    if d.state.reserve[seat]:
        d.ask(frames.Reserve(unit, unwrap(combat.dice)), seat)


def do_answer(d: D, frame: Frame, seat: Seat, move: Answer) -> None:
    d.mark_answered(seat, end=True)
    todo = d.state.top.context(frames.Combat).todo
    if frame.kind == "naval_choice" and not move.yes:
        d.note(todo=[["roll", "army"]])
    if frame.kind == "reserve" and move.yes:
        d.add(ReserveUsed(seat, d.state.reserve[seat] - 1))
        d.note(todo=[["roll", frame.context(frames.Reserve).unit], *(t for t in todo if t[0] == "roll")])


def step_result(d: D, combat: frames.Combat, unit: str) -> None:
    dice = unwrap(combat.dice)
    total = {
        seat: d.state.units[seat][unit] + combat.help.get(str(seat), 0) + dice[at]
        for seat, at in ((combat.att, 0), (combat.deff, 2))
    }
    for seat in (combat.deff, combat.att):
        kinds = [k for k in (unit, "fort") if d.state.units[seat][k]]
        if total[seat] <= min(total.values()) and kinds:
            d.ask(frames.ChooseLoss(kinds), seat)


def do_choose_loss(d: D, frame: Frame, seat: Seat, move: ChooseLoss) -> None:
    if move.kind not in frame.context(frames.ChooseLoss).kinds:
        raise RuleError("invalid_choice", "SK-4")
    d.mark_answered(seat, end=True)
    left, unrest = d.state.units[seat][move.kind] - 1, d.state.unrest[seat] + 1
    d.add(UnitLost(seat, move.kind, left, unrest))


STEPS = {
    "help": step_help,
    "naval": step_naval,
    "roll": step_roll,
    "reserve": step_reserve,
    "result": step_result,
}


def build(s: Skirmish, seat: Seat) -> Builder:
    kind = s.top.kind
    if kind == "support":
        return Support((yield span("army", 0, s.units[seat]["army"])))
    if kind == "choose_loss":
        return ChooseLoss((yield one("kind", s.top.context(frames.ChooseLoss).kinds)))
    if kind != "turn":
        return Answer((yield one("yes", [False, True])))
    types = [Option("pass", ends=True)] + [Option("attack", {"gold": 2})] * (s.gold[seat] >= 2)
    if (yield one("type", types)) == "pass":
        return Pass()
    target = yield one("target", [x for x in range(s.seats) if x != seat])
    return Attack(target, (yield span("offer", 0, s.gold[seat] - 2)))


def default(s: Skirmish, decision: Decision, seat: Seat) -> Move:
    if decision.kind == "turn":
        return Pass()
    if decision.kind == "support":
        return Support(0)
    if decision.kind == "choose_loss":
        return ChooseLoss(decision.context["kinds"][0])
    return Answer(False)


class Board(Part, frozen=True):
    """What everybody sees, by seat."""

    turns: int
    """Still to play."""
    gold: tuple[int, ...]
    units: tuple[Mapping[str, int], ...]
    """How many of each kind."""
    reserve: tuple[int, ...]
    """Reserve tiles."""


def board(s: Skirmish) -> Board:
    return Board(s.turns, s.gold, s.units, s.reserve)


class Own(Part, frozen=True):
    """What a seat sees besides."""

    unrest: int


def own(s: Skirmish, seat: Seat) -> Own:
    return Own(s.unrest[seat])


def scores(s: Skirmish) -> list[Score[Nothing]]:
    points = [sum(u.values()) for u in s.units]
    return [Score(i, 1 + sum(q > p for q in points), p, Nothing()) for i, p in enumerate(points)]


def blank(table: Table) -> Skirmish:
    n = table.seats
    start = {"army": 2, "navy": 1, "fort": 1}
    turns: int = table.options["turns"]
    return Skirmish(n, turns=turns, gold=(8,) * n, units=(start,) * n, reserve=(1,) * n, unrest=(0,) * n)


RULESET: Ruleset[Skirmish] = Ruleset(
    meta=Meta(
        "skirmish@1",
        "Skirmish",
        "SK",
        (3, 4),
        {"turns": OptionType(IntegerRange(1, 99), 12)},
        {
            "invalid_target": "SK-1",
            "offer_exceeds_gold": "SK-2",
            "exceeds_available": "SK-3",
            "invalid_choice": "SK-4",
        },
    ),
    state=Skirmish,
    moves=declared_classes(__name__, Move),
    facts=declared_classes(__name__, Fact),
    frames=frames.FRAMES,
    handlers=dict(
        (
            on(Pass, do_pass),
            on(Attack, do_attack),
            on(Support, do_support),
            on(Answer, do_answer),
            on(ChooseLoss, do_choose_loss),
        )
    ),
    continuations={"combat": go_combat},
    setup=setup,
    build=build,
    default=default,
    board=board,
    own=own,
    scores=scores,
    check=lambda s: [f"gold of {i}" for i, g in enumerate(s.gold) if g < 0],
    redeal=lambda d, keep: None,
    blank=blank,
)


def candidates(s: Skirmish, seat: Seat) -> Iterator[Doc]:
    """Every move that a small world can hold, well-formed or nearly."""
    yield {"type": "pass"}
    yield from ({"type": "answer", "yes": yes} for yes in (False, True))
    yield from ({"type": "support", "army": n} for n in range(5))
    yield from ({"type": "choose_loss", "kind": k} for k in UNITS)
    yield from ({"type": "attack", "target": t, "offer": n} for t in range(s.seats + 1) for n in range(sum(s.gold) + 1))


def conserved(doc: Json) -> Json:
    """Gold and units are only paid and lost: what they are at most."""
    return sum(doc["gold"].values()) <= 8 * doc["seats"] and all(u["army"] <= 2 for u in doc["units"].values())
