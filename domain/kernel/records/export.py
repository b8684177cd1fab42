"""Exports: a game as JSON lines, a header followed by one record per line, for one viewer.

Header: `{"annals": 1, "game", "ruleset", "records", "viewer"}`, and `damaged`, the version of the first withheld
record, if the game has further records with a corrupt one among them. A record: `{"public", "packs"}` with the packs
readable by the viewer; once the game is closed everybody may read all. The last line repeats the number of records
and the hash of the last one, the head: `{"head", "records"}`. Files written before that line was added lack it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from domain.errors import VerificationError
from domain.kernel.records.audience import may_read
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.schema.canonical_json import canonical
from domain.types import DIRECTOR, MAX_ITEMS, PUBLIC, Doc, Json, Viewer

FORMAT = 1


@dataclass(frozen=True)
class Export:
    """Content of an export file, nothing of it proved yet."""

    game: str
    ruleset: str
    viewer: Viewer
    records: tuple[Record, ...]
    damaged: bool = False
    """The game has further records, withheld because of corruption."""

    @property
    def is_complete(self) -> bool:
        """Return whether all packs should be present."""
        return self.viewer == DIRECTOR or self.records[-1].kind == "closed"


def dump(records: Sequence[Record], viewer: Viewer = PUBLIC) -> bytes:
    """Return the export of a game with at least its first record."""
    return b"".join(lines(records[0], records[-1], records, viewer))


def lines(
    first: Record, last: Record, records: Iterable[Record], viewer: Viewer = PUBLIC, *, damaged: bool = False
) -> Iterator[bytes]:
    """Yield the export line by line; `records` are all from the first to the last."""
    closed, body = last.kind == "closed", first.body
    header: Doc = {"annals": FORMAT, "game": body["game"], "ruleset": body["ruleset"], "records": last.version}
    if damaged:
        header["damaged"] = last.version + 1
    yield canonical(header | {"viewer": PUBLIC if closed else str(viewer)}) + b"\n"
    reader = DIRECTOR if closed else viewer
    for r in records:
        yield canonical({"public": r.public, "packs": visible_packs(r, reader)}) + b"\n"
    yield canonical({"head": last.hash, "records": last.version}) + b"\n"


def _reject_repeated_keys(pairs: list[tuple[str, Json]]) -> Doc:
    doc = dict(pairs)
    if len(doc) != len(pairs):
        raise ValueError("a key comes twice")
    return doc


def _parse_line(raw: bytes, number: int) -> Json:
    """Parse one line; it must be canonical, so no two files have the same content."""
    try:
        doc = json.loads(raw, object_pairs_hook=_reject_repeated_keys)
        sound = isinstance(doc, dict) and canonical(doc) == raw
    except (ValueError, TypeError, RecursionError):
        doc, sound = None, False
    if not sound:
        raise VerificationError("unreadable", max(number - 1, 0), "not a canonical JSON object")
    return doc


def _parse_record(doc: Json, number: int) -> Record:
    public, packs = doc.get("public"), doc.get("packs")
    sound = set(doc) == {"public", "packs"} and isinstance(public, dict) and isinstance(packs, dict)
    if not sound or public.get("v") != number or not all(isinstance(p, dict) for p in packs.values()):
        raise VerificationError("version_gap", number, "a record with this version is expected here")
    return Record(public, packs)


def _parse_viewer(text: Json, seats: Json) -> Viewer | None:
    """Return the viewer named by a header, or None for an impossible one."""
    if text in (PUBLIC, DIRECTOR):
        return str(text)
    seat_names = [str(s) for s in range(seats)] if type(seats) is int and 0 < seats < MAX_ITEMS else []
    return int(text) if text in seat_names else None


def _check_trailer(trailer: Doc, records: Sequence[Record]) -> None:
    if trailer.get("head") != records[-1].hash:
        raise VerificationError("chain_broken", len(records), "the last line names another head")
    if canonical(trailer) != canonical({"head": records[-1].hash, "records": len(records)}):
        raise VerificationError("cut_off", len(records), "the last line does not fit the records before it")


def parse(data: bytes) -> Export:
    """Parse an export file.

    Raise VerificationError `unreadable`, `version_gap`, `cut_off`, `header_mismatch`, or `chain_broken` for a last line
    with another head.
    """
    raw = data.split(b"\n")
    if raw.pop() != b"" or len(raw) < 2:
        raise VerificationError("cut_off", max(len(raw) - 1, 0), "the file does not end with a whole record")
    head, *lines = (_parse_line(text, number) for number, text in enumerate(raw))
    trailer = lines.pop() if len(lines) > 1 and "head" in lines[-1] else None
    records = tuple(_parse_record(doc, number) for number, doc in enumerate(lines, 1))
    body = records[0].body
    viewer = _parse_viewer(head.get("viewer"), body.get("seats"))
    expected = {"annals": FORMAT, "game": body.get("game"), "ruleset": body.get("ruleset"), "records": len(records)}
    damaged = "damaged" in head
    if damaged:
        expected["damaged"] = len(records) + 1
    if head.get("records") != len(records):
        raise VerificationError("cut_off", len(records), f"{head.get('records')} records are announced")
    if viewer is None or canonical(head) != canonical({**expected, "viewer": str(viewer)}):
        raise VerificationError("header_mismatch", 0, "the header does not fit the first record")
    if trailer is not None:
        _check_trailer(trailer, records)
    export = Export(str(body["game"]), str(body["ruleset"]), viewer, records, damaged)
    foreign = [r.version for r in records for k in r.packs if not export.is_complete and not may_read(k, viewer)]
    if foreign:
        raise VerificationError("header_mismatch", foreign[0], "a pack that the viewer may not read")
    return export
