"""Security events: issued tokens, removed players, refused requests, and looks at hidden data.

Each is a log line at level warning with ids and addresses, without secrets. Events that strangers can trigger
repeatedly are logged once, then summed by event and address each minute.
"""

from __future__ import annotations

import threading
import time
from collections import Counter

from flask import Flask, Response, g, request

from api.http.request_log import write_log
from api.services import services, unwrap_proxy
from domain.service.database import Statement
from domain.types import Doc, Json

PERIOD = 60.0
"""Seconds between sums of refusals."""

MAX_TALLIED = 1000
"""Different event and address pairs per period. Further addresses are summed together."""

OTHERS = "others"

REFUSALS = {
    "unauthenticated": "token_refused",
    "wrong_credentials": "login_refused",
    "invalid_client": "access_refused",
    "invalid_grant": "access_refused",
    "form_stale": "access_refused",
    "factor_missing": "access_refused",
    "too_many_requests": "limit_exceeded",
    "too_many_streams": "limit_exceeded",
    "forbidden": "access_refused",
    "other_table": "access_refused",
    "directors_only": "access_refused",
    "director_plays": "access_refused",
    "director_looked": "access_refused",
    "seats_only": "access_refused",
    "not_your_seat": "access_refused",
    "not_invited": "access_refused",
    "not_at_table": "access_refused",
    "scope_missing": "access_refused",
    "role_missing": "access_refused",
    "session_required": "access_refused",
    "accounts_only": "access_refused",
    "account_banned": "access_refused",
    "account_suspended": "access_refused",
    "unauthorized_client": "access_refused",
    "invalid_scope": "access_refused",
    "bad_request": "input_refused",
    "not_json": "input_refused",
    "duplicate_key": "input_refused",
    "number_out_of_range": "input_refused",
    "lone_surrogate": "input_refused",
    "too_deep": "input_refused",
    "body_too_large": "input_refused",
    "uri_too_long": "input_refused",
    "unsupported_media_type": "input_refused",
    "unsupported_encoding": "input_refused",
    "invalid_body": "input_refused",
    "unknown_field": "input_refused",
    "invalid_query": "input_refused",
    "invalid_headers": "input_refused",
    "idempotency_key_reused": "input_refused",
}
"""Problem code -> event."""

ACTION_EVENTS = (
    "token_issued",
    "token_replaced",
    "token_revoked",
    "seat_vacated",
    "looked",
    "account_changed",
    "organiser_replaced",
)
EVENTS = (*ACTION_EVENTS, *sorted(set(REFUSALS.values())))
"""All events of the API, listed in docs/operations.md."""

_TALLY = "annals.tally"


def log_event(event: str, **ids: Json) -> None:
    """Log an event of this request. `ids` holds the game, seat or role, player and token id."""
    _write_event(event, {"request_id": g.request_id, "address": g.address, **ids})


def audit_statements(account: str, action: str, address: str = "", detail: str = "") -> list[Statement]:
    """Return the audit log's statements for an account change, and log the event if the request succeeds."""
    g.setdefault("journaled", []).append({"account": account, "what": action})
    return services().account_store.audit_log.make_entry(account, action, address, detail)


def forget_audit_events() -> None:
    """Drop the noted events: a repeated request changes nothing."""
    g.pop("journaled", None)


def _write_event(event: str, fields: Doc) -> None:
    write_log("annals.security", "warning", event, **fields)


class RefusalTally:
    """Counts of refusals by event and address. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._begun = time.monotonic()

    def count(self, event: str, address: str) -> bool:
        """Count an event. Return True for the first of its kind."""
        with self._lock:
            key = (event, address)
            if key not in self._counts and len(self._counts) >= MAX_TALLIED:
                key = (event, OTHERS)
            self._counts[key] += 1
            return self._counts[key] == 1

    def drain(self, now: float) -> list[tuple[str, str, int]]:
        """Return event, address and count of repeated events once per period, else an empty list."""
        with self._lock:
            if now - self._begun < PERIOD:
                return []
            found = [(event, address, n) for (event, address), n in self._counts.items() if n > 1]
            self._counts.clear()
            self._begun = now
            return found


def register(app: Flask) -> None:
    """Add a tally to the application. Health checks arrive each second, so sums never wait for other requests."""
    from api.http.rate_limits import client_address  # noqa: PLC0415 - limits need problems, which tell events

    tally = app.extensions[_TALLY] = RefusalTally()

    @app.before_request
    def begin() -> None:
        g.address = client_address()
        for event, client, count in tally.drain(time.monotonic()):
            _write_event(event, {"address": client, "count": count, "seconds": int(PERIOD)})

    @app.after_request
    def finish(answer: Response) -> Response:
        context = unwrap_proxy(g)
        for entry in context.get("journaled", ()) if answer.status_code < 400 else ():
            log_event("account_changed", **entry)
        event = REFUSALS.get(context.get("problem", ""))
        if event and (event != "token_refused" or _has_credentials()) and tally.count(event, context.address):
            fields = {"problem": context.problem, "route": str(request.url_rule) if request.url_rule else "-"}
            if principal := context.get("principal"):
                fields |= {
                    "game": principal.game,
                    "role": principal.role,
                    "player": principal.player,
                    "token": principal.token,
                }
            log_event(event, **fields)
        return answer


def _has_credentials() -> bool:
    """Return True if the request contains a token, ticket or cookie. Others are no intrusion attempt."""
    return "Authorization" in request.headers or "ticket" in request.args or bool(request.cookies)
