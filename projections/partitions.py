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
from projections.view_store import Prepared, upsert

_G, _P, _L = schema.generations.c, schema.parts.c, schema.leases.c

_MINE = (
    select(_P.part, _P.position, _P.until, _G.gen, _G.parts, _G.leaves, _G.frontier)
    .join_from(schema.parts, schema.generations, _P.gen == _G.gen)
    .where(_P.owner == bindparam("me"))
    .order_by(_P.part)
    .with_for_update(of=schema.parts)
)
"""In an order, as all who lock several parts do: nobody waits for who waits for them."""
MINE = Prepared(_MINE.where(_G.live))
MINE_OF = Prepared(_MINE.where(_G.gen == bindparam("in_gen")))
LIVE = Prepared(select(_G.gen).where(_G.live))
ALL = Prepared(select(_P.part, _P.owner, _P.until).where(_P.gen == bindparam("in_gen")))
RENEW = Prepared(
    update(schema.parts)
    .where(_P.gen == bindparam("in_gen"), _P.owner == bindparam("me"))
    .values(until=bindparam("end"))
)
FREE = Prepared(
    select(_P.part)
    .where(_P.gen == bindparam("in_gen"), _P.part == bindparam("that"))
    .where(or_(_P.owner == literal_column("''"), _P.until <= bindparam("at")))
    .with_for_update(skip_locked=True)
)
OWN = Prepared(
    update(schema.parts)
    .where(_P.gen == bindparam("in_gen"), _P.part == bindparam("that"))
    .values(owner=bindparam("by"), until=bindparam("end"))
)
READ = Prepared(
    update(schema.parts)
    .where(_P.gen == bindparam("in_gen"), _P.owner == bindparam("me"), _P.position < bindparam("to"))
    .values(
        position=bindparam("to"), game=bindparam("of_game"), version=bindparam("at_version"), hash=bindparam("hashed")
    )
)
PRESENT = Prepared(select(_L.owner, _L.until).where(_L.name.startswith(bindparam("pumps"))))


class GenerationGoneError(Exception):
    """Somebody has begun another generation, or switched to one, in place of that which was to be filled."""


def part_of(game: str, parts: int) -> int:
    """The part of a game, of so many; any word has one."""
    return zlib.crc32(game.encode()) % parts


@dataclass(frozen=True)
class Held:
    """What a process may pump during one transaction."""

    gen: int
    parts: int
    """How many there are in all."""
    positions: Mapping[int, int]
    """Part -> how far it has read the log."""
    leaves: int
    frontier: bytes
    fresh: bool
    """Whether some of it was not held before: what was remembered of its games may be of another time."""

    @property
    def position(self) -> int:
        """From where the log is to be read."""
        return min(self.positions.values())

    @property
    def tree(self) -> bool:
        """Whether it builds the tree."""
        return TREE in self.positions

    @property
    def games(self) -> int:
        """How many parts of games there are among them."""
        return len(self.positions) - self.tree

    @property
    def whole(self) -> bool:
        """Whether there is nothing that others pump."""
        return len(self.positions) == self.parts + 1

    def has(self, game: str) -> bool:
        """Whether the game is in one of these parts."""
        return part_of(game, self.parts) in self.positions

    def grows(self, position: int) -> bool:
        """Whether a record at that position is still to be put into the tree here."""
        return position > self.positions.get(TREE, position)

    def wants(self, game: str, position: int) -> bool:
        """Whether a record at that position is still to be shown here."""
        reached = self.positions.get(part_of(game, self.parts))
        return reached is not None and position > reached


class Share:
    """The parts of one process. `owner` names it."""

    def __init__(self, owner: str, gen: int | None = None) -> None:
        self._owner, self._gen = owner, gen

    def held(self, db: Connection, now: int) -> Held | str:
        """What is held until the transaction ends; while others hold everything, who does.

        Nothing is raised then: that this process would pump is to be written down all the same. Raises
        GenerationGoneError.
        """
        rows, fresh = self._mine(db), False
        if not rows or not all(now <= row[2] - LEASE // 2 <= now + LEASE for row in rows):
            gen = rows[0][3] if rows else self._gen or _live(db)
            fresh = self._settle(db, gen, now)
            rows = self._mine(db)
            if not rows:
                return next((owner for _, owner, _ in ALL.rows(db, in_gen=gen) if owner), "nobody")
        _, _, _, gen, parts, leaves, frontier = rows[0]
        return Held(gen, parts, {row[0]: row[1] for row in rows}, leaves, frontier, fresh)

    def read(self, db: Connection, held: Held, position: int, last: tuple[str, int, str]) -> None:
        """All that is held has read the log up to that record: game, version and hash."""
        game, version, hashed = last
        row = {"to": position, "of_game": game, "at_version": version, "hashed": hashed}
        READ.run(db, [{"in_gen": held.gen, "me": self._owner, **row}])

    def release(self, db: Connection) -> None:
        """Others may take all of it at once."""
        mine = select(_P.part).where(_P.owner == self._owner).order_by(_P.gen.desc(), _P.part)
        db.execute(mine.with_for_update()).all()
        db.execute(update(schema.parts).where(_P.owner == self._owner).values(owner="", until=0))
        db.execute(delete(schema.leases).where(_L.owner == self._owner, _L.name.startswith("pump-")))

    def _mine(self, db: Connection) -> list[tuple[int, int, int, int, int, int, bytes]]:
        if self._gen is None:
            return MINE.rows(db, me=self._owner)
        return MINE_OF.rows(db, me=self._owner, in_gen=self._gen)

    def _settle(self, db: Connection, gen: int, now: int) -> bool:
        """Renew what is held, give up what is more than the share, take what is missing of it; whether any was."""
        RENEW.run(db, [{"in_gen": gen, "me": self._owner, "end": now + LEASE}])
        rows = {part: owner if until > now else "" for part, owner, until in ALL.rows(db, in_gen=gen)}
        if not rows:
            raise GenerationGoneError(gen)
        games = {part: owner for part, owner in rows.items() if part != TREE}
        most = _share(self._owner, games, rows[TREE] or self._owner, self._present(db, gen, now))
        mine = [part for part, owner in games.items() if owner == self._owner]
        free = [part for part, owner in games.items() if not owner]
        OWN.run(db, [{"in_gen": gen, "that": part, "by": "", "end": 0} for part in mine[most:]])
        wanted = [*([] if rows[TREE] else [TREE]), *free[: max(most - len(mine), 0)]]
        taken = [part for part in wanted if FREE.rows(db, in_gen=gen, that=part, at=now)]
        OWN.run(db, [{"in_gen": gen, "that": part, "by": self._owner, "end": now + LEASE} for part in taken])
        return bool(taken)

    def _present(self, db: Connection, gen: int, now: int) -> set[str]:
        """The processes that pump this generation, or would."""
        found = {owner: until for owner, until in PRESENT.rows(db, pumps=f"pump-{gen}-") if until > now}
        if found.get(self._owner, 0) < now + LEASE // 2:
            name = hashlib.blake2b(self._owner.encode(), digest_size=8).hexdigest()
            row = {"name": f"pump-{gen}-{name}", "owner": self._owner, "until": now + LEASE}
            upsert(db, schema.leases, [row])
        return {*found, self._owner}


def _share(me: str, games: Mapping[int, str], tree: str, present: set[str]) -> int:
    """How many parts of games one may have, so that all have as much work, or one part more where it does not divide.

    `tree`: who has that, or will: it counts as a sixth of all games.
    """
    weight = len(games) // 6
    has = {one: sum(owner == one for owner in games.values()) + weight * (one == tree) for one in present}
    fewest, odd = divmod(len(games) + weight, len(present))
    crowded = has[me] > fewest > min(has.values()) and "" not in games.values()
    most = fewest if crowded else fewest + bool(odd)
    return max(most - weight * (me == tree), 0)


def _live(db: Connection) -> int:
    ((gen,),) = LIVE.rows(db)
    return int(gen)
