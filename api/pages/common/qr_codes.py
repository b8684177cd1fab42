"""QR codes as paths of SVG: addresses on printed pages, and secrets for the authenticator on a phone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import segno

BORDER = 4
"""Empty squares around a code, as ISO/IEC 18004 asks for."""


@dataclass(frozen=True)
class QrCode:
    """A QR code: the side of its picture in squares, and the dark squares as a path."""

    side: int
    path: str


def build_qr_code(text: str) -> QrCode:
    """Return the code of a text of up to 2,331 bytes, with the error correction M. Raise ValueError for longer ones."""
    rows = segno.make_qr(text, error="m", boost_error=False).matrix
    return QrCode(len(rows) + 2 * BORDER, "".join(_draw_row(y + BORDER, row) for y, row in enumerate(rows)))


def _draw_row(y: int, row: bytearray) -> str:
    x, path = BORDER, ""
    for dark, squares in groupby(row):
        width = len(list(squares))
        path += f"M{x} {y}h{width}v1h-{width}z" if dark else ""
        x += width
    return path
