"""Commands of a tournament: each checks the tournament, and gives the drafts of the records to append.

A command raises RuleError with a code of TOURNAMENT_CODES and changes nothing. Times and secrets come in with the
context, so the package stays pure.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from domain.errors import RuleError
from domain.kernel.game.command import HASHED_UNLESS_DEFAULT
from domain.tournaments.aggregate.pairing import DrawInput, build_official, draw_key_of, may_pair, pair_rounds
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.designs import MAX_ROUNDS
from domain.tournaments.draw import commit_nonce
from domain.tournaments.records import By, RecordDraft
from domain.tournaments.results import ZERO
from domain.tournaments.terms import QUEUED, ROUND_BY_ROUND
from domain.types import Doc, Json

TOURNAMENT_CODES: Mapping[str, str] = {
    "wrong_status": "the tournament is in another phase",
    "already_entered": "the person has entered",
    "not_entered": "the person has not entered",
    "already_checked_in": "the entrant has checked in",
    "not_checked_in": "the entrant takes no part in this draw",
    "no_commitment": "the entrant has sent no hash of a nonce",
    "nonce_wrong": "the nonce does not match its hash",
    "nonce_shown": "the nonce has been shown",
    "nonces_missing": "entrants may still show their nonces",
    "nonces_closed": "the time to show nonces is over",
    "sizes_impossible": "the entrants make no legal tables",
    "design_unknown": "no design is known for these numbers",
    "already_drawn": "the round has been drawn: another draw needs a reason",
    "tables_made": "the round has tables",
    "chain_used": "the chain has no further draw",
    "unknown_stage": "the tournament has no such stage",
    "unknown_round": "the stage has no such round",
    "unknown_pod": "the round has no such pod",
    "rounds_open": "earlier rounds are in play",
    "no_table": "the pod has no table",
    "already_tabled": "the pod has a table",
    "already_reported": "the table has this result",
    "tables_open": "tables of the round are in play",
    "already_ranked": "the round has been ranked",
    "not_ranked": "an earlier round has not been ranked",
    "entries_closed": "the tournament takes no further entrants",
    "not_eligible": "the entrant has no part in this stage",
    "unknown_entrant": "the stage has no such entrant",
    "unknown_ruling": "the tournament has no such ruling in force",
    "ruling_final": "a table to be played again stays so",
    "no_result": "the table has no result to rule on",
    "places_invalid": "the places are none of a table of this size",
    "preview_stale": "the ruling would move something else by now",
    "conflict_of_interest": "the officer plays in the matter",
    "already_officer": "the person has this office",
    "no_officer": "the person has no office",
    "appeal_made": "the entrant has appealed against the ruling",
    "no_appeal": "nobody has appealed against the ruling",
    "appeal_answered": "the appeal has been answered",
    "bye_wanted": "the entrant wants this bye already",
    "seats_drawn": "the draw gives the seats of this stage",
    "bids_open": "entrants may still file their bids",
    "bids_closed": "the round takes no bids now",
    "bid_invalid": "the bid does not fit the seats",
    "no_queue": "the stage has no queue",
    "queue_draws": "the tables of this stage are made from its queue",
    "already_queued": "the entrant waits for a table",
    "not_queued": "nobody waits for a table that may be made",
    "queue_closed": "the queue is closed",
    "queue_open": "the queue is open",
    "outcome_other": "the tournament would end otherwise",
    "in_play": "the entrant plays as many tables as the stage allows",
    "tables_used": "the stage has as many tables as it may",
    "schedule_invalid": "the rule or its first time is none that events take",
    "not_scheduled": "no event follows by a rule",
    "next_open": "the next event is open: change the rule there",
    "substitute_invalid": "an entrant, or the same person again, cannot be a substitute",
    "no_substitute": "the person is no substitute of the entrant, and not asked",
    "timetable_invalid": "the timetable does not fit the stage",
    "not_due": "nothing is due by the timetable",
    "event_paused": "the tournament is paused",
    "event_runs": "the tournament is not paused",
    "terms_fixed": "this term does not change any more",
    "terms_same": "these are the terms already",
    "rating_barred": "the person's rating is outside of the band of the tournament",
    "division_nested": "a division has no divisions of its own",
    "division_known": "the tournament has a division with this name",
    "division_entered": "the person has entered another division",
    "elsewhere_barred": "by its terms the tournament has no tables elsewhere",
    "scores_entered": "these scores have been entered, and may be confirmed",
    "no_scores": "nobody has entered scores of this table",
    "scores_changed": "other scores have been entered since",
    "scores_confirmed": "the entrant has confirmed these scores",
    "scores_open": "the table may still confirm its scores",
}
"""Refusals of commands of a tournament."""

_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class TournamentContext:
    """Input of a command besides the tournament."""

    now: int
    """ms since 1970 UTC."""
    secret: Callable[[int], bytes] = field(repr=False)
    """Return the secret of the chain for the draw with this number."""
    make_salt: Callable[[], str] = field(repr=False)
    """Return a random text of 32 hex digits, the salt of a bid."""


@dataclass(frozen=True)
class TournamentCommand(ABC):
    """Command on a tournament. Its fields are its arguments, JSON values."""

    verb: ClassVar[str]
    """Name of the command in the stored hash; neither it nor the names of the fields may change."""
    by: ClassVar[By] = "director"
    is_retryable: ClassVar[bool] = True
    """Without an expected version, every command is decided again after a lost race."""

    def check(self, t: Tournament, now: int) -> None:  # noqa: B027 - most commands need no long work
        """Raise RuleError if it is refused already without long work; `now` in ms since 1970 UTC."""

    @abstractmethod
    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        """Return the drafts of the records to append; raise RuleError."""

    def check_person(self, t: Tournament, people: Collection[str], now: int) -> None:  # noqa: B027 - most commands may be anybody's
        """Raise RuleError if the person must not give the command; `people` are ids of the person and of related ones.

        `now` in ms since 1970 UTC. No part of `decide`: earlier records were made without it, and name no person.
        """


class EventOfficerCommand(TournamentCommand):
    """Command of an officer. With a stake in a stage an officer moves no place there."""

    @abstractmethod
    def find_moved_stage(self, t: Tournament) -> int | None:
        """Return the stage in which it can move a place, or None: anybody with the office may then give it."""

    def check_person(self, t: Tournament, people: Collection[str], now: int) -> None:
        stage = self.find_moved_stage(t)
        if stage is not None:
            require_no_stake(t, stage, people)


def require_no_stake(t: Tournament, stage: int, people: Collection[str]) -> None:
    """Raise RuleError if an officer with these ids, related people included, has a stake in a stage."""
    if t.has_stake(stage, people):
        free = [player for player in (t.director, *t.officers) if not t.has_stake(stage, [player])]
        others = [player for player in free if player not in people]
        raise RuleError("conflict_of_interest", "", {"cause": "ask" if others else "name", "officers": others})


def require_no_ruling(t: Tournament, players: Collection[str]) -> None:
    """Raise RuleError if a person with these player ids has ruled as an officer."""
    has_ruled = any(ruling.body["officer"] in players for ruling in t.rulings)
    refuse_unless(not has_ruled, "conflict_of_interest", cause="ruled")


def refuse_unless(ok: bool, code: str, **figures: Json) -> None:
    """Raise RuleError unless `ok`."""
    if not ok:
        raise RuleError(code, "", figures)


def require_phase(t: Tournament, *phases: str) -> None:
    """Raise RuleError unless the tournament is in one of these phases."""
    refuse_unless(t.status in phases, "wrong_status", status=t.status)


def require_no_pause(t: Tournament) -> None:
    """Raise RuleError during a pause."""
    refuse_unless(not t.paused_at, "event_paused", since=t.paused_at)


def draft_opening(tournament: str, director: str, terms: Doc, first_secret: bytes) -> RecordDraft:
    """Return the draft of the first record; it publishes s_0 of the chain."""
    body = {"tournament": tournament, "director": director, "terms": terms, "secret": first_secret.hex()}
    return RecordDraft("opened", body)


# --- entrants


@dataclass(frozen=True)
class Enter(TournamentCommand):
    """A person enters; late into a Swiss event, or back under the same number after a withdrawal."""

    verb: ClassVar[str] = "Enter"
    by: ClassVar[By] = "entrant"
    player: str
    players: tuple[str, ...] = ()
    """All ids of the same person."""
    keeps_number: bool = field(default=True, metadata={"not_hashed": True})
    """False for old records: after a withdrawal before any draw, the same person got another number."""
    rated: tuple[int, ...] | None = field(default=None, metadata={"not_hashed": True})
    """Rating in whole hundredths and number of rated tables, in an event with a rating band."""

    def check_person(self, t: Tournament, people: Collection[str], now: int) -> None:
        """Refuse an officer after a ruling: the place would gain by it."""
        require_no_ruling(t, (self.player, *self.players))

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "checking", "running")
        players = (self.player, *self.players)
        refuse_unless(t.find_entrant(players) is None, "already_entered")
        refuse_unless(not t.is_substitute(players), "substitute_invalid", cause="own")
        former = t.find_all_entries(players)
        refuse_unless(not any(t.entrants[entrant].excluded for entrant in former), "not_eligible")
        members = {entrant for play in t.stages for entrant in play.members}
        if known := [entrant for entrant in former if entrant in members]:
            return [RecordDraft("readmitted", {"entrant": known[-1]})]
        if t.play.rounds or len(t.stages) > 1 or t.has_queue:
            refuse_unless(t.takes_late and _has_late_place(t, members), "entries_closed")
        if former and self.keeps_number:
            joins = {"joins": True} if t.takes_at_once else {}
            return [RecordDraft("readmitted", {"entrant": former[-1], **joins})]
        return [RecordDraft("entered", {"entrant": len(t.entrants), "player": self.player, **self._rate(t)})]

    def _rate(self, t: Tournament) -> Doc:
        """Return the rating for the record, in an event with a band; raise RuleError outside of it."""
        rated = self.rated or (0, 0)
        require_band(t, rated)
        return {"rated": [*rated]} if t.terms.band else {}


def require_band(t: Tournament, rated: Sequence[int]) -> None:
    """Raise RuleError `rating_barred` for a rating, in hundredths, and its number of tables outside of the band."""
    if band := t.terms.band:
        figures = {"rating": rated[0], "tables": rated[1], "least": band.least, "most": band.most}
        refuse_unless(band.takes(rated[0], rated[1]), "rating_barred", **figures, needed=band.tables)


def _has_late_place(t: Tournament, members: Collection[int]) -> bool:
    """Return whether somebody may still come in. `members`: entrants of all stages."""
    playing = sum(t.entrants[entrant].is_active for entrant in (t.play.members if t.has_queue else t.participants))
    waiting = sum(each.is_active and entrant not in members for entrant, each in enumerate(t.entrants))
    return t.status == "checking" or playing + waiting < t.terms.capacity


@dataclass(frozen=True)
class Withdraw(TournamentCommand):
    """An entrant withdraws: results stand, and later tables and draws leave the entrant out."""

    verb: ClassVar[str] = "Withdraw"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "checking", "drawing", "running")
        return [RecordDraft("withdrew", {"entrant": require_entrant(t, self.players)})]


@dataclass(frozen=True)
class NameSubstitute(TournamentCommand):
    """A person asked by an entrant becomes a substitute: the person's decisions count as the entrant's own."""

    verb: ClassVar[str] = "NameSubstitute"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    substitute: str
    """Player id of the person."""

    def check_person(self, t: Tournament, people: Collection[str], now: int) -> None:
        """Refuse an officer after a ruling: the entrant's place would gain by it."""
        require_no_ruling(t, (self.substitute,))

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        return [RecordDraft("substituted", {"entrant": self.find_entrant(t), "player": self.substitute})]

    def find_entrant(self, t: Tournament) -> int:
        """Return the entrant; raise RuleError unless the person may become a substitute."""
        refuse_unless(not t.is_over, "wrong_status", status=t.status)
        entrant = require_entrant(t, self.players)
        is_entrant = self.substitute in self.players or t.find_entrant((self.substitute,)) is not None
        is_known = self.substitute in t.entrants[entrant].substitutes
        refuse_unless(not is_entrant and not is_known, "substitute_invalid")
        return entrant


@dataclass(frozen=True)
class EndSubstitution(TournamentCommand):
    """A person is no substitute of an entrant any more, by the will of either."""

    verb: ClassVar[str] = "EndSubstitution"
    by: ClassVar[By] = "entrant"
    entrant: int
    substitute: str
    """Player id of the person."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(not t.is_over, "wrong_status", status=t.status)
        refuse_unless(0 <= self.entrant < len(t.entrants), "unknown_entrant")
        refuse_unless(self.substitute in t.entrants[self.entrant].substitutes, "no_substitute")
        return [RecordDraft("unsubstituted", {"entrant": self.entrant, "player": self.substitute})]


@dataclass(frozen=True)
class WantBye(TournamentCommand):
    """An entrant wants a bye in the next round of a Swiss event, or before its first draw in a later one."""

    verb: ClassVar[str] = "WantBye"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    round: int | None = field(default=None, metadata=HASHED_UNLESS_DEFAULT)
    """None: the next round."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "checking", "drawing", "running")
        entrant, following = require_entrant(t, self.players), t.next_draw
        is_open = following is not None and t.stage_terms.format == "swiss"
        refuse_unless(is_open and t.may_check_in(entrant), "not_eligible")
        stage, next_round = following or (0, 0)
        round_, terms = self.round or next_round, t.stage_terms
        is_early = next_round == 1 and not t.play.draws
        refuse_unless(
            round_ == next_round or (is_early and 1 <= round_ <= (terms.rounds or MAX_ROUNDS)), "not_eligible"
        )
        wanted = {known for known in t.early_volunteers if known[0] == stage and known[2] == entrant}
        is_second = is_early and bool(wanted) and terms.wanted_bye not in (None, ZERO)
        refuse_unless(not is_second and (stage, round_, entrant) not in t.volunteers, "bye_wanted")
        return [RecordDraft("volunteered", {"stage": stage, "round": round_, "entrant": entrant})]


def require_entrant(t: Tournament, players: Sequence[str]) -> int:
    """Return the number of a person with these player ids; raise RuleError unless entered."""
    entrant = t.find_entrant(players)
    if entrant is None:
        raise RuleError("not_entered")
    return entrant


@dataclass(frozen=True)
class CheckIn(TournamentCommand):
    """An entrant is present, and may send the hash of a nonce that the draw will contain.

    Between rounds it brings back an entrant after a missed check-in, without a nonce.
    """

    verb: ClassVar[str] = "CheckIn"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    nonce_hash: str = ""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "checking", "running")
        entrant = require_entrant(t, self.players)
        if t.status != "checking" or not self.nonce_hash or t.commitments.get(entrant) != "":
            require_check_in(t, entrant)  # else a nonce is added to a check-in without one, as by an officer
        refuse_unless(t.status == "checking" or not self.nonce_hash, "nonces_closed")
        refuse_unless(not self.nonce_hash or _HEX.fullmatch(self.nonce_hash) is not None, "nonce_wrong")
        committed = {"nonce_hash": self.nonce_hash} if self.nonce_hash else {}
        return [RecordDraft("checked", {"entrant": entrant, **committed})]


def require_check_in(t: Tournament, entrant: int) -> None:
    """Raise RuleError unless an entrant may check in, or come back for the next draw."""
    if t.status == "checking":
        refuse_unless(t.may_check_in(entrant), "not_eligible")
        refuse_unless(entrant not in t.commitments, "already_checked_in")
    else:
        refuse_unless(t.next_draw is not None, "wrong_status", status=t.status)
        refuse_unless(entrant not in t.participants, "already_checked_in")
        refuse_unless(entrant in t.list_left_out(), "not_eligible")


@dataclass(frozen=True)
class CheckInOther(EventOfficerCommand):
    """An officer checks in a present entrant, or brings one back for the next draw."""

    verb: ClassVar[str] = "CheckInOther"
    entrant: int
    officer: str
    """Player id."""

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name no stage: presence moves no place, and it is in the record."""
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "checking", "running")
        refuse_unless(0 <= self.entrant < len(t.entrants), "unknown_entrant")
        refuse_unless(not t.entrants[self.entrant].withdrawn, "not_entered")
        require_check_in(t, self.entrant)
        return [RecordDraft("checked", {"entrant": self.entrant, "officer": self.officer})]


@dataclass(frozen=True)
class ShowNonce(TournamentCommand):
    """An entrant shows the nonce behind the hash, after the check-in."""

    verb: ClassVar[str] = "ShowNonce"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    nonce: str

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "drawing")
        entrant = require_entrant(t, self.players)
        refuse_unless(entrant in t.participants, "not_checked_in")
        refuse_unless(bool(t.commitments.get(entrant)), "no_commitment")
        refuse_unless(entrant not in t.nonces, "nonce_shown")
        refuse_unless(context.now <= t.nonces_end, "nonces_closed")
        refuse_unless(commit_nonce(self.nonce) == t.commitments[entrant], "nonce_wrong")
        return [RecordDraft("revealed", {"entrant": entrant, "nonce": self.nonce})]


# --- the director


@dataclass(frozen=True)
class OpenCheckIn(EventOfficerCommand):
    """The check-in opens: for the first draw, or before a later one, with new nonces.

    Once nonces are shown it opens again only if too few have checked in for a draw: the organiser knows the key.
    """

    verb: ClassVar[str] = "OpenCheckIn"

    def find_moved_stage(self, t: Tournament) -> int | None:
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "drawing", "running")
        require_no_pause(t)
        refuse_unless(not t.has_queue, "queue_draws")
        refuse_unless(t.status != "drawing" or not may_pair(t), "wrong_status", status=t.status)
        if t.status == "running":
            refuse_unless(t.next_draw is not None, "wrong_status", status=t.status)
            require_ranked(t, len(t.stages))
        return [RecordDraft("checkin_opened", {})]


CHECKIN_MS = 600_000
"""Time after which an officer with a stake closes a check-in that others have missed, ms."""


@dataclass(frozen=True)
class CloseCheckIn(EventOfficerCommand):
    """The check-in closes: the first in order of entry, up to the capacity, take part, and nonces are shown."""

    verb: ClassVar[str] = "CloseCheckIn"

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name the current stage while somebody may still check in: without that, there is no place."""
        return len(t.stages) if t.status == "checking" and t.list_missing() else None

    def check_person(self, t: Tournament, people: Collection[str], now: int) -> None:
        stage, until = self.find_moved_stage(t), t.checkin_opened_at + CHECKIN_MS
        others = [number for number in t.list_missing() if t.entrants[number].player not in people]
        if stage is not None and others and now < until:
            refuse_unless(not t.has_stake(stage, people), "conflict_of_interest", cause="wait", until=until)

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "checking")
        require_no_pause(t)
        return [RecordDraft("checkin_closed", {"entrants": t.list_checked_in()})]


@dataclass(frozen=True)
class Draw(EventOfficerCommand):
    """A draw, for all rounds of a league or design, or else for one. With a reason, it replaces one without tables."""

    verb: ClassVar[str] = "Draw"
    stage: int
    round: int
    has_reason: bool = False
    more: DrawInput = field(default=DrawInput(), metadata={"not_hashed": True})

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name the stage of a further draw for the same round: it can be repeated until it pleases."""
        is_drawn = self.stage <= len(t.stages) and self.round in t.stages[self.stage - 1].draws
        return self.stage if is_drawn else None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        self.check(t, context.now)
        drawn = draft_draw(t, context, self.stage, self.round)
        paired = pair_rounds(t, self.stage, self.round, bytes.fromhex(drawn.body["key"]), self.more)
        return [drawn, RecordDraft("paired", paired)]

    def check(self, t: Tournament, now: int) -> None:
        """Raise RuleError unless the round may be drawn; `now` in ms since 1970 UTC."""
        refuse_unless(1 <= self.stage <= len(t.terms.stages), "unknown_stage")
        refuse_unless(t.terms.stages[self.stage - 1].format not in QUEUED, "queue_draws")
        refuse_unless(self.round == 1 or t.terms.stages[self.stage - 1].format in ROUND_BY_ROUND, "unknown_round")
        require_phase(t, "drawing", "running")
        require_no_pause(t)
        if (self.stage, self.round) != t.next_draw:
            self._check_again(t)
        if self.round > 1:
            require_ranked(t, self.stage, self.round - 1)
        refuse_unless(not t.awaited_nonces or now > t.nonces_end, "nonces_missing", until=t.nonces_end)
        refuse_unless(len(t.secrets) <= t.terms.chain, "chain_used")

    def _check_again(self, t: Tournament) -> None:
        """Raise RuleError unless the last draw may be replaced."""
        play, is_stepwise = t.play, t.stage_terms.format in ROUND_BY_ROUND
        refuse_unless(self.stage <= len(t.stages), "not_ranked", round=len(play.rankings) + 1)
        is_drawn = self.stage < len(t.stages) or self.round <= len(play.rounds)
        if not is_drawn:
            refuse_unless(self.round <= play.planned, "unknown_round", rounds=play.planned)
            refuse_unless(play.find_open_round() is None, "rounds_open")
            refuse_unless(False, "not_ranked", round=len(play.rankings) + 1)
        is_last = self.stage == len(t.stages) and self.round == (len(play.rounds) if is_stepwise else 1)
        refuse_unless(self.has_reason, "already_drawn")
        refuse_unless(is_last and not play.has_tables(self.round if is_stepwise else 0), "tables_made")


def draft_draw(t: Tournament, context: TournamentContext, stage: int, round_: int) -> RecordDraft:
    """Return the draft of the next draw of the chain."""
    draw = len(t.secrets)
    secret = context.secret(draw)
    key = draw_key_of(t, secret, round_, draw)
    drawn = {"stage": stage, "round": round_, "draw": draw, "secret": secret.hex(), "key": key.hex()}
    return RecordDraft("drawn", drawn | ({"silent": t.hidden_nonces} if t.hidden_nonces else {}))


def require_ranked(t: Tournament, stage: int, round_: int = 0) -> None:
    """Raise RuleError unless the rounds up to this one, or all drawn ones, have ended and been ranked."""
    play = t.stages[stage - 1]
    last = round_ or len(play.rounds)
    refuse_unless(not any(not play.has_round_ended(n) for n in range(1, last + 1)), "rounds_open")
    refuse_unless(len(play.rankings) >= last, "not_ranked", round=len(play.rankings) + 1)


@dataclass(frozen=True)
class CloseTournament(EventOfficerCommand):
    """The tournament ends: finished if every round has been ranked, else cancelled.

    It may also be finished before its plan, with the last official standings: the record then names their round.
    """

    verb: ClassVar[str] = "Close"
    outcome: str = field(default="", metadata={"hashed_unless_default": True})
    """`finished` or `cancelled`: the only end that is meant. Empty: either, and never before its plan."""

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name the current stage if places are given up: the event ends after a draw, before its plan."""
        return len(t.stages) if t.key and not t.is_whole else None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "checking", "drawing", "running")
        if self.outcome == "finished" and not t.is_whole and not t.has_queue:
            return [RecordDraft("closed", find_early_end(t))]
        stage, last = len(t.stages), len(t.play.rankings)
        is_stale = t.is_whole and "replaces" in build_official(t, stage, last)
        refuse_unless(not is_stale, "not_ranked", round=last)
        outcome = "finished" if t.is_whole else "cancelled"
        refuse_unless(self.outcome in ("", outcome), "outcome_other", outcome=outcome)
        return [RecordDraft("closed" if t.is_whole else "cancelled", {})]


def find_early_end(t: Tournament) -> Doc:
    """Return stage and round of the last official standings, for an end before the plan.

    No result is lost: raise RuleError while a later round has a table in play, or a result.
    """
    stage = next((n for n in range(len(t.stages), 0, -1) if t.stages[n - 1].rankings), 0)
    refuse_unless(stage > 0, "outcome_other", outcome="cancelled")
    ranked, last = len(t.play.rankings), len(t.stages[stage - 1].rankings)
    later = [table for (round_, _), table in t.play.tables.items() if round_ > ranked and not table.annulled]
    refuse_unless(all(table.result for table in later), "tables_open")
    refuse_unless(not later, "not_ranked", round=ranked + 1)
    is_stale = stage == len(t.stages) and "replaces" in build_official(t, stage, last)
    refuse_unless(not is_stale, "not_ranked", round=last)
    return {"stage": stage, "round": last}
