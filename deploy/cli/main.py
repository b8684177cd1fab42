"""The command line `annals`. Results go to standard output, everything else to standard error.

Exit status: 0 done, 1 refused or a check failed, 2 wrong usage, 130 interrupted by Ctrl-C.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from deploy.cli import (
    agent_command,
    analyse_command,
    compare_command,
    fixture_command,
    import_command,
    log_keys,
    rotate_key,
    service_commands,
    tournament_commands,
    verify_command,
)
from deploy.cli.output import print_error, print_figures, print_json
from deploy.cli.picture_command import write_picture
from deploy.config.settings import SettingsError
from deploy.runtime import gc_tuning, logging_setup
from deploy.simulation import bot_files, narrate, replay, stepper
from deploy.simulation.simulate import simulate
from domain.bots import BOTS, HEURISTIC, list_levels
from domain.errors import AnnalsError, RuleError, ScenarioError, UnknownGame, UnknownRuleset
from domain.kernel import scenario
from domain.kernel.game.deadlines import parse_time_control
from domain.kernel.narration.turn_digests import LEVELS
from domain.kernel.records.record import facts_for
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import LANGUAGES
from domain.ruleset_registry import RulesetRegistry, load_shipped
from domain.types import DIRECTOR, Json

CommandFunction = Callable[[argparse.Namespace, RulesetRegistry], int]

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class UsageError(Exception):
    """The arguments of a command do not fit together."""


def main(argv: Sequence[str] | None = None, registry: RulesetRegistry | None = None) -> int:
    """Run one command and return its exit status; without a registry, with the shipped rulesets."""
    gc_tuning.reduce_gc_frequency()
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed the error or the help
        return int(stop.code or 0)
    command: CommandFunction = args.command
    return report_errors(lambda: command(args, load_shipped() if registry is None else registry))


def report_errors(run: Callable[[], int | None]) -> int:
    """Run a function and return its exit status; print its error in one line."""
    try:
        status = run()
        sys.stdout.flush()
    except (UsageError, SettingsError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        return print_error(_without_errno(error), USAGE)
    except UnknownGame as error:
        return print_error(UnknownGame(f"there is no game {error}"), FAILED)
    except UnknownRuleset as error:
        return print_error(UnknownRuleset(f"there is no ruleset {error}"), FAILED)
    except (AnnalsError, replay.NotInFile) as error:
        return print_error(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    return status or DONE


def _without_errno(error: Exception) -> Exception:
    """Return the error with its file and reason, without an error number."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        place = error.filename or "the disk of the data folder (--data), or that of temporary files"
        return OSError(f"{place} is full: {error.strerror}; free some space, then try again")
    if isinstance(error, OSError) and error.strerror:
        return OSError(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    return error


# --- arguments -------------------------------------------------------------------------------------------------


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands and their arguments."""
    top = argparse.ArgumentParser(prog="annals", description="A game service for historical empire games.")
    top.set_defaults(main=main, report_errors=report_errors)
    add = top.add_subparsers(title="commands", required=True, metavar="COMMAND").add_parser

    parser = add("rulesets", help="list the rulesets")
    parser.set_defaults(command=list_rulesets)
    _add_json(parser)

    parser = add("simulate", help="play whole games in process and print figures")
    parser.set_defaults(command=run_simulation)
    _add_simulation(parser)

    parser = add("scenario", help="play scenario files and check their expectations")
    parser.set_defaults(command=play_scenarios)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    parser.add_argument("--trace", action="store_true", help="show every step")

    verify_command.add_command(add)
    compare_command.add_command(add)
    analyse_command.add_command(add)
    import_command.add_command(add)
    agent_command.add_command(add)
    fixture_command.add_command(add)

    parser = add("replay", help="step through a game by keys, or show its board at a version")
    parser.set_defaults(command=print_board)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--version", type=int, metavar="N", help="show this version, and do not step")
    parser.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument(
        "--viewer", type=_parse_viewer, default="public", metavar="V", help="public, director or a seat"
    )
    _add_json(parser)

    parser = add("show", help="show a game as sentences")
    parser.set_defaults(command=print_story)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument(
        "--viewer",
        type=_parse_viewer,
        metavar="V",
        help="public, director or a seat (default: the viewer of the file)",
    )
    parser.add_argument("--since", type=int, default=0, metavar="N", help="only records after this version")
    parser.add_argument("--format", choices=narrate.FORMATS, default="text")
    parser.add_argument("--level", choices=LEVELS, default="full", help="brief: only a summary of each turn")
    parser.add_argument("--picture", type=Path, metavar="OUT", help="write the map of the public board as an SVG file")
    parser.add_argument("--version", type=int, metavar="N", help="the version of the picture (default: the last)")

    _add_demos(add)
    tournament_commands.add_commands(add)
    service_commands.add_commands(add)
    rotate_key.add_command(add)
    log_keys.add_command(add)
    return top


def _add_demos(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands that fill a service."""
    parser = add("demo", help="play a sample game over HTTP")
    parser.set_defaults(command=run_demo)
    parser.add_argument(
        "--ruleset",
        default="struggle_of_empires",
        metavar="RULESET",
        help="name@version, or name for the newest version",
    )
    parser.add_argument("--seats", type=int, metavar="N", help="number of seats (default: the fewest)")
    parser.add_argument(
        "--option", type=_parse_option, action="append", default=[], metavar="KEY=VALUE", dest="options"
    )
    parser.add_argument(
        "--pace", metavar="PACE", help="a preset, or seconds per decision; with seconds, clients miss some deadlines"
    )
    parser.add_argument("--bot", choices=sorted(BOTS), help="all seats' player (default: heuristic, if there is one)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the clients' choices")
    parser.add_argument("--url", default="", help="address of a running service (default: a temporary one)")
    parser.add_argument(
        "--export", type=Path, default=Path("games"), metavar="DIR", help="folder for the export (default: games)"
    )

    parser = add("seed-event", help="fill a running service with an event in play, to look at")
    parser.set_defaults(command=run_seed_event)
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="address of the service")
    parser.add_argument("--ruleset", default="seven_empires", metavar="RULESET", help="name@version, or name")
    parser.add_argument("--seats", type=int, metavar="N", help="seats of each table (default: the fewest)")
    parser.add_argument("--tables", type=_count, default=3, metavar="K", help="tables of a round (default: 3)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the clients' choices")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def _add_simulation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ruleset", metavar="RULESET", help="name@version, or name for the newest version")
    parser.add_argument("--seats", type=int, metavar="N", help="number of seats (default: the fewest)")
    parser.add_argument("--games", type=_count, default=10, metavar="K")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument(
        "--option", type=_parse_option, action="append", default=[], metavar="KEY=VALUE", dest="options"
    )
    bots = parser.add_mutually_exclusive_group()
    bots.add_argument(
        "--bot", type=_parse_bot, metavar="BOT", help=f"all seats' player: {_BOT_NAMES} (default: builder)"
    )
    bots.add_argument("--bots", type=_parse_bots, metavar="LIST", help="one bot per seat, separated by commas")
    parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="number of processes")
    parser.add_argument("--export", type=Path, metavar="DIR", help="write one export file per game to this folder")
    parser.add_argument(
        "--joint", action="store_true", help="seats add nonces to each draw; exports have transcripts beside them"
    )
    _add_json(parser)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("1 or more is expected")
    return count


def _parse_option(text: str) -> tuple[str, Json]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: KEY=VALUE is expected")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


_BOT_NAMES = f"{', '.join(sorted(BOTS))}, or a file FILE.py with a function choose(board, choice)"


def _parse_bot(text: str) -> str:
    if text not in BOTS and not bot_files.is_bot_file(text):
        raise argparse.ArgumentTypeError(f"{text!r} is none of {_BOT_NAMES}")
    return text


def _parse_bots(text: str) -> tuple[str, ...]:
    return tuple(_parse_bot(name) for name in text.split(","))


def _parse_viewer(text: str) -> int | str:
    try:
        return replay.parse_viewer(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: public, director or a seat's number is expected") from None


def _find_ruleset(registry: RulesetRegistry, name: str) -> AnyRuleset:
    return registry.get(name) if "@" in name else registry.latest(name)


# --- rulesets and simulations ----------------------------------------------------------------------------------


def list_rulesets(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Print the available rulesets."""
    docs = [_ruleset_to_json(registry.get(name)) for name in registry.names()]
    if args.json:
        print_json(docs)
        return DONE
    for doc in docs:
        seats = ", ".join(map(str, doc["seats"]))
        print(f"{doc['ruleset']}  {doc['title']}; seats {seats}; bots {', '.join(doc['bots'])}")
        for name, option in doc["options"].items():
            print(
                f"  {name}={json.dumps(option['default'])}  {json.dumps(option['schema'])}  {option['rule']}".rstrip()
            )
    return DONE


def _ruleset_to_json(rules: AnyRuleset) -> dict[str, Json]:
    meta = rules.meta
    options = {
        n: {"default": o.default, "schema": o.validator.schema(), "rule": o.rule} for n, o in meta.options.items()
    }
    return {
        "ruleset": meta.ruleset,
        "title": meta.title,
        "seats": list(meta.seats),
        "options": options,
        "moves": sorted(rules.moves),
        "codes": dict(meta.codes),
        "bots": list_levels(rules),
    }


def run_simulation(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Play whole games and print figures; fail if a game did not end or a check failed."""
    rules = _find_ruleset(registry, args.ruleset)
    seats = rules.meta.seats[0] if args.seats is None else args.seats
    bot = args.bots or args.bot or "builder"
    if args.bots and len(args.bots) != seats:
        raise UsageError(f"--bots names {len(args.bots)} bots for {seats} seats")
    if "heuristic" in (args.bots or [args.bot]) and rules.bot is None:
        raise UsageError(f"{rules.meta.ruleset} has no heuristic bot")
    if len(dict(args.options)) != len(args.options):
        raise UsageError("an option is given twice")
    for name in args.bots or [bot]:
        bot_files.load_bot(name)  # reports an invalid bot file before the first game
    doc = simulate(
        rules, seats, args.games, args.seed, dict(args.options), bot, args.jobs, args.export, joint=args.joint
    )
    if args.json:
        print_json(doc)
    else:
        print_figures(doc)
    return DONE if doc["finished"] == doc["games"] and not doc["invariant_failures"] else FAILED


# --- scenarios -------------------------------------------------------------------------------------------------


def play_scenarios(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Play every file, also after one that failed or cannot be read."""
    return max([_play_scenario_file(path, registry, args.trace) for path in args.files])


def _play_scenario_file(path: Path, registry: RulesetRegistry, trace: bool) -> int:
    try:
        doc = scenario.parse(path.read_bytes())
    except OSError as error:
        return print_error(_without_errno(error), USAGE)
    except ScenarioError as error:
        return _print_outcome(path, scenario.ScenarioOutcome("", fault=error))
    status, varied = DONE, isinstance(doc, dict) and "variants" in doc
    for outcome in scenario.play(registry.get, doc, _print_step if trace else None):
        if outcome.variant or outcome.fault or not varied:
            status = max(status, _print_outcome(path, outcome))
    return status


def _print_outcome(path: Path, outcome: scenario.ScenarioOutcome) -> int:
    head = logging_setup.to_safe_line(f"{path}: variant {outcome.variant}" if outcome.variant else f"{path}")
    if outcome.result:
        print(f"{head}: {outcome.result.steps} steps as expected")
        return DONE
    print(f"{head}: failed: {logging_setup.to_safe_line(str(outcome.fault))}")
    return FAILED


MAX_CHANGES, MAX_WIDTH = 40, 120
"""Changes shown for a step; characters shown of a value."""


def _print_step(seen: scenario.StepTrace) -> None:
    head, result = f"variant {seen.variant}, " if seen.variant else "", seen.done
    if isinstance(result, RuleError):
        print(f"{head}step {seen.step}: refused: {result.code} {result.rule} {json.dumps(result.detail)}")
        return
    print(f"{head}step {seen.step}: version {result.version}, {result.kind}")
    for draw in replay.list_draws(result, DIRECTOR):
        print(f"  draw {json.dumps({'label': draw[1], 'value': draw[3]}, ensure_ascii=False)}")
    for fact in facts_for(result, DIRECTOR):
        print(f"  fact {json.dumps(fact, ensure_ascii=False)}")
    changes = list(seen.changes())
    for change in changes[:MAX_CHANGES]:
        print(f"  state {logging_setup.to_safe_line(change.pointer)}: {_shorten(change.old)} -> {_shorten(change.new)}")
    if len(changes) > MAX_CHANGES:
        print(f"  state: {len(changes) - MAX_CHANGES} more places")
    for decision in seen.decisions:
        print(f"  open {json.dumps(decision, ensure_ascii=False)}")


def _shorten(value: Json) -> str:
    if value is scenario.MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_WIDTH else f"{text[:MAX_WIDTH]}..."


# --- export files ----------------------------------------------------------------------------------------------


def print_board(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Print board and decisions at a version, or step through all versions."""
    game_export = replay.load_export(args.file)
    if args.version is None:
        if args.json:
            raise replay.NotInFile("--json needs --version")
        stepper.step_through(stepper.Stepper(game_export, registry.get(game_export.ruleset), args.viewer, args.lang))
        return DONE
    doc = replay.build_board(registry.get(game_export.ruleset), game_export, args.version, args.viewer)
    if args.json:
        print_json(doc)
        return DONE
    print(f"{doc['game']} ({doc['ruleset']}), version {doc['version']} ({doc['kind']}), seen by {doc['viewer']}")
    for part in ("public", "own", "decisions"):
        if doc[part] is not None:
            print(f"{part}: {json.dumps(doc[part], ensure_ascii=False, indent=2)}")
    return DONE


def print_story(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Print a game as sentences."""
    game_export = replay.load_export(args.file)
    rules = registry.get(game_export.ruleset)
    if args.picture is not None:
        write_picture(game_export, rules, args.lang, args.version, args.picture)
        return DONE
    story = narrate.build_story(game_export, rules, args.lang, args.viewer, args.since, args.level)
    for text in narrate.FORMATS[args.format](story):
        print(text if args.format == "json" else logging_setup.to_safe_line(text))
    return DONE


def run_seed_event(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Fill a service with an event in play."""
    from deploy.simulation.demo import DemoError  # noqa: PLC0415 - only this command needs an HTTP client
    from deploy.simulation.seed_event import EventPlan, seed_event  # noqa: PLC0415 - likewise

    rules = _find_ruleset(registry, args.ruleset)
    try:
        seed_event(args.url.rstrip("/"), EventPlan(rules, args.seats or min(rules.meta.seats), args.tables, args.seed))
    except DemoError as error:
        return print_error(AnnalsError(str(error)), FAILED)
    return DONE


def run_demo(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Play a sample game from set-up to scores."""
    from deploy.simulation import demo  # noqa: PLC0415 - no other command needs its HTTP client

    rules = _find_ruleset(registry, args.ruleset)
    seats = rules.meta.seats[0] if args.seats is None else args.seats
    options = {**rules.meta.demo_options, **dict(args.options)}
    rules.make_table(seats, options)
    deadline = int(args.pace) if args.pace and args.pace.isdecimal() else 0
    pace = {"seconds": dict.fromkeys(("move", *rules.meta.clocks.values()), deadline)} if deadline else args.pace
    parse_time_control(rules.meta, pace)
    if args.bot == HEURISTIC and rules.bot is None:
        raise UsageError(f"{rules.meta.ruleset} has no heuristic bot")
    heuristic = None if args.bot == "builder" else rules.bot
    plan = demo.DemoPlan(
        rules.meta.ruleset, seats, options, args.seed, args.export, pace, deadline, heuristic=heuristic
    )
    try:
        demo.run_demo(args.url, plan)
    except demo.DemoError as error:
        return print_error(error, FAILED)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
