"""Schemas of query parameters and request headers."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.schemas.request_bodies import WAIT
from api.schemas.request_fields import LONGER, QueryInt, RequestSchema, choice_field, range_check, word_field
from domain.kernel.game.deadlines import MAX_SECONDS
from domain.kernel.game.officers import OFFICES
from domain.kernel.narration.turn_digests import LEVELS
from domain.kernel.text.message_catalog import LANGUAGES
from domain.types import MAX_INT

NEEDS = ("late", "empty", "pending", "unstarted", "broken", "silent", "paused", "ruled", "appealed", "reported")
"""Needs of a table on the desk of an officer: a deadline has passed; a seat has no player; players are asked to agree;
the table has not started; a record is damaged; nobody has moved for a week."""


class LangArgs(RequestSchema):
    lang = choice_field(*LANGUAGES, metadata={"description": "Overrides Accept-Language."})


class WaitArgs(RequestSchema):
    wait = QueryInt(load_default=0, validate=range_check(0, MAX_INT), metadata=WAIT)


class ProofArgs(WaitArgs):
    since = QueryInt(validate=range_check(1, MAX_INT), metadata={"description": "Size of a head read earlier."})
    size = QueryInt(
        validate=range_check(1, MAX_INT), metadata={"description": "At most the size of the newest signed checkpoint."}
    )


class BoardArgs(WaitArgs):
    version = QueryInt(
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "The board after this version of the game."},
    )


class PartsArgs(BoardArgs):
    members = word_field(
        r"^[a-z_]{1,40}(\.[A-Za-z0-9_:-]{1,60}){0,8}(,[a-z_]{1,40}(\.[A-Za-z0-9_:-]{1,60}){0,8}){0,19}$",
        data_key="fields",
        required=True,
        metadata={
            "description": "Up to twenty members, separated by commas. A point leads to a nested member or an item "
            "of a list.",
            "examples": ["decisions,public.regions.india,seats.0"],
        },
    )


class PageArgs(WaitArgs):
    after = QueryInt(
        load_default=0, validate=range_check(0, 2**31 - 1), metadata={"description": "Last version received."}
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class TimelineArgs(PageArgs):
    lang = choice_field(*LANGUAGES)


class ReplayArgs(WaitArgs):
    first = QueryInt(
        data_key="from",
        load_default=1,
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "Version of the first board. `Last-Event-ID` takes precedence."},
    )
    last = QueryInt(
        data_key="to",
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "Version of the last board. Default: the newest one."},
    )
    lang = choice_field(*LANGUAGES)


class BoardChangesArgs(WaitArgs):
    before = QueryInt(
        data_key="from",
        required=True,
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "Version of the board that the patch applies to."},
    )
    after = QueryInt(
        data_key="to",
        validate=range_check(1, 2**31 - 1),
        metadata={"description": "Version of the board that it makes, also an earlier one. Default: the newest one."},
    )
    lang = choice_field(*LANGUAGES)


class DigestArgs(WaitArgs):
    after = QueryInt(
        load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "Version to start after; 0: all."}
    )
    lang = choice_field(*LANGUAGES)
    level = choice_field(
        *LEVELS,
        load_default=LEVELS[0],
        metadata={"description": "`brief`: at most twelve weighty lines a turn, and the result. `full`: all."},
    )


class ChangePageArgs(RequestSchema):
    cursor = QueryInt(
        load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "From `next` of the previous page."}
    )
    since = QueryInt(load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "From `next`."})
    top = QueryInt(load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "From `next`."})
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class LobbyArgs(ChangePageArgs):
    status = choice_field("open", "running", "over", "closed", load_default="")
    ruleset = word_field(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")
    free = choice_field("0", "1", load_default="0", metadata={"description": "1: only tables with a free seat."})


class MoveArgs(RequestSchema):
    dry_run = choice_field(
        "0", "1", load_default="0", metadata={"description": "1: check only; nothing is stored or drawn."}
    )


class StreamArgs(RequestSchema):
    ticket = fields.String(load_default="", metadata={"description": "For clients without custom headers."})
    version = QueryInt(
        data_key="from",
        load_default=0,
        validate=range_check(0, 999_999_999),
        metadata={"description": "Last version received. `Last-Event-ID` takes precedence."},
    )
    deltas = choice_field(
        "0",
        "1",
        load_default="0",
        metadata={"description": "1: later boards as `patch` if smaller."},
    )


class TournamentStreamArgs(RequestSchema):
    version = QueryInt(
        data_key="from",
        load_default=0,
        validate=range_check(0, 999_999_999),
        metadata={"description": "Last version received. `Last-Event-ID` takes precedence."},
    )
    stage = QueryInt(load_default=0, validate=range_check(0, 99), metadata={"description": "0: all stages."})
    round = QueryInt(load_default=0, validate=range_check(0, 999), metadata={"description": "0: all rounds."})


class TableArgs(RequestSchema):
    game = word_field(
        r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        metadata={"description": "The table, required with an account's token. Other tokens have one table."},
    )


class KeyHeaders(Schema):
    key = word_field(
        r"^[!-~]{8,128}$",
        data_key="Idempotency-Key",
        load_default="",
        metadata={
            "description": "Repeating a request with its key returns the first response, without expiry.",
            "examples": ["move-7-of-anne"],
        },
    )


class NewHeaders(Schema):
    key = word_field(
        r"^[!-~]{32,128}$",
        data_key="Idempotency-Key",
        load_default="",
        metadata={
            "description": "At least 32 random characters, since it identifies the caller: a repetition returns the "
            "first response, with the token.",
            "examples": ["6f1c2b7e0d9a4853b1e7c2f4a8d05b96"],
        },
    )


class MoveHeaders(KeyHeaders):
    match = word_field(
        r'^"[0-9]{1,9}"$',
        data_key="If-Match",
        load_default="",
        metadata={"description": "Version of the game that the client has.", "examples": ['"12"']},
    )


class _AgentHeaders(Schema):
    agent = choice_field(
        "declared",
        data_key="Annals-Agent",
        load_default="",
        metadata={"description": "A program says that it acts, and marks the seat for all."},
    )


class AgentKeyHeaders(_AgentHeaders, KeyHeaders):
    pass


class AgentNewHeaders(_AgentHeaders, NewHeaders):
    pass


class AgentMoveHeaders(_AgentHeaders, MoveHeaders):
    pass


class StreamHeaders(Schema):
    last = fields.String(
        data_key="Last-Event-ID",
        load_default="",
        metadata={"description": "Last id of the previous stream. Other values start a new one."},
    )


class ManyHeaders(NewHeaders):
    key = word_field(
        r"^[!-~]{32,128}$",
        data_key="Idempotency-Key",
        required=True,
        metadata={
            "description": "At least 32 random characters. A repetition returns the same response and opens missing "
            "tables.",
            "examples": ["6f1c2b7e0d9a4853b1e7c2f4a8d05b96"],
        },
    )


class ExportsArgs(RequestSchema):
    ruleset = word_field(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")
    player = word_field(r"^[A-Za-z0-9_-]{1,80}$", load_default="")
    cursor = QueryInt(
        load_default=0, validate=range_check(0, MAX_INT), metadata={"description": "From `Link` of the previous page."}
    )
    limit = QueryInt(load_default=10, validate=range_check(1, 50))


class LeaveArgs(RequestSchema):
    hold = QueryInt(
        validate=range_check(0, MAX_SECONDS),
        metadata={
            "description": "Seconds to hold the seat for a substitute. Default: the table's setting. Players may "
            "shorten it, directors may also extend it."
        },
    )


class PlainPageArgs(ChangePageArgs):
    """Tables by their last change."""


class TheirGamesArgs(PlainPageArgs):
    status = choice_field("open", "running", "over", "closed", load_default="")


class ResultsArgs(RequestSchema):
    cursor = word_field(
        r"^[0-9]{1,16}\.[0-9a-f-]{36}\.[0-9]{1,2}$",
        load_default="",
        metadata={"description": "From `next` of the previous page."},
    )
    limit = QueryInt(load_default=50, validate=range_check(1, 200))


class MineArgs(ChangePageArgs):
    status = choice_field("open", "running", "over", "closed", load_default="")
    turn = choice_field(
        "mine", "all", load_default="all", metadata={"description": "mine: tables with an own open decision."}
    )


class GiveUpArgs(RequestSchema):
    role = choice_field(
        *OFFICES,
        load_default="",
        metadata={"description": "End only an offer of this role, or else this role: a repetition then ends no other."},
    )


class DeskArgs(RequestSchema):
    needs = choice_field(
        *NEEDS,
        load_default="",
        metadata={
            "description": "`late`: a deadline has passed. `empty`: a seat has no player. `pending`: players are asked "
            "to agree. `unstarted`: not started. `broken`: a record is damaged. `silent`: no move for a week. "
            "`paused`: no time runs. `ruled`: a ruling has ended the game and can be withdrawn. "
            "`appealed`: an appeal is open. `reported`: messages are reported to the officers."
        },
    )
    office = choice_field(*OFFICES, load_default="")
    status = choice_field("open", "running", load_default="")
    ruleset = word_field(r"^[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}$", load_default="")
    cursor = word_field(
        r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        load_default="",
        metadata={"description": "From `next` of the previous page."},
    )
    limit = QueryInt(load_default=100, validate=range_check(1, 500))


class ChoicesArgs(LangArgs):
    all = word_field(
        "^[01]$",
        load_default="0",
        metadata={"description": "1: return all moves that start with these picks, instead of the next choice."},
    )
    limit = QueryInt(
        load_default=100, validate=range_check(1, 1000), metadata={"description": "With `all`: most moves returned."}
    )
    ahead = QueryInt(
        load_default=0,
        validate=range_check(0, 24),
        metadata={"description": "Also return the answers to further picks, while at most so many moves are possible."},
    )


class ChallengeArgs(RequestSchema):
    to = fields.String(
        required=True,
        validate=validate.Length(max=200, error=LONGER),
        metadata={"description": "Name or player id of the challenged person."},
    )
