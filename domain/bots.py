"""Automatic players: a random walk through the move builder, and the heuristics of the rulesets."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from domain.errors import NeedsChance, RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import build_move, decisions, dry_run
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import PUBLIC, Doc, Json, Seat


class PlayableGame(Protocol):
    """A game at some version, with its rules. A bot looks only at the view of its own seat."""

    @property
    def rules(self) -> AnyRuleset:
        """The rules."""

    @property
    def state(self) -> Any:
        """The state of the game."""

    @property
    def game(self) -> AnyGame:
        """The game."""


ENDING_PROBABILITY = 0.3
"""Probability of choosing an option marked as ending, before a uniform pick."""

MAX_PROPOSALS = 500
"""Proposals of a heuristic tried before the move builder decides."""


def random_pick(rng: random.Random, question: Choice) -> Json:
    """Return a random pick; options marked as ending are slightly preferred."""
    if question.kind == "range":
        return rng.randint(question.lo, question.hi)
    if question.kind == "some":
        return rng.sample(question.values, rng.randint(question.lo, question.hi))
    ends = [o.value for o in question.options if o.ends]
    return rng.choice(ends) if ends and rng.random() < ENDING_PROBABILITY else rng.choice(question.values)


def random_move(rules: AnyRuleset, state: Any, seat: Seat, rng: random.Random) -> Doc:
    """Return a complete move made by random picks in the move builder."""
    return build_move(rules, state, seat, lambda question: random_pick(rng, question))


def deciding_seats(match: PlayableGame) -> list[Seat]:
    """Return the seats able to move now, repeated by weight.

    Seats owing an answer come often; seats able to take back an answer come seldom, or no turn would end.
    """
    top = match.state.top
    free = [s for s in match.rules.may(match.state) if s not in top.owing]
    return [*top.owing * 16, *[s for s in free if s not in top.done] * 4, *(s for s in free if s in top.done)]


def is_legal(rules: AnyRuleset, state: Any, seat: Seat, move: Json) -> bool:
    """Return whether the rules accept the move; reaching a draw is no refusal."""
    try:
        dry_run(rules, state, seat, [move])
    except RuleError:
        return False
    except NeedsChance:
        return True
    return True


def proposals(match: PlayableGame, seat: Seat, rng: random.Random) -> Iterator[Doc]:
    """Yield the proposals of the ruleset's heuristic, made from the seat's own view."""
    rules, state = match.rules, match.state
    if rules.bot is None:
        return
    sight = {"public": rules.player_view(state, PUBLIC), "own": rules.player_view(state, seat)}
    open_now = decisions(rules, state, match.game.lasting.rewinds.count, seat)[0]
    yield from itertools.islice(rules.bot(sight, dict(open_now.to_json()), seat, rng), MAX_PROPOSALS)


def heuristic_move(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc | None:
    """Return the first legal proposal; else a random move, or None for a seat owing no answer."""
    for move in proposals(match, seat, rng):
        if is_legal(match.rules, match.state, seat, move):
            return move
    return builder_move(match, seat, rng) if seat in match.state.top.owing else None


def builder_move(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc | None:
    """Return a random move."""
    return random_move(match.rules, match.state, seat, rng)


BotPlayer = Callable[[PlayableGame, Seat, random.Random], Doc | None]
"""(game, seat, dice) -> the seat's move, or None to let other seats go first."""

HEURISTIC = "heuristic"

BOTS: Mapping[str, BotPlayer] = {"builder": builder_move, HEURISTIC: heuristic_move}
