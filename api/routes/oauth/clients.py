"""Clients that an account has registered."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
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
from domain.accounts.credential_tables import SCOPES
from domain.accounts.oauth_clients import GRANT_TYPES, ClientRegistration, OAuthClient

bp = Blueprint("clients", __name__, url_prefix="/v1/me/clients", description="Programs for other people's accounts.")


def client_to_json(client: OAuthClient) -> Doc:
    """A client without what it proves itself by."""
    return {
        "id": client.id,
        "name": client.name,
        "redirects": list(client.redirects),
        "grant_types": list(client.grant_types),
        "scopes": list(client.scopes),
        "confidential": client.is_confidential,
        "made": client.made,
    }


@bp.operation("GET", "", "clients", access=authorization.require_session, errors=(403,), response=ClientsSchema)
def clients() -> Response:
    """List the clients that one has registered, the oldest first."""
    found = services().account_store.oauth_clients.list_by_account(authorization.credential_owner().account)
    return json_response({"items": [client_to_json(client) for client in found]})


@bp.operation(
    "POST",
    "",
    "new_client",
    access=authorization.require_session,
    errors=(403, 409, 503),
    body=NewClientSchema,
    headers=KeyHeaders,
    response=NewlyRegisteredSchema,
    status=201,
)
def new_client(body: Doc, headers: Doc) -> Response:
    """Register a client. The secret of a confidential one is shown in this answer and its repetitions alone."""
    authorization.require_fresh_password()
    authorization.require_good_standing()
    people, me = services().account_store, authorization.credential_owner().account
    asked = _parse_registration(body)
    said = (asked.name, *asked.redirects, *asked.grant_types, *asked.scopes, str(body["confidential"]))
    request = ("client", f"{me} {headers['key']}", *said) if headers["key"] else ()
    logged = security_log.audit_statements(me, "client_registered", rate_limits.client_network(), body["name"])
    id_, secret = people.oauth_clients.register(me, asked, logged, *request, confidential=body["confidential"])
    told = {"id": id_, **vars(asked), "confidential": body["confidential"]}
    return json_response(told | ({"secret": secret} if secret else {}), 201)


def _parse_registration(body: Doc) -> ClientRegistration:
    """As a request has it, in the order in which these are listed anywhere."""
    return ClientRegistration(
        name=body["name"],
        redirects=body["redirects"],
        grant_types=[each for each in GRANT_TYPES if each in body["grant_types"]],
        scopes=[each for each in SCOPES if each in body["scopes"]],
    )


@bp.operation(
    "GET",
    "/<credential:client>",
    "get_client",
    access=authorization.require_session,
    errors=(403, 404),
    response=ListedClientSchema,
)
def get_client(client: str) -> Response:
    """Read a client that one has registered."""
    return json_response(client_to_json(_find_own_client(client)))


def _find_own_client(client: str) -> OAuthClient:
    found = services().account_store.oauth_clients.find(client)
    if found is None or found.account != authorization.credential_owner().account:
        raise Problem("not_found")
    return found


@bp.operation(
    "PUT",
    "/<credential:client>",
    "change_client",
    access=authorization.require_session,
    errors=(403, 404),
    body=ClientSchema,
    response=ListedClientSchema,
)
def change_client(body: Doc, client: str) -> Response:
    """Give a client another name, other redirects, other grant types and scopes, of which it keeps what is left out.

    What people have allowed it stays, but for scopes that it may not ask for any more: they go with the next refresh.
    """
    authorization.require_fresh_password()
    found = _find_own_client(client)
    kept = {name: getattr(found, name) for name in ("grant_types", "scopes") if body[name] is None}
    logged = security_log.audit_statements(found.account, "client_changed", rate_limits.client_network(), client)
    services().account_store.oauth_clients.update(client, _parse_registration(body | kept), logged)
    return json_response(client_to_json(_find_own_client(client)))


@bp.operation(
    "POST",
    "/<credential:client>/secrets",
    "new_client_secret",
    access=authorization.require_session,
    errors=(403, 404, 409),
    response=ClientSecretSchema,
    status=201,
)
def new_client_secret(client: str) -> Response:
    """Make another secret of a confidential client, which no repetition shows again; that before ends at once."""
    authorization.require_fresh_password()
    found = _find_own_client(client)
    if not found.is_confidential:
        raise Problem("public_client")
    logged = security_log.audit_statements(found.account, "client_secret_made", rate_limits.client_network(), client)
    return json_response({"secret": services().account_store.oauth_clients.rotate_secret(found, logged)}, 201)


@bp.operation(
    "DELETE",
    "/<credential:client>",
    "remove_client",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def remove_client(client: str) -> Response:
    """Remove a client: whatever people have allowed it ends."""
    found = _find_own_client(client)
    logged = security_log.audit_statements(found.account, "client_removed", rate_limits.client_network(), client)
    services().account_store.oauth_clients.remove(found, logged)
    return Response(status=204)
