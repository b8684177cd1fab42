"""The heuristic player: legal, better than chance, and no wiser than its sight."""

from __future__ import annotations

import random

import pytest

from domain.bots import builder_move, deciding_seats, heuristic_move, proposals
from domain.games.imperunde import RULESET
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, Seeded
from domain.types import Seat
from tests.games.imperunde.board import PASS, attack, colony, group, position


def series(seats: int, seed: int, bots: set[Seat], turns: int = 6) -> InMemoryGame[ImpeRunde]:
    """A whole game; the other seats pick at random."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32), options={"turn_limit": turns})
    while not match.state.over:
        seat = rng.choice(deciding_seats(match))
        move = (heuristic_move if seat in bots else builder_move)(match, seat, rng)
        if move is not None:
            match.play(seat, move)
    return match


def test_it_beats_random_players() -> None:
    """One against two: first, with more posts than both together."""
    for seed in range(3):
        table = {s.seat: s for s in RULESET.scores(series(3, seed, {seed % 3}).state)}
        bot = table.pop(seed % 3)
        assert bot.place == 1
        assert bot.points > sum(s.points for s in table.values())


@pytest.mark.parametrize("seats", [3, 6])
def test_it_plays_whole_games_against_itself(seats: int) -> None:
    """It conquers, plays cards, and lets others go on: few records are passes."""
    match = series(seats, 7, set(range(seats)))
    moves = [m["type"] for r in match.records for _, m in r.moves()]
    facts = [f["t"] for r in match.records for f in r.public.get("facts", ())]
    assert facts.count("country_conquered") > 10
    assert "card_played" in facts
    assert moves.count("pass") < 0.3 * len(match.records)
    assert all(not RULESET.check(match.game_at(v).state) for v in range(seats + 2, len(match.records)))


def test_a_proposal_depends_on_the_own_sight_only() -> None:
    """Other hands and the deck change nothing."""
    game = position(
        wars=[(0, 1)],
        countries={"france": colony(0, infantry=1, posts=1), "spain": colony(1, posts=1, forts=1)},
        hands={0: ["surprise_attack"], 1: ["ambush", "treason"], 2: ["sabotage"]},
    )
    game.when(0, attack(group("france", "spain", infantry=1)))
    before = list(proposals(game.match, 0, random.Random(1)))
    draft = Draft(RULESET, game.state, Draws(Seeded(b"other hands", "twin")))
    RULESET.redeal(draft, (0,))
    assert before[0] == {"type": "play_card", "card": "surprise_attack"}
    twin = RULESET.player_view(draft.state, 0)
    assert twin == game.sight(0)
    assert before[-1] == PASS


@pytest.mark.parametrize("step", ["investment", "movement", "embarkation", "budget"])
def test_every_decision_has_an_answer(step: str) -> None:
    """Whatever is open, it proposes something; who is not waited for stays quiet."""
    game = position(step=step, hands={2: ["sabotage"]})
    assert list(proposals(game.match, 0, random.Random(1)))
    if step != "budget":
        assert not list(proposals(game.match, 2, random.Random(1)))
