"""Vacation at all tables of a person by one request."""

from __future__ import annotations

from collections.abc import Sequence

from api import authorization
from api.command_execution import execute_command
from api.documents.my_tables import MAX_GAMES
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem, problem_of_error
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.absence import AbsenceRefusalDoc, AbsenceSchema, AbsencesDoc, SeatAbsenceDoc
from api.services import services
from api.tournament_calls import own_players
from domain.command_handler import CommandResult, GameConditions
from domain.errors import NotSeated, RuleError
from domain.kernel.game.play_commands import Rest
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Seat

MOST_TABLES = 20
"""Tables served by one request."""

_APART = Message("This table hides names. Take its vacation there: one rest at all your tables would tell who you are.")

bp = Blueprint("vacations", __name__, url_prefix="/v1/me", description="Vacation at all tables at once.")


@bp.operation(
    "POST",
    "/vacations",
    "take_vacations",
    access=authorization.require_playing_account,
    errors=(403, 503),
    body=AbsenceSchema,
)
def take_vacations(body: Doc) -> JsonResponse[AbsencesDoc]:
    """Take vacation until a time at all your running tables, each within its own terms.

    Each of your seats takes as many whole days as last until then, or all days that it has left. The answer tells for
    each seat what was done, and why not. A repetition takes no further days. A request serves up to 20 tables: as long
    as `next` is not null, repeat it with that as `after`. Tables with hidden names refuse it: take vacation at each.
    """
    s, players = services(), own_players()
    roles = s.seat_tokens.list_roles(*players)
    found = s.reader.list_summaries(list(roles), "running", limit=MAX_GAMES, inside=True)
    games = sorted(doc["game"] for _, doc in found if doc["game"] > body["after"])
    served = games[:MOST_TABLES]
    items = [item for game in served for item in _rest_at_table(game, players, body["until"])]
    return json_response({"items": items, "next": served[-1] if len(games) > len(served) else None})


def _rest_at_table(game: str, players: Sequence[str], until: int) -> list[SeatAbsenceDoc]:
    """Take vacation for all seats of a person at a table, and return what was done."""
    seated = services().commands.game(game).players.items()
    own = [(seat, player.id) for seat, player in sorted(seated) if player.id in players]
    return [_rest_seat(game, seat, player, until) for seat, player in own]


def _rest_seat(game: str, seat: Seat, player: str, until: int) -> SeatAbsenceDoc:
    """Take the days until a time for a seat, or all that are left.

    None at a table with hidden names: one rest at all tables would tell who plays at each.
    """
    if services().commands.game(game).terms.get("names") == "hidden":
        return _describe_refusal(game, seat, Problem("names_hidden", _APART))
    try:
        return _describe(game, seat, _execute(game, player, Rest(seat, until=until)), "taken")
    except (RuleError, NotSeated) as error:
        left = error.detail["days"] if isinstance(error, RuleError) and error.code == "no_vacation_left" else 0
        if not left:
            return _describe_refusal(game, seat, error)
    try:
        return _describe(game, seat, _execute(game, player, Rest(seat, int(left))), "partly")
    except (RuleError, NotSeated) as error:
        return _describe_refusal(game, seat, error)


def _execute(game: str, player: str, command: Rest) -> CommandResult:
    return execute_command(game, command, GameConditions(seat_guard=(command.seat, player)), as_player=True)


def _describe(game: str, seat: Seat, stored: CommandResult, outcome: str) -> SeatAbsenceDoc:
    services().notify_appended(stored.position)
    return {
        "game": game,
        "seat": seat,
        "outcome": outcome,
        "days": stored.records[-1].body["days"],
        "back": _find_back(game, seat),
        "refusal": None,
    }


def _describe_refusal(game: str, seat: Seat, error: RuleError | NotSeated | Problem) -> SeatAbsenceDoc:
    """Return a refusal; a vacation that lasts until then already is none."""
    absence: SeatAbsenceDoc = {
        "game": game,
        "seat": seat,
        "outcome": "already",
        "days": 0,
        "back": _find_back(game, seat),
        "refusal": None,
    }
    if isinstance(error, RuleError) and error.code == "already_until":
        return absence
    found = error if isinstance(error, Problem) else problem_of_error(error)
    problem = found.to_document(lang=request_language())
    refusal: AbsenceRefusalDoc = {"code": problem["code"], "detail": problem.get("detail") or problem["title"]}
    return {**absence, "outcome": "refused", "refusal": refusal}


def _find_back(game: str, seat: Seat) -> int | None:
    """Return the end of a seat's vacation, ms since 1970 UTC, or None if it is on none."""
    found = services().commands.game(game)
    end = found.timing.banks[seat].vacation_end
    return end if end > found.playing_time(found.time) else None
