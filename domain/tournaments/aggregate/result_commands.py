"""Commands on the tables of a tournament: make them, report their results, rank a round."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar

from domain.errors import RuleError
from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentCommand,
    TournamentContext,
    refuse_unless,
    require_no_pause,
    require_phase,
)
from domain.tournaments.aggregate.pairing import build_advance, build_official
from domain.tournaments.aggregate.pod_seating import build_seated, is_bidding_over
from domain.tournaments.aggregate.stage import PodTable, StagePlay, TablePlace
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_fold import apply_tournament_record
from domain.tournaments.records import By, RecordDraft, build_record
from domain.tournaments.results import AVERAGE, VOID
from domain.tournaments.terms import QUEUED

HASHED_UNLESS_DEFAULT = {"hashed_unless_default": True}


def require_round(t: Tournament, stage: int, round_: int) -> StagePlay:
    """Return the stage of a drawn round; raise RuleError without one."""
    refuse_unless(1 <= stage <= len(t.terms.stages), "unknown_stage")
    require_phase(t, "running")
    rounds = t.stages[stage - 1].rounds if stage <= len(t.stages) else ()
    refuse_unless(1 <= round_ <= len(rounds), "unknown_round", rounds=len(rounds))
    return t.stages[stage - 1]


def check_round_may_begin(t: Tournament, stage: int, round_: int) -> None:
    """Raise RuleError while as many earlier rounds are in play as the stage allows at once."""
    play = require_round(t, stage, round_)
    require_no_pause(t)
    open_rounds = [earlier for earlier in range(1, round_) if not play.has_round_ended(earlier)]
    refuse_unless(len(open_rounds) < t.terms.stages[stage - 1].concurrent, "rounds_open", rounds=open_rounds)


def check_bids_closed(t: Tournament, stage: int, round_: int, now: int) -> None:
    """Raise RuleError while a round may still take bids; `now` in ms since 1970 UTC."""
    play = t.stages[stage - 1]
    is_over = round_ in play.bidding and is_bidding_over(t, stage, round_, now)
    refuse_unless(is_over, "bids_open", until=play.bidding.get(round_))


def is_legal_pod(t: Tournament, stage: int, place: TablePlace) -> bool:
    """Return whether those left of a pod are enough for a table."""
    return len(t.list_present(stage, *place)) >= t.terms.least


def settle_small_pod(t: Tournament, stage: int) -> str:
    """Return how a pod with too few entrants is annulled; in a queue a credit would pay for leaving."""
    return VOID if t.terms.stages[stage - 1].format in QUEUED else AVERAGE


@dataclass(frozen=True)
class AddTable(TournamentCommand):
    """A pod has its game, opened and with its people seated; `entrants` are by seat."""

    verb: ClassVar[str] = "AddTable"
    by: ClassVar[By] = "service"
    stage: int
    round: int
    pod: int
    game: str
    entrants: tuple[int, ...]

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        check_round_may_begin(t, self.stage, self.round)
        place = self.round, self.pod
        require_no_table(t.stages[self.stage - 1], place)
        body = {"stage": self.stage, "round": self.round, "pod": self.pod, "game": self.game}
        tabled = RecordDraft("tabled", {**body, "entrants": list(self.entrants)})
        if not t.wants_seats(self.stage, place):
            refuse_unless(t.fits_pod(self.stage, *place, self.entrants), "not_entered")
            return [tabled]
        check_bids_closed(t, self.stage, self.round, context.now)
        refuse_unless(t.has_all_present(self.stage, *place, self.entrants), "not_entered")
        seated = build_seated(t, self.stage, place, self.entrants)
        refuse_unless(seated["entrants"] == list(self.entrants), "not_entered")
        return [RecordDraft("seated", seated), tabled]


def require_no_table(play: StagePlay, place: TablePlace) -> None:
    """Raise RuleError unless a drawn round has this pod, without a table."""
    refuse_unless(1 <= place[1] <= len(play.rounds[place[0] - 1].pods), "unknown_pod")
    refuse_unless(place not in play.tables, "already_tabled")


@dataclass(frozen=True)
class AnnulPod(TournamentCommand):
    """A pod left with too few entrants for a table has none: they get the credit of a bye, or in a queue nothing."""

    verb: ClassVar[str] = "AnnulPod"
    by: ClassVar[By] = "service"
    stage: int
    round: int
    pod: int

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        check_round_may_begin(t, self.stage, self.round)
        place = self.round, self.pod
        require_no_table(t.stages[self.stage - 1], place)
        refuse_unless(not is_legal_pod(t, self.stage, place), "no_table")
        body = {"stage": self.stage, "round": self.round, "pod": self.pod}
        return [RecordDraft("annulled", {**body, "how": settle_small_pod(t, self.stage)})]


@dataclass(frozen=True)
class AddTables(TournamentCommand):
    """Pods of a round have their games, or none; those that changed meanwhile are left out."""

    verb: ClassVar[str] = "AddTables"
    by: ClassVar[By] = "service"
    pods: tuple[TournamentCommand, ...]

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        drafts = list[RecordDraft]()
        for pod in self.pods:
            with suppress(RuleError):
                drafts += pod.decide(t, context)
        return drafts or self.pods[0].decide(t, context)


@dataclass(frozen=True)
class Report(TournamentCommand):
    """The result of a closed game: places and points by seat; without places the game had no result."""

    verb: ClassVar[str] = "Report"
    by: ClassVar[By] = "service"
    stage: int
    round: int
    pod: int
    game: str
    game_version: int
    head: str
    """Hash of the last record of the game."""
    places: tuple[int, ...]
    points: tuple[int, ...]
    decisions: tuple[tuple[int, int], ...] = field(default=(), metadata=HASHED_UNLESS_DEFAULT)
    """Decisions of each seat's entrant or substitutes, and all of the seat."""
    lapses: tuple[int, ...] = field(default=(), metadata=HASHED_UNLESS_DEFAULT)
    """Missed deadlines by seat."""
    left: tuple[int, ...] = field(default=(), metadata=HASHED_UNLESS_DEFAULT)
    """Seats whose entrant gave them back during the game, and whose substitutes did not take them."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        play = require_round(t, self.stage, self.round)
        table = play.tables.get((self.round, self.pod)) or PodTable(())
        refuse_unless(table.game == self.game and not table.annulled, "no_table")
        body = {"stage": self.stage, "round": self.round, "pod": self.pod, "game": self.game}
        body |= {"version": self.game_version, "head": self.head}
        body |= {"places": list(self.places), "points": list(self.points)}
        body |= {"decisions": [list(share) for share in self.decisions]} if self.decisions else {}
        body |= {"lapses": list(self.lapses)} if self.lapses else {}
        body |= {"left": list(self.left)} if self.left else {}
        refuse_unless(table.result != body, "already_reported")
        return [RecordDraft("reported", body)]


@dataclass(frozen=True)
class Rank(EventOfficerCommand):
    """The standings after a round become official; after the last one the next stage begins.

    A ranked round is ranked again if its standings have changed.
    """

    verb: ClassVar[str] = "Rank"
    stage: int
    round: int

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name the stage of a queue: its standings count at a moment of choice."""
        is_queue = 1 <= self.stage <= len(t.terms.stages) and t.terms.stages[self.stage - 1].format in QUEUED
        return self.stage if is_queue else None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        play = require_round(t, self.stage, self.round)
        ranked = len(play.rankings)
        official = RecordDraft("ranked", build_official(t, self.stage, self.round))
        refuse_unless(changes_standings(t, official), "already_ranked")
        refuse_unless(self.round <= ranked + 1, "not_ranked", round=ranked + 1)
        refuse_unless(all(play.has_round_ended(n) for n in range(1, self.round + 1)), "tables_open")
        return [official, *draft_advance(t, [official], self.stage)]


def changes_standings(t: Tournament, official: RecordDraft) -> bool:
    """Return whether a draft of official standings has new ones, or ends the stage of a queue."""
    body, stage = official.body, official.body["stage"]
    is_new = "replaces" in body or body["round"] > len(t.stages[stage - 1].rankings)
    is_queue = t.has_queue and stage == len(t.stages)
    return is_new or (is_queue and bool(draft_advance(t, [official], stage)))


def draft_advance(t: Tournament, before: Sequence[RecordDraft], stage: int) -> list[RecordDraft]:
    """Return the draft of an `advanced` record if one is due in a stage after these drafts.

    A ladder or arena goes on while too few entrants of the next stage have a place.
    """
    body = build_advance(preview_drafts(t, before), stage)
    is_due = body is not None and (stage < len(t.stages) or _is_field_full(t, len(body["entrants"])))
    return [RecordDraft("advanced", body)] if body and is_due else []


def _is_field_full(t: Tournament, advancing: int) -> bool:
    """Return whether the current stage may end: a closed queue with entrants for a table, an open one with all."""
    if not t.has_queue:
        return True
    least = t.terms.least
    wanted = least if t.play.queue_closed else t.terms.stages[len(t.stages)].entrants or least
    return advancing >= max(wanted, least)


def preview_drafts(t: Tournament, drafts: Sequence[RecordDraft]) -> Tournament:
    """Return the tournament as it would be after records of these drafts; its hashes are not those of the log."""
    for draft in drafts:
        t = apply_tournament_record(t, build_record(draft, t.version + 1, t.time, t.hash, "director"))
    return t
