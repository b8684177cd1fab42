"""The command `annals serve`: a supervisor and all processes of a service.

Each command imports its own libraries: the supervisor and the simulations start without them.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.cli.arguments import DONE, load_settings_of
from deploy.cli.process_loops import FIRST_SIGN_SECONDS, run_keeper, run_pump, run_worker
from deploy.config.settings import Settings, load_settings
from deploy.runtime import logging_setup
from domain.ruleset_registry import RulesetRegistry
from workers import liveness

if TYPE_CHECKING:
    from deploy.runtime.shared_services import SharedServices
    from deploy.runtime.supervisor import Program, StopRequest, Supervisor
    from deploy.runtime.wiring import ServiceContainer

Run = Callable[[Sequence[str]], int]

STREAM_NICENESS = 5
"""Added niceness of the stream server: requests are answered before streams."""

FINISH_SECONDS = 1.0
"""Seconds that running requests have to finish. Clients repeat an interrupted move with its idempotency key."""

MIGRATION_VARIABLES = frozenset({"ANNALS_MIGRATE_URL", "ANNALS_NEW_KEY"})
"""Variables hidden from all processes of the service: with them the log could be changed."""

log = logging.getLogger("annals.serve")


def serve(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run the whole service until a signal comes. These are all steps of a start, in order."""
    from deploy.runtime import nginx  # noqa: PLC0415
    from deploy.runtime.supervisor import hold_lock, stop_on_signals  # noqa: PLC0415

    with stop_on_signals() as stop_request, ExitStack() as cleanup:
        # 1. Read the settings and prepare the data folder.
        settings = load_settings_of(args)
        settings.make_data_folder()
        print_data_folder(settings)

        # 2. Lock the data folder: one `serve` at a time.
        cleanup.enter_context(hold_lock(settings.data / "lock"))

        # 3. Reserve the port; 0 becomes a free one.
        settings = cleanup.enter_context(nginx.reserve_port(settings))

        # 4. Without a configured Redis, choose the embedded one, and end one that a killed service left behind.
        from deploy.runtime import embedded_redis  # noqa: PLC0415

        embedded = not settings.redis_url
        if embedded:
            embedded_redis.remove_leftovers(settings)
            settings = replace(settings, redis_url=embedded_redis.server_url(settings.data))

        # 5. Make the supervisor. From here on, an end stops all its processes.
        liveness_folder = cleanup.enter_context(liveness.supervised_folder(settings.data, "serve"))
        supervisor = cleanup.enter_context(running_supervisor(settings, liveness_folder, stop_request))

        # 6. Start the embedded Redis; it loads while the next step runs.
        if embedded:
            supervisor.start(_redis_program(settings))

        # 7. Create or migrate the databases.
        run_migrations(settings)

        # 8. Wait for Redis; the service also runs without it.
        if not embedded_redis.wait_until_up(settings.redis_url, seconds=10):
            log.warning("Redis does not answer%s", f": see {settings.data / 'redis' / 'log'}" if embedded else "")

        # 9. Import shared modules and build services once, before processes are forked.
        preload_modules("workers.worker", "workers.reconciler", "workers.maintenance.process")
        shared = share_services(supervisor, registry)

        # 10. Start nginx, the servers, projectors, workers and the maintenance process.
        for program in list_programs(settings, shared, liveness_folder, args.main, args.report_errors):
            supervisor.start(program)

        # 11. Supervise them, and announce once that the service is ready.
        supervisor.run(_Announcement(settings, liveness_folder))
    return DONE


def print_data_folder(settings: Settings) -> None:
    with suppress(OSError):  # such as a full disk: the data may be on another one
        print(f"annals: the data are in {settings.data}", file=sys.stderr, flush=True)


def _redis_program(settings: Settings) -> Program:
    from deploy.runtime import embedded_redis  # noqa: PLC0415
    from deploy.runtime.supervisor import Program  # noqa: PLC0415

    command = embedded_redis.server_command(settings.data)
    return Program("redis", command, stops_last=True, first_sign_seconds=FIRST_SIGN_SECONDS)


@contextmanager
def running_supervisor(settings: Settings, liveness_folder: Path, stop_request: StopRequest) -> Iterator[Supervisor]:
    from deploy.runtime.supervisor import Supervisor  # noqa: PLC0415
    from domain.ledger.sqlite_files import checkpoint_closed_file  # noqa: PLC0415

    environ = {name: value for name, value in os.environ.items() if name not in MIGRATION_VARIABLES}
    supervisor = Supervisor({**environ, **settings.to_environ()}, liveness_folder, stop_request=stop_request)
    try:
        yield supervisor
    finally:
        supervisor.stop()
        if settings.sqlite:
            checkpoint_closed_file(settings.ledger_file)
            checkpoint_closed_file(settings.views_file)


def run_migrations(settings: Settings) -> None:
    from deploy.runtime.wiring import migrate  # noqa: PLC0415

    migrate(settings)


def list_programs(
    settings: Settings,
    shared: SharedServices | None,
    liveness_folder: Path,
    main: Callable[..., int],
    report_errors: Callable[[Callable[[], None]], int],
) -> list[Program]:
    """Return the processes of a service, without Redis. Each gives signs of life, or the prober gives them for it.

    Forked processes use the `shared` services. Others run a command of the command line by `main`, such as `pump`.
    `report_errors` runs a function and returns the exit status for its errors, as `main` does.
    """
    from deploy.runtime.supervisor import Program  # noqa: PLC0415

    loops: dict[str, tuple[list[str], Callable[[ServiceContainer], None]]] = {
        "pump": (["pump"], partial(run_pump, number=1)),
        **{f"pump-{n}": (["pump", str(n)], partial(run_pump, number=n)) for n in range(2, settings.pumps + 1)},
        **{
            f"worker-{n}": (["worker", "turns"], partial(run_worker, queue="turns"))
            for n in range(1, settings.workers + 1)
        },
        "batch": (["worker", "batch"], partial(run_worker, queue="batch")),
        "keeper": (["keeper"], run_keeper),
    }

    def choose_run(loop: Callable[[ServiceContainer], None]) -> Run:
        return partial(_run_loop, report_errors, shared, loop) if shared else main

    others = [
        Program(name, args, choose_run(loop), first_sign_seconds=FIRST_SIGN_SECONDS)
        for name, (args, loop) in loops.items()
    ]
    return [*list_http_programs(settings, shared, liveness_folder), *others]


def _run_loop(
    report_errors: Callable[[Callable[[], None]], int],
    shared: SharedServices,
    loop: Callable[[ServiceContainer], None],
    _: Sequence[str],
) -> int:
    """Run the work of one forked process."""

    def run() -> None:
        with shared.use_services() as services:
            loop(services)

    return report_errors(run)


def list_http_programs(settings: Settings, shared: SharedServices | None, liveness_folder: Path) -> list[Program]:
    """Return nginx, the HTTP servers and the prober. Nginx stops last, so that the servers can finish answers."""
    from api.streams.asgi import SHUTDOWN_SECONDS  # noqa: PLC0415
    from deploy.runtime import nginx, prober  # noqa: PLC0415
    from deploy.runtime.supervisor import Program  # noqa: PLC0415

    return [
        Program(
            "front",
            nginx.nginx_command(settings),
            partial(nginx.exec_nginx, settings, nginx.Limits()),
            stops_last=True,
            first_sign_seconds=FIRST_SIGN_SECONDS,
        ),
        Program(
            "api",
            [],
            partial(_serve_http, shared),
            stop_seconds=FINISH_SECONDS,
            first_sign_seconds=FIRST_SIGN_SECONDS,
        ),
        Program(
            "streams",
            [],
            partial(_serve_streams, shared),
            stop_seconds=SHUTDOWN_SECONDS + FINISH_SECONDS,
            first_sign_seconds=FIRST_SIGN_SECONDS,
        ),
        Program(
            "prober", [], partial(prober.run_prober, settings, liveness_folder), first_sign_seconds=FIRST_SIGN_SECONDS
        ),
    ]


def _serve_http(shared: SharedServices | None, _: Sequence[str]) -> int:
    from deploy.runtime.server import serve_api  # noqa: PLC0415

    serve_api(_load_child_settings(shared), shared)
    return DONE


def _serve_streams(shared: SharedServices | None, _: Sequence[str]) -> int:
    from deploy.runtime.server import serve_streams  # noqa: PLC0415

    os.nice(STREAM_NICENESS)
    serve_streams(_load_child_settings(shared), shared)
    return DONE


def _load_child_settings(shared: SharedServices | None) -> Settings:
    """Return the settings of a child. One that was not forked also sets up its logs."""
    if shared:
        return shared.settings
    settings = load_settings()
    logging_setup.configure_logging(settings.log_level)
    return settings


def _can_fork() -> bool:
    """Return whether children are forked. A spawned child builds everything itself, with the shipped rulesets."""
    return sys.platform == "linux"


def preload_modules(*more: str) -> None:
    """Import the modules of all children once, before they are forked."""
    for name in ("api.app", "api.streams.asgi", "deploy.runtime.server", "deploy.runtime.wiring", *more):
        import_module(name)


def share_services(supervisor: Supervisor, registry: RulesetRegistry) -> SharedServices | None:
    """Build the services of forked children, with the settings of their environment. Call it last before a fork."""
    if not _can_fork():
        return None
    from deploy.runtime.heap import freeze_heap  # noqa: PLC0415
    from deploy.runtime.shared_services import build_shared_services  # noqa: PLC0415
    from deploy.runtime.wiring import create_services  # noqa: PLC0415

    shared = build_shared_services(create_services(load_settings(environ=supervisor.environ), registry))
    freeze_heap()
    return shared


class _Announcement:
    """Prints once that the service is ready; from then on the servers have deadlines to answer."""

    def __init__(self, settings: Settings, liveness_folder: Path) -> None:
        from deploy.runtime import nginx  # noqa: PLC0415

        self._settings = settings
        self._stream_socket = nginx.stream_socket(settings)
        self._checked_at = time.monotonic()
        self._is_announced = False
        self._liveness_folder = liveness_folder

    def __call__(self) -> None:
        from deploy.runtime import unix_http  # noqa: PLC0415
        from deploy.runtime.prober import extend_deadlines, is_ready  # noqa: PLC0415

        if self._is_announced or time.monotonic() < self._checked_at + 0.05:
            return
        self._checked_at = time.monotonic()
        if is_ready(self._settings, 1) and unix_http.fetch_health(self._stream_socket):
            print(f"ready {self._settings.url}", flush=True)
            extend_deadlines(self._liveness_folder, "front", "api", "streams")
            self._is_announced = True
