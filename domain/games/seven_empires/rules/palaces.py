"""SE7-6: the action Palace."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import CITIES
from domain.games.seven_empires.facts.pieces import PalaceBuilt
from domain.games.seven_empires.moves import BuildPalace
from domain.games.seven_empires.rules import ending
from domain.games.seven_empires.rules.acting import ask_actor
from domain.games.seven_empires.rules.checks import known_regions, need_own_free_city
from domain.games.seven_empires.state import D, Seven
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def growable(s: Seven, empire: str) -> list[str]:
    """SE7-6.1: unoccupied own city regions with a palace to build or enlarge, in data order."""
    return [region for region in s.free_cities(empire) if _grows(s, region)]


def _grows(s: Seven, region: str) -> bool:
    """SE7-6.1: up to 2 crowns, the capital's up to 3."""
    return s.palaces.get(region, 0) < CITIES[region].most_crowns


def begin(d: D) -> None:
    """SE7-6.1: mandatory where it is possible, else only the crowns are counted."""
    if growable(d.state, d.state.acting):
        ask_actor(d, frames.Palace)
    else:
        _score(d)


def check_palace(s: Seven, seat: Seat, move: BuildPalace) -> None:
    """SE7-15.7: the errors of `build_palace`, in this order."""
    known_regions(move.region)
    need_own_free_city(s, move.region, s.acting, "SE7-6.1")
    require(_grows(s, move.region), "palace_at_maximum", "SE7-6.1", region=move.region)


def do_palace(d: D, frame: Frame, seat: Seat, move: BuildPalace) -> None:
    """SE7-6.1, SE7-6.2: one crown more; then all are counted."""
    check_palace(d.state, seat, move)
    d.add(PalaceBuilt(d.state.acting, move.region, d.state.palaces.get(move.region, 0) + 1))
    d.mark_answered(seat, end=True)
    _score(d)


def _score(d: D) -> None:
    """SE7-6.2."""
    ending.score(d, d.state.acting, d.state.crowns(d.state.acting), "palace")
