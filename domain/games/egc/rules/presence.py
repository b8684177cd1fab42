"""EGC-6.1, P15: the public presence of armies."""

from __future__ import annotations

from domain.games.egc.facts.relations import MannedSet
from domain.games.egc.rules.work import Resolution
from domain.games.egc.state import empire_of


def show_armies(w: Resolution) -> None:
    """EGC-6.1: the territories with armies, and the empires of these."""
    now = {a.territory: empire_of(seat) for seat in w.s.in_play() for a in w.s.armies[seat].values()}
    now |= dict.fromkeys(w.s.garrisons, empire_of(None))
    old = w.s.manned
    changed = {t: now.get(t) for t in sorted({*old, *now}) if old.get(t) != now.get(t)}
    if changed:
        w.tell(MannedSet(changed, w.step))
