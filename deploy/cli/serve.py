"""The command `annals serve`: a supervisor and all processes of a service.

Each command imports its own libraries: the supervisor and the simulations start without them.
"""

from __future__ import annotations

import argparse
import gc
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
from deploy.config.settings import Settings, load_settings
from deploy.runtime import logging_setup
from domain.ruleset_registry import RulesetRegistry, load_shipped
from workers import liveness

if TYPE_CHECKING:
    from deploy.runtime.supervisor import Program, StopRequest, Supervisor

Run = Callable[[Sequence[str]], int]

FIRST_SIGN_SECONDS = 60.0
"""Seconds within which a started process must give its first sign of life."""

STREAM_NICENESS = 5
"""Added niceness of the stream server: requests are answered before streams."""

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
        _print_data_folder(settings)

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

        # 9. Import shared modules once, before processes are forked.
        preload_modules("workers.worker")

        # 10. Start nginx, the servers, projectors, workers and the maintenance process.
        for program in list_programs(settings, registry, liveness_folder, args.main):
            supervisor.start(program)

        # 11. Supervise them, and announce once that the service is ready.
        supervisor.run(_Announcement(settings, liveness_folder))
    return DONE


def _print_data_folder(settings: Settings) -> None:
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
    settings: Settings, registry: RulesetRegistry, liveness_folder: Path, main: Callable[..., int]
) -> list[Program]:
    """Return the processes of a service, without Redis. Each gives signs of life, or the prober gives them for it.

    `main` runs one command of the command line, such as `pump` or `worker`.
    """
    from deploy.runtime.supervisor import Program  # noqa: PLC0415

    workers = {f"worker-{n}": ["worker", "turns"] for n in range(1, settings.workers + 1)}
    pumps = {f"pump-{n}": ["pump", str(n)] for n in range(2, settings.pumps + 1)}
    commands = {"pump": ["pump"], **pumps, **workers, "batch": ["worker", "batch"], "keeper": ["keeper"]}
    run: Run = partial(main, registry=registry) if _can_fork() else main
    others = [Program(name, args, run, first_sign_seconds=FIRST_SIGN_SECONDS) for name, args in commands.items()]
    return [*list_http_programs(settings, registry, liveness_folder), *others]


def list_http_programs(settings: Settings, registry: RulesetRegistry, liveness_folder: Path) -> list[Program]:
    """Return nginx, the HTTP servers and the prober. Nginx stops last, so that the servers can finish answers."""
    from deploy.runtime import nginx, prober  # noqa: PLC0415
    from deploy.runtime.supervisor import Program  # noqa: PLC0415

    inherited = registry if _can_fork() else None
    return [
        Program(
            "front",
            nginx.nginx_command(settings),
            partial(nginx.exec_nginx, settings, nginx.Limits()),
            stops_last=True,
            first_sign_seconds=FIRST_SIGN_SECONDS,
        ),
        Program("api", [], partial(_serve_http, inherited), first_sign_seconds=FIRST_SIGN_SECONDS),
        Program("streams", [], partial(_serve_streams, inherited), first_sign_seconds=FIRST_SIGN_SECONDS),
        Program(
            "prober", [], partial(prober.run_prober, settings, liveness_folder), first_sign_seconds=FIRST_SIGN_SECONDS
        ),
    ]


def _serve_http(registry: RulesetRegistry | None, _: Sequence[str]) -> int:
    from deploy.runtime.server import serve_api  # noqa: PLC0415

    settings = load_settings()
    logging_setup.configure_logging(settings.log_level)
    serve_api(settings, registry or load_shipped())
    return DONE


def _serve_streams(registry: RulesetRegistry | None, _: Sequence[str]) -> int:
    from deploy.runtime.server import serve_streams  # noqa: PLC0415

    settings = load_settings()
    logging_setup.configure_logging(settings.log_level)
    os.nice(STREAM_NICENESS)
    serve_streams(settings, registry or load_shipped())
    return DONE


def _can_fork() -> bool:
    """Return whether children are forked. A spawned child loads the shipped rulesets: a registry cannot be sent."""
    return sys.platform == "linux"


def preload_modules(*more: str) -> None:
    """Import the modules of all children once, before they are forked."""
    for name in ("api.app", "api.streams.asgi", "deploy.runtime.server", "deploy.runtime.wiring", *more):
        import_module(name)
    gc.freeze()  # a collection would touch, and so copy, memory shared with children


class _Announcement:
    """Prints once that the service is ready; from then on the servers have deadlines to answer."""

    def __init__(self, settings: Settings, liveness_folder: Path) -> None:
        from deploy.runtime import nginx  # noqa: PLC0415

        self._settings, self._stream_socket = settings, nginx.stream_socket(settings)
        self._checked_at, self._is_announced, self._liveness_folder = time.monotonic(), False, liveness_folder

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
