"""The budget table: `python -m tests.perf [--quick] [--json]`, run by `./run perf`, alone on the machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence

from deploy import collector
from tests.perf import rules, service
from tests.perf.figures import HEAD, Figure

GAMES = (
    rules.Game("struggle_of_empires", 5, ">= 5", games=40),
    rules.Game("seven_empires", 5, ">= 5", {"decades": 10}, games=40),
    rules.Game("age_of_reason", 5, ">= 5", games=40),
    rules.Game("imperunde", 4, ">= 1.5", {"turn_limit": 12}, games=4),
    rules.Game("egc", 10, ">= 1.5", games=2, records=6_000),
)
BATCH = rules.Game("egc", 10, "", records=4_500)
ORDERS = 13
"""Orders on a full sheet of egc."""

SERVICE = service.Played("imperunde", 6, {"turn_limit": 200, "goal": 45})
"""Six seldom agree to a lower goal, so it does not end before its 2,000th move."""


def table(quick: bool = False) -> Iterator[Figure]:
    """Every figure as soon as it is taken; `quick` shows that they can be taken, and is no measurement."""
    for game in GAMES:
        small = rules.Game(game.name, game.seats, game.budget, game.options, 1, 60) if quick else game
        walked = rules.walk(small)
        yield from rules.builder(small, walked)
        yield from rules.stored(small, walked)
        yield from rules.rebuilt(small, walked)
        if not quick:
            yield from rules.audited(small, walked)
            yield from rules.games(small)
    if not quick:
        yield from rules.resolution(BATCH, ORDERS)
    played = service.Played("imperunde", 3, {"turn_limit": 4}, 10, 30, 5, 2, 5) if quick else SERVICE
    yield from service.figures(played)


def main(argv: Sequence[str]) -> int:
    """Prints the table row by row."""
    parser = argparse.ArgumentParser(prog="./run perf", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only show that every figure can be taken")
    parser.add_argument("--json", action="store_true", help="one JSON document per line")
    args = parser.parse_args(argv)
    os.environ["ANNALS_RATE"] = "0"  # else the limit for each caller would be measured
    collector.look_seldom()  # as all processes of the service do
    if not args.json:
        print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}\n\n{HEAD}")
    for figure in table(args.quick):
        print(json.dumps(figure.to_json()) if args.json else figure.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
