"""Rebuilds: all views again from the log, beside the live ones, which are read until the new ones are as far."""

from __future__ import annotations

import secrets
import time

from sqlalchemy import delete

from domain.ids import Json
from projections import schema
from projections.pump import Pump
from projections.rebuild import new_generation, sweep, switch
from projections.store import Views
from workers import errands
from workers.crew import Crew


def rebuild(id_: str) -> str:
    """A rebuild that was asked for; its outcome is the new generation."""
    return errands.settle(id_, lambda hands, _: rebuilt(hands))


def rebuilt(hands: Crew) -> dict[str, Json]:
    """A new generation of views; its number and how far it had read when it became the live one."""
    gen = new_generation(hands.views)
    pump = Pump(hands.ledger, hands.catalogue, hands.views, f"rebuild-{secrets.token_hex(4)}", gen)
    position = _fill(hands, pump)
    release(hands.views, gen)  # or the live pump would wait for the lease to end
    while not switch(hands.views, gen):
        position = _fill(hands, pump)
        release(hands.views, gen)
    hands.notify(position)
    sweep(hands.views)
    return {"generation": gen, "position": position}


def _fill(hands: Crew, pump: Pump) -> int:
    """Pump to the end of the log."""
    before = -1
    while True:
        began = time.monotonic()
        position, _ = pump.run(hands.clock())
        if position == before:
            return position
        before = position
        hands.views.give_way(time.monotonic() - began)


def release(views: Views, gen: int) -> None:
    """Nobody holds the lease of that generation any more."""
    with views.transaction() as db:
        db.execute(delete(schema.leases).where(schema.leases.c.name == f"pump-{gen}"))
