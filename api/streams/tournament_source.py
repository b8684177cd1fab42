"""The event source of a tournament: it names each record, and clients read what they show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from api.services import ApiServices
from api.streams.events import Event, make_event
from api.streams.source import StreamUpdate, ViewKey, ViewRequest
from domain.kernel.records.record import Record
from domain.tournaments.records import FAMILY
from domain.types import Doc
from projections.tournament_views import build_tournament, list_people

PAGE = 200
"""Records a page for those who come back."""

PLACES = ("stage", "round", "pod")
"""Members of a record with its place."""


@dataclass(frozen=True)
class RoundKey:
    """The records that a subscriber gets: of a stage, of one of its rounds, or all (0)."""

    stage: int = 0
    round: int = 0

    def covers(self, record: Record) -> bool:
        """Return True for records of the stage and round, and for those of the whole tournament or stage."""
        places = (("stage", self.stage), ("round", self.round))
        return all(not wanted or record.body.get(name, wanted) == wanted for name, wanted in places)


@dataclass(unsafe_hash=True)
class TournamentSource:
    """One tournament for all of its subscribers. Ids are versions."""

    services: ApiServices = field(compare=False, repr=False)
    tournament: str
    topics: Mapping[str, int] = field(init=False, compare=False, repr=False)
    id_kind = "version"
    pause = 0.1

    def __post_init__(self) -> None:
        self.topics = {self.tournament: 0}

    def read_updates(self, requests: Mapping[ViewKey, ViewRequest]) -> Mapping[ViewKey, StreamUpdate]:
        """Return the tournament for new subscribers, and the records since the last update."""
        t = self.services.tournaments.load(self.tournament)
        self.topics = {self.tournament: 0, **self.services.reader.change_marks([self.tournament])}
        states = [request.state for request in requests.values() if isinstance(request.state, int)]
        records = self.services.ledger.read(t.id, min(states, default=t.version), t.version)
        needed = any(request.needs_snapshot for request in requests.values())
        names = self.services.seat_tokens.texts.list_names(list_people(t)) if needed else {}
        first = (make_event("tournament", build_tournament(t, names)),) if needed else ()
        updates = {}
        for key, request in requests.items():
            before = request.state if isinstance(request.state, int) else t.version
            news = tuple(_name_records(key, (record for record in records if record.version > before)))
            updates[key] = StreamUpdate(t.version, t.version, first if request.needs_snapshot else (), news)
        return updates

    def read_history(self, key: ViewKey, after: int, upto: int) -> tuple[list[Event], int]:
        """Return a page of the records between two versions."""
        end = min(after + PAGE, upto)
        return list(_name_records(key, self.services.ledger.read(self.tournament, after, end))), end


def _name_records(key: ViewKey, records: Iterable[Record]) -> Iterable[Event]:
    """Yield an event for each record that a subscriber gets, with its place but without its contents."""
    for record in records:
        if isinstance(key, RoundKey) and key.covers(record):
            yield make_event("record", describe_record(record), record.version)


def describe_record(record: Record) -> Doc:
    """Return what a record is, when and where: its kind without the family, `stage`, `round` and `pod` from 1."""
    kind = record.kind.removeprefix(FAMILY)
    places = {name: record.body[name] for name in PLACES if isinstance(record.body.get(name), int)}
    return {"version": record.version, "kind": kind, "at": record.time, **places}
