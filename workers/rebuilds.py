"""Rebuilds: all views again from the log, beside the live ones, which are read until the new ones are as far."""

from __future__ import annotations

import secrets
import time

from domain.beside.damages import Damages
from domain.errors import GameDamaged
from domain.ids import Json
from projections.pump import Pump
from projections.rebuild import goes_on, new_generation, sweep, switch
from workers import errands
from workers.crew import Crew


def rebuild(id_: str) -> str:
    """A rebuild that was asked for; its outcome is the new generation."""
    return errands.settle(id_, lambda hands, _: rebuilt(hands))


def rebuilt(hands: Crew) -> dict[str, Json]:
    """A new generation of views; its number and how far it had read when it became the live one.

    Raises GameDamaged where the log lacks a record: the tree would be made without it.
    """
    gen = new_generation(hands.views)
    pump = Pump(hands.ledger, hands.catalogue, hands.views, f"rebuild-{secrets.token_hex(4)}", gen)
    position = _fill(hands, pump)
    pump.release()  # or the live pump would wait for the lease to end
    _refuse_another_tree(hands, gen)
    while not switch(hands.views, gen):
        position = max(_fill(hands, pump), position)
        pump.release()
    hands.notify(position)
    sweep(hands.views)
    return {"generation": gen, "position": position}


def _refuse_another_tree(hands: Crew, gen: int) -> None:
    """Where nothing is known to be damaged, what the log says counts."""
    damaged = Damages(hands.ledger).all()
    if damaged and not goes_on(hands.views, gen):
        raise GameDamaged(damaged[0].game, damaged[0].version)


def _fill(hands: Crew, pump: Pump) -> int:
    """Pump to the end of the log; the position there, or 0."""
    position, began = 0, time.monotonic()
    while pumped := pump.run(hands.clock()):
        position = pumped.position
        hands.views.give_way(time.monotonic() - began)
        began = time.monotonic()
    return position
