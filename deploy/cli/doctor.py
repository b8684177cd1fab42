"""Checks of a service from outside; each returns its finding as text."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select

from deploy.cli import cluster_checks
from deploy.cli.cluster_checks import CheckError
from deploy.config.settings import Settings, SettingsError
from deploy.runtime import logging_setup, nginx, unix_http
from deploy.runtime.wiring import ServiceContainer, create_services
from domain.errors import AnnalsError, UnknownRuleset
from domain.ruleset_registry import RulesetRegistry
from domain.service.corruption import CorruptRecords
from domain.service.service_clock import STEP, ClockRows
from domain.transparency.witness_reports import WitnessReports
from domain.types import Json
from projections import log_identity, schema
from projections.integrity import CorruptRecord, find_corruption
from workers import liveness

MIN_FREE_BYTES = 512 * 1024 * 1024
"""Bytes that must be free in the data folder."""

MAX_VIEW_LAG = 5_000
"""ms that the views may lag."""

MAX_BACKUP_LAG = 180_000
"""ms that the running backup may lag."""

PATIENCE = 60.0
"""Seconds for the check of database pages."""

OVERDUE = 60_000
"""ms after which due work counts as overdue."""


@dataclass(frozen=True)
class Check:
    """Result of one check."""

    name: str
    well: bool
    said: str

    def to_json(self) -> dict[str, Json]:
        """Return the check as the command line prints it."""
        return dict(self.__dict__)


_OVER_VIEWS = ("records", "rulesets", "games", "due work", "version")
"""Checks over the views, besides their own."""


def run_checks(settings: Settings, registry: RulesetRegistry) -> list[Check]:
    """Run all checks, also after one that failed."""
    checks: dict[str, Callable[[ServiceContainer], str]] = {
        "disk": _check_disk,
        "ledger": _check_ledger,
        "log": _check_log,
        "records": _check_records,
        "pages": _check_pages,
        "damaged games": _check_damaged_games,
        "backup": _check_backup,
        "key": _check_key,
        "checkpoints": _check_checkpoints,
        "witnesses": _check_witnesses,
        "rulesets": _check_rulesets,
        "views": _check_views,
        "games": _check_quarantine,
        "due work": _check_due_work,
        "clock": _check_clock,
        "version": cluster_checks.check_version,
        "replication": cluster_checks.check_replication,
        "pooler": cluster_checks.check_pooler,
        "redis": cluster_checks.check_redis,
        "streams": _check_streams,
        "workers": _check_workers,
    }
    if locked := [path for path in (settings.data, *settings.data.glob("*.sqlite")) if not os.access(path, os.W_OK)]:
        return [Check("disk", well=False, said=f"{locked[0]} cannot be written: check its rights and its mount")]
    try:
        services = create_services(settings, registry)
    except (SettingsError, AnnalsError) as error:
        return [Check("settings", well=False, said=logging_setup.to_safe_line(str(error)))]
    try:
        if not _has_views(services):
            checks = {name: check for name, check in checks.items() if name not in _OVER_VIEWS}
            checks["views"] = _report_no_views
        if liveness.is_running(settings.data, "small"):  # it has neither Redis nor processes of workers
            checks = {name: check for name, check in checks.items() if name not in ("redis", "workers")}
        return [_run_check(name, check, services) for name, check in checks.items()]
    finally:
        services.close()


def _run_check(name: str, check: Callable[[ServiceContainer], str], services: ServiceContainer) -> Check:
    try:
        return Check(name, well=True, said=check(services))
    except (CheckError, AnnalsError, OSError) as error:
        return Check(name, well=False, said=logging_setup.to_safe_line(str(error) or type(error).__name__))


def _has_views(services: ServiceContainer) -> bool:
    """Return whether a start has made the tables of the views; if the store does not answer, the checks say so."""
    try:
        return services.views.has_tables()
    except AnnalsError:
        return True


def _report_no_views(_: ServiceContainer) -> str:
    raise CheckError("not started yet: `annals serve` makes them from the log, then run this again")


def _check_disk(services: ServiceContainer) -> str:
    free = shutil.disk_usage(services.settings.data).free
    if free < MIN_FREE_BYTES:
        raise CheckError(f"{free // 2**20} MiB are free, {MIN_FREE_BYTES // 2**20} should be")
    return f"{free // 2**20} MiB are free"


def _check_ledger(services: ServiceContainer) -> str:
    counted = """SELECT count(*) FILTER (WHERE originator_version = 1 AND substr(topic, 1, 11) <> 'tournament.'),
  count(*) FILTER (WHERE originator_version = 1 AND substr(topic, 1, 11) = 'tournament.'), count(*) FROM records"""
    ((games, tournaments, records),) = services.ledger.execute(counted)
    ((archived,),) = services.ledger.execute("SELECT count(DISTINCT game) FROM archive")
    services.ledger.run_without_keys(lambda _: None)  # tests that records can be appended
    others = f" and {tournaments} tournaments" if tournaments else ""
    return f"{records} records of {games} games{others}, {archived} of them archived"


def _check_log(services: ServiceContainer) -> str:
    if foreign := services.ledger.admin.list_foreign_triggers():
        raise CheckError(
            f"{len(foreign)} triggers of the database are foreign, such as {foreign[0][:80]}: remove them, then"
            " `annals migrate`"
        )
    if not services.ledger.admin.has_append_triggers():
        raise CheckError("can be changed: triggers are missing, `annals migrate` makes them")
    ((repairs,),) = services.ledger.execute("SELECT count(*) FROM repairs")
    return f"append-only, {repairs} repairs"


def _check_records(services: ServiceContainer) -> str:
    corrupt: list[CorruptRecord] = []
    count = 0
    for each in find_corruption(services.ledger, services.views, services.seed_store):
        if isinstance(each, CorruptRecord):
            corrupt.append(each)
        else:
            count = each
    if corrupt:
        raise CheckError(f"{len(corrupt)} damaged; version {corrupt[0].version} of {corrupt[0].game} {corrupt[0].said}")
    return f"{count} are those of the tree"


def _check_pages(services: ServiceContainer) -> str:
    if found := services.ledger.admin.list_integrity_errors(PATIENCE):
        raise CheckError(found[0])
    services.views.check_pages(PATIENCE)
    return "the database has nothing to complain of"


def _check_damaged_games(services: ServiceContainer) -> str:
    corrupt = CorruptRecords(services.ledger).list_all()
    if corrupt:
        games = len({d.game for d in corrupt})
        raise CheckError(f"{games} take no moves; version {corrupt[0].version} of {corrupt[0].game} {corrupt[0].said}")
    return "every game takes moves"


def _check_backup(services: ServiceContainer) -> str:
    if services.settings.backup is None:
        return "none runs"
    upto = services.reader.load_progress("backup").get("upto", 0)
    if not upto:
        raise CheckError("nothing is copied yet")
    age = max(services.clock() - upto, 0)
    text = f"{services.settings.backup} lacks the last {age // 1000} s"
    if age > MAX_BACKUP_LAG:
        raise CheckError(text)
    return text


def _check_key(services: ServiceContainer) -> str:
    services.seed_store.check()
    if services.ledger.keys.count_master_keys() > 1:
        return "the master key is the one of the seeds; another opens them too until `annals rotate-key --finish`"
    return "the master key is the one of the seeds"


def _check_checkpoints(services: ServiceContainer) -> str:
    store = services.build_worker_context().checkpoints
    if halts := store.halts:
        raise CheckError(f"nothing is signed: {halts[0]}; see `annals log-keys`")
    shown = store.public
    return f"the newest has {shown.size} records" if shown else "none is signed yet"


def _check_witnesses(services: ServiceContainer) -> str:
    names = [witness.name for witness in services.settings.witnesses]
    reports = {report.name: report for report in WitnessReports(services.ledger).list_all()}
    asked = [reports[name] for name in names if name in reports]
    for report in asked:
        if report.failure:
            last = f"its last cosignature is of {report.size} records" if report.size else "it has cosigned nothing"
            raise CheckError(f"{report.name}: {report.failure}; {last}")
    return f"{len(asked)} of {len(names)} asked, all of them cosign" if names else "none is asked"


def _check_rulesets(services: ServiceContainer) -> str:
    t = schema.games
    with services.views.reading() as db:
        used = set(db.execute(select(t.c.ruleset).distinct()).scalars())
    for name in sorted(used):
        try:
            services.registry.get(name)
        except UnknownRuleset:
            raise CheckError(f"there are games of {name}, which this version cannot play") from None
    return f"{len(used)} in use"


def _check_views(services: ServiceContainer) -> str:
    position = services.reader.read_position()
    if not log_identity.contains_all(services.ledger, log_identity.list_last_records(services.views)):
        raise CheckError(f"at position {position} of another log than this one; the next start makes them anew")
    behind = services.ledger.log(position, 1000)
    if not behind:
        return f"at position {position}, the end of the log"
    age = services.clock() - behind[0].record.public["at"]
    if age > MAX_VIEW_LAG:
        raise CheckError(f"at position {position}, at least {len(behind)} records behind, since {age // 1000} s")
    return f"at position {position}, {len(behind)} records behind"


def _check_quarantine(services: ServiceContainer) -> str:
    if rows := services.reader.list_quarantined():
        first = rows[0]
        raise CheckError(f"{len(rows)} set aside; {first['game']} at position {first['position']}: {first['error']}")
    return "none is set aside"


def _check_due_work(services: ServiceContainer) -> str:
    now = services.clock()
    rows = services.reader.list_due(now, 1000)
    late = [row for row in rows if row.at < now - OVERDUE]
    if late:
        raise CheckError(f"{len(late)} overdue; {late[0].work} of {late[0].game} since {(now - late[0].at) // 1000} s")
    return f"{len(rows)} waiting"


def _check_clock(services: ServiceContainer) -> str:
    machines = ClockRows(services.ledger).list_machines()
    wrong = [m for m in machines if abs(m.offset) > STEP]
    if wrong:
        seconds, where = abs(wrong[0].offset) // 1000, "behind" if wrong[0].offset > 0 else "ahead of"
        raise CheckError(f"that of {wrong[0].name} is {seconds} s {where} the service's time: correct it, as by NTP")
    return f"{len(machines)} machines agree"


def _check_streams(services: ServiceContainer) -> str:
    answers = [unix_http.fetch_health(path, seconds=1) for path in nginx.list_stream_sockets(services.settings)]
    if None in answers:
        raise CheckError(f"{answers.count(None)} of {len(answers)} processes do not answer")
    return f"{sum(each['streams'] for each in answers if each)} open at {len(answers)} servers here"


def _check_workers(services: ServiceContainer) -> str:
    counts = services.queues.count_workers()
    if missing := [name for name, count in counts.items() if not count]:
        raise CheckError(f"none for {', '.join(missing)}")
    return ", ".join(f"{count} for {name}" for name, count in counts.items())
