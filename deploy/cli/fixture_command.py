"""The command `annals fixture`: turn a closed game into a stored log of the tests, in one step."""

from __future__ import annotations

import argparse
import lzma
import re
from collections.abc import Callable
from pathlib import Path

from deploy.cli.arguments import DONE, FAILED, add_settings_arguments, load_settings_of
from deploy.cli.output import print_error, print_figures
from deploy.runtime.given_files import read_export
from domain.errors import AnnalsError, UnknownGame, VerificationError
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry

LOGS = Path("tests/logs")
"""Folder of the stored logs in a clone."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add("fixture", help="turn a closed game into a stored log of the tests")
    parser.set_defaults(command=write_fixture)
    parser.add_argument("game", metavar="GAME|FILE", help="a game of the data folder, or an export")
    parser.add_argument("--name", metavar="NAME", help="name of the log (default: ruleset and beginning of the head)")
    parser.add_argument("--to", type=Path, default=LOGS, metavar="DIR", help=f"folder of the logs (default: {LOGS})")
    add_settings_arguments(parser)


def write_fixture(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Prove the game as the tests will, and write it packed."""
    try:
        data = read_export(Path(args.game)) if Path(args.game).is_file() else _read_game(args)
        found = export.parse(data)
        report = verify.verify(registry.get(found.ruleset), found)
        path = _choose_path(args.to, args.name, report)
    except AnnalsError as error:
        return print_error(error, FAILED)
    path.write_bytes(lzma.compress(data, preset=9))
    print_figures({"file": str(path), "ruleset": report.ruleset, "records": report.records, "head": report.head})
    return DONE


def _read_game(args: argparse.Namespace) -> bytes:
    """Return the export of a game of the data folder. Raise UnknownGame."""
    settings = load_settings_of(args)
    ledger = Ledger.open(settings.ledger_url, settings.load_key())
    try:
        records = ledger.read_original(args.game)
    finally:
        ledger.close()
    if not records:
        raise UnknownGame(f"no such file or game: {args.game}")
    return export.dump(records)


def _choose_path(folder: Path, name: str | None, report: verify.VerificationReport) -> Path:
    """Return the file of a new log. Raise AnnalsError for a game that is not closed, or a name that cannot be."""
    if not report.closed:
        raise VerificationError("not_closed", report.records, "close the game first: its seed is still secret")
    chosen = name or f"{report.ruleset.partition('@')[0].replace('_', '-')}-{report.head[:8]}"
    if not _NAME.fullmatch(chosen):
        raise AnnalsError(f"{chosen!r}: small letters, digits and hyphens are expected")
    path = folder / f"{chosen}.jsonl.xz"
    if not folder.is_dir() or path.exists():
        raise AnnalsError(f"{path} exists already, or its folder does not: give --name or --to")
    return path
