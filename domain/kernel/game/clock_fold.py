"""Clocks, time banks and pauses of a game after one more record, or after a rewind."""

from __future__ import annotations

from dataclasses import replace

from domain.kernel.game.appeals import APPEAL_ACTS
from domain.kernel.game.deadlines import (
    SECOND,
    FrameClock,
    TimeBank,
    add_thinking_time,
    charge_time_banks,
    hold_seat,
    move_deadline,
    parse_time_control,
    refill_clock,
    rewind_clocks,
    running_clock,
    shift_clocks,
    shift_time_bank,
    take_vacation,
    tick,
)
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.playing_time import Pauses, begin_pause, end_pause, playing_time, restore_pause, shift_pauses
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import Frame, S, assign
from domain.kernel.rules.ruleset import Ruleset


def with_pace(rules: Ruleset[S], game: Game[S], record: Record) -> Game[S]:
    """Return the game with the time control of a record; every clock starts again, used time and days stay used."""
    before, pace = game.time_control, parse_time_control(rules.meta, record.body["pace"])
    time_banks = tuple(
        replace(
            b,
            bank=max(pace.bank * SECOND - (before.bank * SECOND - b.bank), 0),
            days=max(pace.vacation - (before.vacation - b.days), 0),
        )
        for b in charge_banks(game, game.frames, record.time)
    )
    none = (0,) * game.table.seats
    return assign(
        game,
        time_control=pace,
        time_banks=time_banks,
        clocks=(),
        thinking=game.thinking or none,
        granted=game.granted or none,
    )


def charge_banks(game: AnyGame, frames: tuple[Frame, ...], until: int) -> tuple[TimeBank, ...]:
    """Return the time banks at a time of day, after these frames have been open since the last record."""
    since, now = game.playing_time(game.time), game.playing_time(until)
    return charge_time_banks(game.time_banks, game.clocks, frames, since, now)


def update_pauses(game: AnyGame, record: Record) -> Pauses:
    body, at = record.body, record.head.at
    if body.get("act") == "pause":
        return begin_pause(game.pauses, at, body.get("until"), moves=body["moves"])
    if body.get("act") == "resume":
        return end_pause(game.pauses, at)
    if body.get("act") == "end":  # the time stands still until it is withdrawn
        return begin_pause(game.pauses, at, None, moves=False)
    if body.get("act") == "withdraw":
        return end_pause(game.pauses, at) if game.ruling is None else restore_pause(game.pauses, game.ruling.pause, at)
    ms = clock_shift(record)
    return shift_pauses(game.pauses, at - ms, ms) if ms else game.pauses


def is_about_appeal(record: Record) -> bool:
    return record.head.kind == "ruled" and record.body.get("act") in APPEAL_ACTS


def _time_shift(game: AnyGame, record: Record, pauses: Pauses) -> int:
    """Return the ms added by a record to all clocks and spans: a clock set forward, a new end of a pause."""
    if ms := clock_shift(record):
        return ms
    at = record.head.at
    return playing_time(pauses, at) - game.playing_time(at) if pauses != game.pauses else 0


def update_clocks(
    rules: Ruleset[S], game: Game[S], record: Record, frames: tuple[Frame, ...], same: bool, pauses: Pauses
) -> tuple[tuple[FrameClock, ...], tuple[TimeBank, ...]]:
    """Return clocks and time banks after the record with these frames left open; `same`: the top frame is unchanged."""
    clocks, time_banks, kind = game.clocks, game.time_banks, record.head.kind
    if ms := _time_shift(game, record, pauses):  # time before it has run as usual
        time_banks = charge_banks(game, game.state.frames, record.head.at - clock_shift(record))
        standstill = None if clock_shift(record) else playing_time(pauses, record.head.at)
        return shift_clocks(clocks, ms, standstill), tuple(shift_time_bank(account, ms) for account in time_banks)
    is_over = game.pending_ruling is not None and is_about_appeal(record)
    if is_over or (record.body.get("act") == "end" and kind == "ruled"):  # the clocks wait for a withdrawal
        return clocks, charge_banks(game, game.state.frames, record.head.at)
    at = game.playing_time(record.head.at)
    if kind == "ruled" and record.body.get("act") == "extend" and game.state.frames:
        clocks = move_deadline(clocks, game.state.top.timer, record.body["ms"])
    if kind == "joined" and record.body.get("clock") == "full" and frames:
        clocks = refill_clock(rules.meta, game.time_control, clocks, frames[-1], at, time_banks)
    if clocks and game.time_control.bank:
        time_banks = charge_time_banks(time_banks, clocks, game.state.frames, game.playing_time(game.time), at)
    if kind in _TIME_BANK_KINDS and game.status == "running":
        time_banks = _update_time_bank(time_banks, record, at)
    if game.time_control.seconds and not (same and running_clock(clocks, frames)):
        clocks = tick(rules.meta, game.time_control, clocks, frames, at, time_banks)
    return clocks, time_banks


def thinking_until(game: AnyGame, until: int) -> tuple[int, ...]:
    since, now = game.playing_time(game.time), game.playing_time(until)
    return add_thinking_time(game.thinking, game.clocks, game.frames, game.time_banks, since, now)


def update_thinking(game: AnyGame, record: Record) -> tuple[int, ...]:
    """Return each seat's thinking time; time beyond a deadline that a bank has paid for is no part of it."""
    until = record.head.at - clock_shift(record)
    times = thinking_until(game, until)
    if not game.time_control.bank:
        return times
    charged = charge_banks(game, game.state.frames, until)
    return tuple(ms - (b.bank - a.bank) for ms, a, b in zip(times, charged, game.time_banks, strict=True))


def update_granted(game: AnyGame, record: Record) -> tuple[int, ...]:
    if record.body.get("act") != "extend" or not game.frames:
        return game.granted
    asked, ms = game.frames[-1].asked, int(record.body["ms"])
    return tuple(sum_ + ms if seat in asked else sum_ for seat, sum_ in enumerate(game.granted))


def clock_shift(record: Record) -> int:
    """Return the ms added to the service clock by the record, or 0."""
    head = record.head
    return int(head.body["ms"]) if head.kind == "ruled" and head.body.get("act") == "shift" else 0


_TIME_BANK_KINDS = ("rested", "left", "joined", "ruled")
"""Kinds of records able to change a time bank."""


def _update_time_bank(time_banks: tuple[TimeBank, ...], record: Record, at: int) -> tuple[TimeBank, ...]:
    """Return the time banks after a vacation, a hold or the end of one, at the playing time `at`."""
    head, body = record.head, record.body
    kind, seat = head.kind, -1 if head.seat is None else head.seat
    if kind == "rested":
        new = take_vacation(time_banks[seat], body["days"], at)
    elif "hold" in body and (kind == "ruled" or time_banks[seat].hold_end < at + body["hold"] * SECOND):
        new = hold_seat(time_banks[seat], body["hold"], at)
        new = replace(new, keeps_clocks=new.keeps_clocks or body.get("clocks") == "kept")
    elif kind == "joined" and time_banks[seat].hold_end > at:
        new = hold_seat(time_banks[seat], 0, at)
    else:
        return time_banks
    return (*time_banks[:seat], new, *time_banks[seat + 1 :])


def is_free_undo(record: Record) -> bool:
    return record.public.get("by") == "seat" and not record.body.get("consent")


def shared_clock(game: AnyGame, target: AnyGame, record: Record) -> FrameClock | None:
    """Return the running clock of a decision of several seats that a free undo leaves open, or None.

    It goes on: the others have been thinking all the time.
    """
    if record.body.get("clocks") != "kept" or not is_free_undo(record) or game.time_control != target.time_control:
        return None
    if not (game.frames and target.frames and len(target.frames[-1].asked) > 1):
        return None
    clock = running_clock(game.clocks, game.frames)
    return clock if clock and clock.n == target.frames[-1].timer else None


def rewound_clocks(
    game: AnyGame, target: AnyGame, record: Record, thinking: tuple[int, ...], time_banks: tuple[TimeBank, ...]
) -> tuple[tuple[FrameClock, ...], int]:
    """Return the stopped clocks of the target, and by how much the seat that goes back has overdrawn its own, ms.

    None by older records, which start every clock again. A seat that goes back without anybody's consent pays with its
    own clock for the time since the target, and then with its bank.
    """
    if record.body.get("clocks") != "kept" or game.time_control != target.time_control or not target.granted:
        return (), 0
    seat = record.head.seat
    used = {} if seat is None or not is_free_undo(record) else {seat: thinking[seat] - target.thinking[seat]}
    granted = {s: ms - target.granted[s] for s, ms in enumerate(game.granted)}
    if game.pauses != target.pauses:  # spans have moved since the target
        time_banks = target.time_banks
    at = target.playing_time(target.time)
    return rewind_clocks(target.clocks, target.frames, at, time_banks, used, granted)
