"""A player with a look ahead: it plays each candidate on in imagined worlds and takes the best.

Worlds agree with all facts known to the seat. In each of them all seats go on by the heuristic of the ruleset, from
the same dice for every candidate. The number of games played on is fixed, so the same generator gives the same move on
any machine. The true state of the game never gets here.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from domain.errors import RuleError
from domain.kernel.rules.flow import S, assign
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.canonical_json import canonical
from domain.rollouts import RandomChance, heuristic_proposals, imagine, play_move, random_move, rollout
from domain.types import Doc, Seat

MAX_TRIED = 60
"""Proposals of the heuristic looked at for candidates."""

MAX_ALIKE = 3
"""Candidates of one type of move, so that a long list of purchases leaves room for an attack."""

WEIGHT_OF_WINNING = 0.5
"""Weight of the first place in the worth of an ending; the rest is for the distance to the best other seat."""

CLOSE = 0.15
"""Distance in points, as a share of the highest score: the worth of an ending changes most within it."""


@dataclass(frozen=True)
class Effort:
    """Amount of thought for one move."""

    candidates: int
    """Moves compared at most."""
    rollouts: int
    """Games played on at most, those of all candidates together."""
    steps: int
    """Answers in each of these games at most."""


EFFORTS: Mapping[str, Effort] = {
    "seven_empires@1": Effort(candidates=6, rollouts=18, steps=10_000),
    "imperunde@1": Effort(candidates=6, rollouts=12, steps=10_000),
}
"""Ruleset -> effort of at most some two seconds of one core. The other rulesets have no such player."""


def can_look_ahead(ruleset: str) -> bool:
    """Return whether a ruleset has a player with a look ahead."""
    return ruleset in EFFORTS


def list_candidates(rules: Ruleset[S], state: S, seat: Seat, rng: random.Random, most: int) -> list[Doc]:
    """Return different legal moves: the best proposals of the heuristic, then random ones of the move builder."""
    found: dict[bytes, Doc] = {}
    chance, alike = RandomChance(rng), Counter[str]()

    def try_move(move: Doc) -> None:
        key = canonical(move)
        if key in found or alike[move["type"]] >= MAX_ALIKE:
            return
        try:
            play_move(rules, state, seat, move, chance)
        except RuleError:
            return
        found[key] = move
        alike[move["type"]] += 1

    for tried, move in enumerate(heuristic_proposals(rules, state, seat, rng)):
        if len(found) >= most or tried >= MAX_TRIED:
            break
        try_move(move)
    for _ in range(most - len(found)):
        try_move(random_move(rules, state, seat, rng))
    return list(found.values())


def rate_ending(rules: Ruleset[S], state: S, seat: Seat) -> float:
    """Return what a position is worth to a seat if the game ended there, 0 to 1.

    Half of it is the seat's share of the first place, half grows with the distance to the best other seat.
    """
    lines = {score.seat: score for score in rules.scores(assign(state, over=True))}
    firsts = [line.seat for line in lines.values() if line.place == 1]
    won = 1 / len(firsts) if seat in firsts else 0.0
    rival = max(line.points for other, line in lines.items() if other != seat)
    scale = max(5.0, CLOSE * max(abs(line.points) for line in lines.values()))
    near = 1 / (1 + math.exp(-(lines[seat].points - rival) / scale))
    return WEIGHT_OF_WINNING * won + (1 - WEIGHT_OF_WINNING) * near


def play_out(rules: Ruleset[S], known: S, seat: Seat, move: Doc, world: int, steps: int) -> float:
    """Return the worth of a move in one imagined world, played on by the heuristic; 0 if it is refused there.

    `world` is the number of the world: every move meets the same one, and the same dice.
    """
    imagined = imagine(rules, known, seat, random.Random(world))  # noqa: S311 - no secret
    rng = random.Random(world + 1)  # noqa: S311 - no secret
    try:
        after = play_move(rules, imagined, seat, move, RandomChance(rng))
    except RuleError:
        return 0.0
    return rate_ending(rules, rollout(rules, after, heuristic_proposals, rng, max_steps=steps), seat)


def choose_move(rules: Ruleset[S], known: S, seat: Seat, rng: random.Random, effort: Effort) -> Doc | None:
    """Return the best candidate by sequential halving, or None if no move was found.

    `known` is the state known to the seat. After each round of games the worse half of the candidates leaves.
    """
    moves = list_candidates(rules, imagine(rules, known, seat, rng), seat, rng, effort.candidates)
    left, rounds = list(range(len(moves))), max(1, math.ceil(math.log2(max(2, len(moves)))))
    worth = dict.fromkeys(left, 0.0)
    while len(left) > 1:
        for _ in range(max(1, effort.rollouts // (rounds * len(left)))):
            world = rng.getrandbits(64)
            for i in left:
                worth[i] += play_out(rules, known, seat, moves[i], world, effort.steps)
        left = sorted(left, key=lambda i: -worth[i])[: -(-len(left) // 2)]
    return moves[left[0]] if left else None
