"""The page of imported games: a form for a file, and the visitor's games from files."""

from __future__ import annotations

import re
from functools import wraps

from flask import Response, request

from api.authorization import View
from api.http.problems import Problem
from api.pages.account.login import log_in_first
from api.pages.common import clocks
from api.pages.common.in_process import RefusedCall, read_document, require
from api.pages.common.session import localize_problem, redirect, render_games_page, session_owner
from api.schemas.history_responses import RulesetsDoc
from api.schemas.table_responses import ImportsDoc
from api.services import services

ADDRESS, ROUTE = "/games/imports", "/imports"
"""Of the page, and of the API."""

_GAME = re.compile(r"[0-9a-f-]{36}", re.ASCII)


def accept_export(view: View) -> View:
    """Accept a form as long as an export."""

    @wraps(view)
    def wrapper(*args: object, **kwargs: object) -> object:
        request.max_content_length = services().settings.max_import_body
        return view(*args, **kwargs)

    return wrapper  # type: ignore[return-value] # the view with the same signature


def show_imports() -> Response:
    """Show the visitor's imported games; import a file, or delete a game."""
    if session_owner() is None:
        return log_in_first()
    if request.method == "GET":
        return _show_page()
    try:
        return _change()
    except RefusedCall as problem:
        return _show_page(problem)


def _change() -> Response:
    game = request.form.get("delete", "")
    if _GAME.fullmatch(game):
        require("DELETE", f"{ROUTE}/{game}")
        return redirect(ADDRESS)
    file = request.files.get("file")
    text = file.read().decode(errors="replace") if file else ""
    return redirect(f"/games/{require('POST', ROUTE, {'export': text})['game']}")


def _show_page(problem: Problem | None = None) -> Response:
    items = read_document(ImportsDoc, ROUTE)["items"]
    titles = {each["name"]: each["title"] for each in read_document(RulesetsDoc, "/rulesets")["items"]}
    return render_games_page(
        "imports",
        problem.status if problem else 200,
        items=[each | {"title": titles.get(each["ruleset"], each["ruleset"])} for each in items],
        times=clocks.Times.of_visitor(),
        problem=localize_problem(problem) if problem else None,
    )
