"""Schemas of tournaments: responses."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.response_fields import INT, PageSchema, ResponseSchema, one_of, required_int, required_str, word_map
from api.schemas.schema_builder import JsonSchemaField, tuple_of
from domain.tournaments.aggregate.tournament import STATUSES
from domain.tournaments.aggregate.tournament_ruling_commands import ROLES
from domain.tournaments.records import KINDS
from domain.tournaments.results import WANTED_BYES
from domain.tournaments.scoring import SCORINGS
from domain.tournaments.terms import FORMATS, RELATIONS, SEATINGS, SEEDS


class TournamentWrittenSchema(ResponseSchema):
    tournament = required_str()
    version = required_int(metadata={"description": "The newest version after this request."})
    head = required_str(metadata={"description": "Hash of the last record of this write, hex."})
    position = required_int(metadata={"description": "Log position, for `wait` in reads."})


class SubstituteOfferSchema(ResponseSchema):
    tournament = required_str()
    by = required_str(metadata={"description": "Player id of the entrant."})
    player = required_str(metadata={"description": "Player id of the other person."})
    at = required_int(metadata={"description": "Time of the question, ms."})
    name = fields.String(required=True, allow_none=True, metadata={"description": "Name of the other person."})


class SubstitutionsSchema(ResponseSchema):
    offers = fields.List(
        fields.Nested(SubstituteOfferSchema), required=True, metadata={"description": "Questions to you."}
    )
    asked = fields.List(
        fields.Nested(SubstituteOfferSchema), required=True, metadata={"description": "Your questions to others."}
    )


class FollowedEventSchema(ResponseSchema):
    tournament = required_str(metadata={"description": "The newest event of the series."})
    title = fields.String(required=True, allow_none=True)


class FollowedSeriesSchema(ResponseSchema):
    items = fields.List(fields.Nested(FollowedEventSchema), required=True)


class TournamentRuledSchema(TournamentWrittenSchema):
    ruling = required_int(metadata={"description": "Number of the ruling: made, or taken back."})


class TablesMadeSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    left = required_int(metadata={"description": "Tables still missing: repeat the request."})


class ReportedSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    pods = fields.List(fields.Integer(), required=True, metadata={"description": "Pods with a new result."})


class AdjournedSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    pods = fields.List(fields.Integer(), required=True, metadata={"description": "Pods whose games this has ended."})
    refused = fields.List(fields.Integer(), required=True, metadata={"description": "Pods where you may not rule."})


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
    stage = fields.Integer(metadata={"description": "The current stage. Format, rounds and ranked are its own."})
    rounds = fields.Integer(required=True, allow_none=True)
    ranked = required_int(metadata={"description": "Rounds with official standings."})
    whole = fields.Boolean(metadata={"description": "True once every round of every stage has official standings."})
    at = required_int()
    names = word_map(required=True, metadata={"description": "Player -> name, if given."})
    title = fields.String()
    note = fields.String()
    set_aside = fields.Boolean(metadata={"description": "True if a later record cannot be shown."})
    damaged = fields.Integer(metadata={"description": "First damaged version."})


class TournamentsSchema(PageSchema):
    items = fields.List(fields.Nested(TournamentSummarySchema), required=True)


class AdvanceDocSchema(ResponseSchema):
    first = required_int()
    wild_cards = required_int()


class TournamentOfficerDocSchema(ResponseSchema):
    player = required_str()
    office = one_of(*ROLES)


class TournamentStageDocSchema(ResponseSchema):
    format = one_of(*FORMATS)
    rounds = fields.Integer(required=True, allow_none=True)
    concurrent = required_int()
    scoring = one_of(*SCORINGS)
    unit = required_int()
    lists = fields.Dict(required=True)
    total = required_str()
    ties = fields.List(fields.String(), required=True)
    advance = fields.List(fields.Nested(AdvanceDocSchema), required=True)
    entrants = fields.Integer(required=True, allow_none=True)
    seating = one_of(*SEATINGS, required=False)
    bidding = fields.Integer(metadata={"description": "Seconds to file bids or lists of seats."})
    bid_rate = fields.Integer(metadata={"description": "Ticks of handicap for a whole bid."})
    relations = one_of(*RELATIONS, required=False)
    seeds = one_of(*SEEDS, required=False)
    wanted_bye = one_of(*WANTED_BYES, required=False)
    patience = fields.Integer(metadata={"description": "Of a ladder or arena: most seconds to wait for a full table."})
    window = fields.Integer(metadata={"description": "Of a ladder or arena: seconds during which a table counts."})


class QueueLeftSchema(ResponseSchema):
    days = required_int(metadata={"description": "Days (UTC) with tables for which the chain has a draw."})
    tables = required_int(metadata={"description": "Tables."})


class TournamentQueueSchema(ResponseSchema):
    waiting = required_int(metadata={"description": "Number of entrants who wait for a table."})
    next_at = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Time of the next table if nobody else comes, ms."}
    )
    closed = fields.Boolean(metadata={"description": "True while nobody may wait."})
    left = fields.Nested(QueueLeftSchema, metadata={"description": "What may still be made."})
    ends_at = fields.Integer(
        allow_none=True,
        metadata={"description": "End of the time for tables, ms: the chain has no draw left; else null."},
    )


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
    excluded = fields.Boolean(required=True, metadata={"description": "True after a ruling."})
    substitutes = fields.List(fields.String(), required=True, metadata={"description": "Their player ids."})
    waiting = fields.Boolean(required=True, metadata={"description": "True on the waiting list."})
    queued = fields.Boolean(required=True, metadata={"description": "True in the queue of a ladder or arena."})
    may_queue = fields.Boolean(required=True, metadata={"description": "True if the entrant may wait in it."})
    checked_in = fields.Boolean(required=True)
    takes_part = fields.Boolean(required=True)
    nonce_hash = required_str()
    nonce = required_str(metadata={"description": "The nonce as shown, or empty."})


class ScheduleDocSchema(ResponseSchema):
    rule = required_str()
    zone = required_str()
    start = required_str(metadata={"description": "First time of the rule, on the zone's clock."})
    number = required_int(metadata={"description": "Number of this event along the rule, from 1."})
    at = required_int(metadata={"description": "Time of this event, ms. The next one is opened then."})
    next_at = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Time of the next event, ms; null: this is the last."}
    )
    follows = fields.String(required=True, allow_none=True, metadata={"description": "The event before."})
    next = fields.String(required=True, allow_none=True, metadata={"description": "The next event, once opened."})


class TournamentSchema(TournamentSummarySchema):
    head = required_str(metadata={"description": "Hash of the last record."})
    seats = fields.Nested(TournamentSeatsDocSchema, required=True)
    options = fields.Dict(required=True)
    table = fields.Dict(required=True, metadata={"description": "Terms of each game."})
    listing = one_of("public", "unlisted")
    stages = fields.List(fields.Nested(TournamentStageDocSchema), required=True)
    chain = fields.Nested(TournamentChainSchema, required=True)
    reveal = required_int()
    takes_late = fields.Boolean(metadata={"description": "True if people may enter for the next draw."})
    queue = fields.Nested(
        TournamentQueueSchema, allow_none=True, metadata={"description": "Of a ladder or arena, else null."}
    )
    schedule = fields.Nested(
        ScheduleDocSchema, allow_none=True, metadata={"description": "Of a repeating event, else null."}
    )
    nonces_until = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Time until which nonces may be shown, ms."}
    )
    people = fields.List(fields.Nested(EntrantSchema), required=True)
    plan = required_str(metadata={"description": "Name of the design or search, or empty before the draw."})
    officers = fields.List(fields.Nested(TournamentOfficerDocSchema), required=True)


class PodSchema(ResponseSchema):
    table = required_str(metadata={"description": "`round.pod`."})
    entrants = fields.List(fields.Integer(), required=True, metadata={"description": "By seat."})
    game = fields.String(required=True, allow_none=True)
    attempt = required_int(metadata={"description": "2 and more: the table is played again."})
    annulled = required_str(metadata={"description": "`void`, `average`, or empty."})
    reported = fields.Boolean(required=True)
    places = fields.List(fields.Integer(), required=True)
    points = fields.List(fields.Integer(), required=True)
    decisions = fields.List(
        fields.List(fields.Integer()),
        required=True,
        metadata={"description": "By seat: decisions of its entrant or substitutes, and all of them."},
    )
    absent = fields.List(
        fields.Integer(),
        required=True,
        metadata={"description": "Seats without ticks: their entrants made less than half of the decisions."},
    )
    lapses = fields.List(fields.Integer(), required=True, metadata={"description": "Missed deadlines by seat."})
    seated = fields.Boolean(metadata={"description": "False until bids or lists have given the seats."})
    bids = fields.List(
        fields.List(fields.Integer(), allow_none=True),
        metadata={"description": "By seat: the opened bid or list, null for none. Empty before."},
    )
    handicaps = fields.List(fields.Integer(), metadata={"description": "Ticks by seat, after bids."})


class RoundSchema(ResponseSchema):
    stage = required_int()
    round = required_int()
    pods = fields.List(fields.Nested(PodSchema), required=True)
    byes = fields.List(fields.Integer(), required=True)
    relations = fields.List(
        JsonSchemaField(tuple_of(INT, INT, {"type": "string"})),
        metadata={"description": "Pairs of entrants with a class of weight: `apart` or `near`."},
    )
    together = fields.List(
        JsonSchemaField(tuple_of(INT, INT, {"type": "string"})),
        metadata={"description": "Those of them in one pod: the draw could not avoid it."},
    )
    bids_until = fields.Integer(
        allow_none=True, metadata={"description": "Time until which bids or lists may be filed, ms. null: not opened."}
    )
    filed = fields.List(fields.Integer(), metadata={"description": "Entrants who have filed one."})
    ended = fields.Boolean(required=True)
    ranked = fields.Boolean(required=True)
    outdated = fields.Boolean(
        metadata={"description": "True if its official standings have changed since: rank the round again."}
    )


class TournamentStandingSchema(ResponseSchema):
    place = required_int()
    entrant = required_int()
    ticks = required_int(metadata={"description": "1 point is 5040 ticks."})
    tables = required_int()
    credits = fields.List(fields.Integer(), required=True)
    missed = required_int()
    handicap = fields.Integer(metadata={"description": "Ticks from bids for seats, within `ticks`."})
    ties = word_map(required=True, metadata={"description": "Rule -> exact value."})


class StandingsSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    official = fields.Boolean(required=True)
    stage = required_int()
    standings = fields.List(fields.Nested(TournamentStandingSchema), required=True)
    running = fields.List(
        fields.String(), required=True, metadata={"description": "Tables without a result: until then provisional."}
    )
    digest = fields.String(metadata={"description": "Digest of official standings."})
    unranked = fields.Dict(
        metadata={"description": "Of a ladder or arena: entrant -> tables that count, too few for a place."}
    )


class EntrantPlacesSchema(ResponseSchema):
    entrant = required_int()
    places = fields.List(
        fields.Integer(allow_none=True),
        required=True,
        metadata={"description": "By round; null: without a place after it."},
    )
    ticks = fields.List(
        fields.Integer(allow_none=True), required=True, metadata={"description": "Points in ticks, by round."}
    )


class PlacesByRoundSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    stage = required_int()
    rounds = fields.List(fields.Integer(), required=True, metadata={"description": "Rounds with official standings."})
    entrants = fields.List(
        fields.Nested(EntrantPlacesSchema),
        required=True,
        metadata={"description": "In order of the last standings."},
    )


class MovedPlaceSchema(ResponseSchema):
    entrant = required_int()
    before = required_int(metadata={"description": "Place before the ruling; 0: without a place."})
    after = required_int(metadata={"description": "Place by the ruling; 0: without a place."})
    ticks_before = required_int()
    ticks_after = required_int()
    sentences = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "The reason of the new place, beside its neighbour, or of none."},
    )


class RulingPreviewSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    stage = required_int()
    digest = required_str(metadata={"description": "The ETag: the ruling names it in If-Match."})
    moved = fields.List(fields.Nested(MovedPlaceSchema), required=True)
    standings = fields.List(fields.Nested(TournamentStandingSchema), required=True)
    advancing = fields.List(
        fields.Integer(),
        required=True,
        allow_none=True,
        metadata={"description": "Entrants of the next stage by the ruling. null: those stay."},
    )


class TournamentAppealSchema(ResponseSchema):
    version = required_int()
    entrant = required_int(metadata={"description": "Number of the entrant who contests the ruling."})
    at = required_int()
    reason = fields.String(required=True, allow_none=True)
    outcome = fields.String(
        required=True, allow_none=True, metadata={"description": "`upheld` or `overturned`; null before the answer."}
    )
    officer = fields.String(required=True, allow_none=True)
    answered_at = fields.Integer(required=True, allow_none=True)
    answer = fields.String(required=True, allow_none=True, metadata={"description": "The officer's reason."})


class TournamentRulingDocSchema(ResponseSchema):
    ruling = required_int(metadata={"description": "Number of the ruling: the version of its record."})
    act = one_of("placed", "annulled", "penalised", "excluded")
    at = required_int()
    officer = required_str(metadata={"description": "Player id of its author."})
    reason = fields.String(required=True, allow_none=True)
    restored = fields.Boolean(required=True, metadata={"description": "True once it has been taken back."})
    appeal = fields.Nested(TournamentAppealSchema, allow_none=True)
    stage = required_int()
    round = fields.Integer()
    pod = fields.Integer()
    attempt = fields.Integer()
    places = fields.List(fields.Integer())
    how = fields.String()
    entrant = fields.Integer()
    ticks = fields.Integer()
    results = fields.String()


class TournamentRulingsSchema(ResponseSchema):
    tournament = required_str()
    version = required_int()
    names = word_map(required=True, metadata={"description": "Player -> name, if given."})
    items = fields.List(fields.Nested(TournamentRulingDocSchema), required=True)


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
    handicaps = fields.List(fields.Integer(), metadata={"description": "Ticks from bids for seats, of both."})
    sentences = fields.List(fields.String(), required=True)


class TournamentRecordSchema(ResponseSchema):
    v = required_int()
    kind = one_of(*KINDS)
    at = required_int()
    by = one_of("entrant", "director", "service")
    prev = required_str()
    body = fields.Dict()
    reason = fields.String(metadata={"description": "Salted hash of the reason."})
