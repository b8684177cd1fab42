"""Bases of the facts of a resolved turn, and assignments shared by several of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from domain.games.common.seats import replace_at
from domain.games.egc.state import Army, Egc, Garrison
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import Fact, doc
from domain.types import Doc, Seat

Step = Literal["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14", "P15"]
"""EGC-5.1: where in the resolution of a turn."""

Force: TypeAlias = tuple[str, int, int, int]
"""An army: territory, divisions, morale, training."""
Troops: TypeAlias = tuple[int, int, int]
"""A neutral army: divisions, morale, training."""
Invested: TypeAlias = tuple[str, int, int]
"""Research under way: technology, points, turn."""


class Stepped(Fact[Egc], frozen=True):
    """Becomes true while a turn is resolved."""

    step: Step


class Reported(Stepped, frozen=True):
    """EGC-6.3: told to one seat, and kept in its report."""

    seat: Seat

    def evolve(self, s: Egc) -> Egc:
        return assign(s, reports=self.extended_reports(s))

    def extended_reports(self, s: Egc) -> tuple[Doc, ...]:
        """Return all reports, with this fact added to its seat's, under its kind and without the reader."""
        entry = doc(self)
        kind, seat = entry.pop("t"), entry.pop("seat")
        report = s.reports[seat]
        return replace_at(s.reports, seat, {**report, kind: [*report.get(kind, ()), entry]})


class News(Stepped, frozen=True):
    """EGC-6.2: told to all, and kept until the next resolution."""

    def evolve(self, s: Egc) -> Egc:
        return assign(self.change(s), news=(*s.news, doc(self)))

    def change(self, s: Egc) -> Egc:
        """Return the state with the other assignments of the fact."""
        return s


# --- parts of the state --------------------------------------------------------------------------------------


def forces(s: Egc, seat: Seat, changed: Mapping[str, Force | None]) -> tuple[dict[str, Army], ...]:
    """Return the armies of all seats, with whole armies replaced by id; null removes one."""
    armies = dict(s.armies[seat])
    for army, force in changed.items():
        if force is None:
            armies.pop(army, None)
        else:
            armies[army] = Army(*force)
    return replace_at(s.armies, seat, armies)


def strengths(s: Egc, seat: Seat, left: Mapping[str, int]) -> tuple[dict[str, Army], ...]:
    """Return the armies of all seats, with new divisions by army; 0 removes one."""
    armies = dict(s.armies[seat])
    for army, divisions in left.items():
        armies[army] = assign(armies[army], divisions=divisions)
        if not divisions:
            del armies[army]
    return replace_at(s.armies, seat, armies)


def garrisons(s: Egc, changed: Mapping[str, Troops | None]) -> dict[str, Garrison]:
    """Return the neutral armies by territory; null removes one."""
    kept = {t: g for t, g in s.garrisons.items() if t not in changed}
    return {**kept, **{t: Garrison(*troops) for t, troops in changed.items() if troops is not None}}


def without(protections: Mapping[str, int], seat: Seat) -> dict[str, int]:
    """Return the protections without those of a seat."""
    return {k: v for k, v in protections.items() if k != str(seat)}
