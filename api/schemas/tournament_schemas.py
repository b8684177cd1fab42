"""Schemas of tournaments: bodies, headers and queries."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from api.schemas.query_args import ChangePageArgs, KeyHeaders, WaitArgs
from api.schemas.request_bodies import NewGameSchema, reason_field
from api.schemas.request_fields import (
    LENGTH,
    BoundedDict,
    BoundedList,
    QueryInt,
    RequestSchema,
    StrictBool,
    StrictInt,
    VisibleText,
    choice_field,
    range_check,
    word_field,
)
from domain.kernel.game.deadlines import MAX_SECONDS
from domain.kernel.game.rulings import DEFAULT_FINAL_AFTER, LEAST_FINAL_AFTER
from domain.kernel.text.message_catalog import LANGUAGES
from domain.tournaments.aggregate.elsewhere_commands import MAX_SCORE
from domain.tournaments.aggregate.tournament import MAX_NUMBER, STATUSES
from domain.tournaments.aggregate.tournament_appeal_commands import OUTCOMES
from domain.tournaments.aggregate.tournament_ruling_commands import ANNULMENTS, EXCLUSIONS, MAX_PENALTY, ROLES
from domain.tournaments.bids import DEFAULT_RATE, TOTAL_BID
from domain.tournaments.designs import MAX_ROUNDS
from domain.tournaments.draw import DEFAULT_CHAIN, MAX_CHAIN
from domain.tournaments.results import WANTED_BYES
from domain.tournaments.results_file import MAX_ENTRANTS
from domain.tournaments.scoring import SCORINGS
from domain.tournaments.sizes import MAX_SEATS
from domain.tournaments.terms import (
    BOTS,
    DAY,
    ELSEWHERE,
    FORMATS,
    MAX_RATE,
    MAX_REVEAL,
    MAX_STAGES,
    MAX_WINDOW,
    MIN_WINDOW,
    RELATIONS,
    SEATINGS,
    SEEDS,
)
from domain.tournaments.ties import RULES
from domain.tournaments.timetable import MAX_EXTENSION, MAX_OPENS
from domain.types import MAX_INT

MAX_RATING = 10_000
"""Largest size of a bound of ratings, hundredths."""


class TableTermsSchema(NewGameSchema):
    """Settings of every table."""

    class Meta(NewGameSchema.Meta):
        exclude = ("seats", "name", "ruleset", "options", "listing", "several")


class TournamentSeatsSchema(RequestSchema):
    least = StrictInt(required=True, validate=range_check(2, MAX_SEATS))
    most = StrictInt(required=True, validate=range_check(2, MAX_SEATS))
    preferred = StrictInt(required=True, validate=range_check(2, MAX_SEATS))


class AdvanceSchema(RequestSchema):
    """A step of a knockout to its next round."""

    first = StrictInt(
        required=True,
        validate=range_check(1, MAX_SEATS),
        metadata={"description": "As many go on from each table."},
    )
    wild_cards = StrictInt(
        load_default=0,
        validate=range_check(0, MAX_ENTRANTS),
        metadata={"description": "As many of the others go on by the standings."},
    )


class TournamentStageSchema(RequestSchema):
    format = choice_field(*FORMATS, load_default="league")
    rounds = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, MAX_ROUNDS),
        metadata={"description": "Number of rounds. null: as the design has them."},
    )
    concurrent = StrictInt(
        load_default=1,
        validate=range_check(1, MAX_ROUNDS),
        metadata={"description": "Rounds in play at once; of a ladder or arena, tables of an entrant."},
    )
    scoring = choice_field(*SCORINGS, load_default="normal")
    unit = StrictInt(
        load_default=1, validate=range_check(1, MAX_INT), metadata={"description": "Game points of one centre."}
    )
    lists = BoundedDict(
        MAX_SEATS, 'Points by place, for each number of seats: `{"4": [5, 3, 2, 1]}`.', load_default=dict
    )
    total = word_field(r"^(sum|mean|best:[1-9][0-9]{0,3}|weights:[0-9]{1,5}(,[0-9]{1,5}){0,99})$", load_default="sum")
    ties = BoundedList(choice_field(*RULES), 0, len(RULES), load_default=None, allow_none=True)
    advance = BoundedList(fields.Nested(AdvanceSchema), 0, MAX_ROUNDS - 1, load_default=list)
    entrants = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(2, MAX_ENTRANTS),
        metadata={"description": "Of a later stage: as many go on from the stage before. null: all."},
    )
    seating = choice_field(
        *SEATINGS,
        load_default="draw",
        metadata={
            "description": "Seats by the draw, by lists (`prefer`; `choose`: the best standing first), or by bids."
        },
    )
    bidding = StrictInt(
        load_default=43_200,
        validate=range_check(0, MAX_REVEAL),
        metadata={"description": "Seconds to file bids or lists of seats."},
    )
    bid_rate = StrictInt(
        load_default=DEFAULT_RATE,
        validate=range_check(0, MAX_RATE),
        metadata={"description": "Ticks of handicap for a whole bid."},
    )
    relations = choice_field(
        *RELATIONS,
        load_default="ignore",
        metadata={"description": "Of a Swiss event: part people with a relation that both have declared."},
    )
    seeds = choice_field(
        *SEEDS,
        load_default="draw",
        metadata={"description": "First round of a Swiss event or a knockout: by `ratings`, then by the draw."},
    )
    wanted_bye = choice_field(
        *WANTED_BYES,
        load_default="zero",
        metadata={
            "description": "Worth of a wanted bye. `half` or `mean` of the credit for a drawn one counts for one that "
            "was wanted before the first draw of the stage, and not in the last round."
        },
    )
    patience = StrictInt(
        load_default=DAY,
        validate=range_check(0, MAX_REVEAL),
        metadata={"description": "Of a ladder or arena: most seconds to wait for a table of the preferred size."},
    )
    window = StrictInt(
        load_default=90 * DAY,
        validate=range_check(MIN_WINDOW, MAX_WINDOW),
        metadata={"description": "Of a ladder or arena: seconds after its end during which a table counts."},
    )


class EntryBandSchema(RequestSchema):
    """Ratings as the list of the game shows them, in whole hundredths; imported entrants need none."""

    least = StrictInt(load_default=None, allow_none=True, validate=range_check(-MAX_RATING, MAX_RATING))
    most = StrictInt(load_default=None, allow_none=True, validate=range_check(-MAX_RATING, MAX_RATING))
    tables = StrictInt(
        load_default=0, validate=range_check(0, 1000), metadata={"description": "Least number of rated tables."}
    )


def _elsewhere_field(**more: Any) -> fields.String:
    return choice_field(
        *ELSEWHERE,
        allow_none=True,
        metadata={"description": "Tables outside of the service: `some` that you name, or `all`. null: none."},
        **more,
    )


def _bots_field(**more: Any) -> fields.String:
    return choice_field(
        *BOTS,
        metadata={"description": "Whether programs may play: `none`, or `declared`: those that say so."},
        **more,
    )


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
    stages = BoundedList(fields.Nested(TournamentStageSchema), 1, MAX_STAGES, required=True)
    capacity = StrictInt(
        load_default=MAX_ENTRANTS,
        validate=range_check(2, MAX_ENTRANTS),
        metadata={"description": "Most entrants in the draw. Further ones wait, in the order of their entry."},
    )
    chain = StrictInt(
        load_default=None,
        allow_none=False,
        validate=range_check(1, MAX_CHAIN),
        metadata={
            "description": f"Number of draws. By default {MAX_CHAIN} with a ladder or arena.",
            "default": DEFAULT_CHAIN,
        },
    )
    reveal = StrictInt(
        load_default=43_200,
        validate=range_check(0, MAX_REVEAL),
        metadata={"description": "Seconds to show nonces after the check-in."},
    )
    elsewhere = _elsewhere_field(load_default=None)
    bots = _bots_field()
    band = fields.Nested(
        EntryBandSchema,
        load_default=None,
        allow_none=True,
        metadata={"description": "Ratings of those who enter by themselves. null: everybody may."},
    )


class NewDivisionSchema(RequestSchema):
    name = word_field(
        r"^[A-Za-z0-9]([A-Za-z0-9 -]{0,18}[A-Za-z0-9])?$",
        required=True,
        metadata={"description": "Name of the division, for ever in the record.", "examples": ["B"]},
    )
    band = fields.Nested(
        EntryBandSchema,
        load_default=None,
        allow_none=True,
        metadata={"description": "Ratings of those who enter it. null: everybody may."},
    )


class EnterSchema(RequestSchema):
    """An empty object."""

    may_be_left_out = True


class WantedByeSchema(RequestSchema):
    may_be_left_out = True
    round = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, MAX_ROUNDS),
        metadata={"description": "Default: the next round. A later one only before the first draw of the stage."},
    )


class CheckInSchema(RequestSchema):
    may_be_left_out = True
    nonce_hash = word_field(
        r"^[0-9a-f]{64}$",
        load_default="",
        metadata={"description": "SHA-256 of the UTF-8 bytes of a nonce that you show after the check-in."},
    )


class TournamentNonceSchema(RequestSchema):
    nonce = word_field(r"^[!-~]{16,128}$", required=True)


class BidSchema(RequestSchema):
    """`bid` where bids give the seats, else `seats`."""

    bid = BoundedList(
        StrictInt(validate=range_check(0, TOTAL_BID)),
        0,
        MAX_SEATS,
        load_default=list,
        metadata={"description": "A number for each seat, with the sum 100.", "examples": [[60, 30, 10]]},
    )
    seats = BoundedList(
        StrictInt(validate=range_check(0, MAX_SEATS - 1)),
        0,
        MAX_SEATS,
        load_default=list,
        metadata={"description": "The seats that you want, the best first.", "examples": [[2, 0]]},
    )


def _scores_field() -> StrictInt:
    return StrictInt(
        required=True,
        validate=range_check(1, MAX_INT),
        metadata={"description": "Version of the record that entered the scores.", "examples": [21]},
    )


class TableScoresSchema(RequestSchema):
    points = BoundedList(
        StrictInt(validate=range_check(-MAX_SCORE, MAX_SCORE)),
        2,
        MAX_SEATS,
        required=True,
        metadata={"description": "Game points by seat.", "examples": [[31, 24, 24]]},
    )
    places = BoundedList(
        StrictInt(validate=range_check(1, MAX_SEATS)),
        0,
        MAX_SEATS,
        load_default=list,
        metadata={"description": "The place of each seat. Default: as the points have them."},
    )


class ConfirmedScoresSchema(RequestSchema):
    scores = _scores_field()


class SettledScoresSchema(RequestSchema):
    scores = _scores_field()
    reason = reason_field()


class ScheduleSchema(RequestSchema):
    rule = word_field(
        r"^(RRULE:)?[A-Z]{3,10}=[A-Z0-9,+-]{1,80}(;[A-Z]{3,10}=[A-Z0-9,+-]{1,80}){0,8}$",
        required=True,
        metadata={"description": "A rule of RFC 5545, once a day at most.", "examples": ["FREQ=WEEKLY;BYDAY=SU"]},
    )
    start = word_field(
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$",
        required=True,
        metadata={"description": "First time of the rule: this event's.", "examples": ["2030-01-06T20:00"]},
    )
    zone = word_field(
        r"^[A-Za-z_]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,2}$",
        load_default="UTC",
        metadata={"description": "Time zone (IANA) of `start` and of the rule.", "examples": ["Europe/Paris"]},
    )


def _seconds_field(default: int, most: int, description: str) -> StrictInt:
    return StrictInt(load_default=default, validate=range_check(0, most), metadata={"description": description})


class TimetableSchema(RequestSchema):
    stage = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, MAX_STAGES),
        metadata={"description": "null: the current stage."},
    )
    starts = BoundedList(
        word_field(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$"),
        0,
        MAX_ROUNDS,
        required=True,
        metadata={
            "description": "Start of each round on the zone's clock, the first one first. Empty: no timetable.",
            "examples": [["2030-01-06T14:00", "2030-01-06T16:30"]],
        },
    )
    zone = word_field(
        r"^[A-Za-z_]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,2}$",
        load_default="UTC",
        metadata={"description": "Time zone (IANA) of the starts.", "examples": ["Europe/Paris"]},
    )
    opens = _seconds_field(1_800, MAX_OPENS, "The check-in opens as many seconds before a start.")
    closes = _seconds_field(300, MAX_OPENS, "It closes as many seconds before a start, and the draw follows.")
    each = StrictBool(
        load_default=True,
        metadata={"description": "True for a check-in before each round; else before the first alone."},
    )
    warning = _seconds_field(600, DAY, "Entrants in play are warned as many seconds before the end of a round.")
    extension = _seconds_field(
        0, MAX_EXTENSION, "At the `time_limit` of the tables a round goes on once as many seconds."
    )


class AmendmentSchema(RequestSchema):
    seats = fields.Nested(TournamentSeatsSchema, metadata={"description": "Seats at a table."})
    capacity = StrictInt(validate=range_check(2, MAX_ENTRANTS), metadata={"description": "Most entrants in the draw."})
    reveal = StrictInt(
        validate=range_check(0, MAX_REVEAL), metadata={"description": "Seconds to show nonces after the check-in."}
    )
    elsewhere = _elsewhere_field()
    bots = _bots_field()
    bidding = StrictInt(
        validate=range_check(0, MAX_REVEAL), metadata={"description": "Seconds to file bids in the current stage."}
    )
    pace = fields.Raw(allow_none=True, metadata={"description": "Pace of the next tables, as of a new table."})
    time_limit = StrictInt(
        allow_none=True,
        validate=range_check(60, MAX_SECONDS),
        metadata={"description": "Time limit of the next tables, seconds. null: none."},
    )
    stages = BoundedList(
        fields.Nested(TournamentStageSchema),
        0,
        MAX_STAGES,
        metadata={"description": "All stages that have not begun, in place of those planned."},
    )
    reason = VisibleText(500, "The reason, which everybody may read. Erasable.", "Four have left.", required=True)


class PhaseSchema(RequestSchema):
    phase = choice_field(
        "checking",
        "drawing",
        "queue_closed",
        "queue_open",
        required=True,
        metadata={"description": "Open the check-in, or close it; close the queue of a ladder or arena, or open it."},
    )


class TournamentEndSchema(RequestSchema):
    """An empty object, or the end that is meant."""

    may_be_left_out = True
    outcome = choice_field(
        "finished",
        "cancelled",
        load_default=str,
        metadata={
            "description": "The end that you mean: another one is refused. `finished` also ends a tournament before "
            "all its rounds, with the last official standings. By default, either, and `finished` after all rounds."
        },
    )


class TournamentDrawSchema(RequestSchema):
    """An empty object, or the reason of another draw."""

    may_be_left_out = True
    reason = reason_field()


class TournamentRulingSchema(RequestSchema):
    """A ruling: `placed`, `annulled` with `table`; `penalised`, `excluded` with `entrant`; `restored` with `ruling`."""

    act = choice_field("placed", "annulled", "penalised", "excluded", "restored", required=True)
    stage = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, MAX_STAGES),
        metadata={"description": "Default: the current stage."},
    )
    table = word_field(
        r"^([1-9][0-9]{0,2}\.[1-9][0-9]{0,3})?$", load_default="", metadata={"description": "`round.pod`."}
    )
    places = BoundedList(
        StrictInt(validate=range_check(1, MAX_SEATS)),
        0,
        MAX_SEATS,
        load_default=list,
        metadata={"description": "`placed`: the place of each seat. After two on place 2 comes place 4."},
    )
    how = choice_field(
        *ANNULMENTS,
        load_default="void",
        metadata={
            "description": "`annulled`: `void` as if not played, `average` with a credit as for a bye, `replay` to be "
            "played again."
        },
    )
    entrant = StrictInt(load_default=None, allow_none=True, validate=range_check(0, MAX_NUMBER))
    ticks = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, MAX_PENALTY),
        metadata={"description": "`penalised`: ticks to subtract. 1 point is 5040 ticks."},
    )
    results = choice_field(
        *EXCLUSIONS,
        load_default="keep",
        metadata={
            "description": "`excluded`: results stay (`keep`), the entrant's tables do not count (`void`), or the "
            "entrant has the last place at each (`last`)."
        },
    )
    ruling = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(1, MAX_INT),
        metadata={"description": "`restored`: the number of the ruling."},
    )
    reason = VisibleText(500, "The reason, which everybody may read. Erasable.", "A wrong score.", load_default="")


class TournamentAppealRequestSchema(RequestSchema):
    ruling = StrictInt(
        required=True, validate=range_check(1, MAX_INT), metadata={"description": "The number of the ruling."}
    )
    reason = VisibleText(500, "The reason, which everybody may read. Erasable.", "I was there.", required=True)


class TournamentAnswerSchema(RequestSchema):
    entrant = StrictInt(
        load_default=None,
        validate=range_check(0, MAX_NUMBER),
        metadata={"description": "Author of the appeal. Default: the first without an answer."},
    )
    outcome = choice_field(*OUTCOMES, required=True)
    reason = VisibleText(500, "The reason, which everybody may read. Erasable.", "Rule 4.2.", required=True)


class TournamentRulingHeaders(KeyHeaders):
    match = word_field(
        r'^"[0-9a-f]{64}"$',
        data_key="If-Match",
        load_default="",
        metadata={"description": "ETag of the dry run.", "examples": ['"' + "0" * 64 + '"']},
    )


class AdjournmentSchema(TournamentDrawSchema):
    final_after = StrictInt(
        load_default=DEFAULT_FINAL_AFTER,
        validate=range_check(LEAST_FINAL_AFTER, DEFAULT_FINAL_AFTER),
        metadata={"description": "Seconds after which the games are closed, unless you withdraw the ruling."},
    )


class SubstituteSchema(RequestSchema):
    name = VisibleText(40, "Account name of the person.", "Anne", load_default="")
    player = word_field(r"^[A-Za-z0-9_-]{1,80}$", load_default="", metadata={"description": "Or the player id."})


def _table_field(description: str) -> fields.String:
    form = r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$"
    return word_field(form, load_default="", metadata={"description": description})


class NewAnnouncementSchema(RequestSchema):
    text = VisibleText(1000, "What you say. Erasable.", "Round 2 begins at 14:00.", required=True)
    game = _table_field("A table of the event. Empty: all entrants.")


class AnnouncementsArgs(RequestSchema):
    game = _table_field("A table of the event: also what is said to it alone.")


class EventInvitationSchema(SubstituteSchema):
    """A person."""


MOST_HALL, MOST_HOURS = 1_000, 72
"""Most people of a code, and hours."""


class HallCodeSchema(RequestSchema):
    people = StrictInt(
        load_default=60, validate=range_check(1, MOST_HALL), metadata={"description": "People who may use it."}
    )
    hours = StrictInt(
        load_default=12, validate=range_check(1, MOST_HOURS), metadata={"description": "Hours until it ends."}
    )


class EntryCodeSchema(RequestSchema):
    code = word_field(r"^[A-Za-z0-9 -]{1,64}$", required=True, metadata={"description": "A code of an event."})


class ImportEntrantsSchema(RequestSchema):
    csv = fields.String(
        required=True,
        validate=validate.Length(1, 100_000, error=LENGTH),
        metadata={
            "description": "A list with the columns `name` and `account`; commas, semicolons or tabs between them.",
            "examples": ["name,account\nAnne of Brest,\n,Bertrand\n"],
        },
    )


class TournamentOfficerSchema(SubstituteSchema):
    office = choice_field(
        *ROLES,
        required=True,
        metadata={"description": "`arbiter`: rulings alone. `deputy`: all else, too, but naming officers and the end."},
    )


class TournamentsArgs(ChangePageArgs):
    status = choice_field(*STATUSES, load_default="")
    ruleset = word_field(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")


def stage_query() -> QueryInt:
    """Return a query field for a stage."""
    return QueryInt(
        validate=range_check(1, MAX_STAGES), metadata={"description": "Number of the stage. Default: the current one."}
    )


class StandingsArgs(WaitArgs):
    after_round = QueryInt(
        validate=range_check(1, MAX_ROUNDS),
        metadata={"description": "The official standings after this round. Default: provisional ones, as of now."},
    )
    stage = stage_query()


class PlacesByRoundArgs(RequestSchema):
    stage = stage_query()


SHEETS = ("entrants", "tables", "seats", "standings", "wdd_classification", "wdd_boards")
"""Sheets of a tournament."""


DIALECT = "`excel`: opens in a spreadsheet by a double click, with a mark and the separator and decimal sign of `lang`."


class ExportArgs(RequestSchema):
    games = choice_field("0", "1", load_default="0", metadata={"description": "1: with the exports of the games."})


class SheetArgs(RequestSchema):
    sheet = choice_field(*SHEETS, load_default="standings")
    dialect = choice_field("rfc4180", "excel", load_default="rfc4180", metadata={"description": DIALECT})
    lang = choice_field(*LANGUAGES, metadata={"description": "Of the spreadsheet. Overrides Accept-Language."})


class TournamentCalendarArgs(RequestSchema):
    entrant = QueryInt(validate=range_check(0, MAX_NUMBER), metadata={"description": "Default: all entrants."})
    lang = choice_field(*LANGUAGES, metadata={"description": "Overrides Accept-Language."})


class EntrantCardArgs(PlacesByRoundArgs):
    after_round = QueryInt(
        validate=range_check(1, MAX_ROUNDS),
        metadata={"description": "In the official standings after this round. Default: as of now."},
    )
    lang = choice_field(*LANGUAGES, metadata={"description": "Overrides Accept-Language."})


class ExplainArgs(RequestSchema):
    a = QueryInt(required=True, validate=range_check(0, MAX_NUMBER))
    b = QueryInt(required=True, validate=range_check(0, MAX_NUMBER))
    stage = stage_query()
    after_round = QueryInt(
        validate=range_check(1, MAX_ROUNDS),
        metadata={"description": "In the official standings after this round. Default: as of now."},
    )
    lang = choice_field(*LANGUAGES, metadata={"description": "Overrides Accept-Language."})
