"""Rebuilds: all views again from the log, beside the live ones, which are read until the new ones are as far."""

from __future__ import annotations

import logging
import secrets
import time
from contextlib import suppress

from domain.errors import GameDamaged, StoreUnavailable
from domain.service.corruption import CorruptRecords
from domain.types import Json
from projections.leases import LeaseLostError
from projections.partitions import GenerationGoneError
from projections.projector import Projector
from projections.rebuild import create_generation, drop_old_rows, extends_live_tree, switch_generation
from workers import liveness
from workers.context import WorkerContext
from workers.jobs import runner

LIVENESS_SECONDS = 30.0
"""Seconds within which there is another sign of life, as of a pump: who froze in a slice, of old views or of new, holds
up all on SQLite."""

POLL_SECONDS = 1.0
"""Seconds between two looks at whether another rebuild goes on."""

RETRY_SECONDS = 0.05
"""Seconds before it is tried again to read as far as the live views have."""

log = logging.getLogger("annals.rebuild")


def run_rebuild(id_: str) -> str:
    """A rebuild that was asked for; its outcome is the new generation."""
    return runner.run_request(id_, lambda context, _: rebuild_views(context))


def rebuild_views(context: WorkerContext) -> dict[str, Json]:
    """A new generation of views; its number and how far it had read when it became the live one.

    One at a time: another rebuild is awaited, and begun again is one that somebody else has taken for dead. Raises
    GameDamaged where the log lacks a record: the tree would be made without it.
    """
    while True:
        with suppress(GenerationGoneError):
            gen, position = _build_and_switch(context)
            break
    context.notify_appended(position)
    try:
        drop_old_rows(context.views, lambda: liveness.set_deadline(LIVENESS_SECONDS))
    except StoreUnavailable as error:  # the new views are there, whatever becomes of the rows of the old ones
        log.warning("the next rebuild drops what is left of the old views: %s", error)
    return {"generation": gen, "position": position}


def _build_and_switch(context: WorkerContext) -> tuple[int, int]:
    """The new generation and its position; raises GenerationGoneError."""
    gen = _begin_generation(context)
    projector = Projector(context.ledger, context.registry, context.views, f"rebuild-{secrets.token_hex(4)}", gen)
    try:
        position = _fill(context, projector)
        _check_same_tree(context, gen)
        while not switch_generation(context.views, gen):
            time.sleep(RETRY_SECONDS)
            position = max(_fill(context, projector), position)
    finally:
        projector.release()  # or the next rebuild would wait for the lease to end
    return gen, position


def _begin_generation(context: WorkerContext) -> int:
    while True:
        liveness.set_deadline(LIVENESS_SECONDS)
        try:
            return create_generation(context.views, context.clock())
        except LeaseLostError as holder:
            log.info("%s goes on, and is awaited", holder)
            time.sleep(POLL_SECONDS)


def _check_same_tree(context: WorkerContext, gen: int) -> None:
    """Where nothing is known to be damaged, what the log says counts."""
    damaged = CorruptRecords(context.ledger).list_all()
    if damaged and not extends_live_tree(context.views, gen):
        raise GameDamaged(damaged[0].game, damaged[0].version)


def _fill(context: WorkerContext, projector: Projector) -> int:
    """Pump to the end of the log; the position there, or 0. Raises GenerationGoneError."""
    position, began = 0, time.monotonic()
    while True:
        liveness.set_deadline(LIVENESS_SECONDS)
        try:
            slice_ = projector.run(context.clock())
        except LeaseLostError:  # nobody else fills it, but somebody looked at all generations just then
            time.sleep(RETRY_SECONDS)
            continue
        if slice_ is None:
            return position
        position = slice_.position
        context.views.yield_to_writers(time.monotonic() - began)
        began = time.monotonic()
