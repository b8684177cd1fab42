"""A game as the read side shows it: the aggregate, with its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.errors import VerificationError
from domain.kernel.game.game import AnyGame, advance, fold
from domain.kernel.records.audience import seats_of
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.flow import Decision
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import Ledger, LogEntry
from domain.ruleset_registry import Catalogue
from domain.types import PUBLIC, Json, Viewer


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


def following(catalogue: Catalogue, ledger: Ledger, before: Known | None, record: Record) -> Known:
    """A game after one more record, read from the ledger where that goes back; before the first there is none."""
    if before is None:
        return folded(catalogue, [record])
    if record.kind == "rewound":
        return folded(catalogue, ledger.read(before.game.id, upto=record.version))
    return replace(before, game=advance(before.rules, before.game, record))


@dataclass(frozen=True)
class Follower:
    """Games from one record to the next, as the log tells of them."""

    catalogue: Catalogue
    ledger: Ledger

    def before(self, known: Known | None, entry: LogEntry) -> Known | None:
        """The game before the record, whatever is known of it; None before the first."""
        if entry.version == 1:
            return None
        if known is not None and known.game.version == entry.version - 1:
            return known
        known = folded(self.catalogue, self.ledger.read(entry.game, upto=entry.version - 1))
        if known.game.version != entry.version - 1:
            raise VerificationError("unreadable", known.game.version + 1, "it is gone")
        return known

    def after(self, before: Known | None, entry: LogEntry) -> Known:
        """The game after the record."""
        return following(self.catalogue, self.ledger, before, entry.record)


def touched(record: Record, known: Known) -> list[Viewer]:
    """Whose board a record may have changed: everybody's by its public part, else its audiences'."""
    public = record.public
    if public.get("facts") or public.get("openings") or record.body or record.kind not in ("moved", "ruled"):
        return known.viewers
    return sorted({s for key in record.packs for s in seats_of(key)})
