"""Liveness, readiness, and metrics."""

from __future__ import annotations

import hmac
import os
import time

from flask import Flask, Response, current_app, g, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from api.http.json_responses import JsonResponse
from api.http.metrics import StoreCollector
from api.http.problems import Problem
from api.http.request_log import method, route
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.problem_responses import ReadyDoc, StatusDoc
from api.services import services, unwrap_proxy
from domain.errors import AnnalsError, StoreUnavailable
from domain.ledger import LogEntry
from domain.notifications.ip_ranges import is_loopback_ip

bp = Blueprint("health", __name__, description="For operators.")

BEAT_INTERVAL = 500
"""Least ms between two heartbeats of one process."""

MAX_UNSEEN_AGE = 2_000
"""Greatest age in ms of a record not yet in the views, for a heartbeat."""

_LAST_BEAT = "annals.beaten"
_CAUGHT_UP = "annals.caught_up"
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")


@bp.operation(
    "GET",
    "/healthz",
    "health",
)
def health() -> JsonResponse[StatusDoc]:
    """Return 200 while the process runs."""
    return json_response({"status": "ok"})


@bp.operation(
    "GET",
    "/readyz",
    "ready",
    errors=(503,),
)
def ready() -> JsonResponse[ReadyDoc]:
    """Return 200 if both databases answer and can be written, and the views keep up.

    After a start, it is ready once the views show all but the newest records: rebuilt views show nothing before that.
    Redis and streams are not required. Each success writes a heartbeat: missed deadlines are played only while requests
    are answered.
    """
    s = services()
    asked = s.clock()
    try:
        s.ledger.execute("SELECT 1")
        unread = s.ledger.log(s.reader.read_position(), s.settings.max_lag + 1)
        behind, aside, machines = len(unread), len(s.reader.list_quarantined()), s.clock_rows.list_machines()
    except StoreUnavailable:
        raise Problem("not_ready", "A database does not answer.", headers={"Retry-After": "1"}) from None
    try:
        _retry_writing()
        if not unread or _is_recent(unread[0], asked):
            current_app.extensions[_CAUGHT_UP] = True
            _beat_if_due(asked)
    except StoreUnavailable:
        raise Problem("not_ready", "Nothing can be written to the log.", headers={"Retry-After": "1"}) from None
    if s.reader.is_damaged:
        raise Problem("not_ready", "The database of the views is damaged: a restart of the service rebuilds it.")
    if behind > s.settings.max_lag or not current_app.extensions[_CAUGHT_UP]:
        raise Problem("not_ready", "The views are behind.", headers={"Retry-After": "1"}, behind=behind)
    doc: ReadyDoc = {
        "status": "ok",
        "behind": behind,
        "set_aside": aside,
        "redis": "up" if s.redis_up() else "away",
        "streams": "away" if s.streams() is None else "up",
        "clock_offset": max((m.offset for m in machines), key=abs, default=0) // 1000,
    }
    return json_response(doc)


def _is_recent(oldest: LogEntry, asked: int) -> bool:
    """Return True if the oldest record not yet in the views is new. An unreadable record counts as old."""
    try:
        return bool(oldest.record.public["at"] > asked - MAX_UNSEEN_AGE)
    except AnnalsError:
        return False


def _retry_writing() -> None:
    """After refused writes, check for free space again, and accept writes if there is some."""
    s = services()
    if s.ledger.refusing:
        s.heartbeat.check_write_space()
        s.ledger.refusing = False


def _beat_if_due(asked: int) -> None:
    """Write a heartbeat, but not for every request: each one is a database write."""
    if not 0 <= asked - current_app.extensions[_LAST_BEAT] < BEAT_INTERVAL:
        services().heartbeat.beat(asked, services().clock)
        current_app.extensions[_LAST_BEAT] = asked


# --- metrics ---------------------------------------------------------------------------------------------------


@bp.operation("GET", "/metrics", "metrics", errors=(403,), response={"type": "string"}, content_type="text/plain")
def metrics() -> Response:
    """Return the metrics for Prometheus. Needs the token of the settings, or a request from this machine."""
    if not _can_scrape():
        raise Problem("forbidden", "The metrics are not public.")
    registry: CollectorRegistry = g.annals_registry
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call] # as the library has it
    stores = CollectorRegistry()
    stores.register(StoreCollector(services()))
    return Response(generate_latest(registry) + generate_latest(stores), content_type=CONTENT_TYPE_LATEST)


def _can_scrape() -> bool:
    """Return True for the metrics token, or without one for local requests."""
    token = services().settings.metrics_token
    if token:
        return hmac.compare_digest(request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode())
    # Behind a proxy on the same machine, every request has a loopback address.
    if any(name in request.headers for name in _FORWARDED):
        return False
    return is_loopback_ip(request.remote_addr or "")


def register(app: Flask) -> None:
    """Count requests and problems by route template."""
    app.extensions[_LAST_BEAT], app.extensions[_CAUGHT_UP] = 0, False
    registry = CollectorRegistry()
    requests = Counter("annals_requests", "Requests", ["method", "route", "status"], registry=registry)
    problems = Counter("annals_problems", "Problems by code", ["code"], registry=registry)
    seconds = Histogram("annals_request_seconds", "Time of requests", ["method", "route"], registry=registry)

    @app.before_request
    def set_registry() -> None:
        g.annals_registry = registry

    @app.after_request
    def count(response: Response) -> Response:
        asked, noted = unwrap_proxy(request), unwrap_proxy(g)
        what = method(asked), route(asked)
        requests.labels(*what, str(response.status_code)).inc()
        seconds.labels(*what).observe(time.perf_counter() - noted.began)
        if code := noted.get("problem"):
            problems.labels(code).inc()
        return response
