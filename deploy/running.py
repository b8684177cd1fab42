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
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from deploy import logs
from deploy.settings import LOG_LEVELS, MOST_DAYS, Settings, SettingsError, load
from domain.catalogue import Catalogue, shipped
from domain.errors import AccountError, StoreUnavailable
from domain.ids import Json
from workers import pulse

if TYPE_CHECKING:
    from deploy.running_backup import RunningBackup
    from deploy.supervisor import Ending, Program, Supervisor
    from deploy.wiring import Services
    from domain.beside.people.people import People
    from workers.archiving import Archiving
    from workers.crew import Crew

FLAGS = ("data", "host", "port", "workers", "log_level", "backup", "tls_cert", "tls_key")

Add = Callable[..., argparse.ArgumentParser]
Run = Callable[[Sequence[str]], int]

DONE, FAILED = 0, 1

START = 60.0
"""Seconds within which a process that was started gives its first sign of life."""

BEHIND = 5
"""By how much the process for streams is nicer than others: who asks is answered before who watches."""

GONE = 15.0
"""Seconds without a pump after which nobody waits for the workers of a service any more."""

FOR_MIGRATING = frozenset({"ANNALS_MIGRATE_URL", "ANNALS_NEW_KEY"})
"""What no process of the service is told: with it the log could be changed."""

QUEUES = {"turns": "annals-turns", "batch": "annals-batch"}

log = logging.getLogger("annals.serve")


def add_commands(add: Add) -> None:
    """Their arguments."""
    one = add("serve", help="run the whole service, and everything that it needs")
    one.set_defaults(command=serve)
    _add_settings(one)
    _add_port(one)
    one.add_argument("--workers", type=int, metavar="N", help="processes for turns and deadlines (1 unless given)")
    _add_backup(one)

    one = add("api", help="run the HTTP server alone")
    one.set_defaults(command=api)
    _add_settings(one)
    _add_port(one)

    one = add("worker", help="run one worker")
    one.set_defaults(command=worker)
    one.add_argument("queue", choices=QUEUES, nargs="?", default="turns")
    _add_settings(one)

    one = add("pump", help="run a process that makes the views; several share the games, or stand by")
    one.set_defaults(command=pump)
    one.add_argument("number", type=int, nargs="?", default=1, help="which one of this data folder (1 unless given)")
    _add_settings(one)

    one = add(
        "keeper", help="run the process that reads the log against its tree, archives, and keeps the running backup"
    )
    one.set_defaults(command=keeper)
    _add_settings(one)
    _add_backup(one)

    one = add("migrate", help="make the folder, the key and the tables that are missing")
    one.set_defaults(command=migrate)
    _add_settings(one)

    _add_care(add)


def _add_care(add: Add) -> None:
    """What is done now and then, by hand."""
    one = add("doctor", help="look at everything that can be wrong; fails if something is")
    one.set_defaults(command=doctor)
    _add_settings(one)
    one.add_argument("--json", action="store_true", help="one JSON document instead of lines")

    one = add("alive", help="tell by the status whether every process of a data folder gives signs of life")
    one.set_defaults(command=alive)
    one.add_argument("--end", action="store_true", help="and end what does not, where nobody supervises it")
    _add_settings(one)

    one = add("audit", help="have a worker prove a game of a running service, also one that is being played")
    one.set_defaults(command=audit)
    one.add_argument("game", metavar="GAME")
    _add_settings(one)

    one = add("rebuild", help="have a worker make all views anew beside the live ones, then switch")
    one.set_defaults(command=rebuild)
    _add_settings(one)

    one = add("archive", help="move games that were closed long ago out of the tables that are in use")
    one.set_defaults(command=archive)
    one.add_argument("days", metavar="DAYS", type=_days, help="those that were closed at least so many days ago")
    _add_settings(one)

    one = add("admin", help="make an account an administrator, or list those that are")
    one.set_defaults(command=admin)
    one.add_argument("name", metavar="NAME", nargs="?", help="what the account is called; it must be there already")
    _add_settings(one)

    one = add("backup", help="copy the ledger and the key of a running service on SQLite")
    one.set_defaults(command=backup)
    one.add_argument("to", metavar="DIR", type=Path, help="a new or empty folder")
    _add_settings(one)

    one = add("restore", help="make a data folder of a backup, or put one game right with it")
    one.set_defaults(command=restore)
    one.add_argument("source", metavar="DIR", type=Path, help="a backup; with --game also the export of a closed game")
    one.add_argument("--at", metavar="TIME", help="of a running backup the last moment that counts: 2026-11-22T18:30Z")
    one.add_argument(
        "--game", metavar="GAME", help="put back what is damaged of this game, also while the service runs"
    )
    _add_settings(one)


def _days(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_DAYS:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of days is expected")
    return int(text)


def _add_settings(one: argparse.ArgumentParser) -> None:
    one.add_argument("--data", metavar="DIR", help="data folder (var unless given)")
    one.add_argument("--log-level", choices=LOG_LEVELS, dest="log_level")


def _add_backup(one: argparse.ArgumentParser) -> None:
    one.add_argument("--backup-to", metavar="DIR", dest="backup", help="folder of a running backup (none unless given)")


def _add_port(one: argparse.ArgumentParser) -> None:
    one.add_argument("--host", help="address to listen on (127.0.0.1 unless given)")
    one.add_argument("--port", type=int, metavar="P", help="8000 unless given; 0 takes a free one")
    one.add_argument("--tls-cert", metavar="FILE", dest="tls_cert", help="certificate with its chain: speak TLS")
    one.add_argument("--tls-key", metavar="FILE", dest="tls_key", help="the certificate's key")


def settings_of(args: argparse.Namespace) -> Settings:
    """Flags before the environment; and from now on this process logs."""
    settings = load({name: getattr(args, name, None) for name in FLAGS})
    logs.set_up(settings.log_level)
    return settings


# --- serve -----------------------------------------------------------------------------------------------------


def serve(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """Everything in one: the supervisor and its processes, until a signal comes."""
    from deploy import front  # noqa: PLC0415
    from deploy.supervisor import alone, stopped_by_signals  # noqa: PLC0415

    with stopped_by_signals() as ending:
        settings = settings_of(args)
        settings.prepare()
        with suppress(OSError):  # as on a full disk: the data may be on another one
            print(f"annals: the data are in {settings.data}", file=sys.stderr, flush=True)
        with alone(settings.data / "lock"), front.held(settings) as settings:
            _supervise(settings, catalogue, args.main, ending)
    return DONE


def _supervise(settings: Settings, catalogue: Catalogue, main: Callable[..., int], ending: Ending) -> None:
    from deploy import embedded  # noqa: PLC0415
    from deploy.supervisor import Program  # noqa: PLC0415

    own = not settings.redis_url
    if own:
        embedded.clear(settings)
        settings = replace(settings, redis_url=embedded.url_of(settings.data))
    with pulse.folder(settings.data, "serve") as pulses, _supervised(settings, pulses, ending) as supervisor:
        if own:
            supervisor.start(Program("redis", embedded.command(settings.data), last=True, sign=START))
        _migrate(settings)
        if not embedded.wait(settings.redis_url, seconds=10):
            log.warning("Redis does not answer%s", f": see {settings.data / 'redis' / 'log'}" if own else "")
        _load("workers.main")
        for program in programs(settings, catalogue, pulses, main):
            supervisor.start(program)
        supervisor.run(_Announcement(settings, pulses))


@contextmanager
def _supervised(settings: Settings, pulses: Path, ending: Ending) -> Iterator[Supervisor]:
    from deploy.supervisor import Supervisor  # noqa: PLC0415
    from domain.ledger.sqlite import ended  # noqa: PLC0415

    environ = {name: value for name, value in os.environ.items() if name not in FOR_MIGRATING}
    supervisor = Supervisor({**environ, **settings.environ()}, pulses, ending=ending)
    try:
        yield supervisor
    finally:
        supervisor.stop()
        if settings.sqlite:
            ended(settings.ledger_file)
            ended(settings.views_file)


def _migrate(settings: Settings) -> None:
    from deploy.wiring import migrate as make  # noqa: PLC0415

    make(settings)


def programs(settings: Settings, catalogue: Catalogue, pulses: Path, main: Callable[..., int]) -> list[Program]:
    """The processes of a service, beside its Redis. Each tells that it lives, or the prober does.

    `main` runs one command of ours: pump and workers are such.
    """
    from deploy.supervisor import Program  # noqa: PLC0415

    workers = {f"worker-{n}": ["worker", "turns"] for n in range(1, settings.workers + 1)}
    pumps = {f"pump-{n}": ["pump", str(n)] for n in range(2, settings.pumps + 1)}
    commands = {"pump": ["pump"], **pumps, **workers, "batch": ["worker", "batch"], "keeper": ["keeper"]}
    run: Run = partial(main, catalogue=catalogue) if _forks() else main
    others = [Program(name, args, run, sign=START) for name, args in commands.items()]
    return [*_http(settings, catalogue, pulses), *others]


def _http(settings: Settings, catalogue: Catalogue, pulses: Path) -> list[Program]:
    """The HTTP servers, in front of them nginx, through which they give their last answers, and who asks all."""
    from deploy import front, prober  # noqa: PLC0415
    from deploy.supervisor import Program  # noqa: PLC0415

    given = catalogue if _forks() else None
    return [
        Program("front", front.command(settings), partial(front.run, settings, front.Limits()), last=True, sign=START),
        Program("api", [], partial(_serve_http, given), sign=START),
        Program("streams", [], partial(_serve_streams, given), sign=START),
        Program("prober", [], partial(prober.run, settings, pulses), sign=START),
    ]


def _serve_http(catalogue: Catalogue | None, _: Sequence[str]) -> int:
    from deploy.server import serve as run  # noqa: PLC0415

    settings = load()
    logs.set_up(settings.log_level)
    run(settings, catalogue or shipped())
    return DONE


def _serve_streams(catalogue: Catalogue | None, _: Sequence[str]) -> int:
    from deploy.server import serve_streams as run  # noqa: PLC0415

    settings = load()
    logs.set_up(settings.log_level)
    os.nice(BEHIND)
    run(settings, catalogue or shipped())
    return DONE


def _forks() -> bool:
    """Whether children are forked; one that is not plays what is shipped: the catalogue of a test cannot be sent."""
    return sys.platform == "linux"


def _load(*more: str) -> None:
    """Before the children are made: what all of them would load, loaded once."""
    for name in ("api.app", "api.streams.asgi", "deploy.server", "deploy.wiring", *more):
        import_module(name)
    gc.freeze()  # collecting would touch, and so copy, what the children share


class _Announcement:
    """Says once that the service is ready; from then on it must answer."""

    def __init__(self, settings: Settings, pulses: Path) -> None:
        from deploy import front  # noqa: PLC0415

        self._settings, self._streams = settings, front.stream_socket(settings)
        self._asked, self._said, self._pulses = time.monotonic(), False, pulses

    def __call__(self) -> None:
        from deploy import local  # noqa: PLC0415
        from deploy.prober import ready, vouch  # noqa: PLC0415

        if self._said or time.monotonic() < self._asked + 0.05:
            return
        self._asked = time.monotonic()
        if ready(self._settings, 1) and local.health(self._streams):
            print(f"ready {self._settings.url}", flush=True)
            vouch(self._pulses, "front", "api", "streams")
            self._said = True


# --- single processes ------------------------------------------------------------------------------------------


def api(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """The HTTP server and its front, until a signal comes."""
    from deploy import front  # noqa: PLC0415
    from deploy.supervisor import stopped_by_signals  # noqa: PLC0415

    with stopped_by_signals() as ending:
        with _services(args, catalogue) as services:
            settings = services.settings
        with (
            front.held(settings) as settings,
            pulse.folder(settings.data, f"api-{settings.port}") as pulses,
            _supervised(settings, pulses, ending) as supervisor,
        ):
            _load()
            for program in _http(settings, catalogue, pulses):
                supervisor.start(program)
            supervisor.run()
    return DONE


def worker(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """One worker of one queue."""
    from workers.main import work  # noqa: PLC0415

    with _services(args, catalogue) as services:
        pulse.begin(services.settings.data, f"worker-{args.queue}", START)
        work(services.crew(), services.settings.redis_url, QUEUES[args.queue])
    return DONE


def pump(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """A pump: one of each number per data folder, by a lock. All those of a database share its games."""
    from deploy.supervisor import alone  # noqa: PLC0415
    from workers.main import pump as run  # noqa: PLC0415
    from workers.reconcile import Reconciler  # noqa: PLC0415

    name = "pump" if args.number == 1 else f"pump-{args.number}"
    with _services(args, catalogue) as services, alone(services.settings.data / f"{name}.lock"):
        pulse.begin(services.settings.data, name, START)
        crew = services.crew()
        owed = services.notices.outbox.waiting if crew.couriers else None
        parts = (services.reader, crew.errands, crew.outages, services.queues, crew.clock, owed)
        owner = crew.node if args.number == 1 else f"{crew.node}/{args.number}"
        run(crew, services.bell, Reconciler(*parts), owner, services.owing() if crew.couriers else None)
    return DONE


def keeper(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """The log against its tree by one of them, by its lease; the running backup of this folder."""
    from workers.keeper import keep  # noqa: PLC0415

    with _services(args, catalogue) as services:
        pulse.begin(services.settings.data, "keeper", START)
        if not services.settings.scrub:
            _nothing_late(services, "scrub")
        keep(services.crew(), services.settings.scrub, _copying(services), _archiving(services))
    return DONE


def _archiving(services: Services) -> Archiving | None:
    from workers.archiving import Archiving  # noqa: PLC0415

    days = services.settings.archive_days
    return Archiving(services.crew(), days) if days else None


def _copying(services: Services) -> RunningBackup | None:
    from deploy.running_backup import RunningBackup  # noqa: PLC0415

    if services.settings.backup:
        return RunningBackup(services.settings, services.views, services.clock)
    _nothing_late(services, "backup")
    return None


def _nothing_late(services: Services, work: str) -> None:
    """Of what is asked for no more, the progress of before is none that stands still."""
    from projections.progress import keep as note  # noqa: PLC0415

    with suppress(StoreUnavailable), services.views.transaction() as db:
        note(db, work, {})


@contextmanager
def _services(args: argparse.Namespace, catalogue: Catalogue) -> Iterator[Services]:
    from deploy.wiring import create_services  # noqa: PLC0415

    settings = _with_redis(settings_of(args))
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
        services.vault.check()


def _with_redis(settings: Settings) -> Settings:
    """If none is named, with that of a `serve` on the same data folder."""
    from deploy import embedded  # noqa: PLC0415

    return settings if settings.redis_url else replace(settings, redis_url=embedded.url_of(settings.data))


def migrate(args: argparse.Namespace, _: Catalogue) -> int:
    """Folder, key and tables."""
    _migrate(settings_of(args))
    return DONE


# --- care ------------------------------------------------------------------------------------------------------


def doctor(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """One line for each check."""
    from deploy.doctor import examine  # noqa: PLC0415

    settings = _with_redis(settings_of(args))
    settings.held()
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
    from workers.audits import proved  # noqa: PLC0415

    result = _asked(args, catalogue, "audit", lambda crew: proved(crew, args.game), args.game)
    return DONE if result and result["verified"] else FAILED


def rebuild(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """The new generation."""
    from workers.rebuilds import rebuilt  # noqa: PLC0415

    return DONE if _asked(args, catalogue, "rebuild", rebuilt) else FAILED


def _asked(
    args: argparse.Namespace, catalogue: Catalogue, work: str, do: Callable[[Crew], dict[str, Json]], game: str = ""
) -> Json:
    """What came of an errand, once a worker has done it; None if it could not be done. Where none works, done here."""
    from domain.beside.errands import Errand, new_id  # noqa: PLC0415

    settings_of(args).held()
    with _services(args, catalogue) as services:
        if not _runs(services):
            print("annals: the service does not run; the work is done here", file=sys.stderr)
            made = do(services.crew())
            print(json.dumps(made, ensure_ascii=False))
            return made
        print("annals: the workers are asked, and awaited", file=sys.stderr)
        errand = services.errands.ask(Errand(new_id(work), work, game, at=services.clock()))
        services.bell.stir(game)
        seen = time.monotonic()
        while errand is not None and errand.outcome is None:
            if services.reader.pumped(services.clock()):
                seen = time.monotonic()
            elif time.monotonic() > seen + GONE and _runs(services):
                print("annals: the service stands still; what was asked is done once it goes on", file=sys.stderr)
                seen = time.monotonic()
            elif time.monotonic() > seen + GONE:
                print("annals: the service has stopped; what was asked is done once it runs again", file=sys.stderr)
                return None
            time.sleep(0.05)
            errand = services.errands.find(errand.id)
    outcome = errand.outcome if errand else None
    if outcome is None or "refused" in outcome:
        why = outcome["refused"] if outcome else "nobody knows of it any more"
        print(f"annals: the job failed ({why}); the log of the worker may say more", file=sys.stderr)
        return None
    print(json.dumps(outcome, ensure_ascii=False))
    return outcome


def _runs(services: Services) -> bool:
    """Whether a pump has just been at work, or one of this folder is there that cannot: it is awaited, or replaced."""
    pumps = (name for name in pulse.signs(services.settings.data) if name.rpartition("/")[2].startswith("pump"))
    return services.reader.pumped(services.clock()) or any(pumps)


def archive(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """Each game that is old enough, also while the service runs; whatever was done stays done."""
    from domain.ledger import Ledger  # noqa: PLC0415
    from workers.archiving import Archiving  # noqa: PLC0415

    settings_of(args).held()
    done = {"games": 0, "records": 0, "kept": 0}
    with (
        _services(args, catalogue) as services,
        closing(Ledger.open(services.settings.owner_url, services.settings.key())) as owned,
    ):
        if not owned.guarded():
            raise SettingsError("the tables of this ledger are not those of this version: `annals migrate` makes them")
        archiving = Archiving(services.crew(), args.days, owned)
        while found := archiving.next():
            moved = archiving.archive(found)
            done["games"] += bool(moved)
            done["records"] += moved
            done["kept"] += not services.ledger.archived(found.game)
    print(json.dumps(done))
    return FAILED if done["kept"] else DONE


def alive(args: argparse.Namespace, _: Catalogue) -> int:
    """Whether every process of this data folder has kept its word; for whoever watches a container."""
    data = settings_of(args).data
    signs = pulse.signs(data)
    for name in (broken := [name for name, silent in signs.items() if silent]):
        print(f"annals: {name} gives no sign of life", file=sys.stderr)
        if args.end:
            pulse.end(data, name)
    return FAILED if broken or not signs else DONE


def backup(args: argparse.Namespace, _: Catalogue) -> int:
    """A copy of what cannot be made again."""
    from deploy.backup import take  # noqa: PLC0415

    take(settings_of(args), args.to)
    return DONE


def restore(args: argparse.Namespace, catalogue: Catalogue) -> int:
    """A data folder of a copy, or one game in the folder that there is."""
    from deploy.backup import put_back  # noqa: PLC0415
    from deploy.mending import mend  # noqa: PLC0415
    from deploy.moments import time_of, told  # noqa: PLC0415

    until = None if args.at is None else time_of(args.at)
    if not args.game:
        if made := put_back(settings_of(args), args.source, until):
            print(f"annals: as it was at {told(made.at)}", file=sys.stderr)
        return DONE
    settings_of(args).held()
    with _services(args, catalogue) as services:
        found = mend(services, args.source, args.game, until)
    for line in found.lines():
        print(line)
    return FAILED if found.lost else DONE


def admin(args: argparse.Namespace, _: Catalogue) -> int:
    """One more administrator, or the names of all."""
    from deploy.wiring import people_of  # noqa: PLC0415

    settings = settings_of(args)
    settings.held()
    with people_of(settings) as people:
        if args.name:
            _promote(people, args.name)
        for account in people.accounts.staff("admin"):
            print(f"{account.id}  {logs.plain(account.name)}")
    return DONE


def _promote(people: People, name: str) -> None:
    found = people.accounts.named(name)
    if found is None:
        raise AccountError("unknown_account", f"there is no account {name}; it must be opened first")
    people.accounts.promote(found.id, "admin", people.journal.entry(found.id, "role_given", "", "admin"))
