"""Rulings of officers on a tournament. Each has a dry run, and is executed only if it still does the same."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from domain.compat import cached_property
from domain.errors import RuleError, TournamentError
from domain.kernel.schema.canonical_json import digest
from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentContext,
    refuse_unless,
    require_phase,
)
from domain.tournaments.aggregate.pairing import build_official
from domain.tournaments.aggregate.result_commands import draft_advance, preview_drafts
from domain.tournaments.aggregate.stage import REPLAY, PodTable, StagePlay
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import RecordDraft
from domain.tournaments.result_rulings import KEEP, LAST
from domain.tournaments.results import AVERAGE, VOID
from domain.tournaments.scoring import USES_POINTS, check_places
from domain.tournaments.standings import list_standings
from domain.tournaments.ties import TieBreaks
from domain.types import Doc

ANNULMENTS = (VOID, AVERAGE, REPLAY)
EXCLUSIONS = (KEEP, VOID, LAST)
MAX_PENALTY = 10_000_000
"""Most ticks of a penalty."""
DEPUTY, ARBITER = "deputy", "arbiter"
ROLES = (ARBITER, DEPUTY)
"""Roles of further officers: an arbiter rules, a deputy does what the organiser does, but names no officers."""


@dataclass(frozen=True)
class RulingCommand(EventOfficerCommand):
    """A ruling by an officer."""

    officer: str
    """Player id of the officer."""
    players: tuple[str, ...]
    """All player ids of the same person."""
    related: tuple[str, ...]
    """Player ids of people with a declared relation to the officer."""
    preview: str
    """Digest of the dry run."""

    @abstractmethod
    def draft(self, t: Tournament) -> RecordDraft:
        """Return the draft of the ruling; raise RuleError."""

    @abstractmethod
    def find_moved_stage(self, t: Tournament) -> int:
        """Return the stage of the ruling; raise RuleError without one."""

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        effect = RulingEffect(t, self)
        refuse_unless(effect.digest == self.preview, "preview_stale")
        self.check_person(t, (self.officer, *self.players, *self.related), context.now)
        return effect.drafts


class RulingEffect:
    """Effect of a ruling on a stage: the records to append, and the standings before and after."""

    def __init__(self, t: Tournament, command: RulingCommand) -> None:
        """Raise RuleError if the ruling cannot be made."""
        require_phase(t, "checking", "drawing", "running")
        refuse_unless(command.officer == t.director or command.officer in t.officers, "no_officer")
        ruling = command.draft(t)
        self.stage: int = ruling.body["stage"]
        after = preview_drafts(t, [ruling])
        self.drafts = [ruling, *_draft_ranking(after, self.stage)]
        self.drafts += draft_advance(t, self.drafts, self.stage)
        refuse_unless(self.advancing is None or t.status != "drawing", "wrong_status", status=t.status)
        self.before = TieBreaks(t.stage(self.stage))
        self.after = TieBreaks(after.stage(self.stage))

    @cached_property
    def moved(self) -> list[int]:
        """Entrants with another place, in the order of their new ones, then those who have none any more."""
        order = dict.fromkeys(e for ties in (self.after, self.before) for group in ties.ranking for e in group)
        return [entrant for entrant in order if self.before.places[entrant] != self.after.places[entrant]]

    @cached_property
    def advancing(self) -> list[int] | None:
        """Entrants of the next stage by the ruling, or None if those are no others."""
        return next((draft.body["entrants"] for draft in self.drafts if draft.kind == "advanced"), None)

    @cached_property
    def digest(self) -> str:
        """Digest of the ruling and all standings that it changes."""
        lists = [list_standings(ties) for ties in (self.before, self.after)]
        return digest([[draft.kind, draft.body] for draft in self.drafts] + [lists])


def _draft_ranking(t: Tournament, stage: int) -> list[RecordDraft]:
    """Return the draft that replaces the last official standings of a stage, if they have changed."""
    play = t.stages[stage - 1]
    last = len(play.rankings)
    if not last or not all(play.has_round_ended(round_) for round_ in range(1, last + 1)):
        return []
    body = build_official(t, stage, last)
    return [RecordDraft("ranked", body)] if "replaces" in body else []


def _require_stage(t: Tournament, stage: int) -> StagePlay:
    refuse_unless(1 <= stage <= len(t.stages), "unknown_stage")
    return t.stages[stage - 1]


def _require_member(t: Tournament, stage: int, entrant: int) -> None:
    refuse_unless(entrant in _require_stage(t, stage).members, "unknown_entrant")


@dataclass(frozen=True)
class TableRuling(RulingCommand):
    """A ruling on the result of a table."""

    stage: int
    round: int
    pod: int

    def find_moved_stage(self, t: Tournament) -> int:
        return self.stage

    def require_result(self, t: Tournament) -> PodTable:
        """Return the table; raise RuleError unless its game has been reported."""
        table = _require_stage(t, self.stage).tables.get((self.round, self.pod))
        if table is None or not (table.game or table.elsewhere):
            raise RuleError("no_table")
        refuse_unless(table.result is not None, "no_result")
        return table

    def build_body(self, t: Tournament) -> Doc:
        """Return the members of the record that name the table."""
        attempt = t.stages[self.stage - 1].attempt_at((self.round, self.pod))
        body: Doc = {"stage": self.stage, "round": self.round, "pod": self.pod}
        return {**body, "attempt": attempt, "officer": self.officer}


@dataclass(frozen=True)
class PlaceTable(TableRuling):
    """New places at a table, by seat. Game points stay."""

    verb: ClassVar[str] = "PlaceTable"
    places: tuple[int, ...] = ()

    def draft(self, t: Tournament) -> RecordDraft:
        table = self.require_result(t)
        has_points = bool((table.result or {}).get("points"))
        refuse_unless(has_points or t.terms.stages[self.stage - 1].scoring not in USES_POINTS, "no_result")
        try:
            is_whole = len(check_places(self.places)) == len(table.entrants)
        except TournamentError:
            is_whole = False
        refuse_unless(is_whole, "places_invalid")
        return RecordDraft("placed", {**self.build_body(t), "places": list(self.places)})


@dataclass(frozen=True)
class AnnulTable(TableRuling):
    """A table is out of the count: as if not played, with a credit as for a bye, or to be played again."""

    verb: ClassVar[str] = "AnnulTable"
    how: str = VOID

    def draft(self, t: Tournament) -> RecordDraft:
        self.require_result(t)
        refuse_unless(self.how in ANNULMENTS, "no_result")
        return RecordDraft("annulled", {**self.build_body(t), "how": self.how})


@dataclass(frozen=True)
class EntrantRuling(RulingCommand):
    """A ruling on an entrant."""

    stage: int
    entrant: int

    def find_moved_stage(self, t: Tournament) -> int:
        return self.stage


@dataclass(frozen=True)
class Penalise(EntrantRuling):
    """Ticks are subtracted from an entrant's total."""

    verb: ClassVar[str] = "Penalise"
    ticks: int = 0

    def draft(self, t: Tournament) -> RecordDraft:
        _require_member(t, self.stage, self.entrant)
        body: Doc = {"stage": self.stage, "entrant": self.entrant, "ticks": self.ticks}
        return RecordDraft("penalised", {**body, "officer": self.officer})


@dataclass(frozen=True)
class Exclude(EntrantRuling):
    """An entrant gets no further table; results stay, the tables do not count, or the entrant is last at each."""

    verb: ClassVar[str] = "Exclude"
    results: str = KEEP

    def draft(self, t: Tournament) -> RecordDraft:
        _require_member(t, self.stage, self.entrant)
        refuse_unless(not t.entrants[self.entrant].excluded, "not_eligible")
        body: Doc = {"stage": self.stage, "entrant": self.entrant, "results": self.results}
        return RecordDraft("excluded", {**body, "officer": self.officer})


@dataclass(frozen=True)
class Restore(RulingCommand):
    """A ruling is taken back."""

    verb: ClassVar[str] = "Restore"
    ruling: int
    """Version of its record."""

    def _require_ruling(self, t: Tournament) -> Doc:
        found = [each for each in t.rulings if each.version == self.ruling and not each.restored]
        refuse_unless(bool(found), "unknown_ruling")
        refuse_unless(found[0].body.get("how") != REPLAY, "ruling_final")
        return found[0].body

    def draft(self, t: Tournament) -> RecordDraft:
        stage = self._require_ruling(t)["stage"]
        return RecordDraft("restored", {"stage": stage, "ruling": self.ruling, "officer": self.officer})

    def find_moved_stage(self, t: Tournament) -> int:
        return int(self._require_ruling(t)["stage"])


def read_ruling(kind: str, body: Doc) -> RulingCommand:
    """Return the command of a record; raise KeyError for another form."""
    by, stage = (body["officer"], (), (), ""), body["stage"]
    match kind:
        case "placed":
            return PlaceTable(*by, stage, body["round"], body["pod"], tuple(body["places"]))
        case "annulled":
            return AnnulTable(*by, stage, body["round"], body["pod"], body["how"])
        case "penalised":
            return Penalise(*by, stage, body["entrant"], body["ticks"])
        case "excluded":
            return Exclude(*by, stage, body["entrant"], body["results"])
        case _:
            return Restore(*by, body["ruling"])


# --- officers


@dataclass(frozen=True)
class DeputeOfficer(EventOfficerCommand):
    """The organiser names a further officer, or another role for one."""

    verb: ClassVar[str] = "Depute"
    player: str
    office: str

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name the current stage if the person has a stake there. A person without one acts for others freely."""
        return len(t.stages) if t.key and t.has_stake(len(t.stages), [self.player]) else None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(not t.is_over, "wrong_status", status=t.status)
        is_new = self.player != t.director and t.officers.get(self.player) != self.office
        refuse_unless(is_new and self.office in ROLES, "already_officer")
        return [RecordDraft("deputed", {"player": self.player, "office": self.office})]


@dataclass(frozen=True)
class RecuseOfficer(EventOfficerCommand):
    """An officer is one no longer."""

    verb: ClassVar[str] = "Recuse"
    player: str

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name the current stage once it is drawn: else an entrant would remove officers until one pleases."""
        return len(t.stages) if t.key else None

    def check_person(self, t: Tournament, people: Collection[str], now: int) -> None:
        if self.player not in people:  # everybody may resign
            super().check_person(t, people, now)

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(not t.is_over, "wrong_status", status=t.status)
        refuse_unless(self.player in t.officers, "no_officer")
        return [RecordDraft("recused", {"player": self.player})]
