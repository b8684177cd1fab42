"""Records as the library stores them, and back: the topic is a word from an allow-list, the state is JSON.

A topic is `game.<kind>@<schema>`; nothing is ever imported or unpickled from what was read. The state is a marker
byte and the canonical JSON `{"packs", "public"}`: `j` plain, `z` compressed where that is shorter. The padding of packs
makes it so nearly always.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

import orjson
from eventsourcing.persistence import JSONTranscoder, Mapper, StoredEvent

from domain.errors import UnknownKind, VerificationError
from domain.ids import Doc, Json
from domain.kernel.digest import canonical, digest
from domain.kernel.record import KINDS, Record

SCHEMAS: Mapping[str, int] = dict.fromkeys(KINDS, 1)
"""Kind -> number of the form in which it is written."""

Upcast = Callable[[Doc], Doc]

UPCASTS: Mapping[str, Upcast] = {}
"""Topic of an old form -> pure function from its document `{"packs", "public"}` to that of the next number."""

_PLAIN, _ZLIB = b"j", b"z"
_LEVEL = 6  # one microsecond slower than level 1 for a typical record, and smaller


@dataclass(frozen=True)
class Filed:
    """A record and the game it belongs to: what the library calls a domain event."""

    originator_id: UUID
    record: Record

    @property
    def originator_version(self) -> int:
        """The record's version."""
        return self.record.version


class RecordMapper(Mapper[UUID]):
    """Own mapper, because the library's takes Python paths as topics and imports them on reading."""

    def __init__(self, schemas: Mapping[str, int] = SCHEMAS, upcasts: Mapping[str, Upcast] = UPCASTS) -> None:
        """Raises ValueError unless every old form has its upcast, and no other."""
        super().__init__(JSONTranscoder())
        old = {f"game.{kind}@{n}" for kind, top in schemas.items() for n in range(1, top)}
        if old != upcasts.keys():
            raise ValueError(f"upcasts are missing or too many: {sorted(old ^ upcasts.keys())}")
        self._upcasts = upcasts
        self._written = {kind: f"game.{kind}@{n}" for kind, n in schemas.items()}
        self._readable = {f"game.{kind}@{n}": (kind, n) for kind, top in schemas.items() for n in range(1, top + 1)}

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        """What to store of a Filed record; raises UnknownKind."""
        record: Record = domain_event.record
        topic = self._written.get(record.kind)
        if topic is None:
            raise UnknownKind(record.kind)
        state = pack({"public": record.public, "packs": record.packs})
        return StoredEvent(domain_event.originator_id, record.version, topic, state)

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """A Filed record; raises UnknownKind, and VerificationError `unreadable` for bytes that are no record."""
        return Filed(cast(UUID, stored_event.originator_id), self.record(stored_event))

    def record(self, stored: StoredEvent) -> Record:
        """The record, in today's form whatever the form it was written in; raises as `to_domain_event`."""
        if stored.topic not in self._readable:
            raise UnknownKind(stored.topic)
        kind, number = self._readable[stored.topic]
        written = _document(stored)
        doc = written
        while f"game.{kind}@{number}" != self._written[kind]:
            doc = self._upcasts[f"game.{kind}@{number}"](doc)
            number += 1
        record = Record(doc["public"], doc["packs"])
        if doc is not written:
            # The chain goes over what was written: the next record names the hash of the old form.
            record.__dict__["hash"] = digest(written["public"])
        return record


def pack(doc: Json) -> bytes:
    """Canonical JSON behind its marker byte, compressed if that is shorter."""
    plain = canonical(doc)
    small = zlib.compress(plain, _LEVEL)
    return _ZLIB + small if len(small) < len(plain) else _PLAIN + plain


def unpack(state: bytes) -> Json:
    """The document of a stored state; raises ValueError for bytes that `pack` cannot have made."""
    marker, body = state[:1], state[1:]
    if marker not in (_PLAIN, _ZLIB):
        raise ValueError(f"no such marker: {marker!r}")
    try:
        return orjson.loads(zlib.decompress(body) if marker == _ZLIB else body)
    except zlib.error as e:
        raise ValueError(str(e)) from e


def _document(stored: StoredEvent) -> Doc:
    try:
        doc = unpack(stored.state)
    except ValueError as e:
        raise VerificationError("unreadable", stored.originator_version, str(e)) from e
    if not (isinstance(doc, dict) and doc.keys() == {"public", "packs"}):
        raise VerificationError("unreadable", stored.originator_version, "not a record")
    return doc
