"""Players without a person: a random walk through the move builder, and the heuristics that a ruleset brings."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from domain.errors import NeedsChance, RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import build, decisions, dry_run
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import PUBLIC, Doc, Json, Seat


class Scene(Protocol):
    """A game at some moment, and its rules: what bots are shown, of which each looks at what its seat may see."""

    @property
    def rules(self) -> AnyRuleset:
        """The rules."""

    @property
    def state(self) -> Any:
        """The state of the game."""

    @property
    def game(self) -> AnyGame:
        """The game."""


ENDING = 0.3
"""How often the option is taken at once that brings the game on."""

PROPOSALS = 500
"""So many proposals of a heuristic are tried before the builder decides."""


def picked(rng: random.Random, question: Choice) -> Json:
    """A random pick; the option that brings the game on is preferred a little."""
    if question.kind == "range":
        return rng.randint(question.lo, question.hi)
    if question.kind == "some":
        return rng.sample(question.values, rng.randint(question.lo, question.hi))
    ends = [o.value for o in question.options if o.ends]
    return rng.choice(ends) if ends and rng.random() < ENDING else rng.choice(question.values)


def built(rules: AnyRuleset, state: Any, seat: Seat, rng: random.Random) -> Doc:
    """A complete move of the move builder."""
    return build(rules, state, seat, lambda question: picked(rng, question))


def may_decide(match: Scene) -> list[Seat]:
    """Seats that may move now: those that must often, those that can take back an answer seldom, or no turn ends."""
    top = match.state.top
    free = [s for s in match.rules.may(match.state) if s not in top.owing]
    return [*top.owing * 16, *[s for s in free if s not in top.done] * 4, *(s for s in free if s in top.done)]


def legal(rules: AnyRuleset, state: Any, seat: Seat, move: Json) -> bool:
    """Whether the rules take the move; a draw that it comes to is no refusal."""
    try:
        dry_run(rules, state, seat, [move])
    except RuleError:
        return False
    except NeedsChance:
        return True
    return True


def proposals(match: Scene, seat: Seat, rng: random.Random) -> Iterator[Doc]:
    """What the ruleset's heuristic proposes; it sees what its seat may see."""
    rules, state = match.rules, match.state
    if rules.bot is None:
        return
    sight = {"public": rules.sight(state, PUBLIC), "own": rules.sight(state, seat)}
    open_now = decisions(rules, state, match.game.rewinds, seat)[0]
    yield from itertools.islice(rules.bot(sight, open_now.to_json(), seat, rng), PROPOSALS)


def heuristic(match: Scene, seat: Seat, rng: random.Random) -> Doc | None:
    """The first legal proposal; else the builder's, or None for a seat that is not waited for."""
    for move in proposals(match, seat, rng):
        if legal(match.rules, match.state, seat, move):
            return move
    return builder(match, seat, rng) if seat in match.state.top.owing else None


def builder(match: Scene, seat: Seat, rng: random.Random) -> Doc | None:
    """A random move."""
    return built(match.rules, match.state, seat, rng)


Player = Callable[[Scene, Seat, random.Random], Doc | None]
"""(match, seat, dice) -> its move; None: the seat lets others go first."""

HEURISTIC = "heuristic"

BOTS: Mapping[str, Player] = {"builder": builder, HEURISTIC: heuristic}
