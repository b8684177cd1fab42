"""What is told to those who follow tables: one's own, or those of the lobby."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from api.documents.my_tables import PAGE, Person, my_page, with_turn
from api.documents.summaries import lobby_page, with_names
from api.documents.undo_requests import standing
from api.services import Doc, Services
from api.streams.events import Event, event, marked
from api.streams.source import ANY, Told, View, Wish
from domain.accounts.credentials import Holder
from domain.service.seat_tokens import Role
from domain.types import Json
from projections.delayed_views import CHANGES

TOGETHER = 500
"""Games that are asked after in one statement."""

BEHIND = 2000
"""Games of the lobby that are told at once; who is further behind comes again."""

ALL: View = "all"
"""The one view of these sources: all who follow one see the same."""

_PASSING = ("left", "version", "at")
"""Members of a summary that change with every record, and are no news by themselves."""

_LOBBY = ("status", "seats", "names", "title", "note", "ending", "set_aside", "damaged")
"""Members whose change is news in the lobby."""


# --- one's own tables ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """The session or personal token that was shown."""

    services: Services = field(compare=False, repr=False)
    holder: Holder

    def lasts(self) -> bool:
        """Whether it still opens anything."""
        return self.services.people.credentials.alive(self.holder.credential)


@dataclass(frozen=True)
class _Known:
    """What was told of a person's tables."""

    versions: Mapping[str, int]
    """Game -> its mark then: another one whenever more of it is shown."""
    marks: Mapping[str, str]
    """Game -> what was told of it, but for what passes; not of those that were on no page."""
    motions: Mapping[str, Doc]
    """Motions that were not decided."""
    asked: Doc
    """The tables to which the person is asked."""


@dataclass(unsafe_hash=True)
class PersonSource:
    """The tables of a person. Ids are positions of the log."""

    services: Services = field(compare=False, repr=False)
    person: Person
    topics: Mapping[str, int] = field(init=False, compare=False, repr=False)
    counts = "position"
    pause = 0.1

    def __post_init__(self) -> None:
        self.topics = dict.fromkeys(self.person.players(self.services), 0)

    def look(self, wishes: Mapping[View, Wish]) -> Mapping[View, Told]:
        """What is new of any of them."""
        s, position = self.services, self.services.reader.position()
        roles = self.person.roles(s)
        versions = _versions(s, list(roles))
        self.topics = {**dict.fromkeys(self.person.players(s), 0), **dict.fromkeys(roles, 0), **versions}
        return {view: self._told(wish, position, roles, versions) for view, wish in wishes.items()}

    def told(self, view: View, after: int, upto: int) -> tuple[list[Event], int]:
        """Nothing: the first message holds all there is."""
        return [], upto

    def _told(
        self, wish: Wish, position: int, roles: Mapping[str, Sequence[Role]], versions: Mapping[str, int]
    ) -> Told:
        before = wish.state if isinstance(wish.state, _Known) else None
        motions = self._motions(before.motions if before else {}, roles)
        open_ = {id_: doc for id_, doc in motions.items() if doc["status"] in ("open", "queued")}
        page = my_page(self.services, self.person) if wish.whole else {"items": []}
        asked = self.person.asked(self.services)
        whole = (event("tables", page), *(event("motion", doc) for doc in open_.values())) if wish.whole else ()
        whole += (event("challenges", asked),) if wish.whole and asked["items"] else ()
        if before is None:
            marks = {doc["game"]: _mark(doc) for doc in page["items"]}
            return Told(_Known(versions, marks, open_, asked), position, whole)
        # Who begins has seen the page, perhaps newer than what the others were told: they are told by what they know.
        changed = [game for game in versions if versions[game] != before.versions.get(game)]
        docs = self._tables(changed, roles)
        news = [event("table", doc) for doc in docs if _mark(doc) != before.marks.get(doc["game"])]
        news += [event("gone", {"game": game}) for game in before.versions if game not in roles]
        news += [event("motion", doc) for id_, doc in motions.items() if doc != before.motions.get(id_)]
        news += [event("challenges", asked)] if asked != before.asked else []
        marks = {**before.marks, **{doc["game"]: _mark(doc) for doc in docs}}
        marks = {game: mark for game, mark in marks.items() if game in roles}
        return Told(_Known(versions, marks, open_, asked), position, whole, tuple(marked(news, position)))

    def _tables(self, games: Sequence[str], roles: Mapping[str, Sequence[Role]]) -> list[Doc]:
        s = self.services
        found = [doc for part in _parts(games) for _, doc in s.reader.of(part, limit=len(part), inside=True)]
        return with_names(s, [with_turn(s, doc, roles[doc["game"]]) for doc in found])

    def _motions(self, before: Mapping[str, Doc], roles: Mapping[str, object]) -> dict[str, Doc]:
        """Motions at the tables: those that stand, and how those ended that did."""
        s = self.services
        found = {e.id: e for e in s.errands.standing() if e.asked and e.game in roles}
        ended = (s.errands.find(id_) for id_, doc in before.items() if id_ not in found and doc["game"] in roles)
        return {e.id: standing(s, e) for e in (*found.values(), *ended) if e}


def _versions(s: Services, games: Sequence[str]) -> dict[str, int]:
    return {game: version for part in _parts(games) for game, version in s.reader.marks(part).items()}


def _parts(games: Sequence[str]) -> Iterable[Sequence[str]]:
    return (games[begin : begin + TOGETHER] for begin in range(0, len(games), TOGETHER))


def _mark(doc: Doc) -> str:
    return _digest({name: value for name, value in doc.items() if name not in _PASSING})


def _digest(doc: Json) -> str:
    return hashlib.blake2b(orjson.dumps(doc, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()


# --- the lobby -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Shown:
    """What was told of the lobby."""

    place: int
    """Up to where nothing is shown any more that was not then."""
    later: Mapping[str, int]
    """Game -> place of what was told beyond that."""
    marks: Mapping[str, str]
    """Game -> what was told of it, of those that are not closed."""


@dataclass(unsafe_hash=True)
class LobbySource:
    """The public tables. Ids are positions of the log."""

    services: Services = field(compare=False, repr=False)
    topics: Mapping[str, int] = field(init=False, compare=False, repr=False)
    counts = "position"
    pause = 0.5

    def __post_init__(self) -> None:
        self.topics = {ANY: 0}

    def look(self, wishes: Mapping[View, Wish]) -> Mapping[View, Told]:
        """Which tables were opened, filled, started or closed."""
        position = self.services.reader.position()
        place = position << CHANGES
        return {view: self._told(wish, position, place) for view, wish in wishes.items()}

    def told(self, view: View, after: int, upto: int) -> tuple[list[Event], int]:
        """Nothing: the first message holds the newest page."""
        return [], upto

    def _told(self, wish: Wish, position: int, place: int) -> Told:
        before = wish.state if isinstance(wish.state, _Shown) else None
        page = lobby_page(self.services, limit=PAGE) if wish.whole else {"items": []}
        whole = (event("tables", page),) if wish.whole else ()
        if before is None:
            return Told(_Shown(place, {}, _open({}, page["items"])), position, whole)
        found = self._since(before) if place >= before.place else None  # or the log has come back shorter
        if found is None:
            return Told(before, position, last_word="bye")
        changed = with_names(self.services, [doc for _, doc in found])
        news = [event("table", doc) for doc in changed if _news(doc) != before.marks.get(doc["game"])]
        later = {**before.later, **{doc["game"]: at for at, doc in found}}
        state = _Shown(place, {g: at for g, at in later.items() if at > place}, _open(before.marks, changed))
        return Told(state, position, whole, tuple(marked(news, position)))

    def _since(self, before: _Shown) -> list[tuple[int, Doc]] | None:
        """The tables with a change that was not told, by its place, the oldest first; None if there are too many."""
        found: list[tuple[int, Doc]] = []
        last = 0
        while len(found) < BEHIND:
            page = self.services.reader.lobby(before=last, limit=PAGE)
            new = [(at, doc) for at, doc in page if at > before.place]
            found += [(at, doc) for at, doc in new if before.later.get(doc["game"]) != at]
            if len(new) < PAGE:
                return found[::-1]
            last = page[-1][0]
        return None


def _news(doc: Doc) -> str:
    return _digest([doc.get(name) for name in _LOBBY])


def _open(marks: Mapping[str, str], docs: Iterable[Doc]) -> dict[str, str]:
    """With what is told now, and without those that are closed: nothing more comes of them."""
    found = {**marks, **{doc["game"]: _news(doc) for doc in docs}}
    closed = {doc["game"] for doc in docs if doc["status"] == "closed"}
    return {game: mark for game, mark in found.items() if game not in closed}
