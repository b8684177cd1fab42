"""SE7-13: neutral empires act peacefully."""

from __future__ import annotations

from collections.abc import Iterable

from domain.games.common.checks import require
from domain.games.seven_empires.data import CITIES
from domain.games.seven_empires.state import Seven

RULE = "SE7-13.2"


def peaceful(s: Seven) -> bool:
    """SE7-13.1: whether the acting empire is neutral."""
    return s.monarch(s.acting) is None


def enters(s: Seven, region: str) -> bool:
    """SE7-13.2: neither a foreign unit nor a foreign flag is there."""
    flag = s.flags.get(region, s.acting)
    return flag == s.acting and s.foreign(region, s.acting) is None


def ends(s: Seven, region: str) -> bool:
    """SE7-13.2: nor is it a foreign city region."""
    return enters(s, region) and (region not in CITIES or CITIES[region].empire == s.acting)


def check_passage(s: Seven, regions: Iterable[str]) -> None:
    """SE7-13.2: every region entered on the way."""
    if peaceful(s):
        for region in regions:
            require(enters(s, region), "neutral_must_be_peaceful", RULE, region=region)


def check_march(s: Seven, regions: list[str]) -> None:
    """SE7-13.2: every region entered on the way, and the last one."""
    check_passage(s, regions)
    last = regions[-1]
    require(not peaceful(s) or ends(s, last), "neutral_must_be_peaceful", RULE, region=last)
