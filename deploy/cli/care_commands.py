"""Maintenance commands: `doctor`, `audit`, `rebuild`, `archive`, `alive`, `backup`, `restore`, `admin`, `recover`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from deploy.cli.arguments import DONE, FAILED, load_settings_of, with_redis_url
from deploy.cli.single_processes import open_services
from deploy.config.settings import SettingsError
from deploy.runtime import logging_setup
from domain.errors import AccountError
from domain.ruleset_registry import RulesetRegistry
from domain.types import Json
from workers import liveness

if TYPE_CHECKING:
    from deploy.runtime.wiring import ServiceContainer
    from domain.accounts.account_store import AccountStore
    from workers.context import WorkerContext

PROJECTOR_PATIENCE = 15.0
"""Seconds without a live projector after which a command stops waiting for workers."""


def doctor(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Print one line for each check; fail if a check failed."""
    from deploy.cli.doctor import run_checks  # noqa: PLC0415

    settings = with_redis_url(load_settings_of(args))
    settings.require_service()
    checks = run_checks(settings, registry)
    if args.json:
        doc: Json = {"well": all(c.well for c in checks), "checks": [c.to_json() for c in checks]}
        print(json.dumps(doc, ensure_ascii=False))
    else:
        for check in checks:
            print(f"{'ok  ' if check.well else 'FAIL'}  {check.name}: {check.said}")
    return DONE if all(c.well for c in checks) else FAILED


def audit(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Print the result of an audit, or the first fault."""
    from workers.jobs.audits import audit_game  # noqa: PLC0415

    result = _run_job(args, registry, "audit", lambda context: audit_game(context, args.game), args.game)
    return DONE if result and result["verified"] else FAILED


def rebuild(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Rebuild all views and print the new generation."""
    from workers.jobs.rebuilds import rebuild_views  # noqa: PLC0415

    return DONE if _run_job(args, registry, "rebuild", rebuild_views) else FAILED


def _run_job(
    args: argparse.Namespace,
    registry: RulesetRegistry,
    work: str,
    do: Callable[[WorkerContext], dict[str, Json]],
    game: str = "",
) -> Json:
    """Request a job, wait for it and print its outcome. Without a running service, do the job here.

    Return the outcome, or None if the job failed or the service stopped.
    """
    from domain.service.job_requests import JobRequest, new_id  # noqa: PLC0415

    load_settings_of(args).require_service()
    with open_services(args, registry) as services:
        if not _is_running(services):
            print("annals: the service does not run; the work is done here", file=sys.stderr)
            result = do(services.build_worker_context())
            print(json.dumps(result, ensure_ascii=False))
            return result
        print("annals: the workers are asked, and awaited", file=sys.stderr)
        request = services.job_requests.submit(JobRequest(new_id(work), work, game, at=services.clock()))
        services.signals.notify_changed(game)
        seen = time.monotonic()
        while request is not None and request.outcome is None:
            if services.reader.has_projector(services.clock()):
                seen = time.monotonic()
            elif time.monotonic() > seen + PROJECTOR_PATIENCE and _is_running(services):
                print("annals: the service stands still; what was asked is done once it goes on", file=sys.stderr)
                seen = time.monotonic()
            elif time.monotonic() > seen + PROJECTOR_PATIENCE:
                print("annals: the service has stopped; what was asked is done once it runs again", file=sys.stderr)
                return None
            time.sleep(0.05)
            request = services.job_requests.find(request.id)
    outcome = request.outcome if request else None
    if outcome is None or "refused" in outcome:
        why = outcome["refused"] if outcome else "nobody knows of it any more"
        print(f"annals: the job failed ({why}); the log of the worker may say more", file=sys.stderr)
        return None
    print(json.dumps(outcome, ensure_ascii=False))
    return outcome


def _is_running(services: ServiceContainer) -> bool:
    """Return whether a projector is at work, or registered in this folder: one that hangs recovers or is replaced."""
    pumps = (
        name for name in liveness.check_processes(services.settings.data) if name.rpartition("/")[2].startswith("pump")
    )
    return services.reader.has_projector(services.clock()) or any(pumps)


def archive(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Archive each game that is old enough, also while the service runs. An interrupted run keeps its results."""
    from domain.ledger import Ledger  # noqa: PLC0415
    from workers.maintenance.archiving import GameArchiver  # noqa: PLC0415

    load_settings_of(args).require_service()
    done = {"games": 0, "records": 0, "kept": 0}
    with (
        open_services(args, registry) as services,
        closing(Ledger.open(services.settings.owner_url, services.settings.load_key())) as owned,
    ):
        if not owned.admin.has_append_triggers():
            raise SettingsError("the tables of this ledger are not those of this version: `annals migrate` makes them")
        archiving = GameArchiver(services.build_worker_context(), args.days, owned)
        while found := archiving.find_next():
            moved = archiving.archive(found)
            done["games"] += bool(moved)
            done["records"] += moved
            done["kept"] += not services.ledger.is_archived(found.game)
    print(json.dumps(done))
    return FAILED if done["kept"] else DONE


def alive(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Check the liveness of all processes of the data folder; for health checks of containers."""
    data = load_settings_of(args).data
    signs = liveness.check_processes(data)
    for name in (broken := [name for name, silent in signs.items() if silent]):
        print(f"annals: {name} gives no sign of life", file=sys.stderr)
        if args.end:
            liveness.kill_process(data, name)
    if not signs:
        print(f"annals: no process of {data} runs", file=sys.stderr)
    return FAILED if broken or not signs else DONE


def backup(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Copy the ledger and the key."""
    from deploy.backup.snapshot import take_snapshot  # noqa: PLC0415

    take_snapshot(load_settings_of(args), args.to)
    return DONE


def restore(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Make a data folder from a backup, or repair one game of an existing folder."""
    from deploy.backup.game_repair import repair_game  # noqa: PLC0415
    from deploy.backup.point_in_time import format_time, parse_time  # noqa: PLC0415
    from deploy.backup.snapshot import restore_snapshot  # noqa: PLC0415

    until = None if args.at is None else parse_time(args.at)
    if not args.game:
        if made := restore_snapshot(load_settings_of(args), args.source, until):
            print(f"annals: as it was at {format_time(made.at)}", file=sys.stderr)
        return DONE
    load_settings_of(args).require_service()
    with open_services(args, registry) as services:
        report = repair_game(services, args.source, args.game, until)
    for line in report.describe():
        print(line)
    return FAILED if report.lost else DONE


def admin(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Make an account an administrator, then list all administrators."""
    from deploy.runtime.wiring import open_account_store  # noqa: PLC0415

    settings = load_settings_of(args)
    settings.require_service()
    with open_account_store(settings) as account_store:
        if args.name:
            _promote(account_store, args.name)
        for account in account_store.accounts.list_by_role("admin"):
            print(f"{account.id}  {logging_setup.to_safe_line(account.name)}")
    return DONE


def recover(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Print a code in place of all factors of an account, valid once; the account's log notes it."""
    from deploy.runtime.wiring import open_account_store  # noqa: PLC0415
    from domain.accounts.recovery_codes import FOR_ALL  # noqa: PLC0415

    settings = load_settings_of(args)
    settings.require_service()
    with open_account_store(settings) as account_store:
        account = account_store.accounts.find_by_name(args.name)
        if account is None:
            raise AccountError("unknown_account", f"there is no account {args.name}")
        code, rows = account_store.recovery_codes.issue(account.id, FOR_ALL)
        entry = account_store.audit_log.make_entry(account.id, "recovery_issued")
        account_store.recovery_codes.store(account.id, [*rows, *entry])
    print(code)
    print(
        f"annals: it works once, for a day: {logging_setup.to_safe_line(account.name)} sets a new password with it at"
        " /recovery, and all devices, tokens and second factors of the account end",
        file=sys.stderr,
    )
    return DONE


def _promote(account_store: AccountStore, name: str) -> None:
    account = account_store.accounts.find_by_name(name)
    if account is None:
        raise AccountError("unknown_account", f"there is no account {name}; it must be opened first")
    account_store.accounts.set_role(
        account.id, "admin", account_store.audit_log.make_entry(account.id, "role_given", "", "admin")
    )
