"""A deciding seat that is not the turn's: delegation, permission in mid-move, a counter-fight.

A line of regions 0..6; each seat has armies that step one or two regions. Everything is public, nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from domain.errors import RuleError
from domain.kernel.rules.choices import Builder, Option, one
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Decision, Frame, State, assign
from domain.kernel.rules.meta import Meta, OptionType, Table
from domain.kernel.rules.ruleset import Nothing, Ruleset, Score, on
from domain.kernel.schema.declarations import UNSET, Admission, Count, Fact, Move, Part, declared_classes, doc
from domain.kernel.schema.validators import IntegerRange
from domain.types import Doc, Json, Seat
from tests.kernel.flows import passage_frames as frames

REGIONS = 7


@dataclass(frozen=True)
class Passage(State):
    """`armies`: region -> (owner, infantry, artillery); `refused`: regions that may not be asked for this turn."""

    turns: int = 0
    armies: dict[str, tuple[int, ...]] = field(default_factory=dict)
    refused: tuple[int, ...] = ()


D = Draft[Passage]


# --- facts ---------------------------------------------------------------------------------------------------


class ArmySet(Fact[Passage], frozen=True):
    """Who stands in a region: owner, infantry, artillery; null for nobody."""

    region: int
    army: tuple[int, int, int] | None

    def evolve(self, s: Passage) -> Passage:
        armies: dict[str, tuple[int, ...]] = {k: v for k, v in s.armies.items() if k != str(self.region)}
        return assign(s, armies={**armies, str(self.region): self.army} if self.army else armies)


class TurnBegun(Fact[Passage], frozen=True):
    """A turn begins; `left` are still to play."""

    left: int

    def evolve(self, s: Passage) -> Passage:
        return assign(s, turns=self.left, refused=())


class PassageRefused(Fact[Passage], frozen=True):
    """PA-3: a region may not be asked for again this turn."""

    region: int

    def evolve(self, s: Passage) -> Passage:
        return assign(s, refused=(*s.refused, self.region))


# --- moves ---------------------------------------------------------------------------------------------------


class Pass(Move, frozen=True):
    """The turn goes on to the next seat."""

    admission: ClassVar = Admission(("turn",))


class Delegate(Move, frozen=True):
    """Another seat decides this turn."""

    admission: ClassVar = Admission(("turn",), rule="PA-1")
    to: Count


class March(Move, frozen=True):
    """An army steps to a region, one away or, through another, two."""

    admission: ClassVar = Admission(("turn",), rule="PA-2")
    start: Count
    via: Count | None
    to: Count


class AnswerPassage(Move, frozen=True):
    """Let an army through, or not."""

    admission: ClassVar = Admission(("passage",), rule="PA-3")
    grant: bool


class ChooseDefender(Move, frozen=True):
    """What falls in the counter-fight, artillery or infantry."""

    admission: ClassVar = Admission(("counterfight",), rule="PA-4")
    artillery: bool


# --- rules ---------------------------------------------------------------------------------------------------


def put(d: D, region: int, owner: Seat, infantry: int, artillery: int) -> None:
    d.add(ArmySet(region, (owner, infantry, artillery) if infantry + artillery else None))


def setup(d: D) -> None:
    d.ask(frames.Turn(0), 0)


def next_turn(d: D, seat: Seat) -> None:
    d.end()
    d.add(TurnBegun(d.state.turns - 1))
    if d.state.turns == 0:
        d.finish()
    else:
        following = (seat + 1) % d.state.seats
        d.ask(frames.Turn(following), following)


def do_pass(d: D, frame: Frame, seat: Seat, move: Pass) -> None:
    next_turn(d, frame.context(frames.Turn).turn_of)


def do_delegate(d: D, frame: Frame, seat: Seat, move: Delegate) -> None:
    """PA-1: the turn stays the delegator's, the delegate decides it."""
    if seat != frame.context(frames.Turn).turn_of or move.to == seat or move.to >= d.state.seats:
        raise RuleError("invalid_delegate", "PA-1")
    d.end()
    d.ask(frames.Turn(seat), move.to)


def steps(s: Passage, start: int, path: list[int], actor: Seat) -> None:
    at = start
    for region in path:
        if abs(region - at) != 1 or region >= REGIONS:
            raise RuleError("not_adjacent", "PA-2")
        at = region
    if len(path) == 2 and path[0] in s.refused and blocker(s, path[0], actor) is not None:
        raise RuleError("passage_refused", "PA-3")


def blocker(s: Passage, region: int, actor: Seat) -> Seat | None:
    army = s.armies.get(str(region))
    return None if army is None or army[0] == actor else army[0]


def do_march(d: D, frame: Frame, seat: Seat, move: March) -> None:
    army = d.state.armies.get(str(move.start))
    if army is None or army[0] != seat:
        raise RuleError("no_such_unit", "PA-2")
    path = [move.via, move.to] if move.via is not None else [move.to]
    steps(d.state, move.start, path, seat)
    if move.to == move.start:
        raise RuleError("not_adjacent", "PA-2")
    d.ask(frames.March(move.start, move.to, seat, ["arrive", "counter"]))
    asked = None if len(path) == 1 else blocker(d.state, path[0], seat)
    if asked is not None:
        d.ask(frames.Passage(path[0], seat), asked)


def do_answer(d: D, frame: Frame, seat: Seat, move: AnswerPassage) -> None:
    """PA-3: refused, the unit stays and may not ask for that region again this turn."""
    d.mark_answered(seat, end=True)
    if not move.grant:
        d.add(PassageRefused(frame.context(frames.Passage).region))
        d.end()


def go_march(d: D, frame: Frame) -> None:
    march = frame.context(frames.March)
    if not march.todo:
        d.end()
    elif march.todo[0] == "arrive":
        d.note(todo=march.todo[1:])
        arrive(d, march)
    else:
        d.note(todo=[])
        army = None if march.attacked is UNSET else d.state.armies[str(march.to)]
        if army is not None and army[0] != march.actor:
            d.ask(frames.Counterfight(march.to, march.actor), army[0])


def arrive(d: D, march: frames.March) -> None:
    """PA-4: artillery beats one infantry and stays where it was; then the attacked names what falls with it."""
    owner, infantry, artillery = d.state.armies[str(march.start)]
    there = d.state.armies.get(str(march.to))
    put(d, march.start, owner, 0, 0)
    if there is None:
        put(d, march.to, owner, infantry, artillery)
    elif there[0] == owner:
        put(d, march.to, owner, infantry + there[1], artillery + there[2])
    elif artillery and there[1]:
        put(d, march.start, owner, infantry, artillery)
        put(d, march.to, there[0], there[1] - 1, there[2])
        if there[1] - 1 + there[2]:
            d.note(attacked=there[0])
    else:
        put(d, march.to, there[0], max(0, there[1] - infantry), max(0, there[2] - artillery))


def do_choose_defender(d: D, frame: Frame, seat: Seat, move: ChooseDefender) -> None:
    region = frame.context(frames.Counterfight).region
    _, infantry, artillery = d.state.armies[str(region)]
    if not (artillery if move.artillery else infantry):
        raise RuleError("no_such_unit", "PA-4")
    d.mark_answered(seat, end=True)
    put(d, region, seat, infantry - (not move.artillery), artillery - move.artillery)
    start = d.state.top.context(frames.March).start
    army = d.state.armies[str(start)]
    put(d, start, army[0], army[1], army[2] - 1)


def build(s: Passage, seat: Seat) -> Builder:
    kind = s.top.kind
    if kind == "passage":
        return AnswerPassage((yield one("grant", [False, True])))
    if kind == "counterfight":
        army = s.armies[str(s.top.context(frames.Counterfight).region)]
        return ChooseDefender((yield one("artillery", [k == 2 for k in (1, 2) if army[k]])))
    marches = [m for m in every_march() if legal(s, seat, m)]
    types: list[Any] = [
        Option("pass", ends=True),
        *["delegate"] * (seat == s.top.context(frames.Turn).turn_of),
        *["march"][: len(marches)],
    ]
    picked = yield one("type", types)
    if picked == "delegate":
        return Delegate((yield one("to", [x for x in range(s.seats) if x != seat])))
    if picked == "pass":
        return Pass()
    start = yield one("start", dict.fromkeys(m.start for m in marches))
    via = yield one("via", dict.fromkeys(m.via for m in marches if m.start == start))
    return March(start, via, (yield one("to", [m.to for m in marches if (m.start, m.via) == (start, via)])))


def legal(s: Passage, seat: Seat, move: March) -> bool:
    army = s.armies.get(str(move.start))
    if army is None or army[0] != seat or move.to == move.start:
        return False
    path = [move.via, move.to] if move.via is not None else [move.to]
    try:
        steps(s, move.start, path, seat)
    except RuleError:
        return False
    return True


def every_march() -> Iterator[March]:
    for start in range(REGIONS):
        for to in range(REGIONS + 1):
            yield from (March(start, via, to) for via in (None, *range(REGIONS)))


def default(s: Passage, decision: Decision, seat: Seat) -> Move:
    if decision.kind == "passage":
        return AnswerPassage(False)
    if decision.kind == "counterfight":
        return ChooseDefender(not s.armies[str(decision.context["region"])][1])
    return Pass()


class Board(Part, frozen=True):
    """What everybody sees, which is all."""

    turns: int
    """Still to play."""
    armies: Mapping[str, tuple[int, ...]]
    """Owner, infantry and artillery, by region."""
    refused: tuple[int, ...]
    """PA-3: regions that may not be asked for this turn."""


def board(s: Passage) -> Board:
    return Board(s.turns, s.armies, s.refused)


def scores(s: Passage) -> list[Score[Nothing]]:
    points = [sum(a[1] + a[2] for a in s.armies.values() if a[0] == i) for i in range(s.seats)]
    return [Score(i, 1 + sum(q > p for q in points), p, Nothing()) for i, p in enumerate(points)]


def blank(table: Table) -> Passage:
    turns: int = table.options["turns"]
    return Passage(table.seats, turns=turns, armies={str(2 * i + 1): (i, 2, 1) for i in range(table.seats)})


RULESET: Ruleset[Passage] = Ruleset(
    meta=Meta(
        "passage@1",
        "Passage",
        "PA",
        (2, 3),
        {"turns": OptionType(IntegerRange(1, 99), 20)},
        {"invalid_delegate": "PA-1", "no_such_unit": "PA-2", "not_adjacent": "PA-2", "passage_refused": "PA-3"},
    ),
    state=Passage,
    moves=declared_classes(__name__, Move),
    facts=declared_classes(__name__, Fact),
    frames=frames.FRAMES,
    handlers=dict(
        (
            on(Pass, do_pass),
            on(Delegate, do_delegate),
            on(March, do_march),
            on(AnswerPassage, do_answer),
            on(ChooseDefender, do_choose_defender),
        )
    ),
    continuations={"march": go_march},
    setup=setup,
    build=build,
    default=default,
    board=board,
    scores=scores,
    check=lambda s: [f"army at {k}" for k, a in s.armies.items() if min(a[1:]) < 0 or not sum(a[1:])],
    redeal=lambda d, keep: None,
    blank=blank,
)


def candidates(s: Passage, seat: Seat) -> Iterator[Doc]:
    """Every move that a small world can hold, well-formed or nearly."""
    yield {"type": "pass"}
    yield from map(doc, every_march())
    for flag in (False, True):
        yield {"type": "answer_passage", "grant": flag}
        yield {"type": "choose_defender", "artillery": flag}
    yield from ({"type": "delegate", "to": t} for t in range(s.seats + 1))


def conserved(form: Json) -> Json:
    """Regions hold the army of one seat."""
    return all(0 <= int(region) < REGIONS for region in form["armies"])
