"""The aggregate: a game after its records, with its state, its players and its time."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from domain.kernel.game.appeals import Appeals
from domain.kernel.game.deadlines import (
    NO_DEADLINES,
    SECOND,
    FrameClock,
    TimeBank,
    TimeControl,
    due_times,
    running_clock,
    seat_deadline,
)
from domain.kernel.game.officers import Staff
from domain.kernel.game.playing_time import Pause, Pauses, current_pause, playing_time
from domain.kernel.game.rulings import Ruling
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.flow import Frame, S, State
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
class Player:
    """Player of a seat: an opaque id, and the seat's contribution to the seed."""

    id: str
    nonce_hash: str = ""
    nonce: str = ""
    """Hex; empty until revealed. A seat without a revealed nonce plays without one."""


BOT = re.compile(r"bot-(?P<bot>[a-z]{1,20})-[0-9]{1,2}")
"""Ids of players run by the service: name of the bot, number of the seat. No person has such an id."""


def bot_of(player: Player) -> str:
    """Return the bot's name; empty for a person."""
    match = BOT.fullmatch(player.id)
    return match["bot"] if match else ""


@dataclass(frozen=True)
class Game(Generic[S_co]):
    """A game after a record. state, counts, sealed and last go back with a rewind; the rest belongs to the game."""

    id: str
    ruleset: str
    table: Table
    seed_hash: str
    state: S_co
    status: str = "open"
    """open (seats are taken), running, over (the rules are done), closed (the seed is revealed)."""
    version: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Channel -> next ordinal of its draws."""
    sealed: Mapping[str, tuple[int, Doc]] = field(default_factory=dict)
    """Key of a named pack not yet published -> version and pack."""
    rewinds: int = 0
    epoch: int = 0
    players: Mapping[int, Player] = field(default_factory=dict)
    terms: Mapping[str, Json] = field(default_factory=dict)
    """Terms of the table beside ruleset, seats and options: `TERMS` present in its record."""
    time_control: TimeControl = NO_DEADLINES
    clocks: tuple[FrameClock, ...] = ()
    time_banks: tuple[TimeBank, ...] = ()
    """Time bank of each seat: spare time, days of vacation, holds."""
    thinking: tuple[int, ...] = ()
    """Thinking time of each seat, ms; empty without deadlines. It never goes back."""
    undone_from: tuple[int, ...] = ()
    """`thinking` at the first arrival at the open decision, if a free undo went back to it; else empty."""
    granted: tuple[int, ...] = ()
    """Sum by which deadlines of each seat's decisions were moved, ms; empty without deadlines. It never goes back."""
    stakeholders: frozenset[str] = frozenset()
    """All players who have had a seat since the start, also those who have left it."""
    seatings: tuple[tuple[int, Seat, str], ...] = ()
    """Version, seat and new player (empty: none) of each change of players, in order."""
    undone_spans: tuple[tuple[int, int], ...] = ()
    """For each rewind the version that it goes back to, and its own: the versions between are undone."""
    misses: tuple[tuple[int, int], ...] = ()
    """Deadlines missed by the player of each seat: on end, and altogether; empty without the term. Never goes back."""
    former_players: Mapping[Seat, str] = field(default_factory=dict)
    """Seat -> player who left it last, in the running game."""
    fresh_timers: Mapping[Seat, int] = field(default_factory=dict)
    """Seat -> timer of the decision for which somebody who took the seat over was last given the full time."""
    conceded: tuple[tuple[Seat, str], ...] = ()
    """Seat and player of each concession. Never goes back."""
    staff: Staff = field(default_factory=Staff)
    """The officers, as far as records name them. Never goes back."""
    pauses: Pauses = ()
    """Pauses of the game. Never go back."""
    ruling: Ruling | None = None
    """A ruling about the end that was not withdrawn."""
    appeals: Appeals = field(default_factory=Appeals)
    """Acts of officers, and appeals against them; empty without the term. Never go back."""
    opened_at: int = 0
    """Time of the opening, ms."""
    waiting_since: int = 0
    """Time since when the open decision waits, ms."""
    last: Record | None = None
    """The last record."""
    stored_hash: str = field(default="", compare=False)
    """Hash of the last record where the record itself is not at hand; else empty."""
    board: str = ""
    """Digest of the public view."""
    time: int = 0
    """Time of the last record, ms."""
    digests: Digests = field(default_factory=dict, compare=False, repr=False)
    """Field of the state -> (object, digest): a field is hashed again only after its object was replaced."""

    @property
    def hash(self) -> str:
        """Return the hash of the last record; computed on demand, since a fold needs only the last one."""
        return self.last.hash if self.last else self.stored_hash

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
        return has_begun and not self.stakeholders.isdisjoint(player_ids)

    @property
    def pending_ruling(self) -> Ruling | None:
        """Return the ruling about the end, as long as the game is not closed."""
        return self.ruling if self.status == "over" else None

    @property
    def absent_seats(self) -> tuple[Seat, ...]:
        """Return the vacant seats that still have a player, who has missed too many deadlines and may come back."""
        return tuple(s for s in self.state.vacant if s in self.players and self.players[s].id)

    @property
    def is_timed(self) -> bool:
        """Return whether anything in it has a due time: deadlines, the end of a hold or pause, the start."""
        is_held = any(account.hold_end > self.playing_time(self.time) for account in self.time_banks)
        runs_out = is_held or self.current_pause is not None
        waits = self.status == "open" or self.pending_ruling is not None
        return waits or (self.status == "running" and (bool(self.time_control.seconds) or runs_out))

    @property
    def is_finished(self) -> bool:
        """Return whether the rules have ended it: only such a game has final places."""
        return self.status in ("over", "closed") and self.state.over

    @property
    def ending(self) -> Doc | None:
        """Return the closing: `reason`, `by` (engine, director, clock), `finished` by the rules; None before it.

        Of a ruling also `ruling` (its version), `ranked` (there are final places), `forfeits` and `penalties`.
        """
        if self.status != "closed" or self.last is None:
            return None
        if (ruling := self.ruling) is not None:
            doc: Doc = {"reason": ruling.reason, "by": "director", "finished": False, "ruling": ruling.version}
            doc |= {"ranked": ruling.is_ranked, "forfeits": list(ruling.forfeits)}
            return doc | {"penalties": ruling.penalties_to_json()}
        reason, by = self.last.body["reason"], self.last.public.get("by")
        by = by or ("engine" if reason == "finished" else "director")
        return {"reason": reason, "by": by, "finished": self.is_finished}

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Return the frames with possibly open decisions: none unless the game is running."""
        return self.state.frames if self.status == "running" else ()

    @property
    def clock(self) -> FrameClock | None:
        """Return the running clock."""
        return running_clock(self.clocks, self.frames)

    def is_active(self, version: int) -> bool:
        """Return whether no rewind has undone a version."""
        return 0 < version <= self.version and not any(to < version < at for to, at in self.undone_spans)

    def pause_at(self, at: int) -> Pause | None:
        """Return the pause on at a time, not before the last record."""
        return current_pause(self.pauses, at) if self.status == "running" else None

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
        return replace(self, pauses=()) if self.has_stopped else self

    def playing_time(self, at: int) -> int:
        """Return the time of all clocks and spans at a time of day; it stands still during pauses."""
        return playing_time(self.pauses, at)

    @property
    def deadline(self) -> int | None:
        """Return the deadline of the open decision, before grace, banks and vacations; None while no clock runs."""
        return self.clock.deadline if self.clock and not self.has_stopped else None

    def seat_deadlines(self, seats: Iterable[Seat]) -> list[int]:
        """Return the seats' deadlines, before grace and bank."""
        clock = None if self.has_stopped else self.clock
        deadlines = [seat_deadline(clock, self.time_banks[seat]) for seat in seats] if clock else []
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
            self.time_control, self.clocks, self.frames, seats, self.time_banks, now, individually=individually
        )
        earliest = self.pauses[-1].standstill if self.pauses else 0
        return {seat: max(due, earliest) for seat, due in dues.items()}


AnyGame = Game[State]
"""A game of any rules."""


def revealed_nonces(game: Game[S]) -> dict[int, str]:
    """Return the revealed nonces by seat."""
    return {seat: player.nonce for seat, player in game.players.items() if player.nonce}


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
