"""A viewer's view (IMP-14): the common board, a seat's private view, and the hidden part."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.imperunde import frames
from domain.games.imperunde.data import PIECES, PIRATES, SETS
from domain.games.imperunde.state import Budget, Combat, Country, ImpeRunde, Nation, Pair, Zone
from domain.kernel.rules.ruleset import Chapter, memo
from domain.kernel.schema.declarations import Part
from domain.types import Seat


class NationSeen(Part, frozen=True):
    """IMP-4.3: public data of one seat."""

    home: str
    debt: int
    surplus: int
    available: int
    cards: int
    """Size of the hand."""
    bought: int
    """Cards bought this turn."""
    proposals: int
    """Goals proposed this turn."""
    ledger: Mapping[str, int]
    """The lines of this turn's budget (IMP-6.3.2)."""
    spent: Mapping[str, int]
    """Colony -> military cost bought for it this turn."""
    received: int
    """All doubloons received since the game began."""
    paid: int
    """All doubloons paid since the game began."""
    posts: int
    """Trading posts on the board, as counted by the goal."""
    supply: Mapping[str, int]
    """Unit -> pieces left to place (IMP-1.1)."""


class Board(Part, frozen=True):
    """IMP-14: the public view.

    Countries and zones unchanged since before the game (free, without pieces and markers) are omitted.
    """

    goal: int
    turn_limit: int | None
    turn: int
    phase: int
    """0 during the set-up."""
    order: tuple[Seat, ...]
    """Turn order."""
    active: Seat | None
    """The seat with the current part of phase 6, or fair wind."""
    nations: tuple[NationSeen, ...]
    """Nations by seat."""
    countries: Mapping[str, Country]
    zones: Mapping[str, Zone]
    pairs: Mapping[str, Pair]
    """Pairs of seats, `0-1` and so on."""
    canals: tuple[str, ...]
    """Canals built so far."""
    pirates: Mapping[str, int]
    """Kind of black ship -> number left to appear (IMP-1.2)."""
    pile: int
    """Size of the draw pile."""
    discard: tuple[str, ...]
    struck: tuple[str, ...]
    """Regions with an event this phase."""
    combat: Combat | None
    winner: Seat | None
    seen: tuple[str, ...]
    """The hand on show to everybody (IMP-9.4.16)."""


class Own(Part, frozen=True):
    """IMP-14: a seat's private view, besides the board."""

    hand: tuple[str, ...]
    auto: Mapping[str, str]
    """Kind of window -> how long the seat passes it by itself (IMP-11.8)."""
    budget: Budget | None
    """Its sealed answer of phase 3."""
    owes: bool
    """True if the decision waits for its answer."""
    seen: tuple[str, ...]
    """The hand on show to it (IMP-9.4.16)."""


class Hidden(Part, frozen=True):
    """IMP-14: seen as a whole by no seat."""

    deck: tuple[str, ...]
    """The draw pile, first = top."""
    seen: tuple[str, ...]
    """The hand on show to some seat (IMP-9.4.16)."""


def board(s: ImpeRunde) -> Board:
    """IMP-14."""
    theft, (pirates, pieces) = theft_of(s), _counted(s)
    return Board(
        goal=s.goal,
        turn_limit=s.turn_limit,
        turn=s.turn,
        phase=s.phase,
        order=s.order,
        active=s.active,
        nations=tuple(_nation(n, *of) for n, of in zip(s.nations, pieces, strict=True)),
        countries=s.countries,
        zones=s.zones,
        pairs=s.pairs,
        canals=s.canals,
        pirates=pirates,
        pile=s.pile,
        discard=s.discard,
        struck=s.struck,
        combat=s.combat,
        winner=s.winner,
        seen=s.seen if theft and theft.reveal else (),
    )


def powers(s: ImpeRunde) -> dict[Seat, str]:
    """IMP-5: the home country names the nation."""
    return {seat: nation.home for seat, nation in enumerate(s.nations) if nation.home}


def _counted(s: ImpeRunde) -> tuple[dict[str, int], list[tuple[int, dict[str, int]]]]:
    """Return the black ships left; by seat the posts on the board, and unit -> pieces left to place."""

    def count() -> tuple[dict[str, int], list[tuple[int, dict[str, int]]]]:
        placed, sets = s.on_board(), SETS[s.seats]
        each = {unit: n * sets for unit, n in PIECES.items()}
        seats = [{u: n - placed.get((str(seat), u), 0) for u, n in each.items()} for seat in s.everybody]
        posts = [placed.get((str(seat), "trading_post"), 0) for seat in s.everybody]
        return {ship: s.supply("pirates", ship) for ship in PIRATES}, list(zip(posts, seats, strict=True))

    return memo(s, "counted", count, (s.countries, s.zones, s.combat))


def _nation(n: Nation, posts: int, supply: Mapping[str, int]) -> NationSeen:
    return NationSeen(
        n.home,
        n.debt,
        n.surplus,
        n.available,
        n.cards,
        n.bought,
        n.proposals,
        n.ledger,
        n.spent,
        n.received,
        n.paid,
        posts,
        supply,
    )


def own_view(s: ImpeRunde, seat: Seat) -> Own:
    """IMP-14."""
    return Own(
        hand=tuple(sorted(s.hands[seat])),
        auto=s.auto[seat],
        budget=s.budgets.get(str(seat)),
        owes=bool(s.frames) and seat in s.top.owing,
        seen=tuple(sorted(s.seen)) if sees_hand(s, seat) else (),
    )


def hidden_view(s: ImpeRunde) -> Hidden:
    """IMP-14."""
    return Hidden(s.deck, s.seen)


def theft_of(s: ImpeRunde) -> frames.Theft | None:
    """IMP-9.4.16: the current theft, with a hand on show."""
    return s.top.context(frames.Theft) if s.frames and s.top.kind == "theft" else None


def sees_hand(s: ImpeRunde, seat: Seat) -> bool:
    """IMP-9.4.16: return whether the hand on show is shown to this seat."""
    theft = theft_of(s)
    return theft is not None and (theft.reveal or seat in s.top.asked)


def chapter(s: ImpeRunde) -> Chapter:
    """Return the turn and its phase (IMP-3); steps before the talks have no heading of their own."""
    return Chapter(s.turn, phase=str(s.phase) if s.phase > 1 else "")
