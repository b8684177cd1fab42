"""Routes of the series of tournaments that people follow: they are told of the next event."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http.json_responses import JsonResponse
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.tournament_responses import FollowedSeriesDoc
from api.services import services
from api.tournament_calls import load_tournament
from domain.errors import RuleError
from domain.tournaments.aggregate.schedule_commands import find_next_opening
from domain.tournaments.aggregate.tournament import Tournament

bp = Blueprint("followed_series", __name__, url_prefix="/v1", description="Series of tournaments that people follow.")


@bp.operation("GET", "/me/series", "followed_series", access=authorization.require_account, errors=(403,))
def list_followed_series() -> JsonResponse[FollowedSeriesDoc]:
    """Return the series that you follow, each by its newest event, the last one followed first."""
    s = services()
    found = s.notifications.followed_series.list_by_account(authorization.credential_owner().account)
    cards = s.seat_tokens.texts.list_cards(found)
    titles = {tournament: title for tournament, (title, _) in cards.items() if title}
    return json_response({"items": [{"tournament": each, "title": titles.get(each)} for each in found]})


@bp.operation(
    "PUT",
    "/tournaments/<tournament:tournament>/followers/me",
    "follow_series",
    access=authorization.require_session,
    errors=(403, 404, 409),
    status=204,
)
def follow_series(tournament: str) -> Response:
    """Follow the series of a tournament. Once its next event is opened you are told, and then follow that one."""
    account, series = authorization.credential_owner().account, services().notifications.followed_series
    newest = _load_newest(tournament)
    if find_next_opening(newest) is None:
        raise RuleError("not_scheduled")
    followed = ""
    while followed != newest.id:  # another event may be opened meanwhile
        if followed:
            series.unfollow(account, followed)
        series.follow(account, newest.id)
        followed, newest = newest.id, _load_newest(newest.id)
    return Response(status=204)


@bp.operation(
    "DELETE",
    "/tournaments/<tournament:tournament>/followers/me",
    "unfollow_series",
    access=authorization.require_session_in_any_standing,
    errors=(403, 404),
    status=204,
)
def unfollow_series(tournament: str) -> Response:
    """Follow the series of a tournament no longer."""
    account, ended, newest = authorization.credential_owner().account, "", _load_newest(tournament).id
    while ended != newest:  # another event may be opened meanwhile
        services().notifications.followed_series.unfollow(account, newest)
        ended, newest = newest, _load_newest(newest).id
    return Response(status=204)


def _load_newest(tournament: str) -> Tournament:
    """Return the newest event of the series of a tournament. Raise UnknownTournament."""
    t = load_tournament(tournament)
    while t.successor:
        t = load_tournament(t.successor)
    return t
