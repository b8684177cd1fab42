"""The shared drawing of a ruleset's map, for the pages."""

from __future__ import annotations

from flask import Response

from api.http.problems import Problem
from api.pages.geometry import draw_map, load_geometry
from api.services import services
from domain.errors import UnknownRuleset
from domain.kernel.text.message_catalog import LANGUAGES


def show_drawing(ruleset: str, lang: str, digest: str) -> Response:
    """Return the drawing of a map. A page names it by its digest, and browsers keep it."""
    try:
        rules = services().registry.get(ruleset)
    except UnknownRuleset:
        raise Problem("not_found") from None
    geometry = load_geometry(rules.package)
    if geometry is None or lang not in LANGUAGES:
        raise Problem("not_found")
    drawing = draw_map(geometry, lang)
    response = Response(drawing.svg, content_type="image/svg+xml")
    is_named = digest == drawing.digest
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if is_named else "public, max-age=300"
    return response
