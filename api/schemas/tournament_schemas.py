"""Schemas of tournaments: bodies, queries and responses."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.query_args import ChangePageArgs, WaitArgs
from api.schemas.request_bodies import NewGameSchema, reason_field
from api.schemas.request_fields import (
    BoundedDict,
    BoundedList,
    QueryInt,
    RequestSchema,
    StrictInt,
    VisibleText,
    choice_field,
    range_check,
    word_field,
)
from api.schemas.response_fields import PageSchema, ResponseSchema, one_of, required_int, required_str, word_map
from domain.kernel.text.message_catalog import LANGUAGES
from domain.tournaments.designs import MAX_ROUNDS
from domain.tournaments.draw import DEFAULT_CHAIN, MAX_CHAIN
from domain.tournaments.event import STATUSES
from domain.tournaments.records import KINDS
from domain.tournaments.results import DEFAULT_TIES
from domain.tournaments.results_file import MAX_ENTRANTS
from domain.tournaments.scoring import SCORINGS
from domain.tournaments.sizes import MAX_SEATS
from domain.tournaments.terms import FORMATS, MAX_REVEAL
from domain.tournaments.ties import RULES
from domain.types import MAX_INT

# --- requests


class TableTermsSchema(NewGameSchema):
    """Settings of every table."""

    class Meta(NewGameSchema.Meta):
        exclude = ("seats", "name", "ruleset", "options", "listing", "several")


class TournamentSeatsSchema(RequestSchema):
    least = StrictInt(required=True, validate=range_check(2, MAX_SEATS))
    most = StrictInt(required=True, validate=range_check(2, MAX_SEATS))
    preferred = StrictInt(required=True, validate=range_check(2, MAX_SEATS))


class TournamentStageSchema(RequestSchema):
    format = choice_field(*FORMATS, load_default="league")
    rounds = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, MAX_ROUNDS),
        metadata={"description": "Number of rounds. null: as the design has them."},
    )
    concurrent = StrictInt(
        load_default=1, validate=range_check(1, MAX_ROUNDS), metadata={"description": "Rounds in play at once."}
    )
    scoring = choice_field(*SCORINGS, load_default="normal")
    unit = StrictInt(
        load_default=1, validate=range_check(1, MAX_INT), metadata={"description": "Game points of one centre."}
    )
    lists = BoundedDict(
        MAX_SEATS, 'Points by place, for each number of seats: `{"4": [5, 3, 2, 1]}`.', load_default=dict
    )
    total = word_field(r"^(sum|mean|best:[1-9][0-9]{0,3}|weights:[0-9]{1,5}(,[0-9]{1,5}){0,99})$", load_default="sum")
    ties = BoundedList(choice_field(*RULES), 0, len(RULES), load_default=lambda: list(DEFAULT_TIES))


class NewTournamentSchema(RequestSchema):
    title = VisibleText(80, "Title, or empty. Erasable.", "Genoa Open", load_default="")
    note = VisibleText(1000, "Note for entrants. Erasable.", "Round 1 begins on Sunday.", load_default="")
    ruleset = word_field(
        r"^[a-z][a-z0-9_]{0,60}(@[1-9][0-9]{0,5})?$",
        required=True,
        metadata={"description": "Default version: the newest.", "examples": ["struggle_of_empires@1"]},
    )
    options = BoundedDict(100, load_default=dict)
    listing = choice_field("public", "unlisted", load_default="public")
    table = fields.Nested(TableTermsSchema, required=True, metadata={"description": "Settings of all tables."})
    seats = fields.Nested(TournamentSeatsSchema, required=True, metadata={"description": "Seats at a table."})
    stages = BoundedList(fields.Nested(TournamentStageSchema), 1, 1, required=True)
    capacity = StrictInt(
        load_default=MAX_ENTRANTS,
        validate=range_check(2, MAX_ENTRANTS),
        metadata={"description": "Most entrants in the draw. Further ones wait, in the order of their entry."},
    )
    chain = StrictInt(
        load_default=DEFAULT_CHAIN, validate=range_check(1, MAX_CHAIN), metadata={"description": "Number of draws."}
    )
    reveal = StrictInt(
        load_default=43_200,
        validate=range_check(0, MAX_REVEAL),
        metadata={"description": "Seconds to show nonces after the check-in."},
    )


class EnterSchema(RequestSchema):
    """An empty object."""

    may_be_left_out = True


class CheckInSchema(RequestSchema):
    may_be_left_out = True
    nonce_hash = word_field(
        r"^[0-9a-f]{64}$",
        load_default="",
        metadata={"description": "SHA-256 of the UTF-8 bytes of a nonce that you show after the check-in."},
    )


class TournamentNonceSchema(RequestSchema):
    nonce = word_field(r"^[!-~]{16,128}$", required=True)


class PhaseSchema(RequestSchema):
    phase = choice_field(
        "checking", "drawing", required=True, metadata={"description": "Open the check-in, or close it."}
    )


class TournamentDrawSchema(RequestSchema):
    """An empty object, or the reason of another draw."""

    may_be_left_out = True
    reason = reason_field()


class TournamentsArgs(ChangePageArgs):
    status = choice_field(*STATUSES, load_default="")
    ruleset = word_field(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")


class StandingsArgs(WaitArgs):
    after_round = QueryInt(
        validate=range_check(1, MAX_ROUNDS),
        metadata={"description": "The official standings after this round. Default: provisional ones, as of now."},
    )


class ExplainArgs(RequestSchema):
    a = QueryInt(required=True, validate=range_check(0, MAX_ENTRANTS))
    b = QueryInt(required=True, validate=range_check(0, MAX_ENTRANTS))
    lang = choice_field(*LANGUAGES, metadata={"description": "Overrides Accept-Language."})


# --- responses


class TournamentWrittenSchema(ResponseSchema):
    tournament = required_str()
    version = required_int(metadata={"description": "The newest version after this request."})
    head = required_str(metadata={"description": "Hash of the last record of this write, hex."})
    position = required_int(metadata={"description": "Log position, for `wait` in reads."})


class TablesMadeSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    left = required_int(metadata={"description": "Tables still missing: repeat the request."})


class ReportedSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    pods = fields.List(fields.Integer(), required=True, metadata={"description": "Pods with a new result."})


class TournamentEnteredSchema(TournamentWrittenSchema):
    entrant = required_int(metadata={"description": "Number of the entrant, from 0."})


class TournamentSummarySchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    status = one_of(*STATUSES)
    director = required_str(metadata={"description": "Player id of the organiser."})
    ruleset = required_str()
    format = one_of(*FORMATS)
    entrants = required_int(metadata={"description": "Entrants who have not withdrawn."})
    capacity = required_int()
    rounds = fields.Integer(required=True, allow_none=True)
    ranked = required_int(metadata={"description": "Rounds with official standings."})
    at = required_int()
    names = word_map(required=True, metadata={"description": "Player -> name, if given."})
    title = fields.String()
    note = fields.String()
    set_aside = fields.Boolean(metadata={"description": "True if a later record cannot be shown."})
    damaged = fields.Integer(metadata={"description": "First damaged version."})


class TournamentsSchema(PageSchema):
    items = fields.List(fields.Nested(TournamentSummarySchema), required=True)


class TournamentStageDocSchema(ResponseSchema):
    format = one_of(*FORMATS)
    rounds = fields.Integer(required=True, allow_none=True)
    concurrent = required_int()
    scoring = one_of(*SCORINGS)
    unit = required_int()
    lists = fields.Dict(required=True)
    total = required_str()
    ties = fields.List(fields.String(), required=True)


class TournamentSeatsDocSchema(ResponseSchema):
    least = required_int()
    most = required_int()
    preferred = required_int()


class TournamentChainSchema(ResponseSchema):
    draws = required_int(metadata={"description": "Number of draws of the chain."})
    used = required_int()
    secrets = fields.List(
        fields.String(), required=True, metadata={"description": "s_0, then the secret of each draw, hex."}
    )
    key = required_str(metadata={"description": "Key of the last draw, hex, or empty."})


class EntrantSchema(ResponseSchema):
    entrant = required_int()
    player = required_str()
    withdrawn = fields.Boolean(required=True)
    waiting = fields.Boolean(required=True, metadata={"description": "True on the waiting list."})
    checked_in = fields.Boolean(required=True)
    takes_part = fields.Boolean(required=True)
    nonce_hash = required_str()
    nonce = required_str(metadata={"description": "The nonce as shown, or empty."})


class TournamentSchema(TournamentSummarySchema):
    head = required_str(metadata={"description": "Hash of the last record."})
    seats = fields.Nested(TournamentSeatsDocSchema, required=True)
    options = fields.Dict(required=True)
    table = fields.Dict(required=True, metadata={"description": "Terms of each game."})
    listing = one_of("public", "unlisted")
    stages = fields.List(fields.Nested(TournamentStageDocSchema), required=True)
    chain = fields.Nested(TournamentChainSchema, required=True)
    reveal = required_int()
    nonces_until = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Time until which nonces may be shown, ms."}
    )
    people = fields.List(fields.Nested(EntrantSchema), required=True)
    plan = required_str(metadata={"description": "Name of the design or search, or empty before the draw."})


class PodSchema(ResponseSchema):
    table = required_str(metadata={"description": "`round.pod`."})
    entrants = fields.List(fields.Integer(), required=True, metadata={"description": "By seat."})
    game = fields.String(required=True, allow_none=True)
    annulled = required_str(metadata={"description": "`void`, `average`, or empty."})
    reported = fields.Boolean(required=True)
    places = fields.List(fields.Integer(), required=True)
    points = fields.List(fields.Integer(), required=True)


class RoundSchema(ResponseSchema):
    stage = required_int()
    round = required_int()
    pods = fields.List(fields.Nested(PodSchema), required=True)
    byes = fields.List(fields.Integer(), required=True)
    ended = fields.Boolean(required=True)
    ranked = fields.Boolean(required=True)


class TournamentStandingSchema(ResponseSchema):
    place = required_int()
    entrant = required_int()
    ticks = required_int(metadata={"description": "1 point is 5040 ticks."})
    tables = required_int()
    credits = fields.List(fields.Integer(), required=True)
    missed = required_int()
    ties = word_map(required=True, metadata={"description": "Rule -> exact value."})


class StandingsSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    official = fields.Boolean(required=True)
    standings = fields.List(fields.Nested(TournamentStandingSchema), required=True)
    running = fields.List(
        fields.String(), required=True, metadata={"description": "Tables without a result: until then provisional."}
    )
    digest = fields.String(metadata={"description": "Digest of official standings."})


class ExplainStepSchema(ResponseSchema):
    rule = required_str()
    group = fields.List(fields.Integer(), required=True)
    skipped = required_str()
    values = fields.List(fields.String(), required=True)
    tables = fields.List(fields.String(), required=True)


class ExplanationSchema(ResponseSchema):
    first = required_int()
    second = required_int()
    verdict = one_of("before", "shared")
    rule = required_str(metadata={"description": "The rule that parts the two, or empty."})
    steps = fields.List(fields.Nested(ExplainStepSchema), required=True)
    running = fields.List(fields.String(), required=True)
    sentences = fields.List(fields.String(), required=True)


class TournamentRecordSchema(ResponseSchema):
    v = required_int()
    kind = one_of(*KINDS)
    at = required_int()
    by = one_of("entrant", "director", "service")
    prev = required_str()
    body = fields.Dict()
    reason = fields.String(metadata={"description": "Salted hash of the reason."})
