"""Treaties of players by letter, and the deeds told by public facts."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.egc.data import SEAS, TERRITORIES
from domain.kernel.rules.treaties import (
    ATTACK,
    GIVE_UNSEEN,
    KEEP_OUT,
    LEAVE,
    PARTY,
    PEACE,
    REGION,
    SHARE,
    TRUCE,
    TURN,
    UNTIL,
    Deed,
    DeedReader,
    Promise,
    TreatyKind,
    TreatyRules,
    give_to_other,
    perform,
    refrain,
    tells,
)

DEEDS: Mapping[str, DeedReader] = {
    "turn_started": tells(TURN, amount="turn"),
    "war_declared": tells("attacked", "seat", "target"),
    "war_joined": tells("attacked", "seat", "target"),
    "territory_conquered": tells("attacked", "seat", "loser", "territory"),
    "territory_given": tells("handed", "seat", "to", "territory"),
    "protectorate_given": tells("handed", "seat", "to", "territory"),
    "territory_protected": tells("protected", "seat", place="territory"),
    "protectorate_installed": tells("protected", "seat", place="territory"),
    "strait_set": tells("refused", "seat", "target", closed=True),
    "ports_set": tells("refused", "seat", "target", open=False),
}
"""Deeds told by public facts. A war declared counts as an attack."""


def _protects(promise: Promise, deed: Deed) -> bool:
    place = promise.values["who"], promise.values["region"]
    return deed.kind == "protected" and (deed.by, deed.place) == place


def _refuses(promise: Promise, deed: Deed) -> bool:
    return deed.kind == "refused" and deed.by == promise.values["who"] and deed.whom in promise.parties


TREATIES = TreatyRules(
    kinds=(
        PEACE,
        TRUCE,
        KEEP_OUT,
        LEAVE,
        ATTACK,
        SHARE,
        GIVE_UNSEEN,
        TreatyKind(
            "give_territory",
            {"who": PARTY, "to": PARTY, "region": REGION, "turn": UNTIL},
            perform(give_to_other),
        ),
        TreatyKind("leave_protection", {"who": PARTY, "region": REGION, "turn": UNTIL}, refrain(_protects)),
        TreatyKind("passage", {"who": PARTY, "turn": UNTIL}, refrain(_refuses)),
    ),
    regions=(*TERRITORIES, *SEAS),
    most=1_000_000,
    deeds=DEEDS,
)
