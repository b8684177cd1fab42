"""The shapes of requests and answers about second factors."""

from __future__ import annotations

from marshmallow import fields, validate

from api.schemas.request_fields import LENGTH, In, Members, Seen
from api.schemas.response_fields import Out
from domain.accounts.second_factors import SECOND

_MEMBERS = 10
"""Of what a browser answers."""


def _answer() -> Members:
    said = "What the browser has answered, as `toJSON()` of its credential gives it."
    return Members(_MEMBERS, required=True, said=said)


def _label() -> Seen:
    return Seen(40, "What the device is called.", "my telephone", load_default="")


class TotpCodeSchema(In):
    code = fields.String(
        required=True,
        validate=validate.Length(1, 20, error=LENGTH),
        metadata={"description": "What the authenticator shows.", "examples": ["123456"]},
    )


class NewPasskeySchema(In):
    label = _label()
    passkey = _answer()


class PasskeyLoginSchema(In):
    label = _label()
    passkey = _answer()


class TotpSetupSchema(Out):
    secret = fields.String(required=True, metadata={"description": "In base 32; shown in this answer alone."})
    uri = fields.String(required=True, metadata={"description": "The same as an `otpauth` address."})


class PasskeyChallengeSchema(Out):
    publicKey = fields.Dict(required=True, metadata={"description": "Options, as WebAuthn has them in JSON."})  # noqa: N815 - WebAuthn's


class FactorSchema(Out):
    id = fields.String(required=True, metadata={"description": "Empty for an authenticator, of which there is one."})
    kind = fields.String(required=True, validate=validate.OneOf(SECOND))
    label = fields.String(required=True)
    made = fields.Integer(required=True, metadata={"description": "When it was added. ms since 1970 UTC."})
    used = fields.Integer(required=True, allow_none=True, metadata={"description": "When a passkey was used last, ms."})


class FactorsSchema(Out):
    items = fields.List(fields.Nested(FactorSchema), required=True)
