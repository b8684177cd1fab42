"""Repeating events: the next one has the same terms, and is opened once the time of the one before has come.

Its id follows from the one before, so a repeated call goes on anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from domain.errors import FormError, InvalidTable, RuleError, StaleVersion, TournamentError, UnknownRuleset
from domain.notifications.followed_series import pass_on
from domain.service.recurrence import Recurrence
from domain.service.seat_tokens import SeatTokens
from domain.tournament_handler import TournamentConditions, TournamentHandler
from domain.tournament_tables import new_tournament_id
from domain.tournaments.aggregate.schedule_commands import Schedule, Succeed, Unschedule, is_successor_due
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.terms import terms_to_json


def plan_schedule(recurrence: Recurrence, number: int = 1, follows: str = "") -> Schedule:
    """Return the command for the event with this number along a rule; raise RuleError `schedule_invalid`."""
    times = tuple(islice(recurrence.list_times(number - 1), 2))
    if not times:
        raise RuleError("schedule_invalid")
    return Schedule(*recurrence, times, number, follows)


def open_next(
    tournaments: TournamentHandler, seat_tokens: SeatTokens, tournament: str, is_active: Callable[[str], bool]
) -> str:
    """Open the event after this one if it is due, and return its id, or an empty string.

    `is_active` returns whether a player's account may direct. If it may not, or the terms are no longer possible,
    the series ends.
    """
    t = tournaments.load(tournament)
    if t.schedule is None or not is_successor_due(t, tournaments.now()):
        return ""
    made = new_tournament_id(seat_tokens, "series", t.id)
    is_made = is_active(t.director) and _open_alike(tournaments, seat_tokens, t, made)
    with suppress(RuleError):  # another call has done the same
        if is_made:
            tournaments.handle(
                t.id, Succeed(made), TournamentConditions(extra_statements=lambda _: pass_on(t.id, made))
            )
        else:
            tournaments.handle(t.id, Unschedule(is_service=True))
    return made if is_made else ""


def _open_alike(tournaments: TournamentHandler, seat_tokens: SeatTokens, t: Tournament, made: str) -> bool:
    """Open an event with the terms of another, its title, note and rule; return False if they are not possible now."""
    schedule = t.schedule or {}
    recurrence = Recurrence(schedule["rule"], schedule["zone"], schedule["start"])
    try:
        number, now = schedule["number"] + 1, tournaments.now()
        number += sum(at <= now for at in recurrence.list_times(number - 1))  # those missed in an outage are left out
        following = plan_schedule(recurrence, number, t.id)
        with suppress(StaleVersion):  # it exists
            tournaments.open(made, t.director, terms_to_json(replace(t.terms, division=None, division_of=None)))
    except (FormError, InvalidTable, RuleError, TournamentError, UnknownRuleset):
        return False
    title, note = seat_tokens.texts.list_cards([t.id]).get(t.id, ("", ""))
    while not (opened := tournaments.load(made)).scheduled_at and not opened.is_over:  # somebody may have entered
        if not seat_tokens.texts.list_cards([made]):
            seat_tokens.texts.set_card(made, t.director, title, note)
        with suppress(StaleVersion):
            tournaments.handle(made, following, TournamentConditions(expected=opened.version))
    return True
