"""Schemas of requests and declared documents about OAuth clients and grants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NoReturn, NotRequired, TypedDict, Unpack

from marshmallow import ValidationError, fields, validate

from api.schemas.field_options import ValueOptions
from api.schemas.request_fields import AMONG, LONGER, BoundedList, RequestSchema, StrictBool, VisibleText
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


class RegisteredClientDoc(TypedDict):
    id: Annotated[str, "The `client_id`."]
    name: str
    redirects: list[str]
    grant_types: list[Annotated[str, GRANT_TYPES]]
    scopes: list[Annotated[str, SCOPES]]
    confidential: bool


class NewlyRegisteredDoc(RegisteredClientDoc):
    secret: NotRequired[Annotated[str, "`client_secret`, for confidential clients. Sent only here and in repetitions."]]


class ListedClientDoc(RegisteredClientDoc):
    made: Annotated[int, "Registration time, ms since 1970 UTC."]


class ClientsDoc(TypedDict):
    items: list[ListedClientDoc]


class ClientSecretDoc(TypedDict):
    secret: Annotated[str, "`client_secret`, sent only in this response."]


class GrantDoc(TypedDict):
    id: str
    client: str
    name: Annotated[str, "The client's name."]
    scopes: list[Annotated[str, SCOPES]]
    made: Annotated[int, "Time of consent, ms since 1970 UTC."]
    used: Annotated[int, "Last use, to within ten minutes, ms since 1970 UTC."]
    until: Annotated[int, "Expiry if unused, ms since 1970 UTC."]


class GrantsDoc(TypedDict):
    items: list[GrantDoc]
