"""The caller's visible part of a game: spectators of a table with a delay see an older state.

The projector alone decides by time (`projections.delayed_views`); this module reads the projector's progress. Players,
directors and moderators see the current state. All checks of delayed visibility are here.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import g, has_request_context

from api import authorization
from api.services import services
from projections import schema


@dataclass(frozen=True)
class Visibility:
    """The part of a game that a caller may read."""

    upto: int | None = None
    """Newest visible version. None: no limit."""
    beyond_public: bool = False
    """True if the caller sees more than other readers of the same URL."""


def visibility_of(game: str) -> Visibility:
    """Return the caller's visibility of a game, computed once per request."""
    cache: dict[str, Visibility] = g.setdefault("sights", {}) if has_request_context() else {}
    if game not in cache:
        cache[game] = _load_visibility(game)
    return cache[game]


def _load_visibility(game: str) -> Visibility:
    if services().reader.is_same_for_all(game):
        return Visibility()
    versions = services().reader.shown_versions(game)
    if not (versions or _has_delay(game)):
        return Visibility()
    return (
        Visibility(beyond_public=True)
        if authorization.has_live_view(game)
        else Visibility(versions.get(schema.SPECTATORS, 0))
    )


def _has_delay(game: str) -> bool:
    """Return True if the game's first record sets a delay. The views may not have the game yet."""
    return any(record.body.get("delay") for record in services().ledger.read(game, 0, 1))
