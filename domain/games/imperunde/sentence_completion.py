"""Sentences completed or gathered by the other facts of a record, and headlines by those of a turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from domain.games.imperunde.roll_readers import gather_dice
from domain.games.imperunde.template_context import STORM, count_pieces
from domain.kernel.narration.template_context import SILENT
from domain.types import Doc, Json, Seat


def complete_sentences(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Mark disasters without a lost unit, and ships sunk by a capture; omit the approach of an attack; gather draws."""
    hurt = {fact["region"] for fact in facts if fact["t"] in ("units_lost", "transports_sunk")}
    hurt |= {fact["zone"] for fact in facts if fact["t"] == "pirates_lost"}
    told = [{**fact, "spared": True} if _strikes(fact) and fact["region"] not in hurt else fact for fact in facts]
    return list(_gather_draws(_gather_storms(_mark_sunk(_without_approach(told)))))


def _gather_storms(facts: Iterable[Doc]) -> Sequence[Doc]:
    """Return as many facts; losses of a seat in a storm are one fact if nothing but dice is told between them.

    These dice are one fact, too.
    """
    told = list[Doc]()
    last: int | None = None
    dice: int | None = None
    for fact in facts:
        if fact["t"] == STORM and dice is not None:
            told[dice] = {**told[dice], "storm_dice": gather_dice([*told[dice]["storm_dice"], *fact["storm_dice"]])}
            told.append(SILENT)
        elif fact["t"] == STORM:
            dice = len(told)
            told.append(fact)
        elif fact["t"] != "units_lost" or fact["cause"] != "storm":
            last, dice = (last, dice) if fact["t"] == SILENT["t"] else (None, None)
            told.append(fact)
        elif last is not None and all(told[last][name] == fact[name] for name in ("seat", "region")):
            units = [(x["unit"], x["count"]) for x in (*told[last]["units"], *fact["units"])]
            told[last] = {**told[last], "units": count_pieces(units)}
            told.append(SILENT)
        else:
            last = len(told)
            told.append(fact)
    return told


def _mark_sunk(facts: Iterable[Doc]) -> Iterator[Doc]:
    """IMP-8.4.2: yield the facts; losses that the dice of the round have not told are ships sunk by a capture."""
    due: list[Json] = []
    for fact in facts:
        if fact["t"] == "round_fought" and "lost" in fact:
            due = [who for who, lost in zip(fact["sides"].values(), fact["lost"], strict=True) if lost]
        elif fact["t"] in ("units_lost", "pirates_lost") and fact["cause"] == "combat":
            who = fact.get("seat", "pirates")
            if who not in due:
                yield {**fact, "cause": "sunk"}
                continue
            due.remove(who)
        yield fact


def _gather_draws(facts: Sequence[Doc]) -> Iterator[Doc]:
    """Yield as many facts; several cards drawn by a seat are one fact, to readers who know them."""
    for seat, run in groupby(facts, key=lambda fact: fact["seat"] if fact["t"] in DRAWS and "seat" in fact else None):
        some = list(run)
        dealt, drawn = ([fact for fact in some if fact["t"] == kind] for kind in DRAWS)
        if seat is None or len(drawn) < 2:
            yield from some
            continue
        hand = Counter(fact["card"] for fact in drawn)
        held = [{"card": card, "many": n if n > 1 else None} for card, n in sorted(hand.items())]
        yield from ({**fact, "drawn": len(dealt)} for fact in dealt[-1:])
        yield {**drawn[0], "hand": held}
        yield from [SILENT] * (len(some) - 1 - bool(dealt))


def _without_approach(facts: Iterable[Doc]) -> Iterator[Doc]:
    """Yield the facts without steps between an attack and its combat, but for their dice: the attack tells the way."""
    attacker: Seat | None = None
    for fact in facts:
        if fact["t"] == "attack_declared":
            attacker = fact["seat"]
        elif fact["t"] == "combat_started":
            attacker = None
        steps = attacker is not None and fact["t"] == "units_moved" and fact["seat"] == attacker
        if not steps:
            yield fact
        else:
            yield {"t": STORM, "storm_dice": fact["storm_dice"]} if fact.get("storm_dice") else SILENT


def _strikes(fact: Doc) -> bool:
    """Return whether units can be lost by an event."""
    if fact["t"] == "land_event":
        return bool(fact["event"] == "epidemic" and fact["owner"] is not None)
    return bool(fact["t"] == "sea_event" and fact["event"] == "storm" and not fact["idle"])


def gather_headlines(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Gather the countries taken by a seat from the same owner."""
    taken: dict[Json, list[Doc]] = {}
    for fact in facts:
        if fact["t"] == "country_conquered":
            taken.setdefault((fact["seat"], fact.get("from")), []).append(fact)
    firsts = {id(some[0]): {**some[0], "country": [fact["country"] for fact in some]} for some in taken.values()}
    return [firsts.get(id(fact), fact) for fact in facts if fact["t"] != "country_conquered" or id(fact) in firsts]


DRAWS = ("card_dealt", "card_drawn")
"""Facts of a draw: for everybody, and for the seat."""
