"""Parts of a sight as HTML. Panels are kept by their content, so an unchanged one is drawn once for all visitors."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import msgspec
from cachetools import LRUCache
from markupsafe import Markup

from api.pages.common.labels import Labels
from api.pages.common.session import render_macro
from api.pages.decision.move_choices import ENTRY_BYTES
from api.pages.player_view.node_html import NodeWriter
from api.pages.player_view.view_nodes import Path, build_panel, split_part
from api.pages.player_view.widgets import Widgets
from domain.types import Doc, Json

WHY_FORM = "ask-why"
"""Id of the form for the reason of a missing thing."""

KEPT_BYTES = 4 << 20
"""Characters of HTML kept in a process, with `ENTRY_BYTES` for each panel."""


@dataclass(frozen=True)
class ShownPanel:
    """A panel as HTML, or the title of one with nothing to show."""

    member: str
    title: str
    html: Markup


@dataclass(frozen=True)
class ShownPart:
    """The public part of a sight, or the visitor's own, as HTML."""

    name: str
    panels: Sequence[ShownPanel]
    pictures: Markup
    """Positions at a glance; the panels contain them in words."""

    @property
    def titles(self) -> Mapping[str, str]:
        """Return the titles of the panels that have something to show, by member."""
        return {panel.member: panel.title for panel in self.panels if panel.html}

    @property
    def bare(self) -> Sequence[str]:
        """Return the titles of the panels that have nothing to show."""
        return [panel.title for panel in self.panels if not panel.html]


_shown: LRUCache[bytes, ShownPanel] = LRUCache(KEPT_BYTES, getsizeof=lambda panel: ENTRY_BYTES + len(panel.html))
_lock = Lock()


def show_parts(labels: Labels, board: Doc, audit: str, places: Mapping[Path, str] | None = None) -> Sequence[ShownPart]:
    """Return the parts of a board as the visitor may see it, the own one first. `audit`: address of the proof of draws.

    `places`: those of things missing from the open question, as `find_places` returns them.

    What a panel shows is a part of its key, so nobody is shown what belongs to the board of another visitor.
    """
    widgets = Widgets(labels, board)
    parts = (name for name in ("own", "public") if board.get(name))
    return [_show_part(widgets, board, name, audit, places or {}) for name in parts]


def _show_part(widgets: Widgets, board: Doc, name: str, audit: str, places: Mapping[Path, str]) -> ShownPart:
    labels, pictures = widgets.labels, widgets.draw_pictures(name)
    names, lang = labels.names, labels.texts.lang
    common = (labels.rules.meta.ruleset, lang, names.powers, names.people, audit, widgets.owners.list_all(), name)

    def show_panel(member: str, value: Json, asked: Mapping[Path, str]) -> ShownPanel:
        panel = build_panel(widgets, name, member, value, asked)
        return ShownPanel(member, panel.title, NodeWriter(lang, audit, WHY_FORM).write_panel(panel))

    def find_panel(member: str, value: Json) -> ShownPanel:
        asked = {path: sent for path, sent in places.items() if path[0] == name and (path[1] == member or not member)}
        content = (*common, member, value, sorted(asked.items()))
        return _find(content, functools.partial(show_panel, member, value, asked))

    def show_pictures() -> ShownPanel:
        return ShownPanel("", "", render_macro("sight", "show_pictures", lang, pictures))

    panels = [find_panel(member, value) for member, value in split_part(board[name])]
    return ShownPart(name, panels, _find((*common, pictures), show_pictures).html)


def _find(content: Json, show: Callable[[], ShownPanel]) -> ShownPanel:
    """Return what is kept for a content, or what `show` makes of it."""
    key = hashlib.sha256(msgspec.json.encode(content)).digest()
    with _lock:
        found = _shown.get(key)
    if found is None:
        found = show()
        with _lock, contextlib.suppress(ValueError):  # larger than all that is kept
            _shown[key] = found
    return found
