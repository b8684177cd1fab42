"""Arguments of the commands that run and maintain a service."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deploy.cli.arguments import (
    QUEUES,
    AddParser,
    add_backup_argument,
    add_port_arguments,
    add_settings_arguments,
    parse_days,
)
from deploy.cli.care_commands import admin, alive, archive, audit, backup, doctor, rebuild, recover, restore
from deploy.cli.reloading import serve_and_reload
from deploy.cli.serve import serve
from deploy.cli.single_processes import api, keeper, migrate, pump, worker
from deploy.cli.small_service import serve_small
from domain.ruleset_registry import RulesetRegistry


def add_commands(add: AddParser) -> None:
    """Add the commands and their arguments."""
    parser = add("serve", help="run the whole service")
    parser.set_defaults(command=_serve)
    add_settings_arguments(parser)
    add_port_arguments(parser)
    parser.add_argument(
        "--workers", type=int, metavar="N", help="number of processes for turns and deadlines (default: 1)"
    )
    add_backup_argument(parser)
    parser.add_argument("--small", action="store_true", help="run it in one process, for one core and 512 MB")
    parser.add_argument("--reload", action="store_true", help="start anew when code or pages change, to work on them")

    parser = add("api", help="run the HTTP server")
    parser.set_defaults(command=api)
    add_settings_arguments(parser)
    add_port_arguments(parser)

    parser = add("worker", help="run one worker")
    parser.set_defaults(command=worker)
    parser.add_argument("queue", choices=QUEUES, nargs="?", default="turns")
    add_settings_arguments(parser)

    parser = add("pump", help="run a projector, which writes the views; several share the games")
    parser.set_defaults(command=pump)
    parser.add_argument(
        "number", type=int, nargs="?", default=1, help="number of the projector in this data folder (default: 1)"
    )
    add_settings_arguments(parser)

    parser = add("keeper", help="run the maintenance process: log checks, archiving, running backup")
    parser.set_defaults(command=keeper)
    add_settings_arguments(parser)
    add_backup_argument(parser)

    parser = add("migrate", help="create missing folders, keys and tables")
    parser.set_defaults(command=migrate)
    add_settings_arguments(parser)

    _add_care_commands(add)


def _serve(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    if args.reload:
        return serve_and_reload([argument for argument in sys.argv[1:] if argument != "--reload"])
    return serve_small(args, registry) if args.small else serve(args, registry)


def _add_care_commands(add: AddParser) -> None:
    """Add the maintenance commands."""
    parser = add("doctor", help="check the service; fails if a check fails")
    parser.set_defaults(command=doctor)
    add_settings_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")

    parser = add("alive", help="check that all processes of a data folder are alive (exit status)")
    parser.set_defaults(command=alive)
    parser.add_argument("--end", action="store_true", help="also kill processes that hang, if no supervisor does")
    add_settings_arguments(parser)

    parser = add("audit", help="audit a game of a running service")
    parser.set_defaults(command=audit)
    parser.add_argument("game", metavar="GAME")
    add_settings_arguments(parser)

    parser = add("rebuild", help="rebuild all views, then switch to them")
    parser.set_defaults(command=rebuild)
    add_settings_arguments(parser)

    parser = add("archive", help="move games closed long ago to the archive")
    parser.set_defaults(command=archive)
    parser.add_argument("days", metavar="DAYS", type=parse_days, help="minimum days since a game was closed")
    add_settings_arguments(parser)

    parser = add("admin", help="make an account an administrator, or list those that are")
    parser.set_defaults(command=admin)
    parser.add_argument("name", metavar="NAME", nargs="?", help="name of an existing account")
    add_settings_arguments(parser)

    parser = add("recover", help="give an account back: print a code for a new password, for its owner")
    parser.set_defaults(command=recover)
    parser.add_argument("name", metavar="NAME", help="name of the account")
    add_settings_arguments(parser)

    parser = add("backup", help="copy the ledger and the key of a running service on SQLite")
    parser.set_defaults(command=backup)
    parser.add_argument("to", metavar="DIR", type=Path, help="a new or empty folder")
    add_settings_arguments(parser)

    parser = add("restore", help="make a data folder from a backup, or repair one game")
    parser.set_defaults(command=restore)
    parser.add_argument(
        "source", metavar="DIR", type=Path, help="a backup; with --game also the export file of a closed game"
    )
    parser.add_argument(
        "--at", metavar="TIME", help="restore a running backup up to this time, such as 2026-11-22T18:30Z"
    )
    parser.add_argument("--game", metavar="GAME", help="repair this game, also while the service runs")
    add_settings_arguments(parser)
