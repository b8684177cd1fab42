"""Cards at any safe point, windows open to all seats at once, counters stacked on counters, private auto-pass.

Who has answered a window is not shown until it closes. The cards: an `ambush` in the window of an attack, a
`filibuster` in anybody's turn, and `counter` against any card, also a counter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeVar

from domain.errors import RuleError
from domain.kernel.records.audience import TABLE
from domain.kernel.rules.choices import Builder, Option, one
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Decision, Frame, State, assign
from domain.kernel.rules.meta import Meta, OptionType, Table
from domain.kernel.rules.ruleset import Nothing, Ruleset, Score, on
from domain.kernel.schema.declarations import (
    UNSET,
    Admission,
    Context,
    Count,
    Fact,
    Maybe,
    Move,
    Part,
    among,
    declared_classes,
)
from domain.kernel.schema.json_codec import BY_SEAT
from domain.kernel.schema.validators import IntegerRange
from domain.types import DIRECTOR, Doc, Json, Seat, Viewer
from tests.kernel.flows import windows_frames as frames

CARDS = ("ambush", "counter", "filibuster")
DECK = ("ambush",) * 6 + ("counter",) * 8 + ("filibuster",) * 6
FITS = {"turn": "filibuster", "window": "ambush", "counter": "counter"}


@dataclass(frozen=True)
class Windows(State):
    """Public: sizes of hands, effects. Hidden: hands, auto-pass, the deck (nobody's)."""

    turns: int = 0
    sizes: Annotated[tuple[int, ...], BY_SEAT] = ()
    points: Annotated[tuple[int, ...], BY_SEAT] = ()
    discards: tuple[str, ...] = ()
    hands: Annotated[tuple[tuple[str, ...], ...], BY_SEAT] = ()
    auto: Annotated[tuple[bool, ...], BY_SEAT] = ()
    deck: tuple[str, ...] = ()


D = Draft[Windows]
T = TypeVar("T")


def put(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


# --- facts ---------------------------------------------------------------------------------------------------


class HandSet(Fact[Windows], frozen=True):
    """The hand of a seat."""

    seat: int
    cards: Sequence[str]

    def evolve(self, s: Windows) -> Windows:
        return assign(s, hands=put(s.hands, self.seat, tuple(self.cards)))


class DeckSet(Fact[Windows], frozen=True):
    """The cards that nobody has."""

    cards: Sequence[str]

    def evolve(self, s: Windows) -> Windows:
        return assign(s, deck=tuple(self.cards))


class SizeSet(Fact[Windows], frozen=True):
    """WI-3: how many cards a seat holds, after it has played one if so."""

    seat: int
    size: int
    played: Maybe[str] = UNSET

    def evolve(self, s: Windows) -> Windows:
        discards = s.discards if self.played is UNSET else (*s.discards, self.played)
        return assign(s, sizes=put(s.sizes, self.seat, self.size), discards=discards)


class AutoSet(Fact[Windows], frozen=True):
    """WI-2: whether a seat passes by itself."""

    seat: int
    on: bool

    def evolve(self, s: Windows) -> Windows:
        return assign(s, auto=put(s.auto, self.seat, self.on))


class PointWon(Fact[Windows], frozen=True):
    """A seat has so many points."""

    seat: int
    points: int

    def evolve(self, s: Windows) -> Windows:
        return assign(s, points=put(s.points, self.seat, self.points))


class TurnBegun(Fact[Windows], frozen=True):
    """A turn begins; `left` are still to play."""

    left: int

    def evolve(self, s: Windows) -> Windows:
        return assign(s, turns=self.left)


# --- moves ---------------------------------------------------------------------------------------------------


class End(Move, frozen=True):
    """The turn goes on to the next seat."""

    admission: ClassVar = Admission(("turn",))


class Attack(Move, frozen=True):
    """Attack a seat."""

    admission: ClassVar = Admission(("turn",), rule="WI-1")
    target: Count


class Pass(Move, frozen=True):
    """Play no card in this window."""

    admission: ClassVar = Admission(("window", "counter"), hidden=("*",), anonymous=True, rule="WI-2")


class SetAuto(Move, frozen=True):
    """Pass by itself from now on, or no more."""

    admission: ClassVar = Admission(by="any", hidden=("*",), anonymous=True, rule="WI-2")
    on: bool


class PlayCard(Move, frozen=True):
    """Play a card."""

    admission: ClassVar = Admission(by="any", rule="WI-3")
    card: Annotated[str, among(CARDS)]


# --- rules ---------------------------------------------------------------------------------------------------


def setup(d: D) -> None:
    deck = d.draws.shuffle("deck", DECK, TABLE)
    for seat in range(d.state.seats):
        d.add(HandSet(seat, deck[3 * seat : 3 * seat + 3]), (seat,))
        d.add(SizeSet(seat, 3))
    d.add(DeckSet(deck[3 * d.state.seats :]), TABLE)
    d.ask(frames.Turn(), 0)


def window(d: D, about: Context, seats: list[Seat]) -> None:
    """WI-2: asked by public facts alone; a seat on auto-pass is asked like the others and passes in the same record."""
    asked = [s for s in seats if d.state.sizes[s]]
    d.ask(about, *asked, secret=True)
    for seat in asked:
        if d.state.auto[seat] or seat in d.state.vacant:
            d.mark_answered(seat)


def next_turn(d: D, seat: Seat) -> None:
    d.end()
    d.add(TurnBegun(d.state.turns - 1))
    if d.state.turns == 0:
        d.finish()
    else:
        d.ask(frames.Turn(), (seat + 1) % d.state.seats)


def do_end(d: D, frame: Frame, seat: Seat, move: End) -> None:
    next_turn(d, seat)


def do_pass(d: D, frame: Frame, seat: Seat, move: Pass) -> None:
    d.mark_answered(seat)


def do_auto(d: D, frame: Frame, seat: Seat, move: SetAuto) -> None:
    d.add(AutoSet(seat, move.on), (seat,))
    if move.on and frame.secret and seat in frame.owing:
        d.mark_answered(seat)


def vacated(d: D, seat: Seat) -> None:
    """In the same record, or one that follows would tell that the seat had not answered."""
    if d.state.top.secret and seat in d.state.top.owing:
        d.mark_answered(seat)


def do_attack(d: D, frame: Frame, seat: Seat, move: Attack) -> None:
    if move.target == seat or move.target >= d.state.seats:
        raise RuleError("invalid_target", "WI-1")
    d.ask(frames.Combat(seat, move.target, 0, ["window", "roll"]))


def go_combat(d: D, frame: Frame) -> None:
    combat = frame.context(frames.Combat)
    if combat.todo[0] == "window":
        d.note(todo=["roll"])
        window(d, frames.Window(), list(range(d.state.seats)))
        return
    dice = [d.draws.roll("die.white", 1, 6) for _ in range(2)]
    winner = combat.att if dice[0] > dice[1] + combat.bonus else combat.deff
    d.add(PointWon(winner, d.state.points[winner] + 1))
    d.end()
    next_turn(d, combat.att)


def go_window(d: D, frame: Frame) -> None:
    d.end()


def do_play(d: D, frame: Frame, seat: Seat, move: PlayCard) -> None:
    """WI-3: in the log's order the first card counts; it interrupts what is going on."""
    hand = list(d.state.hands[seat])
    if move.card not in hand:
        raise RuleError("card_not_in_hand", "WI-3")
    if FITS.get(frame.kind) != move.card or (frame.secret and seat not in frame.owing):
        raise RuleError("card_not_playable_now", "WI-3")
    hand.remove(move.card)
    d.add(HandSet(seat, hand), (seat,))
    d.add(SizeSet(seat, len(hand), move.card))
    chain = [(seat, move.card)]
    if frame.kind == "counter":
        chain = [*frame.context(frames.Counter).chain, *chain]
        d.end()
    d.barrier()
    window(d, frames.Counter(chain), [s for s in range(d.state.seats) if s != seat])


def go_counter(d: D, frame: Frame) -> None:
    d.end()
    chain = frame.context(frames.Counter).chain
    (seat, card), stands = chain[0], len(chain) % 2
    if card == "ambush":
        d.end()
        d.note(bonus=d.state.top.context(frames.Combat).bonus + stands, todo=["window", "roll"])
    elif stands:
        d.add(PointWon(seat, d.state.points[seat] + 1))


def may(s: Windows) -> tuple[Seat, ...]:
    return tuple(x for x in range(s.seats) if s.sizes[x] and x not in s.top.owing) if s.top.kind == "turn" else ()


def build(s: Windows, seat: Seat) -> Builder:
    frame = s.top
    owes, card = seat in frame.owing, FITS[frame.kind]
    play = card in s.hands[seat] and (owes or frame.kind == "turn")
    if frame.kind == "turn":
        types = [Option("end", ends=True), "attack"] if owes else []
    else:
        types = [Option("pass", ends=True)]
    kind = yield one("type", [*types, *["play_card"] * play, "set_auto"])
    if kind == "play_card":
        return PlayCard((yield one("card", [card])))
    if kind == "attack":
        return Attack((yield one("target", [x for x in range(s.seats) if x != seat])))
    if kind == "set_auto":
        return SetAuto((yield one("on", [True, False])))
    return Pass() if kind == "pass" else End()


def default(s: Windows, decision: Decision, seat: Seat) -> Move:
    return End() if decision.kind == "turn" else Pass()


class Board(Part, frozen=True):
    """What everybody sees."""

    turns: int
    """Still to play."""
    sizes: tuple[int, ...]
    """Cards in the hand of each seat."""
    points: tuple[int, ...]
    discards: tuple[str, ...]
    deck: int
    """Cards in it."""


def board(s: Windows) -> Board:
    return Board(s.turns, s.sizes, s.points, s.discards, len(DECK) - 3 * s.seats)


class Own(Part, frozen=True):
    """What a seat sees besides."""

    hand: tuple[str, ...]
    auto: bool
    """WI-2: whether it passes by itself."""
    owes: bool
    """Whether it has yet to answer the open window."""


def own(s: Windows, seat: Seat) -> Own:
    return Own(s.hands[seat], s.auto[seat], bool(s.frames) and s.top.secret and seat in s.top.owing)


class Hidden(Part, frozen=True):
    """What no seat sees."""

    deck: tuple[str, ...]


def hidden(s: Windows) -> Hidden:
    return Hidden(s.deck)


def scores(s: Windows) -> list[Score[Nothing]]:
    return [Score(i, 1 + sum(q > p for q in s.points), p, Nothing()) for i, p in enumerate(s.points)]


def unknown_cards(s: Windows, others: list[Seat]) -> list[str]:
    """The deck and hidden hands; of a state folded from fewer facts, what is neither played nor in a known hand."""
    cards = [*s.deck, *(card for seat in others for card in s.hands[seat])]
    if cards:
        return cards
    known = [*s.discards, *(card for seat in range(s.seats) if seat not in others for card in s.hands[seat])]
    return list((Counter(DECK) - Counter(known)).elements())


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """The cards that no kept viewer holds are dealt anew into deck and hands."""
    if DIRECTOR in keep:
        return
    others = [seat for seat in range(d.state.seats) if seat not in keep]
    pool = d.draws.shuffle("redeal", unknown_cards(d.state, others), TABLE)
    for seat in others:
        size = d.state.sizes[seat]
        hand, pool = pool[:size], pool[size:]
        d.add(HandSet(seat, hand), (seat,))
    d.add(DeckSet(pool), TABLE)


def blank(table: Table) -> Windows:
    n = table.seats
    turns: int = table.options["turns"]
    return Windows(n, turns=turns, sizes=(0,) * n, points=(0,) * n, hands=((),) * n, auto=(False,) * n)


RULESET: Ruleset[Windows] = Ruleset(
    meta=Meta(
        "windows@1",
        "Windows",
        "WI",
        (2, 3, 5),
        {"turns": OptionType(IntegerRange(1, 99), 10)},
        {"invalid_target": "WI-1", "card_not_in_hand": "WI-3", "card_not_playable_now": "WI-3"},
        clocks={"window": "window", "counter": "window"},
    ),
    state=Windows,
    moves=declared_classes(__name__, Move),
    facts=declared_classes(__name__, Fact),
    frames=frames.FRAMES,
    handlers=dict(
        (
            on(End, do_end),
            on(Attack, do_attack),
            on(Pass, do_pass),
            on(SetAuto, do_auto),
            on(PlayCard, do_play),
        )
    ),
    continuations={"combat": go_combat, "window": go_window, "counter": go_counter},
    setup=setup,
    build=build,
    default=default,
    board=board,
    own=own,
    hidden=hidden,
    scores=scores,
    check=lambda s: [f"hand of {i}" for i in range(s.seats) if len(s.hands[i]) != s.sizes[i]],
    redeal=redeal,
    vacated=vacated,
    blank=blank,
    may=may,
)


def candidates(s: Windows, seat: Seat) -> Iterator[Doc]:
    """Every move that a small world can hold, well-formed or nearly."""
    yield from ({"type": t} for t in ("end", "pass"))
    yield from ({"type": "attack", "target": t} for t in range(s.seats + 1))
    yield from ({"type": "play_card", "card": c} for c in CARDS)
    yield from ({"type": "set_auto", "on": on} for on in (True, False))


def conserved(doc: Json) -> Json:
    """Every card is in one place."""
    held = [c for h in doc["hands"].values() for c in h]
    return sorted([*held, *doc["deck"], *doc["discards"]])
