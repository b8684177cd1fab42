"""The command `annals compare`: the moves of stored games, decided again under another version of the rules."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.cli.arguments import DONE, FAILED, add_settings_arguments, load_settings_of
from deploy.cli.output import print_json
from deploy.cli.single_processes import open_services
from deploy.runtime.given_files import read_export
from domain.errors import StoreDamaged, VerificationError
from domain.kernel.proof import verify
from domain.kernel.proof.compare import RulesDifference, compare_rules
from domain.kernel.records import export
from domain.kernel.records.export import Export
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ruleset_registry import RulesetRegistry
from domain.types import Json

if TYPE_CHECKING:
    from deploy.runtime.wiring import ServiceContainer

StoredGame = tuple[str, Callable[[], tuple[Sequence[Record], bytes]]]
"""Id, and a reader of all records with all packs, and of the seed; it may raise StoreDamaged."""


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add("compare", help="decide the moves of stored games under another version of their rules")
    parser.set_defaults(command=compare)
    parser.add_argument("old", metavar="OLD", help="ruleset of the games, as name@version")
    parser.add_argument("new", metavar="NEW", help="ruleset to decide them by")
    parser.add_argument(
        "files", metavar="FILE", nargs="*", type=Path, help="exports of closed games (default: all of the service)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document for each game")
    add_settings_arguments(parser)


def compare(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Print the first difference or refusal of each game of a ruleset under another one; fail if there is any."""
    old, new = registry.get(args.old), registry.get(args.new)
    games = _read_files(args.files, old) if args.files else _read_service(args, registry, old)
    differing = 0
    for game, read in games:
        try:
            records, seed = read()
            found = compare_rules(new, records, seed)
        except StoreDamaged:
            records, found = (), RulesDifference(0, "", "unreadable")
        differing += found is not None
        doc: dict[str, Json] = {"game": game, "records": len(records), "same": found is None}
        doc |= found.to_json() if found else {}
        if args.json:
            print_json(doc)
        elif found:
            place = f"version {found.version} ({found.kind}): " if found.version else ""
            print(f"{game}: {place}{' '.join(filter(None, (found.code, found.part)))}")
        else:
            print(f"{game}: the same in {len(records)} records")
    return FAILED if differing else DONE


def _read_files(paths: Sequence[Path], rules: AnyRuleset) -> Iterator[StoredGame]:
    """Yield the games of export files; raise VerificationError unless each is closed, whole and of these rules."""
    for path in paths:
        found = export.parse(read_export(path))
        if found.ruleset != rules.meta.ruleset:
            raise VerificationError("header_mismatch", 1, f"{path}: {found.ruleset}")
        if found.records[-1].kind != "closed" or not found.is_complete:
            raise VerificationError("cut_off", len(found.records), f"{path}: the game is not closed, or has no packs")
        verify.check_chain(found.records)
        yield found.game, partial(_read_export, found)


def _read_export(found: Export) -> tuple[Sequence[Record], bytes]:
    return found.records, bytes.fromhex(found.records[-1].body["seed"])


def _read_service(args: argparse.Namespace, registry: RulesetRegistry, rules: AnyRuleset) -> Iterator[StoredGame]:
    """Yield the games of a service."""
    load_settings_of(args).require_service()
    with open_services(args, registry) as services:
        for game in services.reader.list_games_of(rules.meta.ruleset):
            yield game, partial(_read_game, services, game)


def _read_game(services: ServiceContainer, game: str) -> tuple[Sequence[Record], bytes]:
    return services.ledger.read(game), services.seed_store.seed(game)
