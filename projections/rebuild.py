"""Rebuild of all views in a second generation, activated once it has caught up with the live one."""

from __future__ import annotations

import json
from collections.abc import Callable

from sqlalchemy import Connection, bindparam, delete, func, select, update

from domain.transparency.merkle_tree import frontier_subtrees
from projections import schema
from projections.leases import LeaseLostError
from projections.merkle_proofs import read_subtrees
from projections.partitions import GenerationGoneError
from projections.view_store import ViewStore

SWEEP_BATCH = 2000
"""Rows deleted per transaction."""

TABLES = (
    schema.parts,
    schema.games,
    schema.boards,
    schema.timeline,
    schema.keyframes,
    schema.outlines,
    schema.results,
    schema.due,
    schema.held_back,
    schema.seated,
    schema.tournaments,
    schema.tournament_tables,
    schema.leaves,
    schema.nodes,
    schema.aside,
)


def create_generation(views: ViewStore, now: int) -> int:
    """Create an empty generation for a projector to fill; drop any unfinished one.

    Raises LeaseLostError while another process fills one.
    """
    with views.transaction() as db:
        _check_no_other_rebuild(db, now)  # before waiting for locks
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
    """Make the generation live and return True if it has read as far as the live one.

    Projectors continue with it at once; `drop_old_rows` deletes the old rows. Raises GenerationGoneError.
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
    """Let no other process begin or switch a generation until the transaction ends.

    Without this lock, a process that waits for partition locks would miss generations begun meanwhile. SQLite has one
    writer anyway.
    """
    if db.dialect.name == "postgresql":
        db.exec_driver_sql("SELECT pg_advisory_xact_lock(20260102)")


def _lock_partitions(db: Connection) -> dict[int, list[int]]:
    """Lock all partitions until the transaction ends; return generation -> positions of its partitions.

    Locks the newest generation first, so that a frozen rebuild blocks other rebuilds only.
    """
    reached: dict[int, list[int]] = {}
    p = schema.parts.c
    for row in db.execute(select(schema.parts).order_by(p.gen.desc(), p.part).with_for_update()):
        reached.setdefault(row.gen, []).append(row.position)
    return reached


def extends_live_tree(views: ViewStore, gen: int) -> bool:
    """Return True if the generation's tree begins with the live one, so that all published heads stay valid."""
    with views.reading() as db:
        live = db.execute(select(schema.generations).where(schema.generations.c.live)).one()
        subtrees = frontier_subtrees(live.leaves)
        hashes = read_subtrees(db, gen, subtrees)
    return bool(list(map(hashes.get, subtrees)) == [bytes.fromhex(h) for h in json.loads(live.frontier)])


def drop_old_rows(views: ViewStore, before_batch: Callable[[], object] = lambda: None) -> None:
    """Delete rows of old generations in small batches, so that other writers wait only briefly.

    `before_batch` is called before each batch.
    """
    for table in TABLES:
        keys = list(table.primary_key.columns)
        old_rows = select(*keys).where(table.c.gen.not_in(select(schema.generations.c.gen))).limit(SWEEP_BATCH)
        old_rows = old_rows.with_for_update(skip_locked=True)  # another process may sweep too
        delete_row = delete(table).where(*(key == bindparam(f"of_{key.name}") for key in keys))
        dropped = SWEEP_BATCH
        while dropped == SWEEP_BATCH:
            before_batch()
            with views.transaction() as db:
                rows = [
                    {f"of_{key.name}": value for key, value in zip(keys, row, strict=True)}
                    for row in db.execute(old_rows)
                ]
                if rows:
                    db.execute(delete_row, rows)
            dropped = len(rows)
            views.yield_to_writers()
