"""Commands of a table by forms: seats, bots, start, votes, going back, forks."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

import msgspec
from flask import Response, g, request

from api.http.problems import Problem
from api.pages.account.login import show_login
from api.pages.common.agreements import read_act
from api.pages.common.form_keys import read_form_key
from api.pages.common.in_process import Answer, RefusedCall, ask, require
from api.pages.common.numbers import parse_number, read_number
from api.pages.common.session import is_stranger, redirect, render_games_page, session_owner
from api.pages.decision.order_sheet import cancel_moves
from api.pages.lobby.lobby import open_against_bots
from api.pages.table.earlier_orders import copy_orders
from api.pages.table.order_forms import read_order, read_order_id
from api.pages.table.picks_cookie import forget_picks
from api.pages.table.table_page import TablePage, load_table_page
from domain.kernel.game.seat_players import is_bot
from domain.types import Doc

JOB_SECONDS = 1.5
"""Longest wait for a worker before the page is shown."""

_NEWEST = 50
_PAUSE = 0.1
_TRIES = 3


def command(game: str) -> Response:
    """Carry out a command at a table, and show the table."""
    if is_stranger(game):
        return show_login(f"/games/{game}")
    page, act = load_table_page(game), request.form.get("act", "")
    if act == "copy":
        return copy_orders(page)
    if act not in _COMMANDS:
        raise Problem("form_stale")
    if act == "undo" and request.form.get("preview") == "yes":
        return _preview_undo(page)
    answer = _COMMANDS[act](page)
    if answer.status >= 400:
        g.problem = answer.code
        raise RefusedCall(answer)
    asked = answer.doc.get("id", "")
    job = answer.doc.get("job") or answer.headers.get("Location", "")
    if job.startswith("/v1/jobs/"):
        answer = _wait_for(job, page) or answer
    position = answer.doc.get("position")
    address = f"/games/{answer.doc['game']}" if act in _OPENING else page.address
    address = f"{address}?wait={position}" if position else address
    response = redirect(f"{address}#vote-{asked}" if act in _ASKING and asked else address + _PLACES.get(act, ""))
    return forget_picks(response, page) if act == "undo" else response


def confirm_invitation(game: str) -> Response:
    """Ask for confirmation before a seat is taken by the link of an invitation."""
    if session_owner() is None:
        return show_login(f"/games/{game}")
    page = load_table_page(game)
    return render_games_page(
        "invitation", page=page, invitation=request.args.get("invitation", "")[:64], length=page.length
    )


def _wait_for(job: str, page: TablePage) -> Answer | None:
    """Return the finished job, or None if it takes longer than a page may wait."""
    for _ in range(round(JOB_SECONDS / _PAUSE)):
        answer = ask("GET", job.removeprefix("/v1"), role=page.role)
        if answer.doc.get("status") not in ("queued", "running"):
            return answer
        time.sleep(_PAUSE)
    return None


def _send(method: str, path: str, body: Doc | None = None, *, role: str = "", mark: str = "", **headers: str) -> Answer:
    """Send a command of the form: a second click on its button repeats the first, and does nothing more."""
    sent = sorted((name, value) for name, value in request.form.items(multi=True))
    key = hashlib.sha256(msgspec.json.encode([sent, mark])).hexdigest()[:40]
    return ask(method, path, body, role=role, Idempotency_Key=key, **headers)


def _join(page: TablePage) -> Answer:
    body = {name: request.form[name] for name in ("invitation",) if request.form.get(name)}
    seat = _seat_of_form()
    return _send("POST", f"/games/{page.game}/seats", body | ({} if seat is None else {"seat": seat}))


def _seat_bot(page: TablePage) -> Answer:
    body = {"seat": _seat_of_form(), "bot": request.form.get("bot", "")}
    return _send("POST", f"/games/{page.game}/seats", body, role=page.role)


def _seat_of_form() -> int | None:
    return parse_number(request.form.get("seat", ""), 99)


def _leave(page: TablePage) -> Answer:
    seat = _seat_of_form()
    role = page.role if seat == page.seat else "director"
    return _send("DELETE", f"/games/{page.game}/seats/{seat if seat is not None else page.role}", role=role)


def _vote(page: TablePage) -> Answer:
    kind, id_ = request.form.get("kind", ""), request.form.get("id", "")
    if kind not in ("rewinds", "proposals") or not id_.replace("-", "").isalnum() or not id_.isascii():
        raise Problem("form_stale")
    body = {"agrees": request.form.get("agrees") == "yes"}
    return _send("POST", f"/games/{page.game}/{kind}/{id_}/consents", body, role=page.role)


def _propose(page: TablePage) -> Answer:
    return _send("POST", f"/games/{page.game}/proposals", read_act(page.decision), role=page.role)


def _take_vacation(page: TablePage) -> Answer:
    body = {"days": read_number("days", 366, 1)}
    return _send("POST", f"/games/{page.game}/vacations", body, role=page.role)


def _concede(page: TablePage) -> Answer:
    if request.form.get("sure") != "yes":
        raise Problem("form_stale")
    return _send("POST", f"/games/{page.game}/seats/{page.role}/concession", role=page.role)


def _cancel_order(page: TablePage) -> Answer:
    return _change_sheet(page, again=False)


def _put_last(page: TablePage) -> Answer:
    return _change_sheet(page, again=True)


def _change_sheet(page: TablePage, *, again: bool) -> Answer:
    number, own = parse_number(request.form.get("number", ""), 999_999), page.board.get("own") or {}
    moves = [] if number is None else cancel_moves(page.labels, own, number, again=again)
    if not moves:  # it is gone already
        raise Problem("form_stale")
    body = {"moves": moves, "decision": request.form.get("decision", "")[:40]}
    return _send("POST", f"/games/{page.game}/moves", body, role=page.role)


def _give_order(page: TablePage) -> Answer:
    return _send("POST", f"/games/{page.game}/standing-orders", read_order(), role=page.role)


def _revoke_order(page: TablePage) -> Answer:
    return _send("DELETE", f"/games/{page.game}/standing-orders/{read_order_id()}", role=page.role)


def _undo(page: TablePage) -> Answer:
    """Go back from the version that the page has shown; only moves of bots may come in between."""
    to, shown = (read_number(name, 2**31 - 1, 1) for name in ("to", "version"))
    answer = _request_rewind(page, to, shown)
    for _ in range(_TRIES):
        if answer.code != "stale_version" or not _only_bots_since(page, shown):
            break
        answer = _request_rewind(page, to, answer.doc["version"])
    return answer


def _preview_undo(page: TablePage) -> Response:
    """Show the effect of a way back in words, with the form to confirm it."""
    to, shown = (read_number(name, 2**31 - 1, 1) for name in ("to", "version"))
    path, match = f"/games/{page.game}/rewinds?dry_run=1", f'"{shown}"'
    effect = require("POST", path, {"to": to}, role=page.role, If_Match=match)
    names = ", ".join(map(page.labels.seat, effect["consents"]))
    return render_games_page("undo_preview", page=page, effect=effect, names=names)


def _only_bots_since(page: TablePage, version: int) -> bool:
    """Return whether only bots and the engine have acted since a version."""
    found = ask("GET", f"/games/{page.game}/timeline?limit={_NEWEST}&after={version}", role=page.role)
    items = found.doc.get("items", ())
    bots = {each["seat"] for each in page.summary["seats"] if is_bot(each["player"])}
    ours = all(each["kind"] == "resolved" or (each["kind"] == "moved" and each["seat"] in bots) for each in items)
    return found.status < 400 and len(items) < _NEWEST and ours


def _request_rewind(page: TablePage, to: int, version: int) -> Answer:
    path, match = f"/games/{page.game}/rewinds", f'"{version}"'
    return _send("POST", path, {"to": to}, role=page.role, mark=match, If_Match=match)


def _fork(page: TablePage) -> Answer:
    body = {"version": read_number("version", page.summary["version"], 1)}
    return _send("POST", f"/games/{page.game}/forks", body)


def _open_rematch(page: TablePage) -> Answer:
    """Open the next game of the same people, and take the own seat there."""
    answer = _send("POST", f"/games/{page.game}/rematches", {}, role=page.role)
    if answer.status < 400 and answer.doc.get("seat") is not None:
        game, seat = answer.doc["game"], {"seat": answer.doc["seat"]}
        seated = _send("POST", f"/games/{game}/seats", seat, mark="seat")
        answer.doc["position"] = seated.doc.get("position")
    return answer


def _play_again(page: TablePage) -> Answer:
    """Open the same game with bots in all other seats."""
    summary = page.summary
    doc = open_against_bots(summary["ruleset"], len(summary["seats"]), summary["options"], read_form_key())
    return Answer(201, doc, {})


_OPENING = ("fork", "rematch", "again")
"""Commands with another table as their result."""

_ASKING = ("undo", "propose", "vote")
"""Commands with a question to others: the page then begins with this question."""

_PLACES = {"order": "#orders", "revoke": "#orders"}
"""Command -> the part with which the page then begins."""

_COMMANDS: dict[str, Callable[[TablePage], Answer]] = {
    "join": _join,
    "bot": _seat_bot,
    "leave": _leave,
    "start": lambda page: _send("POST", f"/games/{page.game}/start", role=page.role),
    "concede": _concede,
    "propose": _propose,
    "vacation": _take_vacation,
    "vote": _vote,
    "undo": _undo,
    "cancel": _cancel_order,
    "put_last": _put_last,
    "order": _give_order,
    "revoke": _revoke_order,
    "fork": _fork,
    "rematch": _open_rematch,
    "again": _play_again,
}
