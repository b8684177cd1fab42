"""A contact sheet: a geometry drawn as SVG with names, codes, slots, ridges and links, to be judged by eye."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from maps.board import Doc
from maps.furniture import break_name

TINTS = ("#e9a3a3", "#f2c185", "#f0dc8c", "#a9d6a0", "#9bd5cd", "#a3bfe4", "#c8acdc", "#f3ead9", "#d5c3a3")


def draw_sheet(geometry: Doc, names: Mapping[str, str], plain: bool = False) -> str:
    """Return the SVG; without slots if `plain`."""
    x, y, width, height = geometry["view"]
    arcs = [_path(arc) for arc in geometry["arcs"]]
    sides = _list_sides(geometry)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{x} {y} {width} {height}" font-family="sans-serif">']
    parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="#d5e6ef"/>')
    tints = _choose_tints(geometry, sides)
    for name, region in geometry["regions"].items():
        path = "".join(_ring(geometry["arcs"], ring) for ring in region["rings"])
        parts.append(f'<path d="{path}" fill="{tints[name]}" fill-rule="evenodd"/>')
    closed = set(geometry["closed"])
    for i, arc in enumerate(arcs):
        kinds = sorted(geometry["regions"][name]["kind"] if name else "none" for name in sides[i])
        coast = sum(kind in ("sea", "none") for kind in kinds) == 1
        if "none" in kinds and len(set(kinds)) < 2:
            continue
        if i in closed:
            parts.append(f'<path d="{arc}" fill="none" stroke="#5b3d22" stroke-width="5"/>')
            parts.append(f'<path d="{arc}" fill="none" stroke="#c9a26b" stroke-width="2" stroke-dasharray="2 4"/>')
        else:
            stroke = ("#34465a", 2) if coast else ("#8fb0c4", 1) if "sea" in kinds else ("#7d6c4e", 1)
            parts.append(f'<path d="{arc}" fill="none" stroke="{stroke[0]}" stroke-width="{stroke[1]}"/>')
    for left, top, wide, high in geometry["insets"]:
        parts.append(f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="none" stroke="#8fb0c4"/>')
    colours = {"strait": "#0b3d6e", "canal": "#0b3d6e", "missing": "#b3261e", "seam": "#6a1b9a"}
    for link in geometry["links"]:
        for line in link["lines"]:
            dash = "" if link["kind"] in ("strait", "canal") else ' stroke-dasharray="5 4"'
            parts.append(
                f'<path d="{_path(line)}" fill="none" stroke="{colours[link["kind"]]}" stroke-width="3"{dash}/>'
            )
    for name, region in geometry["regions"].items():
        parts += _furniture(region, names[name], plain)
    return "\n".join([*parts, "</svg>"])


def _furniture(region: Doc, name: str, plain: bool) -> list[str]:
    parts = []
    if not plain:
        for i, (sx, sy, r) in enumerate(region["slots"]):
            parts.append(f'<circle cx="{sx}" cy="{sy}" r="{r}" fill="none" stroke="#555" stroke-opacity=".55"/>')
            if not i:
                parts.append(f'<text x="{sx}" y="{sy + 4}" font-size="9" text-anchor="middle">{region["code"]}</text>')
        if "harbour" in region:
            hx, hy, r = region["harbour"]
            parts.append(f'<circle cx="{hx}" cy="{hy}" r="{r}" fill="#fff" stroke="#0b3d6e"/>')
    label = region["label"]
    if "leader" in label:
        lx, ly = label["leader"]
        x, y = (
            min(max(to, label[axis] - label[size] / 2), label[axis] + label[size] / 2)
            for to, axis, size in ((lx, "x", "width"), (ly, "y", "height"))
        )
        parts.append(f'<path d="M{x} {y}L{lx} {ly}" stroke="#222" stroke-width="1"/>')
    lines = break_name(name, label["width"], label["size"])
    top = label["y"] - 0.6 * label["size"] * len(lines) + 0.93 * label["size"]
    style = 'fill="#1f4e79" font-style="italic"' if region["kind"] == "sea" else 'fill="#111"'
    for i, line in enumerate(lines):
        parts.append(
            f'<text x="{label["x"]}" y="{top + 1.2 * label["size"] * i:.1f}" font-size="{label["size"]}" '
            f'text-anchor="middle" paint-order="stroke" stroke="#fff" stroke-opacity=".6" stroke-width="3" '
            f"{style}>{escape(line)}</text>"
        )
    return parts


def _path(arc: list[int]) -> str:
    return f"M{arc[0]} {arc[1]}l" + " ".join(map(str, arc[2:]))


def _spots(arc: list[int]) -> list[tuple[int, int]]:
    found = [(arc[0], arc[1])]
    for i in range(2, len(arc), 2):
        found.append((found[-1][0] + arc[i], found[-1][1] + arc[i + 1]))
    return found


def _ring(arcs: list[list[int]], ring: list[int]) -> str:
    spots = [spot for n in ring for spot in (_spots(arcs[n])[:-1] if n >= 0 else _spots(arcs[~n])[:0:-1])]
    return "M" + "L".join(f"{x} {y}" for x, y in spots) + "Z"


def _list_sides(geometry: Doc) -> list[list[str]]:
    sides: list[list[str]] = [[] for _ in geometry["arcs"]]
    for name, region in geometry["regions"].items():
        for n in (n for ring in region["rings"] for n in ring):
            sides[max(n, ~n)].append(name)
    return [found + [""] * (2 - len(found)) for found in sides]


def _choose_tints(geometry: Doc, sides: list[list[str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, region in geometry["regions"].items():
        if region["kind"] != "land":
            found[name] = "#d5e6ef" if region["kind"] == "sea" else "#ffffff"
            continue
        near = {found.get(other) for pair in sides if name in pair for other in pair}
        free = [tint for tint in TINTS if tint not in near]
        found[name] = (free or TINTS)[sum(map(ord, name)) % len(free or TINTS)]
    return found
