"""Time of a game as far as no rewind takes it back: time control, time banks, pauses, and counts of each seat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from domain.kernel.game.deadlines import (
    NO_DEADLINES,
    SECOND,
    FrameClock,
    TimeBank,
    TimeControl,
    add_thinking_time,
    charge_time_banks,
    initial_time_banks,
)
from domain.kernel.game.playing_time import Pauses, playing_time
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import Frame
from domain.types import Seat


@dataclass(frozen=True)
class Timing:
    """Time of a game. All sums and points in time are ms."""

    control: TimeControl = NO_DEADLINES
    banks: tuple[TimeBank, ...] = ()
    """Time bank of each seat: spare time, days of vacation, holds."""
    thinking: tuple[int, ...] = ()
    """Thinking time of each seat; empty without deadlines."""
    granted: tuple[int, ...] = ()
    """Sum by which deadlines of each seat's decisions were moved; empty without deadlines."""
    misses: tuple[tuple[int, int], ...] = ()
    """Deadlines missed by the player of each seat: on end, and altogether; empty without the term."""
    fresh_timers: Mapping[Seat, int] = field(default_factory=dict)
    """Seat -> timer of the decision with the full time given last to a new player of the seat."""
    pauses: Pauses = ()
    limited_since: int = 0
    """Time of the start of a game with a time limit, later by each shift; 0 without the term."""
    last_turn: tuple[int, int] | None = None
    """Turn and round of the game's time limit; None before, and without the term `last_turn`."""

    def playing_time(self, at: int) -> int:
        """Return the time of all clocks and spans at a time of day; it stands still during pauses."""
        return playing_time(self.pauses, at)

    def charge_banks(
        self, clocks: tuple[FrameClock, ...], frames: tuple[Frame, ...], since: int, until: int
    ) -> tuple[TimeBank, ...]:
        """Return the time banks at a time of day, after these frames have been open since another one."""
        return charge_time_banks(self.banks, clocks, frames, self.playing_time(since), self.playing_time(until))

    def think(
        self, clocks: tuple[FrameClock, ...], frames: tuple[Frame, ...], since: int, until: int
    ) -> tuple[int, ...]:
        """Return each seat's thinking time at a time of day, after these frames have been open since another one."""
        begin = self.playing_time(since)
        return add_thinking_time(self.thinking, clocks, frames, self.banks, begin, self.playing_time(until))

    def with_control(self, control: TimeControl, banks: tuple[TimeBank, ...], seats: int) -> Timing:
        """Return the time under another time control; used time and days of the charged `banks` stay used."""
        before, none = self.control, (0,) * seats
        renewed = tuple(
            replace(
                bank,
                bank=max(control.bank * SECOND - (before.bank * SECOND - bank.bank), 0),
                days=max(control.vacation - (before.vacation - bank.days), 0),
            )
            for bank in banks
        )
        return replace(
            self, control=control, banks=renewed, thinking=self.thinking or none, granted=self.granted or none
        )

    def with_bank(self, seat: Seat, bank: TimeBank) -> Timing:
        """Return the time with another time bank of a seat."""
        return replace(self, banks=(*self.banks[:seat], bank, *self.banks[seat + 1 :]))

    def count_misses(self, record: Record, vacant: tuple[Seat, ...]) -> tuple[tuple[int, int], ...]:
        """Return the misses: a default adds one, a move by the player ends a row, another player has none.

        `vacant` are the vacant seats before the record.
        """
        kind, seat = record.head.kind, record.head.seat
        if kind == "lapsed":
            missed = {s for s, _ in record.moves()} - set(vacant)
            return tuple((row + 1, total + 1) if s in missed else (row, total) for s, (row, total) in self._misses)
        if kind == "moved":
            moved = {s for s, _ in record.moves()}
            return tuple((0, total) if s in moved else (row, total) for s, (row, total) in self._misses)
        if kind == "joined" and record.body.get("misses") != "kept":
            return tuple((0, 0) if s == seat else counts for s, counts in self._misses)
        return self.misses

    @property
    def _misses(self) -> enumerate[tuple[int, int]]:
        return enumerate(self.misses)


def initial_timing(control: TimeControl, seats: int, counts_misses: bool) -> Timing:
    """Return the time at the opening of a game."""
    none = (0,) * seats if control.seconds else ()
    misses = ((0, 0),) * seats if counts_misses else ()
    return Timing(control, initial_time_banks(control, seats), none, none, misses)
