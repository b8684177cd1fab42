"""What can be wrong with a service, looked at from outside: each check says what it found."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select

from deploy.config.settings import Settings, SettingsError
from deploy.runtime import embedded_redis, logging_setup, nginx, unix_http
from deploy.runtime.wiring import Services, create_services
from domain.errors import AnnalsError, UnknownRuleset
from domain.ruleset_registry import RulesetRegistry
from domain.service.corruption import CorruptRecords
from domain.service.service_clock import STEP, ClockRows
from domain.types import Json
from projections import log_identity, schema
from projections.integrity import CorruptRecord, find_corruption

ROOM = 512 * 1024 * 1024
"""Bytes that must be free in the data folder."""

LAG = 5_000
"""ms that the views may be behind."""

LATE = 180_000
"""ms of the log that the running backup may lack."""

PATIENCE = 60.0
"""Seconds that the database may look at its own pages."""

OVERDUE = 60_000
"""ms that work may be due without having been done."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    well: bool
    said: str

    def to_json(self) -> dict[str, Json]:
        """As the command line prints it."""
        return dict(self.__dict__)


class _IllError(Exception):
    """What is wrong."""


def examine(settings: Settings, catalogue: RulesetRegistry) -> list[Check]:
    """All checks; one that fails does not keep the others from being made."""
    checks: dict[str, Callable[[Services], str]] = {
        "disk": _disk,
        "ledger": _ledger,
        "log": _log,
        "records": _records,
        "pages": _pages,
        "damaged games": _damaged,
        "backup": _backup,
        "key": _key,
        "rulesets": _rulesets,
        "views": _views,
        "games": _games,
        "due work": _due,
        "clock": _clock,
        "redis": _redis,
        "streams": _streams,
        "workers": _workers,
    }
    try:
        services = create_services(settings, catalogue)
    except (SettingsError, AnnalsError) as error:
        return [Check("settings", well=False, said=logging_setup.plain(str(error)))]
    try:
        return [_look(name, check, services) for name, check in checks.items()]
    finally:
        services.close()


def _look(name: str, check: Callable[[Services], str], services: Services) -> Check:
    try:
        return Check(name, well=True, said=check(services))
    except (_IllError, AnnalsError, OSError) as error:
        return Check(name, well=False, said=logging_setup.plain(str(error) or type(error).__name__))


def _disk(services: Services) -> str:
    free = shutil.disk_usage(services.settings.data).free
    if free < ROOM:
        raise _IllError(f"{free // 2**20} MiB are free, {ROOM // 2**20} should be")
    return f"{free // 2**20} MiB are free"


def _ledger(services: Services) -> str:
    counted = "SELECT count(*) FILTER (WHERE originator_version = 1) AS games, count(*) AS records FROM records"
    ((games, records),) = services.ledger.execute(counted)
    ((archived,),) = services.ledger.execute("SELECT count(DISTINCT game) FROM archive")
    services.ledger.run_without_keys(lambda _: None)  # whether anything could be appended
    return f"{records} records of {games} games, {archived} of them archived"


def _log(services: Services) -> str:
    if not services.ledger.admin.has_append_triggers():
        raise _IllError("can be changed: triggers are missing, `annals migrate` makes them")
    ((repairs,),) = services.ledger.execute("SELECT count(*) FROM repairs")
    return f"append-only, {repairs} repairs"


def _records(services: Services) -> str:
    found: list[CorruptRecord] = []
    seen = 0
    for each in find_corruption(services.ledger, services.views, services.seed_store):
        if isinstance(each, CorruptRecord):
            found.append(each)
        else:
            seen = each
    if found:
        raise _IllError(f"{len(found)} damaged; version {found[0].version} of {found[0].game} {found[0].said}")
    return f"{seen} are those of the tree"


def _pages(services: Services) -> str:
    if found := services.ledger.admin.list_integrity_errors(PATIENCE):
        raise _IllError(found[0])
    services.views.check_pages(PATIENCE)
    return "the database has nothing to complain of"


def _damaged(services: Services) -> str:
    found = CorruptRecords(services.ledger).list_all()
    if found:
        games = len({d.game for d in found})
        raise _IllError(f"{games} take no moves; version {found[0].version} of {found[0].game} {found[0].said}")
    return "every game takes moves"


def _backup(services: Services) -> str:
    if services.settings.backup is None:
        return "none runs"
    upto = services.reader.load_progress("backup").get("upto", 0)
    if not upto:
        raise _IllError("nothing is copied yet")
    age = max(services.clock() - upto, 0)
    said = f"{services.settings.backup} lacks the last {age // 1000} s"
    if age > LATE:
        raise _IllError(said)
    return said


def _key(services: Services) -> str:
    services.seed_store.check()
    if services.ledger.keys.count_master_keys() > 1:
        return "the master key is the one of the seeds; another opens them too until `annals rotate-key --finish`"
    return "the master key is the one of the seeds"


def _rulesets(services: Services) -> str:
    t = schema.games
    with services.views.reading() as db:
        used = set(db.execute(select(t.c.ruleset).distinct()).scalars())
    for name in sorted(used):
        try:
            services.registry.get(name)
        except UnknownRuleset:
            raise _IllError(f"there are games of {name}, which this version cannot play") from None
    return f"{len(used)} in use"


def _views(services: Services) -> str:
    position = services.reader.read_position()
    if not log_identity.contains_all(services.ledger, log_identity.list_last_records(services.views)):
        raise _IllError(f"at position {position} of another log than this one; the next start makes them anew")
    behind = services.ledger.log(position, 1000)
    if not behind:
        return f"at position {position}, the end of the log"
    age = services.clock() - behind[0].record.public["at"]
    if age > LAG:
        raise _IllError(f"at position {position}, at least {len(behind)} records behind, since {age // 1000} s")
    return f"at position {position}, {len(behind)} records behind"


def _games(services: Services) -> str:
    if rows := services.reader.list_quarantined():
        first = rows[0]
        raise _IllError(f"{len(rows)} set aside; {first['game']} at position {first['position']}: {first['error']}")
    return "none is set aside"


def _due(services: Services) -> str:
    now = services.clock()
    rows = services.reader.list_due(now, 1000)
    late = [row for row in rows if row.at < now - OVERDUE]
    if late:
        raise _IllError(f"{len(late)} overdue; {late[0].work} of {late[0].game} since {(now - late[0].at) // 1000} s")
    return f"{len(rows)} waiting"


def _clock(services: Services) -> str:
    machines = ClockRows(services.ledger).list_machines()
    wrong = [m for m in machines if abs(m.offset) > STEP]
    if wrong:
        seconds, where = abs(wrong[0].offset) // 1000, "behind" if wrong[0].offset > 0 else "ahead of"
        raise _IllError(f"that of {wrong[0].name} is {seconds} s {where} the service's time")
    return f"{len(machines)} machines agree"


def _redis(services: Services) -> str:
    if not embedded_redis.answers(services.settings.redis_url):
        raise _IllError("does not answer; is the service running?")
    return "answers"


def _streams(services: Services) -> str:
    found = [unix_http.health(path, seconds=1) for path in nginx.stream_sockets(services.settings)]
    if None in found:
        raise _IllError(f"{found.count(None)} of {len(found)} processes do not answer")
    return f"{sum(each['streams'] for each in found if each)} open at {len(found)} servers here"


def _workers(services: Services) -> str:
    found = services.queues.count_workers()
    if missing := [name for name, count in found.items() if not count]:
        raise _IllError(f"none for {', '.join(missing)}")
    return ", ".join(f"{count} for {name}" for name, count in found.items())
