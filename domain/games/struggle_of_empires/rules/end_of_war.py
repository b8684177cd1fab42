"""SOE-12, SOE-13: phase 6, the end of a War; the end of the game."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import TILES
from domain.games.struggle_of_empires.state import D


def end_war(d: D) -> None:
    """SOE-12.1 to SOE-12.5: what goes back to the stock goes back, all else is turned back."""
    if laid := d.state.blockade:
        d.add({"t": "blockade_lifted", "seat": laid.seat, "tile": "blockade", "region": laid.region})
    for seat in d.state.everybody:
        for tile in d.state.empires[seat].tiles:
            if TILES[tile.tile].group == "alliance":
                d.add({"t": "tile_returned", "seat": seat, "tile": tile.tile})
    d.add({"t": "war_ended", "war": d.state.war, "opener": d.state.turn_order[-1]})


def end_game(d: D) -> None:
    """SOE-13.1: all unrest is revealed; the count itself is `scores`."""
    for seat in d.state.everybody:
        d.add({"t": "unrest_revealed", "seat": seat, "unrest": d.state.unrest[seat]})
    d.finish()
