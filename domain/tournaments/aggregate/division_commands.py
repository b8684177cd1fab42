"""Command for divisions: an event names others with the same terms, each with its own entrants, draws and standings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from domain.tournaments.aggregate.basic_commands import EventOfficerCommand, TournamentContext, refuse_unless
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import RecordDraft


@dataclass(frozen=True)
class AddDivision(EventOfficerCommand):
    """The event has one more division, another event."""

    verb: ClassVar[str] = "AddDivision"
    tournament: str
    """Id of the division."""
    name: str

    def find_moved_stage(self, t: Tournament) -> int | None:
        """Name no stage: each division has its own places."""
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(not t.is_over, "wrong_status", status=t.status)
        refuse_unless(t.terms.division_of is None, "division_nested")
        known = {t.terms.division, t.id, *t.divisions, *t.divisions.values()}
        refuse_unless(known.isdisjoint((self.tournament, self.name)), "division_known")
        return [RecordDraft("divided", {"tournament": self.tournament, "name": self.name})]
