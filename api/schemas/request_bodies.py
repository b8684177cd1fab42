"""Schemas of request bodies of players: tables, seats, moves, forks and proposals."""

from __future__ import annotations

from typing import ClassVar, Unpack

from marshmallow import ValidationError, fields, validate, validates_schema

from api.schemas.field_options import ValueOptions
from api.schemas.request_fields import (
    LONGER,
    BoundedDict,
    BoundedList,
    RequestSchema,
    StrictBool,
    StrictInt,
    VisibleText,
    choice_field,
    name_field,
    range_check,
    word_field,
)
from api.schemas.schema_builder import JsonSchemaField, ref
from domain.accounts.social import MOST_RELATIONS
from domain.bots import BOTS
from domain.kernel.game.daily_hour import HOUR_PATTERN, MAX_DAYS_OFF, MAX_ZONE
from domain.kernel.game.deadlines import (
    MAX_DELAY_SECONDS,
    MAX_LAST_TURN,
    MAX_MISSES,
    MAX_SECONDS,
    MAX_VACATION_DAYS,
)
from domain.kernel.game.officers import OFFICES
from domain.kernel.text.message_catalog import Message
from domain.types import Doc

LAST_MS = 4_102_444_800_000
"""Latest point in time in a request: the year 2100."""

WAIT = {"description": "Wait until the views have read this log position (`Annals-Position`)."}

PACE = {
    "description": "A preset of the ruleset, or seconds by deadline class, with seconds of grace and of each seat's "
    "bank, and its vacation days. With `daily`, deadlines are at that hour, after at least those seconds.",
    "anyOf": [
        {"type": "string"},
        {"type": "null"},
        {
            "type": "object",
            "properties": {
                "seconds": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
                "grace": {"type": "integer", "minimum": 0, "maximum": MAX_SECONDS},
                "bank": {"type": "integer", "minimum": 0, "maximum": MAX_SECONDS},
                "vacation": {"type": "integer", "minimum": 0, "maximum": MAX_VACATION_DAYS},
                "daily": {
                    "type": "object",
                    "properties": {
                        "hour": {"type": "string", "pattern": f"^{HOUR_PATTERN}$", "examples": ["20:00"]},
                        "zone": {
                            "type": "string",
                            "maxLength": MAX_ZONE,
                            "description": "Name of the time zone (IANA).",
                            "examples": ["Europe/Paris"],
                        },
                        "days_off": {
                            "type": "array",
                            "items": {"type": "integer", "minimum": 1, "maximum": 7},
                            "maxItems": MAX_DAYS_OFF,
                            "uniqueItems": True,
                            "description": "Days of the week without deadlines, 1 (Monday) to 7 (ISO 8601).",
                        },
                    },
                    "required": ["hour", "zone"],
                    "additionalProperties": False,
                },
            },
            "required": ["seconds"],
            "additionalProperties": False,
        },
    ],
}


DEFAULT_MISSES = {"row": 3, "all": 5}
"""Missed deadlines, on end or altogether, after which a seat of a new table counts as vacant."""


class MissesSchema(RequestSchema):
    row = StrictInt(
        load_default=DEFAULT_MISSES["row"],
        validate=range_check(1, MAX_MISSES),
        metadata={"description": "Missed deadlines on end."},
    )
    all = StrictInt(
        load_default=DEFAULT_MISSES["all"],
        validate=range_check(1, MAX_MISSES),
        metadata={"description": "Missed deadlines altogether."},
    )


class AppealTimesSchema(RequestSchema):
    appeal = StrictInt(
        required=True,
        validate=range_check(60, MAX_SECONDS),
        metadata={"description": "Seconds to appeal against a decision of an officer."},
    )
    answer = StrictInt(
        required=True,
        validate=range_check(60, MAX_SECONDS),
        metadata={"description": "Seconds to answer an appeal; then the decision stands."},
    )


class NewGameSchema(RequestSchema):
    ruleset = word_field(
        r"^[a-z][a-z0-9_]{0,60}(@[1-9][0-9]{0,5})?$",
        required=True,
        metadata={"description": "`orders@1`. Default version: the newest.", "examples": ["struggle_of_empires@1"]},
    )
    seats = StrictInt(required=True, validate=range_check(1, 100))
    options = BoundedDict(100, load_default=dict)
    pace = fields.Raw(load_default=None, allow_none=True, metadata=PACE)
    undo = choice_field("free", "consent", "director", "none", load_default="consent")
    listing = choice_field("public", "unlisted", "invitation", load_default="public")
    hold = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(0, MAX_SECONDS),
        metadata={
            "description": "Seconds to hold an abandoned seat for a substitute, without defaults. null: the longest "
            "time of the pace, or one hour without a pace."
        },
    )
    several = StrictBool(load_default=False, metadata={"description": "True if one person may take several seats."})
    suggestions = StrictBool(
        metadata={
            "description": "Whether a seat may ask the bot for a move (`/suggestion`), also among several people. "
            "Never at a public table, since it counts for ratings. Default: only a person among bots may."
        }
    )
    standing_orders = choice_field(
        "allowed",
        "refused",
        "shown",
        metadata={
            "description": "Whether seats may decide beforehand (`/standing-orders`). `shown`: everybody reads which "
            "moves an order made, and it waits for nothing. Default: `allowed`, in a tournament `refused`."
        },
    )
    misses = fields.Nested(
        MissesSchema,
        load_default=lambda: dict(DEFAULT_MISSES),
        allow_none=True,
        metadata={
            "description": "Missed deadlines after which a seat counts as vacant; its player may take it again. null: "
            "never. No deadline is missed without a pace."
        },
    )
    time_limit = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(60, MAX_SECONDS),
        metadata={
            "description": "Seconds of play after which the table is adjourned: places follow from its state, and are "
            "final. null: none."
        },
    )
    last_turn = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(60, MAX_LAST_TURN),
        metadata={
            "description": "At the `time_limit` the current turn, or the current round where rounds are numbered, is "
            "played to its end, for as many seconds at most. Only with `time_limit`. null: the table ends at once."
        },
    )
    officers = choice_field(
        "neutral",
        "any",
        load_default="neutral",
        metadata={
            "description": "`neutral`: a director who has a seat needs the consent of the players for all commands "
            "but the start (`/proposals`). `any`: such a director may do everything alone."
        },
    )
    appeals = fields.Nested(
        AppealTimesSchema,
        allow_none=True,
        metadata={
            "description": "Times for appeals against decisions of officers. Without it both are the longest time of "
            "the pace, at least an hour, or a day without a pace. null: no appeals."
        },
    )
    talk = choice_field(
        "free",
        "public",
        "by_phase",
        "none",
        metadata={
            "description": "What players may write: `free`: to the table and letters. `public`: to the table alone. "
            "`by_phase`: letters when the rules allow them. `none`: nothing. Default: that of the ruleset."
        },
    )
    papers = choice_field(
        "own",
        "pass_on",
        load_default="own",
        metadata={"description": "Whether a person who takes a seat over reads its earlier letters (`pass_on`)."},
    )
    after = choice_field(
        "kept",
        "published",
        load_default="kept",
        metadata={"description": "Whether all letters become public at the close of the game (`published`)."},
    )
    names = choice_field(
        "shown",
        "hidden",
        load_default="shown",
        metadata={
            "description": "Whether nobody is told who sits where until the game is closed (`hidden`). Each holder of "
            "a seat has a player id of this table alone. Such a table counts for no rating."
        },
    )
    delay = StrictInt(
        load_default=0,
        validate=range_check(0, MAX_DELAY_SECONDS),
        metadata={
            "description": "Delay in seconds for spectators, that is all but players, the director and moderators. It "
            "applies to boards, records, listings, results and streams, after the start."
        },
    )
    name = name_field("Name of the director.")

    @validates_schema
    def check_last_turn(self, data: Doc, **_: object) -> None:
        if data["last_turn"] and not data["time_limit"]:
            raise ValidationError(Message("Only with `time_limit`."), "last_turn")


MOST_AT_ONCE = 50
"""Tables per request."""


class NewGamesSchema(RequestSchema):
    table = fields.Nested(NewGameSchema, required=True, metadata={"description": "Settings of all tables."})
    count = StrictInt(required=True, validate=range_check(1, MOST_AT_ONCE))


def reason_field() -> VisibleText:
    return VisibleText(
        500, "Officers only: the reason, shown in the timeline and erasable.", "The ferry is late.", load_default=""
    )


GAME_ID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"

UNTIL = "Time, ms since 1970 UTC. A repetition does not count twice."


def until_field(what: str, **options: Unpack[ValueOptions]) -> StrictInt:
    """Return a field for a point in time in place of an amount."""
    return StrictInt(validate=range_check(1, LAST_MS), metadata={"description": f"{what} {UNTIL}"}, **options)


class AmountSchema(RequestSchema):
    """Either an amount, or the time `until`."""

    amount: ClassVar[str] = "seconds"

    @validates_schema
    def check_form(self, data: Doc, **_: object) -> None:
        if (self.amount in data) == ("until" in data):
            raise ValidationError(Message("Either `{amount}` or `until` is expected.", amount=self.amount))


class JoinSchema(RequestSchema):
    seat = StrictInt(validate=range_check(0, 99), metadata={"description": "Default: any free seat."})
    name = name_field("Name of the player.")
    nonce_hash = word_field(
        r"^[0-9a-f]{64}$", load_default="", metadata={"description": "SHA-256 of the nonce to be revealed later."}
    )
    invitation = fields.String(load_default="", validate=validate.Length(max=64, error=LONGER))
    bot = choice_field(
        *sorted(BOTS),
        load_default="",
        metadata={"description": "Directors only: seat a bot of the service. It sees the seat's view."},
    )
    reason = reason_field()


class VacationSchema(AmountSchema):
    """Either `days` or `until`."""

    amount = "days"
    until = until_field("End of the vacation, in as many whole days as it needs.")
    days = StrictInt(validate=range_check(1, MAX_VACATION_DAYS), metadata={"description": "Whole days, from now."})


class NonceSchema(RequestSchema):
    nonce = word_field(r"^([0-9a-f]{2}){16,64}$", required=True)


class StartSchema(RequestSchema):
    """An empty object, or the reason of an officer."""

    may_be_left_out = True
    reason = reason_field()


class ConcessionSchema(RequestSchema):
    """An empty object."""


class MovesSchema(RequestSchema):
    """Either `move` or `moves`."""

    move = JsonSchemaField(ref("Move"), metadata={"description": "One move."})
    moves = BoundedList(
        JsonSchemaField(ref("Move")),
        1,
        50,
        metadata={"description": "Several moves, accepted all together or not at all."},
    )
    decision = word_field(
        r"^[0-9]{1,9}-[0-9]{1,9}$",
        load_default=None,
        metadata={
            "description": "Id of the answered decision. The move is accepted while it is open.",
            "examples": ["0-7"],
        },
    )
    seat = StrictInt(validate=range_check(0, 99), metadata={"description": "Directors only: the seat to move for."})
    reason = reason_field()

    @validates_schema
    def _one_or_many(self, data: Doc, **_: object) -> None:
        if ("move" in data) == ("moves" in data):
            raise ValidationError("Either `move` or `moves` is expected.")


class PicksSchema(RequestSchema):
    picks = BoundedList(
        fields.Raw(allow_none=True),
        0,
        2000,
        load_default=list,
        metadata={"description": "Picks so far, in order.", "examples": [[], ["attack", "india"]]},
    )
    decision = word_field(r"^[0-9]{1,9}-[0-9]{1,9}$", load_default=None)
    seat = StrictInt(
        validate=range_check(0, 99),
        metadata={"description": "Directors only: a seat without a player, or a late one."},
    )


class CardSchema(RequestSchema):
    title = VisibleText(80, "Title of the table, or empty.", "Sunday evening", load_default="")
    note = VisibleText(1000, "Note for players.", "One move a day. Beginners are welcome.", load_default="")


class ChallengeSchema(RequestSchema):
    name = VisibleText(40, "Account name of the challenged person.", "Anne", load_default="")
    player = word_field(
        r"^[A-Za-z0-9_-]{1,80}$", load_default="", metadata={"description": "Or their player id, also a guest's."}
    )
    seat = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(0, 99),
        metadata={"description": "A seat to reserve. null: any free seat."},
    )
    days = StrictInt(load_default=7, validate=range_check(1, 30), metadata={"description": "Days of validity."})


class ForkSchema(RequestSchema):
    version = StrictInt(
        required=True,
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "A version of the running game, also one that a rewind has undone."},
    )
    seat = StrictInt(
        load_default=None,
        allow_none=True,
        validate=range_check(0, 99),
        metadata={
            "description": "Begin from what this seat knew. null: a closed game as a whole, a running one as public."
        },
    )


class ImportSchema(RequestSchema):
    export = fields.String(
        required=True, metadata={"description": "The whole text of the export of a closed game.", "minLength": 1}
    )


class RematchSchema(RequestSchema):
    name = name_field("Name of the director.")


class RelationsSchema(RequestSchema):
    players = BoundedList(
        word_field(r"^[A-Za-z0-9_-]{1,80}$"),
        0,
        MOST_RELATIONS,
        required=True,
        metadata={"description": "Player ids, in place of those before."},
    )


class ConsentSchema(RequestSchema):
    agrees = StrictBool(required=True)


PROPOSAL_MEMBERS = {
    "close": (),
    "extend": ("decision", "seconds"),
    "hold": ("seat", "seconds"),
    "remove": ("seat",),
    "seat_bot": ("seat", "bot"),
    "pace": ("pace",),
    "pause": (),
    "resume": (),
    "appoint": ("player", "role"),
}
"""Act of a proposal -> the members that it needs. `until` may replace `seconds`."""


class NewProposalSchema(RequestSchema):
    act = choice_field(
        *PROPOSAL_MEMBERS,
        required=True,
        metadata={
            "description": "`close` ends the game. `extend` (`decision`, `seconds`) moves its deadline. `hold` (`seat`,"
            " `seconds`) stops a seat's time. Both take `until` in place of `seconds`. `remove` (`seat`) frees a seat."
            " `seat_bot` (`seat`, `bot`) gives a free seat to a bot. `pace` (`pace`) sets another time control."
            " `appoint` (`player`, `role`) makes somebody with an account an officer. `pause` stops all time, if you"
            " want with `until` and `moves`. `resume` ends a pause."
        },
    )
    decision = word_field(r"^[0-9]{1,9}-[0-9]{1,9}$", load_default=None)
    seconds = StrictInt(load_default=None, allow_none=True, validate=range_check(-MAX_SECONDS, MAX_SECONDS))
    until = until_field("In place of `seconds`.", load_default=None, allow_none=True)
    seat = StrictInt(load_default=None, allow_none=True, validate=range_check(0, 99))
    bot = choice_field(*BOTS, load_default=None)
    pace = fields.Raw(load_default=None, allow_none=True, metadata=PACE)
    moves = StrictBool(
        load_default=None, allow_none=True, metadata={"description": "For `pause`: true if seats may move meanwhile."}
    )
    player = word_field(r"^[A-Za-z0-9_-]{1,80}$", load_default=None, metadata={"description": "A player id."})
    role = choice_field(*OFFICES[:-1], load_default=None)

    @validates_schema(skip_on_field_errors=True)
    def check_members(self, data: Doc, **_: object) -> None:
        needed = PROPOSAL_MEMBERS[data["act"]]
        if "seconds" in needed and data["until"] is not None:
            needed = tuple("until" if name == "seconds" else name for name in needed)
        optional = ("until", "moves") if data["act"] == "pause" else ()
        for name in ("decision", "seconds", "until", "seat", "bot", "pace", "moves", "player", "role"):
            if name not in optional and (data[name] is not None) != (name in needed):
                problem = Message("Missing for this act.") if name in needed else Message("Not a member of this act.")
                raise ValidationError(problem, name)
        if data["act"] == "hold" and (data["seconds"] or 0) < 0:
            raise ValidationError(Message("Must be from {min} to {max}.", min=0, max=MAX_SECONDS), "seconds")


class RewindSchema(RequestSchema):
    to = StrictInt(required=True, validate=range_check(1, 2**31 - 1), metadata={"description": "An active version."})
    reason = VisibleText(500, "The director's reason: erasable, never in a record.", "A slip.", load_default="")
    fresh = StrictBool(
        load_default=None,
        allow_none=True,
        metadata={
            "description": "Draw everything anew that nobody has seen. As a seat you need the consent of all others."
            " Without it, chance stays for a director; a seat that undoes public draws by consent gets `true`."
        },
    )
