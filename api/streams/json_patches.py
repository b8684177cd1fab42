"""Boards told by what has changed: JSON merge patches (RFC 7396) from one version to another."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import orjson

from domain.kernel.schema.json_codec import difference, merge_patch
from domain.types import Doc


@dataclass(frozen=True)
class Sent:
    """A board that was sent; kept small, since there is one for each view."""

    version: int
    _packed: bytes = field(repr=False)

    @classmethod
    def of(cls, version: int, doc: bytes) -> Sent:
        """This one."""
        return cls(version, zlib.compress(doc, 1))

    def patch(self, version: int, doc: bytes) -> Doc | None:
        """What makes that board of this one; None where no patch can, or it would save nothing."""
        before, after = orjson.loads(zlib.decompress(self._packed)), orjson.loads(doc)
        found = difference(before, after)
        if _canonical(merge_patch(before, found)) != _canonical(after) or len(orjson.dumps(found)) * 2 > len(doc):
            return None
        return {"from": self.version, "version": version, "patch": found}


def _canonical(doc: Doc) -> bytes:
    return orjson.dumps(doc, option=orjson.OPT_SORT_KEYS)
