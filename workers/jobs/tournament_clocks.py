"""Timetables of tournaments: everything due."""

from __future__ import annotations

from domain.accounts.account_store import AccountStore
from domain.errors import GameDamaged, RuleError, UnknownTournament
from domain.tournament_handler import TournamentConditions
from domain.tournaments.aggregate.clock_commands import ClockAct, ServeClock, find_clock_act
from domain.tournaments.aggregate.tournament import Tournament
from projections.draw_inputs import read_draw_input
from projections.reader import Reader
from workers.context import WorkerContext, current_context
from workers.jobs.turns import DONE, EARLY, GONE

MOST_ACTS = 20
"""Most acts of a job; the rest is another job's."""

TABLES_AT_ONCE = 20


def serve_clock(tournament: str, _: str) -> str:
    """Do what is due by the timetable of a tournament, act by act."""
    context, done = current_context(), ""
    try:
        for _act in range(MOST_ACTS):
            t = context.tournaments.load(tournament)
            if not (outcome := _serve_one(context, t, find_clock_act(t))):
                break
            done = done or outcome
            if outcome != DONE:
                break
    except (GameDamaged, RuleError, UnknownTournament):
        done = done or GONE
    if done == DONE:
        version = context.ledger.version(tournament)
        context.notify_appended(context.ledger.position(tournament, version) or 0)
    return done or GONE


def _serve_one(context: WorkerContext, t: Tournament, due: ClockAct | None) -> str:
    """Do one act; return its outcome, or an empty text if none is due."""
    now = context.clock()
    if due is None or due.at > now:
        return ""
    if due.act == "close_checkin" and context.heartbeat.deadlines_valid_until() < due.at:
        return EARLY  # after an outage: people could not check in
    tables = context.tournament_tables
    if due.act == "make_tables":
        tables.make_tables(t.id, due.stage, due.round, TABLES_AT_ONCE)
        return DONE
    store = AccountStore(context.ledger, context.ledger.keys)
    more = ServeClock()
    if due.act == "draw":
        ratings = Reader(context.views).ratings
        relations = store.social_graph.list_mutual_relations
        found = read_draw_input(t, due.stage, due.round, relations, lambda: ratings.refresh(store.accounts.list_people))
        more = ServeClock(found)
    preliminaries = tables.plan_withdrawals if due.act in ("close_checkin", "draw") else (lambda _: [])
    context.tournaments.handle(t.id, more, TournamentConditions(preliminaries=preliminaries))
    return DONE
