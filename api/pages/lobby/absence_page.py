"""The page on which a person is away from all tables at once."""

from __future__ import annotations

from flask import Response, request

from api.http.problems import Problem
from api.pages.account.login import log_in_first
from api.pages.common import clocks
from api.pages.common.in_process import require
from api.pages.common.session import render_games_page, session_owner
from api.pages.lobby.lobby import list_own_tables
from domain.types import Doc

ADDRESS = "/games/absence"


def be_away() -> Response:
    """Ask until when, take vacation at all tables, and tell for each what was done."""
    if session_owner() is None:
        return log_in_first()
    times = clocks.Times.of_visitor()
    if request.method == "GET":
        return render_games_page("absence", items=None, times=times)
    until = times.read_local(request.form.get("until", ""))
    if until is None:
        raise Problem("form_stale")
    return render_games_page("absence", items=_take_everywhere(until), tables=_name_tables(), times=times)


def _take_everywhere(until: int) -> list[Doc]:
    items, after = list[Doc](), ""
    while True:
        found = require("POST", "/me/vacations", {"until": until, "after": after})
        items += found["items"]
        if found["next"] is None:
            return items
        after = found["next"]


def _name_tables() -> dict[str, str]:
    """Return the names of the visitor's running tables, by game."""
    return {table.doc["game"]: table.name for table in list_own_tables("running")}
