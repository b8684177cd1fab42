"""Parts of a sight as HTML, kept by their content: a pick, a reload or another visitor draws nothing twice."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import msgspec
from cachetools import LRUCache
from markupsafe import Markup

from api.pages.labels import Labels
from api.pages.session import render_macro
from api.pages.sight import build_parts
from api.services import Doc

KEPT_BYTES = 4 << 20
"""Characters of HTML kept in a process."""


@dataclass(frozen=True)
class ShownPart:
    """The public part of a sight, or the visitor's own, as HTML."""

    name: str
    html: Markup
    titles: Mapping[str, str]
    """Titles of the panels that have something to show, by member."""


_shown: LRUCache[bytes, Sequence[ShownPart]] = LRUCache(
    KEPT_BYTES, getsizeof=lambda parts: sum(len(part.html) for part in parts)
)
_lock = Lock()


def show_parts(labels: Labels, board: Doc, audit: str) -> Sequence[ShownPart]:
    """Return the parts of a board as the visitor may see it, the own one first. `audit`: address of the proof of draws.

    The board is a part of the key, so nobody is shown what belongs to the board of another visitor.
    """
    names = labels.names
    parameters = (labels.rules.meta.ruleset, labels.texts.lang, names.powers, names.people, audit, board)
    key = hashlib.sha256(msgspec.json.encode(parameters)).digest()
    with _lock:
        found = _shown.get(key)
    if found is None:
        found = [
            ShownPart(
                part.name,
                render_macro("sight", "show_panels", labels.texts.lang, part, audit=audit),
                {panel.member: panel.title for panel in part.panels if not panel.node.empty},
            )
            for part in build_parts(labels, board)
        ]
        with _lock, contextlib.suppress(ValueError):  # larger than all that is kept
            _shown[key] = found
    return found
