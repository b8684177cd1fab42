"""Treaties of players (SE7-1.11), and the deeds told by public facts."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.seven_empires.data import REGIONS
from domain.kernel.rules.treaties import (
    ATTACK,
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
    refrain,
    tells,
)
from domain.types import Doc, Json


def _note_monarchs(fact: Doc, memory: dict[str, Json]) -> None:
    memory["monarchs"] = {each["empire"]: each["seat"] for each in fact["monarchs"]}


def _note_actor(fact: Doc, memory: dict[str, Json]) -> None:
    memory["actor"] = fact.get("to", fact["seat"])


def _tell_fight(fact: Doc, memory: dict[str, Json]) -> Deed:
    return Deed("attacked", memory.get("actor"), memory.get("monarchs", {}).get(fact["against"]), fact["region"])


def _tell_move(fact: Doc, memory: dict[str, Json]) -> Deed:
    return Deed("entered", memory.get("actor"), None, fact["to"])


DEEDS: Mapping[str, DeedReader] = {
    "monarchs_assigned": _note_monarchs,
    "decade_started": tells(TURN, amount="decade"),
    "marker_placed": _note_actor,
    "empire_delegated": _note_actor,
    "fought": _tell_fight,
    "army_moved": _tell_move,
    "ship_moved": _tell_move,
    "passage_refused": tells("refused", "seat", place="through"),
}
"""Deeds told by public facts. An empire attacks for the seat that decides, and is its monarch's."""


def _refuses(promise: Promise, deed: Deed) -> bool:
    place = promise.values["who"], promise.values["region"]
    return deed.kind == "refused" and (deed.by, deed.place) == place


TREATIES = TreatyRules(
    kinds=(
        PEACE,
        TRUCE,
        KEEP_OUT,
        LEAVE,
        ATTACK,
        SHARE,
        TreatyKind("passage", {"who": PARTY, "region": REGION, "turn": UNTIL}, refrain(_refuses)),
    ),
    regions=tuple(REGIONS),
    deeds=DEEDS,
)
