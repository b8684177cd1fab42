"""Whether the service lives, whether it is ready, and its figures."""

from __future__ import annotations

import hmac
import os
import time

import orjson
from flask import Flask, Response, current_app, g, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from api.http.metrics import Stores
from api.http.problems import Problem
from api.http.request_log import method, route
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer
from api.schemas.problem_responses import ReadySchema, StatusSchema
from api.services import itself, services
from domain.errors import AnnalsError, StoreUnavailable
from domain.ledger import LogEntry
from domain.notifications.ip_ranges import loopback

room = Blueprint("health", __name__, description="For operators.")

BEAT = 500
"""ms between two beats of one process at least."""

STALE = 2_000
"""ms after which a record that no view shows keeps players from seeing what they are asked."""

_BEATEN = "annals.beaten"
_CAUGHT_UP = "annals.caught_up"
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")


@room.route("/healthz", methods=["GET"])
@room.response(200, StatusSchema)
@room.doc(operationId="health")
def health() -> Response:
    """Say that the process lives."""
    return answer({"status": "ok"})


@room.route("/readyz", methods=["GET"])
@fails(503)
@room.response(200, ReadySchema)
@room.doc(operationId="ready")
def ready() -> Response:
    """Say whether the stores answer and can be written, and the views keep up.

    After a start it is ready once the views show all but what is new: made anew, they show nothing before.
    Without Redis, or without streams, it is ready as well.
    Being asked makes the heart beat: deadlines are played only while somebody who asks is answered.
    """
    s = services()
    asked = s.clock()
    try:
        s.ledger.execute("SELECT 1")
        unread = s.ledger.log(s.reader.position(), s.settings.max_lag + 1)
        behind, aside, machines = len(unread), len(s.reader.aside()), s.clocks.machines()
    except StoreUnavailable:
        raise Problem("not_ready", "A store does not answer.", headers={"Retry-After": "1"}) from None
    try:
        _try_room()
        if not unread or _fresh(unread[0], asked):
            current_app.extensions[_CAUGHT_UP] = True
            _beat(asked)
    except StoreUnavailable:
        raise Problem("not_ready", "Nothing can be written to the log.", headers={"Retry-After": "1"}) from None
    if s.reader.damaged:
        raise Problem("not_ready", "Pages of the views are damaged: a start of the service makes them anew.")
    if behind > s.settings.max_lag or not current_app.extensions[_CAUGHT_UP]:
        raise Problem("not_ready", "The views are behind.", headers={"Retry-After": "1"}, behind=behind)
    redis, offset = "up" if s.redis_up() else "away", max((m.offset for m in machines), key=abs, default=0)
    streams = "away" if s.streams() is None else "up"
    doc = {"status": "ok", "behind": behind, "set_aside": aside, "redis": redis, "streams": streams}
    doc["clock_offset"] = offset // 1000
    return Response(orjson.dumps(doc), content_type="application/json")


def _fresh(oldest: LogEntry, asked: int) -> bool:
    """Whether the oldest record that no view shows is a new one; of one that nobody can read it is not known."""
    try:
        return bool(oldest.record.public["at"] > asked - STALE)
    except AnnalsError:
        return False


def _try_room() -> None:
    """After records that were not taken: whether there is room again, as on a disk that was full."""
    s = services()
    if s.ledger.refusing:
        s.outages.take_room()
        s.ledger.refusing = False


def _beat(asked: int) -> None:
    """Not for everybody who asks: it is a write."""
    if not 0 <= asked - current_app.extensions[_BEATEN] < BEAT:
        services().outages.beat(asked, services().clock)
        current_app.extensions[_BEATEN] = asked


# --- figures ---------------------------------------------------------------------------------------------------


@room.route("/metrics", methods=["GET"])
@fails(403)
@room.response(200, {"type": "string"}, content_type="text/plain")
@room.doc(operationId="metrics")
def metrics() -> Response:
    """Give the figures to a scraper: with the token of the settings, else to this machine alone."""
    if not _may_scrape():
        raise Problem("forbidden", "The figures are not public.")
    registry: CollectorRegistry = g.annals_registry
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call] # as the library has it
    stores = CollectorRegistry()
    stores.register(Stores(services()))
    return Response(generate_latest(registry) + generate_latest(stores), content_type=CONTENT_TYPE_LATEST)


def _may_scrape() -> bool:
    token = services().settings.metrics_token
    if token:
        return hmac.compare_digest(request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode())
    # Behind a proxy on the same machine everybody seems to come from here.
    if any(name in request.headers for name in _FORWARDED):
        return False
    return loopback(request.remote_addr or "")


def install(app: Flask) -> None:
    """Count requests and refusals, by route template."""
    app.extensions[_BEATEN], app.extensions[_CAUGHT_UP] = 0, False
    registry = CollectorRegistry()
    requests = Counter("annals_requests", "Requests", ["method", "route", "status"], registry=registry)
    problems = Counter("annals_problems", "Problems by code", ["code"], registry=registry)
    seconds = Histogram("annals_request_seconds", "Time of requests", ["method", "route"], registry=registry)

    @app.before_request
    def begin() -> None:
        g.annals_registry = registry

    @app.after_request
    def count(made: Response) -> Response:
        asked, noted = itself(request), itself(g)
        what = method(asked), route(asked)
        requests.labels(*what, str(made.status_code)).inc()
        seconds.labels(*what).observe(time.perf_counter() - noted.began)
        if code := noted.get("problem"):
            problems.labels(code).inc()
        return made
