"""Repeating events: a job opens the next one, once, while the organiser's account is active."""

from __future__ import annotations

from domain.accounts.account_store import AccountStore
from domain.accounts.accounts import AccountRegistration
from domain.notifications.notification_store import NotificationStore
from domain.service.recurrence import Recurrence
from domain.service.seat_tokens import SeatTokens
from domain.tournament_series import open_next, plan_schedule
from domain.tournament_tables import new_tournament_id
from domain.tournaments.aggregate.basic_commands import Enter
from domain.tournaments.terms import terms_to_json
from tests.tournaments.aggregates import TERMS, tournament_id
from tests.workers.conftest import House

DAILY = Recurrence("FREQ=DAILY;COUNT=2", "Europe/Paris", "1970-01-02T10:00")


def scheduled(house: House, director: str, rule: str = DAILY.rule) -> str:
    crew, tournament = house.crew, tournament_id(5)
    tokens = SeatTokens(crew.ledger, crew.ledger.keys)
    tokens.migrate()
    NotificationStore(crew.ledger, crew.ledger.keys).migrate()
    crew.tournaments.open(tournament, director, TERMS)
    tokens.texts.set_card(tournament, director, "Friday night", "")
    crew.tournaments.handle(tournament, plan_schedule(DAILY._replace(rule=rule)))
    house.pumping.catch_up()
    return tournament


def run(house: House, tournament: str) -> None:
    (due,) = house.reader.list_due(house.time[0])
    assert (due.game, due.work) == (tournament, "series")
    assert house.reconciler.pass_once() >= 1
    assert house.worked()
    house.pumping.catch_up()
    assert house.reader.list_due(house.time[0]) == []


def test_the_next_event_is_opened_with_terms_title_and_rule(house: House) -> None:
    crew = house.crew
    accounts = AccountStore(crew.ledger, crew.ledger.keys)
    accounts.migrate()
    player = accounts.accounts.open("a1", AccountRegistration("Anne", "hash", []))[0].player
    tournament = scheduled(house, player)
    assert house.reader.list_due(house.time[0]) == []
    house.time[0] = 2 * 86_400_000
    run(house, tournament)
    t = crew.tournaments.load(tournament)
    following = crew.tournaments.load(t.successor)
    assert (following.terms, following.director) == (t.terms, player)
    assert (following.schedule or {}) | {"follows": ""} == {
        "rule": DAILY.rule,
        "zone": DAILY.zone,
        "start": DAILY.start,
        "number": 2,
        "at": (24 + 24 + 9) * 3_600_000,
        "follows": "",
    }
    texts = SeatTokens(crew.ledger, crew.ledger.keys).texts
    assert texts.list_cards([t.successor])[t.successor] == ("Friday night", "")
    assert open_next(crew.tournaments, SeatTokens(crew.ledger, crew.ledger.keys), tournament, lambda _: True) == ""
    house.time[0] = 9 * 86_400_000
    assert house.reader.list_due(house.time[0]) == []


def test_a_series_ends_with_its_organiser(house: House) -> None:
    AccountStore(house.crew.ledger, house.crew.ledger.keys).migrate()
    tournament = scheduled(house, "nobody")
    house.time[0] = 2 * 86_400_000
    run(house, tournament)
    t = house.crew.tournaments.load(tournament)
    assert (t.schedule, t.successor) == (None, "")


def test_opening_goes_on_after_cut_though_somebody_has_entered(house: House) -> None:
    crew, tokens = house.crew, SeatTokens(house.crew.ledger, house.crew.ledger.keys)
    tournament = scheduled(house, "organiser")
    house.time[0] = 2 * 86_400_000
    made = new_tournament_id(tokens, "series", tournament)
    crew.tournaments.open(made, "organiser", terms_to_json(crew.tournaments.load(tournament).terms))
    crew.tournaments.handle(made, Enter("visitor"))
    assert open_next(crew.tournaments, tokens, tournament, lambda _: True) == made
    assert (crew.tournaments.load(made).schedule or {})["number"] == 2
    assert tokens.texts.list_cards([made]) == {made: ("Friday night", "")}


def test_times_of_an_outage_are_left_out(house: House) -> None:
    crew, tokens = house.crew, SeatTokens(house.crew.ledger, house.crew.ledger.keys)
    tournament = scheduled(house, "organiser", rule="FREQ=DAILY;COUNT=20")
    house.time[0] = 12 * 86_400_000
    made = open_next(crew.tournaments, tokens, tournament, lambda _: True)
    following = crew.tournaments.load(made).schedule or {}
    assert (following["number"], following["at"]) == (12, (12 * 24 + 9) * 3_600_000)
    assert open_next(crew.tournaments, tokens, made, lambda _: True) == ""
    house.time[0] = 40 * 86_400_000
    assert open_next(crew.tournaments, tokens, made, lambda _: True) == ""
    assert crew.tournaments.load(made).schedule is None
