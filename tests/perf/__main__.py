"""The budget table: `./run perf [--quick] [--json FILE] [--compare FILE]`, alone on the machine.

`--slopes` and `--peers` print tables of their own: how figures of the past grow, and other software in turn with ours.
`./run perf load` measures a service with thousands of tables.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from deploy.runtime import gc_tuning
from tests.perf import (
    agents,
    events,
    load,
    past,
    peers,
    pumps,
    rate,
    rules,
    service,
    slopes,
    streams,
    talk,
    tournaments,
    views,
)
from tests.perf.figures import MACHINE, Figure, head, paced

GAMES = (
    rules.Game("struggle_of_empires", 5, ">= 5", games=15),
    rules.Game("seven_empires", 5, ">= 5", {"decades": 10}, games=15),
    rules.Game("age_of_reason", 5, ">= 5", games=15),
    rules.Game("imperunde", 4, ">= 1.5", {"turn_limit": 12}, games=4),
    rules.Game("egc", 10, ">= 1.5", games=2, records=6_000),
)
BATCH = rules.Game("egc", 10, "", records=4_500)
ORDERS = 13
"""Orders on a full sheet of egc."""

SERVICE = service.Played("imperunde", 6, {"turn_limit": 200, "goal": 45})
"""Six seldom agree to a lower goal, so it does not end before its 2,000th move."""

SMALL = slopes.Store(records=(100, 150, 200), games=4, viewers=(1, 2, 3), asked=10)


def table(quick: bool = False) -> Iterator[Figure]:
    """Every figure as soon as it is taken; `quick` shows that they can be taken, and is no measurement."""
    logs = []
    for game in GAMES:
        small = rules.Game(game.name, game.seats, game.budget, game.options, 1, 60) if quick else game
        taken = rules.taken(small, quick)
        logs.append(taken.records)
        yield from taken.figures
    if not quick:
        yield from rules.resolution(BATCH, ORDERS)
    yield from views.figures(logs, 20 if quick else 400)
    yield from pumps.figures(logs, *((10, 1, 1) if quick else (80, 2, pumps.PAIRS)))
    played = service.Played("imperunde", 3, {"turn_limit": 4}, 10, 30, 300, 5, 2, 5) if quick else SERVICE
    wholes = [service.Whole(game.name, game.seats, dict(game.options), 5 if quick else 200) for game in GAMES]
    yield from service.figures(played, wholes)
    yield from rate.figures(played, 2 if quick else rate.TABLES)
    yield from past.figures(past.Long("egc", 10, 200, 10) if quick else past.Long())
    yield from tournaments.figures(tournaments.Event(50, 20, 4, 2, 0.1) if quick else tournaments.Event())
    yield from events.figures(events.Hall(20, 2, 3, 2) if quick else events.Hall())
    crowd = streams.Crowd(24, 4, 2) if quick else streams.Crowd()
    yield from streams.figures(played, crowd)
    yield from talk.figures(talk.Talk(30, 5, 2) if quick else talk.Talk(), played, crowd)
    yield from agents.figures(agents.Agent(5) if quick else agents.Agent(), played)


def main(argv: Sequence[str]) -> int:
    """Prints the table row by row."""
    if argv[:1] == ["load"]:
        return load.main(argv[1:])
    parser = argparse.ArgumentParser(prog="./run perf", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only show that every figure can be taken")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there, a JSON object a line")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="add a column: ours for each of that file's")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--slopes", action="store_true", help="show how figures of the past grow")
    other.add_argument("--peers", action="store_true", help="measure other software in turn with the service")
    args = parser.parse_args(argv)
    if args.slopes or args.peers:
        for row in slopes.rows(SMALL if args.quick else slopes.Store()) if args.slopes else peers.rows(args.quick):
            print(row, flush=True)
        return 0
    gc_tuning.reduce_gc_frequency()  # as all processes of the service do
    old = _read(args.compare) if args.compare else None
    python = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"{python}, {platform.machine()}, {os.cpu_count()} cores\n")
    print(head(compared=old is not None))
    over, unjudged = [], 0
    with args.json.open("w") if args.json else nullcontext() as file:
        for figure in paced(table(args.quick)):
            over += [figure] if figure.holds is False else []
            unjudged += bool(figure.budget) and figure.holds is None
            print(figure.line(None if old is None else old.get(figure.key)), flush=True)
            if file:
                print(json.dumps(figure.to_json()), file=file, flush=True)
    print(f"\n{len(over)} over budget" if over else "\nevery budget that was judged holds")
    if unjudged:
        print(f"{unjudged} not judged: they are times or rates of {MACHINE}")
    for figure in over:
        print(f"- {figure.what}, {figure.where}")
    return 0


def _read(path: Path) -> dict[tuple[str, str], float]:
    docs = map(json.loads, path.read_text().splitlines())
    return {(doc["what"], doc["where"]): doc["value"] for doc in docs}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
