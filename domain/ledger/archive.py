"""Records of closed games in compressed pieces; in the log stays a stub of each, with its name and its hash.

So positions, versions and whatever is looked up by them stay as they are, and only what a record says is read from
elsewhere. A piece holds the public parts of some records of a game, a line each, compressed; and their packs likewise,
sealed with the game's key. The lines are the canonical JSON that was written first.
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
from domain.ledger.mapper import Sealing, plain_state
from domain.service.database import Row

MOST = 64
"""Records of a piece."""

LARGE = 2**18
"""Bytes of its lines from which on a piece takes no more records."""

KEPT = 2**23
"""Bytes of lines of the pieces that a process remembers: a reader of the log goes through many games in turn.

The row in which a piece rests is read each time all the same: the log is looked through for bytes that have changed.
"""

INSERT = "INSERT INTO archive (game, first_version, last_version, piece) VALUES (?, ?, ?, ?)"
_FIND = """
SELECT first_version, last_version, piece FROM archive WHERE game = ? AND first_version <= ?
ORDER BY first_version DESC LIMIT 1"""
_HOLDS = "SELECT 1 FROM archive WHERE game = ? LIMIT 1"

_STUB = b"a"
_NAMED = 33  # the marker, and the hash of the record
_OPEN, _SEALED = b"j", b"s"
_SIZE = 4
# A dictionary as large as the largest pieces that are usual: a larger one would only cost memory.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2**20}]

Event = TypeVar("Event", bound=StoredEvent)

Run = Callable[[str, Sequence[object]], list[Row]]


class Line(NamedTuple):
    """A record as canonical JSON: its public part, and its packs."""

    public: bytes
    packs: bytes


@dataclass(frozen=True)
class Piece:
    """Records of a game, as they rest."""

    first: int
    last: int
    data: bytes


def stub(hashed: str) -> bytes:
    """What stays of a record with that hash (64 hex digits) in the log."""
    return _STUB + bytes.fromhex(hashed)


def is_stub(state: object) -> bool:
    """Whether the record is archived; also of one that was put right since, whose bytes stand behind the stub."""
    return isinstance(state, bytes) and state[:1] == _STUB and len(state) >= _NAMED


def prove(records: Sequence[Record], leaves: Mapping[int, str]) -> None:
    """Whether they are a closed game, each the one whose hash is given, after the one before, with the packs it sealed.

    Raises ValueError for a game that is not closed, VerificationError for a record that is another.
    """
    if not records or records[-1].kind != "closed":
        raise ValueError("only a closed game is archived")
    prev = ""
    for record in records:
        if record.hash != leaves.get(record.version):
            raise VerificationError("record_mismatch", record.version, "the tree has another")
        if record.public.get("prev") != prev:
            raise VerificationError("chain_broken", record.version)
        if not record.sealed:
            raise VerificationError("pack_changed", record.version, "its packs are not those that were sealed")
        prev = record.hash


class Archive:
    """Makes pieces and reads them; safe with threads. Without keys packs rest as they are."""

    def __init__(self, keys: Sealing | None, run: Run) -> None:
        self._keys, self._run = keys, run
        self.reset()

    def reset(self) -> None:
        """Forget cached chunks, and the lock, which an absent thread may hold after a fork."""
        self._lock = threading.Lock()
        self._read: LRUCache[tuple[str, int], tuple[Row, list[Line]]] = LRUCache(KEPT, lambda kept: _bytes(kept[1]))

    def holds(self, game: str) -> bool:
        """Whether there are pieces of the game."""
        return bool(self._run(_HOLDS, (game,)))

    def whole(self, event: Event) -> Event:
        """The row of the log with what the record says, if that is elsewhere.

        Raises VerificationError `unreadable` if it cannot be read there, or is another; WrongKey.
        """
        if not is_stub(event.state):
            return event
        if len(event.state) > _NAMED:
            return replace(event, state=event.state[_NAMED:])
        line = self._line(str(event.originator_id), event.originator_version)
        if hashlib.sha256(line.public).digest() != event.state[1:]:
            raise _unreadable(event.originator_version, "another record stands in its piece")
        return replace(event, state=plain_state(*line))

    # --- making

    def pieces(self, game: str, lines: Sequence[Line]) -> Iterator[Piece]:
        """The pieces of a whole game; raises VerificationError for one that does not give back what it was made of."""
        first, size = 0, 0
        for end, line in enumerate(lines, 1):
            size += len(line.public) + len(line.packs)
            if end - first == MOST or size >= LARGE or end == len(lines):
                yield self._made(game, first + 1, list(lines[first:end]))
                first, size = end, 0

    def _made(self, game: str, first: int, lines: list[Line]) -> Piece:
        public, packs = (_compressed(b"\n".join(part)) for part in zip(*lines, strict=True))
        kind = _OPEN if self._keys is None else _SEALED
        rest = packs if self._keys is None else self._keys.seal(game, _about(first), packs)
        made = Piece(first, first + len(lines) - 1, kind + len(public).to_bytes(_SIZE, "big") + public + rest)
        if self._lines(game, first, made.last, made.data) != lines:
            raise _unreadable(first, "it does not come back from its piece")
        return made

    # --- reading

    def _line(self, game: str, version: int) -> Line:
        found = self._run(_FIND, (game, version))
        if not found or not isinstance(found[0][1], int) or found[0][1] < version:
            raise _unreadable(version, "its piece is gone")
        first, last, data = row = found[0]
        with self._lock:
            kept, lines = self._read.get((game, first), ((), []))
        if kept != row:  # what is remembered stands for the row that was read alone: a disk may change it
            try:
                lines = self._lines(game, first, last, memoryview(data).tobytes())
            except (lzma.LZMAError, ValueError, TypeError) as error:
                raise _unreadable(version, str(error)) from error
            self._keep((game, first), row, lines)
        place: int = version - first
        return lines[place]

    def _keep(self, key: tuple[str, int], row: Row, lines: list[Line]) -> None:
        if _bytes(lines) <= KEPT:
            with self._lock:
                self._read[key] = row, lines

    def _lines(self, game: str, first: int, last: int, data: bytes) -> list[Line]:
        """Raises WrongKey, LZMAError and ValueError."""
        kind, end = data[:1], 1 + _SIZE + int.from_bytes(data[1 : 1 + _SIZE], "big")
        public, packs = data[1 + _SIZE : end], data[end:]
        if kind == _SEALED:
            if self._keys is None:
                raise WrongKey("the packs of this ledger are sealed, and no key is given")
            packs = self._keys.open(game, _about(first), packs)
        elif kind != _OPEN:
            raise ValueError(f"no such marker: {kind!r}")
        lines = [Line(*pair) for pair in zip(_split(public), _split(packs), strict=True)]
        if len(lines) != last - first + 1:
            raise ValueError("a piece with other records than it says")
        return lines


def _about(first: int) -> str:
    return f"archive|{first}"


def _bytes(lines: list[Line]) -> int:
    return sum(len(line.public) + len(line.packs) for line in lines)


def _compressed(part: bytes) -> bytes:
    return lzma.compress(part, check=lzma.CHECK_CRC64, filters=_FILTERS)


def _split(part: bytes) -> list[bytes]:
    return lzma.decompress(part, format=lzma.FORMAT_XZ).split(b"\n")


def _unreadable(version: int, why: str) -> VerificationError:
    return VerificationError("unreadable", version, why)
