"""Commands for tables played elsewhere: their scores are entered, confirmed by all seats, or settled by an officer.

No proof holds such a result: it is marked everywhere, and never rated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from domain.errors import RuleError, TournamentError
from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentCommand,
    TournamentContext,
    refuse_unless,
)
from domain.tournaments.aggregate.pod_seating import build_seated
from domain.tournaments.aggregate.result_commands import (
    check_bids_closed,
    check_round_may_begin,
    is_legal_pod,
    require_no_table,
    require_round,
)
from domain.tournaments.aggregate.stage import EnteredScores, PodTable
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import By, RecordDraft
from domain.tournaments.scoring import check_places, rank_points
from domain.tournaments.terms import ALL, ELSEWHERE
from domain.types import Doc

SETTLE_MS = 600_000
"""Time for all seats to confirm scores, before an officer may settle them, ms."""

MAX_SCORE = 1_000_000
"""Largest size of a game score."""


@dataclass(frozen=True)
class PlaceElsewhere(TournamentCommand):
    """A pod plays outside of the service, by the terms of the event; `entrants` are by seat."""

    verb: ClassVar[str] = "PlaceElsewhere"
    by: ClassVar[By] = "service"
    stage: int
    round: int
    pod: int
    entrants: tuple[int, ...]

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(t.terms.elsewhere == ALL, "elsewhere_barred")
        return draft_elsewhere(t, (self.stage, self.round, self.pod), self.entrants, context.now)


@dataclass(frozen=True)
class MoveElsewhere(EventOfficerCommand):
    """An officer lets a pod without a table play outside of the service."""

    verb: ClassVar[str] = "MoveElsewhere"
    officer: str
    """Player id."""
    stage: int
    round: int
    pod: int
    entrants: tuple[int, ...] = ()
    """By seat, in the record; otherwise those present."""

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name no stage: all seats confirm the scores, or an officer without a stake."""
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(t.terms.elsewhere in ELSEWHERE, "elsewhere_barred")
        require_office(t, self.officer)
        place = self.stage, self.round, self.pod
        return draft_elsewhere(t, place, self.entrants, context.now, {"officer": self.officer})


def draft_elsewhere(
    t: Tournament, place: tuple[int, int, int], entrants: Sequence[int], now: int, more: Doc | None = None
) -> list[RecordDraft]:
    """Return the draft of a table elsewhere, after its seats if bids or lists give them; raise RuleError.

    Without `entrants` it is for those present.
    """
    stage, round_, pod = place
    check_round_may_begin(t, stage, round_)
    require_no_table(t.stages[stage - 1], (round_, pod))
    refuse_unless(is_legal_pod(t, stage, (round_, pod)), "no_table")
    members, seated = tuple(entrants) or t.list_present(stage, round_, pod), list[RecordDraft]()
    if t.wants_seats(stage, (round_, pod)):
        check_bids_closed(t, stage, round_, now)
        body = build_seated(t, stage, (round_, pod), members)
        members, seated = tuple(body["entrants"]), [RecordDraft("seated", body)]
    refuse_unless(t.has_all_present(stage, round_, pod, members), "not_entered")
    table = {"stage": stage, "round": round_, "pod": pod, "entrants": list(members), **(more or {})}
    return [*seated, RecordDraft("elsewhere", table)]


@dataclass(frozen=True)
class _TablePlace:
    """The place of a table elsewhere."""

    stage: int
    round: int
    pod: int


def require_elsewhere(t: Tournament, at: _TablePlace) -> PodTable:
    """Return a table elsewhere without a result; raise RuleError for any other."""
    table = require_round(t, at.stage, at.round).tables.get((at.round, at.pod))
    if table is None or not table.elsewhere or table.annulled:
        raise RuleError("no_table")
    refuse_unless(table.result is None, "already_reported")
    return table


def find_seated(t: Tournament, table: PodTable, players: Sequence[str]) -> int:
    """Return a person's own entrant at a table, also of a substitute; raise RuleError without one."""
    for entrant in table.entrants:
        person = t.entrants[entrant]
        if not {person.player, *person.substitutes}.isdisjoint(players):
            return entrant
    raise RuleError("not_entered")


def decides_at(t: Tournament, stage: int, round_: int, pod: int, players: Sequence[str]) -> bool:
    """Return whether a person decides for an entrant at a table."""
    table = t.stages[stage - 1].tables.get((round_, pod)) if 1 <= stage <= len(t.stages) else None
    try:
        return table is not None and find_seated(t, table, players) >= 0
    except RuleError:
        return False


def require_office(t: Tournament, officer: str) -> None:
    """Raise RuleError `no_officer` for a person without an office."""
    refuse_unless(officer == t.director or officer in t.officers, "no_officer")


def draft_scores(
    table: PodTable, at: _TablePlace, points: Sequence[int], places: Sequence[int], by: Doc
) -> RecordDraft:
    """Return the draft of entered scores; raise RuleError for such of no table of this size."""
    seats = len(table.entrants)
    own = tuple(places) or (rank_points(points) if len(points) == seats else ())
    try:
        is_whole = len(check_places(own)) == seats == len(points)
    except TournamentError:
        is_whole = False
    refuse_unless(is_whole, "places_invalid")
    refuse_unless(all(abs(each) <= MAX_SCORE for each in points), "places_invalid")
    body = {"stage": at.stage, "round": at.round, "pod": at.pod, "points": list(points), "places": list(own), **by}
    return RecordDraft("scored", body)


@dataclass(frozen=True)
class EnterScores(_TablePlace, TournamentCommand):
    """One seat of a table elsewhere enters its scores, and so confirms them; they replace others entered before."""

    verb: ClassVar[str] = "EnterScores"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    points: tuple[int, ...]
    """By seat."""
    places: tuple[int, ...] = ()
    """By seat; empty: as the points have them."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        table = require_elsewhere(t, self)
        entrant = find_seated(t, table, self.players)
        draft = draft_scores(table, self, self.points, self.places, {"entrant": entrant})
        refuse_unless(table.scores is None or not table.scores.equals(draft.body), "scores_entered")
        return [draft]


@dataclass(frozen=True)
class EnterOfficerScores(_TablePlace, EventOfficerCommand):
    """An officer enters the scores of a table elsewhere: all seats still confirm them."""

    verb: ClassVar[str] = "EnterOfficerScores"
    officer: str
    """Player id."""
    points: tuple[int, ...]
    places: tuple[int, ...] = ()

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name no stage: scores move nothing before they are settled."""
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_office(t, self.officer)
        table = require_elsewhere(t, self)
        return [draft_scores(table, self, self.points, self.places, {"officer": self.officer})]


def require_scores(table: PodTable, version: int) -> EnteredScores:
    """Return the entered scores of a table; raise RuleError for others than those of a version."""
    if table.scores is None:
        raise RuleError("no_scores")
    refuse_unless(table.scores.version == version, "scores_changed", scores=table.scores.version)
    return table.scores


@dataclass(frozen=True)
class ConfirmScores(_TablePlace, TournamentCommand):
    """A seat confirms the scores of its table; with the last one they are its result."""

    verb: ClassVar[str] = "ConfirmScores"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    scores: int
    """Version of the record of their entry."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        table = require_elsewhere(t, self)
        entrant, scores = find_seated(t, table, self.players), require_scores(table, self.scores)
        refuse_unless(entrant not in scores.confirmed, "scores_confirmed")
        body = {"stage": self.stage, "round": self.round, "pod": self.pod, "scores": self.scores}
        confirmed = RecordDraft("confirmed", {**body, "entrant": entrant})
        is_last = {*table.entrants} <= {*scores.confirmed, entrant}
        return [confirmed, RecordDraft("settled", body, by="service")] if is_last else [confirmed]


@dataclass(frozen=True)
class SettleScores(_TablePlace, EventOfficerCommand):
    """An officer without a stake makes entered scores the result, though not all seats have confirmed them in time."""

    verb: ClassVar[str] = "SettleScores"
    officer: str
    """Player id."""
    scores: int

    def find_moved_stage(self, t: Tournament) -> int | None:
        return self.stage if 1 <= self.stage <= len(t.stages) else None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_office(t, self.officer)
        refuse_unless(not t.has_stake(self.stage, [self.officer]), "conflict_of_interest")
        scores = require_scores(require_elsewhere(t, self), self.scores)
        until = scores.at + SETTLE_MS
        refuse_unless(context.now >= until, "scores_open", until=until)
        body = {"stage": self.stage, "round": self.round, "pod": self.pod, "scores": self.scores}
        return [RecordDraft("settled", {**body, "officer": self.officer})]
