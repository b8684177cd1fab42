"""Whole random games: they end, their records are the truth, nothing leaks, the builder offers what is legal."""

from __future__ import annotations

import json
import random

import pytest

from domain.games.struggle_of_empires.state import Struggle
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import from_json, to_json
from domain.rollouts import random_move
from domain.types import DIRECTOR, PUBLIC
from tests.games.struggle_of_empires import board
from tests.games.struggle_of_empires.registered import RULESET, candidates, conserved
from tests.kernel.machine import accepted, complete


def played(seats: int, seed: int) -> InMemoryGame[Struggle]:
    """A whole game of random moves of the builder; invariants and conservation are checked at every record."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32))
    kept = conserved(to_json(match.state))
    while not match.state.over:
        seat = match.decisions()[0].must[0]
        match.play(seat, random_move(RULESET, match.state, seat, rng))
        assert not RULESET.check(match.state)
        assert conserved(to_json(match.state)) == kept
    return match


@pytest.mark.parametrize("seats", range(2, 8))
def test_a_random_game_ends_and_folds_to_the_same_state(seats: int) -> None:
    """SOE-4.2, SOE-17.2: fold(records) is the state, JSON round-trips, three Wars are played."""
    match = played(seats, seats)
    stored = [Record(json.loads(canonical(r.public)), json.loads(canonical(r.packs))) for r in match.records]
    assert fold(RULESET, stored) == match.game
    assert from_json(RULESET.state, json.loads(canonical(to_json(match.state)))) == match.state
    assert match.state.war == 3


@pytest.mark.parametrize("seats", [2, 5])
def test_sight_is_function_of_facts_that_its_viewer_may_read(seats: int) -> None:
    """SOE-16.2: at the end and at a few versions before."""
    match = played(seats, 40 + seats)
    for version in (len(match.records), len(match.records) // 2, seats + 8):
        state, records = match.game_at(version).state, match.records[:version]
        for viewer in (PUBLIC, *range(seats)):
            seen = state_known_to(RULESET, records, viewer)
            for part in {PUBLIC, viewer}:
                assert RULESET.player_view(seen, part) == RULESET.player_view(state, part)
            assert decisions(RULESET, seen) == decisions(RULESET, state)
        assert [own["unrest"] for own in RULESET.player_view(state, DIRECTOR)["seats"].values()] == list(state.unrest)


@pytest.mark.parametrize("seed", range(6))
def test_the_builder_completes_exactly_the_legal_moves(seed: int) -> None:
    """SOE-16.4: compared with brute force at every tenth decision, and at every answer in combat."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, 3, rng.randbytes(32))
    for step in range(200):
        if match.state.over:
            break
        state, seat = match.state, match.decisions()[0].must[0]
        if step % 10 == 0 or state.combat is not None:
            compare(state, seat)
        match.play(seat, random_move(RULESET, state, seat, rng))


def compare(state: Struggle, seat: int) -> None:
    """The builder's moves and the candidates that decide accepts are the same."""
    found = complete(RULESET, state, seat, 3000)
    if found is None:
        return
    want = {canonical(m) for m in candidates(state, seat) if accepted(RULESET, state, seat, m)}
    assert {canonical(m) for m in found} == want
    assert len(found) == len(want)


ALL = {"units": board.army("baltic", 2, navy=2, fort=1)}
TILES = ["reserve", "sweden", "denmark", "blockade", "fighting_withdrawal", "surprise_attack", "war_office"]


@pytest.mark.parametrize("seed", range(12))
def test_the_builder_is_exact_through_rich_combats(seed: int) -> None:
    """SOE-8: three seats with every tile of combat; each question on the way is compared with brute force."""
    rng = random.Random(seed)
    owner = {tile: rng.randrange(2) for tile in TILES}
    share = {seat: [tile for tile in TILES if owner[tile] == seat] for seat in range(3)}
    empires = {seat: {**ALL, "gold": 4, "tokens": {"baltic": 1}, "tiles": share[seat]} for seat in range(3)}
    game = board.position(3, empires=empires, to_play=[])
    match, match_rng = game.match, random.Random(seed)
    match.source = None
    match.play(0, board.attack("baltic", 1, surprise="surprise_attack" in share[0]))
    while match.state.combat is not None:
        seat = match.decisions()[0].must[0]
        compare(match.state, seat)
        match.play(seat, random_move(RULESET, match.state, seat, match_rng))
