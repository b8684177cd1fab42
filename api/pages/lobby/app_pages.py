"""The pages as an application of a phone: its manifest, how to install it, and a page for the time without a net."""

from __future__ import annotations

import msgspec
from flask import Response

from api.http import i18n
from api.http.problems import Problem
from api.pages.common.session import render_games_page
from api.pages.common.static_files import static_address
from domain.kernel.text.message_catalog import LANGUAGES, Message

ADDRESS = "/install"

_PAPER = "#fbf9f4"

_NAME = Message("Annals: historical empire games")
_DESCRIPTION = Message("Five board games about the rise and fall of empires.")
_SHORTCUTS = {"/play": Message("Play against bots"), "/tournaments": Message("Tournaments")}
"""Address -> name."""


def show_manifest(lang: str) -> Response:
    """Return the manifest in a language. Raise Problem."""
    if lang not in LANGUAGES:
        raise Problem("not_found")

    manifest = {
        "id": "/",
        "name": i18n.translate(_NAME, lang),
        "short_name": "Annals",
        "description": i18n.translate(_DESCRIPTION, lang),
        "lang": lang,
        "dir": "ltr",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "theme_color": _PAPER,
        "background_color": _PAPER,
        "categories": ["games"],
        "icons": [
            _show_icon("icon.svg", "any", "any"),
            _show_icon("icon_192.png", "192x192", "any"),
            _show_icon("icon_512.png", "512x512", "any"),
            _show_icon("icon_maskable.svg", "any", "maskable"),
            _show_icon("icon_maskable_512.png", "512x512", "maskable"),
        ],
        "shortcuts": [{"name": i18n.translate(name, lang), "url": url} for url, name in _SHORTCUTS.items()],
    }
    response = Response(msgspec.json.encode(manifest), content_type="application/manifest+json")
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


def _show_icon(name: str, sizes: str, purpose: str) -> dict[str, str]:
    media = "image/svg+xml" if name.endswith("svg") else "image/png"
    return {"src": static_address(name), "sizes": sizes, "type": media, "purpose": purpose}


def show_install() -> Response:
    """Show how to install the pages on a phone."""
    return render_games_page("install")


def show_offline() -> Response:
    """Show that a page was never seen, and that there is no connection."""
    return render_games_page("offline")
