"""Whole games and long stretches of them: they end, their records are the truth, nothing is lost or made of nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from domain.bots import heuristic_move
from domain.games.egc.data import SEATS
from domain.games.egc.state import Army, Egc, Garrison, Protectorate
from domain.kernel.game.game_fold import fold, state_known_to
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record, facts_for
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import from_json, to_json
from domain.rollouts import random_move
from domain.types import DIRECTOR, PUBLIC, Doc
from tests.games.egc.audit import audit
from tests.games.egc.board import FRANCE, position
from tests.games.egc.rare import late
from tests.games.egc.registered import RULESET, conserved

PATCH = late()
"""The twelfth of seventeen turns, in the middle of a quarrel."""

ORDERS = 6
"""Random orders of a sheet, about."""


def turn(match: InMemoryGame[Egc], rng: random.Random, bots: set[int]) -> None:
    """All sheets are filed, by heuristics or at random; the turn is resolved and audited."""
    for seat in SEATS:
        for _ in range(ORDERS if seat not in bots else 400):
            if match.state.over or seat not in match.state.top.owing:
                break
            move = heuristic_move(match, seat, rng) if seat in bots else random_move(RULESET, match.state, seat, rng)
            assert move is not None
            match.play(seat, move)
        if not match.state.over and seat in match.state.top.owing:
            match.play(seat, {"type": "submit_orders"})
    before = match.state
    if before.over:
        return
    record = match.resolve()
    audit(before, match.state, facts_for(record, DIRECTOR))
    assert not RULESET.check(match.state)


def played(seed: int) -> InMemoryGame[Egc]:
    """From the quarrel to the end: random sheets at odd seats, heuristics at three others."""
    rng = random.Random(seed)
    match: InMemoryGame[Egc] = InMemoryGame(RULESET, len(SEATS), rng.randbytes(32), patch=PATCH)
    kept = conserved(to_json(match.state))
    while not match.state.over:
        turn(match, rng, {0, 2, 8})
        assert conserved(to_json(match.state)) == kept
    return match


@pytest.mark.parametrize("seed", range(3))
def test_a_game_ends_with_every_account_closed(seed: int) -> None:
    """EGC-12.6, EGC-11.4, EGC-9.8, EGC-15.4: money to the last Brz, divisions to the last man, turn by turn."""
    match = played(seed)
    stored = [Record(json.loads(canonical(r.public)), json.loads(canonical(r.packs))) for r in match.records]
    assert fold(RULESET, stored) == match.game
    assert from_json(RULESET.state, json.loads(canonical(to_json(match.state)))) == match.state
    assert match.state.final is not None
    assert len(match.state.counts) == 4
    assert sorted(s.place for s in RULESET.scores(match.state)) == list(range(1, 11))
    for viewer in (PUBLIC, *SEATS):
        seen = state_known_to(RULESET, match.records, viewer)
        assert RULESET.player_view(seen, viewer) == RULESET.player_view(match.state, viewer)


def test_a_whole_game_among_heuristics() -> None:
    """EGC-3.1, EGC-4.4, EGC-12.5, EGC-15.4: from the set-up to the fourth count, every turn audited."""
    rng = random.Random(5)
    match: InMemoryGame[Egc] = InMemoryGame(RULESET, len(SEATS), bytes(32))
    for seat in SEATS:
        for _ in range(2):
            match.play(seat, heuristic_move(match, seat, rng))
    while not match.state.over:
        turn(match, rng, set(SEATS))
    counts = [c.turn for c in match.state.counts]
    assert tuple(counts) == match.state.count_turns
    assert 29 <= match.state.turn == counts[-1] <= 35
    assert sum(len(match.state.owned(seat)) for seat in SEATS) > 30
    assert max(match.state.vp) > 50


# --- what is broken is noticed -----------------------------------------------------------------------------------


def changed(facts: list[Doc], kind: str, **more: Any) -> list[Doc]:
    """The same facts with one member of a kind changed."""
    return [{**f, **more} if f["t"] == kind else f for f in facts]


def test_the_audit_notices_what_is_missing() -> None:
    """EGC-0.2: a Brz, a division, a loss, a gift that came from nowhere."""
    game = position(5, armies={FRANCE: {"france-1": ("france", 340, 7, 6)}})
    game.file(
        FRANCE,
        {"type": "give_money", "to": "zulu", "amount": 40_000},
        {"type": "order_army", "army": "france-1", "order": "move", "path": ["france", "holland"]},
    )
    for seat in SEATS:
        game.file(seat, {"type": "submit_orders"})
    before = game.state
    facts = game.engine()
    after = game.state
    audit(before, after, facts)
    rich = replace(after.empires[FRANCE], treasury=after.empires[FRANCE].treasury + 1)
    (army,) = after.armies[FRANCE]
    fresh = replace(after.armies[FRANCE][army], divisions=after.armies[FRANCE][army].divisions + 1)
    broken: list[tuple[Egc, list[Doc]]] = [
        (replace(after, empires=(*after.empires[:FRANCE], rich, *after.empires[FRANCE + 1 :])), facts),
        (replace(after, armies=(*after.armies[:FRANCE], {army: fresh}, *after.armies[FRANCE + 1 :])), facts),
        (after, changed(facts, "finance_settled", gifts=1)),
        (after, changed(facts, "combat_fought", rounds=[])),
        (after, changed(facts, "supply_lost", divisions=1)),
    ]
    for state, told in broken:
        with pytest.raises(AssertionError):
            audit(before, state, told)


def _army(s: Egc, army: Army) -> Egc:
    return replace(s, armies=({"austria_hungary-1": army}, *s.armies[1:]))


def _land(s: Egc, territory: str, **more: Any) -> Egc:
    return replace(s, lands={**s.lands, territory: replace(s.lands[territory], **more)})


BROKEN: dict[str, Callable[[Egc], Egc]] = {
    "negative treasury": lambda s: replace(s, empires=(replace(s.empires[0], treasury=-1), *s.empires[1:])),
    "points above 1000": lambda s: replace(s, empires=(replace(s.empires[0], diplomacy=1001), *s.empires[1:])),
    "two of a rank": lambda s: replace(s, empires=(replace(s.empires[0], ranks=s.empires[1].ranks), *s.empires[1:])),
    "empty army": lambda s: _army(s, Army("austria_hungary", 0, 5, 5)),
    "morale 10": lambda s: _army(s, Army("austria_hungary", 9, 10, 5)),
    "training 11": lambda s: _army(s, Army("austria_hungary", 9, 5, 11)),
    "army abroad": lambda s: _army(s, Army("serbia", 9, 5, 5)),
    "hidden army": lambda s: _army(s, Army("austria_hungary", 9, 5, 5)),
    "garrison of an owner": lambda s: replace(s, garrisons={**s.garrisons, "france": Garrison(5, 5, 5)}),
    "port inland": lambda s: _land(s, "switzerland", port=True),
    "owned protectorate": lambda s: _land(s, "france", protectorate=Protectorate(1, 0)),
    "protected protectorate": lambda s: _land(s, "italy", protectorate=Protectorate(1, 0), protections={"2": 0}),
    "level 4": lambda s: replace(s, levels={**s.levels, "france": {"farm": 4}}),
    "no territory": lambda s: _land(s, "france", owner=8),
    "eliminated with land": lambda s: replace(s, status=("eliminated", *s.status[1:])),
    "missing pair": lambda s: replace(s, relations={k: v for k, v in s.relations.items() if k != "0-1"}),
}


@pytest.mark.parametrize("what", list(BROKEN))
def test_a_broken_invariant_is_noticed(what: str) -> None:
    """EGC-1.8, EGC-1.9, EGC-1.10, EGC-13.5: each by itself, in a state that is sound otherwise."""
    state = position(5).state
    assert RULESET.check(state) == []
    assert RULESET.check(BROKEN[what](state))
