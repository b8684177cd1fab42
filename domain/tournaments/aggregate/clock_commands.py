"""Commands of the clock: the timetable of a stage, and the acts due by it, done by the service.

What is due follows from the records and the time alone, so a proof decides it again. During a pause, its end alone is
due.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from domain.errors import RuleError
from domain.kernel.records.record import Record
from domain.tournaments.aggregate.basic_commands import (
    CloseCheckIn,
    Draw,
    EventOfficerCommand,
    OpenCheckIn,
    TournamentCommand,
    TournamentContext,
    refuse_unless,
    require_ranked,
)
from domain.tournaments.aggregate.change_commands import LONGEST_PAUSE
from domain.tournaments.aggregate.pairing import DrawInput, find_nearest_numbers
from domain.tournaments.aggregate.result_commands import Rank, check_round_may_begin
from domain.tournaments.aggregate.seat_commands import OpenBids
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.designs import MAX_ROUNDS
from domain.tournaments.records import FAMILY, By, RecordDraft
from domain.tournaments.terms import QUEUED
from domain.tournaments.timetable import Timetable, check_timetable

CLOCK_ACTS = {
    "checkin_opened": "open_checkin",
    "checkin_closed": "close_checkin",
    "drawn": "draw",
    "bidding_opened": "open_bids",
    "warned": "warn",
    "ranked": "rank",
    "resumed": "resume",
}
"""Kind of a record -> the act of the clock behind it, if the service is its author. `make_tables` has none."""


CLOCK_STEPS = ("open_checkin", "close_checkin", "draw", "open_bids", "make_tables", "warn", "rank", "resume")
"""Acts of the clock, in the order of a round."""


class ClockAct(NamedTuple):
    """The next act by a timetable, and its time, ms since 1970 UTC."""

    at: int
    act: str
    stage: int
    round: int


@dataclass(frozen=True)
class SetTimetable(EventOfficerCommand):
    """A stage gets its timetable, or another one; without starts it has none."""

    verb: ClassVar[str] = "SetTimetable"
    officer: str
    """Player id of the officer."""
    stage: int
    starts: tuple[int, ...]
    opens: int = 1_800
    closes: int = 300
    each: bool = True
    warning: int = 600
    extension: int = 0

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name the stage once somebody may have planned by it: it has a timetable, or a draw."""
        is_known = self.stage in t.timetables or (self.stage <= len(t.stages) and bool(t.stages[self.stage - 1].draws))
        return self.stage if is_known else None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(not t.is_over, "wrong_status", status=t.status)
        refuse_unless(len(t.stages) <= self.stage <= len(t.terms.stages), "unknown_stage")
        terms = t.terms.stages[self.stage - 1]
        refuse_unless(terms.format not in QUEUED, "timetable_invalid", cause="queue")
        play = t.stages[self.stage - 1] if self.stage <= len(t.stages) else None
        is_asking = self.stage == len(t.stages) and t.status in ("checking", "drawing")
        refuse_unless(not is_asking, "wrong_status", status=t.status)
        check_timetable(
            Timetable(self.starts, self.opens, self.closes, self.each, self.warning, self.extension),
            t.timetables.get(self.stage),
            context.now,
            begun={round_ for round_, _ in play.tables} if play else (),
            is_drawn=bool(play and play.draws),
            time_limit=t.terms.table.get("time_limit") or 0,
            most=(play.planned if play else 0) or terms.rounds or MAX_ROUNDS,
        )
        times = {"opens": self.opens, "closes": self.closes, "each": self.each}
        times |= {"warning": self.warning, "extension": self.extension}
        body = {"officer": self.officer, "stage": self.stage, "starts": list(self.starts), **times}
        return [RecordDraft("timetabled", body)]


@dataclass(frozen=True)
class ServeClock(TournamentCommand):
    """The service does what is due by the timetable: one act."""

    verb: ClassVar[str] = "ServeClock"
    by: ClassVar[By] = "service"
    more: DrawInput = field(default=DrawInput(), metadata={"not_hashed": True})

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        due = find_clock_act(t)
        if due is None or due.at > context.now or due.act == "make_tables":
            raise RuleError("not_due", "", {"at": due.at if due else None})
        return [draft._replace(by="service") for draft in self._decide(due, t, context)]

    def _decide(self, due: ClockAct, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        if due.act == "warn":
            return [draft_warning(t, due)]
        if due.act == "resume":
            return [RecordDraft("resumed", {})]
        commands: dict[str, TournamentCommand] = {
            "open_checkin": OpenCheckIn(),
            "close_checkin": CloseCheckIn(),
            "draw": Draw(due.stage, due.round, more=self.more),
            "open_bids": OpenBids(due.stage, due.round),
            "rank": Rank(due.stage, due.round),
        }
        return commands[due.act].decide(t, context)


def draft_warning(t: Tournament, due: ClockAct) -> RecordDraft:
    """Return the draft of the warning before the end of a round, or of its one extension."""
    body = {"stage": due.stage, "round": due.round}
    is_end = due.at >= _find_first_end(t, due.stage, due.round)
    return RecordDraft("warned", body | ({"extended": True} if is_end else {}))


def check_clock_act(t: Tournament, record: Record) -> None:
    """Raise RuleError unless the act of a record by the service was due."""
    due, kind = find_clock_act(t), record.kind.removeprefix(FAMILY)
    refuse_unless(due is not None and due.act == CLOCK_ACTS[kind] and due.at <= record.time, "not_due")
    if due is not None and "round" in record.body:
        place = record.body["stage"], record.body["round"]
        refuse_unless(place == (due.stage, due.round), "not_due")


def find_clock_act(t: Tournament) -> ClockAct | None:
    """Return the next act by the timetable of the current stage, or None; it may be due already.

    In a pause it is the end of the longest one.
    """
    table = t.timetables.get(len(t.stages))
    if t.paused_at and not t.is_over:
        return ClockAct(t.paused_at + LONGEST_PAUSE, "resume", len(t.stages), 0)
    if table is None or t.is_over or t.has_queue:
        return None
    found = [*_list_draw_acts(t, table), *_list_table_acts(t, table), *_list_ends(t, table), *_list_rankings(t, table)]
    return min(found, default=None)


def _list_draw_acts(t: Tournament, table: Timetable) -> Iterator[ClockAct]:
    """Yield the next step to the next draw: its check-in opens or closes, or it is drawn."""
    stage, round_ = t.next_draw or (0, 0)
    start = table.find_start(round_)
    if start is None:
        return
    if t.status == "registering":
        yield ClockAct(start - table.opens * 1000, "open_checkin", stage, round_)
    elif t.status == "checking":
        yield ClockAct(table.find_close(round_, t.checkin_opened_at), "close_checkin", stage, round_)
    elif t.status == "drawing" and _makes_tables(t):
        yield ClockAct(t.nonces_end + 1 if t.awaited_nonces else t.time, "draw", stage, round_)
    elif t.status == "running" and _is_ranked(t, stage):
        asks = table.each or round_ == 1
        before = table.opens if asks else table.closes
        yield ClockAct(start - before * 1000, "open_checkin" if asks else "draw", stage, round_)


def _makes_tables(t: Tournament) -> bool:
    """Return whether the number of participants makes tables; a search would be too long here."""
    number = sum(t.entrants[entrant].is_active for entrant in t.participants)
    return find_nearest_numbers(t, number) == [number] or t.stage_terms.format == "knockout"


def _is_ranked(t: Tournament, stage: int) -> bool:
    try:
        require_ranked(t, stage)
    except RuleError:
        return False
    return True


def _list_table_acts(t: Tournament, table: Timetable) -> Iterator[ClockAct]:
    """Yield the steps to the tables of drawn rounds: bids are opened, or the tables are made at the start."""
    stage, play = len(t.stages), t.play
    for round_ in range(1, min(len(play.rounds), len(table.starts)) + 1):
        pods = range(1, len(play.rounds[round_ - 1].pods) + 1)
        missing = [pod for pod in pods if (round_, pod) not in play.tables]
        if not missing or t.status != "running" or not _may_begin(t, stage, round_):
            continue
        start = table.starts[round_ - 1]
        if not any(t.wants_seats(stage, (round_, pod)) for pod in missing):
            yield ClockAct(start, "make_tables", stage, round_)
        elif round_ not in play.bidding:
            yield ClockAct(t.time, "open_bids", stage, round_)
        else:
            over = play.bidding[round_] + 1 if t.list_waiting_bids(stage, round_) else 0
            yield ClockAct(max(start, over), "make_tables", stage, round_)


def _may_begin(t: Tournament, stage: int, round_: int) -> bool:
    try:
        check_round_may_begin(t, stage, round_)
    except RuleError:
        return False
    return True


def _find_first_end(t: Tournament, stage: int, round_: int) -> int:
    """Return the end of the last tables in play of a round before an extension, ms; 0 without a clock."""
    limit = t.terms.table.get("time_limit") or 0
    tables = t.stages[stage - 1].list_playing(round_) if limit else []
    return max((table.made_at + limit * 1000 for table in tables), default=0)


def find_round_end(t: Tournament, stage: int, round_: int) -> int:
    """Return the end of a round in play, with its extension once it has one, ms; 0 without a clock."""
    end, table = _find_first_end(t, stage, round_), t.timetables.get(stage)
    is_extended = (round_, True) in t.stages[stage - 1].warnings
    return end + table.extension * 1000 if end and table and is_extended else end


def _list_ends(t: Tournament, table: Timetable) -> Iterator[ClockAct]:
    """Yield the warning before the end of each round in play, and its extension."""
    stage, play = len(t.stages), t.play
    for round_ in range(1, min(len(play.rounds), len(table.starts)) + 1):
        end = _find_first_end(t, stage, round_)
        if end and table.warning and not {(round_, False), (round_, True)} & play.warnings:
            yield ClockAct(end - table.warning * 1000, "warn", stage, round_)
        if end and table.extension and (round_, True) not in play.warnings:
            yield ClockAct(end, "warn", stage, round_)


def _list_rankings(t: Tournament, table: Timetable) -> Iterator[ClockAct]:
    """Yield the ranking of the first round without official standings, once it has ended."""
    play, round_ = t.play, len(t.play.rankings) + 1
    is_known = round_ <= min(len(table.starts), len(play.rounds)) and t.status == "running"
    if is_known and all(play.has_round_ended(n) for n in range(1, round_ + 1)):
        yield ClockAct(t.time, "rank", len(t.stages), round_)


def time_shown_limit(t: Tournament, stage: int, round_: int) -> int:
    """Return the time limit of the tables of a round as people know it so far, seconds; 0 without one."""
    is_extended = (round_, True) in t.stages[stage - 1].warnings
    return time_table_limit(t, stage) if is_extended else int(t.terms.table.get("time_limit") or 0)


def time_table_limit(t: Tournament, stage: int) -> int:
    """Return the time limit of the tables of a stage with its extension, seconds; 0 without one."""
    limit, table = int(t.terms.table.get("time_limit") or 0), t.timetables.get(stage)
    return limit + table.extension if limit and table else limit
