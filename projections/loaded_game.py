"""A game with its rules, as projections use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import fold
from domain.kernel.records.audience import seats_of
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.flow import Decision, DecisionDoc
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ruleset_registry import RulesetRegistry
from domain.types import PUBLIC, Viewer


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


def affected_viewers(record: Record, loaded: LoadedGame) -> list[Viewer]:
    """Return the viewers whose board the record may have changed: all for a public part, else its audiences."""
    public = record.public
    if public.get("facts") or public.get("openings") or record.body or record.kind not in ("moved", "ruled"):
        return loaded.viewers
    return sorted({s for key in record.packs for s in seats_of(key)})
