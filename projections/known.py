"""What the pump knows of a game: its position and clocks after a record, folded from the log alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from domain.catalogue import Catalogue
from domain.ids import PUBLIC, Json, Seat, Viewer
from domain.kernel import fold
from domain.kernel.audience import seats_of
from domain.kernel.clock import (
    Account,
    Clock,
    Pace,
    accounts_of,
    charge,
    deadline_of,
    dues,
    moved,
    pace_of,
    rest,
    running,
    tick,
)
from domain.kernel.flow import Decision, Frame
from domain.kernel.fold import Position
from domain.kernel.record import Record
from domain.kernel.ruleset import Ruleset, decisions

History = Callable[[int], Sequence[Record]]
"""The records of the game up to a version, from the ledger."""


def turn_id(game: str, decision: str) -> str:
    """The job that does the engine's work of a decision; also the id of its command in the ledger."""
    return f"resolve-{game}-{decision}"


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
    accounts: tuple[Account, ...] = ()
    waiting: int = 0
    """Since when the open decision waits, ms."""

    @property
    def viewers(self) -> list[Viewer]:
        """Everybody who has a board of its own."""
        return [PUBLIC, *range(self.position.table.seats)]

    def dues(self, seats: Iterable[Seat]) -> dict[Seat, int]:
        """When the defaults of these seats are played, if they owe the open decision."""
        p = self.position
        return dues(self.pace, self.clocks, p.state.frames, seats, self.accounts, p.at)

    def deadlines(self, seats: Iterable[Seat]) -> list[int]:
        """Their deadlines, before grace and bank."""
        clock = running(self.clocks, self.position.state.frames)
        found = [deadline_of(clock, self.accounts[seat]) for seat in seats] if clock else []
        return [at for at in found if at is not None]

    def decisions(self, viewer: Viewer) -> list[dict[str, Json]]:
        """The open decisions as a viewer may know them, with their deadlines and the engine's job."""
        return [d.to_json() | self._timed(d) for d in self.open(viewer)]

    def _timed(self, d: Decision) -> dict[str, Json]:
        p = self.position
        doc: dict[str, Json] = {"job": turn_id(p.game, d.id)} if d.engine else {}
        clock = running(self.clocks, p.state.frames)
        if clock is not None:
            doc |= {"deadline": clock.deadline, "due": {str(s): at for s, at in self.dues(d.must).items()}}
        return doc

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
    position = fold.opened(rules, record)
    accounts = accounts_of(pace, position.table.seats)
    return Known(rules, position, pace, listing, at, accounts=accounts, waiting=at)


def follow(known: Known, record: Record, history: History) -> Known:
    """The game after one more record; only a rewind asks for the history."""
    rules, before = known.rules, known.position
    clocks, at = known.clocks, record.public["at"]
    if record.kind == "ruled" and record.body.get("act") == "extend" and before.state.frames:
        clocks = moved(clocks, before.state.top.timer, record.body["ms"])
    accounts = charge(known.accounts, clocks, before.state.frames, before.at, at)
    if record.kind == "rested":
        seat = record.public["seat"]
        accounts = (*accounts[:seat], rest(accounts[seat], record.body["days"], at), *accounts[seat + 1 :])
    if record.kind == "rewound":
        position: Position[Any] = fold.fold(rules, history(record.version))
        clocks = ()
    else:
        position = fold.advance(rules, before, record)
    frames: tuple[Frame, ...] = position.state.frames if position.status == "running" else ()
    clocks = tick(rules.meta, known.pace, clocks, frames, at, accounts)
    same = bool(frames and before.state.frames) and frames[-1].n == before.state.top.n and record.kind != "rewound"
    waiting = known.waiting if same else record.public["at"]
    return replace(known, position=position, clocks=clocks, accounts=accounts, waiting=waiting)


def touched(record: Record, known: Known) -> list[Viewer]:
    """Whose board a record may have changed: everybody's by its public part, else its audiences'."""
    public = record.public
    if public.get("facts") or public.get("openings") or record.body or record.kind not in ("moved", "ruled"):
        return known.viewers
    return sorted({s for key in record.packs for s in seats_of(key)})
