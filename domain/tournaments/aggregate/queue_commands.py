"""Commands of a ladder or arena: wait for a table, leave the queue, and make the tables now due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from domain.tournaments.aggregate.basic_commands import (
    EventOfficerCommand,
    TournamentCommand,
    TournamentContext,
    draft_draw,
    refuse_unless,
    require_entrant,
    require_phase,
)
from domain.tournaments.aggregate.result_commands import preview_drafts
from domain.tournaments.aggregate.stage import FIRST_QUEUE_PLAN, QUEUE_PLAN
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.records import By, RecordDraft
from domain.tournaments.table_queue import find_next_time, find_pod, list_met, seat_pod
from domain.tournaments.terms import DAY
from domain.types import Doc

QUEUE_ROUND = 1
"""A ladder or arena has one round; its pods are added table by table."""

MAX_TABLES = 2_000
"""Most tables of a ladder or arena."""

SINGLE_DAY = DAY * 1000
"""ms."""


@dataclass(frozen=True)
class JoinQueue(TournamentCommand):
    """An entrant waits for a table; it is made at once if enough wait."""

    verb: ClassVar[str] = "JoinQueue"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        queued = self.draft(t, context.now)
        return [queued, *draft_tables(preview_drafts(t, [queued]), context)]

    def draft(self, t: Tournament, now: int) -> RecordDraft:
        """Return the draft of the record of the entrant, without tables; `now` in ms since 1970 UTC."""
        require_queue(t)
        entrant = require_entrant(t, self.players)
        refuse_unless(not t.play.queue_closed, "queue_closed")
        refuse_unless(may_wait(t, entrant), "not_eligible")
        refuse_unless(entrant not in t.play.queue, "already_queued")
        refuse_unless(count_tables(t, entrant) < t.stage_terms.concurrent, "in_play", most=t.stage_terms.concurrent)
        refuse_unless(len(list_pods(t)) < MAX_TABLES, "tables_used", most=MAX_TABLES)
        refuse_unless(not is_draw_due(t, now) or len(t.secrets) <= t.terms.chain, "chain_used")
        return RecordDraft("queued", {"stage": len(t.stages), "entrant": entrant})


@dataclass(frozen=True)
class LeaveQueue(TournamentCommand):
    """An entrant no longer waits for a table."""

    verb: ClassVar[str] = "LeaveQueue"
    by: ClassVar[By] = "entrant"
    players: tuple[str, ...]

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_queue(t)
        entrant = require_entrant(t, self.players)
        refuse_unless(entrant in t.play.queue, "not_queued")
        return [RecordDraft("left", {"stage": len(t.stages), "entrant": entrant})]


@dataclass(frozen=True)
class ServeQueue(TournamentCommand):
    """The tables now due are made from the queue."""

    verb: ClassVar[str] = "ServeQueue"
    by: ClassVar[By] = "service"

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_queue(t)
        drafts = draft_tables(t, context)
        refuse_unless(bool(drafts), "not_queued")
        return drafts


@dataclass(frozen=True)
class QueueCommand(EventOfficerCommand):
    """Command of an officer on the queue: it chooses when the play ends, once there are tables."""

    def find_moved_stage(self, t: Tournament) -> int | None:
        return len(t.stages) if list_pods(t) else None


@dataclass(frozen=True)
class CloseQueue(QueueCommand):
    """Nobody waits for a table any more, until the queue is opened again. Tables that have been made are played."""

    verb: ClassVar[str] = "CloseQueue"

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_queue(t)
        refuse_unless(not t.play.queue_closed, "queue_closed")
        return [RecordDraft("queue_closed", {"stage": len(t.stages)})]


@dataclass(frozen=True)
class OpenQueue(QueueCommand):
    """A closed queue takes entrants again."""

    verb: ClassVar[str] = "OpenQueue"

    def decide(self, t: Tournament, context: TournamentContext) -> Sequence[RecordDraft]:
        require_queue(t)
        refuse_unless(t.play.queue_closed, "queue_open")
        return [RecordDraft("queue_opened", {"stage": len(t.stages)})]


def require_queue(t: Tournament) -> None:
    """Raise RuleError unless the current stage has a queue."""
    require_phase(t, "registering", "running")
    refuse_unless(t.has_queue, "no_queue")


def may_wait(t: Tournament, entrant: int) -> bool:
    """Return whether an entrant has a part in the queue's stage."""
    return t.entrants[entrant].is_active and entrant in t.play.members


def list_pods(t: Tournament) -> tuple[tuple[int, ...], ...]:
    """Return the pods made from the queue so far."""
    return t.play.rounds[0].pods if t.play.rounds else ()


def count_tables(t: Tournament, entrant: int) -> int:
    """Return the number of an entrant's pods without an end."""
    return sum(entrant in pod for pod in _list_open_pods(t))


def list_ready(t: Tournament) -> frozenset[int]:
    """Return the entrants who may be in the queue: it is open, and they play fewer tables than the stage allows."""
    if not t.has_queue or t.play.queue_closed:
        return frozenset()
    playing = Counter(entrant for pod in _list_open_pods(t) for entrant in pod)
    return frozenset(e for e in t.play.members if may_wait(t, e) and playing[e] < t.stage_terms.concurrent)


def find_queue_end(t: Tournament) -> int | None:
    """Return the end of the time for further tables, ms since 1970 UTC, or None while the chain has draws.

    The last draw of the chain serves the tables of its day.
    """
    last = t.play.draws.get(QUEUE_ROUND)
    if len(t.secrets) <= t.terms.chain:
        return None
    return (last.at // SINGLE_DAY + 1) * SINGLE_DAY if last else t.time


def _list_open_pods(t: Tournament) -> list[tuple[int, ...]]:
    tables = [t.play.tables.get((QUEUE_ROUND, number)) for number in range(1, len(list_pods(t)) + 1)]
    pods = zip(list_pods(t), tables, strict=True)
    return [pod for pod, table in pods if table is None or not (table.annulled or table.result)]


def is_draw_due(t: Tournament, now: int) -> bool:
    """Return whether a table made now needs a draw first: there is one on each day (UTC) with a table."""
    last = t.play.draws.get(QUEUE_ROUND)
    return last is None or last.at // SINGLE_DAY != now // SINGLE_DAY


def draft_tables(t: Tournament, context: TournamentContext) -> list[RecordDraft]:
    """Return the drafts of all tables due, each day's first after its draw; none once the chain is used."""
    drafts, done = list[RecordDraft](), t
    while not t.paused_at and choose_pod(done, context.now):
        step = list[RecordDraft]()
        if is_draw_due(done, context.now):
            if len(done.secrets) > done.terms.chain:
                break
            step = [draft_draw(done, context, len(done.stages), QUEUE_ROUND)._replace(by="service")]
            done = preview_drafts(done, step)
        body = build_queue_pairing(done, bytes.fromhex(done.play.key), context.now)
        step.append(RecordDraft("paired", body, by="service"))
        done = preview_drafts(done, step[-1:])
        drafts += step
    return drafts


def choose_pod(t: Tournament, now: int) -> tuple[int, ...] | None:
    """Return the entrants of the next table from the queue, or None."""
    pods, queue = list_pods(t), t.play.queue
    if len(pods) >= MAX_TABLES:
        return None
    return find_pod(queue, t.terms.seats, t.stage_terms.patience * 1000, list_met(pods, queue), now)


def build_queue_pairing(t: Tournament, key: bytes, now: int, plan: str = QUEUE_PLAN) -> Doc:
    """Return the body of the `paired` record of the next table, entrants by seat; without a table they are none.

    The time of its making is part of its key, so that nobody computes the own seat before joining.
    """
    pods, pod = list_pods(t), choose_pod(t, now) or ()
    number = len(pods) + 1
    name = f"{QUEUE_ROUND}.{number}" if plan == FIRST_QUEUE_PLAN else f"{QUEUE_ROUND}.{number} {now}"
    entrants = seat_pod(key, name, pod, pods) if pod else []
    return {"stage": len(t.stages), "round": QUEUE_ROUND, "pod": number, "plan": plan, "entrants": entrants}


def find_next_table(t: Tournament) -> int | None:
    """Return the time of the next work on a queue if nobody else comes, ms, or None: a table to be made or opened."""
    if not t.has_queue or t.is_over or t.paused_at:
        return None
    pods, queue = list_pods(t), t.play.queue
    if any((QUEUE_ROUND, pod) not in t.play.tables for pod in range(1, len(pods) + 1)):
        return t.time
    if len(pods) >= MAX_TABLES:
        return None
    found = find_next_time(queue, t.terms.seats, t.stage_terms.patience * 1000, list_met(pods, queue))
    if found is None:
        return None
    at = max(found, t.time)
    return at if not is_draw_due(t, at) or len(t.secrets) <= t.terms.chain else None
