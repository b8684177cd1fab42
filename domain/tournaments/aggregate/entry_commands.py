"""Command of an officer to enter people without accounts, before the first draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentContext,
    refuse_unless,
    require_phase,
)
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import RecordDraft


@dataclass(frozen=True)
class EnterOthers(EventOfficerCommand):
    """An officer enters people without accounts, all or none: each player id is a new one, claimed by its person."""

    verb: ClassVar[str] = "EnterOthers"
    officer: str
    """Player id of the officer."""
    entrants: tuple[str, ...]
    """Their player ids."""

    def find_moved_stage(self, t: Tournament) -> int | None:
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "checking")
        refuse_unless(not t.key and len(t.stages) == 1 and not t.has_queue, "entries_closed")
        known = {player for each in t.entrants for player in each.deciders}
        is_new = len({*self.entrants}) == len(self.entrants) and known.isdisjoint(self.entrants)
        refuse_unless(is_new and bool(self.entrants), "already_entered")
        first = len(t.entrants)
        return [
            RecordDraft("entered", {"entrant": number, "player": player, "officer": self.officer})
            for number, player in enumerate(self.entrants, first)
        ]
