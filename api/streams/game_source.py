"""What is told to those who follow a game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from api import authorization
from api.documents.timeline import entries
from api.documents.undo_requests import shown, standing
from api.http import rate_limits
from api.http.problems import Problem
from api.services import Doc, Services
from api.streams.events import Event, event, marked
from api.streams.json_patches import Sent
from api.streams.source import Told, View, Wish
from domain.accounts.credentials import Holder
from domain.errors import StoreUnavailable, UnknownGame
from domain.service.seat_tokens import Principal
from domain.types import Viewer
from projections.reader import Board

PAGE = 200
"""Entries of the timeline that are read at once."""

MOST = 1000
"""Versions that are told at once; who is further behind comes again, and is given them page by page."""


@dataclass(frozen=True)
class Shown:
    """What was shown for a seat, or the director's place."""

    services: Services = field(compare=False, repr=False)
    who: Principal

    def lasts(self) -> bool:
        """Whether it still opens anything."""
        return authorization.lasts(self.services, self.who)


@dataclass(frozen=True)
class Moderating:
    """A moderator, who sees at once what is played."""

    services: Services = field(compare=False, repr=False)
    holder: Holder

    def lasts(self) -> bool:
        """Whether the session, and the role of the account, still let one see it."""
        people, found = self.services.people, self.services.people.accounts.find(self.holder.account)
        known = people.credentials.alive(self.holder.credential)
        return known and found is not None and (found.role, found.state) == (self.holder.role, "active")


@dataclass(frozen=True)
class Eyes:
    """What makes two followers of a game see the same."""

    viewer: Viewer
    lang: str
    deltas: bool
    """Whether a board that has changed is told by what has."""
    director: Principal | None
    """Who may be shown more of a motion than others."""
    inside: bool
    """Whether they see at once what is played, at a table that others see late."""
    whole: rate_limits.Passage = field(compare=False, repr=False)

    @contextmanager
    def through(self) -> Iterator[None]:
        """The same where there is nobody to be told of a problem: who finds no place comes again."""
        try:
            with self.whole():
                yield
        except Problem as error:
            raise StoreUnavailable("too many ask for whole games") from error


@dataclass(frozen=True)
class _State:
    """What was told last."""

    seen: int
    """The newest version."""
    shown: int
    """The version of the board."""
    motion: Doc | None
    """The newest motion as all could see it."""
    sent: Sent | None = None
    """The board itself, for those who are told what has changed."""


@dataclass(unsafe_hash=True)
class GameSource:
    """A game, for all who follow it. Ids are versions."""

    services: Services = field(compare=False, repr=False)
    game: str
    topics: Mapping[str, int] = field(init=False, compare=False, repr=False)
    counts = "version"
    pause = 0.0

    def __post_init__(self) -> None:
        self.topics = {self.game: 0}

    def look(self, wishes: Mapping[View, Wish]) -> Mapping[View, Told]:
        """Board, timeline and motion."""
        reader = self.services.reader
        mark = {} if reader.plain(self.game) else reader.marks([self.game])  # first: what comes meanwhile is news
        sides = {view.inside for view in wishes if isinstance(view, Eyes)}
        now = {inside: _Moment(self.services, self._summary(inside), inside) for inside in sides}
        self.topics = mark or {self.game: max((moment.head for moment in now.values()), default=0)}
        return {view: _told(now[view.inside], view, wish) for view, wish in wishes.items() if isinstance(view, Eyes)}

    def told(self, view: View, after: int, upto: int) -> tuple[list[Event], int]:
        """Entries of the timeline."""
        if not isinstance(view, Eyes):
            return [], upto
        limit = min(PAGE, upto - after)
        found = entries(self.services, self._summary(view.inside), view.viewer, after, limit, view.lang, view.through)
        return [event("timeline", entry) for entry in found], after + limit

    def _summary(self, inside: bool) -> Doc:
        summary = self.services.reader.game(self.game, inside=inside)
        if summary is None:
            raise UnknownGame(self.game)
        return summary


def _told(now: _Moment, eyes: Eyes, wish: Wish) -> Told:
    """For those who see with these eyes."""
    before = wish.state if isinstance(wish.state, _State) else None
    if before is None:
        board = now.board(eyes)
        motion = now.motion(eyes, None)
        sent = Sent.of(board.version, board.doc) if eyes.deltas else None
        state = _State(now.head, board.version, now.standing if motion else None, sent)
        return Told(state, now.head, (Event("board", board.doc), *motion), (), now.last_word)
    if now.head < before.seen or now.head - before.seen > MOST:  # or the log has come back shorter
        return Told(before, before.seen, last_word="bye")
    whole: tuple[Event, ...] = ()
    if wish.whole:
        whole = (Event("board", now.board(eyes).doc), *now.motion(eyes, None))
    motion = now.motion(eyes, before.motion)
    state, played = _played(now, eyes, before)
    state = replace(state, seen=max(now.head, before.seen), motion=now.standing if motion else before.motion)
    return Told(state, now.head, whole, tuple(marked([*played, *motion], now.head)), now.last_word)


def _played(now: _Moment, eyes: Eyes, before: _State) -> tuple[_State, list[Event]]:
    """What came of the records since: the board if it is another one, or what has changed of it, and entries."""
    if now.head <= before.seen:
        return before, []
    board, state, news = now.board(eyes), before, []
    if board.version != before.shown:
        patch = before.sent and before.sent.patch(board.version, board.doc)
        news = [event("patch", patch) if patch else Event("board", board.doc)]
        sent = Sent.of(board.version, board.doc) if eyes.deltas else None
        state = replace(before, shown=board.version, sent=sent)
    return state, [*news, *now.entries(eyes, before.seen)]


class _Moment:
    """A game as it is now; what several views show is read once."""

    def __init__(self, services: Services, summary: Doc, inside: bool) -> None:
        self._services, self._summary, self._inside = services, summary, inside
        self._game: str = summary["game"]
        self.head: int = summary["version"]
        self.last_word = "end" if summary["status"] == "closed" else ""
        self._boards: dict[Viewer, Board] = {}
        self._entries: dict[tuple[Viewer, str, int], list[Event]] = {}
        late = summary.get("delay") and not inside
        self._motion = None if late else services.errands.motion(self._game)
        self.standing = standing(services, self._motion) if self._motion else None
        """The newest motion as all may see it."""

    def board(self, eyes: Eyes) -> Board:
        """The board of a viewer."""
        viewer = eyes.viewer
        if viewer not in self._boards:
            found = self._services.reader.board(self._game, viewer, inside=self._inside, whole=eyes.through)
            if found is None:
                raise UnknownGame(self._game)
            self._boards[viewer] = found
        return self._boards[viewer]

    def entries(self, eyes: Eyes, after: int) -> list[Event]:
        """The entries of the timeline after a version."""
        key = eyes.viewer, eyes.lang, after
        if key not in self._entries:
            found = entries(
                self._services, self._summary, eyes.viewer, after, self.head - after, eyes.lang, eyes.through
            )
            self._entries[key] = [event("timeline", entry) for entry in found]
        return self._entries[key]

    def motion(self, eyes: Eyes, before: Doc | None) -> list[Event]:
        """The newest motion, if it stands otherwise than when it was told; one that was over before is no news."""
        if self._motion is None or self.standing is None or self.standing == before:
            return []
        if before is None and self.standing["status"] not in ("open", "queued"):
            return []
        try:
            return [event("motion", shown(self._services, self._motion, eyes.director, eyes.whole))]
        except Problem:  # no place at the gate: it is looked at again with the next sign of life
            return []
