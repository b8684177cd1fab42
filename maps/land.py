"""The land of the globe, from Natural Earth: `maps/land.json` has its outlines in tenths of degrees.

`python -m maps.land FILE` makes it again from `land-50m.json` of the package world-atlas 2.0.2 of npm.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import shapely

from maps.layout import Points

FILE = Path(__file__).parent / "land.json"
SOURCE = "619477ff690c086885e45cb91707d783805561bd75ae8e437b7d4694b0204e0f"
"""SHA-256 of the source."""
PART = 10
"""Units in a degree."""
LEAST = 0.12
"""Square degrees of the least island."""
SIMPLE = 0.1
"""Degrees by which an outline may differ from its source."""


def read_outlines() -> list[Points]:
    """Return the outlines of land and of lakes in it, as longitudes and latitudes.

    Longitudes are continuous, past 180 degrees if need be. Antarctica's go once around: its ends are 360 degrees apart.
    """
    return [np.cumsum(np.reshape(steps, (-1, 2)), axis=0) / PART for steps in json.loads(FILE.read_text("utf-8"))]


def make_land(source: bytes) -> str:
    """Return the text of the file, a line for each outline."""
    if hashlib.sha256(source).hexdigest() != SOURCE:
        raise ValueError("this is another file")
    topology = json.loads(source)
    scale, origin = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    arcs = [np.cumsum(arc, axis=0) * scale + origin for arc in topology["arcs"]]
    lines = []
    parts = (part for shape in topology["objects"]["land"]["geometries"] for part in shape["arcs"])
    for ring in (ring for part in parts for ring in part):
        spots = np.concatenate([arcs[n] if n >= 0 else arcs[~n][::-1] for n in ring])
        spots[:, 0] = np.unwrap(spots[:, 0], period=360)
        if shapely.Polygon(spots).area >= LEAST:
            spots = np.round(shapely.get_coordinates(shapely.LineString(spots).simplify(SIMPLE)) * PART).astype(int)
            steps = np.diff(spots, axis=0, prepend=0)
            lines.append(json.dumps(steps[(steps != 0).any(axis=1)].ravel().tolist(), separators=(",", ":")))
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(make_land(Path(sys.argv[1]).read_bytes()), "utf-8")
