"""Whole random games: they end, their records are the truth, nothing leaks, the builder offers what is legal."""

from __future__ import annotations

import json
import random

import jsonschema
import pytest

from domain.bots import deciding_seats
from domain.games.age_of_reason.state import AgeOfReason
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.decide import decisions
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.declarations import doc
from domain.kernel.schema.json_codec import from_json, to_json
from domain.kernel.schema.json_schema import schema_of
from domain.rollouts import random_move
from domain.types import DIRECTOR, PUBLIC, Json
from tests.games.age_of_reason import board
from tests.games.age_of_reason.registered import RARE, RULESET, candidates, conserved
from tests.kernel.machine import accepted, complete

DRAWN: dict[str, Json] = {"power_assignment": "random", "first_alliances": "random"}


def played(
    seats: int, seed: int, options: dict[str, Json] | None = None, patch: Json = None
) -> InMemoryGame[AgeOfReason]:
    """A whole game of random moves of the builder; invariants and conservation are checked at every record."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32), options=options, patch=patch)
    kept = conserved(to_json(match.state))
    while not match.state.over:
        seat = rng.choice(deciding_seats(match))
        match.play(seat, random_move(RULESET, match.state, seat, rng))
        assert not RULESET.check(match.state)
        assert conserved(to_json(match.state)) == kept
    return match


@pytest.mark.parametrize("seats", range(2, 8))
def test_a_random_game_ends_and_folds_to_the_same_state(seats: int) -> None:
    """AOR-4.2, AOR-17.2: fold(records) is the state, JSON round-trips, three game turns are played."""
    match = played(seats, seats)
    stored = [Record(json.loads(canonical(r.public)), json.loads(canonical(r.packs))) for r in match.records]
    assert fold(RULESET, stored) == match.game
    assert from_json(RULESET.state, json.loads(canonical(to_json(match.state)))) == match.state
    assert match.state.game_turn == 3
    assert match.state.bag == ()


@pytest.mark.parametrize("options", [{"support_scope": "examples", "cossacks_space": False}, DRAWN])
def test_the_options_play_too(options: dict[str, Json]) -> None:
    """AOR-2.3."""
    assert played(5, 3, options).state.over


@pytest.mark.parametrize("seats", [2, 5])
def test_sight_is_function_of_facts_that_its_viewer_may_read(seats: int) -> None:
    """AOR-16.2: at the end and at versions before, in the middle of sealed answers too."""
    match = played(seats, 40 + seats, DRAWN)
    sealed = [
        r.version for r in match.records if match.game_at(r.version).frames and match.game_at(r.version).state.top.done
    ]
    for version in (len(match.records), len(match.records) // 2, seats + 8, *sealed[:8]):
        state, records = match.game_at(version).state, match.records[:version]
        for viewer in (PUBLIC, *range(seats)):
            seen = state_known_to(RULESET, records, viewer)
            for part in {PUBLIC, viewer}:
                assert RULESET.player_view(seen, part) == RULESET.player_view(state, part)
            assert decisions(RULESET, seen) == decisions(RULESET, state)


@pytest.mark.parametrize("seed", range(6))
def test_the_builder_completes_exactly_the_legal_moves(seed: int) -> None:
    """AOR-16.5: compared with brute force at every tenth decision, and at every answer in a battle."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, 3 + seed % 3, rng.randbytes(32), options=DRAWN)
    compare_on_the_way(match, rng, 120)


@pytest.mark.parametrize("seed", range(4))
def test_the_builder_is_exact_where_it_is_tight(seed: int) -> None:
    """AOR-15.3, AOR-1.4: hardly any gold, tokens or ship cards; every power everywhere."""
    rng, rare = random.Random(seed), RARE[0]
    match = InMemoryGame(RULESET, rare["seats"], rng.randbytes(32), options=rare["options"], patch=rare["patch"])
    compare_on_the_way(match, rng, 60)


def test_facts_fit_their_schemas_and_come_out_as_they_went_in() -> None:
    """AOR-17.3: of a game in which every kind of fact but one occurs."""
    rare = RARE[0]
    matches = [played(rare["seats"], 2, rare["options"], rare["patch"]), played(5, 2, DRAWN), played(4, 1)]
    docs = [fact for match in matches for record in match.records for fact in facts_for(record, DIRECTOR)]
    assert [doc(fact) for fact in RULESET.decode_facts(docs)] == docs
    of = {kind: jsonschema.Draft202012Validator(schema_of(fact)) for kind, fact in RULESET.fact_kinds.items()}
    seen: dict[str, int] = {}
    for fact in docs:
        seen[fact["t"]] = seen.get(fact["t"], 0) + 1
        if seen[fact["t"]] <= 20:  # validating takes long
            of[fact["t"]].validate(fact)
            assert not of[fact["t"]].is_valid({**fact, "no_such_member": 1})
    assert set(RULESET.facts) - set(seen) <= {"hire_taken_back"}


def compare_on_the_way(match: InMemoryGame[AgeOfReason], rng: random.Random, steps: int) -> None:
    """Random moves; the builder's moves and the candidates that decide accepts are the same."""
    for step in range(steps):
        if match.state.over:
            break
        state, seat = match.state, rng.choice(deciding_seats(match))
        if step % 10 == 0 or state.battle is not None:
            compare(state, seat)
        match.play(seat, random_move(RULESET, state, seat, rng))


def compare(state: AgeOfReason, seat: int) -> None:
    """The builder's moves and the candidates that decide accepts are the same."""
    found = complete(RULESET, state, seat, 3000)
    if found is None:
        return
    want = {canonical(m) for m in candidates(state, seat) if accepted(RULESET, state, seat, m)}
    assert {canonical(m) for m in found} == want
    assert len(found) == len(want)


def test_a_crowded_board_plays_to_the_end() -> None:
    """AOR-1.4, AOR-1.7: limits of tokens and unrest on the way."""
    rare = RARE[0]
    match = played(rare["seats"], 5, rare["options"], rare["patch"])
    assert board.POWERS[0] == "prussia"
    assert max(empire.unrest for empire in match.state.empires) <= 22
