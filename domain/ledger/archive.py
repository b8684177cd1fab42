"""Records of closed games in compressed chunks; the log keeps a stub of each, with its name and hash.

Positions, versions and lookups stay the same, only the contents of a record are read from the archive. A chunk holds
the public parts of some records of a game, one line each, compressed, and their packs likewise, sealed with the game's
key. Each line is the canonical JSON of the original record.
"""

from __future__ import annotations

import hashlib
import lzma
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from cachetools import LRUCache
from eventsourcing.persistence import StoredEvent

from domain.errors import VerificationError, WrongKey
from domain.kernel.records.record import Record
from domain.ledger.mapper import PackCipher, plain_state
from domain.service.database import Row
from domain.tournaments.records import FINAL_KINDS

CHUNK_RECORDS = 64
"""Records of a chunk at most."""

CHUNK_BYTES = 2**18
"""Size of its lines at which a chunk is complete."""

CACHE_BYTES = 2**23
"""Size of the cached lines of a process: a reader of the log goes through many games in turn.

The row of a chunk is read each time all the same, to find bytes that have changed.
"""

INSERT = "INSERT INTO archive (game, first_version, last_version, piece) VALUES (?, ?, ?, ?)"
_FIND = """
SELECT first_version, last_version, piece FROM archive WHERE game = ? AND first_version <= ?
ORDER BY first_version DESC LIMIT 1"""
_HOLDS = "SELECT 1 FROM archive WHERE game = ? LIMIT 1"

_STUB = b"a"
_NAMED = 33  # the marker and the hash of the record
_OPEN, _SEALED = b"j", b"s"
_SIZE = 4
# The dictionary has the size of the largest usual chunks: a larger one would only cost memory.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2**20}]

Event = TypeVar("Event", bound=StoredEvent)

Run = Callable[[str, Sequence[object]], list[Row]]


class RecordLine(NamedTuple):
    """The public part and the packs of a record, as canonical JSON."""

    public: bytes
    packs: bytes


@dataclass(frozen=True)
class ArchiveChunk:
    """A stored chunk of records of one game."""

    first: int
    last: int
    data: bytes


def stub(hashed: str) -> bytes:
    """Return the log's stub of an archived record with that hash (64 hex digits)."""
    return _STUB + bytes.fromhex(hashed)


def is_stub(state: object) -> bool:
    """Return whether a record is archived; a restored one has its bytes behind the stub."""
    return isinstance(state, bytes) and state[:1] == _STUB and len(state) >= _NAMED


def check_closed_game(records: Sequence[Record], leaves: Mapping[int, str]) -> None:
    """Check that the records are a closed game or tournament: chained, with the given hashes and their sealed packs.

    Raises ValueError for a game that is not closed, VerificationError for a wrong record.
    """
    if not records or records[-1].kind not in ("closed", *FINAL_KINDS):
        raise ValueError("only a closed game is archived")
    prev = ""
    for record in records:
        if record.hash != leaves.get(record.version):
            raise VerificationError("record_mismatch", record.version, "the tree has another")
        if record.public.get("prev") != prev:
            raise VerificationError("chain_broken", record.version)
        if not record.has_valid_seals:
            raise VerificationError("pack_changed", record.version, "its packs are not those that were sealed")
        prev = record.hash


class Archive:
    """Writes and reads chunks; safe with threads. Without keys packs are stored unsealed."""

    def __init__(self, keys: PackCipher | None, run: Run) -> None:
        self._keys, self._run = keys, run
        self.reset()

    def reset(self) -> None:
        """Forget cached chunks, and the lock, since its thread may be missing after a fork."""
        self._lock = threading.Lock()
        self._read: LRUCache[tuple[str, int], tuple[Row, list[RecordLine]]] = LRUCache(
            CACHE_BYTES, lambda kept: _size(kept[1])
        )

    def has_game(self, game: str) -> bool:
        """Return whether the archive has chunks of a game."""
        return bool(self._run(_HOLDS, (game,)))

    def restore_row(self, event: Event) -> Event:
        """Return a row of the log with the contents of its record, from the archive if necessary.

        Raises VerificationError `unreadable` if the archived record cannot be read or differs, and WrongKey.
        """
        if not is_stub(event.state):
            return event
        if len(event.state) > _NAMED:
            return replace(event, state=event.state[_NAMED:])
        line = self._find_line(str(event.originator_id), event.originator_version)
        if hashlib.sha256(line.public).digest() != event.state[1:]:
            raise _unreadable_error(event.originator_version, "another record stands in its piece")
        return replace(event, state=plain_state(*line))

    # --- making

    def make_chunks(self, game: str, lines: Sequence[RecordLine]) -> Iterator[ArchiveChunk]:
        """Yield the chunks of a whole game; raise VerificationError if a chunk does not give back its lines."""
        first, size = 0, 0
        for end, line in enumerate(lines, 1):
            size += len(line.public) + len(line.packs)
            if end - first == CHUNK_RECORDS or size >= CHUNK_BYTES or end == len(lines):
                yield self._make_chunk(game, first + 1, list(lines[first:end]))
                first, size = end, 0

    def _make_chunk(self, game: str, first: int, lines: list[RecordLine]) -> ArchiveChunk:
        public, packs = (_compress(b"\n".join(part)) for part in zip(*lines, strict=True))
        kind = _OPEN if self._keys is None else _SEALED
        rest = packs if self._keys is None else self._keys.seal(game, _chunk_label(first), packs)
        chunk = ArchiveChunk(first, first + len(lines) - 1, kind + len(public).to_bytes(_SIZE, "big") + public + rest)
        if self._parse_chunk(game, first, chunk.last, chunk.data) != lines:
            raise _unreadable_error(first, "it does not come back from its piece")
        return chunk

    # --- reading

    def _find_line(self, game: str, version: int) -> RecordLine:
        rows = self._run(_FIND, (game, version))
        if not rows or not isinstance(rows[0][1], int) or rows[0][1] < version:
            raise _unreadable_error(version, "its piece is gone")
        first, last, data = row = rows[0]
        with self._lock:
            cached, lines = self._read.get((game, first), ((), []))
        if cached != row:  # the cached lines are valid for the same row only: a disk may change it
            try:
                lines = self._parse_chunk(game, first, last, memoryview(data).tobytes())
            except (lzma.LZMAError, ValueError, TypeError) as error:
                raise _unreadable_error(version, str(error)) from error
            self._remember((game, first), row, lines)
        place: int = version - first
        return lines[place]

    def _remember(self, key: tuple[str, int], row: Row, lines: list[RecordLine]) -> None:
        if _size(lines) <= CACHE_BYTES:
            with self._lock:
                self._read[key] = row, lines

    def _parse_chunk(self, game: str, first: int, last: int, data: bytes) -> list[RecordLine]:
        """Return the lines of a chunk; raise WrongKey, LZMAError or ValueError."""
        kind, end = data[:1], 1 + _SIZE + int.from_bytes(data[1 : 1 + _SIZE], "big")
        public, packs = data[1 + _SIZE : end], data[end:]
        if kind == _SEALED:
            if self._keys is None:
                raise WrongKey("the packs of this ledger are sealed, and no key is given")
            packs = self._keys.open(game, _chunk_label(first), packs)
        elif kind != _OPEN:
            raise ValueError(f"no such marker: {kind!r}")
        lines = [RecordLine(*pair) for pair in zip(_decompress(public), _decompress(packs), strict=True)]
        if len(lines) != last - first + 1:
            raise ValueError("a piece with other records than it says")
        return lines


def _chunk_label(first: int) -> str:
    return f"archive|{first}"


def _size(lines: list[RecordLine]) -> int:
    return sum(len(line.public) + len(line.packs) for line in lines)


def _compress(part: bytes) -> bytes:
    return lzma.compress(part, check=lzma.CHECK_CRC64, filters=_FILTERS)


def _decompress(part: bytes) -> list[bytes]:
    return lzma.decompress(part, format=lzma.FORMAT_XZ).split(b"\n")


def _unreadable_error(version: int, why: str) -> VerificationError:
    return VerificationError("unreadable", version, why)
