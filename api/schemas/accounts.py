"""Schemas of requests and responses about accounts."""

from __future__ import annotations

from typing import Unpack

from marshmallow import ValidationError, fields, validate

from api.schemas.chat_schemas import MyChatSchema
from api.schemas.field_options import ValueOptions
from api.schemas.fields import int_field, text_field, text_list, time_field
from api.schemas.mail import MailSchema
from api.schemas.oauth_clients import GrantSchema, ListedClientSchema
from api.schemas.request_fields import (
    BETWEEN,
    LENGTH,
    LONGER,
    BoundedDict,
    BoundedList,
    FullMatch,
    QueryInt,
    RequestSchema,
    StrictBool,
    StrictInt,
    VisibleText,
    choice_field,
)
from api.schemas.response_fields import PageSchema, ResponseSchema
from api.schemas.second_factors import FactorSchema
from api.schemas.table_responses import ImportDocSchema
from api.schemas.talk_schemas import NoteSchema
from api.schemas.webhooks import ListedWebhookSchema
from domain.accounts.account_settings import list_time_zones
from domain.accounts.accounts import ROLES
from domain.accounts.credential_tables import SCOPES
from domain.accounts.passwords import LONGEST, SHORTEST

_STATES = ("active", "suspended", "banned")
_YEAR = 366
_GAME = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _account_name(**options: Unpack[ValueOptions]) -> VisibleText:
    return VisibleText(40, "Account name. Names that look alike are refused.", "Anne", **options)


def _secret_field(description: str, most: int, least: int = 0, **options: Unpack[ValueOptions]) -> fields.String:
    length = validate.Length(least or None, most, error=LENGTH if least else LONGER)
    return fields.String(validate=length, metadata={"description": description}, **options)


def _password_field(description: str = "") -> fields.String:
    text = f"{description} {SHORTEST} to {LONGEST} characters; no common password, and not the name.".strip()
    return _secret_field(text, LONGEST, required=True)


def _label_field(description: str) -> fields.String:
    return VisibleText(40, description, "my telephone", load_default="")


def _int_range(lo: int, hi: int, description: str, **options: Unpack[ValueOptions]) -> StrictInt:
    return StrictInt(validate=validate.Range(lo, hi, error=BETWEEN), metadata={"description": description}, **options)


# --- requests --------------------------------------------------------------------------------------------------

_DEVICE = "Device token from an earlier response. Failed logins from other devices then do not delay this one."


class NewAccountSchema(RequestSchema):
    name = _account_name(required=True)
    password = _password_field()
    invitation = _secret_field("Required if registration is by invitation.", 64, load_default="")
    bot = StrictBool(load_default=False, metadata={"description": "True for a program."})
    label = _label_field("Name of the device.")


class SecondSchema(RequestSchema):
    """The second factor sent with a password."""

    factor = _secret_field(
        "If the account has a second factor: an authenticator code, or a recovery code, valid once.",
        40,
        load_default="",
    )
    passkey = BoundedDict(
        10,
        "Instead of a code: the browser's response to a challenge of `POST /v1/passkey-challenges`.",
        load_default=None,
        allow_none=True,
    )


class LoginSchema(SecondSchema):
    name = _secret_field("Account name.", 200, 1, required=True)
    password = _secret_field("The account's password.", LONGEST, 1, required=True)
    label = _label_field("Name of the device.")
    device = _secret_field(_DEVICE, 100, load_default="")


class RecoverySchema(SecondSchema):
    name = _secret_field("Account name.", 200, 1, required=True)
    code = _secret_field("A recovery code, or one from a mail or the operator, valid once.", 40, 1, required=True)
    password = _password_field("The new password.")
    label = _label_field("Name of the device.")


class ForgottenSchema(RequestSchema):
    name = _secret_field("Account name.", 200, 1, required=True)


class ProofSchema(SecondSchema):
    password = _secret_field("The account's password.", LONGEST, 1, required=True)


class NewPasswordSchema(SecondSchema):
    current = _secret_field("The current password.", LONGEST, 1, required=True)
    password = _password_field("The new password.")


class RenameSchema(RequestSchema):
    name = _account_name(required=True)


def _check_zone(value: str) -> None:
    if value not in list_time_zones():
        raise ValidationError("This is no time zone of the IANA database.")


class SettingsSchema(RequestSchema):
    """Settings of an account."""

    zone = fields.String(
        required=True,
        validate=[validate.Length(max=64, error=LONGER), _check_zone],
        metadata={"description": "Time zone (IANA) of times in mails.", "examples": ["Europe/Paris"]},
    )


class NewTokenSchema(RequestSchema):
    label = VisibleText(40, "Purpose of the token.", "a bot", required=True)
    scopes = BoundedList(choice_field(*SCOPES), 1, len(SCOPES), required=True)
    days = _int_range(1, 365, "Days until the token expires.", load_default=90)


class ClaimSchema(RequestSchema):
    token = _secret_field("Token of a guest's seat, or of a guest as director.", 100, 1, required=True)


class NewReportSchema(RequestSchema):
    player = fields.String(validate=FullMatch(r"^[A-Za-z0-9_-]{1,80}$"), load_default="")
    game = fields.String(validate=FullMatch(_GAME), load_default="")
    said = VisibleText(500, "Description of the incident.", "An insulting player name.", required=True)


class LogArgs(RequestSchema):
    cursor = fields.String(
        validate=FullMatch(r"^[0-9a-f]{1,40}$"), load_default="", metadata={"description": "From the previous page."}
    )
    limit = QueryInt(load_default=50, validate=validate.Range(1, 200, error=BETWEEN))


class AllLogArgs(LogArgs):
    account = fields.String(validate=FullMatch(r"^[0-9a-f]{16}$"), load_default="")


class ReportsArgs(LogArgs):
    status = choice_field("open", "settled", load_default="open")


class FindArgs(RequestSchema):
    name = fields.String(load_default="", validate=validate.Length(max=200, error=LONGER))
    player = fields.String(load_default="", validate=validate.Length(max=80, error=LONGER))


class SettleSchema(RequestSchema):
    outcome = VisibleText(500, "The result. The report's author can read it.", "The player was warned.", required=True)


class StandingSchema(RequestSchema):
    state = choice_field(*_STATES, required=True)
    days = _int_range(1, _YEAR, "Days of a suspension.", load_default=7)
    reason = VisibleText(500, "Reason, kept in the account's log.", "Insulting names.", load_default="")


class RoleSchema(RequestSchema):
    role = choice_field(*ROLES, required=True)


class NewInvitationSchema(RequestSchema):
    uses = _int_range(1, 1000, "Number of accounts.", load_default=1)
    days = _int_range(1, _YEAR, "Days of validity.", load_default=14)


# --- answers ---------------------------------------------------------------------------------------------------


class PersonSchema(ResponseSchema):
    """An account's public data."""

    account = text_field("Account id. Game records do not contain it.")
    player = text_field("Player id in game records.")
    name = text_field()
    bot = fields.Boolean(required=True)


class EnteredSchema(PersonSchema):
    token = text_field("The session's token, sent only here and in repetitions with the same key.")
    device = text_field(_DEVICE)


class RegisteredSchema(EnteredSchema):
    codes = text_list()


class CodesSchema(ResponseSchema):
    codes = text_list()


class MeSchema(PersonSchema):
    made = time_field("Opening time,")
    state = choice_field(*_STATES, required=True)
    until = fields.Integer(required=True, allow_none=True, metadata={"description": "End of a suspension, ms."})
    role = choice_field(*ROLES, required=True)
    scopes = text_list(SCOPES)
    session = fields.Boolean(required=True, metadata={"description": "True if the request used a session."})
    players = text_list()
    codes = fields.Integer(required=True, metadata={"description": "Number of unused recovery codes."})


class DeviceSchema(ResponseSchema):
    id = text_field()
    label = text_field()
    factors = text_list()
    family = choice_field("ipv4", "ipv6", "", required=True)
    made = time_field("Login time,")
    used = time_field("Last use, to within ten minutes,")
    current = fields.Boolean(required=True, metadata={"description": "True for the session of this request."})


class DevicesSchema(ResponseSchema):
    items = fields.List(fields.Nested(DeviceSchema), required=True)


class ProvenSchema(ResponseSchema):
    token = text_field("The session's new token. The previous one is revoked.")
    until = time_field("Expiry of the password confirmation,")


class PersonalTokenSchema(ResponseSchema):
    id = text_field()
    label = text_field()
    scopes = text_list(SCOPES)
    until = time_field("Expiry,")


class ListedTokenSchema(PersonalTokenSchema):
    made = time_field("Creation time,")
    used = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Last use, to within ten minutes, ms."}
    )


class MyChallengeSchema(ResponseSchema):
    game = text_field()
    title = text_field("Title of the table, or empty.")
    seat = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The reserved seat. null: any free seat."}
    )
    by = text_field("The challenger's player id.")
    name = fields.String(required=True, allow_none=True, metadata={"description": "The player's name."})
    at = time_field("Time of the challenge,")
    until = time_field("Expiry,")


class MyChallengesSchema(ResponseSchema):
    items = fields.List(fields.Nested(MyChallengeSchema), required=True)


class BlockSchema(ResponseSchema):
    player = text_field()
    name = fields.String(required=True, allow_none=True, metadata={"description": "The player's name."})
    since = time_field("Start,")


class BlocksSchema(ResponseSchema):
    items = fields.List(fields.Nested(BlockSchema), required=True)


class PersonalTokensSchema(ResponseSchema):
    items = fields.List(fields.Nested(ListedTokenSchema), required=True)


class NewPersonalTokenSchema(PersonalTokenSchema):
    token = text_field("Sent only here and in repetitions with the same key.")


class ClaimedSchema(ResponseSchema):
    player = text_field()
    games = text_list()


class LogEntrySchema(ResponseSchema):
    id = text_field()
    account = text_field()
    at = time_field("Time of the event,")
    what = text_field()
    address = text_field("The client's network, never a single address.")
    detail = text_field()


class LogSchema(PageSchema):
    items = fields.List(fields.Nested(LogEntrySchema), required=True)


class ComplaintSchema(ResponseSchema):
    id = text_field()
    at = time_field("Time of the report,")
    player = text_field()
    game = text_field()
    said = text_field()
    outcome = text_field("The moderator's result; empty while the report is open.")


class FiledSchema(ComplaintSchema):
    account = text_field("The author's account.")


class ComplaintsSchema(PageSchema):
    items = fields.List(fields.Nested(FiledSchema), required=True)


class CalledSchema(ResponseSchema):
    name = text_field()
    since = time_field("Start,")
    until = fields.Integer(required=True, allow_none=True, metadata={"description": "End, ms. null: current."})


class MemberSchema(PersonSchema):
    """An account as moderators see it."""

    made = time_field("Opening time,")
    state = choice_field(*_STATES, "erased", required=True)
    until = fields.Integer(required=True, allow_none=True, metadata={"description": "End of a suspension, ms."})
    role = choice_field(*ROLES, required=True)
    players = text_list()
    names = fields.List(fields.Nested(CalledSchema), required=True)


class InvitationSchema(ResponseSchema):
    invitation = text_field("Sent only here and in repetitions with the same key.")


class MySettingsSchema(ResponseSchema):
    zone = text_field("Time zone (IANA) of times in mails.")


class MyDataSchema(MeSchema):
    """All stored data of an account, except game records, which contain opaque ids only."""

    names = fields.List(fields.Nested(CalledSchema), required=True)
    sessions = fields.List(fields.Nested(DeviceSchema), required=True)
    tokens = fields.List(fields.Nested(ListedTokenSchema), required=True)
    factors = fields.List(fields.Nested(FactorSchema), required=True)
    clients = fields.List(fields.Nested(ListedClientSchema), required=True)
    grants = fields.List(fields.Nested(GrantSchema), required=True)
    log = fields.List(fields.Nested(LogEntrySchema), required=True)
    reports = fields.List(fields.Nested(ComplaintSchema), required=True)
    texts = fields.List(
        fields.String(), required=True, metadata={"description": "Reasons, titles and notes at tables."}
    )
    messages = fields.List(
        fields.Dict(), metadata={"description": "Messages that you have written, as their commitments stand for them."}
    )
    notes = fields.List(fields.Nested(NoteSchema), metadata={"description": "Your own notes about tables."})
    webhooks = fields.List(fields.Nested(ListedWebhookSchema), required=True)
    mail = fields.List(fields.Nested(MailSchema), required=True, metadata={"description": "Mail subscription, if any."})
    settings = fields.Nested(MySettingsSchema, required=True)
    chats = fields.List(fields.Nested(MyChatSchema), required=True)
    pages = fields.Dict(
        keys=fields.String(), values=fields.String(), metadata={"description": "Settings of the pages for people."}
    )
    visits = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata={"description": "Version by game that you have seen on its page."},
    )
    calendar_key = int_field("Creation time of the calendar's key, ms since 1970 UTC; or null.", nullable=True)
    watching = text_list()
    series = fields.List(
        fields.String(), required=True, metadata={"description": "Tournaments whose series you follow."}
    )
    blocks = text_list()
    imports = fields.List(fields.Nested(ImportDocSchema), metadata={"description": "Games that you have imported."})
    substitutions = fields.List(
        fields.Dict(),
        required=True,
        metadata={"description": "Open questions to be a substitute: to you, and yours to others."},
    )
    offices = fields.Dict(
        keys=fields.String(), values=fields.String(), metadata={"description": "Roles as an officer by game."}
    )
    relations = fields.List(fields.String(), metadata={"description": "Players to whom a relation is declared."})
    roles = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.Raw()),
        required=True,
        metadata={"description": "Roles by game."},
    )
