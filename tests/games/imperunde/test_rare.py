"""The patched tables of the soak: sound, the same after any set-up, and tried as soon as they are there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from deploy.simulation.simulate import simulate
from domain.games.imperunde.rules.budget import income
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.schema.json_codec import to_json
from tests.games.imperunde.rare import RARE
from tests.games.imperunde.registered import RULESET, candidates, too_many_pieces

OPEN = ("open_window", "movement", "combat_window", "combat_window", "combat_window")
TABLES = pytest.mark.parametrize(("rare", "kind"), list(zip(RARE, OPEN, strict=True)), ids=range(len(RARE)))


def opened(rare: Mapping[str, Any], seed: int) -> ImpeRunde:
    return InMemoryGame(RULESET, rare["seats"], bytes([seed]) * 32, options=rare["options"], patch=rare["patch"]).state


@TABLES
def test_a_table_is_the_same_after_any_set_up(rare: Mapping[str, Any], kind: str) -> None:
    """IMP-5.5: nothing of the set-up is left over; cards, pieces and markers are as the rules allow."""
    one, *others = [opened(rare, seed) for seed in range(4)]
    assert all(other == one for other in others)
    assert (one.top.kind, RULESET.check(one), too_many_pieces(to_json(one))) == (kind, [], [])


@TABLES
def test_only_a_card_lets_fleets_share_a_zone(rare: Mapping[str, Any], kind: str) -> None:
    """IMP-6.5.4: after the clean-up; before it, enemies may meet as well."""
    state = opened(rare, 1)
    shared = [state.seats_at(zone) for zone in state.zones if len(state.seats_at(zone)) > 1]
    assert shared == [[1, 2], [1, 2]]
    assert (state.pair(1, 2).override is not None) == (state.phase > 5)
    assert state.pair(1, 2).base == "war"


def test_the_ledgers_of_the_campaign_are_those_of_its_board() -> None:
    """IMP-6.3.2: worked out by hand for the table; nothing has moved since the budgets."""
    state = opened(RARE[1], 1)
    for seat in state.everybody:
        lines = {**income(state, seat), "surplus": 0, "repay": 0, "borrow": 0}
        assert state.nations[seat].ledger == lines


def test_what_is_open_at_a_patched_table_is_tried_at_once() -> None:
    """In each game, without any other illegal move."""
    rare = RARE[3]
    figures = simulate(
        RULESET, 4, 4, 1, rare["options"], probes=0, candidates=candidates, patch=rare["patch"], bot="heuristic"
    )
    assert figures["invariant_failures"] == 0
    assert {code for code, n in figures["refusals_by_code"].items() if n} >= {"no_cavalry", "card_not_playable_now"}
