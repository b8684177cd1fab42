"""The replay of a table: any version of its board, with the way to the next and the difference to another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from flask import Response, request

from api.pages.common import clocks
from api.pages.common.in_process import ask, require
from api.pages.common.numbers import query_number
from api.pages.common.session import render_games_page
from api.pages.map.board_picture import is_public
from api.pages.map.map_view import MapView, Offers, show_map
from api.pages.player_view.kept_panels import show_parts
from api.pages.player_view.node_html import write_die
from api.pages.table.gazette import BattleShown, list_fought, show_battles
from api.pages.table.table_page import TablePage, load_table_page
from domain.types import MAX_INT, Doc

AROUND = 60
"""Versions before and after the shown one in which the next move is looked for."""


def show_replay(game: str) -> Response:
    """Show a version of the board: `version`, by default the newest; `since` marks the changes since another one."""
    page = load_table_page(game)
    newest = page.summary["version"]
    version = _read_version("version", newest, newest)
    entries, battles = _list_entries(page, version)
    before = next((e["version"] for e in reversed(entries) if e["version"] < version), max(version - 1, 0))
    since, version = sorted((_read_version("since", before, newest), version))  # what happened goes forward
    fights = _show_fights(page, battles, since, version)
    board, earlier = _load_board(page, version), _load_board(page, since)
    changes = _find_changes(page, since, version)
    return render_games_page(
        "replay",
        wide=True,
        page=page,
        version=version,
        since=since,
        newest=newest,
        entry=next((e for e in entries if e["version"] == version), None),
        steps=_list_steps(page, version, entries),
        map=_compare_maps(page, board, earlier),
        has_picture=is_public(page.summary, version),
        battles=fights,
        fought=list_fought(fights),
        write_die=write_die,
        changes=changes,
        parts=show_parts(page.labels, board, page.audit) if board else [],
        offer_ids={},
        times=clocks.Times.of_visitor(),
    )


def _show_fights(page: TablePage, battles: Sequence[Doc], since: int, version: int) -> Sequence[BattleShown]:
    """Return the battles between two versions as cards."""
    return show_battles(page, [each for each in battles if since < each["version"] <= version]) if page.board else ()


def _read_version(name: str, default: int, newest: int) -> int:
    return min(query_number(name, MAX_INT, default), newest)


def _list_entries(page: TablePage, version: int) -> tuple[list[Doc], list[Doc]]:
    """Return the entries of the chronicle around a version, and their battles.

    Undone entries are left out unless the visitor asks for them.
    """
    after = max(version - AROUND - 1, 0)
    doc = require("GET", f"/games/{page.game}/timeline?after={after}&limit={2 * AROUND}", role=page.role)
    shows_undone = request.args.get("undone") == "1"
    entries = [e for e in doc["items"] if shows_undone or not e.get("undone") or e["version"] == version]
    return entries, list(doc["battles"])


def _load_board(page: TablePage, version: int) -> Doc | None:
    """Return the board of a version, or None for a version without one."""
    if version == page.summary["version"]:
        return page.board
    answer = ask("GET", f"/games/{page.game}/board?version={version}", role=page.role)
    return answer.doc if answer.status < 400 else None


def _list_steps(page: TablePage, version: int, entries: Sequence[Doc]) -> dict[str, int | None]:
    """Return the versions for the links of the page."""
    versions = [e["version"] for e in entries]
    turns = [b["version"] for a, b in pairwise(entries) if _turn_of(a) != _turn_of(b)]
    edges = [each for each in (version - AROUND, version + AROUND) if 0 < each < page.summary["version"]]
    own = [e["version"] for e in entries if page.seat is not None and e["seat"] == page.seat and e["kind"] == "moved"]
    newest = page.summary["version"]
    return {
        "first": 1 if version > 1 else None,
        "turn_before": _last_below(turns, version) or _last_below(edges, version),
        "own_before": _last_below(own, version),
        "before": _last_below(versions, version),
        "after": _first_above(versions, version),
        "own_after": _first_above(own, version),
        "turn_after": _first_above(turns, version) or _first_above(edges, version),
        "last": newest if version < newest else None,
    }


def _turn_of(entry: Doc) -> int | None:
    return entry["chapter"]["turn"] if entry.get("chapter") else None


def _last_below(versions: Sequence[int], version: int) -> int | None:
    return max((each for each in versions if each < version), default=None)


def _first_above(versions: Sequence[int], version: int) -> int | None:
    return min((each for each in versions if each > version), default=None)


def _compare_maps(page: TablePage, board: Doc | None, earlier: Doc | None) -> MapView | None:
    """Return the map of a version. Its differences from the earlier one are marked."""
    if board is None:
        return None
    shown = show_map(page.labels, board, page.seat, Offers())
    before = show_map(page.labels, earlier, page.seat, Offers()) if earlier else None
    if shown is not None and before is not None:
        shown.mark_changes(before)
    return shown


def _find_changes(page: TablePage, since: int, version: int) -> list[str]:
    """Return what has happened between two versions, in sentences; a single step has its own."""
    if version - since < 2:
        return []
    found = ask("GET", f"/games/{page.game}/board/changes?from={since}&to={version}", role=page.role).doc
    return [line for turn in found.get("turns", ()) for line in turn["lines"]]
