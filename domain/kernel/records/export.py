"""Exports: a game as JSON lines, a header and then one record a line, for one viewer.

Header: `{"annals": 1, "game", "ruleset", "records", "viewer"}`, and `damaged` where the game had further records, from
that version on, one of which was damaged. A record: `{"public", "packs"}`, where packs are those
that the viewer may read; once the game is closed everybody may read all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import orjson

from domain.errors import VerificationError
from domain.kernel.records.audience import may_read
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.schema.canonical_json import canonical
from domain.types import DIRECTOR, MAX_ITEMS, PUBLIC, Doc, Json, Viewer

FORMAT = 1


@dataclass(frozen=True)
class Export:
    """What a file says; nothing of it is proved yet."""

    game: str
    ruleset: str
    viewer: Viewer
    records: tuple[Record, ...]
    damaged: bool = False
    """Whether the game had further records, which could not be given."""

    @property
    def complete(self) -> bool:
        """Whether all packs should be there."""
        return self.viewer == DIRECTOR or self.records[-1].kind == "closed"


def dump(records: Sequence[Record], viewer: Viewer = PUBLIC) -> bytes:
    """The export of a game that has at least its first record."""
    return b"".join(lines(records[0], records[-1], records, viewer))


def lines(
    first: Record, last: Record, records: Iterable[Record], viewer: Viewer = PUBLIC, *, damaged: bool = False
) -> Iterator[bytes]:
    """The same line by line; `records` are all from the first to the last."""
    closed, body = last.kind == "closed", first.body
    header: Doc = {"annals": FORMAT, "game": body["game"], "ruleset": body["ruleset"], "records": last.version}
    if damaged:
        header["damaged"] = last.version + 1
    yield canonical(header | {"viewer": PUBLIC if closed else str(viewer)}) + b"\n"
    reader = DIRECTOR if closed else viewer
    for r in records:
        yield canonical({"public": r.public, "packs": visible_packs(r, reader)}) + b"\n"


def _unique(pairs: list[tuple[str, Json]]) -> Doc:
    doc = dict(pairs)
    if len(doc) != len(pairs):
        raise ValueError("a key comes twice")
    return doc


def _line(raw: bytes, number: int) -> Json:
    """One line; it must be canonical, so that no two files say the same."""
    try:
        doc = json.loads(raw, object_pairs_hook=_unique)
        sound = isinstance(doc, dict) and canonical(doc) == raw
    except (ValueError, RecursionError, orjson.JSONEncodeError):
        doc, sound = None, False
    if not sound:
        raise VerificationError("unreadable", max(number - 1, 0), "not a canonical JSON object")
    return doc


def _record(doc: Json, number: int) -> Record:
    public, packs = doc.get("public"), doc.get("packs")
    sound = set(doc) == {"public", "packs"} and isinstance(public, dict) and isinstance(packs, dict)
    if not sound or public.get("v") != number or not all(isinstance(p, dict) for p in packs.values()):
        raise VerificationError("version_gap", number, "a record with this version is expected here")
    return Record(public, packs)


def _viewer(text: Json, seats: Json) -> Viewer | None:
    """The viewer that a header names; None where the game has no such viewer."""
    if text in (PUBLIC, DIRECTOR):
        return str(text)
    known = [str(s) for s in range(seats)] if type(seats) is int and 0 < seats < MAX_ITEMS else []
    return int(text) if text in known else None


def parse(data: bytes) -> Export:
    """The export in a file; raises VerificationError `unreadable`, `version_gap`, `cut_off`, `header_mismatch`."""
    raw = data.split(b"\n")
    if raw.pop() != b"" or len(raw) < 2:
        raise VerificationError("cut_off", max(len(raw) - 1, 0), "the file does not end with a whole record")
    head, *lines = (_line(text, number) for number, text in enumerate(raw))
    records = tuple(_record(doc, number) for number, doc in enumerate(lines, 1))
    body = records[0].body
    viewer = _viewer(head.get("viewer"), body.get("seats"))
    said = {"annals": FORMAT, "game": body.get("game"), "ruleset": body.get("ruleset"), "records": len(records)}
    damaged = "damaged" in head
    if damaged:
        said["damaged"] = len(records) + 1
    if head.get("records") != len(records):
        raise VerificationError("cut_off", len(records), f"{head.get('records')} records are announced")
    if viewer is None or canonical(head) != canonical({**said, "viewer": str(viewer)}):
        raise VerificationError("header_mismatch", 0, "the header does not fit the first record")
    export = Export(str(body["game"]), str(body["ruleset"]), viewer, records, damaged)
    foreign = [r.version for r in records for k in r.packs if not export.complete and not may_read(k, viewer)]
    if foreign:
        raise VerificationError("header_mismatch", foreign[0], "a pack that the viewer may not read")
    return export
