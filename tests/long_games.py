"""Long games of any ruleset, the same for the same seed: random builders play, and go back again and again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from domain.bots import deciding_seats
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import query_builder
from domain.kernel.rules.ruleset import Ruleset
from domain.rollouts import random_pick
from domain.types import Json, Seat

REWINDS = 0.02
"""Share of rewinds among the records."""

DEPTH = 40
"""Active versions among which a rewind picks its target."""


def play_long_game(
    rules: Ruleset[Any],
    seats: int,
    records: int,
    *,
    name: str = "match",
    seed: int = 7,
    rewinds: float = REWINDS,
    secret: bytes = bytes(32),
    **table: Any,
) -> InMemoryGame[Any]:
    """Return a running game of so many records. A move that would end it is taken out, and a rewind made instead."""
    rng, match = random.Random(seed), InMemoryGame(rules, seats, secret, game=name, **table)
    while len(match.records) < records:
        if match.state.over:
            match.records.pop()
            match.games.pop()
            _rewind(match, rng, len(match.records))
        elif match.state.top.engine:
            match.resolve()
        elif rng.random() >= rewinds or not _rewind(match, rng, DEPTH):
            seat = rng.choice(deciding_seats(match))
            match.play(seat, _built(match, seat, rng))
    return match


def _rewind(match: InMemoryGame[Any], rng: random.Random, depth: int) -> bool:
    """Go back to one of the last active versions; False if the game has hardly begun."""
    targets = [v for v in match.active_versions()[-depth:-1] if match.game_at(v).status == "running"]
    if targets:
        match.rewind(rng.choice(targets), fresh=rng.random() < 0.2)
    return bool(targets)


def _built(match: InMemoryGame[Any], seat: Seat, rng: random.Random) -> Mapping[str, Json]:
    picks: list[Json] = []
    while isinstance(found := query_builder(match.rules, match.state, seat, picks), Choice):
        picks.append(random_pick(rng, found))
    return found
