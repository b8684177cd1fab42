"""The command `annals analyse`: each seat's chance of the first place in a closed game, turn by turn."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from deploy.cli.arguments import DONE
from deploy.cli.output import print_json
from deploy.simulation.replay import NotInFile, load_export
from domain.analysis import Endings, list_swings, list_turn_starts, play_on
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.narration.chapters import turn_title
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.proof import verify
from domain.kernel.records.export import Export
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.ruleset_registry import RulesetRegistry
from domain.types import DIRECTOR, Json

GAMES = 20
"""Games played on from each position."""
MOST_GAMES = 10_000


def add_command(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command and its arguments."""
    parser = add("analyse", help="estimate each seat's chances in a closed game, turn by turn")
    parser.set_defaults(command=analyse)
    parser.add_argument("file", metavar="FILE", type=Path, help="the export of a closed game")
    parser.add_argument("--version", type=int, metavar="N", help="play on from this version alone")
    parser.add_argument(
        "--games", type=_read_games, default=GAMES, metavar="N", help=f"played on from each position ({GAMES})"
    )
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same figures")
    parser.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def analyse(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Print the chances at each turn with the largest changes, or the endings from one version.

    Raises NotInFile, VerificationError, OSError.
    """
    found = load_export(args.file)
    rules = registry.get(found.ruleset)
    if not found.is_complete or found.records[-1].kind != "closed":
        raise NotInFile("the game is not closed: nobody may estimate a game that is still played")
    verify.verify(rules, found)
    texts = load_texts(rules.package, args.lang)
    names = SeatNames(texts, rules.powers(state_known_to(rules, found.records, DIRECTOR)), {})
    seats = [names(seat).bare for seat in range(found.records[0].body["seats"])]
    doc: dict[str, Json] = {"game": found.game, "ruleset": found.ruleset, "seats": seats}
    doc |= {"games": args.games, "seed": args.seed}
    if args.version is not None:
        return _print_endings(args, found, rules, doc)
    rows: list[tuple[int, str, Endings]] = []
    positions = list(list_turn_starts(rules, found.records))
    for version, chapter, state in positions:
        _tell_progress(len(rows), len(positions))
        rows.append((version, turn_title(texts, chapter) or "-", play_on(rules, state, args.games, args.seed)))
    _tell_progress(len(positions), len(positions))
    swings = list_swings([(version, endings.chances) for version, _, endings in rows])
    if args.json:
        doc["turns"] = [
            {"version": version, "turn": title, "chances": list(endings.chances)} for version, title, endings in rows
        ]
        doc["swings"] = [
            {"seat": each.seat, "change": each.change, "from": each.start, "to": each.end} for each in swings
        ]
        print_json(doc)
        return DONE
    print(f"Chances of the first place, from {args.games} games of bots at the start of each turn.")
    _print_table(
        ["version", "turn", *seats],
        [[str(version), title, *map(_percent, endings.chances)] for version, title, endings in rows],
    )
    print("Largest changes:")
    for each in swings:
        print(f"  {seats[each.seat]}: {each.change:+.0%} between the versions {each.start} and {each.end}")
    return DONE


def _print_endings(args: argparse.Namespace, found: Export, rules: AnyRuleset, doc: dict[str, Json]) -> int:
    """Print how the games end that are played on from one version."""
    if not 1 <= args.version <= len(found.records):
        raise NotInFile(f"the file holds the versions 1 to {len(found.records)}")
    state = state_known_to(rules, found.records[: args.version], DIRECTOR)
    if not state.frames or state.over:
        raise NotInFile(f"nothing is left to be played at version {args.version}")
    endings = play_on(rules, state, args.games, args.seed)
    if args.json:
        print_json(
            doc | {"version": args.version, "firsts": list(endings.firsts), "points": [*map(list, endings.points)]}
        )
        return DONE
    print(f"Endings of {args.games} games of bots from version {args.version}.")
    seats: list[str] = doc["seats"]
    _print_table(
        ["seat", "first", "least", "middle", "most"],
        [
            [name, _percent(first), *(f"{each:g}" for each in (points[0], median(points), points[-1]))]
            for name, first, points in zip(seats, endings.firsts, endings.points, strict=True)
        ],
    )
    return DONE


def _read_games(text: str) -> int:
    """Return a number of games. Raise ArgumentTypeError."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_GAMES:
        raise argparse.ArgumentTypeError(f"a number from 1 to {MOST_GAMES}")
    return int(text)


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _tell_progress(done: int, of: int) -> None:
    """Show on a terminal how many positions are done."""
    if sys.stderr.isatty():
        filled = 30 * done // max(of, 1)
        print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {done} of {of}", end="" if done < of else "\n", file=sys.stderr)


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with its columns under each other."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
