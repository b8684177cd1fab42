"""Rules of treaties in messages: their form, and how a bot of the service answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from domain.errors import FormError, RuleError, ScoresHidden
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.rules.treaties import TreatyField, TreatyKind
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Json, Seat

ANSWERS = ("accept", "decline", "counter")
"""Answers to a treaty. A counter comes with another treaty."""

MOST_HOURS = 720
"""Greatest time for an answer, hours."""

USUAL_HOURS = 72
"""Time for an answer if the writer names none, hours."""

TURNS_AHEAD = 20
"""Turns possible after the present one where the rules know no last one."""

_HOUR = 3_600_000


def turn_range(rules: AnyRuleset, game: AnyGame) -> tuple[int, int]:
    """Return the first and last turn possible in a treaty now."""
    now = max(1, rules.chapter(game.state).turn)
    return now, max(now, rules.treaties.turns or now + TURNS_AHEAD)


def list_options(
    rules: AnyRuleset, game: AnyGame, found: TreatyField, writer: Seat, seats: Sequence[Seat]
) -> Sequence[Json]:
    """Return the possible values of a field of a treaty in the conversation of these seats."""
    if found.kind == "region":
        return rules.treaties.regions
    if found.kind == "card":
        return rules.treaties.cards
    if found.kind == "amount":
        return range(1, rules.treaties.most + 1)
    if found.kind == "turn":
        first, last = turn_range(rules, game)
        return range(first, last + 1)
    if found.among == "parties":
        return seats
    is_table = len(seats) == game.table.seats
    return [seat for seat in range(game.table.seats) if seat != writer and (is_table or seat not in seats)]


def list_kinds(rules: AnyRuleset, game: AnyGame, writer: Seat, seats: Sequence[Seat]) -> list[TreatyKind]:
    """Return the kinds of treaties possible between these seats: those with a value for each field."""
    return [
        kind
        for kind in rules.treaties.kinds
        if all(list_options(rules, game, each, writer, seats) for each in kind.fields.values())
    ]


def check_treaty(
    rules: AnyRuleset, game: AnyGame, writer: Seat, seats: Sequence[Seat], wish: Mapping[str, Json], now: int
) -> Doc:
    """Return a treaty as its message has it.

    Raise RuleError `unknown_treaty` for a kind that the ruleset does not have, `not_now` unless the game runs, and
    FormError for unknown or missing fields, or values not offered.
    """
    check_running(game)
    kind = rules.treaties.find(str(wish["kind"]))
    if kind is None:
        raise RuleError("unknown_treaty", "", {"kinds": [each.name for each in rules.treaties.kinds]})
    given: Mapping[str, Json] = wish["values"]
    for name in given:
        if name not in kind.fields:
            raise FormError(Message("This treaty has no such field."), f"/treaty/values/{name}")
    for name, found in kind.fields.items():
        if name not in given:
            raise FormError(Message("This field is missing."), f"/treaty/values/{name}")
        value, options = given[name], list_options(rules, game, found, writer, seats)
        if isinstance(value, bool) or value not in options:
            raise FormError(Message("This value is not offered."), f"/treaty/values/{name}")
    if {"who", "to"} <= {*given} and given["who"] == given["to"]:
        raise FormError(Message("This value is not offered."), "/treaty/values/to")
    return {"kind": kind.name, "values": {**given}, "ends": now + int(wish["hours"]) * _HOUR}


def check_running(game: AnyGame) -> None:
    """Raise RuleError unless treaties can be made: while the game runs."""
    if game.status != "running":
        raise RuleError("not_now", "", {"when": "started" if game.status == "open" else "never"})


def find_leader(rules: AnyRuleset, known: object) -> Seat | None:
    """Return the only seat in the first place as far as a state tells; None if several share it or nobody may know."""
    with suppress(ScoresHidden):
        first = [score.seat for score in rules.scores(known) if score.place == 1]
        return first[0] if len(first) == 1 else None
    return None


def choose_answer(bot: Seat, proposer: Seat, treaty: Doc, leader: Seat | None) -> str:
    """Return the answer of a bot: `accept` or `decline`.

    It accepts what binds only the proposer; a peace or a truce, unless the proposer leads; and an attack on the seat
    that leads. It declines all else: a bot keeps no promise unknown to its rules.
    """
    kind, values = treaty["kind"], treaty["values"]
    if kind in ("peace", "truce_until"):
        return "decline" if leader == proposer else "accept"
    if kind == "attack_together":
        return "accept" if values["target"] == leader != bot else "decline"
    return "accept" if values.get("who") == proposer else "decline"
