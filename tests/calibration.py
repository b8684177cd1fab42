"""How true the chances of `annals analyse` are: `python -m tests.calibration RULESET SEATS [--games N]`.

Plays games between bots of different skill, estimates the chances at a turn of each, and compares them with who won.
Prints Brier scores (0 is perfect) beside those of two simple guesses, and how often each tenth of chances came true.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from domain.analysis import play_on
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.flow import assign
from domain.kernel.rules.ruleset import AnyRuleset
from domain.rollouts import RandomChance, heuristic_proposals, play_step
from domain.ruleset_registry import load_shipped
from domain.types import Doc, Seat

SKILLS = (0.0, 0.3, 0.6)
"""How often a player takes any of the first ten proposals."""


def play_by_skill(skills: Sequence[float], rules: Any, state: Any, seat: Seat, rng: random.Random) -> Iterator[Doc]:
    proposals = heuristic_proposals(rules, state, seat, rng)
    if rng.random() < skills[seat]:
        first = list(islice(proposals, 10))
        rng.shuffle(first)
        yield from first
    yield from proposals


def play_game(rules: AnyRuleset, start: Any, seats: int, seed: int) -> tuple[list[Any], list[float]]:
    """The positions at which turns began, and each seat's part of the first place."""
    rng = random.Random(seed)
    policy = partial(play_by_skill, [rng.choice(SKILLS) for _ in range(seats)])
    state, turns, last = start, [], 0
    while not state.over:
        state = play_step(rules, state, policy, rng, RandomChance(rng))
        if not state.over and (turn := rules.chapter(state).turn) != last:
            last = turn
            turns.append(state)
    winners = [line.seat for line in rules.scores(state) if line.place == 1]
    return turns, [(seat in winners) / len(winners) for seat in range(seats)]


def share_points(rules: AnyRuleset, state: Any, seats: int) -> list[float]:
    """Each seat's part of the points as they stand."""
    points = {line.seat: max(0, line.points) for line in rules.scores(assign(state, over=True))}
    total = sum(points.values())
    return [points[seat] / total if total else 1 / seats for seat in range(seats)]


def brier(guess: Sequence[float], won: Sequence[float]) -> float:
    return sum((a - b) ** 2 for a, b in zip(guess, won, strict=True))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ruleset")
    parser.add_argument("seats", type=int)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--played-on", type=int, default=20)
    args = parser.parse_args(argv)
    rules = load_shipped().get(args.ruleset)
    sums, tenths = dict.fromkeys(("chances", "points now", "fair share"), 0.0), [[0, 0.0, 0.0] for _ in range(10)]
    for number in range(args.games):
        match = InMemoryGame(rules, args.seats, random.Random(number).randbytes(32))
        turns, won = play_game(rules, match.state, args.seats, 1000 + number)
        state = random.Random(number).choice(turns)
        chances = play_on(rules, state, args.played_on, 7).chances
        fair = [1 / args.seats] * args.seats
        for name, guess in zip(sums, (chances, share_points(rules, state, args.seats), fair), strict=True):
            sums[name] += brier(guess, won)
        for chance, part in zip(chances, won, strict=True):
            tenth = tenths[min(9, int(chance * 10))]
            tenth[0] += 1
            tenth[1] += chance
            tenth[2] += part
        print(f"\r{number + 1} of {args.games}", end="", file=sys.stderr)
    print(f"\n{args.ruleset}, {args.seats} seats, {args.games} games")
    for name, total in sums.items():
        print(f"Brier score of {name}: {total / args.games:.3f}")
    print("chance  came true  cases")
    for count, chance, part in tenths:
        if count:
            print(f"{chance / count:6.2f}  {part / count:9.2f}  {count:5.0f}")


if __name__ == "__main__":
    main()
