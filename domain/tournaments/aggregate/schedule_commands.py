"""Commands for repeating events: the time of an event by a rule, and the next event.

The rule is a calendar's. Its times come in with the commands: records hold them in ms, and a proof needs no
time zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentCommand,
    TournamentContext,
    refuse_unless,
)
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import By, RecordDraft


@dataclass(frozen=True)
class Schedule(EventOfficerCommand):
    """An event has a time by a rule; once it has come, the next event of the rule is opened."""

    verb: ClassVar[str] = "Schedule"
    rule: str
    zone: str
    start: str
    """First time of the rule, `YYYY-MM-DDTHH:MM` on the zone's clock."""
    times: tuple[int, ...] = field(metadata={"not_hashed": True})
    """Time of this event, and of the next if there is one, ms since 1970 UTC."""
    number: int = 1
    """Number of the event along the rule, from 1."""
    follows: str = ""
    """The event before."""

    def find_moved_stage(self, t: Tournament) -> int | None:
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        _require_open(t)
        refuse_unless(bool(self.follows) or self.times[0] > context.now, "schedule_invalid", cause="past")
        body = {"rule": self.rule, "zone": self.zone, "start": self.start, "number": self.number, "at": self.times[0]}
        body |= {"next_at": self.times[1]} if len(self.times) > 1 else {}
        return [RecordDraft("scheduled", body | ({"follows": self.follows} if self.follows else {}), by=self._author)]

    @property
    def _author(self) -> By:
        return "service" if self.follows else "director"


@dataclass(frozen=True)
class Unschedule(EventOfficerCommand):
    """No event follows."""

    verb: ClassVar[str] = "Unschedule"
    is_service: bool = False

    def find_moved_stage(self, t: Tournament) -> int | None:
        return None

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        _require_open(t)
        refuse_unless(t.schedule is not None, "not_scheduled")
        return [RecordDraft("unscheduled", {}, by="service" if self.is_service else None)]


@dataclass(frozen=True)
class Succeed(TournamentCommand):
    """The next event has been opened."""

    verb: ClassVar[str] = "Succeed"
    by: ClassVar[By] = "service"
    tournament: str

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        _require_open(t)
        refuse_unless(is_successor_due(t, context.now), "not_scheduled")
        return [RecordDraft("succeeded", {"tournament": self.tournament})]


def _require_open(t: Tournament) -> None:
    refuse_unless(not t.is_over, "wrong_status", status=t.status)
    refuse_unless(not t.successor, "next_open", tournament=t.successor)


def find_next_opening(t: Tournament) -> int | None:
    """Return the time of the next event's opening, ms, or None."""
    if t.is_over or t.successor or t.schedule is None or "next_at" not in t.schedule:
        return None
    return int(t.schedule["at"])


def is_successor_due(t: Tournament, now: int) -> bool:
    """Return whether the next event is to be opened."""
    at = find_next_opening(t)
    return at is not None and at <= now
