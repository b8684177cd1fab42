"""Board changes as JSON merge patches (RFC 7396) between two versions."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import msgspec

from domain.kernel.schema.json_codec import make_merge_patch, merge_patch
from domain.types import Doc, Json


@dataclass(frozen=True)
class SentBoard:
    """The last board sent, compressed: each view keeps one."""

    version: int
    _packed: bytes = field(repr=False)

    @classmethod
    def pack(cls, version: int, doc: bytes) -> SentBoard:
        """Return the board in compressed form."""
        return cls(version, zlib.compress(doc, 1))

    def patch(self, version: int, doc: bytes) -> Doc | None:
        """Return the patch to the new board, or None if no patch works or it saves too little."""
        before = msgspec.json.decode(zlib.decompress(self._packed))
        found = make_board_patch(before, msgspec.json.decode(doc), len(doc))
        return None if found is None else {"from": self.version, "version": version, "patch": found}


def make_board_patch(before: Json, after: Json, size: int) -> Doc | None:
    """Return the patch between two boards, or None if no patch works or it saves too little of `size` bytes."""
    found = make_merge_patch(before, after)
    if _canonical(merge_patch(before, found)) != _canonical(after) or len(msgspec.json.encode(found)) * 2 > size:
        return None
    return found


def _canonical(doc: Doc) -> bytes:
    return msgspec.json.encode(doc, order="sorted")
