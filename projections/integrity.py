"""The log against its tree: whether every record is still the one that was written, wherever the bytes have changed.

The tree holds the hash of each record's public part, which names the digests of its packs. What a record says is read
from the ledger, what it must be from the views; one who changes both is told by the heads that others keep. Each must
name the one before it, and what the tree does not hold yet is judged by that alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from sqlalchemy import Connection, bindparam, select, tuple_

from domain.errors import AnnalsError, StoreDamaged, StoreUnavailable, UnknownGame, VerificationError, WrongKey
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import commitment
from domain.ledger import MOST, Ledger, LogEntry
from domain.service.corruption import Damage, Damages
from domain.service.seed_store import Vault
from projections import schema
from projections.view_store import Views

__all__ = ["Damage", "Inspector", "Place", "damages", "look"]

SLICE = 500
"""Records that are looked at at a time."""

AT_ONCE = 500
"""Records that are asked for by name in one statement: databases take only so many parameters."""

SPARE = 16
"""Entries that are read beyond a slice where pages are damaged: positions may have gaps."""

BEYOND = 1000
"""Versions by which a game may have grown past the tree: a number that is further away has changed."""

NOBODY_KNOWS = "0" * 64
"""The leaf of a record that nobody could read when the tree was made."""

UNLINKED = "does not follow the record before"
"""What is said of a record that names another hash than that one's."""

ANOTHER = "is not the one that stands in the tree"
"""What is said of a record with another hash."""

_LIVE = schema.leaves.join(schema.generations, schema.generations.c.gen == schema.leaves.c.gen)
_LEAVES = (
    select(schema.leaves.c.game, schema.leaves.c.version, schema.leaves.c.hash)
    .select_from(_LIVE)
    .where(schema.generations.c.live, schema.leaves.c.leaf >= bindparam("first"))
    .order_by(schema.leaves.c.leaf)
    .limit(bindparam("most"))
)
_HASHES = (
    select(schema.leaves.c.game, schema.leaves.c.version, schema.leaves.c.hash)
    .select_from(_LIVE)
    .where(schema.generations.c.live)
    .where(tuple_(schema.leaves.c.game, schema.leaves.c.version).in_(bindparam("of", expanding=True)))
)
_LEAVES_OF = (
    select(schema.leaves.c.version, schema.leaves.c.hash)
    .select_from(_LIVE)
    .where(schema.generations.c.live, schema.leaves.c.game == bindparam("of_game"))
)

_LEAF = (
    select(schema.leaves.c.leaf)
    .select_from(_LIVE)
    .where(schema.generations.c.live, schema.leaves.c.game == bindparam("of_game"))
    .where(schema.leaves.c.version == bindparam("at"))
)
_BEFORE = (
    select(schema.leaves.c.game, schema.leaves.c.version)
    .select_from(_LIVE)
    .where(schema.generations.c.live, schema.leaves.c.leaf < bindparam("leaf"))
    .order_by(schema.leaves.c.leaf.desc())
    .limit(bindparam("most"))
)

log = logging.getLogger("annals.scrub")


@dataclass(frozen=True)
class Place:
    """How far the log has been looked at: a position in it, and so many leaves of the tree."""

    position: int = 0
    leaf: int = 0


# --- the whole log ---------------------------------------------------------------------------------------------


def damages(ledger: Ledger, views: Views, vault: Vault | None = None) -> Iterator[Damage | int]:
    """Each record that is damaged, and after each slice how many have been looked at; ends where the views do."""
    place, before = Place(), -1
    while place.leaf != before:
        before = place.leaf
        found, place = look(ledger, views, place, SLICE, vault)
        yield from found
        if place.leaf != before:
            yield place.leaf


def look(
    ledger: Ledger, views: Views, place: Place, most: int, vault: Vault | None = None
) -> tuple[list[Damage], Place]:
    """What is damaged in the next records, and the place after them: the same one where the views end.

    With the vault also whether the seeds of the games that are opened there open. Raises StoreUnavailable.
    """
    with views.reading() as db:
        leaves = db.execute(_LEAVES, {"first": place.leaf, "most": most}).all()
        hashes = _with_those_before(db, {(leaf.game, leaf.version): leaf.hash for leaf in leaves})
    entries = _log(ledger, place.position, len(leaves))
    where = {(e.game, e.version): e for e in entries}
    found, position, changed = [], place.position, set[tuple[str, int]]()
    for leaf in leaves:
        entry = where.pop((leaf.game, leaf.version), None)
        position = max(position, entry.position if entry else 0)
        last = (leaf.game, leaf.version - 1)
        before = "" if last in changed else hashes.get(last, "")
        said = _fault(_read(entry), leaf.hash, before) if entry else _absent(ledger, leaf.game, leaf.version)
        found += [Damage(leaf.game, leaf.version, said, leaf.hash)] if said else []
        changed |= {(leaf.game, leaf.version)} if said == ANOTHER else set()  # the leaf may have changed
        if entry and entry.version == 1 and vault and not said:
            found += _seed(vault, entry.record, entry.game)
    strangers = [e for e in where.values() if e.position < position]
    found += [Damage(e.game, e.version, "stands in the log and not in the tree") for e in strangers]
    return found, Place(position, place.leaf + len(leaves))


def _with_those_before(db: Connection, hashes: dict[tuple[str, int], str]) -> dict[tuple[str, int], str]:
    """Those that are known of these records, and of the one before each: game and version -> hash."""
    before = [(game, version - 1) for game, version in hashes if version > 1 and (game, version - 1) not in hashes]
    found = dict(hashes)
    for begin in range(0, len(before), AT_ONCE):
        rows = db.execute(_HASHES, {"of": before[begin : begin + AT_ONCE]})
        found |= {(game, version): hashed for game, version, hashed in rows}
    return {record: hashed for record, hashed in found.items() if hashed != NOBODY_KNOWS}


def _log(ledger: Ledger, position: int, most: int) -> list[LogEntry]:
    """The next entries, without those on pages that cannot be read."""
    try:
        return ledger.log(position, most) if most else []
    except StoreDamaged:
        return _around(ledger, position, most + SPARE)


def _around(ledger: Ledger, position: int, most: int) -> list[LogEntry]:
    """Position by position over what cannot be read, and in longer steps again after it."""
    found: list[LogEntry] = []
    tried, step = 0, 1
    while tried < most:
        try:
            page = ledger.log(position, step)
        except StoreDamaged:
            tried, position, step = tried + (step == 1), position + (step == 1), 1
            continue
        if not page:
            break
        found, position = found + page, page[-1].position
        tried, step = tried + len(page), min(step * 2, most)
    return found


def _absent(ledger: Ledger, game: str, version: int) -> str:
    try:
        ledger.read(game, version - 1, version)
    except StoreDamaged:
        return "cannot be read"
    except VerificationError:
        pass
    return "is missing, or is not in its place"


# --- one record ------------------------------------------------------------------------------------------------


def _read(entry: LogEntry) -> Record | None:
    try:
        return entry.record
    except WrongKey:
        raise
    except AnnalsError:
        return None


def _fault(record: Record | None, leaf: str, before: str = "") -> str:
    """`before`: the hash of the record before; empty where that is not known, or there is none."""
    if record is None:
        return "cannot be read"
    if record.hash != leaf:
        return ANOTHER
    if not record.sealed:
        return "has packs that are not those that were sealed"
    if before and record.public.get("prev") != before:
        return UNLINKED
    return ""


def _seed(vault: Vault, opened: Record, game: str) -> list[Damage]:
    try:
        if commitment(vault.seed(game)) == opened.body.get("seed_hash"):
            return []
    except (UnknownGame, WrongKey):
        pass
    return [Damage(game, 0, "has lost its seed, or has that of another")]


def vacancy(ledger: Ledger, views: Views, game: str, version: int) -> int:
    """The position at which a record that is gone has stood: the one after its neighbour in the tree; 0 if unknown."""
    with views.reading() as db:
        leaf = db.execute(_LEAF, {"of_game": game, "at": version}).scalar()
        if leaf is None:
            return 0
        before = db.execute(_BEFORE, {"leaf": leaf, "most": SLICE}).all()
    if leaf == 0:
        return 1
    for gone, neighbour in enumerate(before):
        if (position := ledger.position(neighbour.game, neighbour.version)) is not None:
            return position + gone + 1
    return 0


def leaves_of(views: Views, game: str) -> dict[int, str]:
    """Version -> hash of each record of a game that the tree holds."""
    with views.reading() as db:
        return {int(v): str(h) for v, h in db.execute(_LEAVES_OF, {"of_game": game})}


# --- one game --------------------------------------------------------------------------------------------------


class Inspector:
    """Looks at games, and writes down what it finds. `clock` gives ms; may raise StoreUnavailable."""

    def __init__(self, ledger: Ledger, views: Views, vault: Vault, clock: Callable[[], int]) -> None:
        self._ledger, self._views, self._vault, self._clock = ledger, views, vault, clock
        self._rows = Damages(ledger)

    def look(self, place: Place, most: int) -> Place:
        """The next records of the log, as `look`; games in which something is damaged are inspected as a whole."""
        found, place = look(self._ledger, self._views, place, most, self._vault)
        denied = {d.game for d in found if d.said == ANOTHER}
        for game in dict.fromkeys(d.game for d in found):
            if self.inspect(game) is None and game in denied:
                log.error("%s is sound, and the tree in the views is not: `annals rebuild` makes it anew", game)
        return place

    def again(self) -> None:
        """Games in which something was damaged: whatever has been put right, they may be sound."""
        for game in dict.fromkeys(d.game for d in self._rows.all()):
            self.inspect(game)

    def inspect(self, game: str) -> int | None:
        """The first version that is damaged, 0 for the seed, None for a game that is sound or unknown."""
        known = {d.version: d for d in self._rows.all() if d.game == game}
        found = self.found(game)
        if {d.version: d.said for d in found} != {v: d.said for v, d in known.items()}:
            self._rows.replace(game, found, self._clock())
            for d in found:
                log.error("version %s of %s %s", d.version, game, d.said)
            if not found:
                log.warning("%s is sound again", game)
        return min((d.version for d in found), default=None)

    def found(self, game: str) -> list[Damage]:
        """All that is damaged in a game, now."""
        return self.damaged(game, {d.version: d.hash for d in self._rows.all() if d.game == game})

    def damaged(self, game: str, known: dict[int, str]) -> list[Damage]:
        """All that is damaged in a game; `known`: hashes of records that the tree may have lost."""
        leaves = leaves_of(self._views, game)
        expected = {v: h for v, h in known.items() if h} | {v: h for v, h in leaves.items() if h != NOBODY_KNOWS}
        found, prev = [], ""
        for version in self._versions(game, leaves):
            record, said = self._record(game, version)
            leaf = expected.get(version, "")
            said = said or _fault(record, leaf or (record.hash if record else ""), prev)
            if record and said == ANOTHER and self._followed(game, record, leaves):
                leaf, said = record.hash, _fault(record, record.hash, prev)
            if record and not said and not leaf and record.public.get("prev") != prev:
                said = UNLINKED
            found += [Damage(game, version, said, leaf)] if said else []
            prev = leaf or (record.hash if record else "")
            if version == 1 and record and not said:
                found += _seed(self._vault, record, game)
        return self._with_hashes(found)

    def _followed(self, game: str, record: Record, leaves: Mapping[int, str]) -> bool:
        """Whether the next record, which the tree proves, names this one: then the tree has changed, not the record."""
        after, _ = self._record(game, record.version + 1)
        return after is not None and leaves.get(after.version) == after.hash and after.public.get("prev") == record.hash

    def _with_hashes(self, found: list[Damage]) -> list[Damage]:
        """What the tree has not of a record, the next one names."""
        return [d if d.hash or not d.version else replace(d, hash=self._named(d.game, d.version)) for d in found]

    def _named(self, game: str, version: int) -> str:
        record, _ = self._record(game, version + 1)
        return str(record.public.get("prev", "")) if record else ""

    def _versions(self, game: str, grown: Collection[int]) -> Iterable[int]:
        """Those that there must be, and those that the tree or the log has.

        A number that has changed may be any: of one that is far away only itself is looked at.
        """
        there = {*grown, min(self._head(game), MOST)}
        top = max(v for v in (0, *there) if v <= len(grown) + BEYOND)
        return chain(range(1, top + 1), sorted(v for v in there if v > top))

    def _head(self, game: str) -> int:
        try:
            return self._ledger.version(game)
        except StoreDamaged:
            return 0

    def _record(self, game: str, version: int) -> tuple[Record | None, str]:
        try:
            found = self._ledger.read(game, version - 1, version)
            placed = not found or self._placed(game, version)
        except AnnalsError as error:
            if isinstance(error, StoreUnavailable) and not isinstance(error, StoreDamaged):
                raise
            return None, "cannot be read"
        return (found[0], "") if found and placed else (None, "is missing, or is not in its place")

    def _placed(self, game: str, version: int) -> bool:
        """Whether the log has it too: an index may be sound where a row is not."""
        position = self._ledger.position(game, version)
        entries = self._ledger.log(position - 1, 1) if position is not None else []
        return any((e.game, e.version) == (game, version) for e in entries)
