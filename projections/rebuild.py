"""Views rebuilt beside the live generation, and switched when they have caught up."""

from __future__ import annotations

import json
from collections.abc import Callable

from sqlalchemy import Connection, delete, func, select, tuple_, update

from projections import schema
from projections.leases import LeaseLostError
from projections.merkle_proofs import read_subtrees
from projections.merkle_tree import frontier_subtrees
from projections.partitions import GenerationGoneError
from projections.view_store import ViewStore

SWEEP_BATCH = 2000
"""Rows that are dropped at once."""

TABLES = (
    schema.parts,
    schema.games,
    schema.boards,
    schema.timeline,
    schema.results,
    schema.due,
    schema.held_back,
    schema.seated,
    schema.leaves,
    schema.nodes,
    schema.aside,
)


def create_generation(views: ViewStore, now: int) -> int:
    """An empty generation, for a Pump to fill; a half-built one of an earlier try is dropped.

    Raises LeaseLostError while somebody fills another one.
    """
    with views.transaction() as db:
        _check_no_other_rebuild(db, now)  # before anybody is waited for
        _lock_rebuilds(db)
        _lock_partitions(db)
        _check_no_other_rebuild(db, now)
        g, p = schema.generations.c, schema.parts.c
        gen = db.execute(select(func.max(g.gen))).scalar_one() + 1
        half = select(g.gen).where(~g.live)
        db.execute(delete(schema.parts).where(p.gen.in_(half)))
        db.execute(delete(schema.generations).where(~g.live))
        for statement in schema.insert_generation(gen, views.parts):
            db.execute(statement)
    return int(gen)


def _check_no_other_rebuild(db: Connection, now: int) -> None:
    g, p = schema.generations.c, schema.parts.c
    filled = select(p.owner).join(schema.generations, g.gen == p.gen).where(~g.live, p.until > now)
    if owner := db.execute(filled).scalar():
        raise LeaseLostError(owner)


def switch_generation(views: ViewStore, gen: int) -> bool:
    """Make it the live one if it has read as far as the live one has; the old one is to be swept away.

    Whoever pumps may go on with it at once. Raises GenerationGoneError.
    """
    with views.transaction() as db:
        _lock_rebuilds(db)
        reached = _lock_partitions(db)
        if gen not in reached:
            raise GenerationGoneError(gen)
        old = [g for g in reached if g != gen]
        if min(reached[gen]) < max((max(reached[g]) for g in old), default=0):
            return False
        db.execute(update(schema.generations).values(live=schema.generations.c.gen == gen))
        for table in (schema.generations, schema.parts):
            db.execute(delete(table).where(table.c.gen.in_(old)))
        db.execute(update(schema.parts).where(schema.parts.c.gen == gen).values(owner="", until=0))
    return True


def _lock_rebuilds(db: Connection) -> None:
    """Nobody else begins or switches until the transaction ends: who waits for parts sees none that were begun since.

    To drop these it would wait for who waits for it. SQLite has one writer anyhow.
    """
    if db.dialect.name == "postgresql":
        db.exec_driver_sql("SELECT pg_advisory_xact_lock(20260102)")


def _lock_partitions(db: Connection) -> dict[int, list[int]]:
    """Generation -> how far each of its parts has read; nobody pumps or drops any until the transaction ends.

    The newest first: who froze while it was filled holds up nobody but who rebuilds.
    """
    reached: dict[int, list[int]] = {}
    p = schema.parts.c
    for row in db.execute(select(schema.parts).order_by(p.gen.desc(), p.part).with_for_update()):
        reached.setdefault(row.gen, []).append(row.position)
    return reached


def extends_live_tree(views: ViewStore, gen: int) -> bool:
    """Whether its tree begins with the live one, so that every head that somebody has stays true."""
    with views.reading() as db:
        live = db.execute(select(schema.generations).where(schema.generations.c.live)).one()
        known = frontier_subtrees(live.leaves)
        found = read_subtrees(db, gen, known)
    return bool(list(map(found.get, known)) == [bytes.fromhex(h) for h in json.loads(live.frontier)])


def drop_old_rows(views: ViewStore, before_batch: Callable[[], object] = lambda: None) -> None:
    """Drop the rows of generations that are gone, a few at a time: whoever writes meanwhile waits for no more.

    `before` is called before each time.
    """
    for table in TABLES:
        keys = list(table.primary_key.columns)
        gone = select(*keys).where(table.c.gen.not_in(select(schema.generations.c.gen))).limit(SWEEP_BATCH)
        gone = gone.with_for_update(skip_locked=True)  # somebody else may be at it too
        few = delete(table).where(tuple_(*keys).in_(gone))
        dropped = SWEEP_BATCH
        while dropped == SWEEP_BATCH:
            before_batch()
            with views.transaction() as db:
                dropped = db.execute(few).rowcount
            views.yield_to_writers()
