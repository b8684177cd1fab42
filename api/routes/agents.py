"""The address for agents, `/mcp`: admission, and its metadata as an OAuth resource (RFC 9728)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from flask import Flask, Response, request

from api import authorization
from api.http import public_url, rate_limits
from api.http.problems import Problem
from api.response_builders import json_response
from api.streams.asgi import STREAMING, AgentExchange
from domain.accounts.credential_tables import SCOPES
from domain.types import Doc

ADDRESS = "/mcp"
OPEN_SCOPES = tuple(each for each in SCOPES if each != "admin")
"""Scopes for clients without an owner."""

USUAL_SCOPES = "read play talk:read talk:write"
"""Scopes for agents without a choice of their users."""

FOREIGN_RESOURCE = "The 'resource' must be /mcp or /v1 of this service."

METADATA = "/.well-known/oauth-protected-resource"


def register(app: Flask) -> None:
    """Register the address and its metadata, if the protocol's library is installed."""
    if find_spec("mcp") is None:
        return

    @app.post(ADDRESS)
    def agents() -> Response:
        metadata = f"{public_url.base_url()}{METADATA}{ADDRESS}"
        challenge = f'Bearer realm="annals", resource_metadata="{metadata}", scope="{USUAL_SCOPES}"'
        try:
            caller = authorization.authenticate_bearer()
        except Problem as problem:
            if problem.code == "unauthenticated":
                problem.headers = {"WWW-Authenticate": challenge}
            raise
        if caller is None:
            rate_limits.charge_request(None)
            raise Problem("unauthenticated", headers={"WWW-Authenticate": challenge})
        if not request.environ.get(STREAMING):  # nginx sends agents only to the stream process
            raise Problem("not_answering", headers={"Retry-After": "1"})
        return AgentExchange()

    @app.get(METADATA)
    @app.get(METADATA + ADDRESS)
    def agents_metadata() -> Response:
        return json_response(build_metadata())


def are_own_resources(resources: Iterable[str]) -> bool:
    """Return whether all are addresses of this service (RFC 8707). An empty one counts as none."""
    own = {f"{public_url.base_url()}{path}" for path in (ADDRESS, "/v1")}
    return all(not each or each.removesuffix("/") in own for each in resources)


def build_metadata() -> Doc:
    """Return the metadata of the address as an OAuth resource."""
    base = public_url.base_url()
    return {
        "resource": base + ADDRESS,
        "resource_name": "Annals",
        "authorization_servers": [base],
        "bearer_methods_supported": ["header"],
        "scopes_supported": list(OPEN_SCOPES),
        "resource_documentation": f"{base}/v1/docs",
    }
