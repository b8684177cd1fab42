"""Treaties of players, and the deeds told by public facts."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.age_of_reason.data import DOC, REGIONS
from domain.kernel.rules.treaties import (
    ATTACK,
    BID_LIMIT,
    KEEP_OUT,
    LEAVE,
    PEACE,
    TRUCE,
    TURN,
    UNTIL,
    Deed,
    DeedReader,
    TreatyKind,
    TreatyRules,
    same_side,
    tells,
)
from domain.types import Doc, Json


def _note_power(fact: Doc, memory: dict[str, Json]) -> None:
    memory[fact["power"]] = fact["seat"]


def _tell_side(fact: Doc, memory: dict[str, Json]) -> Deed | None:
    seat = memory.get(fact["power"])
    return None if seat is None else Deed("sided", seat, place=fact["coalition"])


DEEDS: Mapping[str, DeedReader] = {
    "power_chosen": _note_power,
    "game_turn_started": tells(TURN, amount="game_turn"),
    "attack_declared": tells("attacked", "seat", "defender", "region"),
    "token_placed": tells("entered", "seat", place="region"),
    "bid_made": tells("bid", "seat", amount="amount"),
    "aligned": _tell_side,
}
"""Deeds told by public facts; the memory has the seat of each power."""


TREATIES = TreatyRules(
    kinds=(
        PEACE,
        TRUCE,
        KEEP_OUT,
        LEAVE,
        ATTACK,
        BID_LIMIT,
        TreatyKind("same_side", {"turn": UNTIL}, same_side),
    ),
    regions=tuple(REGIONS),
    turns=DOC["constants"]["turns"],
    deeds=DEEDS,
)
