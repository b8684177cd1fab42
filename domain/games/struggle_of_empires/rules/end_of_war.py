"""SOE-12, SOE-13: phase 6, the end of a War; the end of the game."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import TILES
from domain.games.struggle_of_empires.facts.sequence import UnrestRevealed, WarEnded
from domain.games.struggle_of_empires.facts.tiles import BlockadeLifted, TileReturned
from domain.games.struggle_of_empires.state import D


def end_war(d: D) -> None:
    """SOE-12.1 to SOE-12.5: alliance tiles return to the stock, all others are turned back."""
    if laid := d.state.blockade:
        d.add(BlockadeLifted(laid.seat, "blockade", laid.region))
    for seat in d.state.everybody:
        for tile in d.state.empires[seat].tiles:
            if TILES[tile.tile].group == "alliance":
                d.add(TileReturned(seat, tile.tile))
    d.add(WarEnded(d.state.war, d.state.turn_order[-1]))


def end_game(d: D) -> None:
    """SOE-13.1: all unrest is revealed; the count itself is `scores`."""
    for seat in d.state.everybody:
        d.add(UnrestRevealed(seat, d.state.unrest[seat]))
    d.finish()
