"""Islands: a toy with a map, hidden hands and sealed answers, for the pages. It is registered in their tests alone.

A seat claims an island. Then both seats lay a card face down. The higher card takes the island; a tie keeps its owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from domain.errors import RuleError
from domain.kernel.rules import meta
from domain.kernel.rules.choices import Builder, one
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import Decision, Frame, State, assign
from domain.kernel.rules.ruleset import Nothing, Ruleset, Score, on
from domain.kernel.schema.declarations import Admission, Context, Count, Fact, Move, Part, among, declared_classes
from domain.kernel.schema.json_codec import BY_SEAT
from domain.types import Seat

ISLANDS = ("elba", "ischia", "lipari")
CARDS = ("card_1", "card_2", "card_3", "card_4")
CLAIMS = 3

Island = Annotated[str, among(ISLANDS)]
Card = Annotated[str, among(CARDS)]


@dataclass(frozen=True)
class Islands(State):
    claims: int = 0
    owners: tuple[int | None, ...] = (None,) * len(ISLANDS)
    shown: tuple[str, ...] = ()
    hands: Annotated[tuple[tuple[str, ...], ...], BY_SEAT] = ()
    cards: Annotated[tuple[str | None, ...], BY_SEAT] = ()


D = Draft[Islands]


class HandDealt(Fact[Islands], frozen=True):
    """ISL-1: the hand of a seat."""

    seat: int
    cards: Sequence[str]

    def evolve(self, s: Islands) -> Islands:
        return assign(s, hands=(*s.hands[: self.seat], tuple(self.cards), *s.hands[self.seat + 1 :]))


class CardSealed(Fact[Islands], frozen=True):
    """ISL-3: the card that a seat has laid face down."""

    seat: int
    card: str | None

    def evolve(self, s: Islands) -> Islands:
        return assign(s, cards=(*s.cards[: self.seat], self.card, *s.cards[self.seat + 1 :]))


class IslandTaken(Fact[Islands], frozen=True):
    """ISL-4: the cards by seat, and the island's owner after them."""

    island: str
    cards: Sequence[str]
    owner: int | None

    def evolve(self, s: Islands) -> Islands:
        owners = tuple(self.owner if name == self.island else o for name, o in zip(ISLANDS, s.owners, strict=True))
        told = assign(s, owners=owners, shown=tuple(self.cards), claims=s.claims + 1)
        return assign(told, cards=(None,) * s.seats)


class Turn(Context, frozen=True):
    """ISL-2: a seat claims an island."""


class Contest(Context, frozen=True):
    """ISL-3: the island under the answers; it asks nobody."""

    island: str


class Lay(Context, frozen=True):
    """ISL-3: both seats lay a card face down."""

    island: str


class Claim(Move, frozen=True):
    """ISL-2."""

    admission: ClassVar = Admission(("turn",), rule="ISL-2")
    island: Island


class LayCard(Move, frozen=True):
    """ISL-3."""

    admission: ClassVar = Admission(("lay",), hidden=("card",), rule="ISL-3")
    card: Card


def setup(d: D) -> None:
    for seat in range(d.state.seats):
        gone = d.draws.pick("burn", CARDS, (seat,))
        d.add(HandDealt(seat, [card for card in CARDS if card != gone]), (seat,))
    d.ask(Turn(), 0)


def do_claim(d: D, frame: Frame, seat: Seat, move: Claim) -> None:
    d.barrier()
    d.ask(Contest(move.island))


def do_lay(d: D, frame: Frame, seat: Seat, move: LayCard) -> None:
    if move.card not in d.state.hands[seat]:
        raise RuleError("card_not_in_hand", "ISL-3")
    d.add(CardSealed(seat, move.card), (seat,), seal="card")
    d.mark_answered(seat)


def go_contest(d: D, frame: Frame) -> None:
    if not any(d.state.cards):
        d.ask(Lay(frame.context(Contest).island), *range(d.state.seats))
        return
    d.unseal(*(f"{seat}:card" for seat in range(d.state.seats)))
    island, cards = frame.context(Contest).island, [card or "" for card in d.state.cards]
    tie, owner = len(set(cards)) == 1, d.state.owners[ISLANDS.index(island)]
    d.add(IslandTaken(island, cards, owner if tie else cards.index(max(cards))))
    d.end()
    d.end()
    if d.state.claims == CLAIMS:
        d.finish()
    else:
        d.ask(Turn(), d.state.claims % d.state.seats)


def go_lay(d: D, frame: Frame) -> None:
    d.end()


def build(s: Islands, seat: Seat) -> Builder:
    if s.top.kind == "lay":
        return LayCard((yield one("card", s.hands[seat])))
    return Claim((yield one("island", ISLANDS)))


def default(s: Islands, decision: Decision, seat: Seat) -> Move:
    return LayCard(s.hands[seat][0]) if decision.kind == "lay" else Claim(ISLANDS[0])


class Board(Part, frozen=True):
    """What everybody sees."""

    claims: int
    islands: Mapping[str, int | None]
    shown: tuple[str, ...]
    points: tuple[int, ...]


class Own(Part, frozen=True):
    """What a seat sees besides."""

    hand: tuple[str, ...]
    card: str | None


def count_points(s: Islands) -> tuple[Count, ...]:
    return tuple(sum(owner == seat for owner in s.owners) for seat in range(s.seats))


def scores(s: Islands) -> list[Score[Nothing]]:
    points = count_points(s)
    return [Score(seat, 1 + sum(q > p for q in points), p, Nothing()) for seat, p in enumerate(points)]


def board(s: Islands) -> Board:
    return Board(s.claims, dict(zip(ISLANDS, s.owners, strict=True)), s.shown, count_points(s))


def own(s: Islands, seat: Seat) -> Own:
    return Own(s.hands[seat], s.cards[seat])


RULESET: Ruleset[Islands] = Ruleset(
    package="tests.toy",
    meta=meta.Meta("toy@1", "Islands", "ISL", (2,), {}, {"card_not_in_hand": "ISL-3"}),
    state=Islands,
    moves=declared_classes(__name__, Move),
    facts=declared_classes(__name__, Fact),
    frames=declared_classes(__name__, Context),
    handlers=dict((on(Claim, do_claim), on(LayCard, do_lay))),
    continuations={"contest": go_contest, "lay": go_lay},
    blank=lambda table: Islands(table.seats, hands=((),) * table.seats, cards=(None,) * table.seats),
    setup=setup,
    build=build,
    default=default,
    board=board,
    own=own,
    scores=scores,
)
