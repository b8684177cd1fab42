"""OAuth endpoints as the RFCs define them: tokens, revocation, device authorization, metadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from flask import Flask, Response, g, request
from marshmallow import ValidationError

from api.http import public_url, rate_limits
from api.http.text_checks import check_visible_text
from api.openapi.smorest import read_json_body
from api.response_builders import json_response
from api.routes.agents import FOREIGN_RESOURCE, OPEN_SCOPES, are_own_resources
from api.services import services
from domain.accounts.account_tables import now
from domain.accounts.credential_tables import SCOPES
from domain.accounts.oauth_clients import DEFAULT_GRANT_TYPES, MOST_REDIRECTS, ClientRegistration, redirect_error
from domain.types import Doc, Json

if TYPE_CHECKING:
    from api.oauth.authorization_server import Server

TOKEN, REVOKE, DEVICE = "/oauth/token", "/oauth/revoke", "/oauth/device"
REGISTER = "/oauth/register"
MOST_NAME = 40
"""Longest name of a client, characters."""

METADATA = "/.well-known/oauth-authorization-server"
View = TypeVar("View", bound=Callable[..., Response])

FORM = "application/x-www-form-urlencoded"


def register(app: Flask) -> None:
    """Register the endpoints. The OAuth library is imported at the first request to one of them."""

    @app.post(TOKEN)
    @_allow_any_query
    def oauth_token() -> Response:
        return _check_form() or _check_resources() or _server().create_token_response()

    @app.post(REVOKE)
    @_allow_any_query
    def oauth_revoke() -> Response:
        return _check_form() or _server().create_endpoint_response("revocation")

    @app.post(DEVICE)
    @_allow_any_query
    def oauth_device() -> Response:
        return _check_form() or _check_resources() or _server().create_endpoint_response("device_authorization")

    @app.post(REGISTER)
    def oauth_register() -> Response:
        rate_limits.charge_request(None)
        rate_limits.charge_quota("clients")
        body = read_json_body(request)
        return _register_client(body if isinstance(body, dict) else {})

    @app.get(METADATA)
    def oauth_metadata() -> Response:
        return json_response(build_metadata())


def _allow_any_query(view: View) -> View:
    """Mark a view as one with its own check of query parameters."""
    vars(view)["any_query"] = True
    return view


def _server() -> Server:
    from api.oauth.authorization_server import server  # noqa: PLC0415 - few processes ever need the library

    return server()


def _check_form() -> Response | None:
    """Charge the request, and return an error response for a malformed form, or None."""
    rate_limits.charge_request(None)
    header = request.headers.get("Authorization", "")
    if header.lower().startswith("basic") and request.authorization is None:
        g.problem = "invalid_client"
        return json_response({"error": "invalid_client"}, 401, WWW_Authenticate='Basic realm="annals"')
    repeated = [name for name in request.form if len(request.form.getlist(name)) > 1]
    if request.mimetype != FORM or request.args or repeated:
        g.problem = "invalid_request"
        description = "Send each parameter once, as a form field, and none in the URL."
        return json_response({"error": "invalid_request", "error_description": description}, 400)
    return None


def _check_resources() -> Response | None:
    """Return an error response for a resource of another service (RFC 8707), or None."""
    if are_own_resources(request.form.getlist("resource")):
        return None
    g.problem = "invalid_target"
    doc = {"error": "invalid_target", "error_description": FOREIGN_RESOURCE}
    return json_response(doc, 400, Cache_Control="no-store")


def _register_client(body: Doc) -> Response:
    """Store a client that registers itself (RFC 7591). It is public: only PKCE protects it."""
    redirects: list[Json] = body.get("redirect_uris") or []
    scopes, grant_types = body.get("scope") or "", body.get("grant_types") or DEFAULT_GRANT_TYPES
    if fault := _redirects_error(redirects):
        return _refuse_client("invalid_redirect_uri", fault)
    if fault := _rights_error(scopes, grant_types):
        return _refuse_client("invalid_client_metadata", fault)
    name = _clean_name(body.get("client_name")) or urlsplit(redirects[0]).hostname or ""
    asked = scopes.split() or OPEN_SCOPES  # hosts that name none ask later, and the consent page shows what for
    registration = ClientRegistration(
        name=name[:MOST_NAME],
        redirects=redirects,
        grant_types=[each for each in DEFAULT_GRANT_TYPES if each in grant_types] or DEFAULT_GRANT_TYPES[:1],
        scopes=[each for each in OPEN_SCOPES if each in asked],
    )
    id_ = services().account_store.oauth_clients.register_itself(registration)
    doc = {
        "client_id": id_,
        "client_id_issued_at": now() // 1000,
        "client_name": registration.name,
        "redirect_uris": redirects,
        "grant_types": list(registration.grant_types),
        "response_types": ["code"],
        "scope": " ".join(registration.scopes),
        "token_endpoint_auth_method": "none",
    }
    return json_response(doc, 201)


def _rights_error(scopes: object, grant_types: object) -> str:
    """Return the reason against scopes and grant types, or an empty string."""
    if not isinstance(scopes, str) or not {*scopes.split()} <= {*OPEN_SCOPES}:
        return f"scope: of {', '.join(OPEN_SCOPES)}."
    return "" if isinstance(grant_types, list | tuple) else "grant_types: a list."


def _redirects_error(redirects: object) -> str:
    """Return the reason against redirect URIs, or an empty string."""
    if not isinstance(redirects, list) or not 1 <= len(redirects) <= MOST_REDIRECTS:
        return f"redirect_uris: one to {MOST_REDIRECTS} addresses."
    if all(isinstance(each, str) and not redirect_error(each, localhost=True) for each in redirects):
        return ""
    return "Use https, or http on this machine, without a fragment."


def _clean_name(name: Json) -> str:
    """Return a name that people can read, or an empty string."""
    try:
        return check_visible_text(name[:MOST_NAME], MOST_NAME) if isinstance(name, str) else ""
    except ValidationError:
        return ""


def _refuse_client(error: str, description: str) -> Response:
    g.problem = error
    return json_response({"error": error, "error_description": description}, 400)


def build_metadata() -> Doc:
    """Return the server's metadata (RFC 8414)."""
    issuer = public_url.base_url()
    methods = ["none", "client_secret_basic", "client_secret_post"]
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/oauth/authorize",
        "token_endpoint": issuer + TOKEN,
        "revocation_endpoint": issuer + REVOKE,
        "device_authorization_endpoint": issuer + DEVICE,
        "registration_endpoint": issuer + REGISTER,
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:device_code",
        ],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "service_documentation": f"{issuer}/v1/docs",
        "ui_locales_supported": ["en", "fr"],
    }
