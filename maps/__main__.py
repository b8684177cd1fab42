"""`./run maps [GAME ...]`: make the `geometry.json` of games again; `--sheets FOLDER` also draws contact sheets."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from maps.board import GAMES, LANGUAGES, NAMES, Doc, read_board
from maps.geometry import Drawing, draw_mask, grow
from maps.sheet import draw_sheet

MASKS = Path(__file__).parent / "masks"
"""Where land is on each map: a test holds the geometry against it."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="run maps", description="Make the geometry of games again.")
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(NAMES)}; all if none is named")
    parser.add_argument(
        "--sheets", type=Path, metavar="FOLDER", help="write an SVG of each map for each language there"
    )
    options = parser.parse_args(arguments)
    for name in options.games or NAMES:
        if name not in NAMES:
            parser.error(f"no such game: {name}")
        board = read_board(name)
        outline, coasts = grow(board)
        drawing = Drawing(board, outline)
        geometry = drawing.geometry()
        file = GAMES / name / "geometry.json"
        file.write_text(format_geometry(geometry), "utf-8")
        rows = ",\n".join(format_short(row) for row in draw_mask(board, coasts))
        (MASKS / f"{name}.json").write_text(f"[\n{rows}\n]\n", "utf-8")
        missing, false = drawing.faults()
        print(f"{name}: {len(missing)} missing and {len(false)} false borders")
        for title, pairs in (("missing", missing), ("false", false)):
            for a, b in pairs:
                print(f"  {title}: {a} - {b}")
        if options.sheets:
            for lang in LANGUAGES:
                names = {place.id: place.names[lang] for place in board.places}
                (options.sheets / f"{name}.{lang}.svg").write_text(draw_sheet(geometry, names), "utf-8")
    return 0


def format_geometry(geometry: Doc) -> str:
    """Return the document as JSON with a line for each arc, region and link: changes are seen line by line."""
    lines = []
    for key, part in geometry.items():
        if key in ("arcs", "links"):
            lines.append(f'"{key}":[\n' + ",\n".join(map(format_short, part)) + "\n]")
        elif key == "regions":
            lines.append(
                '"regions":{\n'
                + ",\n".join(f"{format_short(name)}:{format_short(each)}" for name, each in part.items())
                + "\n}"
            )
        else:
            lines.append(f"{format_short(key)}:{format_short(part)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def format_short(part: object) -> str:
    """Return JSON without spaces."""
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
