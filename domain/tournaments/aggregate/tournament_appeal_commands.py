"""Appeals against rulings within a tournament: one of each entrant, answered by another officer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from domain.errors import RuleError
from domain.kernel.game.command import HASHED_UNLESS_DEFAULT
from domain.kernel.records.record import Record
from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentCommand,
    TournamentContext,
    refuse_unless,
    require_no_stake,
)
from domain.tournaments.aggregate.stage import OfficerRuling, RulingAppeal
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import By, RecordDraft

OUTCOMES = ("upheld", "overturned")


def _require_ruling(t: Tournament, version: int) -> OfficerRuling:
    """Return a ruling in force; raise RuleError."""
    refuse_unless(not t.is_over, "wrong_status", status=t.status)
    found = next((each for each in t.rulings if each.version == version and not each.restored), None)
    if found is None:
        raise RuleError("unknown_ruling")
    return found


def list_ruled(t: Tournament, ruling: OfficerRuling) -> frozenset[int]:
    """Return the entrants in a ruling, or those at its table."""
    body = ruling.body
    if "entrant" in body:
        return frozenset({body["entrant"]})
    table = t.stages[body["stage"] - 1].tables.get((body["round"], body["pod"]))
    return frozenset(
        table.entrants if table else t.stages[body["stage"] - 1].rounds[body["round"] - 1].pods[body["pod"] - 1]
    )


def require_appellant(t: Tournament, players: Sequence[str], version: int) -> int:
    """Return the entrant with one of these player ids; raise RuleError unless it may contest the ruling."""
    ruling, entrant = _require_ruling(t, version), t.find_entrant(players)
    if entrant is None:
        raise RuleError("not_entered")
    refuse_unless(entrant in t.stages[ruling.body["stage"] - 1].members, "not_eligible")
    refuse_unless(ruling.find_appeal(entrant) is None, "appeal_made")
    return entrant


def check_answer(t: Tournament, officer: Sequence[str], related: Sequence[str], version: int) -> None:
    """Raise RuleError unless a person may answer the appeal against a ruling.

    `officer`: the person's player ids, that of the office first; `related`: ids of people with a declared relation.
    """
    ruling, _ = require_open_appeal(t, version)
    refuse_unless(officer[0] == t.director or officer[0] in t.officers, "no_officer")
    refuse_unless(ruling.body["officer"] not in officer, "conflict_of_interest")
    require_no_stake(t, ruling.body["stage"], (*officer, *related))


@dataclass(frozen=True)
class ContestRuling(TournamentCommand):
    """An entrant of the stage contests a ruling, once, whoever else has."""

    verb: ClassVar[str] = "ContestRuling"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]
    ruling: int
    """Version of its record."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        entrant = require_appellant(t, self.players, self.ruling)
        return [RecordDraft("appealed", {"ruling": self.ruling, "entrant": entrant})]


@dataclass(frozen=True)
class AnswerAppeal(EventOfficerCommand):
    """An officer, other than the author and without a stake in the stage, upholds or overturns a contested ruling.

    Overturning changes nothing by itself: the ruling is then taken back by `restored`.
    """

    verb: ClassVar[str] = "AnswerAppeal"
    officer: str
    """Player id of the officer."""
    players: tuple[str, ...]
    """All player ids of the same person."""
    related: tuple[str, ...]
    """Player ids of people with a declared relation to the officer."""
    ruling: int
    outcome: str
    entrant: int | None = field(default=None, metadata=HASHED_UNLESS_DEFAULT)
    """Author of the appeal, or None for the one to be answered next."""

    def find_moved_stage(self, t: Tournament) -> int:
        return int(require_open_appeal(t, self.ruling, self.entrant)[0].body["stage"])

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        ruling, appeal = require_open_appeal(t, self.ruling, self.entrant)
        check_answer(t, (self.officer, *self.players), self.related, self.ruling)
        body = {"ruling": self.ruling, "outcome": self.outcome, "officer": self.officer}
        several = {"entrant": appeal.entrant} if len(ruling.appeals) > 1 else {}
        return [RecordDraft("answered", {**body, **several})]


def require_open_appeal(t: Tournament, version: int, entrant: int | None = None) -> tuple[OfficerRuling, RulingAppeal]:
    """Return a contested ruling and an appeal; raise RuleError unless an answer is due."""
    ruling = _require_ruling(t, version)
    appeal = ruling.find_appeal(entrant)
    if appeal is None:
        raise RuleError("no_appeal")
    refuse_unless(not appeal.outcome, "appeal_answered")
    return ruling, appeal


def is_sound_answer(t: Tournament, record: Record) -> bool:
    """Return whether somebody could answer so; raise RuleError if no answer is due."""
    body = record.body
    ruling, _ = require_open_appeal(t, body["ruling"], body.get("entrant"))
    is_named = "entrant" in body or len(ruling.appeals) == 1
    is_officer = body["officer"] == t.director or body["officer"] in t.officers
    return is_named and is_officer and body["officer"] != ruling.body["officer"] and body["outcome"] in OUTCOMES
