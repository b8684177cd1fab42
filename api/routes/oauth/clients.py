"""Routes of the OAuth clients registered by an account."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.caller_keys import creation_response, person_key
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.oauth_clients import (
    ClientSchema,
    ClientsDoc,
    ClientSecretDoc,
    ListedClientDoc,
    NewClientSchema,
    NewlyRegisteredDoc,
)
from api.schemas.query_args import KeyHeaders
from api.services import services
from domain.accounts.credential_tables import SCOPES
from domain.accounts.oauth_clients import GRANT_TYPES, ClientRegistration, OAuthClient
from domain.types import Doc

bp = Blueprint("clients", __name__, url_prefix="/v1/me/clients", description="OAuth clients registered by an account.")


def client_to_json(client: OAuthClient) -> ListedClientDoc:
    """Return a client without its secret."""
    return {
        "id": client.id,
        "name": client.name,
        "redirects": list(client.redirects),
        "grant_types": list(client.grant_types),
        "scopes": list(client.scopes),
        "confidential": client.is_confidential,
        "made": client.made,
    }


@bp.operation(
    "GET",
    "",
    "clients",
    access=authorization.require_session,
    errors=(403,),
)
def clients() -> JsonResponse[ClientsDoc]:
    """Return your registered clients, oldest first."""
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
    status=201,
)
def new_client(body: Doc, headers: Doc) -> JsonResponse[NewlyRegisteredDoc]:
    """Register a client. A confidential client's secret is shown only here and in repetitions."""
    authorization.require_fresh_password()
    account_store, me = services().account_store, authorization.credential_owner().account
    registration = _parse_registration(body)
    fields = (
        registration.name,
        *registration.redirects,
        *registration.grant_types,
        *registration.scopes,
        str(body["confidential"]),
    )
    request = ("client", f"{me} {headers['key']}", *fields) if headers["key"] else ()
    key = person_key(headers["key"])
    audit_rows = security_log.audit_statements(me, "client_registered", rate_limits.client_network(), body["name"])
    id_, secret = account_store.oauth_clients.register(
        me, registration, audit_rows, *request, confidential=body["confidential"], key=key
    )
    doc: NewlyRegisteredDoc = {
        "id": id_,
        "name": registration.name,
        "redirects": list(registration.redirects),
        "grant_types": list(registration.grant_types),
        "scopes": list(registration.scopes),
        "confidential": body["confidential"],
    }
    if secret:
        doc["secret"] = secret
    return creation_response(doc, key)


def _parse_registration(body: Doc) -> ClientRegistration:
    """Return the registration in a request, with scopes and grant types in canonical order."""
    return ClientRegistration(
        name=body["name"],
        redirects=body["redirects"],
        grant_types=[each for each in GRANT_TYPES if each in body["grant_types"]],
        scopes=[each for each in SCOPES if each in body["scopes"]],
    )


@bp.operation("GET", "/<credential:client>", "get_client", access=authorization.require_session, errors=(403, 404))
def get_client(client: str) -> JsonResponse[ListedClientDoc]:
    """Return one of your registered clients."""
    return json_response(client_to_json(_find_own_client(client)))


def _find_own_client(client: str) -> OAuthClient:
    """Return a client of the caller. Raise Problem."""
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
)
def change_client(body: Doc, client: str) -> JsonResponse[ListedClientDoc]:
    """Change a client's name, redirect URLs, grant types and scopes.

    Omitted grant types and scopes stay. People's grants stay as well, except for removed scopes: those end at the next
    refresh.
    """
    authorization.require_fresh_password()
    found = _find_own_client(client)
    unchanged = {name: getattr(found, name) for name in ("grant_types", "scopes") if body[name] is None}
    audit_rows = security_log.audit_statements(found.account, "client_changed", rate_limits.client_network(), client)
    services().account_store.oauth_clients.update(client, _parse_registration(body | unchanged), audit_rows)
    return json_response(client_to_json(_find_own_client(client)))


@bp.operation(
    "POST",
    "/<credential:client>/secrets",
    "new_client_secret",
    access=authorization.require_session,
    errors=(403, 404, 409),
    status=201,
)
def new_client_secret(client: str) -> JsonResponse[ClientSecretDoc]:
    """Create a new secret for a confidential client, shown only here. The old one ends at once."""
    authorization.require_fresh_password()
    found = _find_own_client(client)
    if not found.is_confidential:
        raise Problem("public_client")
    audit_rows = security_log.audit_statements(
        found.account, "client_secret_made", rate_limits.client_network(), client
    )
    return json_response({"secret": services().account_store.oauth_clients.rotate_secret(found, audit_rows)}, 201)


@bp.operation(
    "DELETE",
    "/<credential:client>",
    "remove_client",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def remove_client(client: str) -> Response:
    """Remove a client. All its grants end."""
    found = _find_own_client(client)
    audit_rows = security_log.audit_statements(found.account, "client_removed", rate_limits.client_network(), client)
    services().account_store.oauth_clients.remove(found, audit_rows)
    return Response(status=204)
