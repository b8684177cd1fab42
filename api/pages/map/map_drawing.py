"""The drawing of a ruleset's map: borders, names and places for pieces, as SVG for all tables of the ruleset."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from html import escape

from flask import Response

from api.http.problems import Problem
from api.pages.common.geometry import Geometry, line_path, load_geometry, read_points
from api.services import services
from domain.errors import UnknownRuleset
from domain.kernel.text.message_catalog import LANGUAGES, Texts, load_texts
from domain.types import Doc

CHARACTER_WIDTH, LINE_HEIGHT = 0.58, 1.2
"""Room for a character and a line, in sizes of the font."""


@dataclass(frozen=True)
class MapFile:
    """The shared drawing of a map in one language."""

    parts: str
    """The parts as SVG elements, for the `<defs>` of a document."""
    svg: bytes
    digest: str


@functools.lru_cache(maxsize=16)
def draw_map(geometry: Geometry, lang: str) -> MapFile:
    """Return the shared drawing of a map.

    Parts: `r-REGION`, each a path without colours; `coasts`, `borders` with the frames of insets, `closed` for borders
    without adjacency, `links` and `link-N`, `names`. A page shows a part by `<use>`, and its style gives the colours.
    """
    texts = load_texts(geometry.package, lang)
    coasts, borders = geometry.list_coasts()
    closed = sorted(geometry.doc["closed"])
    parts = [f'<path id="r-{name}" d="{geometry.region_path(name)}" fill-rule="evenodd"/>' for name in geometry.regions]
    frames = "".join(f"M{x} {y}h{width}v{height}h{-width}z" for x, y, width, height in geometry.doc.get("insets", ()))
    for name, arcs, more in (("coasts", coasts, ""), ("borders", borders, frames), ("closed", closed, "")):
        path = "".join(line_path(geometry.arc_points(arc)) for arc in arcs) + more
        parts.append(f'<path id="{name}" d="{path}" fill="none"/>')
    shown = []
    for n, link in enumerate(geometry.doc["links"]):
        path = "".join(line_path(read_points(line)) for line in link["lines"])
        parts.append(f'<path id="link-{n}" d="{path}" fill="none"/>')
        shown += [path] if link["kind"] != "seam" else []
    parts.append(f'<path id="links" d="{"".join(shown)}" fill="none"/>')
    largest = max(region["label"]["size"] for region in geometry.regions.values())
    names = (
        _draw_name(region_name(texts, n), _fit_label(texts, n, r["label"], largest))
        for n, r in geometry.regions.items()
    )
    parts.append(f'<g id="names">{"".join(names)}</g>')
    joined = "".join(parts)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{geometry.view_box}"><defs>{joined}</defs></svg>'.encode()
    return MapFile(joined, svg, hashlib.sha256(svg).hexdigest()[:16])


def region_name(texts: Texts, region: str) -> str:
    """Return the name of a region for the map: without a remark in brackets, with a capital letter."""
    name = texts.noun(region).bare.partition(" (")[0]
    return name[:1].upper() + name[1:]


def _fit_label(texts: Texts, region: str, label: Doc, largest: int) -> Doc:
    """Return the label; larger if it has room for a remark in brackets, which is left out."""
    name = region_name(texts, region)
    if "leader" in label or len(name) == len(texts.noun(region).bare):
        return label
    lines = break_name(name, label)
    size = min(label["height"] / LINE_HEIGHT / len(lines), label["width"] / CHARACTER_WIDTH / max(map(len, lines)))
    return {**label, "size": max(label["size"], min(int(size), largest))}


def break_name(name: str, label: Doc) -> list[str]:
    """Return a name in one line, or in two lines of nearly one length."""
    if CHARACTER_WIDTH * label["size"] * len(name) <= label["width"]:
        return [name]
    breaks = [(name[:n], name[n + 1 :]) for n, sign in enumerate(name) if sign == " "]
    breaks += [(name[: n + 1], name[n + 1 :]) for n, sign in enumerate(name) if sign == "-"]
    return list(min(breaks, key=lambda lines: max(map(len, lines)), default=(name,)))


def _draw_name(name: str, label: Doc) -> str:
    lines, size = break_name(name, label), label["size"]
    leader = ""
    if "leader" in label:
        x, y = label["leader"]
        from_x, from_y = _clamp(x, label["x"], label["width"]), _clamp(y, label["y"], label["height"])
        leader = f'<path d="M{from_x} {from_y}L{x} {y}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    first = label["y"] + round(0.35 * size - 0.5 * LINE_HEIGHT * size * (len(lines) - 1))
    spans = "".join(
        f'<tspan x="{label["x"]}" y="{first + round(n * LINE_HEIGHT * size)}">{escape(line)}</tspan>'
        for n, line in enumerate(lines)
    )
    return f'{leader}<text font-size="{size}" text-anchor="middle">{spans}</text>'


def _clamp(value: int, middle: int, size: int) -> int:
    """Return the value within a range around its middle."""
    return min(max(value, middle - size // 2), middle + size // 2)


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
