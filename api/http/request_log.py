"""One log line for each request, and the headers that every answer has.

A line names the route and never the address: no query string, no token, no name of a person.
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

from api.services import itself, services
from domain.types import Json

VARY = "Authorization, Accept-Encoding, Accept-Language, Annals-Role"
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


def say(logger: str, level: Literal["info", "warning", "error"], event: str, **said: Json) -> None:
    """A line of the log. A disk that is full, on which the log may stand as well, is no reason to answer otherwise."""
    with suppress(OSError):
        getattr(structlog.get_logger(logger), level)(event, **said)


def install(app: Flask) -> None:
    """Before and after every request."""

    @app.before_request
    def begin() -> Response | None:
        noted = itself(g)
        noted.began, noted.request_id = time.perf_counter(), f"{random.getrandbits(64):016x}"
        return _preflight() if request.method == "OPTIONS" else None

    @app.after_request
    def finish(answer: Response) -> Response:
        asked, noted, settings = itself(request), itself(g), services().settings
        own = dict(_OWN)
        for name, _ in answer.headers:
            own.pop(name.lower(), None)
        for name, value in own.values():
            answer.headers.add(name, value)  # does not look first, as `set` does, whether it is there
        answer.headers.add("Request-Id", noted.request_id)
        if asked.scheme == "https":
            answer.headers["Strict-Transport-Security"] = HSTS[settings.hsts]
        answer.headers["Vary"] = VARY
        if "language" in noted:
            answer.headers["Content-Language"] = noted.language
        _share(answer, asked, settings.origins)
        _line(answer, asked, noted)
        return answer


def _line(answer: Response, asked: Request, noted: _AppCtxGlobals) -> None:
    found = {
        "request_id": noted.request_id,
        "method": method(asked),
        "route": route(asked),
        "status": answer.status_code,
        "ms": round((time.perf_counter() - noted.began) * 1000, 2),
        "game": _game(asked),
        "position": noted.get("position"),
        "problem": noted.get("problem"),
    }
    say("annals.http", "info", "request", **{k: v for k, v in found.items() if v is not None})


def _game(asked: Request) -> str | None:
    """The game in the address; only what looks like one, since anything may stand there."""
    found = (asked.view_args or {}).get("game", "")
    return found if _ID.fullmatch(found) else None


def route(asked: Request) -> str:
    """The template of the address, or a dash for one that is none."""
    return str(asked.url_rule.rule) if asked.url_rule else "-"


def method(asked: Request) -> str:
    """The method of the request, or a word for one that is none of ours: anything may stand there."""
    return asked.method if asked.method in _METHODS else "other"


# --- pages of other origins ------------------------------------------------------------------------------------


def _preflight() -> Response | None:
    asked = itself(request)
    if "Access-Control-Request-Method" not in asked.headers:
        return None
    answer = Response(status=204)
    if _shared_with(asked, services().settings.origins):
        answer.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, DELETE"
        allowed = "Annals-Role, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID"
        answer.headers["Access-Control-Allow-Headers"] = allowed
        answer.headers["Access-Control-Max-Age"] = "600"
    return answer


def _shared_with(asked: Request, origins: Collection[str]) -> str:
    """The origin whose pages may read the answer, `*` for any: a token is sent by who has it, never by itself.

    What gives or takes cookies, and what is not of the API, is shared with nobody.
    """
    origin, path = asked.headers.get("Origin", ""), asked.path
    api = path.startswith("/v1/") and path != "/v1/stream-cookies"
    if not api and path not in SHARED:
        return ""
    return "*" if ANY in origins else origin if origin in origins else ""


def _share(answer: Response, asked: Request, origins: Collection[str]) -> None:
    if origins and ANY not in origins:
        answer.headers["Vary"] = f"{VARY}, Origin"
    if origin := _shared_with(asked, origins):
        answer.headers["Access-Control-Allow-Origin"] = origin
        answer.headers["Access-Control-Expose-Headers"] = EXPOSED
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
