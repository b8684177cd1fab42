"""The commands `annals tournament plan`, `next`, `score` and `verify`: the sums of an event, without a service."""

from __future__ import annotations

import argparse
import json
import re
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

from deploy.cli.arguments import DONE, FAILED, AddParser
from deploy.cli.held_results import HeldResults, hold_results, list_unproved
from deploy.cli.verify_command import add_proof_arguments, check_proof, describe_head, parse_head
from deploy.runtime.given_files import read_export
from domain.errors import TournamentError
from domain.kernel.records.record import Record
from domain.kernel.text.message_catalog import LANGUAGES, Texts, load_texts
from domain.ruleset_registry import RulesetRegistry
from domain.tournaments.aggregate.tournament_proof import parse_export, split_export, verify_tournament
from domain.tournaments.byes import find_round_sizes
from domain.tournaments.draw import draw_order
from domain.tournaments.explain import (
    explain,
    explanation_sentences,
    explanation_to_json,
)
from domain.tournaments.formats import (
    LeaguePlan,
    RoundPlan,
    SwissRound,
    SwissState,
    check_rounds,
    default_rounds,
    draw_swiss_round,
    last_late_round,
    plan_design,
    plan_knockout,
    plan_league,
    seed_tables,
)
from domain.tournaments.next_round import advance_round, draw_next_round
from domain.tournaments.results_file import KEY_BYTES, MAX_ENTRANTS, parse_results
from domain.tournaments.scoring import POINT
from domain.tournaments.sizes import SeatRange, can_avoid_repeats, check_seats
from domain.tournaments.standings import list_standings
from domain.tournaments.ties import TieBreaks
from domain.types import Doc

FORMATS = ("league", "design", "swiss", "knockout")
POINT_DECIMALS = 4


def add_commands(add: AddParser) -> None:
    """Add the command with its parts, and their arguments."""
    group = add("tournament", help="plan and score an event on paper, verify one of the service")
    add_part = group.add_subparsers(title="parts", required=True, metavar="PART").add_parser

    parser = add_part("plan", help="show tables, byes, rounds and pods for a number of entrants")
    parser.set_defaults(command=plan)
    parser.add_argument("--entrants", type=int, required=True, metavar="N", help=f"2 to {MAX_ENTRANTS}")
    _add_seats(parser)
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0])
    parser.add_argument("--rounds", type=int, metavar="N", help="number of rounds (default: by the format)")
    parser.add_argument(
        "--advance",
        type=_parse_advance,
        metavar="LIST",
        default=(),
        help="of a knockout, round by round: how many advance from each table, and wild cards: 1+3,2",
    )
    parser.add_argument(
        "--key", type=_parse_key, metavar="HEX", help="key of the draw, 64 hex digits (default: no draw, by entry)"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write a file of results to fill in")
    parser.add_argument("--json", action="store_true", help="print one JSON document")

    parser = add_part("next", help="draw the next round of a Swiss or knockout event from its results")
    parser.set_defaults(command=draw_next)
    parser.add_argument("file", metavar="FILE", type=Path)
    _add_seats(parser)
    parser.add_argument("--key", type=_parse_key, required=True, metavar="HEX", help="key of the draw, 64 hex digits")
    parser.add_argument("--absent", nargs="+", default=[], metavar="ENTRANT", help="late, absent or withdrawn")
    parser.add_argument("--volunteers", nargs="+", default=[], metavar="ENTRANT", help="want a bye")
    parser.add_argument(
        "--advance", type=_parse_advance, metavar="LIST", help="of a knockout: how many advance, and wild cards: 1+3"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the results with the new round to fill in")
    parser.add_argument("--json", action="store_true", help="print one JSON document")

    parser = add_part("score", help="show the standings of a file of results")
    parser.set_defaults(command=score)
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--explain", nargs=2, metavar="ENTRANT", help="say why one stands before the other")
    parser.add_argument("--lang", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument("--json", action="store_true", help="print one JSON document")

    parser = add_part("verify", help="prove the export of a tournament, and name the first difference")
    parser.set_defaults(command=verify)
    parser.add_argument("file", metavar="FILE", type=Path)
    add_proof_arguments(parser)
    games = parser.add_mutually_exclusive_group()
    games.add_argument(
        "--games",
        type=Path,
        metavar="DIR",
        help="hold the results against the exports of the games, GAME.annals in DIR",
    )
    games.add_argument("--url", metavar="URL", help="hold the results against the games of this service")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def _add_seats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seats", type=_parse_seats, required=True, metavar="LO..HI", help="legal numbers of seats at a table"
    )
    parser.add_argument("--preferred", type=int, metavar="N", help="preferred number of seats (default: the most)")


def _check_range(args: argparse.Namespace) -> SeatRange:
    lo, hi = args.seats
    return check_seats(SeatRange(lo, hi, hi if args.preferred is None else args.preferred))


def _parse_seats(text: str) -> tuple[int, int]:
    if not (match := re.fullmatch(r"([0-9]{1,2})(?:\.\.([0-9]{1,2}))?", text)):
        raise argparse.ArgumentTypeError(f"{text!r}: LO..HI is expected")
    return int(match[1]), int(match[2] or match[1])


def _parse_advance(text: str) -> list[tuple[int, int]]:
    if not re.fullmatch(r"[0-9]{1,3}(\+[0-9]{1,3})?(,[0-9]{1,3}(\+[0-9]{1,3})?)*", text):
        raise argparse.ArgumentTypeError(f"{text!r}: numbers as in 1+3,2 are expected")
    steps = [step.partition("+") for step in text.split(",")]
    return [(int(first), int(wild_cards or 0)) for first, _, wild_cards in steps]


def _parse_key(text: str) -> bytes:
    if not re.fullmatch(f"[0-9a-fA-F]{{{2 * KEY_BYTES}}}", text):
        raise argparse.ArgumentTypeError(f"{2 * KEY_BYTES} hex digits are expected")
    return bytes.fromhex(text)


# --- plan


def plan(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Print a plan, and write the file of results if asked."""
    if not 2 <= args.entrants <= MAX_ENTRANTS:
        raise TournamentError("entrants_invalid", f"2 to {MAX_ENTRANTS} entrants are expected")
    doc = _make_plan(args)
    if args.write:
        rounds = [_blank_round(each["pods"], each["byes"]) for each in doc["schedule"]]
        key = {"key": args.key.hex()} if args.key else {}
        _write_results(args.write, {"entrants": args.entrants, **key, "rounds": rounds})
    if args.json:
        print(json.dumps(doc))
    else:
        _print_plan(doc)
    return DONE


def _make_plan(args: argparse.Namespace) -> Doc:
    seats = _check_range(args)
    n, size = args.entrants, seats.preferred
    key = args.key or bytes(KEY_BYTES)
    order = draw_order(key, range(n)) if args.key else list(range(n))
    doc: Doc = {"entrants": n, "seats": [*args.seats], "preferred": size, "format": args.format}
    if args.format == "knockout":
        stages = plan_knockout(n, seats, args.advance)
        first = RoundPlan(seed_tables(order, seats), [])
        return {**doc, "rounds": len(stages), "stages": [list(sizes) for sizes in stages], **_show_rounds([first])}
    if args.format == "swiss":
        rounds = check_rounds(default_rounds(n, size) if args.rounds is None else args.rounds)
        figures = {"rounds": rounds, "last_late_round": last_late_round(rounds), "plan": "pods@1"}
        sizes = find_round_sizes(n, seats).sizes
        first = draw_swiss_round(key, order, seats, SwissState())
        return {**doc, **figures, "repeat_free": can_avoid_repeats(sizes), **_show_rounds([first])}
    league: LeaguePlan = (
        plan_design(order, size) if args.format == "design" else plan_league(key, order, seats, args.rounds)
    )
    figures = {"rounds": len(league.rounds), "plan": league.name, "repeats": league.count_repeats()}
    return {**doc, **figures, **_show_rounds(league.rounds)}


def _show_rounds(rounds: Sequence[RoundPlan]) -> Doc:
    return {
        "sizes": [len(pod) for pod in rounds[0].pods],
        "byes": len(rounds[0].byes),
        "schedule": [{"pods": each.pods, "byes": each.byes} for each in rounds],
    }


def _blank_round(pods: Sequence[Sequence[int | str]], byes: Sequence[int | str]) -> Doc:
    """Return a round to fill in."""
    return {"pods": [{"entrants": [*pod], "places": []} for pod in pods], "byes": [*byes]}


def _write_results(path: Path, doc: Doc) -> None:
    with path.open("x", encoding="utf-8") as file:  # never over results that somebody has filled in
        file.write(_layout_results(doc))


def _layout_results(doc: Doc) -> str:
    """Return the file with one pod a line."""
    dump = partial(json.dumps, ensure_ascii=False)
    rounds = []
    for each in doc["rounds"]:
        pods = ",\n".join(f"      {dump(pod)}" for pod in each["pods"])
        rounds.append(f'    {{"pods": [\n{pods}\n    ], "byes": {dump(each.get("byes", []))}}}')
    head = "".join(f"  {dump(name)}: {dump(doc[name])},\n" for name in doc if name != "rounds")
    return "{\n" + head + '  "rounds": [\n' + ",\n".join(rounds) + "\n  ]\n}\n"


def _print_plan(doc: Doc) -> None:
    """Print one figure a line, then the pods of each round in order of their seats."""
    lo, hi = doc["seats"]
    counts = Counter[int](doc["sizes"])
    tables = ", ".join(f"{counts[size]} of {size}" for size in sorted(counts, reverse=True))
    print(f"entrants: {doc['entrants']}\nseats: {lo} to {hi}, {doc['preferred']} preferred")
    print(f"tables: {len(doc['sizes'])} ({tables})\nbyes: {doc['byes']}\nrounds: {doc['rounds']}")
    for name, value in doc.items():
        if name in ("plan", "repeats", "last_late_round"):
            print(f"{name}: {value}")
    if not doc.get("repeat_free", True):
        print("Only the first round is free of repeats: later ones would need as many tables as seats at a table.")
    for number, sizes in enumerate(doc.get("stages", ())):
        print(f"stage {number + 1}: tables of {', '.join(map(str, sizes))}")
    for number, each in enumerate(doc["schedule"]):
        _print_round(number + 1, each["pods"], each["byes"])


def _print_round(number: int, pods: Sequence[Sequence[int | str]], byes: Sequence[int | str]) -> None:
    print(f"round {number}")
    for place, pod in enumerate(pods):
        print(f"  {number}.{place + 1}: {' '.join(map(str, pod))}")
    if byes:
        print(f"  bye: {' '.join(map(str, byes))}")


# --- next


def draw_next(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Print the next round, and write the results with it if asked."""
    text = args.file.read_bytes()
    results, seats = parse_results(text), _check_range(args)
    if args.advance is not None:
        if len(args.advance) != 1 or args.absent or args.volunteers:
            raise TournamentError("advance_invalid", "one number that advances is expected, and everybody present")
        drawn = advance_round(args.key, results.stage, seats, *args.advance[0])
    else:
        absent, volunteers = (list(map(results.find_entrant, labels)) for labels in (args.absent, args.volunteers))
        drawn = draw_next_round(args.key, results.stage, seats, results.relations, absent, volunteers)
    pods = [[results.label(entrant) for entrant in pod] for pod in drawn.pods]
    byes = [results.label(entrant) for entrant in drawn.byes]
    number = results.stage.rounds + 1
    if args.write:
        doc = json.loads(text)
        rounds = [*doc["rounds"], _blank_round(pods, byes)]
        _write_results(args.write, {**doc, "key": args.key.hex(), "rounds": rounds})
    if args.json:
        costs = drawn.costs if isinstance(drawn, SwissRound) else {}
        print(json.dumps({"round": number, "pods": pods, "byes": byes, "costs": costs}, ensure_ascii=False))
    else:
        _print_round(number, pods, byes)
    return DONE


# --- score


def score(args: argparse.Namespace, _: RulesetRegistry) -> int:
    """Print the standings, and an explanation if asked."""
    results = parse_results(args.file.read_bytes())
    ties = TieBreaks(results.stage)
    pair = [results.find_entrant(label) for label in args.explain or ()]
    explanation = explain(ties, *pair) if pair else None
    sentences = explanation_sentences(ties, explanation, args.lang, results.names) if explanation else []
    doc = {"standings": list_standings(ties, results.label), "running": ties.tally.running}
    if explanation:
        doc["explanation"] = {**explanation_to_json(ties, explanation), "sentences": sentences}
    if args.json:
        print(json.dumps(doc, ensure_ascii=False))
        return DONE
    if sentences:
        print("\n".join(sentences))
    else:
        _print_standings(doc, load_texts("domain.tournaments", args.lang))
    return DONE


def _print_standings(doc: Doc, texts: Texts) -> None:
    """Print place, entrant and points of each line, and a note while tables are running."""
    rows = doc["standings"]
    width = max(len(str(row["entrant"])) for row in rows)
    for row in rows:
        points = texts.grammar.decimal(Fraction(row["ticks"], POINT), POINT_DECIMALS)
        print(f"{row['place']:<4}  {row['entrant']!s:<{width}}  {points:>10}")
    if doc["running"]:
        print(texts.render("explain.provisional", {"tables": doc["running"]}))


# --- verify


def verify(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Print what a tournament's export proves; raise VerificationError for the first difference.

    With games in the file, `--games` or `--url`, results are held against them: one sentence for each difference. With
    a proof or a head it is held against the signed log, as a game is.
    """
    data, games = split_export(read_export(args.file, "tournament"))
    records = parse_export(data)
    t = verify_tournament(records)
    doc: Doc = {"tournament": t.id, "records": t.version, "head": t.hash, "status": t.status}
    doc |= _hold_against_log(args, records)
    doc |= {
        "entrants": len(t.entrants),
        "draws": len(t.secrets) - 1,
        "rounds_ranked": sum(len(play.rankings) for play in t.stages),
    }
    unproved = list_unproved(records)
    doc |= {"played_elsewhere": len(unproved)} if unproved else {}
    held = _hold_results(args, records, games, registry)
    if held:
        doc |= {"results_checked": held.tables, "results_not_checked": len(held.missing)}
    told = [*held.differences, *held.missing] if held else []
    if args.json:
        print(json.dumps(doc | ({"told": told} if held else {})))
    else:
        print("\n".join([*(f"{name}: {value}" for name, value in doc.items()), *told]))
    return FAILED if held and held.differences else DONE


def _hold_against_log(args: argparse.Namespace, records: Sequence[Record]) -> Doc:
    """Return the meaning of a head, and of a proof in the log; raise VerificationError or NoteError."""
    head = parse_head(args.head)
    doc: Doc = {"head_names": describe_head(tuple(records), head)} if head else {}
    has_proof = bool(args.proof or args.witness or args.checkpoint)
    return doc | (check_proof(args, tuple(records)) if has_proof else {})


def _hold_results(
    args: argparse.Namespace, records: Sequence[Record], games: Mapping[str, bytes], registry: RulesetRegistry
) -> HeldResults | None:
    if games and not args.games and not args.url:
        return hold_results(records, games.get, registry)
    if args.games:
        return hold_results(records, partial(_read_file, args.games), registry)
    return hold_results(records, partial(_download, args.url.rstrip("/")), registry) if args.url else None


def _read_file(folder: Path, game: str) -> bytes | None:
    path = folder / f"{game}.annals"
    return read_export(path) if path.is_file() else None


def _download(url: str, game: str) -> bytes | None:
    if not url.startswith(("http://", "https://")):
        raise TournamentError("url_invalid", "an address with http:// or https:// is expected")
    try:
        with urllib.request.urlopen(f"{url}/v1/games/{game}/export", timeout=60) as answer:  # noqa: S310 - checked above
            data: bytes = answer.read()
    except urllib.error.HTTPError as error:
        error.close()
        return None
    return data
