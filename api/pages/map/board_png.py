"""Pictures of maps as PNG, for programs that show no SVG, such as previews of links in chats."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path
from threading import Lock

from cachetools import LRUCache

from api.http.rate_limits import whole_game_slot

WIDTH = 1200
"""Width of a picture, pixels: what previews of links ask for at least."""

KEPT_BYTES = 4 << 20
"""Bytes of pictures kept in a process."""

_FONTS = Path(__file__).parent / "fonts"
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_AT_RULE = re.compile(r"@[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_ROOT = re.compile(r":root\s*\{([^}]*)\}")
_PROPERTY = re.compile(r"(--[\w-]+):\s*([^;]+)")
_USE = re.compile(r"var\((--[\w-]+)\)")

_kept: LRUCache[bytes, bytes] = LRUCache(KEPT_BYTES, getsizeof=len)
_lock = Lock()


def draw_png(svg: str) -> bytes:
    """Return the picture of one of our SVG documents, in its light colours. Raise Problem if too many are drawn."""
    key = hashlib.sha256(svg.encode()).digest()
    with _lock:
        found = _kept.get(key)
    if found is None:
        with whole_game_slot():
            found = _render(svg)
        with _lock, suppress(ValueError):  # larger than all that is kept
            _kept[key] = found
    return found


def _render(svg: str) -> bytes:
    import resvg_py  # noqa: PLC0415 - five megabytes that few processes need

    fonts = [str(path) for path in sorted(_FONTS.glob("*.ttf"))]
    family = "DejaVu Sans"
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=_STYLE.sub(lambda style: f"<style>{resolve_properties(style[1])}</style>", svg, count=1),
            width=WIDTH,
            font_files=fonts,
            skip_system_fonts=True,
            font_family=family,
            sans_serif_family=family,
        )
    )


def resolve_properties(css: str) -> str:
    """Return a style sheet without custom properties and conditions: resvg knows neither.

    Custom properties have the values of the rules for `:root` outside of conditions. Unset ones inherit: only other
    parts of a page use them.
    """
    plain = _AT_RULE.sub("", css)
    values = {name: value.strip() for block in _ROOT.findall(plain) for name, value in _PROPERTY.findall(block)}
    return _USE.sub(lambda use: values.get(use[1], "inherit"), _ROOT.sub("", plain))
