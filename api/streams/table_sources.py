"""Event sources of table lists: a person's own tables, and the lobby."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from api.documents.my_tables import MAX_GAMES, PAGE, TableOwner, build_my_tables, find_turn
from api.documents.proposals import proposal_to_json
from api.documents.summaries import add_names, build_lobby_page
from api.documents.undo_requests import public_undo_request
from api.schemas.accounts import MyChallengesDoc
from api.schemas.play_responses import MotionDoc, ProposalDoc
from api.schemas.table_responses import LobbyDoc, MineDoc, MyGamesDoc
from api.services import ApiServices
from api.streams.events import Event, make_event, with_last_id
from api.streams.source import ANY, StreamUpdate, ViewKey, ViewRequest
from domain.accounts.credential_tables import CredentialOwner
from domain.errors import StoreUnavailable
from domain.service.principals import Role
from domain.types import Json, Seat
from projections.delayed_views import PLACE_BITS
from projections.game_documents import StoredSummaryDoc, SummaryDoc

BATCH_SIZE = 500
"""Games per query."""

MAX_BEHIND = 2000
"""Most lobby games per update. Slower clients reconnect."""

WITH_TALK: ViewKey = "talk"
"""View of a person's tables with events of messages."""

ONLY_VIEW: ViewKey = "all"
"""The single view of these sources: all subscribers get the same events."""

_VOLATILE = ("left", "version", "at", "votes")
"""Summary members without news value: they change with every record."""

_LOBBY_MEMBERS = ("status", "seats", "names", "title", "note", "ending", "set_aside", "damaged")
"""Members whose changes are news in the lobby."""


# --- one's own tables ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AccountPermit:
    """A session or personal token."""

    services: ApiServices = field(compare=False, repr=False)
    owner: CredentialOwner

    def is_valid(self) -> bool:
        """Return True if the token is still valid."""
        return self.services.account_store.credentials.is_alive(self.owner.credential)


@dataclass(frozen=True)
class _PersonState:
    """State of a person's tables after the last update."""

    versions: Mapping[str, int]
    """Game -> its mark."""
    marks: Mapping[str, str]
    """Game -> digest of its last sent summary without volatile members. Only games sent before."""
    motions: Mapping[str, MotionDoc | ProposalDoc]
    """Open undo requests."""
    challenges: MyChallengesDoc
    """The person's open challenges."""
    entries: Mapping[tuple[str, Seat], int] = field(default_factory=dict)
    """Game and seat -> last message of others in that mailbox."""


@dataclass(unsafe_hash=True)
class PersonSource:
    """A person's tables. Ids are log positions."""

    services: ApiServices = field(compare=False, repr=False)
    owner: TableOwner
    topics: Mapping[str, int] = field(init=False, compare=False, repr=False)
    id_kind = "position"
    pause = 0.1

    def __post_init__(self) -> None:
        self.topics = dict.fromkeys(self.owner.players(self.services), 0)

    def read_updates(self, requests: Mapping[ViewKey, ViewRequest]) -> Mapping[ViewKey, StreamUpdate]:
        """Return changes of any of the tables."""
        s, position = self.services, self.services.reader.read_position()
        roles = self.owner.roles(s)
        versions = _read_marks(s, list(roles))
        self.topics = {**dict.fromkeys(self.owner.players(s), 0), **dict.fromkeys(roles, 0), **versions}
        return {
            key: self._add_messages(key, request, self._build_update(request, position, roles, versions))
            for key, request in requests.items()
        }

    def read_history(self, key: ViewKey, after: int, upto: int) -> tuple[list[Event], int]:
        """Return nothing: the snapshot is complete."""
        return [], upto

    def _add_messages(self, key: ViewKey, request: ViewRequest, update: StreamUpdate) -> StreamUpdate:
        """Return the update with an event for each mailbox with a new message."""
        if key != WITH_TALK or not isinstance(update.state, _PersonState):
            return update
        before = request.state.entries if isinstance(request.state, _PersonState) else None
        try:
            entries = self._list_last_entries()
        except StoreUnavailable:  # talk stops no other event
            entries = {**(before or {})}
        changed = {} if before is None else {each: n for each, n in entries.items() if n > before.get(each, 0)}
        news = [make_event("message", {"game": g, "seat": seat, "entry": n}) for (g, seat), n in changed.items()]
        told = tuple(with_last_id([*update.news, *news], update.version)) if news else update.news
        return replace(update, state=replace(update.state, entries=entries), news=told)

    def _list_last_entries(self) -> dict[tuple[str, Seat], int]:
        if self.owner.lent:
            return {}
        s, account = self.services, self.owner.account
        blocked = [player for player, _ in s.account_store.social_graph.list_blocks(account)] if account else []
        return s.talk.list_last_entries(self.owner.players(s), blocked)

    def _build_update(
        self, request: ViewRequest, position: int, roles: Mapping[str, Sequence[Role]], versions: Mapping[str, int]
    ) -> StreamUpdate:
        before = request.state if isinstance(request.state, _PersonState) else None
        motions = self._motions(before.motions if before else {}, roles)
        open_ = {id_: doc for id_, doc in motions.items() if doc["status"] in ("open", "queued")}
        page: MyGamesDoc = {"items": [], "next": None}
        if request.needs_snapshot:
            page = build_my_tables(self.services, self.owner, limit=MAX_GAMES)
        challenges = self.owner.challenges(self.services)
        snapshot = (make_event("tables", page), *map(_request_event, open_.values())) if request.needs_snapshot else ()
        snapshot += (make_event("challenges", challenges),) if request.needs_snapshot and challenges["items"] else ()
        if before is None:
            marks = {doc["game"]: _summary_digest(doc) for doc in page["items"]}
            return StreamUpdate(_PersonState(versions, marks, open_, challenges), position, snapshot)
        # A new subscriber's page may be newer than the others' state: compute news from the state.
        changed = [game for game in versions if versions[game] != before.versions.get(game)]
        docs = self._tables(changed, roles)
        news = [make_event("table", doc) for doc in docs if _summary_digest(doc) != before.marks.get(doc["game"])]
        news += [make_event("gone", {"game": game}) for game in before.versions if game not in roles]
        news += [_request_event(doc) for id_, doc in motions.items() if doc != before.motions.get(id_)]
        news += [make_event("challenges", challenges)] if challenges != before.challenges else []
        marks = {**before.marks, **{doc["game"]: _summary_digest(doc) for doc in docs}}
        marks = {game: mark for game, mark in marks.items() if game in roles}
        return StreamUpdate(
            _PersonState(versions, marks, open_, challenges), position, snapshot, tuple(with_last_id(news, position))
        )

    def _tables(self, games: Sequence[str], roles: Mapping[str, Sequence[Role]]) -> list[MineDoc]:
        s = self.services
        found = [
            doc for part in _batches(games) for _, doc in s.reader.list_summaries(part, limit=len(part), inside=True)
        ]
        return [{**doc, **find_turn(s, doc, roles[doc["game"]])} for doc in add_names(s, found)]

    def _motions(
        self, before: Mapping[str, MotionDoc | ProposalDoc], roles: Mapping[str, object]
    ) -> dict[str, MotionDoc | ProposalDoc]:
        """Return undo requests and proposals at the tables: open ones, and previously open ones with their results."""
        s = self.services
        found = {e.id: e for e in s.job_requests.list_open() if e.asked and e.game in roles}
        ended = (s.job_requests.find(id_) for id_, doc in before.items() if id_ not in found and doc["game"] in roles)
        requests = [request for request in (*found.values(), *ended) if request]
        return {r.id: public_undo_request(s, r) if r.work == "rewind" else proposal_to_json(s, r) for r in requests}


@dataclass(unsafe_hash=True)
class ListChangeSource(PersonSource):
    """Marks of a person's tables for a page with their list, without contents: the page fetches itself anew."""

    def read_updates(self, requests: Mapping[ViewKey, ViewRequest]) -> Mapping[ViewKey, StreamUpdate]:
        """Return an event `change` if any of the tables has news. Its `version` is always 0."""
        return {key: _mark_change(update) for key, update in super().read_updates(requests).items()}


def _mark_change(update: StreamUpdate) -> StreamUpdate:
    """Return the mark of the state as the snapshot, and as news if there are any."""
    state = update.state if isinstance(update.state, _PersonState) else _PersonState({}, {}, {}, {"items": []})
    mark = _digest([dict(state.marks), dict(state.motions), state.challenges])
    event = make_event("change", {"version": 0, "votes": mark}, update.version)
    return replace(update, snapshot=(event,), news=(event,) if update.news else ())


def _request_event(doc: MotionDoc | ProposalDoc) -> Event:
    return make_event("proposal" if "act" in doc else "motion", doc)


def _read_marks(s: ApiServices, games: Sequence[str]) -> dict[str, int]:
    return {game: version for part in _batches(games) for game, version in s.reader.change_marks(part).items()}


def _batches(games: Sequence[str]) -> Iterable[Sequence[str]]:
    return (games[begin : begin + BATCH_SIZE] for begin in range(0, len(games), BATCH_SIZE))


def _summary_digest(doc: SummaryDoc) -> str:
    return _digest({name: value for name, value in doc.items() if name not in _VOLATILE})


def _digest(doc: Json) -> str:
    return hashlib.blake2b(msgspec.json.encode(doc, order="sorted"), digest_size=8).hexdigest()


# --- the lobby -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _LobbyState:
    """State of the lobby after the last update."""

    place: int
    """All changes up to this place are sent."""
    later: Mapping[str, int]
    """Game -> place of later changes already sent."""
    marks: Mapping[str, str]
    """Game -> digest of its last sent summary, without closed games."""


@dataclass(unsafe_hash=True)
class LobbySource:
    """The public tables. Ids are log positions."""

    services: ApiServices = field(compare=False, repr=False)
    topics: Mapping[str, int] = field(init=False, compare=False, repr=False)
    id_kind = "position"
    pause = 0.5

    def __post_init__(self) -> None:
        self.topics = {ANY: 0}

    def read_updates(self, requests: Mapping[ViewKey, ViewRequest]) -> Mapping[ViewKey, StreamUpdate]:
        """Return opened, filled, started and closed tables."""
        position = self.services.reader.read_position()
        place = position << PLACE_BITS
        return {key: self._build_update(request, position, place) for key, request in requests.items()}

    def read_history(self, key: ViewKey, after: int, upto: int) -> tuple[list[Event], int]:
        """Return nothing: the snapshot contains the newest page."""
        return [], upto

    def _build_update(self, request: ViewRequest, position: int, place: int) -> StreamUpdate:
        before = request.state if isinstance(request.state, _LobbyState) else None
        page: LobbyDoc = {"items": [], "next": None}
        if request.needs_snapshot:
            page = build_lobby_page(self.services, limit=PAGE)
        snapshot = (make_event("tables", page),) if request.needs_snapshot else ()
        if before is None:
            return StreamUpdate(_LobbyState(place, {}, _open_digests({}, page["items"])), position, snapshot)
        found = self._changes_after(before) if place >= before.place else None  # or an older log was restored
        if found is None:
            return StreamUpdate(before, position, last_event="bye")
        changed = add_names(self.services, [doc for _, doc in found])
        news = [make_event("table", doc) for doc in changed if _lobby_digest(doc) != before.marks.get(doc["game"])]
        later = {**before.later, **{doc["game"]: at for at, doc in found}}
        state = _LobbyState(
            place, {g: at for g, at in later.items() if at > place}, _open_digests(before.marks, changed)
        )
        return StreamUpdate(state, position, snapshot, tuple(with_last_id(news, position)))

    def _changes_after(self, before: _LobbyState) -> list[tuple[int, StoredSummaryDoc]] | None:
        """Return unsent changes with their places, the oldest first, or None if there are too many."""
        found: list[tuple[int, StoredSummaryDoc]] = []
        last = 0
        while len(found) < MAX_BEHIND:
            page = self.services.reader.list_lobby(before=last, limit=PAGE)
            new = [(at, doc) for at, doc in page if at > before.place]
            found += [(at, doc) for at, doc in new if before.later.get(doc["game"]) != at]
            if len(new) < PAGE:
                return found[::-1]
            last = page[-1][0]
        return None


def _lobby_digest(doc: SummaryDoc) -> str:
    return _digest([doc.get(name) for name in _LOBBY_MEMBERS])


def _open_digests(marks: Mapping[str, str], docs: Iterable[SummaryDoc]) -> dict[str, str]:
    """Return the digests with these summaries added and closed games removed: closed tables change no more."""
    found = {**marks, **{doc["game"]: _lobby_digest(doc) for doc in docs}}
    closed = {doc["game"] for doc in docs if doc["status"] == "closed"}
    return {game: mark for game, mark in found.items() if game not in closed}
