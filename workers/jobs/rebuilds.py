"""Rebuilds: all views again from the log, next to the live ones until they have caught up."""

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
"""Liveness deadline in seconds, as for a projector. A process frozen in a slice blocks all writers on SQLite."""

POLL_SECONDS = 1.0
"""Seconds between two checks for the end of another rebuild."""

RETRY_SECONDS = 0.05
"""Seconds before the next attempt to catch up with the live views."""

log = logging.getLogger("annals.rebuild")


def run_rebuild(id_: str) -> str:
    """Run a requested rebuild; its outcome is the new generation."""
    return runner.run_long_request(id_, lambda context, _: rebuild_views(context))


def rebuild_views(context: WorkerContext) -> dict[str, Json]:
    """Rebuild all views; return the new generation and its log position at activation.

    Waits for any other rebuild, and starts again if another process has replaced its generation. Raises GameDamaged if
    the log lacks a record, because the tree would lack it too.
    """
    while True:
        with suppress(GenerationGoneError):
            gen, position = _build_and_switch(context)
            break
    context.notify_appended(position)
    try:
        drop_old_rows(context.views, lambda: liveness.set_deadline(LIVENESS_SECONDS))
    except StoreUnavailable as error:  # the new views are complete; old rows can wait
        log.warning("the next rebuild drops what is left of the old views: %s", error)
    return {"generation": gen, "position": position}


def _build_and_switch(context: WorkerContext) -> tuple[int, int]:
    """Fill and activate a new generation; return it with its position. Raises GenerationGoneError."""
    gen = _begin_generation(context)
    projector = Projector(context.history, f"rebuild-{secrets.token_hex(4)}", gen)
    try:
        position = _fill(context, projector)
        _check_same_tree(context, gen)
        while not switch_generation(context.views, gen):
            time.sleep(RETRY_SECONDS)
            position = max(_fill(context, projector), position)
    finally:
        projector.release()  # else the next rebuild waits for the lease to end
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
    """Raise GameDamaged if there are corrupt records and the new tree differs from the live one."""
    damaged = CorruptRecords(context.ledger).list_all()
    if damaged and not extends_live_tree(context.views, gen):
        raise GameDamaged(damaged[0].game, damaged[0].version)


def _fill(context: WorkerContext, projector: Projector) -> int:
    """Project to the end of the log; return the position there, or 0. Raises GenerationGoneError."""
    position, began = 0, time.monotonic()
    while True:
        liveness.set_deadline(LIVENESS_SECONDS)
        try:
            slice_ = projector.run(context.clock())
        except LeaseLostError:  # another rebuild had locked all partitions
            time.sleep(RETRY_SECONDS)
            continue
        if slice_ is None:
            return position
        position = slice_.position
        context.views.yield_to_writers(time.monotonic() - began)
        began = time.monotonic()
