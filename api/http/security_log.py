"""Security events: who was given what opens a seat, who was put out or turned away, and who looked at what is hidden.

Each is a line of the log at level warning, with ids and addresses and nothing that opens anything. What a stranger can
cause without end is told once and then summed up, by event and address, for each minute.
"""

from __future__ import annotations

import threading
import time
from collections import Counter

from flask import Flask, Response, g, request

from api.http.request_log import say
from api.services import Doc, itself, services
from domain.service.database import Statement
from domain.types import Json

PERIOD = 60.0
"""Seconds for which refusals are summed up."""

KEPT = 1000
"""Events and addresses that are told apart in that time; what comes from further addresses is summed up as one."""

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
"""Code of a problem -> the event that it is."""

ACTS = ("token_issued", "token_replaced", "token_revoked", "seat_vacated", "looked", "account_changed")
EVENTS = (*ACTS, *sorted(set(REFUSALS.values())))
"""All of the API; docs/operations.md lists them."""

_TALLY = "annals.tally"


def tell(event: str, **ids: Json) -> None:
    """An event of this request; `ids` name a game, a seat or role, a player, a token by its id."""
    _line(event, {"request_id": g.request_id, "address": g.address, **ids})


def journaled(account: str, what: str, address: str = "", detail: str = "") -> list[Statement]:
    """To be written with what has happened to an account; an event too, once the request has succeeded."""
    g.setdefault("journaled", []).append({"account": account, "what": what})
    return services().people.journal.entry(account, what, address, detail)


def repeated() -> None:
    """A repetition gives what was given, and is no event."""
    g.pop("journaled", None)


def _line(event: str, said: Doc) -> None:
    say("annals.security", "warning", event, **said)


class Tally:
    """Refusals of a minute by event and address; safe with threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._begun = time.monotonic()

    def count(self, event: str, address: str) -> bool:
        """One more; whether it is the first of its kind."""
        with self._lock:
            key = (event, address)
            if key not in self._counts and len(self._counts) >= KEPT:
                key = (event, OTHERS)
            self._counts[key] += 1
            return self._counts[key] == 1

    def summed(self, now: float) -> list[tuple[str, str, int]]:
        """Once a minute is over: event, address and how many, of all that came more than once."""
        with self._lock:
            if now - self._begun < PERIOD:
                return []
            found = [(event, address, n) for (event, address), n in self._counts.items() if n > 1]
            self._counts.clear()
            self._begun = now
            return found


def install(app: Flask) -> None:
    """A tally for the application. The prober asks every second, so that no sum waits for a stranger."""
    from api.http.rate_limits import address  # noqa: PLC0415 - limits need problems, which tell events

    tally = app.extensions[_TALLY] = Tally()

    @app.before_request
    def begin() -> None:
        g.address = address()
        for event, where, count in tally.summed(time.monotonic()):
            _line(event, {"address": where, "count": count, "seconds": int(PERIOD)})

    @app.after_request
    def finish(answer: Response) -> Response:
        noted = itself(g)
        for done in noted.get("journaled", ()) if answer.status_code < 400 else ():
            tell("account_changed", **done)
        event = REFUSALS.get(noted.get("problem", ""))
        if event and (event != "token_refused" or _presented()) and tally.count(event, noted.address):
            found = {"problem": noted.problem, "route": str(request.url_rule) if request.url_rule else "-"}
            if who := noted.get("principal"):
                found |= {"game": who.game, "role": who.role, "player": who.player, "token": who.token}
            tell(event, **found)
        return answer


def _presented() -> bool:
    """Whether anything was shown that might open something: who shows nothing is no intruder."""
    return "Authorization" in request.headers or "ticket" in request.args or bool(request.cookies)
