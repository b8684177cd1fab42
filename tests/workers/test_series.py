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
from tests.workers.conftest import Harness

DAILY = Recurrence("FREQ=DAILY;COUNT=2", "Europe/Paris", "1970-01-02T10:00")


def scheduled(harness: Harness, director: str, rule: str = DAILY.rule) -> str:
    context, tournament = harness.context, tournament_id(5)
    tokens = SeatTokens(context.ledger, context.ledger.keys)
    tokens.migrate()
    NotificationStore(context.ledger, context.ledger.keys).migrate()
    context.tournaments.open(tournament, director, TERMS)
    tokens.texts.set_card(tournament, director, "Friday night", "")
    context.tournaments.handle(tournament, plan_schedule(DAILY._replace(rule=rule)))
    harness.pumping.catch_up()
    return tournament


def run(harness: Harness, tournament: str) -> None:
    (due,) = harness.reader.list_due(harness.time[0])
    assert (due.game, due.work) == (tournament, "series")
    assert harness.reconciler.pass_once() >= 1
    assert harness.worked()
    harness.pumping.catch_up()
    assert harness.reader.list_due(harness.time[0]) == []


def test_the_next_event_is_opened_with_terms_title_and_rule(harness: Harness) -> None:
    context = harness.context
    accounts = AccountStore(context.ledger, context.ledger.keys)
    accounts.migrate()
    player = accounts.accounts.open("a1", AccountRegistration("Anne", "hash", []))[0].player
    tournament = scheduled(harness, player)
    assert harness.reader.list_due(harness.time[0]) == []
    harness.time[0] = 2 * 86_400_000
    run(harness, tournament)
    t = context.tournaments.load(tournament)
    following = context.tournaments.load(t.successor)
    assert (following.terms, following.director) == (t.terms, player)
    assert (following.schedule or {}) | {"follows": ""} == {
        "rule": DAILY.rule,
        "zone": DAILY.zone,
        "start": DAILY.start,
        "number": 2,
        "at": (24 + 24 + 9) * 3_600_000,
        "follows": "",
    }
    texts = SeatTokens(context.ledger, context.ledger.keys).texts
    assert texts.list_cards([t.successor])[t.successor] == ("Friday night", "")
    assert (
        open_next(
            context.tournaments,
            SeatTokens(context.ledger, context.ledger.keys),
            tournament,
            lambda _: True,
        )
        == ""
    )
    harness.time[0] = 9 * 86_400_000
    assert harness.reader.list_due(harness.time[0]) == []


def test_a_series_ends_with_its_organiser(harness: Harness) -> None:
    AccountStore(harness.context.ledger, harness.context.ledger.keys).migrate()
    tournament = scheduled(harness, "nobody")
    harness.time[0] = 2 * 86_400_000
    run(harness, tournament)
    t = harness.context.tournaments.load(tournament)
    assert (t.schedule, t.successor) == (None, "")


def test_opening_goes_on_after_cut_though_somebody_has_entered(harness: Harness) -> None:
    context, tokens = (
        harness.context,
        SeatTokens(harness.context.ledger, harness.context.ledger.keys),
    )
    tournament = scheduled(harness, "organiser")
    harness.time[0] = 2 * 86_400_000
    made = new_tournament_id(tokens, "series", tournament)
    context.tournaments.open(made, "organiser", terms_to_json(context.tournaments.load(tournament).terms))
    context.tournaments.handle(made, Enter("visitor"))
    assert open_next(context.tournaments, tokens, tournament, lambda _: True) == made
    assert (context.tournaments.load(made).schedule or {})["number"] == 2
    assert tokens.texts.list_cards([made]) == {made: ("Friday night", "")}


def test_times_of_an_outage_are_left_out(harness: Harness) -> None:
    context, tokens = (
        harness.context,
        SeatTokens(harness.context.ledger, harness.context.ledger.keys),
    )
    tournament = scheduled(harness, "organiser", rule="FREQ=DAILY;COUNT=20")
    harness.time[0] = 12 * 86_400_000
    made = open_next(context.tournaments, tokens, tournament, lambda _: True)
    following = context.tournaments.load(made).schedule or {}
    assert (following["number"], following["at"]) == (12, (12 * 24 + 9) * 3_600_000)
    assert open_next(context.tournaments, tokens, made, lambda _: True) == ""
    harness.time[0] = 40 * 86_400_000
    assert open_next(context.tournaments, tokens, made, lambda _: True) == ""
    assert context.tournaments.load(made).schedule is None
