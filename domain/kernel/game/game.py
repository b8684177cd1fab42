"""The aggregate: a game after its records.

It has three parts. A rewind takes `Reversible` back to an earlier version, and leaves `Lasting` as it is. `Tip` is the
last record. A new member stands in one of them, and thereby on its side.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar, cast

from domain.kernel.game.appeals import Appeals
from domain.kernel.game.deadlines import SECOND, FrameClock, due_times, running_clock, seat_deadline
from domain.kernel.game.officers import Staff
from domain.kernel.game.playing_time import Pause, current_pause, moved_time
from domain.kernel.game.rulings import Ruling
from domain.kernel.game.seat_players import Player, Seating
from domain.kernel.game.timing import Timing
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.flow import Frame, S, State, assign
from domain.kernel.rules.meta import Table
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.canonical_json import digest, struct_digest
from domain.kernel.schema.declarations import Part
from domain.kernel.schema.json_codec import Encoder, Hint, encoder, field_types
from domain.types import DIRECTOR, Doc, Json, Seat, Viewer

S_co = TypeVar("S_co", bound=State, covariant=True)


Digests = Mapping[str, tuple[object, str]]
"""Field of a state -> (object, its digest)."""


@dataclass(frozen=True)
class Tip:
    """The last record of a game, or what a fold needs of it."""

    version: int
    time: int
    """Time of the record, ms."""
    record: Record | None = None
    stored_hash: str = field(default="", compare=False)
    """Hash of the record where it is not at hand itself; else empty."""


@dataclass(frozen=True)
class Reversible(Generic[S_co]):
    """The part of a game taken back by a rewind."""

    state: S_co
    status: str = "open"
    """open (seats are taken), running, over (the rules are done), closed (the seed is revealed)."""
    board: str = ""
    """Digest of the public view."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Channel -> next ordinal of its draws."""
    sealed: Mapping[str, tuple[int, Doc]] = field(default_factory=dict)
    """Key of a named pack not yet published -> version and pack."""
    clocks: tuple[FrameClock, ...] = ()
    undone_from: tuple[int, ...] = ()
    """Thinking times at the first arrival at the open decision, if a free undo went back to it; else empty."""
    waiting_since: int = 0
    """Time since when the open decision waits, ms."""
    ruling: Ruling | None = None
    """A ruling about the end that was not withdrawn."""
    digests: Digests = field(default_factory=dict, compare=False, repr=False)
    """Field of the state -> (object, digest): a field is hashed again only after its object was replaced."""


@dataclass(frozen=True)
class Opening:
    """Terms of a game, fixed by its first record."""

    id: str
    ruleset: str
    table: Table
    seed_hash: str
    opened_at: int
    """Time of the opening, ms."""
    terms: Mapping[str, Json] = field(default_factory=dict)
    """Terms of the table beside ruleset, seats and options: `TERMS` present in its record."""


@dataclass(frozen=True)
class Rewinds:
    """The rewinds of a game so far."""

    count: int = 0
    epoch: int = 0
    """Another number changes all later draws."""
    undone_spans: tuple[tuple[int, int], ...] = ()
    """For each rewind the version that it goes back to, and its own: the versions between are undone."""

    def after(self, record: Record) -> Rewinds:
        """Return the rewinds with the one of this record."""
        fresh = record.body.get("entropy") == "fresh"
        return Rewinds(self.count + 1, self.epoch + fresh, (*self.undone_spans, (record.body["to"], record.version)))


@dataclass(frozen=True)
class Lasting:
    """The part of a game left as it is by a rewind: its people, its officers, its time."""

    opening: Opening
    seating: Seating = field(default_factory=Seating)
    timing: Timing = field(default_factory=Timing)
    staff: Staff = field(default_factory=Staff)
    """The officers, as far as records name them."""
    appeals: Appeals = field(default_factory=Appeals)
    """Acts of officers, and appeals against them; empty without the term."""
    rewinds: Rewinds = field(default_factory=Rewinds)


class Ending(NamedTuple):
    """The closing of a game."""

    reason: str
    by: str
    """`engine`, `director` or `clock`."""
    finished: bool
    """True if the rules gave the final places."""
    ruling: Ruling | None = None
    """The ruling behind it, if any."""


@dataclass(frozen=True)
class Game(Generic[S_co]):
    """A game after a record.

    Its parts have no defaults: whoever makes a game says what each is, above all `rewind_to`.
    """

    tip: Tip
    reversible: Reversible[S_co]
    lasting: Lasting

    # --- short names of the members that most readers ask for

    @property
    def id(self) -> str:
        """Return its id."""
        return self.lasting.opening.id

    @property
    def ruleset(self) -> str:
        """Return the name and version of its rules."""
        return self.lasting.opening.ruleset

    @property
    def table(self) -> Table:
        """Return its number of seats and its options."""
        return self.lasting.opening.table

    @property
    def terms(self) -> Mapping[str, Json]:
        """Return its terms."""
        return self.lasting.opening.terms

    @property
    def seating(self) -> Seating:
        """Return the people of its seats."""
        return self.lasting.seating

    @property
    def players(self) -> Mapping[Seat, Player]:
        """Return the player of each taken seat."""
        return self.lasting.seating.players

    @property
    def timing(self) -> Timing:
        """Return its lasting time."""
        return self.lasting.timing

    @property
    def state(self) -> S_co:
        """Return the state of its rules."""
        return self.reversible.state

    @property
    def status(self) -> str:
        """Return open, running, over or closed."""
        return self.reversible.status

    @property
    def version(self) -> int:
        """Return the version of the last record."""
        return self.tip.version

    @property
    def time(self) -> int:
        """Return the time of the last record, ms."""
        return self.tip.time

    # --- other versions of it

    def with_state(self, state: S) -> Game[S]:
        """Return the game with another state, perhaps a part of its own."""
        return Game(self.tip, cast("Reversible[S]", assign(self.reversible, state=state)), self.lasting)

    def with_digests(self, digests: Digests) -> Game[S_co]:
        """Return the game with the digests of its state."""
        return Game(self.tip, assign(self.reversible, digests=digests), self.lasting)

    def rewind_to(self, target: Game[S_co], rewinds: Rewinds) -> Game[S_co]:
        """Return the game with the reversible part of an earlier version, one rewind later."""
        return Game(self.tip, target.reversible, replace(self.lasting, rewinds=rewinds))

    # --- what follows from them

    @property
    def hash(self) -> str:
        """Return the hash of the last record; computed on demand, since a fold needs only the last one."""
        return self.tip.record.hash if self.tip.record else self.tip.stored_hash

    @property
    def delay(self) -> int:
        """Return the delay for viewers away from the table, ms."""
        return int(self.terms.get("delay", 0)) * SECOND

    @property
    def unvacated_seats(self) -> tuple[Seat, ...]:
        """Return the seats without a player and not vacant: now or until now on hold."""
        if self.status != "running":
            return ()
        return tuple(s for s, player in self.players.items() if not player.id and s not in self.state.vacant)

    def has_stake(self, player_ids: Iterable[str]) -> bool:
        """Return whether one of these players has, or had, a seat in the running game."""
        has_begun = self.status == "running" or self.pending_ruling is not None
        return has_begun and self.seating.has_stakeholder(player_ids)

    @property
    def pending_ruling(self) -> Ruling | None:
        """Return the ruling about the end, as long as the game is not closed."""
        return self.reversible.ruling if self.status == "over" else None

    @property
    def absent_seats(self) -> tuple[Seat, ...]:
        """Return the vacant seats that still have a player, who has missed too many deadlines and may come back."""
        return tuple(s for s in self.state.vacant if s in self.players and self.players[s].id)

    @property
    def is_timed(self) -> bool:
        """Return whether anything in it has a due time: deadlines, the end of a hold or pause, the start."""
        is_held = any(bank.hold_end > self.playing_time(self.time) for bank in self.timing.banks)
        runs_out = is_held or self.current_pause is not None
        waits = self.status == "open" or self.pending_ruling is not None
        return waits or (self.status == "running" and (bool(self.timing.control.seconds) or runs_out))

    @property
    def is_finished(self) -> bool:
        """Return whether the rules have ended it: only such a game has final places."""
        return self.status in ("over", "closed") and self.state.over

    @property
    def ending(self) -> Ending | None:
        """Return the closing, or None before it."""
        last = self.tip.record
        if self.status != "closed" or last is None:
            return None
        if (ruling := self.reversible.ruling) is not None:
            return Ending(ruling.reason, "director", finished=False, ruling=ruling)
        reason, by = last.body["reason"], last.public.get("by")
        by = by or ("engine" if reason == "finished" else "director")
        return Ending(reason, by, finished=self.is_finished)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Return the frames with possibly open decisions: none unless the game is running."""
        return self.state.frames if self.status == "running" else ()

    @property
    def clock(self) -> FrameClock | None:
        """Return the running clock."""
        return running_clock(self.reversible.clocks, self.frames)

    def is_active(self, version: int) -> bool:
        """Return whether no rewind has undone a version."""
        return 0 < version <= self.version and not any(
            to < version < at for to, at in self.lasting.rewinds.undone_spans
        )

    def pause_at(self, at: int) -> Pause | None:
        """Return the pause on at a time, not before the last record."""
        return current_pause(self.timing.pauses, at) if self.status == "running" else None

    @property
    def current_pause(self) -> Pause | None:
        """Return the pause on after the last record."""
        return self.pause_at(self.time)

    @property
    def has_stopped(self) -> bool:
        """Return whether it pauses without an end: nothing has a due time."""
        return (pause := self.current_pause) is not None and pause.until is None

    @property
    def as_at_standstill(self) -> Game[S_co]:
        """Return the game with the times of its clocks and spans as they stand in a pause without end."""
        if not self.has_stopped:
            return self
        return replace(self, lasting=replace(self.lasting, timing=replace(self.timing, pauses=())))

    def playing_time(self, at: int) -> int:
        """Return the time of all clocks and spans at a time of day; it stands still during pauses."""
        return self.timing.playing_time(at)

    @property
    def limit_end(self) -> int | None:
        """Return the end of the table's time limit, ms: pauses move it. None without one, or while no clock runs."""
        since = self.timing.limited_since
        if not since or self.status != "running" or self.has_stopped:
            return None
        return moved_time(self.timing.pauses, since) + int(self.terms["time_limit"]) * SECOND

    @property
    def deadline(self) -> int | None:
        """Return the deadline of the open decision, before grace, banks and vacations; None while no clock runs."""
        return self.clock.deadline if self.clock and not self.has_stopped else None

    def seat_deadlines(self, seats: Iterable[Seat]) -> list[int]:
        """Return the seats' deadlines, before grace and bank."""
        clock = None if self.has_stopped else self.clock
        deadlines = [seat_deadline(clock, self.timing.banks[seat]) for seat in seats] if clock else []
        return [at for at in deadlines if at is not None]

    def due_times(self, seats: Iterable[Seat], *, individually: bool = False) -> dict[Seat, int]:
        """Return the time of each seat's default, assuming it owes the open decision; empty while no clock runs.

        A secret decision has one time for all seats asked; `individually` returns each seat's own. None is within a
        pause.
        """
        if self.has_stopped:
            return {}
        now = self.playing_time(self.time)
        dues = due_times(
            self.timing.control,
            self.reversible.clocks,
            self.frames,
            seats,
            self.timing.banks,
            now,
            individually=individually,
        )
        earliest = self.timing.pauses[-1].standstill if self.timing.pauses else 0
        return {seat: max(due, earliest) for seat, due in dues.items()}


AnyGame = Game[State]
"""A game of any rules."""


def public_digest(rules: Ruleset[S], state: S) -> str:
    """Return the digest of everything public: the public view and the open decisions."""
    document = {"sight": rules.board(state), "decisions": [d.to_json() for d in decisions(rules, state)]}
    return struct_digest(document)[:32]


def state_digest(state: State, previous: Digests) -> tuple[str, Digests]:
    """Return the digest of the whole state, made per field; `previous` are the digests of the state before."""
    digests, values = dict(previous), state.__dict__
    kind: Hint = type(state)
    for name, encode in _encoders(kind):
        value, old = values[name], previous.get(name)
        if old is None or old[0] is not value:
            digests[name] = value, struct_digest(encode(value) if encode else value)
    return digest({n: d for n, (_, d) in digests.items()})[:32], digests


@functools.cache
def _encoders(kind: Hint) -> tuple[tuple[str, Encoder | None], ...]:
    return tuple((name, encoder(hint, False)) for name, hint in field_types(kind).items())


def private_view(rules: Ruleset[S], game: Game[S], viewer: Viewer) -> Part:
    """Return a viewer's view beyond the board; once the game is closed, all of it."""
    return rules.player_view_part(game.state, DIRECTOR if game.status == "closed" else viewer)
