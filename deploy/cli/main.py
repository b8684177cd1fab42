"""The command line `annals`. Results go to standard output, everything else to standard error.

Exit status: 0 done, 1 refused or a check failed, 2 wrong usage, 130 interrupted by Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from deploy.cli import rotate_key, service_commands
from deploy.config.settings import SettingsError
from deploy.runtime import gc_tuning, logging_setup
from deploy.simulation import bot_files, demo, narrate, replay
from deploy.simulation.simulate import simulate
from domain.bots import BOTS
from domain.errors import AnnalsError, RuleError, ScenarioError, UnknownGame, UnknownRuleset, VerificationError
from domain.kernel import scenario
from domain.kernel.game.deadlines import parse_time_control
from domain.kernel.proof import verify
from domain.kernel.records.record import facts_for
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import LANGUAGES
from domain.ruleset_registry import RulesetRegistry, load_shipped
from domain.types import DIRECTOR, Json
from workers.jobs import parallel_audit

Command = Callable[[argparse.Namespace, RulesetRegistry], int]

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Usage(Exception):
    """The command was called in a way that it does not know."""


def main(argv: Sequence[str] | None = None, catalogue: RulesetRegistry | None = None) -> int:
    """Runs one command and returns the exit status; without a catalogue, of the rulesets that are shipped."""
    gc_tuning.look_seldom()
    try:
        args = parser().parse_args(argv)
    except SystemExit as stop:  # argparse has said what is wrong, or has printed its help
        return int(stop.code or 0)
    command: Command = args.command
    try:
        status = command(args, load_shipped() if catalogue is None else catalogue)
        sys.stdout.flush()
        return status
    except (Usage, SettingsError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # whoever reads us has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        return _say(_in_words(error), USAGE)
    except UnknownGame as error:
        return _say(UnknownGame(f"there is no game {error}"), FAILED)
    except UnknownRuleset as error:
        return _say(UnknownRuleset(f"there is no ruleset {error}"), FAILED)
    except (AnnalsError, replay.NotInFile, demo.DemoError) as error:
        return _say(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def _in_words(error: Exception) -> Exception:
    """What went wrong with which file, without a number."""
    if isinstance(error, OSError) and error.strerror:
        return OSError(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    return error


def _say(error: Exception, status: int) -> int:
    print(f"annals: {logging_setup.plain(str(error))}", file=sys.stderr)
    return status


def _json(doc: Json) -> None:
    print(json.dumps(doc, ensure_ascii=False))


# --- arguments -------------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """All commands and their arguments."""
    top = argparse.ArgumentParser(prog="annals", description="A game service for historical empire games.")
    top.set_defaults(main=main)
    add = top.add_subparsers(title="commands", required=True, metavar="COMMAND").add_parser

    one = add("rulesets", help="what can be played")
    one.set_defaults(command=rulesets)
    _add_json(one)

    one = add("simulate", help="play whole games in process and count")
    one.set_defaults(command=simulation)
    _add_simulation(one)

    one = add("scenario", help="play scenario files and compare what they expect")
    one.set_defaults(command=scenarios)
    one.add_argument("files", metavar="FILE", nargs="+", type=Path)
    one.add_argument("--trace", action="store_true", help="show every step")

    one = add("verify", help="prove an export file: chain, seals, boards, and once closed every die and rule")
    one.set_defaults(command=verification)
    one.add_argument("file", metavar="FILE", type=Path)
    one.add_argument("--head", default="", metavar="HASH", help="hash of the last record, known from elsewhere")
    _add_json(one)

    one = add("replay", help="the board as a viewer saw it at a version")
    one.set_defaults(command=replayed)
    one.add_argument("file", metavar="FILE", type=Path)
    one.add_argument("--version", type=int, required=True, metavar="N")
    one.add_argument("--viewer", type=_viewer, default="public", metavar="V", help="public, director or a seat")
    _add_json(one)

    one = add("show", help="a game as sentences")
    one.set_defaults(command=show)
    one.add_argument("file", metavar="FILE", type=Path)
    one.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0])
    one.add_argument(
        "--viewer", type=_viewer, metavar="V", help="public, director or a seat; else whoever may read most of the file"
    )
    one.add_argument("--since", type=int, default=0, metavar="N", help="only what came after that version")
    one.add_argument("--format", choices=narrate.FORMATS, default="text")

    one = add("demo", help="play a whole game over HTTP, with clients that know nothing but the API")
    one.set_defaults(command=demonstration)
    one.add_argument(
        "--ruleset", default="struggle_of_empires", metavar="RULESET", help="name@version, or name; else the model game"
    )
    one.add_argument("--seats", type=int, metavar="N", help="the fewest unless given")
    one.add_argument("--option", type=_option, action="append", default=[], metavar="KEY=VALUE", dest="options")
    one.add_argument("--pace", metavar="PACE", help="a preset, or seconds for every decision, which some clients miss")
    one.add_argument("--seed", type=int, default=0, metavar="S", help="of the clients' choices")
    one.add_argument("--url", default="", help="a running service; else one of its own, in a temporary folder")
    one.add_argument("--export", type=Path, default=Path("games"), metavar="DIR", help="where the export goes (games)")

    service_commands.add_commands(add)
    rotate_key.add_command(add)
    return top


def _add_json(one: argparse.ArgumentParser) -> None:
    one.add_argument("--json", action="store_true", help="one JSON document instead of lines")


def _add_simulation(one: argparse.ArgumentParser) -> None:
    one.add_argument("ruleset", metavar="RULESET", help="name@version, or name for the newest version")
    one.add_argument("--seats", type=int, metavar="N", help="the fewest unless given")
    one.add_argument("--games", type=_count, default=10, metavar="K")
    one.add_argument("--seed", type=int, default=0, metavar="S")
    one.add_argument("--option", type=_option, action="append", default=[], metavar="KEY=VALUE", dest="options")
    bots = one.add_mutually_exclusive_group()
    bots.add_argument("--bot", type=_bot, metavar="BOT", help=f"all seats' player: {_BOTS}; the builder unless given")
    bots.add_argument("--bots", type=_bots, metavar="LIST", help="one bot per seat, with commas between")
    one.add_argument("--jobs", type=_count, default=1, metavar="N", help="processes")
    one.add_argument("--export", type=Path, metavar="DIR", help="write one export file per game")
    _add_json(one)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("1 or more is expected")
    return count


def _option(text: str) -> tuple[str, Json]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: KEY=VALUE is expected")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


_BOTS = f"{', '.join(sorted(BOTS))}, or a file FILE.py with a function choose(board, choice)"


def _bot(text: str) -> str:
    if text not in BOTS and not bot_files.is_file(text):
        raise argparse.ArgumentTypeError(f"{text!r} is none of {_BOTS}")
    return text


def _bots(text: str) -> tuple[str, ...]:
    return tuple(_bot(name) for name in text.split(","))


def _viewer(text: str) -> int | str:
    try:
        return replay.viewer_of(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: public, director or a seat's number is expected") from None


def _ruleset(catalogue: RulesetRegistry, name: str) -> AnyRuleset:
    return catalogue.get(name) if "@" in name else catalogue.latest(name)


# --- rulesets and simulations ----------------------------------------------------------------------------------


def rulesets(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """What can be played."""
    docs = [_about(catalogue.get(name)) for name in catalogue.names()]
    if args.json:
        _json(docs)
        return DONE
    for doc in docs:
        seats = ", ".join(map(str, doc["seats"]))
        print(f"{doc['ruleset']}  {doc['title']}; seats {seats}; bots {', '.join(doc['bots'])}")
        for name, option in doc["options"].items():
            print(
                f"  {name}={json.dumps(option['default'])}  {json.dumps(option['schema'])}  {option['rule']}".rstrip()
            )
    return DONE


def _about(rules: AnyRuleset) -> dict[str, Json]:
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
        "bots": [name for name in sorted(BOTS) if name != "heuristic" or rules.bot],
    }


def simulation(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """Whole games; fails where one did not end or a check failed."""
    rules = _ruleset(catalogue, args.ruleset)
    seats = rules.meta.seats[0] if args.seats is None else args.seats
    bot = args.bots or args.bot or "builder"
    if args.bots and len(args.bots) != seats:
        raise Usage(f"--bots names {len(args.bots)} bots for {seats} seats")
    if "heuristic" in (args.bots or [args.bot]) and rules.bot is None:
        raise Usage(f"{rules.meta.ruleset} has no heuristic bot")
    if len(dict(args.options)) != len(args.options):
        raise Usage("an option is given twice")
    for name in args.bots or [bot]:
        bot_files.player(name)  # a file that is no bot is told before the first game
    doc = simulate(rules, seats, args.games, args.seed, dict(args.options), bot, args.jobs, args.export)
    if args.json:
        _json(doc)
    else:
        _table(doc)
    return DONE if doc["finished"] == doc["games"] and not doc["invariant_failures"] else FAILED


def _table(doc: dict[str, Json]) -> None:
    """One figure a line, counts below their heading."""
    for name, value in doc.items():
        if isinstance(value, dict) and name != "options":
            print(f"{name}:")
            for key, count in value.items():
                print(f"  {count:>8}  {key}")
        else:
            print(f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")


# --- scenarios -------------------------------------------------------------------------------------------------


def scenarios(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """Every file is played, also after one that failed or cannot be read."""
    return max([_scenario(path, catalogue, args.trace) for path in args.files])


def _scenario(path: Path, catalogue: RulesetRegistry, trace: bool) -> int:
    try:
        doc = scenario.parse(path.read_bytes())
    except OSError as error:
        return _say(_in_words(error), USAGE)
    except ScenarioError as error:
        return _told(path, scenario.ScenarioOutcome("", fault=error))
    status, varied = DONE, isinstance(doc, dict) and "variants" in doc
    for outcome in scenario.play(catalogue.get, doc, _trace if trace else None):
        if outcome.variant or outcome.fault or not varied:
            status = max(status, _told(path, outcome))
    return status


def _told(path: Path, outcome: scenario.ScenarioOutcome) -> int:
    head = logging_setup.plain(f"{path}: variant {outcome.variant}" if outcome.variant else f"{path}")
    if outcome.result:
        print(f"{head}: {outcome.result.steps} steps as expected")
        return DONE
    print(f"{head}: failed: {logging_setup.plain(str(outcome.fault))}")
    return FAILED


CHANGES, WIDE = 40, 120
"""So many changes of a step are shown, and so many characters of a value."""


def _trace(seen: scenario.StepTrace) -> None:
    head, found = f"variant {seen.variant}, " if seen.variant else "", seen.done
    if isinstance(found, RuleError):
        print(f"{head}step {seen.step}: refused: {found.code} {found.rule} {json.dumps(found.detail)}")
        return
    print(f"{head}step {seen.step}: version {found.version}, {found.kind}")
    for draw in replay.draws_for(found, DIRECTOR):
        print(f"  draw {json.dumps({'label': draw[1], 'value': draw[3]}, ensure_ascii=False)}")
    for fact in facts_for(found, DIRECTOR):
        print(f"  fact {json.dumps(fact, ensure_ascii=False)}")
    changes = list(seen.changes())
    for change in changes[:CHANGES]:
        print(f"  state {logging_setup.plain(change.pointer)}: {_short(change.old)} -> {_short(change.new)}")
    if len(changes) > CHANGES:
        print(f"  state: {len(changes) - CHANGES} more places")
    for decision in seen.decisions:
        print(f"  open {json.dumps(decision, ensure_ascii=False)}")


def _short(value: Json) -> str:
    if value is scenario.MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDE else f"{text[:WIDE]}..."


# --- export files ----------------------------------------------------------------------------------------------


def verification(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """What is proved, in numbers; or the first fault."""
    try:
        found = replay.load(args.file)
        rules = catalogue.get(found.ruleset)
        report = verify.verify(rules, found, args.head, replayer=parallel_audit.replay).to_json()
    except VerificationError as error:
        if args.json:
            _json({"verified": False, "code": error.code, "version": error.version, "detail": str(error)})
        return _say(error, FAILED)
    if args.json:
        _json({"verified": True, **report})
    else:
        _table({"verified": True, **report})
    return DONE


def replayed(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """Board and decisions at a version."""
    found = replay.load(args.file)
    doc = replay.board(catalogue.get(found.ruleset), found, args.version, args.viewer)
    if args.json:
        _json(doc)
        return DONE
    print(f"{doc['game']} ({doc['ruleset']}), version {doc['version']} ({doc['kind']}), seen by {doc['viewer']}")
    for part in ("public", "own", "decisions"):
        if doc[part] is not None:
            print(f"{part}: {json.dumps(doc[part], ensure_ascii=False, indent=2)}")
    return DONE


def show(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """The game as sentences."""
    found = replay.load(args.file)
    told = narrate.story(found, catalogue.get(found.ruleset), args.lang, args.viewer, args.since)
    for text in narrate.FORMATS[args.format](told):
        print(text if args.format == "json" else logging_setup.plain(text))
    return DONE


def demonstration(args: argparse.Namespace, catalogue: RulesetRegistry) -> int:
    """A game from the set-up to the final table."""
    rules = _ruleset(catalogue, args.ruleset)
    seats = rules.meta.seats[0] if args.seats is None else args.seats
    options = {**rules.meta.demo_options, **dict(args.options)}
    rules.make_table(seats, options)
    deadline = int(args.pace) if args.pace and args.pace.isdecimal() else 0
    pace = {"seconds": dict.fromkeys(("move", *rules.meta.clocks.values()), deadline)} if deadline else args.pace
    parse_time_control(rules.meta, pace)
    demo.main(args.url, demo.Plan(rules.meta.ruleset, seats, options, args.seed, args.export, pace, deadline))
    return DONE


if __name__ == "__main__":
    sys.exit(main())
