"""SOE-11: phase 5, the regions score."""

from __future__ import annotations

from domain.games.common.majority import majority
from domain.games.struggle_of_empires.data import REGIONS, SCORING
from domain.games.struggle_of_empires.facts.economy import RegionScored
from domain.games.struggle_of_empires.state import D, Struggle
from domain.types import Seat


def region_points(s: Struggle, region: str) -> dict[Seat, int]:
    """SOE-11.1: seat -> points. Ties share a value and do not use up the next one."""
    tokens = {seat: e.tokens[region] for seat, e in enumerate(s.empires) if region in e.tokens}
    return majority(tokens, REGIONS[region].vp)


def score_regions(d: D) -> None:
    """SOE-11.1: every scoring region, in the order of the data."""
    for region in SCORING:
        for seat, vp in region_points(d.state, region).items():
            total = d.state.empires[seat].vp + vp
            d.add(RegionScored(region, seat, vp, total))
