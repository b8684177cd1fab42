"""Commands for changes of a running event: a pause, and other terms between rounds.

A stage that has begun keeps its scoring, total, ties, byes, advancement, seeds and number of rounds: people have played
by them. No officer with a stake gives these commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import from_json
from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentContext,
    refuse_unless,
    require_phase,
)
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import RecordDraft
from domain.tournaments.terms import DAY, QUEUED, ROUND_BY_ROUND, Terms, check_terms, terms_to_json
from domain.types import Doc, Json

AMENDABLE = frozenset({"reveal", "elsewhere", "capacity", "least", "most", "preferred"})
"""Changeable terms of the event, beside those of stages and tables."""

AT_ANY_TIME = frozenset({"reveal", "elsewhere"})
"""Those of them to change even after the draw of all rounds."""

TABLE_TIMES = frozenset({"pace", "time_limit", "hold"})
"""Changeable terms of the tables: those of time."""

STAGE_TIMES = frozenset({"bidding"})
"""Changeable terms of a begun stage."""


LONGEST_PAUSE = 30 * DAY * 1000
"""A pause ends by itself after so long, ms: nobody waits for officers who are gone."""


@dataclass(frozen=True)
class ChangeCommand(EventOfficerCommand):
    """Command for an officer without a stake in the current stage."""

    officer: str
    """Player id of the officer."""

    def find_moved_stage(self, t: Tournament) -> int | None:
        return len(t.stages)


@dataclass(frozen=True)
class PauseEvent(ChangeCommand):
    """The event stands still: nothing is drawn, and no table is made. Results still come."""

    verb: ClassVar[str] = "PauseEvent"

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(not t.is_over, "wrong_status", status=t.status)
        refuse_unless(not t.paused_at, "event_paused", since=t.paused_at)
        return [RecordDraft("paused", {"officer": self.officer})]


@dataclass(frozen=True)
class ResumeEvent(ChangeCommand):
    """The event goes on: times running at the beginning of the pause end as much later."""

    verb: ClassVar[str] = "ResumeEvent"

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        refuse_unless(bool(t.paused_at), "event_runs")
        return [RecordDraft("resumed", {"officer": self.officer})]


@dataclass(frozen=True)
class AmendTerms(ChangeCommand):
    """The event gets other terms, in the form of `Terms`, between rounds.

    Impossible terms raise FormError or TournamentError, as at the opening.
    """

    verb: ClassVar[str] = "AmendTerms"
    terms: Doc

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_phase(t, "registering", "checking", "running")
        new = check_terms(from_json(Terms, self.terms))
        before, after = terms_to_json(t.terms), terms_to_json(new)
        changes = dict(list_changes(before, after))
        refuse_unless(bool(changes), "terms_same")
        for pointer in changes:
            refuse_unless((cause := find_bar(t, pointer, new)) is None, "terms_fixed", at=pointer, cause=cause)
        refuse_unless(not any(play.list_playing() for play in t.stages), "rounds_open")
        is_stepwise = t.stage_terms.format in ROUND_BY_ROUND
        refuse_unless(not is_stepwise or t.play.find_open_round() is None, "rounds_open")
        return [RecordDraft("amended", {"officer": self.officer, "terms": after})]


def list_changes(before: Doc, after: Doc) -> Iterator[tuple[str, tuple[Json, Json]]]:
    """Yield the pointer of each changed term, with the value before and after; of stages and tables, their members."""
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if name == "stages":
            yield from _list_stage_changes(before[name], after[name])
        elif isinstance(one, dict) and isinstance(other, dict) and name == "table":
            for member in sorted(one.keys() | other.keys()):
                yield from _compare(f"/table/{member}", one.get(member), other.get(member))
        else:
            yield from _compare(f"/{name}", one, other)


def _list_stage_changes(before: Sequence[Doc], after: Sequence[Doc]) -> Iterator[tuple[str, tuple[Json, Json]]]:
    for number in range(max(len(before), len(after))):
        one, other = (stages[number] if number < len(stages) else None for stages in (before, after))
        if one is None or other is None:
            yield f"/stages/{number}", (one, other)
            continue
        for member in sorted(one.keys() | other.keys()):
            yield from _compare(f"/stages/{number}/{member}", one.get(member), other.get(member))


def _compare(pointer: str, one: Json, other: Json) -> Iterator[tuple[str, tuple[Json, Json]]]:
    if canonical(one) != canonical(other):
        yield pointer, (one, other)


def find_bar(t: Tournament, pointer: str, new: Terms) -> str | None:
    """Return why a term must not change, or None: `begun` (its stage has), `entrants` (more have entered), `never`."""
    _, name, *rest = pointer.split("/")
    if name == "stages":
        is_bound = has_begun(t, int(rest[0])) and (len(rest) == 1 or rest[1] not in STAGE_TIMES)
        return "begun" if is_bound else None
    if name == "table":
        return None if rest[0] in TABLE_TIMES else "never"
    return _find_event_bar(t, name, new)


def _find_event_bar(t: Tournament, name: str, new: Terms) -> str | None:
    if name == "bots":
        return "begun" if has_begun(t, 0) else None
    if name not in AMENDABLE:
        return "never"
    if name == "capacity":
        return "entrants" if new.capacity < sum(each.is_active for each in t.entrants) else None
    drawn_whole = has_begun(t, len(t.stages) - 1) and t.stage_terms.format not in ROUND_BY_ROUND
    return "begun" if name not in AT_ANY_TIME and drawn_whole and t.stage_terms.format not in QUEUED else None


def has_begun(t: Tournament, index: int) -> bool:
    """Return whether a stage, from 0, has begun: its members are known, or the first has a draw or a queue."""
    if index != 0 or len(t.stages) > 1:
        return index < len(t.stages)
    return bool(t.play.draws or t.play.queue)
