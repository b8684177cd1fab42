"""Views rebuilt beside the live generation, and switched when they have caught up."""

from __future__ import annotations

from sqlalchemy import delete, func, insert, select, tuple_, update

from projections import schema
from projections.store import Views

SWEPT = 2000
"""Rows that are dropped at once."""

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
        gen = db.execute(select(func.max(schema.generations.c.gen))).scalar_one() + 1
        db.execute(delete(schema.generations).where(~schema.generations.c.live))
        row = {"gen": gen, "position": 0, "live": False, "leaves": 0, "frontier": b"[]"}
        db.execute(insert(schema.generations).values(row))
    sweep(views)
    return int(gen)


def switch(views: Views, gen: int) -> bool:
    """Make it the live one if it has read as far as the live one has; the old one is to be swept away."""
    with views.transaction() as db:
        positions = {r.gen: r.position for r in db.execute(select(schema.generations).with_for_update())}
        old = [g for g in positions if g != gen]
        if positions[gen] < max((positions[g] for g in old), default=0):
            return False
        db.execute(update(schema.generations).values(live=schema.generations.c.gen == gen))
        db.execute(delete(schema.generations).where(schema.generations.c.gen.in_(old)))
    return True


def sweep(views: Views) -> None:
    """Drop the rows of generations that are gone, a few at a time: whoever writes meanwhile waits for no more."""
    for table in TABLES:
        keys = list(table.primary_key.columns)
        gone = select(*keys).where(table.c.gen.not_in(select(schema.generations.c.gen))).limit(SWEPT)
        few = delete(table).where(tuple_(*keys).in_(gone))
        dropped = SWEPT
        while dropped == SWEPT:
            with views.transaction() as db:
                dropped = db.execute(few).rowcount
            views.give_way()
