"""The command `annals serve`: a supervisor and every process of a service.

Libraries are imported by the command that needs them: the supervisor and the simulations start without.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.config.settings import Settings, load
from deploy.runtime import logging_setup
from domain.ruleset_registry import RulesetRegistry, load_shipped
from workers import liveness

if TYPE_CHECKING:
    from deploy.runtime.supervisor import Ending, Program, Supervisor
from deploy.cli.arguments import DONE, settings_of

Run = Callable[[Sequence[str]], int]

START = 60.0
"""Seconds within which a process that was started gives its first sign of life."""

BEHIND = 5
"""By how much the process for streams is nicer than others: who asks is answered before who watches."""

FOR_MIGRATING = frozenset({"ANNALS_MIGRATE_URL", "ANNALS_NEW_KEY"})
"""What no process of the service is told: with it the log could be changed."""

log = logging.getLogger("annals.serve")


def serve(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """Everything in one: the supervisor and its processes, until a signal comes."""
    from deploy.runtime import nginx  # noqa: PLC0415
    from deploy.runtime.supervisor import alone, stopped_by_signals  # noqa: PLC0415

    with stopped_by_signals() as ending:
        settings = settings_of(args)
        settings.prepare()
        with suppress(OSError):  # as on a full disk: the data may be on another one
            print(f"annals: the data are in {settings.data}", file=sys.stderr, flush=True)
        with alone(settings.data / "lock"), nginx.held(settings) as settings:
            _supervise(settings, catalogue, args.main, ending)
    return DONE


def _supervise(settings: Settings, catalogue: RulesetRegistry, main: Callable[..., int], ending: Ending) -> None:
    from deploy.runtime import embedded_redis  # noqa: PLC0415
    from deploy.runtime.supervisor import Program  # noqa: PLC0415

    own = not settings.redis_url
    if own:
        embedded_redis.clear(settings)
        settings = replace(settings, redis_url=embedded_redis.url_of(settings.data))
    with (
        liveness.supervised_folder(settings.data, "serve") as pulses,
        running_supervisor(settings, pulses, ending) as supervisor,
    ):
        if own:
            supervisor.start(Program("redis", embedded_redis.command(settings.data), last=True, sign=START))
        run_migrations(settings)
        if not embedded_redis.wait(settings.redis_url, seconds=10):
            log.warning("Redis does not answer%s", f": see {settings.data / 'redis' / 'log'}" if own else "")
        preload("workers.worker")
        for program in programs(settings, catalogue, pulses, main):
            supervisor.start(program)
        supervisor.run(_Announcement(settings, pulses))


@contextmanager
def running_supervisor(settings: Settings, pulses: Path, ending: Ending) -> Iterator[Supervisor]:
    from deploy.runtime.supervisor import Supervisor  # noqa: PLC0415
    from domain.ledger.sqlite_files import checkpoint_closed_file  # noqa: PLC0415

    environ = {name: value for name, value in os.environ.items() if name not in FOR_MIGRATING}
    supervisor = Supervisor({**environ, **settings.environ()}, pulses, ending=ending)
    try:
        yield supervisor
    finally:
        supervisor.stop()
        if settings.sqlite:
            checkpoint_closed_file(settings.ledger_file)
            checkpoint_closed_file(settings.views_file)


def run_migrations(settings: Settings) -> None:
    from deploy.runtime.wiring import migrate as make  # noqa: PLC0415

    make(settings)


def programs(settings: Settings, catalogue: RulesetRegistry, pulses: Path, main: Callable[..., int]) -> list[Program]:
    """The processes of a service, beside its Redis. Each tells that it lives, or the prober does.

    `main` runs one command of ours: pump and workers are such.
    """
    from deploy.runtime.supervisor import Program  # noqa: PLC0415

    workers = {f"worker-{n}": ["worker", "turns"] for n in range(1, settings.workers + 1)}
    pumps = {f"pump-{n}": ["pump", str(n)] for n in range(2, settings.pumps + 1)}
    commands = {"pump": ["pump"], **pumps, **workers, "batch": ["worker", "batch"], "keeper": ["keeper"]}
    run: Run = partial(main, catalogue=catalogue) if _forks() else main
    others = [Program(name, args, run, sign=START) for name, args in commands.items()]
    return [*http_programs(settings, catalogue, pulses), *others]


def http_programs(settings: Settings, catalogue: RulesetRegistry, pulses: Path) -> list[Program]:
    """The HTTP servers, in front of them nginx, through which they give their last answers, and who asks all."""
    from deploy.runtime import nginx, prober  # noqa: PLC0415
    from deploy.runtime.supervisor import Program  # noqa: PLC0415

    given = catalogue if _forks() else None
    return [
        Program("front", nginx.command(settings), partial(nginx.run, settings, nginx.Limits()), last=True, sign=START),
        Program("api", [], partial(_serve_http, given), sign=START),
        Program("streams", [], partial(_serve_streams, given), sign=START),
        Program("prober", [], partial(prober.run, settings, pulses), sign=START),
    ]


def _serve_http(catalogue: RulesetRegistry | None, _: Sequence[str]) -> int:
    from deploy.runtime.server import serve as run  # noqa: PLC0415

    settings = load()
    logging_setup.set_up(settings.log_level)
    run(settings, catalogue or load_shipped())
    return DONE


def _serve_streams(catalogue: RulesetRegistry | None, _: Sequence[str]) -> int:
    from deploy.runtime.server import serve_streams as run  # noqa: PLC0415

    settings = load()
    logging_setup.set_up(settings.log_level)
    os.nice(BEHIND)
    run(settings, catalogue or load_shipped())
    return DONE


def _forks() -> bool:
    """Whether children are forked; one that is not plays what is shipped: the catalogue of a test cannot be sent."""
    return sys.platform == "linux"


def preload(*more: str) -> None:
    """Before the children are made: what all of them would load, loaded once."""
    for name in ("api.app", "api.streams.asgi", "deploy.runtime.server", "deploy.runtime.wiring", *more):
        import_module(name)
    gc.freeze()  # collecting would touch, and so copy, what the children share


class _Announcement:
    """Says once that the service is ready; from then on it must answer."""

    def __init__(self, settings: Settings, pulses: Path) -> None:
        from deploy.runtime import nginx  # noqa: PLC0415

        self._settings, self._streams = settings, nginx.stream_socket(settings)
        self._asked, self._said, self._pulses = time.monotonic(), False, pulses

    def __call__(self) -> None:
        from deploy.runtime import unix_http  # noqa: PLC0415
        from deploy.runtime.prober import ready, vouch  # noqa: PLC0415

        if self._said or time.monotonic() < self._asked + 0.05:
            return
        self._asked = time.monotonic()
        if ready(self._settings, 1) and unix_http.health(self._streams):
            print(f"ready {self._settings.url}", flush=True)
            vouch(self._pulses, "front", "api", "streams")
            self._said = True
