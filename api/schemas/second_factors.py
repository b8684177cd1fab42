"""Schemas of requests and declared documents about second factors."""

from __future__ import annotations

from typing import Annotated, TypedDict

from marshmallow import fields, validate

from api.schemas.request_fields import LENGTH, BoundedDict, RequestSchema, VisibleText
from domain.accounts.second_factors import KINDS
from domain.types import Doc

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


class TotpSetupDoc(TypedDict):
    secret: Annotated[str, "Base 32, sent only in this response."]
    uri: Annotated[str, "The secret as an `otpauth` URL."]


class PasskeyChallengeDoc(TypedDict):
    publicKey: Annotated[Doc, "WebAuthn options in JSON."]


class FactorDoc(TypedDict):
    id: Annotated[str, "Empty for the authenticator."]
    kind: Annotated[str, KINDS]
    label: str
    made: Annotated[int, "Time of registration, ms since 1970 UTC."]
    used: Annotated[int | None, "Last use of a passkey, ms."]


class FactorsDoc(TypedDict):
    items: list[FactorDoc]
