"""EGC-10.1, P5: training and rest."""

from __future__ import annotations

from domain.games.egc.data import by_rank
from domain.games.egc.facts.armies import ArmiesDrilled
from domain.games.egc.rules.work import NOBODY, Resolution, Unit
from domain.types import Seat


def drill(w: Resolution) -> None:
    """EGC-10.1: up to the caps of the empire's ranks; not for an army back from a retreat or turned back."""
    able: dict[Seat, list[Unit]] = {}
    for unit in w.units.values():
        if unit.seat != NOBODY and unit.divisions and not unit.retreated:
            able.setdefault(unit.seat, []).append(unit)
    for seat in sorted(able):
        mine = able[seat]
        trained_to = by_rank("training_cap", w.s.rank(seat, "land_warfare"))
        rested_to = by_rank("morale_cap", w.s.rank(seat, "officer_training"))
        trained = {u.id: u.training + 1 for u in mine if u.order == "train" and u.training < trained_to}
        rested = {u.id: u.morale + 1 for u in mine if u.order == "rest" and u.morale < rested_to}
        if trained or rested:
            w.tell_seat(ArmiesDrilled(w.step, seat, trained, rested))
