"""Facts of the set-up (SOE-3), the Wars (SOE-4), the alliances (SOE-6), the turns (SOE-7.1 to SOE-7.3), the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from domain.games.struggle_of_empires import state_updates
from domain.games.struggle_of_empires.data import MARKERS
from domain.games.struggle_of_empires.state import Auction, StandingBid, Struggle, Tile, Turn, nobody_aligned
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, Meta, declared_classes, or_none
from domain.types import Seat

Action = Literal["buy_tile", "build", "move_unit", "colonize", "enslave", "attack"]
"""Purpose of an action (SOE-7.2.1)."""

Number = Annotated[int, Meta(ge=1)]
"""Number of a War or round."""


# --- set-up ---------------------------------------------------------------------------------------------------


class MarkersDrawn(Fact[Struggle], frozen=True):
    """SOE-3.1, SOE-5.1: markers lie face up in their regions."""

    markers: Sequence[str]

    def evolve(self, s: Struggle) -> Struggle:
        markers = dict(s.markers)
        for marker in self.markers:
            region = MARKERS[marker].region
            markers[region] = (*markers.get(region, ()), marker)
        return flow.assign(s, markers=markers, bag=tuple(m for m in s.bag if m not in self.markers))


class FirstPlayerDrawn(Fact[Struggle], frozen=True):
    """SOE-3.2: the first player, also when the option names the seat."""

    seat: Seat

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, first_player=self.seat, opener=self.seat)


class PowerChosen(Fact[Struggle], frozen=True):
    """SOE-3.3: a seat has its power."""

    seat: Seat
    power: str

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.empire(s, self.seat, power=self.power)


class EmpireDrawn(Fact[Struggle], frozen=True):
    """SOE-3.5: a token for each marker; the markers leave the game."""

    seat: Seat
    markers: Sequence[str]

    def evolve(self, s: Struggle) -> Struggle:
        for marker in self.markers:
            s = state_updates.token(s, self.seat, MARKERS[marker].region, 1)
        return flow.assign(s, bag=tuple(m for m in s.bag if m not in self.markers), gone=(*s.gone, *self.markers))


# --- wars and alliances ---------------------------------------------------------------------------------------


class WarStarted(Fact[Struggle], frozen=True):
    """SOE-4.5: a War begins; all seats are unaligned."""

    war: Number

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, war=self.war, round=0, alliances=nobody_aligned())


class AuctionOpened(Fact[Struggle], frozen=True):
    """SOE-6.2: an auction begins."""

    seat: Seat

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, auction=Auction(self.seat))


class BidMade(Fact[Struggle], frozen=True):
    """SOE-6.3: the standing bid."""

    seat: Seat
    amount: Count
    a: Maybe[Seat] = UNSET
    b: Maybe[Seat] = UNSET

    def evolve(self, s: Struggle) -> Struggle:
        bid = StandingBid(self.seat, self.amount, or_none(self.a), or_none(self.b))
        return flow.assign(s, auction=flow.assign(s.bidding, standing=bid, passes=0))


class BidPassed(Fact[Struggle], frozen=True):
    """SOE-6.5: a seat passes, with the number of passes since the standing bid."""

    seat: Seat
    passes: Count

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, auction=flow.assign(s.bidding, passes=self.passes))


class AuctionWon(Fact[Struggle], frozen=True):
    """SOE-6.5: the auction is over."""

    seat: Seat
    amount: Count

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, auction=None)


class Aligned(Fact[Struggle], frozen=True):
    """SOE-6.5: a seat joins an alliance."""

    seat: Seat
    alliance: str

    def evolve(self, s: Struggle) -> Struggle:
        joined = {**s.alliances, self.alliance: (*s.alliances[self.alliance], self.seat)}
        return flow.assign(s, alliances=joined)


class TurnOrderSet(Fact[Struggle], frozen=True):
    """SOE-6.6: the turn order of the War."""

    seats: Sequence[Seat]

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, turn_order=tuple(self.seats))


# --- turns ----------------------------------------------------------------------------------------------------


class RoundStarted(Fact[Struggle], frozen=True):
    """SOE-7.1.1: a round begins."""

    round: Number

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, round=self.round)


class TurnStarted(Fact[Struggle], frozen=True):
    """SOE-7.1.1: a seat has its turn, with its number of actions."""

    seat: Seat
    actions: Count

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, turn=Turn(self.seat, self.actions))


class ActionTaken(Fact[Struggle], frozen=True):
    """SOE-7.2.1: actions left to the seat; open moves are closed. `moves` and `militia` are open now."""

    seat: Seat
    action: Action
    left: Count
    moves: Maybe[Count] = UNSET
    militia: Maybe[Count] = UNSET

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.turn(
            s,
            actions_left=self.left,
            tile_bought=s.acting.tile_bought or self.action == "buy_tile",
            colonized=s.acting.colonized or self.action in ("colonize", "enslave"),
            moves_left=self.moves or 0,
            militia_left=self.militia or 0,
            moved=(),
        )


class TurnEnded(Fact[Struggle], frozen=True):
    """SOE-7.3.1, SOE-7.3.2: a turn is over."""

    seat: Seat

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, turn=None)


class RoundEnded(Fact[Struggle], frozen=True):
    """SOE-9.2.4: bans are cleared."""

    round: Number

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.all_empires(s, banned_tiles=())


# --- the end --------------------------------------------------------------------------------------------------


class WarEnded(Fact[Struggle], frozen=True):
    """SOE-12.1 to SOE-12.5: tiles are turned back, alliances dissolved; `opener` opens the next first auction."""

    war: Number
    opener: Seat

    def evolve(self, s: Struggle) -> Struggle:
        turned_back = tuple(
            flow.assign(e, tiles=tuple(Tile(t.tile) for t in e.tiles), banned_tiles=()) for e in s.empires
        )
        return flow.assign(s, empires=turned_back, opener=self.opener, alliances={}, turn_order=(), round=0)


class UnrestRevealed(Fact[Struggle], frozen=True):
    """SOE-13.1: a seat's unrest, at the end of the game."""

    seat: Seat
    unrest: Count


FACTS = declared_classes(__name__, Fact)
