"""Schemas of requests and responses about OAuth clients and grants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, Unpack

from marshmallow import ValidationError, fields, validate

from api.schemas.field_options import ValueOptions
from api.schemas.fields import text_field, text_list, time_field
from api.schemas.request_fields import AMONG, LONGER, BoundedList, RequestSchema, StrictBool, VisibleText
from api.schemas.response_fields import ResponseSchema
from domain.accounts.credential_tables import SCOPES
from domain.accounts.oauth_clients import (
    DEFAULT_GRANT_TYPES,
    GRANT_TYPES,
    LONGEST_REDIRECT,
    MOST_REDIRECTS,
    redirect_error,
)
from domain.kernel.text.message_catalog import Message

_GRANTS_NOTE = "Grant types, in the terms of RFC 7591."
_SCOPES_NOTE = "Scopes that the client may request."


def _check_redirect(value: str) -> None:
    if fault := redirect_error(value):
        _refuse(fault)


def _refuse(fault: Message) -> NoReturn:
    raise ValidationError(fault)


def _word_list(values: Sequence[str], description: str, **options: Unpack[ValueOptions]) -> BoundedList:
    of = fields.String(validate=validate.OneOf(values, error=AMONG))
    return BoundedList(of, 1, len(values), metadata={"description": description}, **options)


class ClientSchema(RequestSchema):
    name = VisibleText(40, "Name shown to users.", "A board for telephones", required=True)
    redirects = BoundedList(
        fields.String(
            validate=[validate.Length(max=LONGEST_REDIRECT, error=LONGER), _check_redirect],
            metadata={"examples": ["https://client.example/answer", "http://127.0.0.1/answer"]},
        ),
        1,
        MOST_REDIRECTS,
        required=True,
        metadata={"description": "Exact redirect URLs: https, or http on 127.0.0.1 or [::1] with any port."},
    )

    grant_types = _word_list(GRANT_TYPES, _GRANTS_NOTE, load_default=None, allow_none=True)
    scopes = _word_list(SCOPES, _SCOPES_NOTE, load_default=None, allow_none=True)


class NewClientSchema(ClientSchema):
    grant_types = _word_list(GRANT_TYPES, _GRANTS_NOTE, load_default=list(DEFAULT_GRANT_TYPES))
    scopes = _word_list(SCOPES, _SCOPES_NOTE, load_default=["read"])
    confidential = StrictBool(
        load_default=False,
        metadata={"description": "True if the client can keep a secret, as a server can. Installed programs cannot."},
    )


class RegisteredClientSchema(ResponseSchema):
    id = text_field("The `client_id`.")
    name = text_field()
    redirects = text_list()
    grant_types = text_list(GRANT_TYPES)
    scopes = text_list(SCOPES)
    confidential = fields.Boolean(required=True)


class NewlyRegisteredSchema(RegisteredClientSchema):
    secret = fields.String(
        metadata={"description": "`client_secret`, for confidential clients. Sent only here and in repetitions."}
    )


class ListedClientSchema(RegisteredClientSchema):
    made = time_field("Registration time,")


class ClientsSchema(ResponseSchema):
    items = fields.List(fields.Nested(ListedClientSchema), required=True)


class ClientSecretSchema(ResponseSchema):
    secret = text_field("`client_secret`, sent only in this response.")


class GrantSchema(ResponseSchema):
    id = text_field()
    client = text_field()
    name = text_field("The client's name.")
    scopes = text_list(SCOPES)
    made = time_field("Time of consent,")
    used = time_field("Last use, to within ten minutes,")
    until = time_field("Expiry if unused,")


class GrantsSchema(ResponseSchema):
    items = fields.List(fields.Nested(GrantSchema), required=True)
