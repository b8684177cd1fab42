"""The chronicle of a table: its newest entries, the digest since a visit, its own page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from flask import Response, request

from api.pages.common import clocks
from api.pages.common.in_process import ask, require
from api.pages.common.numbers import query_number
from api.pages.common.presentation import load_sheet
from api.pages.common.session import render_games_page, session_owner
from api.pages.table.table_page import TablePage, load_table_page
from api.services import services
from domain.errors import StoreUnavailable
from domain.types import MAX_INT, Doc

NEWEST = 12
"""Entries of the chronicle on the page of a table."""

LOOKED_AT, LOOKED_AT_WITH_SHEETS = 60, 200
"""Versions in which the page looks for them, and for what has happened since the visitor's last own move.

Each order of a sheet is a record of its own, which others cannot read.
"""


SLICE, MOST_SLICES = 200, 10
"""Entries of the timeline in one request, and requests for one's own last move."""


def newest_entries(page: TablePage) -> tuple[list[Doc], list[Doc]]:
    """Return the newest entries of the timeline, and the battles in them, up to the version of the page."""
    limit = LOOKED_AT if load_sheet(page.labels.rules.package) is None else LOOKED_AT_WITH_SHEETS
    after = max(page.summary["version"] - limit, 0)
    found = require("GET", f"/games/{page.game}/timeline?limit={limit}&after={after}", role=page.role)
    upto = page.summary["version"]
    entries, battles = ([each for each in found[part] if each["version"] <= upto] for part in ("items", "battles"))
    return entries, battles


def list_told(page: TablePage, entries: Sequence[Doc]) -> list[Doc]:
    """Return the newest entries that tell something, without notes that a sheet of orders is in."""
    has_sheet = load_sheet(page.labels.rules.package) is not None
    told = [each for each in entries if page.tell(each)]
    return [each for each in told if not (has_sheet and each["kind"] == "moved" and not each.get("own"))][-NEWEST:]


def digest_since_visit(page: TablePage) -> Doc | None:
    """Note the visit; return the digest of the versions since the last one, or None if nothing is new."""
    owner, version = session_owner(), page.summary["version"]
    if owner is None or not page.board or request.method != "GET":
        return None
    since = 0
    with suppress(StoreUnavailable):  # a store that takes no rows still shows the table
        since = services().account_store.page_visits.note_look(owner.account, page.game, version)
    if not 0 < since < version:
        return None
    answer = ask("GET", f"/games/{page.game}/digest?after={since}", role=page.role)
    if answer.status >= 400:
        return None
    told = [turn for turn in answer.doc["turns"] if any(turn.get(part) for part in ("rulings", "lines", "standings"))]
    return answer.doc | {"turns": told}


def show_chronicle(game: str) -> Response:
    """Show the chronicle of a table, a page of versions at a time, the newest first.

    `before` leads back. `since=move` begins with one's last move; `after` tells forwards, from a version on.
    """
    page = load_table_page(game)
    since_move, is_forward = request.args.get("since") == "move", "after" in request.args
    if since_move or is_forward:
        after, limit = _find_own_move(page) if since_move else query_number("after", MAX_INT), SLICE
    else:
        upto = min(query_number("before", MAX_INT, MAX_INT), page.summary["version"])
        after = max(upto - SLICE, 0)
        limit = max(upto - after, 1)
    found = require("GET", f"/games/{game}/timeline?limit={limit}&after={after}", role=page.role)
    entries = found["items"]
    later = entries[-1]["version"] if is_forward and found.get("next") and entries else None
    if not is_forward:
        entries = entries[::-1]
    return render_games_page(
        "chronicle",
        wide=True,
        page=page,
        entries=entries,
        jumps=_list_jumps(entries),
        later=later,
        earlier=after if not since_move and not is_forward and after else None,
        since_move=since_move,
        times=clocks.Times.of_visitor(),
    )


def _list_jumps(entries: Sequence[Doc]) -> list[tuple[int, str]]:
    """Return the chapters of entries: the version of the first one shown, and the heading."""
    found: list[tuple[int, str]] = []
    for each in entries:
        title = (each.get("chapter") or {}).get("title", "")
        if title and (not found or found[-1][1] != title):
            found.append((each["version"], title))
    return found


def _find_own_move(page: TablePage) -> int:
    """Return the version of the newest move of the visitor's seat, or 0 if there is none nearby."""
    upto = page.summary["version"]
    for _ in range(MOST_SLICES if page.seat is not None else 0):
        after = max(upto - SLICE, 0)
        found = require("GET", f"/games/{page.game}/timeline?limit={SLICE}&after={after}", role=page.role)["items"]
        own = [e["version"] for e in found if e["kind"] == "moved" and e["seat"] == page.seat and not e.get("undone")]
        if own or not after:
            return max(own, default=0)
        upto = after
    return 0
