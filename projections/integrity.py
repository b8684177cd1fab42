"""Integrity check: compares every record in the ledger with the Merkle tree.

A leaf of the tree is the hash of a record's public part, which names the digests of its packs. Records come from the
ledger and hashes from the views; published tree heads reveal a change of both. Each record must name the hash of its
predecessor; records beyond the tree are checked by that alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from sqlalchemy import Connection, bindparam, select

from domain.errors import AnnalsError, StoreDamaged, StoreUnavailable, UnknownGame, VerificationError, WrongKey
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import commitment
from domain.ledger import Ledger, LogEntry
from domain.ledger.row_keys import MOST
from domain.service.corruption import CorruptRecord, CorruptRecords
from domain.service.seed_store import SeedStore
from domain.tournaments.draw import DEFAULT_CHAIN, make_chain
from domain.types import is_tournament_id
from projections import schema
from projections.live_rows import is_live
from projections.pair_lookup import PairLookup
from projections.view_store import ViewStore

__all__ = ["CorruptRecord", "Inspector", "ScrubPlace", "check_slice", "find_corruption"]

SLICE = 500
"""Records per check."""

GAP_ALLOWANCE = 16
"""Extra entries to read around damaged pages, because positions have gaps."""

MAX_GROWTH = 1000
"""Versions that a game may be ahead of the tree. A number beyond this limit is corrupt."""

UNKNOWN_HASH = "0" * 64
"""Leaf of a record that was unreadable when the tree was built."""

UNLINKED = "does not follow the record before"
"""Fault of a record with another predecessor hash than the predecessor has."""

WRONG_HASH = "is not the one that stands in the tree"
"""Fault of a record with another hash than its leaf."""

_L = schema.leaves.c
_LEAVES = (
    select(_L.game, _L.version, _L.hash)
    .where(is_live(schema.leaves), _L.leaf >= bindparam("first"))
    .order_by(_L.leaf)
    .limit(bindparam("most"))
)
_HASHES = PairLookup(_L.game, _L.version, _L.hash)
_LIVE = select(schema.generations.c.gen).where(schema.generations.c.live)
_LEAVES_OF = select(_L.version, _L.hash).where(is_live(schema.leaves), _L.game == bindparam("of_game"))
_LEAF = select(_L.leaf).where(is_live(schema.leaves), _L.game == bindparam("of_game"), _L.version == bindparam("at"))
_BEFORE = (
    select(_L.game, _L.version)
    .where(is_live(schema.leaves), _L.leaf < bindparam("leaf"))
    .order_by(_L.leaf.desc())
    .limit(bindparam("most"))
)

log = logging.getLogger("annals.scrub")


@dataclass(frozen=True)
class ScrubPlace:
    """A log position and a number of leaves: the progress of a scrub."""

    position: int = 0
    leaf: int = 0


# --- the whole log ---------------------------------------------------------------------------------------------


def find_corruption(
    ledger: Ledger, views: ViewStore, seed_store: SeedStore | None = None
) -> Iterator[CorruptRecord | int]:
    """Yield each corrupt record, and after each slice the number of leaves checked so far."""
    place, before = ScrubPlace(), -1
    while place.leaf != before:
        before = place.leaf
        corrupt, place = check_slice(ledger, views, place, SLICE, seed_store)
        yield from corrupt
        if place.leaf != before:
            yield place.leaf


def check_slice(
    ledger: Ledger, views: ViewStore, place: ScrubPlace, most: int, seed_store: SeedStore | None = None
) -> tuple[list[CorruptRecord], ScrubPlace]:
    """Check the next `most` records; return the corrupt ones and the place after them.

    At the end of the views the place stays the same. With `seed_store`, check also the seeds of games opened in this
    slice. Raises StoreUnavailable.
    """
    with views.reading() as db:
        leaves = db.execute(_LEAVES, {"first": place.leaf, "most": most}).all()
        hashes = _with_previous_hashes(db, {(leaf.game, leaf.version): leaf.hash for leaf in leaves})
    entries = _read_entries(ledger, place.position, len(leaves))
    unmatched = {(e.game, e.version): e for e in entries}
    corrupt, position, changed = [], place.position, set[tuple[str, int]]()
    for leaf in leaves:
        entry = unmatched.pop((leaf.game, leaf.version), None)
        position = max(position, entry.position if entry else 0)
        last = (leaf.game, leaf.version - 1)
        before = "" if last in changed else hashes.get(last, "")
        fault = (
            _find_fault(_readable_record(entry), leaf.hash, before)
            if entry
            else _missing_reason(ledger, leaf.game, leaf.version)
        )
        corrupt += [CorruptRecord(leaf.game, leaf.version, fault, leaf.hash)] if fault else []
        changed |= {(leaf.game, leaf.version)} if fault == WRONG_HASH else set()  # the leaf itself may be wrong
        if entry and entry.version == 1 and seed_store and not fault:
            corrupt += _check_seed(seed_store, entry.record, entry.game)
    strangers = [e for e in unmatched.values() if e.position < position]
    corrupt += [CorruptRecord(e.game, e.version, "stands in the log and not in the tree") for e in strangers]
    return corrupt, ScrubPlace(position, place.leaf + len(leaves))


def _with_previous_hashes(db: Connection, hashes: dict[tuple[str, int], str]) -> dict[tuple[str, int], str]:
    """Add the known hashes of each record's predecessor: (game, version) -> hash."""
    before = [(game, version - 1) for game, version in hashes if version > 1 and (game, version - 1) not in hashes]
    known, gen = dict(hashes), db.execute(_LIVE).scalar_one()
    known |= {(game, version): hashed for game, version, hashed in _HASHES.fetch_all(db, gen, before)}
    return {record: hashed for record, hashed in known.items() if hashed != UNKNOWN_HASH}


def _read_entries(ledger: Ledger, position: int, most: int) -> list[LogEntry]:
    """Return the next entries, without those on unreadable pages."""
    try:
        return ledger.log(position, most) if most else []
    except StoreDamaged:
        return _skip_bad_pages(ledger, position, most + GAP_ALLOWANCE)


def _skip_bad_pages(ledger: Ledger, position: int, most: int) -> list[LogEntry]:
    """Read entry by entry across unreadable pages, then in growing steps."""
    entries: list[LogEntry] = []
    attempts, step = 0, 1
    while attempts < most:
        try:
            page = ledger.log(position, step)
        except StoreDamaged:
            attempts, position, step = attempts + (step == 1), position + (step == 1), 1
            continue
        if not page:
            break
        entries, position = entries + page, page[-1].position
        attempts, step = attempts + len(page), min(step * 2, most)
    return entries


def _missing_reason(ledger: Ledger, game: str, version: int) -> str:
    try:
        ledger.read(game, version - 1, version)
    except StoreDamaged:
        return "cannot be read"
    except VerificationError:
        pass
    return "is missing, or is not in its place"


# --- one record ------------------------------------------------------------------------------------------------


def _readable_record(entry: LogEntry) -> Record | None:
    try:
        return entry.record
    except WrongKey:
        raise
    except AnnalsError:
        return None


def _find_fault(record: Record | None, leaf: str, before: str = "") -> str:
    """Return the fault of a record, or an empty string. `before` is the predecessor's hash, empty if unknown."""
    if record is None:
        return "cannot be read"
    if record.hash != leaf:
        return WRONG_HASH
    if not record.has_valid_seals:
        return "has packs that are not those that were sealed"
    if before and record.public.get("prev") != before:
        return UNLINKED
    return ""


def _check_seed(seed_store: SeedStore, first_record: Record, game: str) -> list[CorruptRecord]:
    try:
        if is_tournament_id(game):
            terms, last = first_record.body["terms"], seed_store.seed(game)
            if make_chain(last, terms.get("chain", DEFAULT_CHAIN))[0].hex() == first_record.body["secret"]:
                return []
        elif commitment(seed_store.seed(game)) == first_record.body.get("seed_hash"):
            return []
    except (UnknownGame, WrongKey):
        pass
    return [CorruptRecord(game, 0, "has lost its seed, or has that of another")]


def missing_position(ledger: Ledger, views: ViewStore, game: str, version: int) -> int:
    """Return the log position of a missing record, computed from its neighbours in the tree; 0 if unknown."""
    with views.reading() as db:
        leaf = db.execute(_LEAF, {"of_game": game, "at": version}).scalar()
        if leaf is None:
            return 0
        before = db.execute(_BEFORE, {"leaf": leaf, "most": SLICE}).all()
    if leaf == 0:
        return 1
    for missing, neighbour in enumerate(before):
        if (position := ledger.position(neighbour.game, neighbour.version)) is not None:
            return position + missing + 1
    return 0


def list_leaf_hashes(views: ViewStore, game: str) -> dict[int, str]:
    """Return version -> hash of all records of a game in the tree."""
    with views.reading() as db:
        return {int(v): str(h) for v, h in db.execute(_LEAVES_OF, {"of_game": game})}


# --- one game --------------------------------------------------------------------------------------------------


class Inspector:
    """Checks games and stores the corrupt records that it finds. `clock` gives ms. May raise StoreUnavailable."""

    def __init__(self, ledger: Ledger, views: ViewStore, seed_store: SeedStore, clock: Callable[[], int]) -> None:
        self._ledger, self._views, self._seed_store, self._clock = ledger, views, seed_store, clock
        self._rows = CorruptRecords(ledger)

    def check_next(self, place: ScrubPlace, most: int) -> ScrubPlace:
        """Check the next records like `check_slice`, then inspect each game with a fault as a whole."""
        corrupt, place = check_slice(self._ledger, self._views, place, most, self._seed_store)
        denied = {d.game for d in corrupt if d.said == WRONG_HASH}
        for game in dict.fromkeys(d.game for d in corrupt):
            if self.inspect(game) is None and game in denied:
                log.error("%s is sound, and the tree in the views is not: `annals rebuild` makes it anew", game)
        return place

    def recheck(self) -> None:
        """Inspect all games with stored faults again, because they may have been repaired."""
        for game in dict.fromkeys(d.game for d in self._rows.list_all()):
            self.inspect(game)

    def inspect(self, game: str) -> int | None:
        """Check a game, store the result and return its first corrupt version.

        0 stands for the seed, None for a sound or unknown game.
        """
        stored = {d.version: d for d in self._rows.list_all() if d.game == game}
        corrupt = self.check_game(game)
        if {d.version: d.said for d in corrupt} != {v: d.said for v, d in stored.items()}:
            self._rows.replace(game, corrupt, self._clock())
            for d in corrupt:
                log.error("version %s of %s %s", d.version, game, d.said)
            if not corrupt:
                log.warning("%s is sound again", game)
        return min((d.version for d in corrupt), default=None)

    def check_game(self, game: str) -> list[CorruptRecord]:
        """Return the corrupt records of a game as they are now."""
        return self.compare_records(game, {d.version: d.hash for d in self._rows.list_all() if d.game == game})

    def compare_records(self, game: str, known_hashes: dict[int, str]) -> list[CorruptRecord]:
        """Return the corrupt records of a game. `known_hashes` has hashes of records that the tree may have lost."""
        leaves = list_leaf_hashes(self._views, game)
        expected = {v: h for v, h in known_hashes.items() if h} | {v: h for v, h in leaves.items() if h != UNKNOWN_HASH}
        corrupt: list[CorruptRecord] = []
        prev = ""
        for version in self._list_versions(game, leaves):
            record, fault = self._read_record(game, version)
            leaf = expected.get(version, "")
            if record:
                fault, leaf = self._check_record(game, record, fault, leaf, prev, leaves)
            else:
                fault = fault or _find_fault(record, leaf, prev)
            corrupt += [CorruptRecord(game, version, fault, leaf)] if fault else []
            prev = leaf or (record.hash if record else "")
            if version == 1 and record and not fault:
                corrupt += _check_seed(self._seed_store, record, game)
        return self._add_linked_hashes(corrupt)

    def _check_record(
        self, game: str, record: Record, fault: str, leaf: str, prev: str, leaves: Mapping[int, str]
    ) -> tuple[str, str]:
        """Return the fault of a readable record, or an empty text, and its hash as the tree should have it."""
        fault = fault or _find_fault(record, leaf or record.hash, prev)
        if fault == WRONG_HASH and self._is_linked_by_next(game, record, leaves):
            leaf, fault = record.hash, _find_fault(record, record.hash, prev)
        if not fault and not leaf and record.public.get("prev") != prev:
            fault = UNLINKED
        return fault, leaf

    def _is_linked_by_next(self, game: str, record: Record, leaves: Mapping[int, str]) -> bool:
        """Return True if the next record is proved by the tree and names this one.

        In this case the leaf is wrong and the record sound.
        """
        after, _ = self._read_record(game, record.version + 1)
        return after is not None and leaves.get(after.version) == after.hash and after.public.get("prev") == record.hash

    def _add_linked_hashes(self, corrupt: list[CorruptRecord]) -> list[CorruptRecord]:
        """Fill in missing hashes from the next records."""
        return [
            d if d.hash or not d.version else replace(d, hash=self._linked_hash(d.game, d.version)) for d in corrupt
        ]

    def _linked_hash(self, game: str, version: int) -> str:
        record, _ = self._read_record(game, version + 1)
        return str(record.public.get("prev", "")) if record else ""

    def _list_versions(self, game: str, grown: Collection[int]) -> Iterable[int]:
        """Return the versions to check: 1 to the highest plausible one, then single far-away numbers.

        A corrupt version number can have any value, so a far-away number is checked alone.
        """
        versions = {*grown, min(self._head_version(game), MOST)}
        top = max(v for v in (0, *versions) if v <= len(grown) + MAX_GROWTH)
        return chain(range(1, top + 1), sorted(v for v in versions if v > top))

    def _head_version(self, game: str) -> int:
        try:
            return self._ledger.version(game)
        except StoreDamaged:
            return 0

    def _read_record(self, game: str, version: int) -> tuple[Record | None, str]:
        try:
            records = self._ledger.read(game, version - 1, version)
            placed = not records or self._is_in_log(game, version)
        except AnnalsError as error:
            if isinstance(error, StoreUnavailable) and not isinstance(error, StoreDamaged):
                raise
            return None, "cannot be read"
        return (records[0], "") if records and placed else (None, "is missing, or is not in its place")

    def _is_in_log(self, game: str, version: int) -> bool:
        """Return True if the log has the record too. An index can be sound while its row is not."""
        position = self._ledger.position(game, version)
        entries = self._ledger.log(position - 1, 1) if position is not None else []
        return any((e.game, e.version) == (game, version) for e in entries)
