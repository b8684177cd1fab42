"""Facts of the tiles (SOE-7.4, SOE-9)."""

from __future__ import annotations

from typing import Annotated

from domain.games.common.counts import add_count
from domain.games.struggle_of_empires import state_updates
from domain.games.struggle_of_empires.data import RAIDERS
from domain.games.struggle_of_empires.state import Blockade, Captive, Combat, Party, Struggle, Tile
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import UNSET, Fact, Maybe, among, declared_classes
from domain.types import Seat

Raider = Annotated[str, among(RAIDERS)]


class TileTaken(Fact[Struggle], frozen=True):
    """SOE-7.4.2, SOE-9.5.10: a tile from the stock."""

    seat: Seat
    tile: str

    def evolve(self, s: Struggle) -> Struggle:
        owned = (*s.empires[self.seat].tiles, Tile(self.tile))
        return state_updates.change_stock(state_updates.empire(s, self.seat, tiles=owned), self.tile, -1)


class TileUsed(Fact[Struggle], frozen=True):
    """SOE-9.2.2: a copy is turned."""

    seat: Seat
    tile: str

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.turn_tile(s, self.seat, self.tile)


class TileBoxed(Fact[Struggle], frozen=True):
    """SOE-9.2.3: a tile leaves the game."""

    seat: Seat
    tile: str

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(state_updates.remove_tile(s, self.seat, self.tile), boxed=add_count(s.boxed, self.tile, 1))


class TileReturned(Fact[Struggle], frozen=True):
    """SOE-9.2.4, SOE-12.4: a tile goes back to the stock; banned, its user may not buy it again in this round."""

    seat: Seat
    tile: str
    banned: Maybe[bool] = UNSET

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.return_tile(s, self.seat, self.tile, self.banned is True)


class BlockadeLaid(Fact[Struggle], frozen=True):
    """SOE-9.5.13: the Blockade lies on the map."""

    seat: Seat
    tile: str
    region: str

    def evolve(self, s: Struggle) -> Struggle:
        s = state_updates.ban(state_updates.turn_tile(s, self.seat, self.tile), self.seat, self.tile)
        return flow.assign(s, blockade=Blockade(self.seat, self.region))


class BlockadeLifted(Fact[Struggle], frozen=True):
    """SOE-15.6, SOE-12.3: the Blockade on the map goes back to the stock."""

    seat: Seat
    tile: str
    region: str

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(state_updates.return_tile(s, self.seat, self.tile, False), blockade=None)


class RaidSent(Fact[Struggle], frozen=True):
    """SOE-9.6.3, SOE-9.7.2: Pirates or Slave Revolt attack a seat, sent by the buyer."""

    seat: Seat
    tile: Raider
    region: str
    target: Seat

    def evolve(self, s: Struggle) -> Struggle:
        combat = Combat(self.region, Party(self.tile), Party("player", self.target))
        return flow.assign(state_updates.change_stock(s, self.tile, -1), combat=combat)


class RaidBeaten(Fact[Struggle], frozen=True):
    """SOE-9.6.4, SOE-9.7.3: Pirates or Slave Revolt have not won; the tile goes back to the stock."""

    tile: Raider
    region: str

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.change_stock(s, self.tile, 1)


class TokenCaptured(Fact[Struggle], frozen=True):
    """SOE-9.6.4, SOE-9.7.3: Pirates or Slave Revolt lie on the map with a token of the seat."""

    tile: Raider
    seat: Seat
    region: str

    def evolve(self, s: Struggle) -> Struggle:
        held = Captive(self.region, self.seat)
        return flow.assign(state_updates.token(s, self.seat, self.region, -1), **{self.tile: held})


class TokenFreed(Fact[Struggle], frozen=True):
    """SOE-8.11.4, SOE-8.12.2: the captured token goes to its owner's reserve, the tile to the stock."""

    tile: Raider
    seat: Seat
    region: str
    by: Seat

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(state_updates.change_stock(s, self.tile, 1), **{self.tile: None})


FACTS = declared_classes(__name__, Fact)
