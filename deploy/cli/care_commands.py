"""Commands that take care of a service: `doctor`, `audit`, `backup` and the like."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from deploy.config.settings import SettingsError
from deploy.runtime import logging_setup
from domain.errors import AccountError
from domain.ruleset_registry import RulesetRegistry
from domain.types import Json
from workers import liveness

if TYPE_CHECKING:
    from deploy.runtime.wiring import Services
    from domain.accounts.account_store import AccountStore
    from workers.context import WorkerContext
from deploy.cli.arguments import DONE, FAILED, settings_of, with_redis
from deploy.cli.single_processes import open_services

GONE = 15.0
"""Seconds without a pump after which nobody waits for the workers of a service any more."""


def doctor(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """One line for each check."""
    from deploy.cli.doctor import examine  # noqa: PLC0415

    settings = with_redis(settings_of(args))
    settings.held()
    found = examine(settings, catalogue)
    if args.json:
        doc: Json = {"well": all(c.well for c in found), "checks": [c.to_json() for c in found]}
        print(json.dumps(doc, ensure_ascii=False))
    else:
        for check in found:
            print(f"{'ok  ' if check.well else 'FAIL'}  {check.name}: {check.said}")
    return DONE if all(c.well for c in found) else FAILED


def audit(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """What was proved, or the first fault."""
    from workers.jobs.audits import audit_game  # noqa: PLC0415

    result = _asked(args, catalogue, "audit", lambda crew: audit_game(crew, args.game), args.game)
    return DONE if result and result["verified"] else FAILED


def rebuild(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """The new generation."""
    from workers.jobs.rebuilds import rebuild_views  # noqa: PLC0415

    return DONE if _asked(args, catalogue, "rebuild", rebuild_views) else FAILED


def _asked(
    args: argparse.Namespace,
    catalogue: RulesetRegistry,
    work: str,
    do: Callable[[WorkerContext], dict[str, Json]],
    game: str = "",
) -> Json:
    """What came of an errand, once a worker has done it; None if it could not be done. Where none works, done here."""
    from domain.service.job_requests import JobRequest, new_id  # noqa: PLC0415

    settings_of(args).held()
    with open_services(args, catalogue) as services:
        if not _runs(services):
            print("annals: the service does not run; the work is done here", file=sys.stderr)
            made = do(services.crew())
            print(json.dumps(made, ensure_ascii=False))
            return made
        print("annals: the workers are asked, and awaited", file=sys.stderr)
        errand = services.job_requests.submit(JobRequest(new_id(work), work, game, at=services.clock()))
        services.signals.notify_changed(game)
        seen = time.monotonic()
        while errand is not None and errand.outcome is None:
            if services.reader.has_projector(services.clock()):
                seen = time.monotonic()
            elif time.monotonic() > seen + GONE and _runs(services):
                print("annals: the service stands still; what was asked is done once it goes on", file=sys.stderr)
                seen = time.monotonic()
            elif time.monotonic() > seen + GONE:
                print("annals: the service has stopped; what was asked is done once it runs again", file=sys.stderr)
                return None
            time.sleep(0.05)
            errand = services.job_requests.find(errand.id)
    outcome = errand.outcome if errand else None
    if outcome is None or "refused" in outcome:
        why = outcome["refused"] if outcome else "nobody knows of it any more"
        print(f"annals: the job failed ({why}); the log of the worker may say more", file=sys.stderr)
        return None
    print(json.dumps(outcome, ensure_ascii=False))
    return outcome


def _runs(services: Services) -> bool:
    """Whether a pump has just been at work, or one of this folder is there that cannot: it is awaited, or replaced."""
    pumps = (
        name for name in liveness.list_overdue(services.settings.data) if name.rpartition("/")[2].startswith("pump")
    )
    return services.reader.has_projector(services.clock()) or any(pumps)


def archive(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """Each game that is old enough, also while the service runs; whatever was done stays done."""
    from domain.ledger import Ledger  # noqa: PLC0415
    from workers.maintenance.archiving import GameArchiver  # noqa: PLC0415

    settings_of(args).held()
    done = {"games": 0, "records": 0, "kept": 0}
    with (
        open_services(args, catalogue) as services,
        closing(Ledger.open(services.settings.owner_url, services.settings.key())) as owned,
    ):
        if not owned.admin.has_append_triggers():
            raise SettingsError("the tables of this ledger are not those of this version: `annals migrate` makes them")
        archiving = GameArchiver(services.crew(), args.days, owned)
        while found := archiving.find_next():
            moved = archiving.archive(found)
            done["games"] += bool(moved)
            done["records"] += moved
            done["kept"] += not services.ledger.is_archived(found.game)
    print(json.dumps(done))
    return FAILED if done["kept"] else DONE


def alive(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Whether every process of this data folder has kept its word; for whoever watches a container."""
    data = settings_of(args).data
    signs = liveness.list_overdue(data)
    for name in (broken := [name for name, silent in signs.items() if silent]):
        print(f"annals: {name} gives no sign of life", file=sys.stderr)
        if args.end:
            liveness.kill_process(data, name)
    return FAILED if broken or not signs else DONE


def backup(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """A copy of what cannot be made again."""
    from deploy.backup.snapshot import take  # noqa: PLC0415

    take(settings_of(args), args.to)
    return DONE


def restore(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """A data folder of a copy, or one game in the folder that there is."""
    from deploy.backup.game_repair import mend  # noqa: PLC0415
    from deploy.backup.point_in_time import time_of, told  # noqa: PLC0415
    from deploy.backup.snapshot import put_back  # noqa: PLC0415

    until = None if args.at is None else time_of(args.at)
    if not args.game:
        if made := put_back(settings_of(args), args.source, until):
            print(f"annals: as it was at {told(made.at)}", file=sys.stderr)
        return DONE
    settings_of(args).held()
    with open_services(args, catalogue) as services:
        found = mend(services, args.source, args.game, until)
    for line in found.lines():
        print(line)
    return FAILED if found.lost else DONE


def admin(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """One more administrator, or the names of all."""
    from deploy.runtime.wiring import people_of  # noqa: PLC0415

    settings = settings_of(args)
    settings.held()
    with people_of(settings) as people:
        if args.name:
            _promote(people, args.name)
        for account in people.accounts.list_by_role("admin"):
            print(f"{account.id}  {logging_setup.plain(account.name)}")
    return DONE


def _promote(people: AccountStore, name: str) -> None:
    found = people.accounts.find_by_name(name)
    if found is None:
        raise AccountError("unknown_account", f"there is no account {name}; it must be opened first")
    people.accounts.set_role(found.id, "admin", people.audit_log.make_entry(found.id, "role_given", "", "admin"))
