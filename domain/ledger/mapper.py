"""Conversion of records to rows of the library and back: the topic is a word of an allow-list, the state is JSON.

A topic is `game.<kind>@<schema>`, or `<kind>@<schema>` for the kinds of tournaments; nothing that was read is ever
imported or unpickled. The state is a marker byte and canonical JSON: `j` plain, `z` compressed if shorter, which the
padding of packs makes nearly certain. It is the JSON of `{"packs", "public"}`, or, after `s`, the length and the JSON
of `public` and then the packs, sealed with the game's key. Hashes and proofs are the same for both. After `a` comes the
hash of an archived record (`archive.py`).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, cast
from uuid import UUID

import msgspec
from eventsourcing.persistence import JSONTranscoder, Mapper, StoredEvent

from domain.errors import UnknownKind, VerificationError, WrongKey
from domain.kernel.records.record import KINDS, Record, RecordText
from domain.kernel.schema.canonical_json import canonical, digest
from domain.tournaments import records as tournament_records
from domain.types import Doc, Json, is_tournament_id

SCHEMAS: Mapping[str, int] = dict.fromkeys((*KINDS, *tournament_records.KINDS), 1)
"""Number of the current form of each kind."""

Upcast = Callable[[Doc], Doc]

UPCASTS: Mapping[str, Upcast] = {}
"""Pure function by topic of an old form: from its document `{"packs", "public"}` to the next form's."""

_PLAIN, _ZLIB = b"j", b"z"
_SEALED = b"s"
_SIZE = 4
_STEP = 128  # sealed packs are padded to multiples of it: their compressed size would reveal their contents
# Records are too short for Huffman codes of their own: fixed codes are a quarter longer and read in half the time. The
# small window avoids an allocation from the system for each record.
_ZIP = (6, zlib.DEFLATED, 13, 6, zlib.Z_FIXED)


game_name: Callable[[object], str] = lru_cache(4096)(str)
"""Return the text of a game's UUID, cached: formatting takes longer than reading a row."""


class PackCipher(Protocol):
    """Encryption of packs."""

    def seal(self, game: str, about: str, plain: bytes) -> bytes:
        """Return the bytes encrypted for one game and one use."""

    def open(self, game: str, about: str, sealed: bytes) -> bytes:
        """Return sealed bytes; raise WrongKey, or ValueError if they were altered."""


@dataclass(frozen=True)
class StoredRecord:
    """A record with its game: a domain event in the library's words."""

    originator_id: UUID
    record: Record

    @property
    def originator_version(self) -> int:
        """The record's version."""
        return self.record.version


class RecordMapper(Mapper[UUID]):
    """Replaces the library's mapper, whose topics are Python paths that it imports when reading."""

    def __init__(
        self,
        schemas: Mapping[str, int] = SCHEMAS,
        upcasts: Mapping[str, Upcast] = UPCASTS,
        keys: PackCipher | None = None,
    ) -> None:
        """Raise ValueError unless exactly the old forms have upcasts. Without keys packs are not sealed."""
        super().__init__(JSONTranscoder())
        self._keys = keys
        old = {_topic_of(kind, n) for kind, top in schemas.items() for n in range(1, top)}
        if old != upcasts.keys():
            raise ValueError(f"upcasts are missing or too many: {sorted(old ^ upcasts.keys())}")
        self._upcasts = upcasts
        self._topics = {kind: _topic_of(kind, n) for kind, n in schemas.items()}
        self._readable = {_topic_of(kind, n): (kind, n) for kind, top in schemas.items() for n in range(1, top + 1)}

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        """Return the row of a StoredRecord; raise UnknownKind."""
        record: Record = domain_event.record
        topic = self._topics.get(record.kind)
        if topic is None or not _fits_family(str(domain_event.originator_id), record.kind):
            raise UnknownKind(record.kind)
        state = self._build_state(str(domain_event.originator_id), record)
        return StoredEvent(domain_event.originator_id, record.version, topic, state)

    def _build_state(self, game: str, record: Record) -> bytes:
        if self._keys is None or not record.packs:
            return pack({"public": record.public, "packs": record.packs})
        public, packs = _with_length(pack(record.public)), _with_length(pack(record.packs))
        sealed = self._keys.seal(game, _pack_label(record.version), packs + bytes(-len(packs) % _STEP))
        return _SEALED + public + sealed

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """Return the StoredRecord of a row; raise UnknownKind, or VerificationError `unreadable` for other bytes."""
        return StoredRecord(cast(UUID, stored_event.originator_id), self.record(stored_event))

    def hash(self, stored: StoredEvent) -> str:
        """Return a record's hash without opening sealed packs; raise like `to_domain_event`."""
        if not _is_sealed(stored):
            return self.record(stored).hash
        kind, _ = self._parse_topic(stored)
        try:
            text = decode_state(_split_first(stored.state, 1)[0])
            public = msgspec.json.decode(text)
        except (ValueError, TypeError, RecursionError) as e:
            raise VerificationError("unreadable", stored.originator_version, str(e)) from e
        _check_public(stored, kind, public)
        return hashlib.sha256(text).hexdigest()

    def _parse_topic(self, stored: StoredEvent) -> tuple[str, int]:
        """Return kind and number of a row's form; raise UnknownKind."""
        if stored.topic not in self._readable:
            raise UnknownKind(stored.topic)
        kind, number = self._readable[stored.topic]
        if not _fits_family(game_name(stored.originator_id), kind):
            raise VerificationError("unreadable", stored.originator_version, "another record stands in its place")
        return kind, number

    def record(self, stored: StoredEvent) -> Record:
        """Return a row's record, converted to the current form; raise like `to_domain_event`."""
        kind, number = self._parse_topic(stored)
        current = stored.topic == self._topics[kind]
        if current and _is_sealed(stored):
            return self._read_sealed(stored, kind)
        public, packs = self._read_parts(stored)
        if current:
            _check_public(stored, kind, public)
            return Record(public, packs)
        doc: Doc = {"public": public, "packs": packs}
        hashed = digest(public)  # the chain hashes stored bytes: the next record names the hash of the old form
        while (topic := _topic_of(kind, number)) != self._topics[kind]:
            doc = self._upcasts[topic](doc)
            number += 1
        _check_public(stored, kind, doc["public"])
        record = Record(doc["public"], doc["packs"])
        record.__dict__["hash"] = hashed
        return record

    def _read_sealed(self, stored: StoredEvent, kind: str) -> Record:
        """Return a record of the current form with sealed packs; most parts are parsed on first use."""
        try:
            record = Record.from_json(*self._open_parts(stored))
        except (ValueError, TypeError, RecursionError) as e:
            raise VerificationError("unreadable", stored.originator_version, str(e)) from e
        _check_place(stored, kind, record.head.v, record.head.kind)
        return record

    def canonical_parts(self, stored: StoredEvent) -> tuple[bytes, bytes]:
        """Return public part and packs as canonical JSON, in the form of the row; raise like `record`."""
        public, packs = self._read_parts(stored)
        try:
            return canonical(public), canonical(packs)
        except TypeError as e:
            raise VerificationError("unreadable", stored.originator_version, str(e)) from e

    def _read_parts(self, stored: StoredEvent) -> tuple[Doc, Doc]:
        """Return public part and packs."""
        try:
            if _is_sealed(stored):
                public, packs = map(msgspec.json.decode, self._open_parts(stored))
            else:
                public, packs = _split_plain(unpack(stored.state))
        except (ValueError, TypeError, RecursionError) as e:  # a damaged store may give something else than bytes
            raise VerificationError("unreadable", stored.originator_version, str(e)) from e
        if not (_is_doc(public) and _is_doc(packs)):
            raise VerificationError("unreadable", stored.originator_version, "not a record")
        return public, packs

    def _open_parts(self, stored: StoredEvent) -> RecordText:
        """Return public part and packs as JSON texts; raise WrongKey or ValueError."""
        if self._keys is None:
            raise WrongKey("the packs of this ledger are sealed, and no key is given")
        public, sealed = _split_first(stored.state, 1)
        packs, _ = _split_first(
            self._keys.open(game_name(stored.originator_id), _pack_label(stored.originator_version), sealed)
        )
        return decode_state(public), decode_state(packs)


def _topic_of(kind: str, number: int) -> str:
    return f"{kind}@{number}" if kind.startswith(tournament_records.FAMILY) else f"game.{kind}@{number}"


def _fits_family(originator: str, kind: str) -> bool:
    """Return whether a record of that kind may belong to this game or tournament."""
    return is_tournament_id(originator) == kind.startswith(tournament_records.FAMILY)


def _check_public(stored: StoredEvent, kind: str, public: Json) -> None:
    if not _is_doc(public):
        raise VerificationError("unreadable", stored.originator_version, "not a record")
    _check_place(stored, kind, public.get("v"), public.get("kind"))


def _check_place(stored: StoredEvent, kind: str, version: Json, kind_read: Json) -> None:
    if version != stored.originator_version or kind_read != kind:
        raise VerificationError("unreadable", stored.originator_version, "another record stands in its place")


def _is_sealed(stored: StoredEvent) -> bool:
    state: object = stored.state  # a store that was damaged may give something else than bytes
    return isinstance(state, bytes) and state[:1] == _SEALED


def _is_doc(part: Json) -> bool:
    return type(part) is dict


def _pack_label(version: int) -> str:
    return f"packs|{version}"


def _with_length(part: bytes) -> bytes:
    return len(part).to_bytes(_SIZE, "big") + part


def _split_first(parts: bytes, start: int = 0) -> tuple[bytes, bytes]:
    """Return the part with a length in front of it, and the rest."""
    begin = start + _SIZE
    end = begin + int.from_bytes(parts[start:begin], "big")
    return parts[begin:end], parts[end:]


def _split_plain(doc: Json) -> tuple[Json, Json]:
    """Return public part and packs of an unsealed document; raise ValueError."""
    if not (_is_doc(doc) and doc.keys() == {"public", "packs"}):
        raise ValueError("not a record")
    return doc["public"], doc["packs"]


def pack(doc: Json) -> bytes:
    """Return canonical JSON after its marker byte, compressed if shorter."""
    plain = canonical(doc)
    writer = zlib.compressobj(*_ZIP)
    small = writer.compress(plain) + writer.flush()
    return _ZLIB + small if len(small) < len(plain) else _PLAIN + plain


def plain_state(public: bytes, packs: bytes) -> bytes:
    """Return the state of a record from both parts as canonical JSON."""
    return _PLAIN + b'{"packs":' + packs + b',"public":' + public + b"}"


def unpack(state: bytes) -> Json:
    """Return the document of a state; raise ValueError for bytes that `pack` cannot have made."""
    return msgspec.json.decode(decode_state(state))


def decode_state(state: bytes) -> bytes:
    """Return the canonical JSON of a state; raise ValueError like `unpack`."""
    marker = state[:1]
    if marker == _PLAIN:
        return state[1:]
    if marker != _ZLIB:
        raise ValueError(f"no such marker: {marker!r}")
    try:
        return zlib.decompress(state[1:])
    except zlib.error as e:
        raise ValueError(str(e)) from e
