"""An event by its timetable: the due work opens and closes the check-in, draws, and seats people at the start."""

from __future__ import annotations

from domain.accounts.account_store import AccountStore
from domain.accounts.accounts import AccountRegistration
from domain.service.seat_tokens import SeatTokens
from domain.tournaments.aggregate.basic_commands import CheckIn, Enter
from domain.tournaments.aggregate.clock_commands import SetTimetable, find_clock_act
from domain.tournaments.aggregate.tournament_proof import verify_tournament
from tests.tournaments.aggregates import TERMS, tournament_id
from tests.workers.conftest import Harness
from workers.jobs import tournament_clocks
from workers.jobs.turns import EARLY, GONE

MINUTE = 60_000


def timed_event(harness: Harness) -> tuple[str, list[str], int]:
    """An event of three with a first round in two hours; its id, their player ids, and the start."""
    context, tournament = harness.context, tournament_id(6)
    store = AccountStore(context.ledger, context.ledger.keys)
    store.migrate()
    SeatTokens(context.ledger, context.ledger.keys).migrate()
    people = [store.accounts.open(f"a{n}", AccountRegistration(f"Anne {n}", "hash", []))[0].player for n in range(3)]
    table = {**TERMS["table"], "time_limit": 3600, "pace": {"seconds": {"turn": 7200}}}
    context.tournaments.open(
        tournament, "organiser", {**TERMS, "table": table, "stages": [{"format": "swiss", "rounds": 2}]}
    )
    for player in people:
        context.tournaments.handle(tournament, Enter(player))
    start = harness.time[0] + 120 * MINUTE
    context.tournaments.handle(tournament, SetTimetable("organiser", 1, (start,), extension=600))
    harness.pumping.catch_up()
    return tournament, people, start


def work(harness: Harness) -> None:
    harness.passed()
    harness.worked()
    harness.pumping.catch_up()


def test_a_round_begins_and_ends_by_itself(harness: Harness) -> None:
    tournament, people, start = timed_event(harness)
    context = harness.context
    work(harness)
    assert context.tournaments.load(tournament).status == "registering"
    harness.later(91 * MINUTE)
    work(harness)
    assert context.tournaments.load(tournament).status == "checking"
    for player in people:
        context.tournaments.handle(tournament, CheckIn((player,)))
    harness.later(25 * MINUTE)
    work(harness)
    t = context.tournaments.load(tournament)
    assert (t.status, len(t.play.rounds), t.play.tables) == ("running", 1, {})
    harness.later(start - harness.time[0])
    work(harness)
    (table,) = context.tournaments.load(tournament).play.tables.values()
    game = context.commands.game(table.game)
    assert (game.status, game.terms["time_limit"]) == ("running", 3600 + 600)
    harness.later(51 * MINUTE)
    work(harness)
    assert (1, False) in context.tournaments.load(tournament).play.warnings
    harness.later(20 * MINUTE)
    for _ in range(3):
        work(harness)
        harness.later(MINUTE)
    t = context.tournaments.load(tournament)
    assert len(t.play.rankings) == 1
    assert find_clock_act(t) is None
    assert verify_tournament(context.ledger.read(tournament)) == t
    assert tournament_clocks.serve_clock(tournament, "") == GONE
    assert tournament_clocks.serve_clock(tournament_id(9), "") == GONE


def test_a_check_in_does_not_close_while_nobody_is_answered(harness: Harness) -> None:
    tournament, _, start = timed_event(harness)
    harness.later(91 * MINUTE)
    work(harness)
    harness.down(start - harness.time[0])
    assert tournament_clocks.serve_clock(tournament, "") == EARLY
    harness.later(MINUTE)
    for began, _ in harness.context.heartbeat.list_unresolved():
        harness.context.heartbeat.mark_resolved(began)
    work(harness)
    assert harness.context.tournaments.load(tournament).status != "checking"
