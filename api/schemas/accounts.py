"""The shapes of requests and answers about people."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from api.schemas.fields import moment, several, text
from api.schemas.mail import MailSchema
from api.schemas.oauth_clients import GrantSchema, ListedClientSchema
from api.schemas.request_fields import (
    AMONG,
    BETWEEN,
    LENGTH,
    LONGER,
    Bool,
    In,
    Int,
    Items,
    Members,
    Pattern,
    QueryInt,
    Seen,
)
from api.schemas.response_fields import Out, PageSchema
from api.schemas.second_factors import FactorSchema
from api.schemas.webhooks import ListedWebhookSchema
from domain.accounts.accounts import ROLES
from domain.accounts.credentials import SCOPES
from domain.accounts.passwords import LONGEST, SHORTEST

_STANDING = ("active", "suspended", "banned")
_YEAR = 366
_GAME = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _name(**more: Any) -> Seen:
    return Seen(40, "What the account is called. No two are so alike that people could mix them up.", "Anne", **more)


def _secret(said: str, most: int, least: int = 0, **more: Any) -> fields.String:
    length = validate.Length(least or None, most, error=LENGTH if least else LONGER)
    return fields.String(validate=length, metadata={"description": said}, **more)


def _password(said: str = "", **more: Any) -> fields.String:
    told = f"{said} {SHORTEST} to {LONGEST} characters; none of the commonest, and not the name.".strip()
    return _secret(told, LONGEST, required=True, **more)


def _label(said: str) -> fields.String:
    return Seen(40, said, "my telephone", load_default="")


def _among(*values: str, **more: Any) -> fields.String:
    return fields.String(validate=validate.OneOf(values, error=AMONG), **more)


def _range(lo: int, hi: int, said: str, **more: Any) -> Int:
    return Int(validate=validate.Range(lo, hi, error=BETWEEN), metadata={"description": said}, **more)


# --- requests --------------------------------------------------------------------------------------------------

_DEVICE = "What an answer has given this device to be known by: strangers who guess at the name do not slow it down."


class NewAccountSchema(In):
    name = _name(required=True)
    password = _password()
    invitation = _secret("Where accounts are opened by invitation.", 64, load_default="")
    bot = Bool(load_default=False, metadata={"description": "Whether a program plays."})
    label = _label("What the device is called.")


class SecondSchema(In):
    """What is shown beside a password."""

    factor = _secret(
        "Of who has a second factor: a code of the authenticator, or a recovery code, which works once.",
        40,
        load_default="",
    )
    passkey = Members(
        10,
        "Instead of a code: what the browser has answered to a challenge of `POST /v1/passkey-challenges`.",
        load_default=None,
        allow_none=True,
    )


class LoginSchema(SecondSchema):
    name = _secret("What the account is called.", 200, 1, required=True)
    password = _secret("Its password.", LONGEST, 1, required=True)
    label = _label("What the device is called.")
    device = _secret(_DEVICE, 100, load_default="")


class RecoverySchema(SecondSchema):
    name = _secret("What the account is called.", 200, 1, required=True)
    code = _secret("One of the recovery codes; it works once.", 40, 1, required=True)
    password = _password("The new one.")
    label = _label("What the device is called.")


class ProofSchema(SecondSchema):
    password = _secret("The account's password.", LONGEST, 1, required=True)


class NewPasswordSchema(SecondSchema):
    current = _secret("The password as it is.", LONGEST, 1, required=True)
    password = _password("The new one.")


class RenameSchema(In):
    name = _name(required=True)


class NewTokenSchema(In):
    label = Seen(40, "What it is for.", "a bot", required=True)
    scopes = Items(_among(*SCOPES), 1, len(SCOPES), required=True)
    days = _range(1, 365, "After how many days it ends.", load_default=90)


class ClaimSchema(In):
    token = _secret("The token of a guest's seat, or of a table that a guest directs.", 100, 1, required=True)


class NewReportSchema(In):
    player = fields.String(validate=Pattern(r"^[A-Za-z0-9_-]{1,80}$"), load_default="")
    game = fields.String(validate=Pattern(_GAME), load_default="")
    said = Seen(500, "What has happened.", "It was so.", required=True)


class LogArgs(In):
    cursor = fields.String(
        validate=Pattern(r"^[0-9a-f]{1,40}$"), load_default="", metadata={"description": "Of the page before."}
    )
    limit = QueryInt(load_default=50, validate=validate.Range(1, 200, error=BETWEEN))


class AllLogArgs(LogArgs):
    account = fields.String(validate=Pattern(r"^[0-9a-f]{16}$"), load_default="")


class ReportsArgs(LogArgs):
    status = _among("open", "settled", load_default="open")


class FindArgs(In):
    name = fields.String(load_default="", validate=validate.Length(max=200, error=LONGER))
    player = fields.String(load_default="", validate=validate.Length(max=80, error=LONGER))


class SettleSchema(In):
    outcome = Seen(500, "What came of it; whoever wrote the report may read it.", "It was so.", required=True)


class StandingSchema(In):
    state = _among(*_STANDING, required=True)
    days = _range(1, _YEAR, "Of a suspension: for how long.", load_default=7)
    reason = Seen(500, "Why; kept in the account's log.", "It was so.", load_default="")


class RoleSchema(In):
    role = _among(*ROLES, required=True)


class NewInvitationSchema(In):
    uses = _range(1, 1000, "How many accounts it opens.", load_default=1)
    days = _range(1, _YEAR, "For how long.", load_default=14)


# --- answers ---------------------------------------------------------------------------------------------------


class PersonSchema(Out):
    """An account as everybody may know it."""

    account = text("An id that stands in no record.")
    player = text("The id by which records know it.")
    name = text()
    bot = fields.Boolean(required=True)


class EnteredSchema(PersonSchema):
    token = text("The session's token; shown in this answer alone, or in repetitions under a key.")
    device = text(_DEVICE)


class RegisteredSchema(EnteredSchema):
    codes = several()


class CodesSchema(Out):
    codes = several()


class MeSchema(PersonSchema):
    made = moment("When it was opened.")
    state = _among(*_STANDING, required=True)
    until = fields.Integer(required=True, allow_none=True, metadata={"description": "When a suspension ends, ms."})
    role = _among(*ROLES, required=True)
    scopes = several(SCOPES)
    session = fields.Boolean(required=True, metadata={"description": "Whether it was asked with a session."})
    players = several()
    codes = fields.Integer(required=True, metadata={"description": "Recovery codes that were not used yet."})


class DeviceSchema(Out):
    id = text()
    label = text()
    factors = several()
    family = _among("ipv4", "ipv6", "", required=True)
    made = moment("When it was logged in.")
    used = moment("When it was used last, to within ten minutes.")
    current = fields.Boolean(required=True, metadata={"description": "Whether it is the one that asks."})


class DevicesSchema(Out):
    items = fields.List(fields.Nested(DeviceSchema), required=True)


class ProvenSchema(Out):
    token = text("The session's new token: the one before opens nothing any more.")
    until = moment("Until when the session may do what needs the password.")


class PersonalTokenSchema(Out):
    id = text()
    label = text()
    scopes = several(SCOPES)
    until = moment("When it ends.")


class ListedTokenSchema(PersonalTokenSchema):
    made = moment("When it was made.")
    used = fields.Integer(
        required=True, allow_none=True, metadata={"description": "When it was used last, to within ten minutes, ms."}
    )


class MyChallengeSchema(Out):
    game = text()
    title = text("What the table is called, or nothing.")
    seat = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The seat that is kept; null: any that is free."}
    )
    by = text("The player who asks.")
    name = fields.String(required=True, allow_none=True, metadata={"description": "What that player is called."})
    at = moment("When it was asked.")
    until = moment("Until when it stands.")


class MyChallengesSchema(Out):
    items = fields.List(fields.Nested(MyChallengeSchema), required=True)


class BlockSchema(Out):
    player = text()
    name = fields.String(required=True, allow_none=True, metadata={"description": "What that player is called."})
    since = moment("Since when.")


class BlocksSchema(Out):
    items = fields.List(fields.Nested(BlockSchema), required=True)


class PersonalTokensSchema(Out):
    items = fields.List(fields.Nested(ListedTokenSchema), required=True)


class NewPersonalTokenSchema(PersonalTokenSchema):
    token = text("Shown in this answer and its repetitions alone.")


class ClaimedSchema(Out):
    player = text()
    games = several()


class LogEntrySchema(Out):
    id = text()
    account = text()
    at = moment("When it happened.")
    what = text()
    address = text("The network that it came from, never a single address.")
    detail = text()


class LogSchema(PageSchema):
    items = fields.List(fields.Nested(LogEntrySchema), required=True)


class ComplaintSchema(Out):
    id = text()
    at = moment("When it was written.")
    player = text()
    game = text()
    said = text()
    outcome = text("What a moderator has written; empty while it is open.")


class FiledSchema(ComplaintSchema):
    account = text("Who has written it.")


class ComplaintsSchema(PageSchema):
    items = fields.List(fields.Nested(FiledSchema), required=True)


class CalledSchema(Out):
    name = text()
    since = moment("From when.")
    until = fields.Integer(required=True, allow_none=True, metadata={"description": "Until when, ms; null for now."})


class MemberSchema(PersonSchema):
    """An account as moderators see it."""

    made = moment("When it was opened.")
    state = _among(*_STANDING, "erased", required=True)
    until = fields.Integer(required=True, allow_none=True, metadata={"description": "When a suspension ends, ms."})
    role = _among(*ROLES, required=True)
    players = several()
    names = fields.List(fields.Nested(CalledSchema), required=True)


class InvitationSchema(Out):
    invitation = text("Shown in this answer and its repetitions alone.")


class MyDataSchema(MeSchema):
    """All that is kept of a person, apart from the records of games, which know opaque ids."""

    names = fields.List(fields.Nested(CalledSchema), required=True)
    sessions = fields.List(fields.Nested(DeviceSchema), required=True)
    tokens = fields.List(fields.Nested(ListedTokenSchema), required=True)
    factors = fields.List(fields.Nested(FactorSchema), required=True)
    clients = fields.List(fields.Nested(ListedClientSchema), required=True)
    grants = fields.List(fields.Nested(GrantSchema), required=True)
    log = fields.List(fields.Nested(LogEntrySchema), required=True)
    reports = fields.List(fields.Nested(ComplaintSchema), required=True)
    texts = fields.List(
        fields.String(), required=True, metadata={"description": "Reasons given at tables; their titles and notes."}
    )
    webhooks = fields.List(fields.Nested(ListedWebhookSchema), required=True)
    mail = fields.List(
        fields.Nested(MailSchema), required=True, metadata={"description": "Where it goes, if anywhere."}
    )
    watching = several()
    blocks = several()
    roles = fields.Dict(
        keys=fields.String(), values=fields.List(fields.Raw()), required=True, metadata={"description": "By game."}
    )
