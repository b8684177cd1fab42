"""Records as the library stores them, and back: the topic is a word from an allow-list, the state is JSON.

A topic is `game.<kind>@<schema>`; nothing is ever imported or unpickled from what was read. The state is a marker
byte and canonical JSON: `j` plain, `z` compressed where that is shorter, which the padding of packs makes it nearly
always. It is the JSON of `{"packs", "public"}`, or behind `s` that of `public`, its length before it, and the packs,
sealed with the game's key: what somebody may not read. What is hashed and proved is the same in both. Behind `a` stands
the hash of a record that is in the archive (`archive.py`).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, cast
from uuid import UUID

import orjson
from eventsourcing.persistence import JSONTranscoder, Mapper, StoredEvent

from domain.errors import UnknownKind, VerificationError, WrongKey
from domain.kernel.records.record import KINDS, Record, Text
from domain.kernel.schema.canonical_json import canonical, digest
from domain.types import Doc, Json

SCHEMAS: Mapping[str, int] = dict.fromkeys(KINDS, 1)
"""Kind -> number of the form in which it is written."""

Upcast = Callable[[Doc], Doc]

UPCASTS: Mapping[str, Upcast] = {}
"""Topic of an old form -> pure function from its document `{"packs", "public"}` to that of the next number."""

_PLAIN, _ZLIB = b"j", b"z"
_SEALED = b"s"
_SIZE = 4
_STEP = 128  # sealed packs have lengths of so many bytes: compressed, they would tell how much is said
# A record is too short for codes of its own: with the fixed ones it is a quarter longer and read in half the time. The
# window is so small that none of the system's memory is asked for and given back each time.
_ZIP = (6, zlib.DEFLATED, 13, 6, zlib.Z_FIXED)


name_of: Callable[[object], str] = lru_cache(4096)(str)
"""Of a game: writing one out takes longer than reading its row."""


class Sealing(Protocol):
    """What keeps packs from who has no key."""

    def seal(self, game: str, about: str, plain: bytes) -> bytes:
        """The bytes, for that game and that use alone."""

    def open(self, game: str, about: str, sealed: bytes) -> bytes:
        """What was sealed; raises WrongKey, and ValueError for bytes that were altered."""


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

    def __init__(
        self,
        schemas: Mapping[str, int] = SCHEMAS,
        upcasts: Mapping[str, Upcast] = UPCASTS,
        keys: Sealing | None = None,
    ) -> None:
        """Raises ValueError unless every old form has its upcast, and no other. Without keys nothing is sealed."""
        super().__init__(JSONTranscoder())
        self._keys = keys
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
        state = self._state(str(domain_event.originator_id), record)
        return StoredEvent(domain_event.originator_id, record.version, topic, state)

    def _state(self, game: str, record: Record) -> bytes:
        if self._keys is None or not record.packs:
            return pack({"public": record.public, "packs": record.packs})
        public, packs = _sized(pack(record.public)), _sized(pack(record.packs))
        sealed = self._keys.seal(game, _about(record.version), packs + bytes(-len(packs) % _STEP))
        return _SEALED + public + sealed

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """A Filed record; raises UnknownKind, and VerificationError `unreadable` for bytes that are no record."""
        return Filed(cast(UUID, stored_event.originator_id), self.record(stored_event))

    def hash(self, stored: StoredEvent) -> str:
        """The record's hash, without its packs where they are sealed; raises as `to_domain_event`."""
        if not _is_sealed(stored):
            return self.record(stored).hash
        kind, _ = self._form(stored)
        try:
            written = plain(_split(stored.state, 1)[0])
            public = orjson.loads(written)
        except (ValueError, TypeError) as e:
            raise VerificationError("unreadable", stored.originator_version, str(e)) from e
        _check(stored, kind, public)
        return hashlib.sha256(written).hexdigest()

    def _form(self, stored: StoredEvent) -> tuple[str, int]:
        """Kind and number of the form; raises UnknownKind."""
        if stored.topic not in self._readable:
            raise UnknownKind(stored.topic)
        return self._readable[stored.topic]

    def record(self, stored: StoredEvent) -> Record:
        """The record, in today's form whatever the form it was written in; raises as `to_domain_event`."""
        kind, number = self._form(stored)
        current = stored.topic == self._written[kind]
        if current and _is_sealed(stored):
            return self._read(stored, kind)
        public, packs = self._parts(stored)
        if current:
            _check(stored, kind, public)
            return Record(public, packs)
        doc: Doc = {"public": public, "packs": packs}
        hashed = digest(public)  # the chain goes over what was written: the next record names the hash of the old form
        while (topic := f"game.{kind}@{number}") != self._written[kind]:
            doc = self._upcasts[topic](doc)
            number += 1
        _check(stored, kind, doc["public"])
        record = Record(doc["public"], doc["packs"])
        record.__dict__["hash"] = hashed
        return record

    def _read(self, stored: StoredEvent, kind: str) -> Record:
        """One of today's form whose packs are sealed: most of what it says is read when it is asked for."""
        try:
            record = Record.of(*self._opened(stored))
        except (ValueError, TypeError) as e:
            raise VerificationError("unreadable", stored.originator_version, str(e)) from e
        _check_place(stored, kind, record.head.v, record.head.kind)
        return record

    def written(self, stored: StoredEvent) -> tuple[bytes, bytes]:
        """Public part and packs as canonical JSON, in the form in which they were written; raises as `record`."""
        public, packs = self._parts(stored)
        try:
            return canonical(public), canonical(packs)
        except TypeError as e:
            raise VerificationError("unreadable", stored.originator_version, str(e)) from e

    def _parts(self, stored: StoredEvent) -> tuple[Doc, Doc]:
        """Public part and packs."""
        try:
            if _is_sealed(stored):
                public, packs = map(orjson.loads, self._opened(stored))
            else:
                public, packs = _halves(unpack(stored.state))
        except (ValueError, TypeError) as e:  # a store that was damaged may give something else than bytes
            raise VerificationError("unreadable", stored.originator_version, str(e)) from e
        if not (_is_doc(public) and _is_doc(packs)):
            raise VerificationError("unreadable", stored.originator_version, "not a record")
        return public, packs

    def _opened(self, stored: StoredEvent) -> Text:
        """Raises WrongKey and ValueError."""
        if self._keys is None:
            raise WrongKey("the packs of this ledger are sealed, and no key is given")
        public, sealed = _split(stored.state, 1)
        packs, _ = _split(self._keys.open(name_of(stored.originator_id), _about(stored.originator_version), sealed))
        return plain(public), plain(packs)


def _check(stored: StoredEvent, kind: str, public: Json) -> None:
    if not _is_doc(public):
        raise VerificationError("unreadable", stored.originator_version, "not a record")
    _check_place(stored, kind, public.get("v"), public.get("kind"))


def _check_place(stored: StoredEvent, kind: str, version: Json, named: Json) -> None:
    if version != stored.originator_version or named != kind:
        raise VerificationError("unreadable", stored.originator_version, "another record stands in its place")


def _is_sealed(stored: StoredEvent) -> bool:
    state: object = stored.state  # a store that was damaged may give something else than bytes
    return isinstance(state, bytes) and state[:1] == _SEALED


def _is_doc(part: Json) -> bool:
    return type(part) is dict


def _about(version: int) -> str:
    return f"packs|{version}"


def _sized(part: bytes) -> bytes:
    return len(part).to_bytes(_SIZE, "big") + part


def _split(parts: bytes, at: int = 0) -> tuple[bytes, bytes]:
    """The part whose length stands there, and what comes after it."""
    begin = at + _SIZE
    end = begin + int.from_bytes(parts[at:begin], "big")
    return parts[begin:end], parts[end:]


def _halves(doc: Json) -> tuple[Json, Json]:
    """Public part and packs of a document that is plain; raises ValueError."""
    if not (_is_doc(doc) and doc.keys() == {"public", "packs"}):
        raise ValueError("not a record")
    return doc["public"], doc["packs"]


def pack(doc: Json) -> bytes:
    """Canonical JSON behind its marker byte, compressed if that is shorter."""
    plain = canonical(doc)
    writer = zlib.compressobj(*_ZIP)
    small = writer.compress(plain) + writer.flush()
    return _ZLIB + small if len(small) < len(plain) else _PLAIN + plain


def plain_state(public: bytes, packs: bytes) -> bytes:
    """The state of a record of which both parts are given as canonical JSON."""
    return _PLAIN + b'{"packs":' + packs + b',"public":' + public + b"}"


def unpack(state: bytes) -> Json:
    """The document of a stored state; raises ValueError for bytes that `pack` cannot have made."""
    return orjson.loads(plain(state))


def plain(state: bytes) -> bytes:
    """Its canonical JSON; raises ValueError likewise."""
    marker = state[:1]
    if marker == _PLAIN:
        return state[1:]
    if marker != _ZLIB:
        raise ValueError(f"no such marker: {marker!r}")
    try:
        return zlib.decompress(state[1:])
    except zlib.error as e:
        raise ValueError(str(e)) from e
