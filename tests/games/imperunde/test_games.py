"""Whole random games: they end, their records are the truth, nothing leaks, the builder offers what is legal."""

from __future__ import annotations

import functools
import json
import random

import pytest

from domain.bots import deciding_seats
from domain.games.imperunde.data import CARDS
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, Seeded
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import from_json, to_json
from domain.rollouts import random_move
from domain.types import DIRECTOR, PUBLIC
from tests.games.imperunde.registered import BRUTE, RULESET, candidates, conserved
from tests.kernel.machine import accepted, complete, gets
from tests.rulesets import Registered


@functools.cache
def played(seats: int, turns: int = 4) -> InMemoryGame[ImpeRunde]:
    """A whole game of random moves of the builder; invariants and conservation are checked at every record."""
    rng = random.Random(seats)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32), options={"turn_limit": turns})
    kept = conserved(to_json(match.state))
    while not match.state.over:
        seat = rng.choice(deciding_seats(match))
        match.play(seat, random_move(RULESET, match.state, seat, rng), decision=match.decisions()[0].id)
        assert not RULESET.check(match.state)
        assert conserved(to_json(match.state)) == kept
    return match


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_a_random_game_ends_and_folds_to_the_same_state(seats: int) -> None:
    """IMP-0.2, IMP-12.3: fold(records) is the state, JSON round-trips, somebody has won."""
    match = played(seats)
    stored = [Record(json.loads(canonical(r.public)), json.loads(canonical(r.packs))) for r in match.records]
    assert fold(RULESET, stored) == match.game
    assert from_json(RULESET.state, json.loads(canonical(to_json(match.state)))) == match.state
    assert match.state.winner == RULESET.scores(match.state)[0].seat


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_sight_is_function_of_facts_that_its_viewer_may_read(seats: int) -> None:
    """IMP-11.1, IMP-11.8: at the end and at versions before."""
    match = played(seats)
    for version in random.Random(1).sample(range(seats + 3, len(match.records)), 6):
        state, records = match.game_at(version).state, match.records[:version]
        for viewer in (PUBLIC, *range(seats)):
            seen = state_known_to(RULESET, records, viewer)
            for part in {PUBLIC, viewer}:
                assert RULESET.player_view(seen, part) == RULESET.player_view(state, part)
            assert decisions(RULESET, seen, 0, viewer) == decisions(RULESET, state, 0, viewer)
        everything = RULESET.player_view(state, DIRECTOR)
        assert everything["seats"] == {str(seat): RULESET.player_view(state, seat) for seat in range(seats)}
        assert everything["hidden"] == {"deck": list(state.deck), "seen": list(state.seen)}


@pytest.mark.parametrize("seats", [3, 4, 6])
def test_what_a_viewer_cannot_know_changes_nothing_that_it_gets(seats: int) -> None:
    """IMP-11.7, IMP-9.4.16: sights, decisions, refusals and choices of the others stay when hands are dealt anew."""
    match, rng = played(seats), random.Random(seats)
    entry = Registered(RULESET, seats, candidates, conserved)
    for version in rng.sample(range(seats + 3, len(match.records)), 12):
        state = match.game_at(version).state
        for viewer in (PUBLIC, *range(seats)):
            draft = Draft(RULESET, state, Draws(Seeded(rng.randbytes(32), "twin")))
            RULESET.redeal(draft, (viewer,))
            assert not RULESET.check(draft.state)
            moves = list(candidates(state, viewer)) if isinstance(viewer, int) else []
            some = rng.sample(moves, min(len(moves), 20))
            assert gets(entry, draft.state, viewer, some) == gets(entry, state, viewer, some)


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_the_builder_completes_exactly_the_legal_moves(seats: int) -> None:
    """IMP-0.2: compared with brute force at positions of a whole game."""
    match, rng = played(seats), random.Random(seats)
    for version in rng.sample(range(seats + 3, len(match.records)), 40):
        state = match.game_at(version).state
        if state.over:
            continue
        seat = rng.choice([*state.top.owing, *RULESET.may(state)])
        found = complete(RULESET, state, seat, BRUTE)
        if found is not None:
            want = {canonical(m) for m in candidates(state, seat) if accepted(RULESET, state, seat, m)}
            assert {canonical(m) for m in found} == want
            assert len(found) == len(want)


@pytest.mark.parametrize("seats", [3, 6])
def test_the_public_part_names_no_hidden_card(seats: int) -> None:
    """IMP-6.2.1, IMP-6.4.5: cards stand in public facts only when they are played, shown to all or stolen so."""
    public = {"card_played", "card_resolved", "card_countered", "relation_overridden", "bonus_won"}
    for record in played(seats).records:
        for fact in record.public.get("facts", ()):
            if fact["t"] not in public | {"asked", "noted", "hand_shown", "card_stolen"}:
                assert fact.get("card") not in CARDS, fact
                assert not isinstance(fact.get("cards"), list), fact
