"""The work of single processes over their services: a worker, a projector, the maintenance process."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from deploy.cli.arguments import QUEUES
from domain.errors import StoreUnavailable
from workers import liveness

if TYPE_CHECKING:
    from threading import Event

    from deploy.backup.wal_archive import RunningBackup
    from deploy.runtime.wiring import ServiceContainer
    from workers.context import WorkerContext
    from workers.maintenance.archiving import GameArchiver
    from workers.maintenance.talk_retention import TalkRetention

FIRST_SIGN_SECONDS = 60.0
"""Seconds within which a started process must give its first sign of life."""


def run_worker(services: ServiceContainer, queue: str) -> None:
    """Run the jobs of a queue, `turns` or `batch`, until a signal comes."""
    from workers.worker import serve_queue  # noqa: PLC0415

    liveness.register_process(services.settings.data, f"worker-{queue}", FIRST_SIGN_SECONDS)
    serve_queue(services.build_worker_context(), services.settings.redis_url, QUEUES[queue])


def run_pump(services: ServiceContainer, number: int) -> None:
    """Run a projector until a signal comes: by a lock, one of each number per data folder."""
    from deploy.runtime.supervisor import hold_lock  # noqa: PLC0415
    from workers.reconciler import Reconciler  # noqa: PLC0415
    from workers.worker import run_projector  # noqa: PLC0415

    name = "pump" if number == 1 else f"pump-{number}"
    with hold_lock(services.settings.data / f"{name}.lock"):
        liveness.register_process(services.settings.data, name, FIRST_SIGN_SECONDS)
        context = services.build_worker_context()
        owed = services.notifications.outbox.has_due if context.delivery_pool else None
        parts = (
            services.reader,
            context.job_requests,
            context.heartbeat,
            services.queues,
            context.clock,
            owed,
            context.orders,
        )
        owner = context.node if number == 1 else f"{context.node}/{number}"
        run_projector(
            context,
            services.signals,
            Reconciler(*parts),
            owner,
            services.build_notification_producer() if context.delivery_pool else None,
        )


def run_keeper(services: ServiceContainer) -> None:
    """Run the maintenance process until a signal comes."""
    from workers.maintenance.process import stop_on_signals  # noqa: PLC0415

    liveness.register_process(services.settings.data, "keeper", FIRST_SIGN_SECONDS)
    run_maintenance_until(services, services.build_worker_context(), stop_on_signals())


def run_maintenance_until(services: ServiceContainer, context: WorkerContext, stopped: Event) -> None:
    """Run the maintenance until `stopped` is set."""
    from workers.maintenance.process import run_maintenance  # noqa: PLC0415

    rate = services.settings.scrub
    if not rate:
        _clear_progress(services, "scrub")
    archiver, retention = _build_archiver(services, context), _build_retention(services, context)
    run_maintenance(context, stopped, rate, _build_backup(services), archiver, retention)


def _build_retention(services: ServiceContainer, context: WorkerContext) -> TalkRetention | None:
    from workers.maintenance.talk_retention import TalkRetention  # noqa: PLC0415

    days = services.settings.talk_days
    return TalkRetention(context, days) if days else None


def _build_archiver(services: ServiceContainer, context: WorkerContext) -> GameArchiver | None:
    from workers.maintenance.archiving import GameArchiver  # noqa: PLC0415

    days = services.settings.archive_days
    return GameArchiver(context, days) if days else None


def _build_backup(services: ServiceContainer) -> RunningBackup | None:
    from deploy.backup.wal_archive import RunningBackup  # noqa: PLC0415

    if services.settings.backup:
        return RunningBackup(services.settings, services.views, services.clock)
    _clear_progress(services, "backup")
    return None


def _clear_progress(services: ServiceContainer, work: str) -> None:
    """Clear the progress of disabled work: it would look like work that is stuck."""
    from projections.leases import save_progress  # noqa: PLC0415

    with suppress(StoreUnavailable), services.views.transaction() as db:
        save_progress(db, work, {})
