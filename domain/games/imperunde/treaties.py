"""Treaties of players in the talks (IMP-6.2.6), and the deeds told by public facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.games.imperunde.data import CARDS, COUNTRIES, ZONES
from domain.kernel.rules.treaties import (
    AMOUNT,
    ATTACK,
    HOLD_CARD,
    KEEP_OUT,
    LEAVE,
    PEACE,
    SHARE,
    TRUCE,
    TURN,
    UNTIL,
    Deed,
    DeedReader,
    Promise,
    TreatyKind,
    TreatyRules,
    perform,
    tells,
)

DEEDS: Mapping[str, DeedReader] = {
    "turn_started": tells(TURN, amount="turn"),
    "stance_set": tells("attacked", "seat", "target", stance="war"),
    "attack_declared": tells("attacked", "seat", place="target"),
    "combat_started": tells("attacked", "attacker", "defender", "region"),
    "colony_plundered": tells("attacked", "seat", "owner", "country"),
    "units_moved": tells("entered", "seat", place="to"),
    "armies_embarked": tells("entered", "seat", place="to"),
    "country_conquered": tells("entered", "seat", place="country"),
    "card_played": tells("played", "seat", place="card"),
    "goal_changed": tells("goal", amount="goal"),
}
"""Deeds told by public facts. A stance of war counts as an attack: it opens the way to one."""


def _has_goal(promise: Promise, deeds: Sequence[Deed]) -> bool:
    return any(deed.kind == "goal" and deed.amount == promise.values["amount"] for deed in deeds)


TREATIES = TreatyRules(
    kinds=(
        PEACE,
        TRUCE,
        KEEP_OUT,
        LEAVE,
        ATTACK,
        SHARE,
        HOLD_CARD,
        TreatyKind("goal", {"amount": AMOUNT, "turn": UNTIL}, perform(_has_goal)),
    ),
    regions=(*COUNTRIES, *ZONES),
    cards=tuple(CARDS),
    most=300,
    deeds=DEEDS,
)
