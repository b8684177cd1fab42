"""Forks: new games for analysis, with a seed of their own, from a version of a closed game.

Draws are keyed by the id of a game, so a fork copies no records. Its first record names the origin: the game, the
version and the hash of that version's record. In place of a set-up, a public fact gives it the state of that version.
Then everything unseen by all seats is dealt anew from the fork's own seed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from domain.errors import RuleError, VerificationError
from domain.kernel.game.game import AnyGame, fold
from domain.kernel.game.record_builder import AnyTransition, CommandContext
from domain.kernel.game.table_commands import Join, Open, Start
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import to_json
from domain.types import Doc, Json


def fold_origin(rules: AnyRuleset, records: Sequence[Record], version: int) -> AnyGame:
    """Return the game at the version of a fork; raise RuleError `not_running` unless decisions are open there.

    An undone version is allowed.
    """
    origin: AnyGame = fold(rules, records, version)
    if origin.status != "running" or not origin.frames:
        raise RuleError("not_running", "", {"status": origin.status})
    return origin


def state_of_origin(origin: AnyGame) -> Doc:
    """Return the state of an origin, ordered as in a stored record: rules may follow the order of a map."""
    state: Doc = json.loads(canonical(to_json(origin.state)))
    return state


def describe_origin(record: Record, game: str) -> Doc:
    """Return the member `origin` of a fork's first record, for a record of a game."""
    return {"game": game, "version": record.version, "head": record.hash}


def open_fork(
    rules: AnyRuleset,
    origin: AnyGame,
    game: str,
    player: str,
    terms: Mapping[str, Json],
    context: CommandContext,
) -> list[AnyTransition]:
    """Return the first records of a fork, with the player at every seat: it runs at once.

    `terms` are the members of its first record, with `origin`.
    """
    steps: list[AnyTransition] = [Open(game, origin.table, dict(terms)).execute(rules, context)]
    for seat in range(origin.table.seats):
        steps.append(Join(seat, player).execute(rules, steps[-1].game, context))
    return [*steps, Start(state=state_of_origin(origin)).execute(rules, steps[-1].game, context)]


def check_origin(rules: AnyRuleset, fork: Sequence[Record], origin: Sequence[Record]) -> None:
    """Compare the first state of a fork with its origin; raise VerificationError `origin_mismatch`.

    Both records are of exports already proved. The origin must be closed and whole: a state follows from all packs.
    """
    named = fork[0].body.get("origin")
    started = next((r for r in fork if r.kind == "started"), None)
    if not isinstance(named, dict) or started is None:
        raise VerificationError("origin_mismatch", 1, "no fork")
    if origin[-1].kind != "closed":
        raise VerificationError("origin_mismatch", 1, "not closed")
    if named["game"] != origin[0].body["game"] or named["version"] > len(origin):
        raise VerificationError("origin_mismatch", 1, "game")
    if origin[named["version"] - 1].hash != named["head"]:
        raise VerificationError("origin_mismatch", 1, "head")
    same_table = all(fork[0].body[name] == origin[0].body[name] for name in ("ruleset", "seats", "options"))
    if not same_table:
        raise VerificationError("origin_mismatch", 1, "table")
    try:
        state = state_of_origin(fold_origin(rules, origin, named["version"]))
    except RuleError as error:
        raise VerificationError("origin_mismatch", 1, error.code) from error
    if not any(fact == {"t": "restored", "state": state} for fact in started.public.get("facts", ())):
        raise VerificationError("origin_mismatch", started.version, "state")
