"""AOR-12.2, AOR-12.3: phase 5, the regions score, and unrest costs points."""

from __future__ import annotations

from domain.games.age_of_reason.data import CONSTANTS, POWERS, REGIONS, SCORING
from domain.games.age_of_reason.facts.economy import RegionScored, UnrestRolled
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.games.common.majority import majority
from domain.types import Seat


def region_points(s: AgeOfReason, region: str) -> dict[str, int]:
    """AOR-12.2: power -> points, of all powers with tokens there, those without seat too."""
    counts = {power: s.tokens[power][region] for power in POWERS if region in s.tokens.get(power, {})}
    return majority(counts, REGIONS[region].vp)


def score_regions(d: D) -> None:
    """AOR-12.2: every region, in the order of the data; powers without seat hold places and score nothing."""
    for region in SCORING:
        for power, vp in region_points(d.state, region).items():
            if (seat := d.state.seat_of(power)) is not None:
                d.add(RegionScored(region, seat, vp, d.state.empires[seat].vp + vp))


def roll_unrest(d: D) -> None:
    """AOR-12.3: in turn order."""
    for seat in d.state.turn_order:
        if d.state.empires[seat].unrest:
            _roll(d, seat)


def _roll(d: D, seat: Seat) -> None:
    """AOR-12.3: a die again and again until their sum reaches the unrest; a point for each."""
    empire, dice = d.state.empires[seat], list[int]()
    while sum(dice) < empire.unrest:
        dice.append(d.draws.roll("unrest", 1, 6))
    total = max(CONSTANTS["vp_floor"], empire.vp - len(dice))
    d.add(UnrestRolled(seat, dice, empire.vp - total, total))
