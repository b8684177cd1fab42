"""Pages of positions in memory: the same board, map and row of players as at a table."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TypeVar

import msgspec
from flask import Response

from api.http import i18n
from api.pages.common.labels import Labels
from api.pages.common.session import render_games_page
from api.pages.map.map_view import MapView
from api.pages.player_view.kept_panels import show_parts
from api.pages.player_view.node_html import NodeWriter, write_die
from api.pages.player_view.view_nodes import show_window
from api.pages.table.player_row import list_players
from api.pages.table.table_page import TablePage
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import Doc, Seat
from projections.documents import build_board, build_summary
from projections.loaded_game import LoadedGame

Page = TypeVar("Page", bound=TablePage)


def load_position(make: Callable[..., Page], rules: AnyRuleset, game: AnyGame, seat: Seat, **members: object) -> Page:
    """Return the page that `make` makes of a position, as a seat may know it, and of further members."""
    summary = {**msgspec.to_builtins(build_summary(LoadedGame(rules, game))), "names": {}, "undo": "free"}
    labels, role = Labels.of_table(summary, i18n.request_language(), seat), str(seat)
    return make(summary["game"], role, [role], summary, read_board(rules, game, seat), game.time, labels, **members)


def read_board(rules: AnyRuleset, game: AnyGame, seat: Seat) -> Doc:
    """Return the board as a seat may know it."""
    board: Doc = msgspec.json.decode(build_board(LoadedGame(rules, game), seat))
    return board


def render_position(
    template: str, page: TablePage, shown: MapView | None, mark: Container[str], status: int = 200, **members: object
) -> Response:
    """Return a page with the board, the players and the map of a position; regions in `mark` are marked."""
    for region in shown.regions if shown else ():
        region.is_pointed = region.id in mark
    parts = show_parts(page.labels, page.board, "")
    titles = next((part.titles for part in parts if part.name == "public"), {})
    is_over = page.summary["status"] != "running"
    return render_games_page(
        template,
        status,
        wide=True,
        page=page,
        labels=page.labels,
        parts=parts,
        window=None if is_over else show_window(page.labels, page.decision, titles),
        write_node=NodeWriter(page.labels.texts.lang).write_node,
        write_die=write_die,
        map=shown,
        players=list_players(page),
        **members,
    )
