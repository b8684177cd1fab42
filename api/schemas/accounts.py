"""Schemas of requests and declared documents about accounts."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict, Unpack

from marshmallow import ValidationError, fields, validate

from api.schemas.chat_schemas import MyChatDoc
from api.schemas.common_documents import PageDoc
from api.schemas.field_options import ValueOptions
from api.schemas.mail import MailDoc
from api.schemas.oauth_clients import GrantDoc, ListedClientDoc
from api.schemas.push_schemas import PushDeviceDoc
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
from api.schemas.second_factors import FactorDoc
from api.schemas.table_responses import ImportDoc
from api.schemas.talk_responses import ReportedMessagesDoc
from api.schemas.webhooks import ListedWebhookDoc
from domain.accounts.account_settings import list_time_zones
from domain.accounts.accounts import ROLES
from domain.accounts.credential_tables import SCOPES
from domain.accounts.passwords import LONGEST, SHORTEST
from domain.talk.talk_store import NoteDoc
from domain.types import Doc, Json

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
    event_code = _secret_field(
        "The code of an event, or your claim code there: the limit of accounts for an address then does not apply.",
        64,
        load_default="",
    )


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
    erase = StrictBool(load_default=False, metadata={"description": "Erase the texts of reported messages."})


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


class PersonDoc(TypedDict):
    """An account's public data."""

    account: Annotated[str, "Account id. Game records do not contain it."]
    player: Annotated[str, "Player id in game records."]
    name: str
    bot: bool


class EnteredDoc(PersonDoc):
    token: Annotated[str, "The session's token, sent only here and in repetitions with the same key."]
    device: Annotated[str, _DEVICE]


class RegisteredDoc(EnteredDoc):
    codes: list[str]


class CodesDoc(TypedDict):
    codes: list[str]


class MeDoc(PersonDoc):
    made: Annotated[int, "Opening time, ms since 1970 UTC."]
    state: Annotated[str, _STATES]
    until: Annotated[int | None, "End of a suspension, ms."]
    role: Annotated[str, ROLES]
    scopes: list[Annotated[str, SCOPES]]
    session: Annotated[bool, "True if the request used a session."]
    players: list[str]
    codes: Annotated[int, "Number of unused recovery codes."]


class DeviceDoc(TypedDict):
    id: str
    label: str
    factors: list[str]
    family: Annotated[str, ("ipv4", "ipv6", "")]
    made: Annotated[int, "Login time, ms since 1970 UTC."]
    used: Annotated[int, "Last use, to within ten minutes, ms since 1970 UTC."]
    current: Annotated[bool, "True for the session of this request."]


class DevicesDoc(TypedDict):
    items: list[DeviceDoc]


class ProvenDoc(TypedDict):
    token: Annotated[str, "The session's new token. The previous one is revoked."]
    until: Annotated[int, "Expiry of the password confirmation, ms since 1970 UTC."]


class PersonalTokenDoc(TypedDict):
    id: str
    label: str
    scopes: list[Annotated[str, SCOPES]]
    until: Annotated[int, "Expiry, ms since 1970 UTC."]


class ListedTokenDoc(PersonalTokenDoc):
    made: Annotated[int, "Creation time, ms since 1970 UTC."]
    used: Annotated[int | None, "Last use, to within ten minutes, ms."]


class MyChallengeDoc(TypedDict):
    game: str
    title: Annotated[str, "Title of the table, or empty."]
    seat: Annotated[int | None, "The reserved seat. null: any free seat."]
    by: Annotated[str, "The challenger's player id."]
    name: Annotated[str | None, "The player's name."]
    at: Annotated[int, "Time of the challenge, ms since 1970 UTC."]
    until: Annotated[int, "Expiry, ms since 1970 UTC."]


class MyChallengesDoc(TypedDict):
    items: list[MyChallengeDoc]


class BlockDoc(TypedDict):
    player: str
    name: Annotated[str | None, "The player's name."]
    since: Annotated[int, "Start, ms since 1970 UTC."]


class BlocksDoc(TypedDict):
    items: list[BlockDoc]


class PersonalTokensDoc(TypedDict):
    items: list[ListedTokenDoc]


class NewPersonalTokenDoc(PersonalTokenDoc):
    token: Annotated[str, "Sent only here and in repetitions with the same key."]


class ClaimedDoc(TypedDict):
    player: str
    games: list[str]


class LogEntryDoc(TypedDict):
    id: str
    account: str
    at: Annotated[int, "Time of the event, ms since 1970 UTC."]
    what: str
    address: Annotated[str, "The client's network, never a single address."]
    detail: str


class LogDoc(PageDoc):
    items: list[LogEntryDoc]


class ComplaintDoc(TypedDict):
    id: str
    at: Annotated[int, "Time of the report, ms since 1970 UTC."]
    player: str
    game: str
    said: str
    outcome: Annotated[str, "The moderator's result; empty while the report is open."]


class FiledDoc(ComplaintDoc):
    account: Annotated[str, "The author's account. Empty for reported messages while their table hides names."]
    reported: Annotated[ReportedMessagesDoc | None, "Messages reported, with their proof."]


class ComplaintsDoc(PageDoc):
    items: list[FiledDoc]


class CalledDoc(TypedDict):
    name: str
    since: Annotated[int, "Start, ms since 1970 UTC."]
    until: Annotated[int | None, "End, ms. null: current."]


class MemberDoc(PersonDoc):
    """An account as moderators see it."""

    made: Annotated[int, "Opening time, ms since 1970 UTC."]
    state: Annotated[str, (*_STATES, "erased")]
    until: Annotated[int | None, "End of a suspension, ms."]
    role: Annotated[str, ROLES]
    players: list[str]
    names: list[CalledDoc]


class InvitationDoc(TypedDict):
    invitation: Annotated[str, "Sent only here and in repetitions with the same key."]


class MySettingsDoc(TypedDict):
    zone: Annotated[str, "Time zone (IANA) of times in mails."]


class MyDataDoc(MeDoc):
    """All stored data of an account, except game records, which contain opaque ids only."""

    names: list[CalledDoc]
    sessions: list[DeviceDoc]
    tokens: list[ListedTokenDoc]
    factors: list[FactorDoc]
    clients: list[ListedClientDoc]
    grants: list[GrantDoc]
    log: list[LogEntryDoc]
    reports: list[ComplaintDoc]
    texts: Annotated[list[str], "Reasons, titles and notes at tables."]
    messages: NotRequired[Annotated[list[Doc], "Messages that you have written, as their commitments stand for them."]]
    notes: NotRequired[Annotated[list[NoteDoc], "Your own notes about tables."]]
    standing_orders: NotRequired[Annotated[list[Doc], "Your standing orders, with the moves that they have made."]]
    webhooks: list[ListedWebhookDoc]
    push: list[PushDeviceDoc]
    mail: Annotated[list[MailDoc], "Mail subscription, if any."]
    settings: MySettingsDoc
    chats: list[MyChatDoc]
    pages: NotRequired[Annotated[dict[str, str], "Settings of the pages for people."]]
    visits: NotRequired[Annotated[dict[str, int], "Version by game that you have seen on its page."]]
    calendar_key: Annotated[int | None, "Creation time of the calendar's key, ms since 1970 UTC; or null."]
    watching: list[str]
    series: Annotated[list[str], "Tournaments whose series you follow."]
    blocks: list[str]
    imports: NotRequired[Annotated[list[ImportDoc], "Games that you have imported."]]
    substitutions: Annotated[list[Doc], "Open questions to be a substitute: to you, and yours to others."]
    offices: NotRequired[Annotated[dict[str, str], "Roles as an officer by game."]]
    relations: NotRequired[Annotated[list[str], "Players to whom a relation is declared."]]
    roles: Annotated[dict[str, list[Json]], "Roles by game."]
