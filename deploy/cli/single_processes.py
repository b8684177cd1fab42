"""Commands that run one process of a service: `api`, `worker`, `pump`, `keeper`, `migrate`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deploy.cli import process_loops
from deploy.cli.arguments import DONE, load_settings_of, with_redis_url
from deploy.cli.serve import list_http_programs, preload_modules, run_migrations, running_supervisor, share_services
from domain.ruleset_registry import RulesetRegistry
from workers import liveness

if TYPE_CHECKING:
    from deploy.runtime.wiring import ServiceContainer


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
            shared = share_services(supervisor, registry)
            for program in list_http_programs(settings, shared, liveness_folder):
                supervisor.start(program)
            supervisor.run()
    return DONE


def worker(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run one worker of one queue."""
    with open_services(args, registry) as services:
        process_loops.run_worker(services, args.queue)
    return DONE


def pump(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run a projector. All projectors share the database's games."""
    with open_services(args, registry) as services:
        process_loops.run_pump(services, args.number)
    return DONE


def keeper(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run the maintenance process: it scrubs the log under a lease, archives, and keeps this folder's backup."""
    with open_services(args, registry) as services:
        process_loops.run_keeper(services)
    return DONE


@contextmanager
def open_services(args: argparse.Namespace, registry: RulesetRegistry) -> Iterator[ServiceContainer]:
    from deploy.runtime.wiring import create_services  # noqa: PLC0415

    settings = with_redis_url(load_settings_of(args))
    settings.make_data_folder()
    services = create_services(settings, registry)
    try:
        services.check_key()
        yield services
    finally:
        services.close()


def migrate(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Create missing folders, keys and tables."""
    run_migrations(load_settings_of(args))
    return DONE
