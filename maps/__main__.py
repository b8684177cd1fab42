"""`./run maps [GAME ...]`: make the `geometry.json` of games again; `--sheets FOLDER` also draws contact sheets."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from maps.board import GAMES, LANGUAGES, NAMES, Doc, read_board
from maps.geometry import Drawing, grow
from maps.sheet import draw_sheet


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
        drawing = Drawing(board, grow(board))
        geometry = drawing.geometry()
        file = GAMES / name / "geometry.json"
        file.write_text(format_geometry(geometry), "utf-8")
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

    def dump(part: object) -> str:
        return json.dumps(part, ensure_ascii=False, separators=(",", ":"))

    lines = []
    for key, part in geometry.items():
        if key in ("arcs", "links"):
            lines.append(f'"{key}":[\n' + ",\n".join(map(dump, part)) + "\n]")
        elif key == "regions":
            lines.append(
                '"regions":{\n' + ",\n".join(f"{dump(name)}:{dump(each)}" for name, each in part.items()) + "\n}"
            )
        else:
            lines.append(f"{dump(key)}:{dump(part)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
