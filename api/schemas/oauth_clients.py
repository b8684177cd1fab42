"""The shapes of requests and answers about clients, and about what people have allowed them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from marshmallow import ValidationError, fields, validate

from api.schemas.fields import moment, several, text
from api.schemas.request_fields import AMONG, LONGER, Bool, In, Items, Seen
from api.schemas.response_fields import Out
from domain.accounts.credentials import SCOPES
from domain.accounts.oauth_clients import GRANT_TYPES, LONGEST_REDIRECT, MOST_REDIRECTS, USUAL, fault_of
from domain.kernel.text.message_catalog import Message

_SHOWN = "What it may show for tokens, as RFC 7591 names it."
_ASKED = "What it may ask people for."


def _redirect(value: Any) -> None:
    if fault := fault_of(value):
        _refuse(fault)


def _refuse(fault: Message) -> NoReturn:
    raise ValidationError(fault)


def _several(values: Sequence[str], said: str, **more: Any) -> Items:
    of = fields.String(validate=validate.OneOf(values, error=AMONG))
    return Items(of, 1, len(values), metadata={"description": said}, **more)


class ClientSchema(In):
    name = Seen(40, "What people are told it is called.", "A board for telephones", required=True)
    redirects = Items(
        fields.String(
            validate=[validate.Length(max=LONGEST_REDIRECT, error=LONGER), _redirect],
            metadata={"examples": ["https://client.example/answer", "http://127.0.0.1/answer"]},
        ),
        1,
        MOST_REDIRECTS,
        required=True,
        metadata={
            "description": "Where answers may be sent, exactly: https, or http on 127.0.0.1 or [::1] with any port."
        },
    )

    grant_types = _several(GRANT_TYPES, _SHOWN, load_default=None, allow_none=True)
    scopes = _several(SCOPES, _ASKED, load_default=None, allow_none=True)


class NewClientSchema(ClientSchema):
    grant_types = _several(GRANT_TYPES, _SHOWN, load_default=list(USUAL))
    scopes = _several(SCOPES, _ASKED, load_default=["read"])
    confidential = Bool(
        load_default=False,
        metadata={
            "description": "Whether it can keep a secret, as a server can, and a program that people have cannot."
        },
    )


class RegisteredClientSchema(Out):
    id = text("What it is known by: `client_id`.")
    name = text()
    redirects = several()
    grant_types = several(GRANT_TYPES)
    scopes = several(SCOPES)
    confidential = fields.Boolean(required=True)


class NewlyRegisteredSchema(RegisteredClientSchema):
    secret = fields.String(
        metadata={
            "description": "`client_secret`, of a confidential one; shown in this answer and its repetitions alone."
        }
    )


class ListedClientSchema(RegisteredClientSchema):
    made = moment("When it was registered.")


class ClientsSchema(Out):
    items = fields.List(fields.Nested(ListedClientSchema), required=True)


class ClientSecretSchema(Out):
    secret = text("`client_secret`; shown in this answer alone.")


class GrantSchema(Out):
    id = text()
    client = text()
    name = text("The client's.")
    scopes = several(SCOPES)
    made = moment("When it was allowed.")
    used = moment("When it was used last, to within ten minutes.")
    until = moment("When it ends unless it is used.")


class GrantsSchema(Out):
    items = fields.List(fields.Nested(GrantSchema), required=True)
