"""Views rebuilt beside the live generation, and switched when they have caught up."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select, update

from projections import schema
from projections.store import Views

TABLES = (
    schema.games,
    schema.boards,
    schema.timeline,
    schema.results,
    schema.due,
    schema.leaves,
    schema.nodes,
    schema.aside,
)


def new_generation(views: Views) -> int:
    """An empty generation, for a Pump to fill; a half-built one of an earlier try is dropped."""
    with views.transaction() as db:
        for gen in db.execute(select(schema.generations.c.gen).where(~schema.generations.c.live)).scalars().all():
            _drop(db, gen)
        gen = db.execute(select(func.max(schema.generations.c.gen))).scalar_one() + 1
        row = {"gen": gen, "position": 0, "live": False, "leaves": 0, "frontier": b"[]"}
        db.execute(insert(schema.generations).values(row))
    return int(gen)


def switch(views: Views, gen: int) -> bool:
    """Make it the live one if it has read as far as the live one has; the old rows are dropped in the same moment."""
    with views.transaction() as db:
        positions = {r.gen: r.position for r in db.execute(select(schema.generations).with_for_update())}
        old = [g for g in positions if g != gen]
        if positions[gen] < max((positions[g] for g in old), default=0):
            return False
        db.execute(update(schema.generations).values(live=schema.generations.c.gen == gen))
        for other in old:
            _drop(db, other)
    return True


def _drop(db: Connection, gen: int) -> None:
    for table in (*TABLES, schema.generations):
        db.execute(delete(table).where(table.c.gen == gen))
