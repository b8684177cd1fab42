"""What the pump knows of a game: its position and clocks after a record, folded from the log alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from domain.catalogue import Catalogue
from domain.ids import PUBLIC, Json, Viewer
from domain.kernel import fold
from domain.kernel.audience import seats_of
from domain.kernel.clock import Clock, Pace, due_at, moved, pace_of, tick
from domain.kernel.flow import Decision, Frame
from domain.kernel.fold import Position
from domain.kernel.record import Record
from domain.kernel.ruleset import Ruleset, decisions

History = Callable[[int], Sequence[Record]]
"""The records of the game up to a version, from the ledger."""


@dataclass(frozen=True)
class Known:
    """A game as the read side sees it."""

    rules: Ruleset[Any]
    position: Position[Any]
    pace: Pace
    listing: str
    """public, unlisted or invitation."""
    opened: int
    clocks: tuple[Clock, ...] = ()
    waiting: int = 0
    """Since when the open decision waits, ms."""

    @property
    def viewers(self) -> list[Viewer]:
        """Everybody who has a board of its own."""
        return [PUBLIC, *range(self.position.table.seats)]

    @property
    def due(self) -> int | None:
        """When the default of the open decision is played."""
        return due_at(self.pace, self.clocks, self.position.state.frames)

    def decisions(self, viewer: Viewer) -> list[dict[str, Json]]:
        """The open decisions as a viewer may know them, with their deadline."""
        p = self.position
        running = next((c for c in self.clocks if p.state.frames and c.n == p.state.top.timer), None)
        deadline = {} if running is None else {"deadline": running.deadline}
        return [{**d.to_json(), **deadline} for d in self.open(viewer)]

    def open(self, viewer: Viewer) -> list[Decision]:
        """The open decisions."""
        p = self.position
        return decisions(self.rules, p.state, p.rewinds, viewer) if p.status == "running" else []


def begin(catalogue: Catalogue, record: Record) -> Known:
    """A game after its first record."""
    rules = catalogue.get(record.body["ruleset"])
    pace = pace_of(rules.meta, record.body.get("pace"))
    listing = record.body.get("listing", "public")
    at = record.public["at"]
    return Known(rules, fold.opened(rules, record), pace, listing, at, waiting=at)


def follow(known: Known, record: Record, history: History) -> Known:
    """The game after one more record; only a rewind asks for the history."""
    rules, before = known.rules, known.position
    clocks = known.clocks
    if record.kind == "rewound":
        position: Position[Any] = fold.fold(rules, history(record.version))
        clocks = ()
    else:
        position = fold.advance(rules, before, record)
    frames: tuple[Frame, ...] = position.state.frames if position.status == "running" else ()
    if record.kind == "ruled" and record.body.get("act") == "extend" and frames:
        clocks = moved(clocks, frames[-1].timer, record.body["ms"])
    clocks = tick(rules.meta, known.pace, clocks, frames, record.public["at"])
    same = bool(frames and before.state.frames) and frames[-1].n == before.state.top.n and record.kind != "rewound"
    waiting = known.waiting if same else record.public["at"]
    return replace(known, position=position, clocks=clocks, waiting=waiting)


def touched(record: Record, known: Known) -> list[Viewer]:
    """Whose board a record may have changed: everybody's by its public part, else its audiences'."""
    public = record.public
    if public.get("facts") or public.get("openings") or record.body or record.kind not in ("moved", "ruled"):
        return known.viewers
    return sorted({s for key in record.packs for s in seats_of(key)})
