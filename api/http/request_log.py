"""The access log, and the headers of all responses.

A log line contains the route, never the URL: no query string, no token, no personal name.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Literal

import structlog
from flask import Flask, Request, Response, g, request
from flask.ctx import _AppCtxGlobals

from api.services import services, unwrap_proxy
from domain.types import Json

VARY = "Authorization, Accept-Encoding, Accept-Language, Annals-Role"
EXPOSED_HEADERS = (
    "Annals-Position, Annals-Version, Deprecation, ETag, Idempotency-Replayed, Link, Location, RateLimit, "
    "RateLimit-Policy, Request-Id, Retry-After, Sunset, WWW-Authenticate"
)

_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"})

_ID = re.compile(r"[0-9a-f-]{36}")

SHARED_PATHS = (
    *("/oauth/token", "/oauth/revoke", "/oauth/device", "/oauth/register"),
    *("/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"),
    *("/.well-known/oauth-protected-resource/mcp", "/mcp"),
)
"""Paths outside the API that pages of other origins may call. They use no cookies."""

ANY_ORIGIN = "*"
"""Allows every origin."""

HSTS = {"host": "max-age=63072000", "subdomains": "max-age=63072000; includeSubDomains"}
"""Strict-Transport-Security values by setting: for two years, this host or its subdomains too."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


_DEFAULT_HEADERS = {name.lower(): (name, value) for name, value in [*HEADERS.items(), ("Cache-Control", "no-store")]}
"""Headers for responses without a value of their own."""


def write_log(logger: str, level: Literal["info", "warning", "error"], event: str, **fields: Json) -> None:
    """Write a log line. A full disk must not fail the request."""
    with suppress(OSError):
        getattr(structlog.get_logger(logger), level)(event, **fields)


def register(app: Flask) -> None:
    """Run before and after every request."""

    @app.before_request
    def begin() -> Response | None:
        context = unwrap_proxy(g)
        context.began = time.perf_counter()
        context.request_id = f"{random.getrandbits(64):016x}"
        return _preflight() if request.method == "OPTIONS" else None

    @app.after_request
    def finish(answer: Response) -> Response:
        req, context, settings = unwrap_proxy(request), unwrap_proxy(g), services().settings
        defaults = dict(_DEFAULT_HEADERS)
        for name, _ in answer.headers:
            defaults.pop(name.lower(), None)
        for name, value in defaults.values():
            answer.headers.add(name, value)  # faster than `set`, without a lookup
        answer.headers.add("Request-Id", context.request_id)
        if req.scheme == "https":
            answer.headers["Strict-Transport-Security"] = HSTS[settings.hsts]
        answer.headers["Vary"] = VARY
        if "language" in context:
            answer.headers["Content-Language"] = context.language
        _add_cors_headers(answer, req, settings.origins)
        _log_request(answer, req, context)
        return answer


def _log_request(answer: Response, req: Request, context: _AppCtxGlobals) -> None:
    fields = {
        "request_id": context.request_id,
        "method": method(req),
        "route": route(req),
        "status": answer.status_code,
        "ms": round((time.perf_counter() - context.began) * 1000, 2),
        "game": _game(req),
        "position": context.get("position"),
        "problem": context.get("problem"),
    }
    write_log("annals.http", "info", "request", **{k: v for k, v in fields.items() if v is not None})


def _game(req: Request) -> str | None:
    """Return the game id in the path, if it has the form of an id."""
    found = (req.view_args or {}).get("game", "")
    return found if _ID.fullmatch(found) else None


def route(req: Request) -> str:
    """Return the route's template, or a dash for an unknown path."""
    return str(req.url_rule.rule) if req.url_rule else "-"


def method(req: Request) -> str:
    """Return the request's method, or `other` for unsupported ones: clients can send any word."""
    return req.method if req.method in _METHODS else "other"


# --- pages of other origins ------------------------------------------------------------------------------------


def _preflight() -> Response | None:
    req = unwrap_proxy(request)
    if "Access-Control-Request-Method" not in req.headers:
        return None
    answer = Response(status=204)
    if _allowed_origin(req, services().settings.origins):
        answer.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, DELETE"
        allowed = (
            "Annals-Agent, Annals-Role, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
            "Last-Event-ID"
        )
        answer.headers["Access-Control-Allow-Headers"] = allowed
        answer.headers["Access-Control-Max-Age"] = "600"
    return answer


def _allowed_origin(req: Request, origins: Collection[str]) -> str:
    """Return the origin allowed to read the response, `*` for any, or an empty string.

    Scripts must send a token explicitly. Routes with cookies, and paths outside the API, are never shared.
    """
    origin, path = req.headers.get("Origin", ""), req.path
    api = path.startswith("/v1/") and path != "/v1/stream-cookies"
    if not api and path not in SHARED_PATHS:
        return ""
    return "*" if ANY_ORIGIN in origins else origin if origin in origins else ""


def _add_cors_headers(answer: Response, req: Request, origins: Collection[str]) -> None:
    if origins and ANY_ORIGIN not in origins:
        answer.headers["Vary"] = f"{VARY}, Origin"
    if origin := _allowed_origin(req, origins):
        answer.headers["Access-Control-Allow-Origin"] = origin
        answer.headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
