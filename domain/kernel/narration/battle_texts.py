"""Battles as documents in one language: names, dice, strengths with their reasons, losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.battles import Battle, BattleSide
from domain.kernel.text.message_catalog import Texts
from domain.types import Doc, Json


class BattleSideDoc(TypedDict):
    seat: Annotated[int | None, "null for a party without a seat."]
    who: Annotated[str | None, "Id of a party without a seat."]
    name: str
    dice: Annotated[list[list[int]], "Values, a list for each round."]
    strength: Annotated[int | None, "null where there is none."]
    reasons: Annotated[list[str], "Parts of the strength, in words."]
    force: Annotated[list[str], "Units before the battle, in words."]
    lost: Annotated[list[str], "Losses, in words."]


class BattleDoc(TypedDict):
    version: Annotated[int, "The last version that tells of it."]
    region: str
    stage: Annotated[str | None, "Kind of battle where a combat has several."]
    winner: Annotated[
        Literal["attacker", "defender", "tie"] | None, "null while nobody has won, or where the rules name no winner."
    ]
    open: Annotated[bool, "True until it is over."]
    text: Annotated[str, "Who has beaten whom, and where."]
    told: Annotated[str, "Who has attacked whom, where, how it has ended, and what both have lost."]
    sentences: Annotated[list[str], "The lines of `text` of the entries that it stands for."]
    sides: Annotated[list[BattleSideDoc], "The attacker, then the defender."]


def tell_battle(texts: Texts, namer: SeatNames, battle: Battle) -> BattleDoc:
    """Return a battle with the names and words for its card."""
    return {
        "version": battle.version,
        "region": battle.region,
        "stage": battle.stage or None,
        "winner": battle.winner or None,
        "open": battle.is_open,
        "text": texts.render(f"battle.{_ending(battle)}", _members(battle), namer) or "",
        "told": texts.render(f"attack.{_ending(battle)}", _members(battle), namer) or "",
        "sentences": [
            line for fact in battle.facts for line in (texts.sentence(fact, namer) or "").split("\n") if line
        ],
        "sides": [_tell_side(texts, namer, side) for side in battle.sides.values()],
    }


def _ending(battle: Battle) -> str:
    return battle.winner or ("declared" if battle.is_open and not battle.has_dice else "open")


def _members(battle: Battle) -> Mapping[str, Json]:
    sides = battle.sides
    lost = {name: _list_things(side.lost) for name, side in sides.items()}
    return {**{name: side.who for name, side in sides.items()}, "region": battle.region, "lost": lost, **_weigh(battle)}


def _weigh(battle: Battle) -> Mapping[str, Json]:
    """Return the reason of a battle's end: strengths with the dice of each, or else forces."""
    sides = battle.sides.items()
    if all(side.strength is not None for _, side in sides):
        added = {name: sum(part["value"] for part in side.reasons if part["part"] == "spread") for name, side in sides}
        return {"strength": {name: side.strength for name, side in sides}, "by_dice": added if battle.has_dice else {}}
    if not any(side.dice or side.reasons for _, side in sides):
        return {}
    return {"force": {name: _list_things({(None, unit): n for unit, n in side.force.items()}) for name, side in sides}}


def _tell_side(texts: Texts, namer: SeatNames, side: BattleSide) -> BattleSideDoc:
    who = side.who
    seat = who if isinstance(who, int) else next((s for s, power in namer.powers.items() if power == who), None)
    name = (texts.noun(who) if seat is None else namer(seat)).bare
    return {
        "seat": seat,
        "who": str(who) if seat is None else None,
        "name": name[:1].upper() + name[1:],
        "dice": [list(each) for each in side.dice],
        "strength": side.strength,
        "reasons": [text for part in side.reasons if (text := texts.fill("item.part", part, namer))],
        "force": _count(texts, namer, Counter({(None, unit): count for unit, count in side.force.items()})),
        "lost": _count(texts, namer, side.lost),
    }


def _count(texts: Texts, namer: SeatNames, some: Mapping[tuple[Any, str], int]) -> list[str]:
    """Return numbers of things in words, with the ally who has lost them."""
    return [text for members in _list_things(some) if (text := texts.fill("item.counted", members, namer))]


def _list_things(some: Mapping[tuple[Any, str], int]) -> list[Doc]:
    """Return numbers of things as members of sentences."""
    return [{"ally": ally, "unit": unit, "count": count} for (ally, unit), count in some.items()]
