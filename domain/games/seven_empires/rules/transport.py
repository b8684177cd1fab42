"""SE7-8.6: sea transport, one step at any length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from domain.games.common.checks import require
from domain.games.seven_empires.data import COAST, REGIONS, SEA
from domain.games.seven_empires.state import Seven
from domain.kernel.rules.ruleset import memo

RULE = "SE7-8.6"


def check_seas(here: str, there: str, via: Sequence[str]) -> None:
    """SE7-8.6: a chain of different seas from coast to coast."""
    require(via[0] in COAST[here] and via[-1] in COAST[there], "no_coast", RULE, region=here, to=there)
    for sea, following in pairwise(via):
        require(following in SEA[sea], "not_adjacent", RULE, region=sea, to=following)


def check_carriers(s: Seven, via: Sequence[str], used: Sequence[str]) -> None:
    """SE7-8.6: a ship of the empire in every sea, and no two-master twice."""
    for sea in via:
        require(bool(s.units_of(sea, s.acting)), "no_transport_ship", RULE, sea=sea)
        cause = "earlier" if sea in s.moving.used else "same_move"
        require(sea not in used, "transport_used", RULE, cause=cause, sea=sea)


def well_formed(via: Sequence[str]) -> bool:
    """SE7-8.6: different seas, at least one."""
    return bool(via) and len(set(via)) == len(via) and all(REGIONS[sea] == "sea" for sea in via)


def two_masters(s: Seven, via: Sequence[str]) -> list[str]:
    """SE7-8.6: seas of a chain with a ship able to carry one unit once."""
    return [sea for sea in via if "two_master" in s.units_of(sea, s.acting)]


# --- regions within reach ---------------------------------------------------------------------------------------


def carriers(s: Seven, used: Sequence[str]) -> frozenset[str]:
    """Return the seas with a ship of the acting empire free to carry a unit now."""
    empire = s.acting
    seas = (region for region, there in s.units.items() if empire in there and REGIONS[region] == "sea")
    return frozenset(sea for sea in seas if sea not in used)


def chains(s: Seven, start: str, used: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    """Return region in reach of a transported unit -> every chain of seas to it."""
    open_seas = carriers(s, used)
    if not open_seas:
        return {}
    return memo(s, f"chains {start} {' '.join(sorted(open_seas))}", lambda: _chains(start, open_seas))


def _chains(start: str, open_seas: frozenset[str]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for sea in COAST[start]:
        if sea in open_seas:
            for chain in _onward((sea,), open_seas):
                for region in COAST[chain[-1]]:
                    if region != start:
                        found.setdefault(region, []).append(chain)
    return found


def _onward(chain: tuple[str, ...], open_seas: frozenset[str]) -> Iterator[tuple[str, ...]]:
    yield chain
    for sea in SEA[chain[-1]]:
        if sea in open_seas and sea not in chain:
            yield from _onward((*chain, sea), open_seas)
