"""Commands that run one process of a service: `api`, `worker`, `pump`, `keeper`, `migrate`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from deploy.cli.arguments import DONE, QUEUES, load_settings_of, with_redis_url
from deploy.cli.serve import FIRST_SIGN_SECONDS, list_http_programs, preload_modules, run_migrations, running_supervisor
from domain.errors import StoreUnavailable
from domain.ruleset_registry import RulesetRegistry
from workers import liveness

if TYPE_CHECKING:
    from deploy.backup.wal_archive import RunningBackup
    from deploy.runtime.wiring import ServiceContainer
    from workers.maintenance.archiving import GameArchiver


def api(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run the HTTP servers and nginx until a signal comes."""
    from deploy.runtime import nginx  # noqa: PLC0415
    from deploy.runtime.supervisor import stop_on_signals  # noqa: PLC0415

    with stop_on_signals() as stop_request:
        with open_services(args, registry) as services:
            settings = services.settings
        with (
            nginx.reserve_port(settings) as settings,
            liveness.supervised_folder(settings.data, f"api-{settings.port}") as liveness_folder,
            running_supervisor(settings, liveness_folder, stop_request) as supervisor,
        ):
            preload_modules()
            for program in list_http_programs(settings, registry, liveness_folder):
                supervisor.start(program)
            supervisor.run()
    return DONE


def worker(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run one worker of one queue."""
    from workers.worker import serve_queue  # noqa: PLC0415

    with open_services(args, registry) as services:
        liveness.register_process(services.settings.data, f"worker-{args.queue}", FIRST_SIGN_SECONDS)
        serve_queue(services.build_worker_context(), services.settings.redis_url, QUEUES[args.queue])
    return DONE


def pump(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run a projector: by a lock, one of each number per data folder. All projectors share the database's games."""
    from deploy.runtime.supervisor import hold_lock  # noqa: PLC0415
    from workers.reconciler import Reconciler  # noqa: PLC0415
    from workers.worker import run_projector  # noqa: PLC0415

    name = "pump" if args.number == 1 else f"pump-{args.number}"
    with open_services(args, registry) as services, hold_lock(services.settings.data / f"{name}.lock"):
        liveness.register_process(services.settings.data, name, FIRST_SIGN_SECONDS)
        context = services.build_worker_context()
        owed = services.notifications.outbox.has_due if context.delivery_pool else None
        parts = (services.reader, context.job_requests, context.heartbeat, services.queues, context.clock, owed)
        owner = context.node if args.number == 1 else f"{context.node}/{args.number}"
        run_projector(
            context,
            services.signals,
            Reconciler(*parts),
            owner,
            services.build_notification_producer() if context.delivery_pool else None,
        )
    return DONE


def keeper(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run the maintenance process: it scrubs the log under a lease, archives, and keeps this folder's backup."""
    from workers.maintenance.process import run_maintenance  # noqa: PLC0415

    with open_services(args, registry) as services:
        liveness.register_process(services.settings.data, "keeper", FIRST_SIGN_SECONDS)
        if not services.settings.scrub:
            _clear_progress(services, "scrub")
        run_maintenance(
            services.build_worker_context(), services.settings.scrub, _build_backup(services), _build_archiver(services)
        )
    return DONE


def _build_archiver(services: ServiceContainer) -> GameArchiver | None:
    from workers.maintenance.archiving import GameArchiver  # noqa: PLC0415

    days = services.settings.archive_days
    return GameArchiver(services.build_worker_context(), days) if days else None


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


@contextmanager
def open_services(args: argparse.Namespace, registry: RulesetRegistry) -> Iterator[ServiceContainer]:
    from deploy.runtime.wiring import create_services  # noqa: PLC0415

    settings = with_redis_url(load_settings_of(args))
    settings.make_data_folder()
    services = create_services(settings, registry)
    try:
        _check_key(services)
        yield services
    finally:
        services.close()


def _check_key(services: ServiceContainer) -> None:
    """Raise WrongKey if the key does not fit. Ignore a store that is unavailable or has no tables yet."""
    with suppress(StoreUnavailable):
        services.seed_store.check()


def migrate(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Create missing folders, keys and tables."""
    run_migrations(load_settings_of(args))
    return DONE
