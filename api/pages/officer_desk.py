"""The desk of an officer: what waits at all tables, and the acts of an officer at one table, each with a reason."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from urllib.parse import urlencode

from flask import Response, g, request

from api.http.problems import Problem
from api.pages import clocks
from api.pages.agreements import DURATIONS
from api.pages.in_process import Answer, RefusedCall, ask, require
from api.pages.labels import Labels
from api.pages.lobby import TableShown
from api.pages.login import log_in_first, show_login
from api.pages.numbers import read_number
from api.pages.session import localize_problem, redirect, render_games_page, session_owner
from api.pages.table import TablePage, load_table
from api.schemas.query_args import NEEDS
from api.services import Doc
from domain.types import DIRECTOR

ENDINGS = ("adjourned", "adjudicated", "forfeited", "annulled", "abandoned", "void")
"""Ends of a game in the form. The last two are no rulings: they close the game at once."""

_KEY = re.compile(r"[A-Za-z0-9_-]{32,64}", re.ASCII)
_CURSOR = re.compile(r"[0-9a-f-]{36}", re.ASCII)


def show_desk() -> Response:
    """Show the tables that the visitor directs, those where something waits first."""
    if session_owner() is None:
        return log_in_first()
    needs, cursor = request.args.get("needs", ""), request.args.get("after", "")
    query = {"needs": needs} if needs in NEEDS else {}
    query |= {"cursor": cursor} if _CURSOR.fullmatch(cursor) else {}
    found = require("GET", "/me/desk?" + urlencode(query))
    times = clocks.Times.of_visitor(found["now"])
    rows = [(each, _show_table(each, times.lang)) for each in found["items"]]
    rows.sort(key=lambda row: not row[0]["needs"])
    next_page = re.search(r"cursor=([0-9a-f-]{36})", found["next"] or "")
    return render_games_page(
        "desk",
        wide=True,
        desk=found,
        rows=rows,
        needs=needs,
        all_needs=NEEDS,
        more=next_page[1] if next_page else "",
        times=times,
    )


def _show_table(entry: Doc, lang: str) -> TableShown:
    """Return a table of the desk for its name."""
    return TableShown(entry, Labels.of_table({"ruleset": entry["ruleset"], "names": {}, "seats": []}, lang))


def direct(game: str) -> Response:
    """Show the acts of an officer at a table, and carry one out."""
    if session_owner() is None:
        return show_login(f"/games/{game}")
    page = load_table(game, DIRECTOR)
    if page.role != DIRECTOR:
        raise Problem("directors_only")
    if request.method == "GET":
        return _render(page)
    act, key = request.form.get("act", ""), request.form.get("key", "")
    if act not in _ACTS or not _KEY.fullmatch(key):
        raise Problem("form_stale")
    method, path, body = _ACTS[act](page)
    answer = ask(method, f"/games/{game}{path}", body, role=DIRECTOR, Idempotency_Key=key)
    if answer.status >= 400:
        return _render(page, answer)
    return redirect(f"{page.address}/desk?wait={answer.doc['position']}" if "position" in answer.doc else "/desk")


def _render(page: TablePage, refused: Answer | None = None) -> Response:
    if refused:
        g.problem = refused.code
    return render_games_page(
        "direct",
        refused.status if refused else 200,
        wide=True,
        page=page,
        summary=page.summary,
        decision=page.decision,
        ruling=page.summary.get("ruling"),
        endings=ENDINGS,
        durations=DURATIONS,
        key=secrets.token_urlsafe(30),
        times=clocks.Times.of_visitor(page.now),
        sent=request.form,
        problem=localize_problem(RefusedCall(refused)) if refused else None,
    )


# --- acts: method, path and body of each ------------------------------------------------------------------------

Act = tuple[str, str, Doc]


def _read_reason(member: str = "reason") -> Doc:
    text = request.form.get("reason", "").strip()[:500]
    return {member: text} if text else {}


def _read_until() -> Doc:
    """Return the point of time in the form, or nothing."""
    text = request.form.get("until", "")
    found = clocks.Times.of_visitor().read_local(text) if text else None
    if text and found is None:
        raise Problem("form_stale")
    return {"until": found} if found else {}


def _extend(page: TablePage) -> Act:
    amount = _read_until() or {"seconds": read_number("seconds", DURATIONS[-1])}
    decision = request.form.get("decision", "")[:40] or (page.decision or {}).get("id", "")
    return "POST", "/extensions", {"decision": decision, **amount, **_read_reason()}


def _pause(_: TablePage) -> Act:
    return "POST", "/pauses", {**_read_until(), "moves": request.form.get("moves") == "yes", **_read_reason()}


def _hold(_: TablePage) -> Act:
    amount = _read_until() or {"seconds": read_number("seconds", DURATIONS[-1])}
    return "PUT", f"/seats/{read_number('seat', 99)}/hold", {**amount, **_read_reason()}


def _remove(_: TablePage) -> Act:
    return "POST", f"/seats/{read_number('seat', 99)}/removals", _read_reason()


def _seat_bot(_: TablePage) -> Act:
    return "POST", "/seats", {"seat": read_number("seat", 99), "bot": "heuristic", **_read_reason()}


def _close(page: TablePage) -> Act:
    ending, form = request.form.get("ending", ""), request.form
    body: Doc = {"reason": ending, **_read_reason("explanation")}
    seats = [each["seat"] for each in page.summary["seats"]]
    if ending == "adjudicated":
        body["places"] = [read_number(f"place.{seat}", 100, 1) for seat in seats]
    if ending == "forfeited":
        body["forfeits"] = [seat for seat in seats if form.get(f"forfeit.{seat}") == "yes"]
    return "POST", "/close", body


def _withdraw(page: TablePage) -> Act:
    return "POST", f"/rulings/{(page.summary.get('ruling') or {}).get('version', 0)}/withdrawal", _read_reason()


_ACTS: dict[str, Callable[[TablePage], Act]] = {
    "extend": _extend,
    "pause": _pause,
    "resume": lambda _: ("POST", "/resumptions", _read_reason()),
    "hold": _hold,
    "remove": _remove,
    "bot": _seat_bot,
    "close": _close,
    "withdraw": _withdraw,
    "start": lambda _: ("POST", "/start", _read_reason()),
}
