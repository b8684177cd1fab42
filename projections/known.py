"""A game as the read side shows it: the aggregate, with its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.catalogue import Catalogue
from domain.ids import PUBLIC, Json, Viewer
from domain.kernel.audience import seats_of
from domain.kernel.flow import Decision
from domain.kernel.game import AnyGame, fold
from domain.kernel.record import Record
from domain.kernel.ruleset import AnyRuleset, decisions


def turn_id(game: str, decision: str) -> str:
    """The job that does the engine's work of a decision; also the id of its command in the ledger."""
    return f"resolve-{game}-{decision}"


@dataclass(frozen=True)
class Known:
    """A game and its rules."""

    rules: AnyRuleset
    game: AnyGame

    @property
    def viewers(self) -> list[Viewer]:
        """Everybody who has a board of its own."""
        return [PUBLIC, *range(self.game.table.seats)]

    @property
    def listing(self) -> str:
        """public, unlisted or invitation."""
        return str(self.game.terms.get("listing", "public"))

    def decisions(self, viewer: Viewer) -> list[dict[str, Json]]:
        """The open decisions as a viewer may know them, with their deadlines and the engine's job."""
        return [d.to_json() | self._timed(d) for d in self.open(viewer)]

    def _timed(self, d: Decision) -> dict[str, Json]:
        g = self.game
        doc: dict[str, Json] = {"job": turn_id(g.id, d.id)} if d.engine else {}
        if g.deadline is not None:
            doc |= {"deadline": g.deadline, "due": {str(s): at for s, at in g.dues(d.must).items()}}
        return doc

    def open(self, viewer: Viewer) -> list[Decision]:
        """The open decisions."""
        g = self.game
        return decisions(self.rules, g.state, g.rewinds, viewer) if g.status == "running" else []


def folded(catalogue: Catalogue, records: Sequence[Record]) -> Known:
    """A game after its last record."""
    rules = catalogue.get(records[0].body["ruleset"])
    return Known(rules, fold(rules, records))


def touched(record: Record, known: Known) -> list[Viewer]:
    """Whose board a record may have changed: everybody's by its public part, else its audiences'."""
    public = record.public
    if public.get("facts") or public.get("openings") or record.body or record.kind not in ("moved", "ruled"):
        return known.viewers
    return sorted({s for key in record.packs for s in seats_of(key)})
