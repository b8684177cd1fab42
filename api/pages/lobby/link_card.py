"""Open Graph cards of links to public tables."""

from __future__ import annotations

from dataclasses import dataclass

from api.http import i18n
from api.pages.common.geometry import load_geometry
from api.pages.common.labels import Labels
from api.pages.lobby.lobby import TableShown
from api.pages.map.board_picture import is_public
from api.services import services
from domain.kernel.text.message_catalog import Message
from domain.types import Doc


@dataclass(frozen=True)
class LinkCard:
    """Title, description and picture of a link to a table. Its addresses are absolute."""

    title: str
    description: str
    url: str
    picture: str | None
    """Address of the map, once spectators may see it."""


def show_card(summary: Doc, labels: Labels) -> LinkCard | None:
    """Return the card of a table, or None for a table that is not public, or for a service without a public URL."""
    base = services().settings.public_url
    if not base or summary["listing"] != "public":
        return None
    shown = TableShown(summary, labels)
    told = Message("{game}, played by {players}", game=labels.title(), players=shown.players)
    url = f"{base}/games/{summary['game']}"
    return LinkCard(
        shown.name,
        i18n.translate(told, labels.texts.lang) if shown.players else labels.title(),
        url,
        f"{url}/board.png" if load_geometry(labels.rules.package) and is_public(summary, 0) else None,
    )
