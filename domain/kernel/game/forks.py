"""Forks: new games for analysis, with a seed of their own, from a version of another game.

Draws are keyed by the id of a game, so a fork copies no records. Its first record names the origin: the game, the
version and the hash of that version's record. In place of a set-up, facts give it the state of that version. Then
everything unknown is dealt anew from the fork's own seed.

From a closed game that is the whole state, and unknown is whatever no seat has seen. With a viewer it is the state as
folded from the facts readable by the viewer. Nothing else of the origin is read, so nothing else can follow from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.errors import RuleError, VerificationError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.record_builder import AnyTransition, CommandContext
from domain.kernel.game.table_commands import Join, Open, Start
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import State
from domain.kernel.rules.meta import Table
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import to_json
from domain.types import PUBLIC, Doc, Json, Viewer


@dataclass(frozen=True)
class ForkOrigin:
    """The beginning of a fork."""

    game: str
    table: Table
    version: int
    head: str
    """Hash of the version's record."""
    state: Doc
    """Public state of the fork's beginning."""
    own: Doc | None = None
    """State as a seat knows it, for a fork from the seat's knowledge."""
    viewer: Viewer | None = None
    """Reader of the facts behind the state; None: all facts of a closed game."""
    imported: bool = False
    """The origin is a file: a game of that id may be another one here."""

    def to_json(self) -> Doc:
        """Return the member `origin` of a fork's first record."""
        named: Doc = {"game": self.game, "version": self.version, "head": self.head}
        named |= {"imported": True} if self.imported else {}
        return named if self.viewer is None else named | {"known_to": self.viewer}


def fold_origin(rules: AnyRuleset, records: Sequence[Record], version: int, viewer: Viewer | None = None) -> ForkOrigin:
    """Return the beginning of a fork at a version, as a viewer knows it; without one, as all facts give it.

    Raise RuleError `not_running` unless decisions are open there, and `unknown_seat`. An undone version is allowed.
    """
    origin: AnyGame = fold(rules, records, version)
    if origin.status != "running" or not origin.frames:
        raise RuleError("not_running", "", {"status": origin.status})
    if viewer is not None and viewer not in (PUBLIC, *range(origin.table.seats)):
        raise RuleError("unknown_seat", "", {"seats": origin.table.seats})
    past, head = records[:version], records[version - 1].hash
    if viewer is None:
        return ForkOrigin(origin.id, origin.table, version, head, order_state(origin.state))
    known = {v: order_state(state_known_to(rules, past, v)) for v in (PUBLIC, viewer)}
    own = None if viewer == PUBLIC else known[viewer]
    return ForkOrigin(origin.id, origin.table, version, head, known[PUBLIC], own, viewer)


def order_state(state: State) -> Doc:
    """Return the JSON form of a state, ordered as in a stored record: rules may follow the order of a map."""
    doc: Doc = json.loads(canonical(to_json(state)))
    return doc


def open_fork(
    rules: AnyRuleset,
    origin: ForkOrigin,
    game: str,
    player: str,
    terms: Mapping[str, Json],
    context: CommandContext,
) -> list[AnyTransition]:
    """Return the first records of a fork, with the player at every seat: it runs at once.

    `terms` are the members of its first record, besides `origin`.
    """
    body = {**terms, "origin": origin.to_json()}
    steps: list[AnyTransition] = [Open(game, origin.table, body).execute(rules, context)]
    for seat in range(origin.table.seats):
        steps.append(Join(seat, player).execute(rules, steps[-1].game, context))
    return [*steps, Start(state=origin.state, own=origin.own).execute(rules, steps[-1].game, context)]


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
        beginning = fold_origin(rules, origin, named["version"], named.get("known_to"))
    except RuleError as error:
        raise VerificationError("origin_mismatch", 1, error.code) from error
    if Start.from_record(started, None) != Start(state=beginning.state, own=beginning.own):
        raise VerificationError("origin_mismatch", started.version, "state")
