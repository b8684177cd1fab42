"""Rebuilds: all views again from the log, beside the live ones, which are read until the new ones are as far."""

from __future__ import annotations

import logging
import secrets
import time
from contextlib import suppress

from domain.errors import GameDamaged, StoreUnavailable
from domain.service.corruption import Damages
from domain.types import Json
from projections.leases import LeaseLostError
from projections.partitions import GenerationGoneError
from projections.projector import Pump
from projections.rebuild import goes_on, new_generation, sweep, switch
from workers import liveness
from workers.context import Crew
from workers.jobs import runner

SIGN = 30.0
"""Seconds within which there is another sign of life, as of a pump: who froze in a slice, of old views or of new, holds
up all on SQLite."""

NAP = 1.0
"""Seconds between two looks at whether another rebuild goes on."""

PAUSE = 0.05
"""Seconds before it is tried again to read as far as the live views have."""

log = logging.getLogger("annals.rebuild")


def rebuild(id_: str) -> str:
    """A rebuild that was asked for; its outcome is the new generation."""
    return runner.settle(id_, lambda hands, _: rebuilt(hands))


def rebuilt(hands: Crew) -> dict[str, Json]:
    """A new generation of views; its number and how far it had read when it became the live one.

    One at a time: another rebuild is awaited, and begun again is one that somebody else has taken for dead. Raises
    GameDamaged where the log lacks a record: the tree would be made without it.
    """
    while True:
        with suppress(GenerationGoneError):
            gen, position = _switched(hands)
            break
    hands.notify(position)
    try:
        sweep(hands.views, lambda: liveness.promise(SIGN))
    except StoreUnavailable as error:  # the new views are there, whatever becomes of the rows of the old ones
        log.warning("the next rebuild drops what is left of the old views: %s", error)
    return {"generation": gen, "position": position}


def _switched(hands: Crew) -> tuple[int, int]:
    """The new generation and its position; raises GenerationGoneError."""
    gen = _begun(hands)
    pump = Pump(hands.ledger, hands.catalogue, hands.views, f"rebuild-{secrets.token_hex(4)}", gen)
    try:
        position = _fill(hands, pump)
        _refuse_another_tree(hands, gen)
        while not switch(hands.views, gen):
            time.sleep(PAUSE)
            position = max(_fill(hands, pump), position)
    finally:
        pump.release()  # or the next rebuild would wait for the lease to end
    return gen, position


def _begun(hands: Crew) -> int:
    while True:
        liveness.promise(SIGN)
        try:
            return new_generation(hands.views, hands.clock())
        except LeaseLostError as holder:
            log.info("%s goes on, and is awaited", holder)
            time.sleep(NAP)


def _refuse_another_tree(hands: Crew, gen: int) -> None:
    """Where nothing is known to be damaged, what the log says counts."""
    damaged = Damages(hands.ledger).all()
    if damaged and not goes_on(hands.views, gen):
        raise GameDamaged(damaged[0].game, damaged[0].version)


def _fill(hands: Crew, pump: Pump) -> int:
    """Pump to the end of the log; the position there, or 0. Raises GenerationGoneError."""
    position, began = 0, time.monotonic()
    while True:
        liveness.promise(SIGN)
        try:
            pumped = pump.run(hands.clock())
        except LeaseLostError:  # nobody else fills it, but somebody looked at all generations just then
            time.sleep(PAUSE)
            continue
        if pumped is None:
            return position
        position = pumped.position
        hands.views.give_way(time.monotonic() - began)
        began = time.monotonic()
