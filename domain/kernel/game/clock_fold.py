"""Clocks, time banks and pauses of a game after one more record, or after a rewind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from domain.kernel.game.appeals import APPEAL_ACTS
from domain.kernel.game.deadlines import (
    SECOND,
    FrameClock,
    TimeBank,
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
from domain.kernel.game.timing import Timing
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import Frame, S, assign
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Seat


def with_pace(rules: Ruleset[S], game: Game[S], record: Record) -> Game[S]:
    """Return the game with the time control of a record; every clock starts again, used time and days stay used."""
    control = parse_time_control(rules.meta, record.body["pace"])
    banks = charge_banks(game, game.frames, record.time)
    timing = game.timing.with_control(control, banks, game.table.seats)
    return Game(game.tip, replace(game.reversible, clocks=()), replace(game.lasting, timing=timing))


def charge_banks(game: AnyGame, frames: tuple[Frame, ...], until: int) -> tuple[TimeBank, ...]:
    """Return the time banks at a time of day, after these frames have been open since the last record."""
    return game.timing.charge_banks(game.reversible.clocks, frames, game.time, until)


def update_pauses(game: AnyGame, record: Record) -> Pauses:
    body, at, pauses = record.body, record.head.at, game.timing.pauses
    if body.get("act") == "pause":
        return begin_pause(pauses, at, body.get("until"), moves=body["moves"])
    if body.get("act") == "resume":
        return end_pause(pauses, at)
    if body.get("act") == "end":  # the time stands still until it is withdrawn
        return begin_pause(pauses, at, None, moves=False)
    if body.get("act") == "withdraw":
        ruling = game.reversible.ruling
        return end_pause(pauses, at) if ruling is None else restore_pause(pauses, ruling.pause, at)
    ms = clock_shift(record)
    return shift_pauses(pauses, at - ms, ms) if ms else pauses


def is_about_appeal(record: Record) -> bool:
    return record.head.kind == "ruled" and record.body.get("act") in APPEAL_ACTS


def _time_shift(game: AnyGame, record: Record, pauses: Pauses) -> int:
    """Return the ms added by a record to all clocks and spans: a clock set forward, a new end of a pause."""
    if ms := clock_shift(record):
        return ms
    at = record.head.at
    return playing_time(pauses, at) - game.playing_time(at) if pauses != game.timing.pauses else 0


def update_clocks(
    rules: Ruleset[S], game: Game[S], record: Record, frames: tuple[Frame, ...], same: bool, pauses: Pauses
) -> tuple[tuple[FrameClock, ...], tuple[TimeBank, ...]]:
    """Return clocks and time banks after the record with these frames left open; `same`: the top frame is unchanged."""
    if ms := _time_shift(game, record, pauses):
        return _shift_all(game, record, pauses, ms)
    if _waits_for_withdrawal(game, record):
        return game.reversible.clocks, charge_banks(game, game.state.frames, record.head.at)
    control, at = game.timing.control, game.playing_time(record.head.at)
    clocks = _grant_time(rules, game, record, frames, at)
    banks = game.timing.banks
    if clocks and control.bank:
        banks = charge_time_banks(banks, clocks, game.state.frames, game.playing_time(game.time), at)
    if record.head.kind in _TIME_BANK_KINDS and game.status == "running":
        banks = _update_time_bank(banks, record, at)
    if control.seconds and not (same and running_clock(clocks, frames)):
        clocks = tick(rules.meta, control, clocks, frames, at, banks)
    return clocks, banks


def _shift_all(
    game: AnyGame, record: Record, pauses: Pauses, ms: int
) -> tuple[tuple[FrameClock, ...], tuple[TimeBank, ...]]:
    """Return clocks and time banks, charged up to the record, with all their times moved by `ms`."""
    shift, at = clock_shift(record), record.head.at
    banks = charge_banks(game, game.state.frames, at - shift)
    standstill = None if shift else playing_time(pauses, at)
    clocks = shift_clocks(game.reversible.clocks, ms, standstill)
    return clocks, tuple(shift_time_bank(bank, ms) for bank in banks)


def _waits_for_withdrawal(game: AnyGame, record: Record) -> bool:
    """Return whether the clocks stand still because a ruling has ended the game and can be withdrawn."""
    is_about_ended_game = game.pending_ruling is not None and is_about_appeal(record)
    return is_about_ended_game or (record.head.kind == "ruled" and record.body.get("act") == "end")


def _grant_time(
    rules: Ruleset[S], game: Game[S], record: Record, frames: tuple[Frame, ...], at: int
) -> tuple[FrameClock, ...]:
    """Return the clocks after time given by a record: a moved deadline, the full time for a new player."""
    clocks, kind, body = game.reversible.clocks, record.head.kind, record.head.body
    if kind == "ruled" and body.get("act") == "extend" and game.state.frames:
        return move_deadline(clocks, game.state.top.timer, body["ms"])
    if kind == "joined" and body.get("clock") == "full" and frames:
        return refill_clock(rules.meta, game.timing.control, clocks, frames[-1], at, game.timing.banks)
    return clocks


def thinking_until(game: AnyGame, until: int) -> tuple[int, ...]:
    return game.timing.think(game.reversible.clocks, game.frames, game.time, until)


def update_timing(game: AnyGame, record: Record, banks: tuple[TimeBank, ...], pauses: Pauses) -> Timing:
    """Return the lasting time of the game after a record, with these time banks and pauses."""
    timing, kind, is_clocked = game.timing, record.head.kind, bool(game.reversible.clocks)
    is_refilled = "clock" in record.head.body
    since = _find_limited_since(game, record)
    is_unchanged = banks is timing.banks and pauses is timing.pauses and since == timing.limited_since
    if is_unchanged and not is_clocked and not timing.misses and not is_refilled:
        return timing
    return assign(
        timing,
        banks=banks,
        pauses=pauses,
        thinking=update_thinking(game, record) if is_clocked else timing.thinking,
        granted=_update_granted(game, record) if is_clocked and kind == "ruled" else timing.granted,
        misses=timing.count_misses(record, game.state.vacant) if timing.misses else timing.misses,
        fresh_timers=_update_fresh_timers(game, record) if is_refilled else timing.fresh_timers,
        limited_since=since,
    )


def _find_limited_since(game: AnyGame, record: Record) -> int:
    """Return the beginning of the time limit after a record; 0 without one."""
    since = game.timing.limited_since
    if record.head.kind == "started":
        return record.head.at if "time_limit" in game.terms else 0
    return since + clock_shift(record) if since else 0


def update_thinking(game: AnyGame, record: Record) -> tuple[int, ...]:
    """Return each seat's thinking time; time beyond a deadline that a bank has paid for is no part of it."""
    until = record.head.at - clock_shift(record)
    times = thinking_until(game, until)
    if not game.timing.control.bank:
        return times
    charged = charge_banks(game, game.state.frames, until)
    return tuple(ms - (b.bank - a.bank) for ms, a, b in zip(times, charged, game.timing.banks, strict=True))


def _update_granted(game: AnyGame, record: Record) -> tuple[int, ...]:
    granted = game.timing.granted
    if record.body.get("act") != "extend" or not game.frames:
        return granted
    asked, ms = game.frames[-1].asked, int(record.body["ms"])
    return tuple(total + ms if seat in asked else total for seat, total in enumerate(granted))


def _update_fresh_timers(game: AnyGame, record: Record) -> Mapping[Seat, int]:
    seat, timers = record.head.seat, game.timing.fresh_timers
    if record.head.kind != "joined" or seat is None or not game.frames:
        return timers
    return {**timers, seat: game.frames[-1].timer}


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
    if not is_free_undo(record) or not _keeps_clocks(game, target, record):
        return None
    if not (game.frames and target.frames and len(target.frames[-1].asked) > 1):
        return None
    clock = game.clock
    return clock if clock and clock.n == target.frames[-1].timer else None


def _keeps_clocks(game: AnyGame, target: AnyGame, record: Record) -> bool:
    return record.body.get("clocks") == "kept" and game.timing.control == target.timing.control


def rewind_time(
    game: AnyGame, target: AnyGame, record: Record, *, is_shared: bool
) -> tuple[tuple[FrameClock, ...], Timing]:
    """Return the stopped clocks of the target, and the time of the game charged up to the rewind.

    After a free undo the seat pays with its own clock for the time since the target, and then with its bank. With
    `is_shared` the clock goes on for others too, and the bank pays nothing.
    """
    timing = game.timing
    thinking = update_thinking(game, record) if game.reversible.clocks else timing.thinking
    banks = charge_banks(game, game.state.frames, record.time)
    charged = replace(timing, banks=banks, thinking=thinking)
    clocks, overdrawn = _rewound_clocks(game, target, record, charged)
    seat = record.head.seat
    if is_shared or not overdrawn or seat is None:
        return clocks, charged
    bank = banks[seat]
    return clocks, charged.with_bank(seat, replace(bank, bank=max(bank.bank - overdrawn, 0)))


def _rewound_clocks(
    game: AnyGame, target: AnyGame, record: Record, charged: Timing
) -> tuple[tuple[FrameClock, ...], int]:
    """Return the stopped clocks of the target, and the ms by which the seat has overdrawn its own.

    There are none after older records: they start every clock again.
    """
    before, seat = target.timing, record.head.seat
    if not _keeps_clocks(game, target, record) or not before.granted:
        return (), 0
    used = {} if seat is None or not is_free_undo(record) else {seat: charged.thinking[seat] - before.thinking[seat]}
    granted = {s: ms - before.granted[s] for s, ms in enumerate(charged.granted)}
    have_spans_moved = charged.pauses != before.pauses
    banks = before.banks if have_spans_moved else charged.banks
    at = target.playing_time(target.time)
    return rewind_clocks(target.reversible.clocks, target.frames, at, banks, used, granted)
