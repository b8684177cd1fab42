"""Clients that an account has registered."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer
from api.schemas.oauth_clients import (
    ClientSchema,
    ClientSecretSchema,
    ClientsSchema,
    ListedClientSchema,
    NewClientSchema,
    NewlyRegisteredSchema,
)
from api.schemas.query_args import KeyHeaders
from api.services import Doc, services
from domain.accounts.credentials import SCOPES
from domain.accounts.oauth_clients import GRANT_TYPES, Client, Registration

room = Blueprint("clients", __name__, url_prefix="/v1/me/clients", description="Programs for other people's accounts.")


def listed(client: Client) -> Doc:
    """A client without what it proves itself by."""
    return {
        "id": client.id,
        "name": client.name,
        "redirects": list(client.redirects),
        "grant_types": list(client.grant_types),
        "scopes": list(client.scopes),
        "confidential": client.confidential,
        "made": client.made,
    }


@room.route("", methods=["GET"])
@authorization.own
@fails(403)
@room.response(200, ClientsSchema)
@room.doc(operationId="clients")
def clients() -> Response:
    """List the clients that one has registered, the oldest first."""
    found = services().people.clients.of(authorization.holding().account)
    return answer({"items": [listed(client) for client in found]})


@room.route("", methods=["POST"])
@authorization.own
@fails(403, 409, 503)
@room.arguments(NewClientSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, NewlyRegisteredSchema)
@room.doc(operationId="new_client")
def new_client(body: Doc, headers: Doc) -> Response:
    """Register a client. The secret of a confidential one is shown in this answer and its repetitions alone."""
    authorization.fresh()
    authorization.in_good_standing()
    people, me = services().people, authorization.holding().account
    asked = _asked(body)
    said = (asked.name, *asked.redirects, *asked.grant_types, *asked.scopes, str(body["confidential"]))
    request = ("client", f"{me} {headers['key']}", *said) if headers["key"] else ()
    logged = security_log.journaled(me, "client_registered", rate_limits.network(), body["name"])
    id_, secret = people.clients.register(me, asked, logged, *request, confidential=body["confidential"])
    told = {"id": id_, **vars(asked), "confidential": body["confidential"]}
    return answer(told | ({"secret": secret} if secret else {}), 201)


def _asked(body: Doc) -> Registration:
    """As a request has it, in the order in which these are listed anywhere."""
    return Registration(
        name=body["name"],
        redirects=body["redirects"],
        grant_types=[each for each in GRANT_TYPES if each in body["grant_types"]],
        scopes=[each for each in SCOPES if each in body["scopes"]],
    )


@room.route("/<credential:client>", methods=["GET"])
@authorization.own
@fails(403, 404)
@room.response(200, ListedClientSchema)
@room.doc(operationId="get_client")
def get_client(client: str) -> Response:
    """Read a client that one has registered."""
    return answer(listed(_mine(client)))


def _mine(client: str) -> Client:
    found = services().people.clients.find(client)
    if found is None or found.account != authorization.holding().account:
        raise Problem("not_found")
    return found


@room.route("/<credential:client>", methods=["PUT"])
@authorization.own
@fails(403, 404)
@room.arguments(ClientSchema)
@room.response(200, ListedClientSchema)
@room.doc(operationId="change_client")
def change_client(body: Doc, client: str) -> Response:
    """Give a client another name, other redirects, other grant types and scopes, of which it keeps what is left out.

    What people have allowed it stays, but for scopes that it may not ask for any more: they go with the next refresh.
    """
    authorization.fresh()
    found = _mine(client)
    kept = {name: getattr(found, name) for name in ("grant_types", "scopes") if body[name] is None}
    logged = security_log.journaled(found.account, "client_changed", rate_limits.network(), client)
    services().people.clients.change(client, _asked(body | kept), logged)
    return answer(listed(_mine(client)))


@room.route("/<credential:client>/secrets", methods=["POST"])
@authorization.own
@fails(403, 404, 409)
@room.response(201, ClientSecretSchema)
@room.doc(operationId="new_client_secret")
def new_client_secret(client: str) -> Response:
    """Make another secret of a confidential client, which no repetition shows again; that before ends at once."""
    authorization.fresh()
    found = _mine(client)
    if not found.confidential:
        raise Problem("public_client")
    logged = security_log.journaled(found.account, "client_secret_made", rate_limits.network(), client)
    return answer({"secret": services().people.clients.renew(found, logged)}, 201)


@room.route("/<credential:client>", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="remove_client")
def remove_client(client: str) -> Response:
    """Remove a client: whatever people have allowed it ends."""
    found = _mine(client)
    logged = security_log.journaled(found.account, "client_removed", rate_limits.network(), client)
    services().people.clients.remove(found, logged)
    return Response(status=204)
