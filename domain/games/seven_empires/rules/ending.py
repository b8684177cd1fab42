"""SE7-12: the end of the game."""

from __future__ import annotations

from domain.games.seven_empires.data import EMPIRES
from domain.games.seven_empires.facts.sequence import GameScored, PowerScored, TileLeftOut, TileRevealed
from domain.games.seven_empires.scoring import ranking, scores
from domain.games.seven_empires.state import D


def finish(d: D) -> None:
    """SE7-12.1 to SE7-12.5: the laurel, the last power, the points."""
    d.add(TileRevealed(d.state.decade, "laurel"))
    if d.state.left_out:
        d.barrier()
        d.add(TileLeftOut(d.state.left_out))
    for empire in EMPIRES:
        score(d, empire, d.state.flags_of(empire), "flags")
        score(d, empire, d.state.crowns(empire), "crowns")
    lines = scores(d.state)
    winners = [line.seat for line in lines if line.place == 1]
    d.add(GameScored(ranking(d.state), [line.points for line in lines], winners))
    d.finish()


def score(d: D, empire: str, points: int, why: str) -> None:
    """SE7-6.2, SE7-7.1, SE7-12.2: power rises."""
    d.add(PowerScored(empire, points, why, d.state.empires[empire].power + points))
