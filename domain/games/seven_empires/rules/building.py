"""SE7-5.1: building a city, the first half of Build & Deploy."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.facts.pieces import CityBuilt
from domain.games.seven_empires.moves import BuildCity
from domain.games.seven_empires.rules.acting import ask_actor
from domain.games.seven_empires.rules.checks import known_regions, need_own_free_city
from domain.games.seven_empires.state import D, Seven
from domain.kernel.rules.flow import Frame
from domain.types import Seat

HIGHEST = 2
"""Level of a city."""


def buildable(s: Seven, empire: str) -> list[str]:
    """SE7-5.1: own city regions, unoccupied and below level 2, in data order."""
    return [region for region in s.free_cities(empire) if s.level(region) < HIGHEST]


def begin(d: D) -> None:
    """SE7-5.1: mandatory where it is possible, else it is skipped."""
    ask_actor(d, frames.Build if buildable(d.state, d.state.acting) else frames.Deploy)


def check_build(s: Seven, seat: Seat, move: BuildCity) -> None:
    """SE7-15.5: the errors of `build_city`, in this order."""
    known_regions(move.region)
    need_own_free_city(s, move.region, s.acting, "SE7-5.1")
    require(s.level(move.region) < HIGHEST, "city_at_maximum", "SE7-5.1", region=move.region)


def do_build(d: D, frame: Frame, seat: Seat, move: BuildCity) -> None:
    """SE7-5.1: the level rises by one; then units are deployed."""
    check_build(d.state, seat, move)
    d.add(CityBuilt(d.state.acting, move.region, d.state.level(move.region) + 1))
    d.mark_answered(seat, end=True)
    ask_actor(d, frames.Deploy)
