"""Partitions of the log. Each game belongs to one; one projector at a time owns each.

A partition's row holds its owner, the end of the lease, and the log position that its views have read. The Merkle tree
is a partition of its own, without games: its owner builds the tree and does all work reserved to a single process.
Projectors share the other partitions evenly and take over those of a dead projector.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, literal_column, or_, select, update

from projections import schema
from projections.leases import LEASE
from projections.schema import TREE
from projections.view_store import PreparedStatement, upsert

_G, _P, _L = schema.generations.c, schema.parts.c, schema.leases.c

_SELECT_OWN = (
    select(_P.part, _P.position, _P.until, _G.gen, _G.parts, _G.leaves, _G.frontier)
    .join_from(schema.parts, schema.generations, _P.gen == _G.gen)
    .where(_P.owner == bindparam("me"))
    .order_by(_P.part)
    .with_for_update(of=schema.parts)
)
"""Rows come in a fixed order, as in all queries that lock several partitions, to prevent deadlocks."""
OWN_LIVE = PreparedStatement(_SELECT_OWN.where(_G.live))
OWN_OF_GENERATION = PreparedStatement(_SELECT_OWN.where(_G.gen == bindparam("in_gen")))
LIVE_GENERATION = PreparedStatement(select(_G.gen).where(_G.live))
ALL_PARTITIONS = PreparedStatement(select(_P.part, _P.owner, _P.until).where(_P.gen == bindparam("in_gen")))
RENEW_LEASES = PreparedStatement(
    update(schema.parts)
    .where(_P.gen == bindparam("in_gen"), _P.owner == bindparam("me"))
    .values(until=bindparam("end"))
)
LOCK_FREE = PreparedStatement(
    select(_P.part)
    .where(_P.gen == bindparam("in_gen"), _P.part == bindparam("that"))
    .where(or_(_P.owner == literal_column("''"), _P.until <= bindparam("at")))
    .with_for_update(skip_locked=True)
)
SET_OWNER = PreparedStatement(
    update(schema.parts)
    .where(_P.gen == bindparam("in_gen"), _P.part == bindparam("that"))
    .values(owner=bindparam("by"), until=bindparam("end"))
)
SET_POSITION = PreparedStatement(
    update(schema.parts)
    .where(_P.gen == bindparam("in_gen"), _P.owner == bindparam("me"), _P.position < bindparam("to"))
    .values(
        position=bindparam("to"), game=bindparam("of_game"), version=bindparam("at_version"), hash=bindparam("hashed")
    )
)
PRESENT_PROJECTORS = PreparedStatement(select(_L.owner, _L.until).where(_L.name.startswith(bindparam("pumps"))))


class GenerationGoneError(Exception):
    """The generation is gone: another one was begun or activated in its place."""


def partition_of(game: str, parts: int) -> int:
    """Return the partition of a game. Any string has one."""
    return zlib.crc32(game.encode()) % parts


@dataclass(frozen=True)
class PartitionLease:
    """The partitions that a process owns during one transaction."""

    gen: int
    parts: int
    """Total number of game partitions."""
    positions: Mapping[int, int]
    """Partition -> log position that it has read."""
    leaves: int
    frontier: bytes
    has_new_partitions: bool
    """True if some partitions are newly acquired: cached games may be outdated."""

    @property
    def position(self) -> int:
        """Log position from which to read."""
        return min(self.positions.values())

    @property
    def has_tree(self) -> bool:
        """True if this process builds the tree."""
        return TREE in self.positions

    @property
    def game_partitions(self) -> int:
        """Number of game partitions owned."""
        return len(self.positions) - self.has_tree

    @property
    def has_all(self) -> bool:
        """True if no other process owns a partition."""
        return len(self.positions) == self.parts + 1

    def owns(self, game: str) -> bool:
        """Return True if the game is in an owned partition."""
        return partition_of(game, self.parts) in self.positions

    def extends_tree(self, position: int) -> bool:
        """Return True if the record at `position` is to be appended to the tree here."""
        return position > self.positions.get(TREE, position)

    def needs_record(self, game: str, position: int) -> bool:
        """Return True if the record at `position` is to be projected here."""
        reached = self.positions.get(partition_of(game, self.parts))
        return reached is not None and position > reached


class PartitionShare:
    """The partitions of one process, named `owner`."""

    def __init__(self, owner: str, gen: int | None = None) -> None:
        self._owner, self._gen = owner, gen

    def acquire(self, db: Connection, now: int) -> PartitionLease | str:
        """Return the lease for this transaction, or the name of another owner while others own everything.

        Raises nothing in the second case, because the request for a share must be committed. Raises
        GenerationGoneError.
        """
        rows, fresh = self._own_rows(db), False
        if not rows or not all(now <= row[2] - LEASE // 2 <= now + LEASE for row in rows):
            gen = rows[0][3] if rows else self._gen or _live_generation(db)
            fresh = self._rebalance(db, gen, now)
            rows = self._own_rows(db)
            if not rows:
                return next((owner for _, owner, _ in ALL_PARTITIONS.fetch_all(db, in_gen=gen) if owner), "nobody")
        _, _, _, gen, parts, leaves, frontier = rows[0]
        return PartitionLease(gen, parts, {row[0]: row[1] for row in rows}, leaves, frontier, fresh)

    def save_position(self, db: Connection, lease: PartitionLease, position: int, last: tuple[str, int, str]) -> None:
        """Store `position` and its record (game, version, hash) for all owned partitions."""
        game, version, hashed = last
        row = {"to": position, "of_game": game, "at_version": version, "hashed": hashed}
        SET_POSITION.execute_many(db, [{"in_gen": lease.gen, "me": self._owner, **row}])

    def release(self, db: Connection) -> None:
        """Give up all partitions at once."""
        own = select(_P.part).where(_P.owner == self._owner).order_by(_P.gen.desc(), _P.part)
        db.execute(own.with_for_update()).all()
        db.execute(update(schema.parts).where(_P.owner == self._owner).values(owner="", until=0))
        db.execute(delete(schema.leases).where(_L.owner == self._owner, _L.name.startswith("pump-")))

    def _own_rows(self, db: Connection) -> list[tuple[int, int, int, int, int, int, bytes]]:
        if self._gen is None:
            return OWN_LIVE.fetch_all(db, me=self._owner)
        return OWN_OF_GENERATION.fetch_all(db, me=self._owner, in_gen=self._gen)

    def _rebalance(self, db: Connection, gen: int, now: int) -> bool:
        """Renew owned partitions, give up those over the fair share, take missing ones.

        Return True if any were taken.
        """
        RENEW_LEASES.execute_many(db, [{"in_gen": gen, "me": self._owner, "end": now + LEASE}])
        rows = {part: owner if until > now else "" for part, owner, until in ALL_PARTITIONS.fetch_all(db, in_gen=gen)}
        if not rows:
            raise GenerationGoneError(gen)
        games = {part: owner for part, owner in rows.items() if part != TREE}
        most = _fair_share(self._owner, games, rows[TREE] or self._owner, self._list_present(db, gen, now))
        own = [part for part, owner in games.items() if owner == self._owner]
        free = [part for part, owner in games.items() if not owner]
        SET_OWNER.execute_many(db, [{"in_gen": gen, "that": part, "by": "", "end": 0} for part in own[most:]])
        missing = [*([] if rows[TREE] else [TREE]), *free[: max(most - len(own), 0)]]
        acquired = [part for part in missing if LOCK_FREE.fetch_all(db, in_gen=gen, that=part, at=now)]
        SET_OWNER.execute_many(
            db, [{"in_gen": gen, "that": part, "by": self._owner, "end": now + LEASE} for part in acquired]
        )
        return bool(acquired)

    def _list_present(self, db: Connection, gen: int, now: int) -> set[str]:
        """Register this process and return all processes that project this generation or want to."""
        present = {
            owner: until for owner, until in PRESENT_PROJECTORS.fetch_all(db, pumps=f"pump-{gen}-") if until > now
        }
        if present.get(self._owner, 0) < now + LEASE // 2:
            name = hashlib.blake2b(self._owner.encode(), digest_size=8).hexdigest()
            row = {"name": f"pump-{gen}-{name}", "owner": self._owner, "until": now + LEASE}
            upsert(db, schema.leases, [row])
        return {*present, self._owner}


def _fair_share(me: str, games: Mapping[int, str], tree: str, present: set[str]) -> int:
    """Return the number of game partitions for process `me`, at most one above an even share.

    `tree` is the present or future owner of the tree, which counts as a sixth of all games.
    """
    weight = len(games) // 6
    has = {one: sum(owner == one for owner in games.values()) + weight * (one == tree) for one in present}
    fewest, odd = divmod(len(games) + weight, len(present))
    crowded = has[me] > fewest > min(has.values()) and "" not in games.values()
    most = fewest if crowded else fewest + bool(odd)
    return max(most - weight * (me == tree), 0)


def _live_generation(db: Connection) -> int:
    ((gen,),) = LIVE_GENERATION.fetch_all(db)
    return int(gen)
