"""An event by its timetable: the due work opens and closes the check-in, draws, and seats people at the start."""

from __future__ import annotations

from domain.accounts.account_store import AccountStore
from domain.accounts.accounts import AccountRegistration
from domain.service.seat_tokens import SeatTokens
from domain.tournaments.aggregate.basic_commands import CheckIn, Enter
from domain.tournaments.aggregate.clock_commands import SetTimetable, find_clock_act
from domain.tournaments.aggregate.tournament_proof import verify_tournament
from tests.tournaments.aggregates import TERMS, tournament_id
from tests.workers.conftest import House
from workers.jobs import tournament_clocks
from workers.jobs.turns import EARLY, GONE

MINUTE = 60_000


def timed_event(house: House) -> tuple[str, list[str], int]:
    """An event of three with a first round in two hours; its id, their player ids, and the start."""
    crew, tournament = house.crew, tournament_id(6)
    store = AccountStore(crew.ledger, crew.ledger.keys)
    store.migrate()
    SeatTokens(crew.ledger, crew.ledger.keys).migrate()
    people = [store.accounts.open(f"a{n}", AccountRegistration(f"Anne {n}", "hash", []))[0].player for n in range(3)]
    table = {**TERMS["table"], "time_limit": 3600, "pace": {"seconds": {"turn": 7200}}}
    crew.tournaments.open(
        tournament, "organiser", {**TERMS, "table": table, "stages": [{"format": "swiss", "rounds": 2}]}
    )
    for player in people:
        crew.tournaments.handle(tournament, Enter(player))
    start = house.time[0] + 120 * MINUTE
    crew.tournaments.handle(tournament, SetTimetable("organiser", 1, (start,), extension=600))
    house.pumping.catch_up()
    return tournament, people, start


def work(house: House) -> None:
    house.passed()
    house.worked()
    house.pumping.catch_up()


def test_a_round_begins_and_ends_by_itself(house: House) -> None:
    tournament, people, start = timed_event(house)
    crew = house.crew
    work(house)
    assert crew.tournaments.load(tournament).status == "registering"
    house.later(91 * MINUTE)
    work(house)
    assert crew.tournaments.load(tournament).status == "checking"
    for player in people:
        crew.tournaments.handle(tournament, CheckIn((player,)))
    house.later(25 * MINUTE)
    work(house)
    t = crew.tournaments.load(tournament)
    assert (t.status, len(t.play.rounds), t.play.tables) == ("running", 1, {})
    house.later(start - house.time[0])
    work(house)
    (table,) = crew.tournaments.load(tournament).play.tables.values()
    game = crew.commands.game(table.game)
    assert (game.status, game.terms["time_limit"]) == ("running", 3600 + 600)
    house.later(51 * MINUTE)
    work(house)
    assert (1, False) in crew.tournaments.load(tournament).play.warnings
    house.later(20 * MINUTE)
    for _ in range(3):
        work(house)
        house.later(MINUTE)
    t = crew.tournaments.load(tournament)
    assert len(t.play.rankings) == 1
    assert find_clock_act(t) is None
    assert verify_tournament(crew.ledger.read(tournament)) == t
    assert tournament_clocks.serve_clock(tournament, "") == GONE
    assert tournament_clocks.serve_clock(tournament_id(9), "") == GONE


def test_a_check_in_does_not_close_while_nobody_is_answered(house: House) -> None:
    tournament, _, start = timed_event(house)
    house.later(91 * MINUTE)
    work(house)
    house.down(start - house.time[0])
    assert tournament_clocks.serve_clock(tournament, "") == EARLY
    house.later(MINUTE)
    for began, _ in house.crew.heartbeat.list_unresolved():
        house.crew.heartbeat.mark_resolved(began)
    work(house)
    assert house.crew.tournaments.load(tournament).status != "checking"
