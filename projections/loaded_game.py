"""A game with its rules, as projections use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import fold
from domain.kernel.records.audience import seats_of
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.flow import Decision, DecisionDoc
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import Ledger, LogEntry
from domain.ruleset_registry import RulesetRegistry
from domain.types import PUBLIC, Viewer
from domain.version_cache import VersionCache


def resolve_job_id(game: str, decision: str) -> str:
    """Return the id of the job that resolves an engine decision. It is also the command's idempotency key."""
    return f"resolve-{game}-{decision}"


@dataclass(frozen=True)
class LoadedGame:
    """A game and its rules."""

    rules: AnyRuleset
    game: AnyGame

    @property
    def viewers(self) -> list[Viewer]:
        """All viewers with a board of their own."""
        return [PUBLIC, *range(self.game.table.seats)]

    @property
    def listing(self) -> str:
        """`public`, `unlisted` or `invitation`."""
        return str(self.game.terms.get("listing", "public"))

    def decisions_to_json(self, viewer: Viewer) -> list[DecisionDoc]:
        """Return the open decisions as `viewer` may see them, with deadlines and the engine's job."""
        return [self._decision_to_json(decision) for decision in self.open_decisions(viewer)]

    def _decision_to_json(self, d: Decision) -> DecisionDoc:
        doc = d.to_json()
        if d.engine:
            doc["job"] = resolve_job_id(self.game.id, d.id)
        if (deadline := self.game.deadline) is not None:
            doc["deadline"] = deadline
            doc["due"] = {str(s): at for s, at in self.game.due_times(d.must).items()}
        return doc

    def open_decisions(self, viewer: Viewer) -> list[Decision]:
        """Return the open decisions as `viewer` may see them."""
        g = self.game
        return decisions(self.rules, g.state, g.lasting.rewinds.count, viewer) if g.status == "running" else []


def load_game(registry: RulesetRegistry, records: Sequence[Record]) -> LoadedGame:
    """Fold records into a game with its rules."""
    rules = registry.get(records[0].body["ruleset"])
    return LoadedGame(rules, fold(rules, records))


class GameLoader:
    """Loads games for records read from the log."""

    def __init__(self, registry: RulesetRegistry, ledger: Ledger) -> None:
        self._registry = registry
        self._versions = VersionCache(ledger, registry)

    def load(self, game: str, version: int) -> LoadedGame:
        """Return the game after a version. Raise VerificationError."""
        found = self._versions.load(game, version)
        return LoadedGame(self._registry.get(found.ruleset), found)

    def next_game(self, before: LoadedGame | None, record: Record) -> LoadedGame:
        """Return the game after one more record, or after its first one. A rewind reads the ledger."""
        if before is None:
            return load_game(self._registry, [record])
        return replace(before, game=self._versions.advance(before.rules, before.game, record))

    def note(self, loaded: LoadedGame) -> None:
        """Keep a version for later rewinds."""
        self._versions.note(loaded.game)

    def game_before(self, cached: LoadedGame | None, entry: LogEntry) -> LoadedGame | None:
        """Return the game before the entry's record, from `cached` if that fits; None before the first record."""
        if entry.version == 1:
            return None
        if cached is not None and cached.game.version == entry.version - 1:
            return cached
        return self.load(entry.game, entry.version - 1)

    def game_after(self, before: LoadedGame | None, entry: LogEntry) -> LoadedGame:
        """Return the game after the entry's record."""
        return self.next_game(before, entry.record)


def affected_viewers(record: Record, loaded: LoadedGame) -> list[Viewer]:
    """Return the viewers whose board the record may have changed: all for a public part, else its audiences."""
    public = record.public
    if public.get("facts") or public.get("openings") or record.body or record.kind not in ("moved", "ruled"):
        return loaded.viewers
    return sorted({s for key in record.packs for s in seats_of(key)})
