"""Play positions on in process: the same rules, without records, seals, sentences and documents for clients.

A rollout takes a state and returns a state. It decides moves by the handlers of the ruleset, as a command does, so a
rollout with the picks and the chance of a recorded game ends in the state of that game.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from domain.errors import RuleError
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import build_move, decide, decisions
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, DrawSource
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Ruleset
from domain.types import PUBLIC, Doc, Json, Seat

MAX_DEALS = 10
"""Worlds dealt until one breaks no invariant."""

MAX_PROPOSALS = 500
"""Proposals of a heuristic tried before the move builder decides."""

ENDING_PROBABILITY = 0.3
"""Probability of choosing an option marked as ending, before a uniform pick."""

Policy = Callable[[Ruleset[Any], Any, Seat, random.Random], Iterator[Doc]]
"""(rules, state, seat, dice) -> moves of the seat, best first; the first legal one is played."""


class RandomChance:
    """Source of draws from a generator: for rollouts, never for a table."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        """Return a uniform index."""
        return int(self.rng.random() * len(items))

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        """Return a uniform permutation."""
        order = list(range(len(items)))
        self.rng.shuffle(order)
        return order


def random_pick(rng: random.Random, question: Choice) -> Json:
    """Return a random pick; options marked as ending are slightly preferred."""
    if question.kind == "range":
        return rng.randint(question.lo, question.hi)
    if question.kind == "some":
        return rng.sample(question.values, rng.randint(question.lo, question.hi))
    ends = [o.value for o in question.options if o.ends]
    return rng.choice(ends) if ends and rng.random() < ENDING_PROBABILITY else rng.choice(question.values)


def random_move(rules: Ruleset[S], state: S, seat: Seat, rng: random.Random) -> Doc:
    """Return a complete move made by random picks in the move builder."""
    return build_move(rules, state, seat, lambda question: random_pick(rng, question))


def no_proposals(rules: Ruleset[S], state: S, seat: Seat, rng: random.Random) -> Iterator[Doc]:
    """Yield nothing: the move builder decides by random picks."""
    return iter(())


def heuristic_proposals(rules: Ruleset[S], state: S, seat: Seat, rng: random.Random) -> Iterator[Doc]:
    """Yield the proposals of the ruleset's heuristic, made from the seat's own view."""
    if rules.bot is None:
        return iter(())
    view = {"public": rules.player_view(state, PUBLIC), "own": rules.player_view(state, seat)}
    decision = decisions(rules, state, 0, seat)[0]
    return islice(rules.bot(view, dict(decision.to_json()), seat, rng), MAX_PROPOSALS)


def play_move(rules: Ruleset[S], state: S, seat: Seat | None, move: Json, chance: DrawSource) -> S:
    """Return the state after a move of a seat, or of the engine (None); raise RuleError as `decide`."""
    draft: Draft[S] = Draft(rules, state, Draws(chance))
    decide(draft, seat, move)
    return draft.state


def play_step(rules: Ruleset[S], state: S, policy: Policy, rng: random.Random, chance: DrawSource) -> S:
    """Return the state after the next answer: of a seat owing one, drawn if several do, or of the engine."""
    top = state.top
    if top.engine:
        return play_move(rules, state, None, {"type": top.kind}, chance)
    seat = rng.choice(top.owing)
    for move in policy(rules, state, seat, rng):
        try:
            return play_move(rules, state, seat, move, chance)
        except RuleError:
            continue
    return play_move(rules, state, seat, random_move(rules, state, seat, rng), chance)


def rollout(
    rules: Ruleset[S],
    state: S,
    policy: Policy,
    rng: random.Random,
    until: Callable[[S], bool] = lambda _: False,
    max_steps: int = 100_000,
) -> S:
    """Return the state in which `until` holds, the game is over, or after the most steps, of a game played on.

    All seats play by the policy. Chance and picks come from `rng`: the same generator repeats the rollout.
    """
    chance = RandomChance(rng)
    for _ in range(max_steps):
        if state.over or until(state):
            break
        state = play_step(rules, state, policy, rng, chance)
    return state


def imagine(rules: Ruleset[S], known: S, seat: Seat, rng: random.Random) -> S:
    """Return a full state possible for the seat: all parts unknown to it are dealt anew.

    `known` is the state folded from the facts readable by the seat (`state_known_to`); the true one never gets here.
    """
    chance, world = RandomChance(rng), known
    for _ in range(MAX_DEALS):
        draft = Draft(rules, known, Draws(chance))
        rules.redeal(draft, (seat,))
        world = draft.state
        if not rules.check(world):
            break
    return world
