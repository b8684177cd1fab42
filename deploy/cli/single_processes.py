"""Commands that run one process of a service: `api`, `worker`, `pump`, `keeper`, `migrate`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from domain.errors import StoreUnavailable
from domain.ruleset_registry import RulesetRegistry
from workers import liveness

if TYPE_CHECKING:
    from deploy.backup.wal_archive import RunningBackup
    from deploy.runtime.wiring import Services
    from workers.maintenance.archiving import GameArchiver
from deploy.cli.arguments import DONE, QUEUES, settings_of, with_redis
from deploy.cli.serve import START, http_programs, preload, run_migrations, running_supervisor


def api(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """The HTTP server and its front, until a signal comes."""
    from deploy.runtime import nginx  # noqa: PLC0415
    from deploy.runtime.supervisor import stopped_by_signals  # noqa: PLC0415

    with stopped_by_signals() as ending:
        with open_services(args, catalogue) as services:
            settings = services.settings
        with (
            nginx.held(settings) as settings,
            liveness.supervised_folder(settings.data, f"api-{settings.port}") as pulses,
            running_supervisor(settings, pulses, ending) as supervisor,
        ):
            preload()
            for program in http_programs(settings, catalogue, pulses):
                supervisor.start(program)
            supervisor.run()
    return DONE


def worker(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """One worker of one queue."""
    from workers.worker import serve_queue  # noqa: PLC0415

    with open_services(args, catalogue) as services:
        liveness.register_process(services.settings.data, f"worker-{args.queue}", START)
        serve_queue(services.crew(), services.settings.redis_url, QUEUES[args.queue])
    return DONE


def pump(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """A pump: one of each number per data folder, by a lock. All those of a database share its games."""
    from deploy.runtime.supervisor import alone  # noqa: PLC0415
    from workers.reconciler import Reconciler  # noqa: PLC0415
    from workers.worker import run_projector as run  # noqa: PLC0415

    name = "pump" if args.number == 1 else f"pump-{args.number}"
    with open_services(args, catalogue) as services, alone(services.settings.data / f"{name}.lock"):
        liveness.register_process(services.settings.data, name, START)
        crew = services.crew()
        owed = services.notifications.outbox.has_due if crew.delivery_pool else None
        parts = (services.reader, crew.job_requests, crew.heartbeat, services.queues, crew.clock, owed)
        owner = crew.node if args.number == 1 else f"{crew.node}/{args.number}"
        run(crew, services.signals, Reconciler(*parts), owner, services.owing() if crew.delivery_pool else None)
    return DONE


def keeper(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """The log against its tree by one of them, by its lease; the running backup of this folder."""
    from workers.maintenance.process import run_maintenance  # noqa: PLC0415

    with open_services(args, catalogue) as services:
        liveness.register_process(services.settings.data, "keeper", START)
        if not services.settings.scrub:
            _nothing_late(services, "scrub")
        run_maintenance(services.crew(), services.settings.scrub, _copying(services), _archiving(services))
    return DONE


def _archiving(services: Services) -> GameArchiver | None:
    from workers.maintenance.archiving import GameArchiver  # noqa: PLC0415

    days = services.settings.archive_days
    return GameArchiver(services.crew(), days) if days else None


def _copying(services: Services) -> RunningBackup | None:
    from deploy.backup.wal_archive import RunningBackup  # noqa: PLC0415

    if services.settings.backup:
        return RunningBackup(services.settings, services.views, services.clock)
    _nothing_late(services, "backup")
    return None


def _nothing_late(services: Services, work: str) -> None:
    """Of what is asked for no more, the progress of before is none that stands still."""
    from projections.leases import save_progress as note  # noqa: PLC0415

    with suppress(StoreUnavailable), services.views.transaction() as db:
        note(db, work, {})


@contextmanager
def open_services(args: argparse.Namespace, catalogue: RulesetRegistry) -> Iterator[Services]:
    from deploy.runtime.wiring import create_services  # noqa: PLC0415

    settings = with_redis(settings_of(args))
    settings.prepare()
    services = create_services(settings, catalogue)
    try:
        _check(services)
        yield services
    finally:
        services.close()


def _check(services: Services) -> None:
    """Raises WrongKey; a store that is away, or has no tables yet, may come back later."""
    with suppress(StoreUnavailable):
        services.seed_store.check()


def migrate(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Folder, key and tables."""
    run_migrations(settings_of(args))
    return DONE
