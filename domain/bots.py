"""Automatic players, by level: random moves, a beginner, the heuristics of the rulesets, and a look ahead."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from domain.errors import NeedsChance, RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.seat_players import is_bot
from domain.kernel.rules.decide import dry_run
from domain.kernel.rules.ruleset import AnyRuleset
from domain.lookahead import EFFORTS, can_look_ahead, choose_move
from domain.rollouts import heuristic_proposals, random_move
from domain.types import Doc, Json, Seat

BEGINNER_PROPOSALS, BEGINNER_SENSE = 5, 0.7
"""Legal proposals among which a beginner chooses, and how often; otherwise the move is random."""


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

    def known_to(self, seat: Seat) -> Any:
        """Return the state folded only from the facts readable by the seat."""


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
    return heuristic_proposals(match.rules, match.state, seat, rng)


def heuristic_move(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc | None:
    """Return the first legal proposal; else a random move, or None for a seat owing no answer."""
    for move in proposals(match, seat, rng):
        if is_legal(match.rules, match.state, seat, move):
            return move
    return builder_move(match, seat, rng) if seat in match.state.top.owing else None


def builder_move(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc | None:
    """Return a random move."""
    return random_move(match.rules, match.state, seat, rng)


def beginner_move(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc | None:
    """Return the move of a learner: often one of the first legal proposals, else a random one."""
    legal: list[Doc] = []
    for move in proposals(match, seat, rng):
        if len(legal) == BEGINNER_PROPOSALS:
            break
        if is_legal(match.rules, match.state, seat, move):
            legal.append(move)
    if seat not in match.state.top.owing:
        return legal[0] if legal else None
    if legal and rng.random() < BEGINNER_SENSE:
        return rng.choice(legal)
    return builder_move(match, seat, rng)


def strong_move(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc | None:
    """Return the move that does best in games played on, chosen by what the seat knows; else the heuristic's."""
    effort = EFFORTS.get(match.rules.meta.ruleset)
    if effort and seat in match.state.top.owing:
        try:
            move = choose_move(match.rules, match.known_to(seat), seat, rng, effort)
        except Exception:  # noqa: BLE001 - rules may fail in any way in an imagined world; the table must go on
            move = None
        if move is not None and is_legal(match.rules, match.state, seat, move):
            return move
    return heuristic_move(match, seat, rng)


BotPlayer = Callable[[PlayableGame, Seat, random.Random], Doc | None]
"""(game, seat, dice) -> the seat's move, or None to let other seats go first."""

BUILDER, BEGINNER, HEURISTIC, STRONG = "builder", "beginner", "heuristic", "strong"

BOTS: Mapping[str, BotPlayer] = {
    BUILDER: builder_move,
    BEGINNER: beginner_move,
    HEURISTIC: heuristic_move,
    STRONG: strong_move,
}

THINKING = frozenset({STRONG})
"""Bots that think for seconds: their moves are made by the worker of long jobs."""


def list_levels(rules: AnyRuleset) -> list[str]:
    """Return the bots of a ruleset, from the weakest to the strongest."""
    offered = {BUILDER: True, BEGINNER: bool(rules.bot), HEURISTIC: bool(rules.bot)}
    offered[STRONG] = bool(rules.bot) and can_look_ahead(rules.meta.ruleset)
    return [name for name in BOTS if offered[name]]


def suggest_move(match: PlayableGame, seat: Seat, rng: random.Random) -> Doc | None:
    """Return the first legal proposal of the heuristic, or None: a random move is no advice."""
    return next((move for move in proposals(match, seat, rng) if is_legal(match.rules, match.state, seat, move)), None)


def may_suggest(game: AnyGame) -> bool:
    """Return whether a table gives suggestions to its seats: never one that may be rated, nor a fork.

    By default it gives them to a person among bots. The term `suggestions` gives them to several people, or to nobody.
    """
    if game.terms.get("listing", "public") == "public" or "origin" in game.terms:
        return False
    people = {player.id for player in game.players.values() if player.id and not is_bot(player.id)}
    return bool(game.terms.get("suggestions", len(people) < 2))


def is_kept_out(game: AnyGame, bot: str) -> bool:
    """Return whether a bot gets no seat of a fork: a look ahead would tell a player the best move in its origin."""
    return bot in THINKING and "origin" in game.terms
