"""Checks for unknown ids in a state; only a patch can bring them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from domain.games.common.id_checks import items, keys, unknown_ids
from domain.games.egc.data import (
    CASUS_BELLI,
    EMPIRES,
    INFRASTRUCTURES,
    LADDER,
    LINKS,
    SEATS,
    STRAITS,
    TECHNOLOGIES,
    TERRITORIES,
)
from domain.games.egc.state import ACTIVE, DORMANT, ELIMINATED, ENEMIES, NEUTRAL, PAIR_KEYS, Egc, Empire

_NUMBERS = [str(seat) for seat in SEATS]
_PAIRS = frozenset(PAIR_KEYS.values())
_LEVELS = frozenset((*LADDER, *ENEMIES))
_CLOSED = frozenset(f"{strait}:{seat}" for strait in STRAITS for seat in SEATS)
_RIVALS = frozenset(f"{a}:{b}" for a, b in PAIR_KEYS)
_REASONS = frozenset(f"{rivals}:{kind}" for rivals in _RIVALS for kind in CASUS_BELLI)
_ARMY = re.compile(r".*-(0|[1-9][0-9]{0,8})")


def of_lands(s: Egc) -> Iterator[str]:
    """Yield unknown territories, holders and infrastructures, and missing territories."""
    for name in ("lands", "manned", "levels", "garrisons", "neutral_ranks"):
        yield from unknown_ids("territory", TERRITORIES, keys(f"/{name}", getattr(s, name)))
    yield from (f"/lands/{name}: the territory is missing" for name in TERRITORIES if name not in s.lands)
    for name, land in s.lands.items():
        at = f"/lands/{name}"
        holder = land.protectorate.seat if land.protectorate else None
        yield from unknown_ids("seat", SEATS, [(f"{at}/owner", land.owner), (f"{at}/protectorate/seat", holder)])
        yield from unknown_ids("seat", _NUMBERS, keys(f"{at}/protections", land.protections))
    for name, levels in s.levels.items():
        yield from unknown_ids("infrastructure", INFRASTRUCTURES, keys(f"/levels/{name}", levels))
    shown = ((f"/manned/{name}", empire) for name, empire in s.manned.items())
    yield from unknown_ids("empire", (*EMPIRES, NEUTRAL), shown)


def of_empires(s: Egc) -> Iterator[str]:
    """Yield unknown links, technologies, states of an empire, and armies or places of armies."""
    yield from unknown_ids("status", (ACTIVE, DORMANT, ELIMINATED), items("/status", s.status))
    for seat, empire in enumerate(s.empires):
        yield from _empire(f"/empires/{seat}", empire)
        missing = TECHNOLOGIES if s.turn and s.status[seat] != ELIMINATED else ()
        yield from (f"/empires/{seat}/ranks/{t}: the rank is missing" for t in missing if t not in empire.ranks)
    for seat, armies in enumerate(s.armies):
        at = f"/armies/{seat}"
        yield from (f"{at}/{army}: an army is named EMPIRE-NUMBER" for army in armies if not _ARMY.fullmatch(army))
        yield from unknown_ids(
            "territory", TERRITORIES, [(f"{at}/{n}/territory", a.territory) for n, a in armies.items()]
        )


def _empire(at: str, empire: Empire) -> Iterator[str]:
    yield from unknown_ids(
        "link", LINKS, [*items(f"{at}/links", empire.links), *items(f"{at}/links_done", empire.links_done)]
    )
    researched = ((f"{at}/investments/{i}/technology", x.technology) for i, x in enumerate(empire.investments))
    known = [*keys(f"{at}/points", empire.points), *keys(f"{at}/ranks", empire.ranks), *researched]
    yield from unknown_ids("technology", TECHNOLOGIES, known)


def of_relations(s: Egc) -> Iterator[str]:
    """Yield unknown pairs and levels of relations, and missing pairs."""
    yield from unknown_ids(
        "pair of seats", _PAIRS, [*keys("/relations", s.relations), *keys("/peace_turn", s.peace_turn)]
    )
    yield from (f"/relations/{pair}: the pair is missing" for pair in sorted(_PAIRS - set(s.relations)))
    yield from unknown_ids("level", _LEVELS, ((f"/relations/{pair}", level) for pair, level in s.relations.items()))
    pairs = (
        (f"/proposals/{name}", f"{min(p.sender, p.target)}-{max(p.sender, p.target)}")
        for name, p in s.proposals.items()
    )
    yield from unknown_ids("pair of seats", _PAIRS, pairs)
    yield from unknown_ids("STRAIT:SEAT", _CLOSED, keys("/closed", s.closed))
    yield from unknown_ids("SEAT:SEAT", _RIVALS, keys("/open_ports", s.open_ports))
    yield from unknown_ids("HOLDER:AGAINST:KIND", _REASONS, keys("/casus_belli", s.casus_belli))


def of_counts(s: Egc) -> Iterator[str]:
    """Yield unknown links in past counts."""
    for i, count in enumerate(s.counts):
        for name, by_seat in (("realised", count.realised), ("failed", count.failed)):
            for seat, links in enumerate(by_seat):
                yield from unknown_ids("link", LINKS, items(f"/counts/{i}/{name}/{seat}", links))
