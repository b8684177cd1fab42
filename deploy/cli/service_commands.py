"""The arguments of the commands that run a service and take care of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
from deploy.cli.arguments import QUEUES, Add, add_backup, add_port, add_settings, days
from deploy.cli.care_commands import admin, alive, archive, audit, backup, doctor, rebuild, restore
from deploy.cli.serve import serve
from deploy.cli.single_processes import api, keeper, migrate, pump, worker


def add_commands(add: Add) -> None:
    """Their arguments."""
    one = add("serve", help="run the whole service, and everything that it needs")
    one.set_defaults(command=serve)
    add_settings(one)
    add_port(one)
    one.add_argument("--workers", type=int, metavar="N", help="processes for turns and deadlines (1 unless given)")
    add_backup(one)

    one = add("api", help="run the HTTP server alone")
    one.set_defaults(command=api)
    add_settings(one)
    add_port(one)

    one = add("worker", help="run one worker")
    one.set_defaults(command=worker)
    one.add_argument("queue", choices=QUEUES, nargs="?", default="turns")
    add_settings(one)

    one = add("pump", help="run a process that makes the views; several share the games, or stand by")
    one.set_defaults(command=pump)
    one.add_argument("number", type=int, nargs="?", default=1, help="which one of this data folder (1 unless given)")
    add_settings(one)

    one = add(
        "keeper", help="run the process that reads the log against its tree, archives, and keeps the running backup"
    )
    one.set_defaults(command=keeper)
    add_settings(one)
    add_backup(one)

    one = add("migrate", help="make the folder, the key and the tables that are missing")
    one.set_defaults(command=migrate)
    add_settings(one)

    _add_care(add)


def _add_care(add: Add) -> None:
    """What is done now and then, by hand."""
    one = add("doctor", help="look at everything that can be wrong; fails if something is")
    one.set_defaults(command=doctor)
    add_settings(one)
    one.add_argument("--json", action="store_true", help="one JSON document instead of lines")

    one = add("alive", help="tell by the status whether every process of a data folder gives signs of life")
    one.set_defaults(command=alive)
    one.add_argument("--end", action="store_true", help="and end what does not, where nobody supervises it")
    add_settings(one)

    one = add("audit", help="have a worker prove a game of a running service, also one that is being played")
    one.set_defaults(command=audit)
    one.add_argument("game", metavar="GAME")
    add_settings(one)

    one = add("rebuild", help="have a worker make all views anew beside the live ones, then switch")
    one.set_defaults(command=rebuild)
    add_settings(one)

    one = add("archive", help="move games that were closed long ago out of the tables that are in use")
    one.set_defaults(command=archive)
    one.add_argument("days", metavar="DAYS", type=days, help="those that were closed at least so many days ago")
    add_settings(one)

    one = add("admin", help="make an account an administrator, or list those that are")
    one.set_defaults(command=admin)
    one.add_argument("name", metavar="NAME", nargs="?", help="what the account is called; it must be there already")
    add_settings(one)

    one = add("backup", help="copy the ledger and the key of a running service on SQLite")
    one.set_defaults(command=backup)
    one.add_argument("to", metavar="DIR", type=Path, help="a new or empty folder")
    add_settings(one)

    one = add("restore", help="make a data folder of a backup, or put one game right with it")
    one.set_defaults(command=restore)
    one.add_argument("source", metavar="DIR", type=Path, help="a backup; with --game also the export of a closed game")
    one.add_argument("--at", metavar="TIME", help="of a running backup the last moment that counts: 2026-11-22T18:30Z")
    one.add_argument(
        "--game", metavar="GAME", help="put back what is damaged of this game, also while the service runs"
    )
    add_settings(one)
