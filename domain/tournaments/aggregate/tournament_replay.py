"""The commands behind the records of a tournament, decided once more: a proof refuses what the service refuses.

Stored records verify for ever. So a command that becomes stricter needs its former condition here.
"""

from __future__ import annotations

from collections.abc import Sequence

from domain.kernel.records.record import Record
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CheckInOther,
    CloseCheckIn,
    CloseTournament,
    Draw,
    EndSubstitution,
    Enter,
    NameSubstitute,
    OpenCheckIn,
    ShowNonce,
    TournamentCommand,
    TournamentContext,
    WantBye,
    Withdraw,
    refuse_unless,
)
from domain.tournaments.aggregate.change_commands import AmendTerms, PauseEvent, ResumeEvent
from domain.tournaments.aggregate.clock_commands import (
    CLOCK_ACTS,
    SetTimetable,
    check_clock_act,
    draft_warning,
    find_clock_act,
)
from domain.tournaments.aggregate.division_commands import AddDivision
from domain.tournaments.aggregate.elsewhere_commands import (
    ConfirmScores,
    EnterOfficerScores,
    EnterScores,
    MoveElsewhere,
    PlaceElsewhere,
    SettleScores,
)
from domain.tournaments.aggregate.entry_commands import EnterOthers
from domain.tournaments.aggregate.pod_seating import find_pod, may_file
from domain.tournaments.aggregate.queue_commands import (
    QUEUE_ROUND,
    CloseQueue,
    JoinQueue,
    LeaveQueue,
    OpenQueue,
    choose_pod,
    is_draw_due,
    require_queue,
)
from domain.tournaments.aggregate.result_commands import (
    AddTable,
    AnnulPod,
    Rank,
    Report,
    check_bids_closed,
    check_round_may_begin,
    require_no_table,
)
from domain.tournaments.aggregate.schedule_commands import Schedule, Succeed, Unschedule
from domain.tournaments.aggregate.seat_commands import OpenBids, require_bids
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_appeal_commands import ContestRuling, is_sound_answer
from domain.tournaments.aggregate.tournament_ruling_commands import (
    MAX_PENALTY,
    DeputeOfficer,
    RecuseOfficer,
    RulingEffect,
    read_ruling,
)
from domain.tournaments.records import FAMILY, RecordDraft
from domain.types import Doc

RULINGS = frozenset({"placed", "penalised", "excluded", "restored"})
"""Kinds of rulings, beside `annulled` with an `attempt`."""


def is_ruling(kind: str, body: Doc) -> bool:
    """Return whether a record of this kind, without its family, is an officer's ruling."""
    return kind in RULINGS or (kind == "annulled" and "attempt" in body)


def draft_again(t: Tournament, record: Record) -> Sequence[RecordDraft]:
    """Return the drafts of a record's command: its own, and those that follow it at once; raise RuleError.

    They are empty for a kind whose command has input outside the record: `check_again` is for these.
    """
    kind, body = record.kind.removeprefix(FAMILY), record.body
    if kind in ("warned", "resumed") and "officer" not in body:
        return _draft_clock_act(t, record)
    if kind == "queued":
        return [JoinQueue(_find_person(t, body)).draft(t, record.time)]
    if is_ruling(kind, body):
        return RulingEffect(t, read_ruling(kind, body)).drafts
    command = _read_entrant_command(t, kind, body) or _read_substitution(t, kind, body)
    command = command or _read_service_command(kind, body) or _read_elsewhere_command(t, kind, body)
    command = command or _read_running_command(kind, record) or _read_director_command(kind, body)
    return command.decide(t, TournamentContext(record.time, lambda _: b"", str)) if command else []


def _draft_clock_act(t: Tournament, record: Record) -> Sequence[RecordDraft]:
    """Return the draft of a warning, or of the end of a pause, by the clock; raise RuleError unless it is due."""
    check_clock_act(t, record)
    due = find_clock_act(t)
    if due is None or due.act == "resume":
        return [RecordDraft("resumed", {})]
    return [draft_warning(t, due)]


def _find_person(t: Tournament, body: Doc) -> tuple[str, ...]:
    """Return the player id of a record's entrant; raise RuleError for a number without one."""
    refuse_unless(0 <= body["entrant"] < len(t.entrants), "unknown_entrant")
    return (t.entrants[body["entrant"]].player,)


def _read_entrant_command(t: Tournament, kind: str, body: Doc) -> TournamentCommand | None:
    match kind:
        case "entered" if "officer" in body:
            return EnterOthers(body["officer"], (body["player"],))
        case "entered":
            rated = tuple(body["rated"]) if "rated" in body else None
            return Enter(body["player"], keeps_number=False, rated=rated)
        case "readmitted":
            return Enter(_find_person(t, body)[0])
        case "withdrew":
            return Withdraw(_find_person(t, body))
        case "volunteered":
            return WantBye(_find_person(t, body), body["round"])
        case "checked":
            return _read_check_in(t, body)
        case "revealed":
            return ShowNonce(_find_person(t, body), body["nonce"])
        case "appealed":
            return ContestRuling(_find_person(t, body), body["ruling"])
        case "left":
            return LeaveQueue(_find_person(t, body))
        case _:
            return None


def _read_check_in(t: Tournament, body: Doc) -> TournamentCommand:
    if "officer" in body:
        return CheckInOther(body["entrant"], body["officer"])
    return CheckIn(_find_person(t, body), body.get("nonce_hash", ""))


def _read_substitution(t: Tournament, kind: str, body: Doc) -> TournamentCommand | None:
    if kind == "substituted":
        return NameSubstitute(_find_person(t, body), body["player"])
    return EndSubstitution(body["entrant"], body["player"]) if kind == "unsubstituted" else None


def _read_service_command(kind: str, body: Doc) -> TournamentCommand | None:
    match kind:
        case "tabled":
            return AddTable(body["stage"], body["round"], body["pod"], body["game"], tuple(body["entrants"]))
        case "annulled":
            return AnnulPod(body["stage"], body["round"], body["pod"])
        case "reported":
            place, game = (body["stage"], body["round"], body["pod"]), (body["game"], body["version"], body["head"])
            shares, lapses = tuple(map(tuple, body.get("decisions", ()))), tuple(body.get("lapses", ()))
            left = tuple(body.get("left", ()))
            return Report(*place, *game, tuple(body["places"]), tuple(body["points"]), shares, lapses, left)
        case "succeeded":
            return Succeed(body["tournament"])
        case _:
            return None


def _read_elsewhere_command(t: Tournament, kind: str, body: Doc) -> TournamentCommand | None:
    """Return the command behind a record of a table elsewhere; raise RuleError for scores settled by nobody."""
    if kind not in ("elsewhere", "scored", "confirmed", "settled"):
        return None
    place, officer = (body["stage"], body["round"], body["pod"]), body.get("officer", "")
    match kind:
        case "elsewhere":
            entrants = tuple(body["entrants"])
            return MoveElsewhere(officer, *place, entrants) if officer else PlaceElsewhere(*place, entrants)
        case "scored":
            figures = tuple(body["points"]), tuple(body["places"])
            refuse_unless(bool(officer) != ("entrant" in body), "not_entered")
            if officer:
                return EnterOfficerScores(*place, officer, *figures)
            return EnterScores(*place, _find_person(t, body), *figures)
        case "confirmed":
            return ConfirmScores(*place, _find_person(t, body), body["scores"])
        case _:
            refuse_unless(bool(officer), "scores_open")
            return SettleScores(*place, officer, body["scores"])


def _read_running_command(kind: str, record: Record) -> TournamentCommand | None:
    """Return the command behind a queue's end or beginning, a rule of repetition, a timetable, or other terms."""
    body = record.body
    match kind:
        case "queue_closed":
            return CloseQueue()
        case "queue_opened":
            return OpenQueue()
        case "scheduled":
            times = tuple(body[name] for name in ("at", "next_at") if name in body)
            place = body["number"], body.get("follows", "")
            return Schedule(body["rule"], body["zone"], body["start"], times, *place)
        case "unscheduled":
            return Unschedule(record.public["by"] == "service")
        case "timetabled":
            times = body["opens"], body["closes"], body["each"], body["warning"], body["extension"]
            return SetTimetable(body["officer"], body["stage"], tuple(body["starts"]), *times)
        case "divided":
            return AddDivision(body["tournament"], body["name"])
        case "paused":
            return PauseEvent(body["officer"])
        case "resumed":
            return ResumeEvent(body["officer"])
        case "amended":
            return AmendTerms(body["officer"], body["terms"])
        case _:
            return None


def _read_director_command(kind: str, body: Doc) -> TournamentCommand | None:
    match kind:
        case "checkin_opened":
            return OpenCheckIn()
        case "checkin_closed":
            return CloseCheckIn()
        case "ranked":
            return Rank(body["stage"], body["round"])
        case "bidding_opened":
            return OpenBids(body["stage"], body["round"])
        case "closed" | "cancelled":
            return CloseTournament("finished" if body else "")
        case "deputed":
            return DeputeOfficer(body["player"], body["office"])
        case "recused":
            return RecuseOfficer(body["player"])
        case _:
            return None


def check_again(t: Tournament, record: Record) -> None:
    """Raise RuleError unless the command of a draw, a pairing, seats, a bid or an answer is possible now."""
    kind, body = record.kind.removeprefix(FAMILY), record.body
    if kind in CLOCK_ACTS and record.public["by"] == "service" and not t.has_queue:
        check_clock_act(t, record)
    match kind:
        case "drawn" if t.has_queue:
            require_queue(t)
            is_place = (body["stage"], body["round"]) == (len(t.stages), QUEUE_ROUND)
            is_due = is_draw_due(t, record.time) and choose_pod(t, record.time) is not None
            refuse_unless(is_place and is_due, "not_queued")
            refuse_unless(len(t.secrets) <= t.terms.chain, "chain_used")
        case "drawn":
            Draw(body["stage"], body["round"], "reason" in record.public).check(t, record.time)
        case "paired" if t.has_queue:
            require_queue(t)
            refuse_unless(not is_draw_due(t, record.time), "queue_draws")
        case "bid":
            require_bids(t, body["stage"], body["round"])
            bidder = body["stage"], body["round"], body["entrant"]
            refuse_unless(find_pod(t, *bidder) is not None, "not_eligible")
            refuse_unless(may_file(t, *bidder, record.time), "bids_closed")
        case "seated":
            stage, pod = body["stage"], (body["round"], body["pod"])
            check_round_may_begin(t, stage, pod[0])
            require_no_table(t.stages[stage - 1], pod)
            refuse_unless(t.wants_seats(stage, pod), "seats_drawn")
            check_bids_closed(t, stage, pod[0], record.time)
            refuse_unless(t.has_all_present(stage, *pod, body["entrants"]), "not_entered")
        case "penalised":
            refuse_unless(1 <= body["ticks"] <= MAX_PENALTY, "no_result")
        case "answered":
            refuse_unless(is_sound_answer(t, record), "conflict_of_interest")
        case _:
            pass
