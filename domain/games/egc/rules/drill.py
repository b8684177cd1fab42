"""EGC-10.1, P5: training and rest."""

from __future__ import annotations

from domain.games.egc.data import SEATS, by_rank
from domain.games.egc.rules.work import Work


def drill(w: Work) -> None:
    """EGC-10.1: up to the caps of the empire's ranks; not for an army that retreated or turned back."""
    for seat in SEATS:
        mine = [u for u in w.units.values() if u.seat == seat and u.divisions and not u.retreated]
        if not mine:
            continue
        trained_to = by_rank("training_cap", w.s.rank(seat, "land_warfare"))
        rested_to = by_rank("morale_cap", w.s.rank(seat, "officer_training"))
        trained = {u.id: u.training + 1 for u in mine if u.order == "train" and u.training < trained_to}
        rested = {u.id: u.morale + 1 for u in mine if u.order == "rest" and u.morale < rested_to}
        if trained or rested:
            w.own(seat, "armies_drilled", trained=trained, rested=rested)
