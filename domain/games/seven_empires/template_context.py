"""Context of sentences besides the members of a fact, and mergers of several facts into one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from domain.games.seven_empires.data import EMPIRES, LETTERED, LETTERS
from domain.games.seven_empires.facts.pieces import StartingUnitsPlaced, UnitsDeployed
from domain.games.seven_empires.facts.sequence import GameScored, MonarchsAssigned
from domain.games.seven_empires.state import Seven
from domain.kernel.rules.ruleset import ContextBuilder, SentenceMerger
from domain.types import Doc, Json, Seat


def _monarchs(before: Seven, after: Seven, _: MonarchsAssigned) -> Mapping[str, Json]:
    """Return the first monarchs; later the changes of monarch, with the reasons."""
    if not before.decade:
        held = {seat: [e for e in EMPIRES if after.monarch(e) == seat] for seat in after.everybody}
        return {"reigns": [{"seat": seat, "empires": some} for seat, some in held.items() if some]}
    crowned = [
        {"empire": empire, "seat": seat, "former": before.monarch(empire), **_why(after, empire, seat)}
        for empire in EMPIRES
        if (seat := after.monarch(empire)) is not None and seat != before.monarch(empire)
    ]
    return {"crowned": crowned, "known": True}


def _why(s: Seven, empire: str, seat: Seat) -> Mapping[str, Json]:
    """SE7-2.12: the most influence, or the tie-break."""
    most = s.influence(seat, empire)
    others = {other: s.influence(other, empire) for other in s.everybody if other != seat}
    against = max(others.values())
    if against < most:
        return {"why": "more", "influence": most, "against": against or None}
    tied = [seat, *(other for other, influence in others.items() if influence == most)]
    lettered = any(LETTERED[empire, letter] in s.hands[one] for letter in LETTERS for one in tied)
    return {"why": "letter" if lettered else "position", "influence": most}


def _stands(_: Seven, __: Seven, fact: StartingUnitsPlaced | UnitsDeployed) -> Mapping[str, Json]:
    """Return the units by region."""
    found: dict[str, list[Json]] = {}
    for x in fact.units:
        found.setdefault(x.region, []).append({"unit": x.unit, "number": x.number})
    return {"stands": [{"region": region, "units": units} for region, units in found.items()]}


def _ranking(before: Seven, _: Seven, fact: GameScored) -> Mapping[str, Json]:
    """Return the empires with their power."""
    return {"table": [{"empire": empire, "power": before.empires[empire].power} for empire in fact.ranking]}


def _flags(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge the flags of each empire."""
    by_empire = [(empire, list(some)) for empire, some in groupby(run, key=lambda fact: fact["empire"])]
    return [{**some[0], "empire": empire, "count": len(some), "flags": some} for empire, some in by_empire]


def _power(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge an empire's gains, by source; sources without a gain are left out."""
    by_empire = [list(some) for _, some in groupby(run, key=lambda fact: fact["empire"])]
    return [{**some[-1], "gains": [fact for fact in some if fact["points"]]} for some in by_empire]


CONTEXT_BUILDERS: Mapping[str, ContextBuilder[Seven]] = {
    "starting_units_placed": _stands,
    "monarchs_assigned": _monarchs,
    "units_deployed": _stands,
    "game_scored": _ranking,
}
"""Public fact -> context of its sentence, besides its own members."""

SENTENCE_MERGERS: Mapping[str, SentenceMerger] = {"flag_placed": _flags, "power_scored": _power}
"""Fact -> merger of consecutive ones into one sentence."""
