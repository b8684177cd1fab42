"""The parts of the log: each game belongs to one, and each part is pumped by one process at a time.

A part's row says who pumps it, until when, and how far its views have read the log. The tree of all records is a part
of its own, which holds no games: who has it builds the tree, and does what may be done by one process alone. Where
there are several pumps, each takes its share of the others; of one that has died the others take all.
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
"""In an order, as all who lock several parts do: nobody waits for who waits for them."""
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
    """Somebody has begun another generation, or switched to one, in place of that which was to be filled."""


def partition_of(game: str, parts: int) -> int:
    """The part of a game, of so many; any word has one."""
    return zlib.crc32(game.encode()) % parts


@dataclass(frozen=True)
class PartitionLease:
    """What a process may pump during one transaction."""

    gen: int
    parts: int
    """How many there are in all."""
    positions: Mapping[int, int]
    """Part -> how far it has read the log."""
    leaves: int
    frontier: bytes
    has_new_partitions: bool
    """Whether some of it was not held before: what was remembered of its games may be of another time."""

    @property
    def position(self) -> int:
        """From where the log is to be read."""
        return min(self.positions.values())

    @property
    def has_tree(self) -> bool:
        """Whether it builds the tree."""
        return TREE in self.positions

    @property
    def game_partitions(self) -> int:
        """How many parts of games there are among them."""
        return len(self.positions) - self.has_tree

    @property
    def has_all(self) -> bool:
        """Whether there is nothing that others pump."""
        return len(self.positions) == self.parts + 1

    def owns(self, game: str) -> bool:
        """Whether the game is in one of these parts."""
        return partition_of(game, self.parts) in self.positions

    def extends_tree(self, position: int) -> bool:
        """Whether a record at that position is still to be put into the tree here."""
        return position > self.positions.get(TREE, position)

    def needs_record(self, game: str, position: int) -> bool:
        """Whether a record at that position is still to be shown here."""
        reached = self.positions.get(partition_of(game, self.parts))
        return reached is not None and position > reached


class PartitionShare:
    """The parts of one process. `owner` names it."""

    def __init__(self, owner: str, gen: int | None = None) -> None:
        self._owner, self._gen = owner, gen

    def acquire(self, db: Connection, now: int) -> PartitionLease | str:
        """What is held until the transaction ends; while others hold everything, who does.

        Nothing is raised then: that this process would pump is to be written down all the same. Raises
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
        """All that is held has read the log up to that record: game, version and hash."""
        game, version, hashed = last
        row = {"to": position, "of_game": game, "at_version": version, "hashed": hashed}
        SET_POSITION.execute_many(db, [{"in_gen": lease.gen, "me": self._owner, **row}])

    def release(self, db: Connection) -> None:
        """Others may take all of it at once."""
        own = select(_P.part).where(_P.owner == self._owner).order_by(_P.gen.desc(), _P.part)
        db.execute(own.with_for_update()).all()
        db.execute(update(schema.parts).where(_P.owner == self._owner).values(owner="", until=0))
        db.execute(delete(schema.leases).where(_L.owner == self._owner, _L.name.startswith("pump-")))

    def _own_rows(self, db: Connection) -> list[tuple[int, int, int, int, int, int, bytes]]:
        if self._gen is None:
            return OWN_LIVE.fetch_all(db, me=self._owner)
        return OWN_OF_GENERATION.fetch_all(db, me=self._owner, in_gen=self._gen)

    def _rebalance(self, db: Connection, gen: int, now: int) -> bool:
        """Renew what is held, give up what is more than the share, take what is missing of it; whether any was."""
        RENEW_LEASES.execute_many(db, [{"in_gen": gen, "me": self._owner, "end": now + LEASE}])
        rows = {part: owner if until > now else "" for part, owner, until in ALL_PARTITIONS.fetch_all(db, in_gen=gen)}
        if not rows:
            raise GenerationGoneError(gen)
        games = {part: owner for part, owner in rows.items() if part != TREE}
        most = _fair_share(self._owner, games, rows[TREE] or self._owner, self._list_present(db, gen, now))
        own = [part for part, owner in games.items() if owner == self._owner]
        free = [part for part, owner in games.items() if not owner]
        SET_OWNER.execute_many(db, [{"in_gen": gen, "that": part, "by": "", "end": 0} for part in own[most:]])
        wanted = [*([] if rows[TREE] else [TREE]), *free[: max(most - len(own), 0)]]
        taken = [part for part in wanted if LOCK_FREE.fetch_all(db, in_gen=gen, that=part, at=now)]
        SET_OWNER.execute_many(
            db, [{"in_gen": gen, "that": part, "by": self._owner, "end": now + LEASE} for part in taken]
        )
        return bool(taken)

    def _list_present(self, db: Connection, gen: int, now: int) -> set[str]:
        """The processes that pump this generation, or would."""
        present = {
            owner: until for owner, until in PRESENT_PROJECTORS.fetch_all(db, pumps=f"pump-{gen}-") if until > now
        }
        if present.get(self._owner, 0) < now + LEASE // 2:
            name = hashlib.blake2b(self._owner.encode(), digest_size=8).hexdigest()
            row = {"name": f"pump-{gen}-{name}", "owner": self._owner, "until": now + LEASE}
            upsert(db, schema.leases, [row])
        return {*present, self._owner}


def _fair_share(me: str, games: Mapping[int, str], tree: str, present: set[str]) -> int:
    """How many parts of games one may have, so that all have as much work, or one part more where it does not divide.

    `tree`: who has that, or will: it counts as a sixth of all games.
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
