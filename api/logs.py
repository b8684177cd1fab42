"""One log line for each request, and the headers that every answer has.

A line names the route and never the address: no query string, no token, no name of a person.
"""

from __future__ import annotations

import random
import re
import time
from contextlib import suppress

import structlog
from flask import Flask, Response, g, request

from api.services import services

VARY = "Authorization, Accept-Language, Annals-Role"
EXPOSED = (
    "Annals-Position, Annals-Version, Deprecation, ETag, Idempotency-Replayed, Link, Location, RateLimit, "
    "RateLimit-Policy, Request-Id, Retry-After, Sunset, WWW-Authenticate"
)

_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"})

_ID = re.compile(r"[0-9a-f-]{36}")

SHARED = ("/oauth/token", "/oauth/revoke", "/oauth/device", "/.well-known/oauth-authorization-server")
"""Paths beside the API that pages of other origins may use as well: no cookie counts there."""

ANY = "*"
"""Of origins: all of them."""

HSTS = {"host": "max-age=63072000", "subdomains": "max-age=63072000; includeSubDomains"}
"""Who has asked with TLS once asks so for two years: this host, or its subdomains too, as the setting says."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


_OWN = {name.lower(): (name, value) for name, value in [*HEADERS.items(), ("Cache-Control", "no-store")]}
"""What answers have that say nothing else."""


def install(app: Flask) -> None:
    """Before and after every request."""

    @app.before_request
    def begin() -> Response | None:
        g.began, g.request_id = time.perf_counter(), f"{random.getrandbits(64):016x}"
        return _preflight()

    @app.after_request
    def finish(answer: Response) -> Response:
        own = dict(_OWN)
        for name, _ in answer.headers:
            own.pop(name.lower(), None)
        for name, value in own.values():
            answer.headers.add(name, value)  # does not look first, as `set` does, whether it is there
        answer.headers.add("Request-Id", g.request_id)
        if request.scheme == "https":
            answer.headers["Strict-Transport-Security"] = HSTS[services().settings.hsts]
        answer.headers["Vary"] = VARY
        if "language" in g:
            answer.headers["Content-Language"] = g.language
        _share(answer)
        _line(answer)
        return answer


def _line(answer: Response) -> None:
    found = {
        "request_id": g.request_id,
        "method": method(),
        "route": route(),
        "status": answer.status_code,
        "ms": round((time.perf_counter() - g.began) * 1000, 2),
        "game": _game(),
        "position": g.get("position"),
        "problem": g.get("problem"),
    }
    with suppress(OSError):  # a disk that is full, on which the log may stand as well, is no reason to answer otherwise
        structlog.get_logger("annals.http").info("request", **{k: v for k, v in found.items() if v is not None})


def _game() -> str | None:
    """The game in the address; only what looks like one, since anything may stand there."""
    found = (request.view_args or {}).get("game", "")
    return found if _ID.fullmatch(found) else None


def route() -> str:
    """The template of the address, or a dash for one that is none."""
    return str(request.url_rule.rule) if request.url_rule else "-"


def method() -> str:
    """The method of the request, or a word for one that is none of ours: anything may stand there."""
    return request.method if request.method in _METHODS else "other"


# --- pages of other origins ------------------------------------------------------------------------------------


def _preflight() -> Response | None:
    if request.method != "OPTIONS" or "Access-Control-Request-Method" not in request.headers:
        return None
    answer = Response(status=204)
    if _shared_with():
        answer.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, DELETE"
        allowed = "Annals-Role, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID"
        answer.headers["Access-Control-Allow-Headers"] = allowed
        answer.headers["Access-Control-Max-Age"] = "600"
    return answer


def _shared_with() -> str:
    """The origin whose pages may read the answer, `*` for any: a token is sent by who has it, never by itself.

    What gives or takes cookies, and what is not of the API, is shared with nobody.
    """
    origin, origins = request.headers.get("Origin", ""), services().settings.origins
    api = request.path.startswith("/v1/") and request.path != "/v1/stream-cookies"
    if not api and request.path not in SHARED:
        return ""
    return "*" if ANY in origins else origin if origin in origins else ""


def _share(answer: Response) -> None:
    origins = services().settings.origins
    if origins and ANY not in origins:
        answer.headers["Vary"] = f"{VARY}, Origin"
    if origin := _shared_with():
        answer.headers["Access-Control-Allow-Origin"] = origin
        answer.headers["Access-Control-Expose-Headers"] = EXPOSED
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
