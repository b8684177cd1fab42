"""Schemas of requests and responses about second factors."""

from __future__ import annotations

from marshmallow import fields, validate

from api.schemas.request_fields import LENGTH, BoundedDict, RequestSchema, VisibleText
from api.schemas.response_fields import ResponseSchema
from domain.accounts.second_factors import KINDS

_MEMBERS = 10
"""Members of a browser's passkey response."""


def _passkey_field() -> BoundedDict:
    description = "The browser's response: its credential's `toJSON()`."
    return BoundedDict(_MEMBERS, required=True, description=description)


def _label_field() -> VisibleText:
    return VisibleText(40, "Name of the device.", "my telephone", load_default="")


class TotpCodeSchema(RequestSchema):
    code = fields.String(
        required=True,
        validate=validate.Length(1, 20, error=LENGTH),
        metadata={"description": "Current code of the authenticator.", "examples": ["123456"]},
    )


class NewPasskeySchema(RequestSchema):
    label = _label_field()
    passkey = _passkey_field()


class PasskeyLoginSchema(RequestSchema):
    label = _label_field()
    passkey = _passkey_field()


class TotpSetupSchema(ResponseSchema):
    secret = fields.String(required=True, metadata={"description": "Base 32, sent only in this response."})
    uri = fields.String(required=True, metadata={"description": "The secret as an `otpauth` URL."})


class PasskeyChallengeSchema(ResponseSchema):
    publicKey = fields.Dict(required=True, metadata={"description": "WebAuthn options in JSON."})  # noqa: N815 - WebAuthn's


class FactorSchema(ResponseSchema):
    id = fields.String(required=True, metadata={"description": "Empty for the authenticator."})
    kind = fields.String(required=True, validate=validate.OneOf(KINDS))
    label = fields.String(required=True)
    made = fields.Integer(required=True, metadata={"description": "Time of registration, ms since 1970 UTC."})
    used = fields.Integer(required=True, allow_none=True, metadata={"description": "Last use of a passkey, ms."})


class FactorsSchema(ResponseSchema):
    items = fields.List(fields.Nested(FactorSchema), required=True)
