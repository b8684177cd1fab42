"""Treaties of players, and the deeds told by public facts (SOE-8.3.3 allows deals)."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.struggle_of_empires.data import DOC, REGIONS
from domain.kernel.rules.treaties import (
    ATTACK,
    BID_LIMIT,
    GIVE,
    KEEP_OUT,
    LEAVE,
    PEACE,
    TRUCE,
    TURN,
    UNTIL,
    DeedReader,
    TreatyKind,
    TreatyRules,
    same_side,
    tells,
)

DEEDS: Mapping[str, DeedReader] = {
    "war_started": tells(TURN, amount="war"),
    "attack_declared": tells("attacked", "seat", "target", "region"),
    "raid_sent": tells("attacked", "seat", "target", "region"),
    "unit_moved": tells("entered", "seat", place="at"),
    "unit_built": tells("entered", "seat", place="at"),
    "gold_given": tells("gave", "seat", "to", amount="gold"),
    "bid_made": tells("bid", "seat", amount="amount"),
    "aligned": tells("sided", "seat", place="alliance"),
}
"""Deeds told by public facts."""


TREATIES = TreatyRules(
    kinds=(
        PEACE,
        TRUCE,
        KEEP_OUT,
        LEAVE,
        ATTACK,
        GIVE,
        BID_LIMIT,
        TreatyKind("same_side", {"turn": UNTIL}, same_side),
    ),
    regions=tuple(REGIONS),
    turns=DOC["constants"]["wars"],
    deeds=DEEDS,
)
