"""The map of a public board as a picture of its own, for links and other pages."""

from __future__ import annotations

import functools
import re

from flask import Response, request

from api.http import i18n
from api.http.i18n import DEFAULT_LANGUAGE
from api.http.problems import Problem
from api.pages.common.geometry import load_geometry
from api.pages.common.in_process import RefusedCall, ask_publicly
from api.pages.common.labels import Labels
from api.pages.common.numbers import parse_number
from api.pages.common.session import png_response, render_svg, static_text, svg_response
from api.pages.map.board_png import draw_png
from api.pages.map.map_drawing import draw_map
from api.pages.map.map_view import Offers, show_map
from api.services import services
from domain.errors import UnknownRuleset
from domain.types import Doc

_PIECES = re.compile(r"<defs>(.*)</defs>", re.DOTALL)

_PAPER = """:root { --paper: #fbf9f4; --ink: #1d1b18; --soft: #5a554c; --line: #cfc8b8; --due: #8a3b12; }
:root { --act: #1f4e79; }
.caption { fill: var(--paper); } .line { fill: var(--ink); font-family: ui-sans-serif, system-ui, sans-serif; }
.bold { font-weight: 700; } .badge { stroke: var(--ink); }
"""


def show_picture(game: str) -> Response:
    """Show the map of the public board as it is now, or after `version`. It is the same for every visitor."""
    return svg_response(_draw_public_board(game))


def show_png(game: str) -> Response:
    """Show the same map as a PNG."""
    return png_response(draw_png(_draw_public_board(game)))


def _draw_public_board(game: str) -> str:
    summary = _require(f"/games/{game}")
    version = parse_number(request.args.get("version", ""), 999_999_999)
    query = "" if version is None else f"?version={version}"
    if summary["status"] == "open":
        raise Problem("not_found")
    labels = Labels.of_table(summary, i18n.request_language())
    board = _require(f"/games/{game}/board{query}")
    picture = draw_picture(labels, board, summary.get("title") or labels.title())
    if picture is None:
        raise Problem("not_found")
    return picture


def show_shelf(ruleset: str) -> Response:
    """Show the map of a ruleset without pieces and names, for the card of the game."""
    try:
        geometry = load_geometry(services().registry.get(ruleset).package)
    except UnknownRuleset:
        raise Problem("not_found") from None
    if geometry is None:
        raise Problem("not_found")
    style = f"<style>{_PAPER}{static_text('map.css')}</style>"
    parts = draw_map(geometry, DEFAULT_LANGUAGE).parts.partition('<g id="names">')[0]
    drawn = render_svg("shelf.svg.html", geometry=geometry).replace("<defs/>", f"{style}<defs>{parts}</defs>", 1)
    response = svg_response(drawn)
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response


def is_public(summary: Doc, version: int) -> bool:
    """Return True if spectators may see a version of a table: only then its picture is shown."""
    if summary["status"] == "open":
        return False
    if not summary["delay"]:  # who has the address may watch any table without a delay
        return True
    answer = ask_publicly(f"/games/{summary['game']}")
    return answer.status < 400 and answer.doc["status"] != "open" and version <= answer.doc["version"]


def draw_picture(labels: Labels, board: Doc, title: str) -> str | None:
    """Return the map of a board as an SVG document with a caption, or None for a game without a map."""
    shown = show_map(labels, board, None, Offers())
    if shown is None:
        return None
    head, title_end, rest = render_svg("board.svg.html", map=shown, title=title).partition("</title>")
    style = f"<style>{_PAPER}{static_text('map.css')}</style>"
    return f"{head}{title_end}{style}<defs>{shown.drawing.parts}{_load_pieces()}</defs>{rest}"


@functools.cache
def _load_pieces() -> str:
    found = _PIECES.search(static_text("pieces.svg"))
    return found[1] if found else ""


def _require(path: str) -> Doc:
    answer = ask_publicly(path)
    if answer.status >= 400:
        raise RefusedCall(answer)
    return answer.doc
