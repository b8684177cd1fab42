"""What is followed: a source reads what is new for all who follow it at once. All of it may block."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol

from api.streams.events import Event

ANY = "*"
"""The topic of sources that all games concern."""

View = Hashable
"""What makes two followers of a source see the same: whose eyes, which language."""


@dataclass(frozen=True)
class Wish:
    """What is asked of a source for one view."""

    state: object = None
    """What the source has said last for this view; None at the beginning."""
    whole: bool = True
    """Whether somebody begins to follow, and needs what there is."""


@dataclass(frozen=True)
class Told:
    """What a source says for one view."""

    state: object
    version: int
    """Up to where everything is told; the id of the last event."""
    whole: tuple[Event, ...] = ()
    """What there is, for whoever begins."""
    news: tuple[Event, ...] = ()
    """What has come since the state before."""
    last_word: str = ""
    """The event with which all of it ends; nothing while it goes on."""


class Source(Protocol):
    """One thing that is followed. Equal sources are one; each may raise AnnalsError, which ends the streams of it."""

    @property
    def counts(self) -> str:
        """What its ids are: `version` or `position`."""

    @property
    def pause(self) -> float:
        """Seconds between two looks at least, whatever happens meanwhile."""

    @property
    def topics(self) -> Mapping[str, int]:
        """The games, or people, whose changes concern it, or ANY; games with the mark (`Marks`) that they had then.

        Replaced when it is another one, and never changed.
        """

    def look(self, wishes: Mapping[View, Wish]) -> Mapping[View, Told]:
        """What is to be told, for each view."""

    def told(self, view: View, after: int, upto: int) -> tuple[list[Event], int]:
        """What was told between two versions, for whoever comes back: a page of it, and up to where that is."""


class Pass(Protocol):
    """What lets somebody follow. Equal ones are one."""

    def lasts(self) -> bool:
        """Whether it still opens anything; may block."""
