"""Static files of pages, each under an address with the hash of its content, and the service worker that keeps them."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import msgspec
from flask import Response, request

from api.services import services

FOLDER = Path(__file__).parents[1]

_SCRIPT, _STYLE, _SVG = "text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml"

STATIC = {
    "style.css": _STYLE,
    "map.css": _STYLE,
    "widgets.css": _STYLE,
    "talk.css": _STYLE,
    "app.js": _SCRIPT,
    "handover.js": _SCRIPT,
    "passkey.js": _SCRIPT,
    "push.js": _SCRIPT,
    "live.js": _SCRIPT,
    "replay.js": _SCRIPT,
    "rules.js": _SCRIPT,
    "talk.js": _SCRIPT,
    "map.js": _SCRIPT,
    "names.js": _SCRIPT,
    "pieces.svg": _SVG,
    "icon.svg": _SVG,
    "icon_maskable.svg": _SVG,
    "icon_180.png": "image/png",
    "icon_192.png": "image/png",
    "icon_512.png": "image/png",
    "icon_maskable_512.png": "image/png",
}
"""Name -> media type."""

_SELDOM = {"handover.js", "passkey.js", "push.js", "replay.js"}

SHELL = [name for name, media in STATIC.items() if media != "image/png" and name not in _SELDOM]
"""Files that the worker keeps from its installation on."""

OFFLINE = "/offline"
"""Address of the page for a page that was never seen."""

_WORKER_POLICY = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
_DIGITS = 16


@functools.cache
def hash_file(name: str) -> str:
    """Return the hash of a static file's content."""
    return hashlib.sha256((FOLDER / "static" / name).read_bytes()).hexdigest()[:_DIGITS]


def static_address(name: str) -> str:
    """Return the address of a static file: a new content has a new one."""
    return f"/pages/{name}?v={hash_file(name)}"


@functools.cache
def hash_build() -> str:
    """Return a hash of all that pages are made of: a worker keeps no page of another build."""
    files = sorted(
        path for folder in ("static", "templates") for path in (FOLDER / folder).rglob("*") if path.is_file()
    )
    texts = sorted((FOLDER.parent / "texts").glob("*.json"))
    digests = [hashlib.sha256(path.read_bytes()).digest() for path in (*files, *texts)]
    return hashlib.sha256(b"".join(digests)).hexdigest()[:_DIGITS]


def static_file(name: str, media: str) -> Response:
    """Return a static file. Under the address of another content, nobody keeps it."""
    response = Response((FOLDER / "static" / name).read_bytes(), content_type=media)
    asked = request.args.get("v", "")
    kept = "public, max-age=300" if not asked else "no-store"
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if asked == hash_file(name) else kept
    return response


def show_worker() -> Response:
    """Return the service worker, or one that removes itself if the operator has switched it off."""
    name = "worker.js" if services().settings.worker else "worker_off.js"
    text = (FOLDER / "static" / name).read_text("utf-8")
    shell = msgspec.json.encode([static_address(each) for each in SHELL]).decode()
    response = Response(text.replace("{build}", hash_build()).replace("[/* shell */]", shell), content_type=_SCRIPT)
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Content-Security-Policy"] = _WORKER_POLICY
    return response
