"""How far whoever asks may see of a game: at a table with a delay those who are not at it see it as it stood before.

This is the one place that says so. The pump alone decides by time (`projections.delayed_views`); this module only
reads how far it has come. Who sits or directs there, or moderates, sees all there is at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import g, has_request_context

from api import authorization
from api.services import services
from projections import schema


@dataclass(frozen=True)
class Sight:
    """What of a game somebody may know."""

    upto: int | None = None
    """The newest version; None where that is all there is."""
    apart: bool = False
    """Whether it is more than others see at the same address."""


def sight(game: str) -> Sight:
    """What whoever asks may know of a game; the same all through a request."""
    known: dict[str, Sight] = g.setdefault("sights", {}) if has_request_context() else {}
    if game not in known:
        known[game] = _sight(game)
    return known[game]


def _sight(game: str) -> Sight:
    if services().reader.plain(game):
        return Sight()
    shown = services().reader.shown(game)
    if not (shown or _delayed(game)):
        return Sight()
    return Sight(apart=True) if authorization.inside(game) else Sight(shown.get(schema.SPECTATORS, 0))


def _delayed(game: str) -> bool:
    """Of a game that the views do not know yet."""
    return any(record.body.get("delay") for record in services().ledger.read(game, 0, 1))
