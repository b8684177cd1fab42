"""Event source of one game."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import msgspec

from api import authorization
from api.documents.proposals import proposal_to_json
from api.documents.talk import build_messages
from api.documents.timeline import build_entries
from api.documents.undo_requests import build_undo_request, public_undo_request, tell_undone
from api.http import rate_limits
from api.http.problems import Problem
from api.schemas.play_responses import MotionDoc, ProposalDoc
from api.services import ApiServices
from api.streams.events import Event, make_event, with_last_id
from api.streams.json_patches import SentBoard
from api.streams.source import StreamUpdate, ViewKey, ViewRequest
from domain.accounts.credential_tables import CredentialOwner
from domain.errors import StoreUnavailable, UnknownGame
from domain.kernel.game.record_builder import has_talk
from domain.service.principals import Principal
from domain.talk.talk_store import MailboxReader
from domain.types import Viewer
from projections.board_reader import Board
from projections.game_documents import StoredSummaryDoc

PAGE = 200
"""Timeline entries per read."""

MAX_PROPOSALS = 20
"""Newest proposals followed by a stream."""

MAX_BEHIND = 1000
"""Most versions per update. Slower clients reconnect and read page by page."""


@dataclass(frozen=True)
class RolePermit:
    """A seat's or director's credential."""

    services: ApiServices = field(compare=False, repr=False)
    principal: Principal

    def is_valid(self) -> bool:
        """Return True if the credential is still valid."""
        return authorization.is_still_valid(self.services, self.principal)


@dataclass(frozen=True)
class ModeratorPermit:
    """A moderator's credential, which bypasses the delay."""

    services: ApiServices = field(compare=False, repr=False)
    owner: CredentialOwner

    def is_valid(self) -> bool:
        """Return True if session and role are still valid."""
        store, account = self.services.account_store, self.services.account_store.accounts.find(self.owner.account)
        is_alive = store.credentials.is_alive(self.owner.credential)
        return is_alive and account is not None and (account.role, account.state) == (self.owner.role, "active")


@dataclass(frozen=True)
class GameViewKey:
    """Properties of a subscriber selecting its events."""

    viewer: Viewer
    lang: str
    deltas: bool
    """True if changed boards are sent as patches."""
    director: Principal | None
    """The director, who may see more of an undo request."""
    inside: bool
    """True if the table's delay does not apply."""
    reader: MailboxReader | None
    """The subscriber as a reader of talk; None: the token lacks the scope."""
    gate: rate_limits.GateContext = field(compare=False, repr=False)

    @contextmanager
    def reading_slot(self) -> Iterator[None]:
        """Hold a slot for reading a whole game. Raise StoreUnavailable, so that clients reconnect."""
        try:
            with self.gate():
                yield
        except Problem as error:
            raise StoreUnavailable("too many ask for whole games") from error


@dataclass(frozen=True)
class _GameState:
    """State after the last update."""

    version: int
    """Newest version sent."""
    board_version: int
    """Version of the board sent."""
    motion: MotionDoc | None
    """The latest undo request in the public view."""
    board: SentBoard | None = None
    """The board itself, for patches."""
    proposals: Mapping[str, ProposalDoc] = field(default_factory=dict)
    """Proposals sent, by id."""
    entry: int = 0
    """Last message sent, or known when the stream began."""


@dataclass(unsafe_hash=True)
class GameSource:
    """One game for all of its subscribers. Ids are versions."""

    services: ApiServices = field(compare=False, repr=False)
    game: str
    topics: Mapping[str, int] = field(init=False, compare=False, repr=False)
    id_kind = "version"
    pause = 0.0

    def __post_init__(self) -> None:
        self.topics = {self.game: 0}

    def read_updates(self, requests: Mapping[ViewKey, ViewRequest]) -> Mapping[ViewKey, StreamUpdate]:
        """Return changes of board, timeline and undo request."""
        keys = [key for key in requests if isinstance(key, GameViewKey)]
        now, topics = _read_sides(self.services, self.game, {key.inside for key in keys})
        self.topics = topics
        return {key: _build_update(now[key.inside], key, requests[key]) for key in keys}

    def read_history(self, key: ViewKey, after: int, upto: int) -> tuple[list[Event], int]:
        """Return timeline entries."""
        if not isinstance(key, GameViewKey):
            return [], upto
        limit = min(PAGE, upto - after)
        summary = _find_summary(self.services, self.game, key.inside)
        found = build_entries(self.services, summary, key.viewer, after, limit, key.lang, key.reading_slot)
        return [make_event("timeline", entry) for entry in found], after + limit


@dataclass(frozen=True)
class PageViewKey:
    """The view of a page: changes for players and officers (`inside`), or after the table's delay."""

    inside: bool
    reader: MailboxReader | None = None
    """The visitor as a reader of talk."""


@dataclass(unsafe_hash=True)
class ChangeSource:
    """Marks of one game for its page, without contents: the page fetches itself anew. Ids are versions."""

    services: ApiServices = field(compare=False, repr=False)
    game: str
    topics: Mapping[str, int] = field(init=False, compare=False, repr=False)
    id_kind = "version"
    pause = 0.0

    def __post_init__(self) -> None:
        self.topics = {self.game: 0}

    def read_updates(self, requests: Mapping[ViewKey, ViewRequest]) -> Mapping[ViewKey, StreamUpdate]:
        """Return an event `change` if the version or an open vote differs from the last one."""
        keys = [key for key in requests if isinstance(key, PageViewKey)]
        now, topics = _read_sides(self.services, self.game, {key.inside for key in keys})
        self.topics = topics
        return {key: _mark_change(now[key.inside], key, requests[key]) for key in keys}

    def read_history(self, key: ViewKey, after: int, upto: int) -> tuple[list[Event], int]:
        """Return nothing: the newest mark is enough."""
        return [], upto


def _mark_change(now: _GameSnapshot, key: PageViewKey, request: ViewRequest) -> StreamUpdate:
    """Return the marks of game and talk as the snapshot, and as news those that have changed."""
    votes = msgspec.json.encode([now.public_motion, now.proposals], order="sorted")
    event = make_event("change", {"version": now.head, "votes": hashlib.sha256(votes).hexdigest()[:16]}, now.head)
    marks = (*now.mark_talk(key.reader), event)
    state = tuple(mark.data for mark in marks)
    before = request.state if isinstance(request.state, tuple) else state
    return StreamUpdate(state, now.head, marks, tuple(m for m in marks if m.data not in before), now.last_word)


def _read_sides(
    services: ApiServices, game: str, sides: Set[bool]
) -> tuple[Mapping[bool, _GameSnapshot], Mapping[str, int]]:
    """Return the game inside and outside its delay, as far as asked for, and its mark."""
    reader = services.reader
    mark = {} if reader.is_same_for_all(game) else reader.change_marks([game])  # first: later changes cause an update
    now = {inside: _GameSnapshot(services, _find_summary(services, game, inside), inside) for inside in sides}
    return now, mark or {game: max((each.head for each in now.values()), default=0)}


def _find_summary(services: ApiServices, game: str, inside: bool) -> StoredSummaryDoc:
    """Return the summary. Raise UnknownGame."""
    summary = services.reader.find_summary(game, inside=inside)
    if summary is None:
        raise UnknownGame(game)
    return summary


def _build_update(now: _GameSnapshot, view_key: GameViewKey, request: ViewRequest) -> StreamUpdate:
    """Return the update for one view."""
    before = request.state if isinstance(request.state, _GameState) else None
    if before is None:
        board = now.board(view_key)
        motion = now.motion(view_key, None)
        board_sent = SentBoard.pack(board.version, board.doc) if view_key.deltas else None
        motion_sent, entry = now.public_motion if motion else None, now.last_entry(view_key.reader)
        state = _GameState(now.head, board.version, motion_sent, board_sent, now.proposals, entry)
        snapshot = (Event("board", board.doc), *motion, *now.changed_proposals({}))
        return StreamUpdate(state, now.head, snapshot, (), now.last_word)
    if now.head < before.version or now.head - before.version > MAX_BEHIND:  # or an older log was restored
        return StreamUpdate(before, before.version, last_event="bye")
    snapshot = ()
    if request.needs_snapshot:
        snapshot = (
            Event("board", now.board(view_key).doc),
            *now.motion(view_key, None),
            *now.changed_proposals({}),
        )
    motion = now.motion(view_key, before.motion)
    state, played = _build_new_events(now, view_key, before)
    state = replace(
        state,
        version=max(now.head, before.version),
        motion=now.public_motion if motion else before.motion,
        proposals=now.proposals,
    )
    entry, messages = now.messages(view_key, before.entry)
    state = replace(state, entry=entry)
    news = [*played, *motion, *now.changed_proposals(before.proposals), *messages]
    return StreamUpdate(state, now.head, snapshot, tuple(with_last_id(news, now.head)), now.last_word)


def _build_new_events(now: _GameSnapshot, view_key: GameViewKey, before: _GameState) -> tuple[_GameState, list[Event]]:
    """Return the events of new records: the changed board or a patch, and timeline entries."""
    if now.head <= before.version:
        return before, []
    board, state, news = now.board(view_key), before, []
    if board.version != before.board_version:
        patch = before.board and before.board.patch(board.version, board.doc)
        news = [make_event("patch", patch) if patch else Event("board", board.doc)]
        board_sent = SentBoard.pack(board.version, board.doc) if view_key.deltas else None
        state = replace(before, board_version=board.version, board=board_sent)
    return state, [*news, *now.entries(view_key, before.version)]


class _GameSnapshot:
    """A game at one time. Parts shared by several views are read once."""

    def __init__(self, services: ApiServices, summary: StoredSummaryDoc, inside: bool) -> None:
        self._services, self._summary, self._inside = services, summary, inside
        self._game: str = summary["game"]
        self.head: int = summary["version"]
        self.last_word = "end" if summary["status"] == "closed" else ""
        self._boards: dict[Viewer, Board] = {}
        self._entries: dict[tuple[Viewer, str, int], list[Event]] = {}
        late = summary.get("delay") and not inside
        self._motion = None if late else services.job_requests.find_motion(self._game)
        found = [] if late else services.job_requests.list_proposals(self._game, MAX_PROPOSALS)
        self.proposals: Mapping[str, ProposalDoc] = {e.id: proposal_to_json(services, e) for e in found}
        """The newest proposals, by id."""
        self.public_motion = public_undo_request(services, self._motion) if self._motion else None
        """The latest undo request in the public view."""

    def changed_proposals(self, before: Mapping[str, ProposalDoc]) -> list[Event]:
        """Return proposals whose status or votes changed. Proposals closed before are skipped."""
        return [
            make_event("proposal", doc)
            for id_, doc in self.proposals.items()
            if doc != before.get(id_) and (id_ in before or doc["status"] in ("open", "queued"))
        ]

    def board(self, view_key: GameViewKey) -> Board:
        """Return a viewer's board."""
        viewer = view_key.viewer
        if viewer not in self._boards:
            found = self._services.reader.find_board(
                self._game, viewer, inside=self._inside, gate=view_key.reading_slot
            )
            if found is None:
                raise UnknownGame(self._game)
            self._boards[viewer] = found
        return self._boards[viewer]

    def entries(self, view_key: GameViewKey, after: int) -> list[Event]:
        """Return the timeline entries after a version."""
        key = view_key.viewer, view_key.lang, after
        if key not in self._entries:
            found = build_entries(
                self._services,
                self._summary,
                view_key.viewer,
                after,
                self.head - after,
                view_key.lang,
                view_key.reading_slot,
            )
            self._entries[key] = [make_event("timeline", entry) for entry in found]
        return self._entries[key]

    def mark_talk(self, reader: MailboxReader | None) -> tuple[Event, ...]:
        """Return an event with the place of the last message for a page; none at a table without talk."""
        if reader is None or not has_talk(self._summary):
            return ()
        return (make_event("talk", {"last": self.last_entry(reader)}),)

    def last_entry(self, reader: MailboxReader | None) -> int:
        """Return the place of the last message for a reader; 0 at a table without talk."""
        if reader is None or not has_talk(self._summary):
            return 0
        try:
            return self._services.talk.last_entry(self._at_head(reader))
        except StoreUnavailable:  # talk never stops a board
            return 0

    def messages(self, view_key: GameViewKey, after: int) -> tuple[int, list[Event]]:
        """Return the place of the last message sent, and the messages after a place."""
        if view_key.reader is None or not has_talk(self._summary):
            return after, []
        reader = self._at_head(view_key.reader)
        try:
            found = self._services.talk.list_entries(reader, after=after, limit=PAGE)
            game = self._services.commands.game(self._game) if found else None
        except StoreUnavailable:
            return after, []
        if game is None:
            return after, []
        docs = build_messages(self._services, game, reader, found, view_key.lang)
        return found[-1].entry, [make_event("message", doc) for doc in docs]

    def _at_head(self, reader: MailboxReader) -> MailboxReader:
        """Return the reader with the limits of a spectator of a table with a delay."""
        delay = self._summary.get("delay", 0)
        if self._inside or not delay or reader.mailbox >= 0:
            return reader
        return replace(reader, upto=(self.head, self._services.clock() - delay * 1000))

    def motion(self, view_key: GameViewKey, before: MotionDoc | None) -> list[Event]:
        """Return the latest undo request if its status changed. Requests closed before are skipped."""
        if self._motion is None or self.public_motion is None or self.public_motion == before:
            return []
        if before is None and self.public_motion["status"] not in ("open", "queued"):
            return []
        try:
            doc = build_undo_request(self._services, self._motion, view_key.director, view_key.gate)
            gate = view_key.reading_slot
            if doc["status"] == "open":
                viewer, lang = view_key.viewer, view_key.lang
                doc["told"] = tell_undone(self._services, doc["undone"], self._summary, viewer, lang, gate)
            return [make_event("motion", doc)]
        except Problem:  # no slot at the gate: retried at the next keep-alive
            return []
