"""OAuth endpoints as the RFCs define them: tokens, revocation, device authorization, metadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from flask import Flask, Response, g, request

from api.http import public_url, rate_limits
from api.response_builders import json_response
from domain.accounts.credential_tables import SCOPES
from domain.types import Doc

if TYPE_CHECKING:
    from api.oauth.authorization_server import Server

TOKEN, REVOKE, DEVICE = "/oauth/token", "/oauth/revoke", "/oauth/device"
METADATA = "/.well-known/oauth-authorization-server"
View = TypeVar("View", bound=Callable[..., Response])

FORM = "application/x-www-form-urlencoded"


def register(app: Flask) -> None:
    """Register the endpoints. The OAuth library is imported at the first request to one of them."""

    @app.post(TOKEN)
    @_allow_any_query
    def oauth_token() -> Response:
        return _check_form() or _server().create_token_response()

    @app.post(REVOKE)
    @_allow_any_query
    def oauth_revoke() -> Response:
        return _check_form() or _server().create_endpoint_response("revocation")

    @app.post(DEVICE)
    @_allow_any_query
    def oauth_device() -> Response:
        return _check_form() or _server().create_endpoint_response("device_authorization")

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
