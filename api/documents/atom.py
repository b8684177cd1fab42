"""The chronicle of a table as an Atom feed (RFC 4287)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from projections.game_documents import EntryDoc, StoredSummaryDoc

_ATOM = "http://www.w3.org/2005/Atom"


def build_feed(summary: StoredSummaryDoc, title: str, entries: Sequence[EntryDoc], lang: str, link: str) -> bytes:
    """Return a feed with one entry for each timeline entry that has text, the newest first.

    `link` is the table's address, or empty if the service knows no public one.
    """
    ET.register_namespace("", _ATOM)
    feed = ET.Element(f"{{{_ATOM}}}feed", {"xml:lang": lang})
    game = uuid.UUID(summary["game"])
    _add(feed, "id", game.urn)
    _add(feed, "title", title)
    _add(feed, "updated", _format_time(summary["at"]))
    _add(_add(feed, "author"), "name", "Annals")
    if link:
        _add(feed, "link", href=link)
    for entry in reversed([entry for entry in entries if entry["text"]]):
        element = _add(feed, "entry")
        _add(element, "id", uuid.uuid5(game, str(entry["version"])).urn)
        _add(element, "title", entry["text"][0])
        _add(element, "updated", _format_time(entry["at"]))
        _add(element, "content", "\n".join(entry["text"]), type="text")
    return bytes(ET.tostring(feed, encoding="utf-8", xml_declaration=True))


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, f"{{{_ATOM}}}{name}", attributes)
    if text:
        element.text = text
    return element


def _format_time(ms: int) -> str:
    return datetime.fromtimestamp(ms // 1000, UTC).isoformat().replace("+00:00", "Z")
