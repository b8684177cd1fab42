"""Schemas of ratings."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.request_fields import QueryInt, RequestSchema, range_check
from api.schemas.response_fields import PageSchema, ResponseSchema, required_int, required_str

MOST_RATED = 1_000_000


class RatingsArgs(RequestSchema):
    cursor = QueryInt(
        load_default=0,
        validate=range_check(0, MOST_RATED),
        metadata={"description": "From `next` of the previous page."},
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class RatingSchema(ResponseSchema):
    player = required_str()
    name = required_str()
    mu = fields.Float(required=True, metadata={"description": "The mean; newcomers begin at 25."})
    sigma = fields.Float(required=True, metadata={"description": "The uncertainty; newcomers begin at 8.333."})
    rating = fields.Float(required=True, metadata={"description": "`mu` - 3 `sigma`: the order of the list."})
    tables = required_int(metadata={"description": "Number of rated tables."})
    provisional = fields.Boolean(
        required=True, metadata={"description": "True with a `sigma` above 4 or fewer than five tables."}
    )


class RatedPersonSchema(RatingSchema):
    place = required_int(metadata={"description": "Place in the list, from 1. Equal ratings share it."})


class RatingListSchema(PageSchema):
    ruleset = required_str(metadata={"description": "Name of the ruleset without its version, or `all`."})
    people = required_int(metadata={"description": "Number of people in the list."})
    items = fields.List(fields.Nested(RatedPersonSchema), required=True)


class RatingChangeSchema(ResponseSchema):
    game = required_str()
    at = required_int(metadata={"description": "End of the table, ms."})
    place = required_int(metadata={"description": "Place at the table; 0 for somebody who left it."})
    mu_before = fields.Float(required=True)
    sigma_before = fields.Float(required=True)
    mu = fields.Float(required=True)
    sigma = fields.Float(required=True)


class RatingExplanationSchema(RatingSchema):
    ruleset = required_str()
    items = fields.List(
        fields.Nested(RatingChangeSchema), required=True, metadata={"description": "The tables, the newest first."}
    )
    next = fields.String(required=True, allow_none=True, metadata={"description": "URL of the next page."})
