"""A card face down, sealed answers of several seats at once, all shown together with their salts.

An attack seals a card; then the defender and the bystanders commit in secret; then both principals hire in secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeVar

from domain.errors import RuleError
from domain.kernel.rules.choices import Builder, Option, one, some
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Decision, Frame, State, assign
from domain.kernel.rules.meta import Meta, OptionType, Table
from domain.kernel.rules.ruleset import Nothing, Ruleset, Score, on
from domain.kernel.schema.declarations import Admission, Count, Fact, Listed, Move, Part, among, declared_classes
from domain.kernel.schema.json_codec import BY_SEAT
from domain.kernel.schema.validators import IntegerRange
from domain.types import DIRECTOR, Doc, Json, Seat, Viewer
from tests.kernel.flows import sealed_frames as frames

HAND = ("alliance", "bluff", "f2", "f3")
POWERS = ("russia", "spain")

Card = Annotated[str, among(HAND)]
Power = Annotated[str, among(POWERS)]


@dataclass(frozen=True)
class Sealed(State):
    """Public: gold, points, what a battle has shown. Hidden: hands, and the sealed card and powers of each seat."""

    turns: int = 0
    gold: Annotated[tuple[int, ...], BY_SEAT] = ()
    points: Annotated[tuple[int, ...], BY_SEAT] = ()
    laid: tuple[int, ...] = ()
    hands: Annotated[tuple[tuple[str, ...], ...], BY_SEAT] = ()
    cards: Annotated[tuple[str | None, ...], BY_SEAT] = ()
    powers: Annotated[tuple[tuple[str, ...], ...], BY_SEAT] = ()


D = Draft[Sealed]
T = TypeVar("T")


def put(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


# --- facts ---------------------------------------------------------------------------------------------------


class CardSealed(Fact[Sealed], frozen=True):
    """SE-1, SE-2: the card that a seat has laid face down; null for none."""

    seat: int
    card: str | None

    def evolve(self, s: Sealed) -> Sealed:
        return assign(s, cards=put(s.cards, self.seat, self.card))


class PowersSealed(Fact[Sealed], frozen=True):
    """SE-3: the powers that a seat has hired in secret."""

    seat: int
    powers: Sequence[str]

    def evolve(self, s: Sealed) -> Sealed:
        return assign(s, powers=put(s.powers, self.seat, tuple(self.powers)))


class HandDealt(Fact[Sealed], frozen=True):
    """The hand of a seat."""

    seat: int
    cards: Sequence[str]

    def evolve(self, s: Sealed) -> Sealed:
        return assign(s, hands=put(s.hands, self.seat, tuple(self.cards)))


class Committed(Fact[Sealed], frozen=True):
    """SE-2: the seats that have laid a card."""

    laid: Sequence[int]

    def evolve(self, s: Sealed) -> Sealed:
        return assign(s, laid=tuple(self.laid))


class BattleShown(Fact[Sealed], frozen=True):
    """All that was sealed, by seat."""

    cards: Sequence[str | None]
    powers: Sequence[Sequence[str]]

    def evolve(self, s: Sealed) -> Sealed:
        return assign(s, cards=tuple(self.cards), powers=tuple(map(tuple, self.powers)))


class BattleOver(Fact[Sealed], frozen=True):
    """Gold and points after a battle, by seat; `turns` are still to play."""

    gold: Sequence[int]
    points: Sequence[int]
    turns: int

    def evolve(self, s: Sealed) -> Sealed:
        told = assign(s, gold=tuple(self.gold), points=tuple(self.points), turns=self.turns)
        return assign(told, laid=(), cards=(None,) * s.seats, powers=((),) * s.seats)


class TurnBegun(Fact[Sealed], frozen=True):
    """A turn has passed; `left` are still to play."""

    left: int

    def evolve(self, s: Sealed) -> Sealed:
        return assign(s, turns=self.left)


# --- moves ---------------------------------------------------------------------------------------------------


class Pass(Move, frozen=True):
    """The turn goes on to the next seat."""

    admission: ClassVar = Admission(("turn",))


class Attack(Move, frozen=True):
    """Attack a seat with a card face down."""

    admission: ClassVar = Admission(("turn",), hidden=("card",), rule="SE-1")
    target: Count
    card: Card


class Commit(Move, frozen=True):
    """Lay a card face down, or none."""

    admission: ClassVar = Admission(("commit",), hidden=("card",), rule="SE-2")
    card: Card | None


class Hire(Move, frozen=True):
    """Hire powers in secret."""

    admission: ClassVar = Admission(("hire",), hidden=("powers",), rule="SE-3")
    powers: Listed[Power]


class TakeBack(Move, frozen=True):
    """Take a sealed answer back."""

    admission: ClassVar = Admission(("commit", "hire"), by="may", rule="SE-4")


# --- rules ---------------------------------------------------------------------------------------------------


def setup(d: D) -> None:
    for seat in range(d.state.seats):
        gone = d.draws.pick("burn", HAND, (seat,))
        d.add(HandDealt(seat, [c for c in HAND if c != gone]), (seat,))
    d.ask(frames.Turn(), 0)


def next_turn(d: D, seat: Seat) -> None:
    d.end()
    if d.state.turns == 0:
        d.finish()
    else:
        d.ask(frames.Turn(), (seat + 1) % d.state.seats)


def do_pass(d: D, frame: Frame, seat: Seat, move: Pass) -> None:
    d.add(TurnBegun(d.state.turns - 1))
    next_turn(d, seat)


def do_attack(d: D, frame: Frame, seat: Seat, move: Attack) -> None:
    """SE-1: the card must be in hand, and is no alliance."""
    if move.target == seat or move.target >= d.state.seats:
        raise RuleError("invalid_target", "SE-1")
    if move.card not in d.state.hands[seat] or move.card == "alliance":
        raise RuleError("card_not_in_hand", "SE-1")
    d.add(CardSealed(seat, move.card), (seat,), seal="card")
    d.barrier()
    d.ask(frames.Battle(seat, move.target, ["commit", "hire", "reveal"]))


def go_battle(d: D, frame: Frame) -> None:
    battle = frame.context(frames.Battle)
    att, deff, (step, *rest) = battle.att, battle.deff, battle.todo
    d.note(todo=rest)
    if step == "commit":
        d.ask(frames.Commit(deff), *(s for s in range(d.state.seats) if s != att))
    elif step == "hire":
        d.ask(frames.Hire(), att, deff)
    else:
        reveal(d, att, deff)


def layable(s: Sealed, seat: Seat, defends: bool) -> list[str | None]:
    if defends:
        return [c for c in s.hands[seat] if c != "alliance"]
    return [None, *(c for c in s.hands[seat] if c in ("alliance", "bluff"))]


def do_commit(d: D, frame: Frame, seat: Seat, move: Commit) -> None:
    """SE-2: the defender must lay a card, an ally may lay alliance or bluff."""
    card, defends = move.card, seat == frame.context(frames.Commit).deff
    if defends and card is None:
        raise RuleError("card_required", "SE-2")
    if card not in layable(d.state, seat, defends):
        raise RuleError("card_not_in_hand", "SE-2")
    d.add(CardSealed(seat, card), (seat,), seal="card")
    d.mark_answered(seat)


def do_take_back(d: D, frame: Frame, seat: Seat, move: TakeBack) -> None:
    """SE-4: a sealed answer is taken back by a move while the decision is open."""
    if frame.kind == "commit":
        d.add(CardSealed(seat, None), (seat,), seal="card")
    else:
        d.add(PowersSealed(seat, []), (seat,), seal="powers")
    d.reopen(seat)


def go_commit(d: D, frame: Frame) -> None:
    d.end()
    d.add(Committed([s for s in sorted(frame.done) if d.state.cards[s]]))


def do_hire(d: D, frame: Frame, seat: Seat, move: Hire) -> None:
    """SE-3: each power once, one gold each."""
    if len(set(move.powers)) != len(move.powers):
        raise RuleError("invalid_hire", "SE-3")
    if len(move.powers) > d.state.gold[seat]:
        raise RuleError("insufficient_funds", "SE-3", {"gold": d.state.gold[seat]})
    d.add(PowersSealed(seat, move.powers), (seat,), seal="powers")
    d.mark_answered(seat)


def go_hire(d: D, frame: Frame) -> None:
    d.end()


def reveal(d: D, att: Seat, deff: Seat) -> None:
    s = d.state
    d.unseal(*(f"{i}:card" for i in range(s.seats)), *(f"{i}:powers" for i in sorted((att, deff))))
    d.add(BattleShown(s.cards, s.powers))
    strength = [
        d.draws.roll("battle", 1, 6) + len(s.powers[seat]) + int((s.cards[seat] or "f0")[-1] in "23")
        for seat in (att, deff)
    ]
    winner = att if strength[0] > strength[1] else deff
    gold = [g - len(p) for g, p in zip(s.gold, s.powers, strict=True)]
    points = [p + (i == winner) for i, p in enumerate(s.points)]
    d.add(BattleOver(gold, points, s.turns - 1))
    d.end()
    next_turn(d, att)


def build(s: Sealed, seat: Seat) -> Builder:
    if seat not in s.top.owing:
        yield one("type", ["take_back"])
        return TakeBack()
    if s.top.kind == "hire":
        return Hire((yield some("powers", POWERS, 0, min(2, s.gold[seat]))))
    if s.top.kind == "commit":
        return Commit((yield one("card", layable(s, seat, s.top.context(frames.Commit).deff == seat))))
    if (yield one("type", [Option("pass", ends=True), "attack"])) == "pass":
        return Pass()
    target = yield one("target", [x for x in range(s.seats) if x != seat])
    return Attack(target, (yield one("card", layable(s, seat, True))))


def default(s: Sealed, decision: Decision, seat: Seat) -> Move:
    if decision.kind == "hire":
        return Hire([])
    if decision.kind == "commit":
        return Commit(next(c for c in s.hands[seat] if c != "alliance") if seat == decision.context["deff"] else None)
    return Pass()


class Board(Part, frozen=True):
    """What everybody sees."""

    turns: int
    """Still to play."""
    gold: tuple[int, ...]
    points: tuple[int, ...]
    laid: tuple[int, ...]
    """SE-2: the seats that have laid a card."""


def board(s: Sealed) -> Board:
    return Board(s.turns, s.gold, s.points, s.laid)


class Own(Part, frozen=True):
    """What a seat sees besides."""

    hand: tuple[str, ...]
    card: str | None
    """The one that it has laid face down."""
    powers: tuple[str, ...]
    """Those that it has hired."""


def own(s: Sealed, seat: Seat) -> Own:
    return Own(s.hands[seat], s.cards[seat], s.powers[seat])


def scores(s: Sealed) -> list[Score[Nothing]]:
    return [Score(i, 1 + sum(q > p for q in s.points), p, Nothing()) for i, p in enumerate(s.points)]


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """Hands are known to their seats alone; a card that lies sealed stays in its hand."""
    for seat in range(d.state.seats):
        if seat in keep or DIRECTOR in keep:
            continue
        laid = d.state.cards[seat]
        gone = d.draws.pick("burn", [c for c in HAND if c != laid], (seat,))
        d.add(HandDealt(seat, [c for c in HAND if c != gone]), (seat,))


def blank(table: Table) -> Sealed:
    n = table.seats
    return Sealed(
        n,
        turns=table.options["turns"],
        gold=(6,) * n,
        points=(0,) * n,
        hands=((),) * n,
        cards=(None,) * n,
        powers=((),) * n,
    )


RULESET: Ruleset[Sealed] = Ruleset(
    meta=Meta(
        "sealed@1",
        "Sealed",
        "SE",
        (3, 4),
        {"turns": OptionType(IntegerRange(1, 99), 10)},
        {
            "invalid_target": "SE-1",
            "card_not_in_hand": "SE-1",
            "card_required": "SE-2",
            "invalid_hire": "SE-3",
            "insufficient_funds": "SE-3",
        },
    ),
    state=Sealed,
    moves=declared_classes(__name__, Move),
    facts=declared_classes(__name__, Fact),
    frames=frames.FRAMES,
    handlers=dict(
        (
            on(Pass, do_pass),
            on(Attack, do_attack),
            on(Commit, do_commit),
            on(Hire, do_hire),
            on(TakeBack, do_take_back),
        )
    ),
    continuations={"battle": go_battle, "commit": go_commit, "hire": go_hire},
    setup=setup,
    build=build,
    default=default,
    board=board,
    own=own,
    scores=scores,
    check=lambda s: [f"gold of {i}" for i, g in enumerate(s.gold) if g < 0],
    redeal=redeal,
    blank=blank,
    may=lambda s: s.top.done if s.top.kind in ("commit", "hire") else (),
)


def candidates(s: Sealed, seat: Seat) -> Iterator[Doc]:
    """Every move that a small world can hold, well-formed or nearly."""
    yield from ({"type": t} for t in ("pass", "take_back"))
    yield from ({"type": "attack", "target": t, "card": c} for t in range(s.seats + 1) for c in HAND)
    yield from ({"type": "commit", "card": c} for c in (None, *HAND))
    for powers in ([], ["russia"], ["spain"], ["russia", "spain"], ["spain", "spain"]):
        yield {"type": "hire", "powers": powers}


def conserved(doc: Json) -> Json:
    """A hand is four cards less one; gold only goes to the bank."""
    return all(len(set(h)) == len(HAND) - 1 for h in doc["hands"].values() if h) and max(doc["gold"].values()) <= 6
