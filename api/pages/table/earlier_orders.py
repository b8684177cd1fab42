"""The orders of the last turn, filed again on a new sheet."""

from __future__ import annotations

from flask import Response, request

from api.http import i18n
from api.http.problems import Problem
from api.pages.common.form_keys import read_form_key
from api.pages.common.in_process import ask, require
from api.pages.common.presentation import load_sheet
from api.pages.table.prompt import ask_first
from api.pages.table.table import render_table
from api.pages.table.table_page import TablePage, load_table_page
from domain.kernel.text.message_catalog import Message
from domain.types import Json

SLICE = 200
"""Entries of the timeline in one request."""

MOST_SLICES = 10
"""Requests for the end of the last turn."""


def copy_orders(page: TablePage) -> Response:
    """File the orders of the last turn, as far as the rules allow it now, and tell how many were filed."""
    moves, key = _list_earlier_moves(page), read_form_key()
    decision = request.form.get("decision", "")[:40]
    body = {"moves": moves, "decision": decision}
    filed, position = 0, 0
    if moves and (answer := ask("POST", _path(page), body, role=page.role, Idempotency_Key=key)).status < 400:
        filed, position = len(moves), answer.doc["position"]
    elif moves:
        for number, move in enumerate(moves):
            body = {"moves": [move], "decision": decision}
            answer = ask("POST", _path(page), body, role=page.role, Idempotency_Key=f"{key}-{number}")
            if answer.status < 400:
                filed, position = filed + 1, answer.doc["position"]
    page = load_table_page(page.game, page.role, position)
    if not page.must_decide:
        return render_table(page)
    asked = ask_first(page)
    told = Message("{filed} of {all} orders of the last turn are filed again.", filed=filed, all=len(moves))
    asked.note = i18n.translate(told if moves else Message("There is no earlier turn."), page.labels.texts.lang)
    return render_table(page, asked)


def _path(page: TablePage) -> str:
    return f"/games/{page.game}/moves"


def _list_earlier_moves(page: TablePage) -> list[Json]:
    """Return the moves that file the orders with which the last turn was resolved."""
    form = load_sheet(page.labels.rules.package)
    if form is None:
        raise Problem("form_stale")
    resolved = _find_resolution(page)
    if not resolved:
        return []
    board = require("GET", f"/games/{page.game}/board?version={resolved - 1}", role=page.role)
    return [form.order_move(order) for order in form.list_orders(board.get("own") or {})]


def _find_resolution(page: TablePage) -> int:
    """Return the version of the newest resolution, or 0 if there is none nearby."""
    upto = page.summary["version"]
    for _ in range(MOST_SLICES):
        after = max(upto - SLICE, 0)
        found = require("GET", f"/games/{page.game}/timeline?limit={SLICE}&after={after}", role=page.role)["items"]
        versions = [each["version"] for each in found if each["kind"] == "resolved" and not each.get("undone")]
        if versions or not after:
            return max(versions, default=0)
        upto = after
    return 0
