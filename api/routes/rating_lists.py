"""Routes of ratings: the list of a ruleset or of all together, and the tables behind a person's rating."""

from __future__ import annotations

import math
from decimal import Decimal

from api import authorization
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import page_response, paginate
from api.schemas.rating_schemas import (
    RatedPersonDoc,
    RatingChangeDoc,
    RatingDoc,
    RatingExplanationDoc,
    RatingListDoc,
    RatingsArgs,
)
from api.services import services
from domain.ratings import NEWCOMER, OVERALL, RatingList, Ratings
from domain.tournaments.aggregate.tournament import Tournament
from domain.types import Doc

bp = Blueprint("ratings", __name__, url_prefix="/v1/ratings", description="Ratings of people, from public tables.")


def _find_list(family: str) -> RatingList:
    """Return the ratings of a ruleset. Raise Problem without such a ruleset."""
    s = services()
    if family != OVERALL and family not in {name.partition("@")[0] for name in s.registry.names()}:
        raise Problem("not_found")
    return read_ratings().lists.get(family, RatingList())


def read_ratings() -> Ratings:
    """Return all ratings as of now."""
    s = services()
    with rate_limits.whole_game_slot():
        return s.reader.ratings.refresh(s.account_store.accounts.list_people)


def rate_entrant(t: Tournament, player: str) -> tuple[int, int] | None:
    """Return a person's rating in whole hundredths and number of rated tables, for an event with a band, else None."""
    if t.terms.band is None:
        return None
    found = read_ratings().lists.get(t.terms.ruleset.partition("@")[0], RatingList())
    points = found.skills.get(player, NEWCOMER).points
    return math.floor(Decimal(str(points)) * 100), len(found.changes.get(player, ()))


def _rating_to_json(ratings: RatingList, player: str, name: str) -> RatingDoc:
    skill = ratings.skills[player]
    return {
        "player": player,
        "name": name,
        "mu": skill.mu,
        "sigma": skill.sigma,
        "rating": skill.points,
        "tables": len(ratings.changes[player]),
        "provisional": ratings.is_provisional(player),
    }


@bp.operation(
    "GET",
    "/<family:family>",
    "ratings",
    access=authorization.public,
    errors=(404, 503),
    query=RatingsArgs,
    response_headers=string_headers("Link"),
)
def list_ratings(args: Doc, family: str) -> JsonResponse[RatingListDoc]:
    """Return the ratings of people at public tables of a ruleset, named without its version, or of `all`.

    Each closed table with places counts, in the order in which spectators saw them end. Bots and guests are left out,
    and so are tables that a tournament has annulled. Erased people are in no list.
    """
    rate_limits.charge_request(None)
    ratings, start, limit = _find_list(family), args["cursor"], args["limit"]
    points = {player: skill.points for player, skill in ratings.skills.items()}
    names = services().account_store.accounts.list_people(list(points))
    order = sorted((player for player in points if names.get(player)), key=lambda player: (-points[player], player))
    places = dict[float, int]()
    for place, player in enumerate(order, 1):
        places.setdefault(points[player], place)
    people, address = paginate(
        order[start : start + limit + 1], limit, f"/v1/ratings/{family}", lambda _: start + limit
    )
    items: list[RatedPersonDoc] = [
        {**_rating_to_json(ratings, player, names[player]), "place": places[points[player]]} for player in people
    ]
    return page_response({"ruleset": family, "people": len(order), "items": items, "next": address})


@bp.operation(
    "GET",
    "/<family:family>/players/<player:player>",
    "explain_rating",
    access=authorization.public,
    errors=(404, 503),
    query=RatingsArgs,
    response_headers=string_headers("Link"),
)
def explain_rating(args: Doc, family: str, player: str) -> JsonResponse[RatingExplanationDoc]:
    """Return a person's rating and what each table did to it, the newest one first."""
    rate_limits.charge_request(None)
    ratings, start, limit = _find_list(family), args["cursor"], args["limit"]
    name = services().account_store.accounts.list_people([player]).get(player)
    if not name or player not in ratings.skills:
        raise Problem("not_found")
    changes = ratings.changes[player][::-1][start : start + limit + 1]
    path = f"/v1/ratings/{family}/players/{player}"
    shown, address = paginate(changes, limit, path, lambda _: start + limit)
    items: list[RatingChangeDoc] = [
        {
            "game": each.game,
            "at": each.at,
            "place": each.place,
            "mu_before": each.before.mu,
            "sigma_before": each.before.sigma,
            "mu": each.after.mu,
            "sigma": each.after.sigma,
        }
        for each in shown
    ]
    return page_response({**_rating_to_json(ratings, player, name), "ruleset": family, "items": items, "next": address})
