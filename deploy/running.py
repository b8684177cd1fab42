"""The commands that run the service and care for it: from `serve` to `restore`.

Libraries are imported by the command that needs them: the supervisor and the simulations start without.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from deploy import logs
from deploy.settings import LOG_LEVELS, Settings, SettingsError, load
from domain.catalogue import Catalogue
from domain.ids import Json

if TYPE_CHECKING:
    from deploy.supervisor import Program
    from deploy.wiring import Services

Add = Callable[..., argparse.ArgumentParser]
Run = Callable[[Sequence[str]], int]

DONE, FAILED = 0, 1

START = 60.0
"""Seconds within which a process that was started gives its first sign of life."""

QUEUES = {"turns": "annals-turns", "batch": "annals-batch"}

log = logging.getLogger("annals.serve")


def add_commands(add: Add) -> None:
    """Their arguments."""
    one = add("serve", help="run the whole service, and everything that it needs")
    one.set_defaults(command=serve)
    _add_settings(one)
    one.add_argument("--host", help="address to listen on (127.0.0.1 unless given)")
    one.add_argument("--port", type=int, metavar="P", help="8000 unless given; 0 takes a free one")
    one.add_argument("--workers", type=int, metavar="N", help="processes for turns and deadlines (1 unless given)")

    one = add("api", help="run the HTTP server alone")
    one.set_defaults(command=api)
    _add_settings(one)
    one.add_argument("--host", help="address to listen on (127.0.0.1 unless given)")
    one.add_argument("--port", type=int, metavar="P")

    one = add("worker", help="run one worker")
    one.set_defaults(command=worker)
    one.add_argument("queue", choices=QUEUES, nargs="?", default="turns")
    _add_settings(one)

    one = add("pump", help="run the process that makes the views; any number may stand by")
    one.set_defaults(command=pump)
    _add_settings(one)

    one = add("migrate", help="make the folder, the key and the tables that are missing")
    one.set_defaults(command=migrate)
    _add_settings(one)

    one = add("doctor", help="look at everything that can be wrong; fails if something is")
    one.set_defaults(command=doctor)
    _add_settings(one)
    one.add_argument("--json", action="store_true", help="one JSON document instead of lines")

    one = add("audit", help="have a worker prove a game of a running service, also one that is being played")
    one.set_defaults(command=audit)
    one.add_argument("game", metavar="GAME")
    _add_settings(one)

    one = add("rebuild", help="have a worker make all views anew beside the live ones, then switch")
    one.set_defaults(command=rebuild)
    _add_settings(one)

    one = add("backup", help="copy the ledger and the key of a running service on SQLite")
    one.set_defaults(command=backup)
    one.add_argument("to", metavar="DIR", type=Path, help="a new or empty folder")
    _add_settings(one)

    one = add("restore", help="make a data folder of a backup")
    one.set_defaults(command=restore)
    one.add_argument("source", metavar="DIR", type=Path)
    _add_settings(one)


def _add_settings(one: argparse.ArgumentParser) -> None:
    one.add_argument("--data", metavar="DIR", help="data folder (var unless given)")
    one.add_argument("--log-level", choices=LOG_LEVELS, dest="log_level")


def settings_of(args: argparse.Namespace) -> Settings:
    """Flags before the environment; and from now on this process logs."""
    settings = load({name: getattr(args, name, None) for name in ("data", "host", "port", "workers", "log_level")})
    logs.set_up(settings.log_level)
    return settings


# --- serve -----------------------------------------------------------------------------------------------------


def serve(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """Everything in one: the supervisor and its processes, until a signal comes."""
    from deploy.server import free_port  # noqa: PLC0415
    from deploy.supervisor import StoppedError, alone, stopped_by_signals  # noqa: PLC0415

    settings = settings_of(args)
    settings.prepare()
    try:
        with alone(settings.data / "lock"), stopped_by_signals():
            settings = replace(settings, port=free_port(settings.host, settings.port))
            _supervise(settings, _child(catalogue))
    except StoppedError:
        pass
    return DONE


def _supervise(settings: Settings, run: Run) -> None:
    from deploy import embedded  # noqa: PLC0415
    from deploy.supervisor import Program, Supervisor  # noqa: PLC0415

    own = not settings.redis_url
    if own:
        embedded.clear(settings)
        settings = replace(settings, redis_url=embedded.url_of(settings.data))
    pulses = settings.data / "pulse"
    pulses.mkdir(mode=0o700, exist_ok=True)
    supervisor = Supervisor({**os.environ, **settings.environ()}, pulses)
    try:
        if own:
            supervisor.start(Program("redis", embedded.command(settings.data), last=True))
        _migrate(settings)
        if not embedded.wait(settings.redis_url, seconds=10):
            raise SettingsError("Redis does not answer" + (f": see {settings.data / 'redis' / 'log'}" if own else ""))
        _load()
        for program in programs(settings, run):
            supervisor.start(program)
        supervisor.run(_Announcement(settings))
    finally:
        supervisor.stop()


def _migrate(settings: Settings) -> None:
    from deploy.wiring import migrate as make  # noqa: PLC0415

    make(settings)


def programs(settings: Settings, run: Run) -> list[Program]:
    """The processes of a service, beside its Redis."""
    from deploy.supervisor import Program  # noqa: PLC0415

    workers = {f"worker-{n}": ["worker", "turns"] for n in range(1, settings.workers + 1)}
    commands = {"api": ["api"], "pump": ["pump"], **workers, "batch": ["worker", "batch"]}
    # The server looks after its own process; of the others each tells that it lives.
    return [Program(name, args, run, sign=0 if name == "api" else START) for name, args in commands.items()]


def _child(catalogue: Catalogue) -> Run:
    """What a child does with its arguments; the catalogue of a test cannot be sent to one that is not forked."""
    from deploy.cli import main  # noqa: PLC0415 - it has imported us

    return partial(main, catalogue=catalogue) if sys.platform == "linux" else main


def _load() -> None:
    """Before the children are made: what all of them would load, loaded once."""
    for name in ("api.app", "deploy.server", "deploy.wiring", "workers.main"):
        import_module(name)
    gc.freeze()  # collecting would touch, and so copy, what the children share


class _Announcement:
    """Says once that the service is ready."""

    def __init__(self, settings: Settings) -> None:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        self._url = f"http://{host}:{settings.port}"
        self._asked, self._said = time.monotonic(), False

    def __call__(self) -> None:
        if self._said or time.monotonic() < self._asked + 0.05:
            return
        self._asked = time.monotonic()
        if answers(f"{self._url}/readyz"):
            print(f"ready {self._url}", flush=True)
            self._said = True


def answers(url: str) -> bool:
    """Whether that address answers 200."""
    try:
        with urllib.request.urlopen(url, timeout=1) as response:  # noqa: S310 - our own address
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


# --- single processes ------------------------------------------------------------------------------------------


def api(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """The HTTP server."""
    from deploy.server import serve as run  # noqa: PLC0415

    settings = settings_of(args)
    os.environ.update(settings.environ())  # its worker processes read them there
    run(settings, catalogue)
    return DONE


def worker(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """One worker of one queue."""
    from workers.main import work  # noqa: PLC0415

    with _services(args, catalogue) as services:
        work(services.crew(), services.settings.redis_url, QUEUES[args.queue])
    return DONE


def pump(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """The pump. One per data folder, by a lock; one for all folders of a database, by its lease."""
    from deploy.supervisor import alone  # noqa: PLC0415
    from workers.main import pump as run  # noqa: PLC0415
    from workers.reconcile import Reconciler  # noqa: PLC0415

    with _services(args, catalogue) as services, alone(services.settings.data / "pump.lock"):
        crew = services.crew()
        run(crew, services.bell, Reconciler(services.reader, services.errands, services.queues, crew.clock))
    return DONE


@contextmanager
def _services(args: argparse.Namespace, catalogue: Catalogue) -> Iterator[Services]:
    from deploy.wiring import create_services  # noqa: PLC0415

    settings = settings_of(args)
    if not settings.redis_url:
        settings = replace(settings, redis_url=_own_redis(settings))
    services = create_services(settings, catalogue)
    try:
        yield services
    finally:
        services.close()


def _own_redis(settings: Settings) -> str:
    from deploy import embedded  # noqa: PLC0415

    return embedded.url_of(settings.data)


def migrate(args: argparse.Namespace, _: Catalogue) -> int:
    """Folder, key and tables."""
    _migrate(settings_of(args))
    return DONE


# --- care ------------------------------------------------------------------------------------------------------


def doctor(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """One line for each check."""
    from deploy.doctor import examine  # noqa: PLC0415

    settings = settings_of(args)
    if not settings.redis_url:
        settings = replace(settings, redis_url=_own_redis(settings))
    found = examine(settings, catalogue)
    if args.json:
        doc: Json = {"well": all(c.well for c in found), "checks": [c.to_json() for c in found]}
        print(json.dumps(doc, ensure_ascii=False))
    else:
        for check in found:
            print(f"{'ok  ' if check.well else 'FAIL'}  {check.name}: {check.said}")
    return DONE if all(c.well for c in found) else FAILED


def audit(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """What was proved, or the first fault."""
    result = _asked(args, catalogue, "audit", args.game)
    return DONE if result and result["verified"] else FAILED


def rebuild(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """The new generation."""
    return DONE if _asked(args, catalogue, "rebuild") else FAILED


def _asked(args: argparse.Namespace, catalogue: Catalogue, work: str, game: str = "") -> Json:
    """What came of an errand, once a worker has done it; None if it could not be done."""
    from domain.errands import Errand, new_id  # noqa: PLC0415

    with _services(args, catalogue) as services:
        errand = services.errands.ask(Errand(new_id(work), work, game, at=services.clock()))
        services.bell.stir(game)
        while errand is not None and errand.outcome is None:
            time.sleep(0.05)
            errand = services.errands.find(errand.id)
    outcome = errand.outcome if errand else None
    if outcome is None or "refused" in outcome:
        print("annals: the job failed; the log of the worker says why", file=sys.stderr)
        return None
    print(json.dumps(outcome, ensure_ascii=False))
    return outcome


def backup(args: argparse.Namespace, _: Catalogue) -> int:
    """A copy of what cannot be made again."""
    from deploy.backup import take  # noqa: PLC0415

    take(settings_of(args), args.to)
    return DONE


def restore(args: argparse.Namespace, _: Catalogue) -> int:
    """A data folder of a copy."""
    from deploy.backup import put_back  # noqa: PLC0415

    put_back(settings_of(args), args.source)
    return DONE
