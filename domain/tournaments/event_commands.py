"""Commands of a tournament: each checks the tournament, and gives the drafts of the records to append.

A command raises RuleError with a code of TOURNAMENT_CODES and changes nothing. Times and secrets come in with the
context, so the package stays pure.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from domain.errors import RuleError, TournamentError
from domain.tournaments.draw import commit_nonce, draw_order, tournament_draw_key
from domain.tournaments.event import PodTable, TablePlace, Tournament
from domain.tournaments.formats import LeaguePlan, plan_design, plan_league
from domain.tournaments.records import By, RecordDraft
from domain.tournaments.results import AVERAGE
from domain.tournaments.standings import build_ranking
from domain.tournaments.ties import TieBreaks
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


@dataclass(frozen=True)
class TournamentCommand(ABC):
    """Command on a tournament. Its fields are its arguments, JSON values."""

    verb: ClassVar[str]
    """Name of the command in the stored hash; neither it nor the names of the fields may change."""
    by: ClassVar[By] = "director"

    @abstractmethod
    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        """Return the drafts of the records to append; raise RuleError."""


def refuse_unless(ok: bool, code: str, **figures: Json) -> None:
    """Raise RuleError unless `ok`."""
    if not ok:
        raise RuleError(code, "", figures)


def require_phase(t: Tournament, *phases: str) -> None:
    """Raise RuleError unless the tournament is in one of these phases."""
    refuse_unless(t.status in phases, "wrong_status", status=t.status)


def draft_opening(tournament: str, director: str, terms: Doc, first_secret: bytes) -> RecordDraft:
    """Return the draft of the first record; it publishes s_0 of the chain."""
    body = {"tournament": tournament, "director": director, "terms": terms, "secret": first_secret.hex()}
    return RecordDraft("opened", body)


# --- entrants


@dataclass(frozen=True)
class Enter(TournamentCommand):
    """A person enters."""

    verb: ClassVar[str] = "Enter"
    by: ClassVar[By] = "entrant"
    player: str
    players: tuple[str, ...] = ()
    """All ids of the same person."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "checking")
        refuse_unless(t.find_entrant((self.player, *self.players)) is None, "already_entered")
        return [RecordDraft("entered", {"entrant": len(t.entrants), "player": self.player})]


@dataclass(frozen=True)
class Withdraw(TournamentCommand):
    """An entrant withdraws: results stand, and tables made later have one seat less."""

    verb: ClassVar[str] = "Withdraw"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "checking", "drawing", "running")
        return [RecordDraft("withdrew", {"entrant": _require_entrant(t, self.players)})]


def _require_entrant(t: Tournament, players: Sequence[str]) -> int:
    """Return the number of a person with these player ids; raise RuleError unless entered."""
    entrant = t.find_entrant(players)
    if entrant is None:
        raise RuleError("not_entered")
    return entrant


@dataclass(frozen=True)
class CheckIn(TournamentCommand):
    """An entrant is present, and may send the hash of a nonce that the draw will contain."""

    verb: ClassVar[str] = "CheckIn"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    nonce_hash: str = ""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "checking")
        entrant = _require_entrant(t, self.players)
        refuse_unless(entrant not in t.commitments, "already_checked_in")
        refuse_unless(not self.nonce_hash or _HEX.fullmatch(self.nonce_hash) is not None, "nonce_wrong")
        committed = {"nonce_hash": self.nonce_hash} if self.nonce_hash else {}
        return [RecordDraft("checked", {"entrant": entrant, **committed})]


@dataclass(frozen=True)
class ShowNonce(TournamentCommand):
    """An entrant shows the nonce behind the hash, after the check-in."""

    verb: ClassVar[str] = "ShowNonce"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    nonce: str

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "drawing")
        entrant = _require_entrant(t, self.players)
        refuse_unless(entrant in t.participants, "not_checked_in")
        refuse_unless(bool(t.commitments.get(entrant)), "no_commitment")
        refuse_unless(entrant not in t.nonces, "nonce_shown")
        refuse_unless(context.now <= t.nonces_end, "nonces_closed")
        refuse_unless(commit_nonce(self.nonce) == t.commitments[entrant], "nonce_wrong")
        return [RecordDraft("revealed", {"entrant": entrant, "nonce": self.nonce})]


# --- the director


@dataclass(frozen=True)
class OpenCheckIn(TournamentCommand):
    """The check-in opens."""

    verb: ClassVar[str] = "OpenCheckIn"

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering")
        return [RecordDraft("checkin_opened", {})]


@dataclass(frozen=True)
class CloseCheckIn(TournamentCommand):
    """The check-in closes: the first in order of entry, up to the capacity, take part, and nonces are shown."""

    verb: ClassVar[str] = "CloseCheckIn"

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "checking")
        present = [entrant for entrant in sorted(t.commitments) if not t.entrants[entrant].withdrawn]
        return [RecordDraft("checkin_closed", {"entrants": present[: t.terms.capacity]})]


@dataclass(frozen=True)
class Draw(TournamentCommand):
    """The draw of a league or design, which pairs all rounds. With a reason, it replaces one without tables."""

    verb: ClassVar[str] = "Draw"
    stage: int
    round: int
    has_reason: bool = False

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        _require_stage(self.stage)
        refuse_unless(self.round == 1, "unknown_round")
        require_phase(t, "drawing", "running")
        refuse_unless(t.status == "drawing" or self.has_reason, "already_drawn")
        refuse_unless(not t.tables, "tables_made")
        refuse_unless(not t.hidden_nonces or context.now > t.nonces_end, "nonces_missing", until=t.nonces_end)
        draw = len(t.secrets)
        refuse_unless(draw <= t.terms.chain, "chain_used")
        secret = context.secret(draw)
        key = draw_key_of(t, secret, self.round, draw)
        drawn = {"stage": self.stage, "round": self.round, "draw": draw, "secret": secret.hex(), "key": key.hex()}
        drawn |= {"silent": t.hidden_nonces} if t.hidden_nonces else {}
        return [RecordDraft("drawn", drawn), RecordDraft("paired", pair_rounds(t, self.stage, key))]


def draw_key_of(t: Tournament, secret: bytes, round_: int, draw: int) -> bytes:
    """Return the key of a draw: of its secret, and of the nonces of all participants."""
    return tournament_draw_key(secret, t.id, round_, draw, {e: t.nonces.get(e, "") for e in t.participants})


def pair_rounds(t: Tournament, stage: int, key: bytes) -> Doc:
    """Return the body of a `paired` record: all rounds, seats in order; raise RuleError if there are none."""
    order = draw_order(key, [entrant for entrant in t.participants if not t.entrants[entrant].withdrawn])
    try:
        plan = _plan(t, key, order)
    except TournamentError as error:
        raise RuleError(error.code, "", {"entrants": len(order)}) from error
    rounds = [{"pods": each.pods, "byes": each.byes} for each in plan.rounds]
    return {"stage": stage, "plan": plan.name, "repeats": plan.count_repeats(), "rounds": rounds}


def _plan(t: Tournament, key: bytes, order: Sequence[int]) -> LeaguePlan:
    if t.stage_terms.format == "design":
        return plan_design(order, t.terms.preferred)
    return plan_league(key, order, t.terms.seats, t.stage_terms.rounds)


def _require_stage(stage: int) -> None:
    refuse_unless(stage == 1, "unknown_stage")


def _require_round(t: Tournament, stage: int, round_: int) -> None:
    _require_stage(stage)
    require_phase(t, "running")
    refuse_unless(1 <= round_ <= len(t.rounds), "unknown_round", rounds=len(t.rounds))


@dataclass(frozen=True)
class CloseTournament(TournamentCommand):
    """The tournament ends: finished if every round has been ranked, else cancelled."""

    verb: ClassVar[str] = "Close"

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "checking", "drawing", "running")
        is_whole = bool(t.rounds) and len(t.rankings) == len(t.rounds)
        return [RecordDraft("closed" if is_whole else "cancelled", {})]


# --- tables and results


def check_round_may_begin(t: Tournament, stage: int, round_: int) -> None:
    """Raise RuleError while as many earlier rounds are in play as the stage allows at once."""
    _require_round(t, stage, round_)
    open_rounds = [earlier for earlier in range(1, round_) if not t.has_ended(earlier)]
    refuse_unless(len(open_rounds) < t.stage_terms.concurrent, "rounds_open", rounds=open_rounds)


def is_legal_pod(t: Tournament, place: TablePlace) -> bool:
    """Return whether those left of a pod are enough for a table."""
    return len(t.list_present(*place)) >= t.terms.least


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
        _require_no_table(t, (self.round, self.pod))
        refuse_unless(t.fits_pod(self.round, self.pod, self.entrants), "not_entered")
        body = {"stage": self.stage, "round": self.round, "pod": self.pod, "game": self.game}
        return [RecordDraft("tabled", {**body, "entrants": list(self.entrants)})]


def _require_no_table(t: Tournament, place: TablePlace) -> None:
    refuse_unless(1 <= place[1] <= len(t.rounds[place[0] - 1].pods), "unknown_pod")
    refuse_unless(place not in t.tables, "already_tabled")


@dataclass(frozen=True)
class AnnulPod(TournamentCommand):
    """A pod left with too few entrants for a table has none: they get the credit of a bye."""

    verb: ClassVar[str] = "AnnulPod"
    by: ClassVar[By] = "service"
    stage: int
    round: int
    pod: int

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        check_round_may_begin(t, self.stage, self.round)
        place = self.round, self.pod
        _require_no_table(t, place)
        refuse_unless(not is_legal_pod(t, place), "no_table")
        body = {"stage": self.stage, "round": self.round, "pod": self.pod}
        return [RecordDraft("annulled", {**body, "how": AVERAGE})]


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

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        _require_round(t, self.stage, self.round)
        table = t.tables.get((self.round, self.pod)) or PodTable(())
        refuse_unless(table.game == self.game and not table.annulled, "no_table")
        body = {"stage": self.stage, "round": self.round, "pod": self.pod, "game": self.game}
        body |= {"version": self.game_version, "head": self.head}
        body |= {"places": list(self.places), "points": list(self.points)}
        refuse_unless(table.result != body, "already_reported")
        return [RecordDraft("reported", body)]


@dataclass(frozen=True)
class Rank(TournamentCommand):
    """The standings after a round become official."""

    verb: ClassVar[str] = "Rank"
    stage: int
    round: int

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        _require_round(t, self.stage, self.round)
        refuse_unless(self.round > len(t.rankings), "already_ranked")
        refuse_unless(self.round == len(t.rankings) + 1, "not_ranked", round=len(t.rankings) + 1)
        refuse_unless(t.has_ended(self.round), "tables_open")
        return [RecordDraft("ranked", build_ranking(TieBreaks(t.stage(self.round)), self.stage, self.round))]
