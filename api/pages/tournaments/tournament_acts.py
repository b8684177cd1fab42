"""Acts of entrants and of the organiser of a tournament, by forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile
from urllib.parse import urlencode

from flask import Response, request

from api.http.problems import Problem
from api.pages.account.login import show_login
from api.pages.common.form_keys import read_form_key
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import ask
from api.pages.common.numbers import parse_number, read_number
from api.pages.common.preferences import current_preferences
from api.pages.common.session import redirect, session_owner
from api.pages.tournaments.tournament_desk_page import render_event_desk
from api.pages.tournaments.tournament_opening import MOST_MINUTES
from api.pages.tournaments.tournament_pages import load_tournament, render_tournament
from domain.tournaments.aggregate.elsewhere_commands import MAX_SCORE
from domain.tournaments.aggregate.tournament import MAX_NUMBER
from domain.tournaments.aggregate.tournament_ruling_commands import ROLES
from domain.tournaments.bids import TOTAL_BID
from domain.tournaments.designs import MAX_ROUNDS
from domain.tournaments.results_file import MAX_ENTRANTS
from domain.tournaments.sizes import MAX_SEATS
from domain.tournaments.timetable import MAX_OPENS
from domain.types import MAX_INT, Doc

Act = tuple[str, str, Doc]
"""Method, path below the tournament or `/me`, and body."""

PARTS = ("entrant", *ROLES)
"""Parts that an officer offers to people."""

_ANNOUNCEMENT = re.compile(r"[0-9a-f]{24}", re.ASCII)
_PLAYER = re.compile(r"[A-Za-z0-9_-]{1,80}", re.ASCII)


def act_in_tournament(tournament: str) -> Response:
    """Carry out an act of the visitor, and show the tournament, or its desk: after a ranking with its next step."""
    if session_owner() is None:
        return show_login(f"/tournaments/{tournament}")
    act, key = request.form.get("act", ""), read_form_key()
    if act not in _ACTS:
        raise Problem("form_stale")
    method, path, body = _ACTS[act]()
    shown = {"stage": 99, "round": MAX_ROUNDS}
    place = {name: read_number(name, most, 1) for name, most in shown.items() if name in request.form}
    address = path if path.startswith("/me/") else f"/tournaments/{tournament}{path}"
    answer = ask(method, address, body, Idempotency_Key=key)
    is_at_desk = request.form.get("shown") == "desk"
    if answer.status >= 400:
        return (render_event_desk if is_at_desk else render_tournament)(load_tournament(tournament), answer)
    if is_at_desk:
        return redirect(f"/tournaments/{tournament}/desk")
    query = urlencode({"done": act} if act == "rank" else place)
    return redirect(f"/tournaments/{tournament}" + (f"?{query}" if query else ""))


def _read_round() -> str:
    """Return the path of the round in the form."""
    return f"/stages/{read_number('stage', 99, 1)}/rounds/{read_number('round', MAX_ROUNDS, 1)}"


def _read_text(name: str) -> Doc:
    text = read_text(name)
    return {name: text} if text else {}


def _read_name() -> Doc:
    return {"name": read_text("person")}


def _read_player() -> str:
    player = request.form.get("player", "")
    if not _PLAYER.fullmatch(player):
        raise Problem("form_stale")
    return player


def _answer_question(method: str) -> Act:
    """Accept to be a substitute (PUT), or decline it or give it up (DELETE)."""
    return method, f"/me/substitutions/{(request.view_args or {})['tournament']}/{_read_player()}", {}


def _answer_offer(method: str) -> Act:
    """Accept an invitation or an office (PUT), or decline it (DELETE)."""
    part = request.form.get("part", "")
    if part not in PARTS:
        raise Problem("form_stale")
    return method, f"/me/event-offers/{(request.view_args or {})['tournament']}/{part}", {}


def _label() -> Act:
    return "PUT", "/card", {**_read_text("title"), **_read_text("note")}


def _remove_announcement() -> Act:
    announcement = request.form.get("announcement", "")
    if not _ANNOUNCEMENT.fullmatch(announcement):
        raise Problem("form_stale")
    return "DELETE", f"/announcements/{announcement}", {}


def _withdraw() -> Act:
    if request.form.get("sure") != "yes":
        raise Problem("form_stale")
    return "DELETE", "/entrants/me", {}


def _set_timetable() -> Act:
    starts = list(takewhile(bool, request.form.getlist("start")[:MAX_ROUNDS]))
    times = {name: read_number(name, MAX_OPENS // 60) * 60 for name in ("opens", "closes", "warning", "extension")}
    zone = current_preferences().zone or "UTC"
    return "PUT", "/timetable", {"starts": starts, "zone": zone, "each": request.form.get("each") == "yes", **times}


def _amend() -> Act:
    """Return other sizes, another time limit, tables elsewhere and programs; an empty limit is none."""
    seats = {name: read_number(name, MAX_SEATS, 1) for name in ("least", "most", "preferred")}
    minutes = parse_number(request.form.get("minutes", ""), MOST_MINUTES, 1)
    limit = {"time_limit": minutes * 60 if minutes else None}
    chosen: Doc = {"elsewhere": request.form.get("elsewhere") or None} if "elsewhere" in request.form else {}
    chosen |= {"bots": request.form["bots"]} if "bots" in request.form else {}
    return "POST", "/amendments", {"seats": seats, **limit, **chosen, **_read_text("reason")}


def _close() -> Act:
    if request.form.get("sure") != "yes":
        raise Problem("form_stale")
    return "POST", "/close", _read_text("outcome")


def _file() -> Act:
    """Return a bid, or a list of seats; words other than numbers from 0 to 100 make it an empty one."""
    words = request.form.get("wish", "").replace(",", " ").split()
    wish = [parse_number(word, TOTAL_BID) for word in words[:MAX_SEATS]]
    member = "bid" if request.form.get("seating") == "bid" else "seats"
    is_whole = len(words) == len(wish) and None not in wish
    return "PUT", f"{_read_round()}/bids", {member: wish if is_whole else []}


def _read_table() -> str:
    """Return the path of the table in the form."""
    return f"{_read_round()}/tables/{read_number('pod', MAX_ENTRANTS, 1)}"


def _enter_scores() -> Act:
    """Return scores by seat; fields other than whole numbers make no list, and such places are first ones."""
    points = [_parse_score(each) for each in request.form.getlist("points")[:MAX_SEATS]]
    words = request.form.get("places", "").replace(",", " ").split()[:MAX_SEATS]
    places = [parse_number(word, MAX_SEATS, 1) or 1 for word in words]
    return "PUT", f"{_read_table()}/scores", {"points": [p for p in points if p is not None], "places": places}


def _parse_score(text: str) -> int | None:
    """Return a whole number, perhaps below zero, or None."""
    digits = text.strip().removeprefix("-")
    found = parse_number(digits, MAX_SCORE)
    return -found if found is not None and text.strip().startswith("-") else found


def _read_scores() -> Doc:
    return {"scores": read_number("scores", MAX_INT, 1)}


_ACTS: dict[str, Callable[[], Act]] = {
    "enter": lambda: ("POST", "/entrants", {}),
    "withdraw": _withdraw,
    "queue": lambda: ("POST", "/queue", {}),
    "leave": lambda: ("DELETE", "/queue", {}),
    "check_in": lambda: ("POST", "/checkin", _read_text("nonce_hash")),
    "check_in_other": lambda: ("POST", f"/entrants/{read_number('entrant', MAX_NUMBER)}/checkin", {}),
    "nonce": lambda: ("POST", "/nonce", {"nonce": "", **_read_text("nonce")}),
    "checking": lambda: ("POST", "/phases", {"phase": "checking"}),
    "drawing": lambda: ("POST", "/phases", {"phase": "drawing"}),
    "queue_closed": lambda: ("POST", "/phases", {"phase": "queue_closed"}),
    "queue_open": lambda: ("POST", "/phases", {"phase": "queue_open"}),
    "bidding": lambda: ("POST", f"{_read_round()}/bidding", {}),
    "file": _file,
    "draw": lambda: ("POST", f"{_read_round()}/draw", _read_text("reason")),
    "tables": lambda: ("POST", f"{_read_round()}/tables", {}),
    "elsewhere": lambda: ("PUT", f"{_read_table()}/elsewhere", {}),
    "enter_scores": _enter_scores,
    "confirm_scores": lambda: ("POST", f"{_read_table()}/confirmations", _read_scores()),
    "settle_scores": lambda: ("POST", f"{_read_table()}/settlement", {**_read_scores(), **_read_text("reason")}),
    "reports": lambda: ("POST", f"{_read_round()}/reports", {}),
    "rank": lambda: ("POST", f"{_read_round()}/rank", {}),
    "schedule": lambda: (
        "PUT",
        "/schedule",
        {"rule": "", "start": "", **_read_text("rule"), **_read_text("start"), **_read_text("zone")},
    ),
    "unschedule": lambda: ("DELETE", "/schedule", {}),
    "timetable": _set_timetable,
    "pause": lambda: ("PUT", "/pause", {}),
    "resume": lambda: ("DELETE", "/pause", {}),
    "amend": _amend,
    "ask_substitute": lambda: ("POST", "/entrants/me/substitutes", _read_name()),
    "end_substitute": lambda: ("DELETE", f"/entrants/me/substitutes/{_read_player()}", {}),
    "accept": lambda: _answer_question("PUT"),
    "decline": lambda: _answer_question("DELETE"),
    "accept_offer": lambda: _answer_offer("PUT"),
    "decline_offer": lambda: _answer_offer("DELETE"),
    "follow": lambda: ("PUT", "/followers/me", {}),
    "unfollow": lambda: ("DELETE", "/followers/me", {}),
    "label": _label,
    "announce": lambda: ("POST", "/announcements", {"text": read_text("text"), **_read_text("game")}),
    "remove_announcement": _remove_announcement,
    "close": _close,
}
