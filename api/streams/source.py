"""Interfaces of event sources. A source reads changes for all of its subscribers at once. Calls may block."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol

from api.streams.events import Event

ANY = "*"
"""Topic of sources affected by every game."""

ViewKey = Hashable
"""Identifies subscribers with equal events: viewer, language and so on."""


@dataclass(frozen=True)
class ViewRequest:
    """A request for one view's changes."""

    state: object = None
    """State after the last update of this view, or None at first."""
    needs_snapshot: bool = True
    """True if a new subscriber needs a snapshot."""


@dataclass(frozen=True)
class StreamUpdate:
    """A source's events for one view."""

    state: object
    version: int
    """Version or position after this update; the id of its last event."""
    snapshot: tuple[Event, ...] = ()
    """Events for new subscribers."""
    news: tuple[Event, ...] = ()
    """Events since the last state."""
    last_event: str = ""
    """Name of the final event, or empty while the stream continues."""


class EventSource(Protocol):
    """A source of events. Equal sources are shared. Each call may raise AnnalsError, which ends its streams."""

    @property
    def id_kind(self) -> str:
        """Kind of its event ids: `version` or `position`."""

    @property
    def pause(self) -> float:
        """Shortest time between two updates, seconds."""

    @property
    def topics(self) -> Mapping[str, int]:
        """Topics with changes of this source: games, players or ANY. Games map to their mark (`ReadMarks`).

        An update replaces the mapping. It is never changed in place.
        """

    def read_updates(self, requests: Mapping[ViewKey, ViewRequest]) -> Mapping[ViewKey, StreamUpdate]:
        """Return the update of each view."""

    def read_history(self, key: ViewKey, after: int, upto: int) -> tuple[list[Event], int]:
        """Return a page of the events between two versions, and the version at its end."""


class Permit(Protocol):
    """A subscriber's credential. Equal permits are checked once."""

    def is_valid(self) -> bool:
        """Return True if the credential is still valid. May block."""
