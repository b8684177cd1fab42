"""Schemas of ratings."""

from __future__ import annotations

from typing import Annotated, TypedDict

from api.schemas.common_documents import PageDoc
from api.schemas.request_fields import QueryInt, RequestSchema, range_check

MOST_RATED = 1_000_000


class RatingsArgs(RequestSchema):
    cursor = QueryInt(
        load_default=0,
        validate=range_check(0, MOST_RATED),
        metadata={"description": "From `next` of the previous page."},
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class RatingDoc(TypedDict):
    player: str
    name: str
    mu: Annotated[float, "The mean; newcomers begin at 25."]
    sigma: Annotated[float, "The uncertainty; newcomers begin at 8.333."]
    rating: Annotated[float, "`mu` - 3 `sigma`: the order of the list."]
    tables: Annotated[int, "Number of rated tables."]
    provisional: Annotated[bool, "True with a `sigma` above 4 or fewer than five tables."]


class RatedPersonDoc(RatingDoc):
    place: Annotated[int, "Place in the list, from 1. Equal ratings share it."]


class RatingListDoc(PageDoc):
    ruleset: Annotated[str, "Name of the ruleset without its version, or `all`."]
    people: Annotated[int, "Number of people in the list."]
    items: list[RatedPersonDoc]


class RatingChangeDoc(TypedDict):
    game: str
    at: Annotated[int, "End of the table, ms."]
    place: Annotated[int, "Place at the table; 0 for somebody who left it."]
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float


class RatingExplanationDoc(RatingDoc):
    ruleset: str
    items: Annotated[list[RatingChangeDoc], "The tables, the newest first."]
    next: Annotated[str | None, "URL of the next page."]
