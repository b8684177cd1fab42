"""Whole random games: they end, their records are the truth, nothing leaks, the builder offers what is legal."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Mapping

import pytest

from domain.bots import builder_move, heuristic_move
from domain.games.seven_empires.data import EMPIRES
from domain.games.seven_empires.state import Seven
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.decide import decisions
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import from_json, to_json
from domain.rollouts import random_move
from domain.types import DIRECTOR, PUBLIC, Json
from tests.games.seven_empires.oracle import Oracle, shown
from tests.games.seven_empires.registered import RULESET, candidates, conserved
from tests.kernel.machine import accepted, complete


def played(seats: int, seed: int, options: Mapping[str, Json] | None = None) -> InMemoryGame[Seven]:
    """A whole game of random moves of the builder; invariants and conservation are checked at every record."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32), options=options)
    kept = conserved(to_json(match.state))
    while not match.state.over:
        seat = match.decisions()[0].must[0]
        match.play(seat, random_move(RULESET, match.state, seat, rng))
        assert not RULESET.check(match.state)
        assert conserved(to_json(match.state)) == kept
    return match


VARIANTS: list[dict[str, Json]] = [
    {},
    {"setup": "draft", "decades": 9},
    {"setup": "draft_simple", "decades": 10, "quick_start": True},
    {"quick_start": True, "decades": 9},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seats", range(2, 7))
def test_a_random_game_ends_and_folds_to_the_same_state(seats: int, options: dict[str, Json]) -> None:
    """SE7-17.8, SE7-17.6: fold(records) is the state; 7 x D actions, D of each empire; power never falls."""
    match = played(seats, seats, options)
    stored = [Record(json.loads(canonical(r.public)), json.loads(canonical(r.packs))) for r in match.records]
    assert fold(RULESET, stored) == match.game
    assert from_json(RULESET.state, json.loads(canonical(to_json(match.state)))) == match.state
    facts = [f for r in match.records for f in facts_for(r, DIRECTOR)]
    acted = Counter(f["empire"] for f in facts if f["t"] == "marker_placed")
    assert acted == dict.fromkeys(EMPIRES, match.state.terms.decades)
    powers = [[g.state.empires[e].power for e in EMPIRES] for g in match.games if g.state.empires]
    assert all(a <= b for old, new in itertools.pairwise(powers) for a, b in zip(old, new, strict=True))


@pytest.mark.parametrize("seats", [2, 5])
def test_sight_is_function_of_facts_that_its_viewer_may_read(seats: int) -> None:
    """SE7-14.1, SE7-14.2: at the end and at a few versions before."""
    match = played(seats, 40 + seats, {"decades": 9})
    for version in (len(match.records), len(match.records) // 2, seats + 8):
        state, records = match.game_at(version).state, match.records[:version]
        for viewer in (PUBLIC, *range(seats)):
            seen = state_known_to(RULESET, records, viewer)
            for part in {PUBLIC, viewer}:
                assert RULESET.player_view(seen, part) == RULESET.player_view(state, part)
            assert decisions(RULESET, seen) == decisions(RULESET, state)
            if not state.over:
                assert seen.hourglass == ()


@pytest.mark.parametrize("seed", range(4))
def test_the_builder_completes_exactly_the_legal_moves(seed: int) -> None:
    """SE7-14.2, SE7-15.1: compared with brute force at every seventh decision, and at every answer."""
    rng = random.Random(seed)
    options: dict[str, Json] = {"quick_start": True, "setup": ["distribution", "draft_simple"][seed % 2]}
    match = InMemoryGame(RULESET, 3, rng.randbytes(32), options=options)
    compared = 0
    for step in range(120):
        state, seat = match.state, match.decisions()[0].must[0]
        found = complete(RULESET, state, seat, 400) if step % 7 == 0 or state.top.kind in ANSWERS else None
        if found is not None:
            want = {canonical(m) for m in candidates(state, seat) if accepted(RULESET, state, seat, m)}
            assert {canonical(m) for m in found} == want
            assert len(found) == len(want)
            compared += 1
        match.play(seat, random_move(RULESET, state, seat, rng))
    assert compared > 10


ANSWERS = ("passage", "counterfight", "reduction", "deploy")


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seats", range(2, 7))
def test_a_second_reading_of_the_rules_comes_to_the_same_board(seats: int, options: dict[str, Json]) -> None:
    """SE7-17.6, SE7-12.4: units, flags, cities, power, hands, monarchs at every turn, and the points at the end."""
    rng = random.Random(100 + seats)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32), options=options)
    state = match.state
    told = Oracle(seats, options, state.first_seat or 0, state.card, list(state.hourglass))
    while not match.state.over:
        seat = match.decisions()[0].must[0]
        player = heuristic_move if rng.random() < 0.6 else builder_move
        move = player(match, seat, rng)
        match.play(seat, move)
        told.play(seat, dict(move or ()))
        now = match.state
        if now.over or now.top.kind == "choose_empire":
            told.settle()
            assert told.board() == shown(now)
    assert told.over
    assert told.points() == [line.points for line in RULESET.scores(match.state)]
