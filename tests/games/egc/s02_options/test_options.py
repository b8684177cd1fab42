"""What a table can choose."""

from __future__ import annotations

import pytest

from domain.errors import InvalidTable
from domain.kernel.game.deadlines import deadline_class, parse_time_control
from domain.kernel.game.in_memory_game import InMemoryGame
from tests.games.egc.registered import RULESET
from tests.spec import SEED


def test_the_pace_is_the_length_of_a_turn() -> None:
    """EGC-2.1."""
    seconds = {name: parse_time_control(RULESET.meta, name).seconds["turn"] for name in RULESET.meta.paces}
    assert seconds == {"hours_12": 43_200, "hours_24": 86_400, "hours_48": 172_800, "hours_84": 302_400}


@pytest.mark.parametrize("timed", [False, True])
def test_turn_zero_has_a_deadline_by_option(timed: bool) -> None:
    """EGC-2.2, EGC-4.3."""
    match = InMemoryGame(RULESET, 10, SEED, options={"turn_zero_timeout": timed})
    pace = parse_time_control(RULESET.meta, "hours_48")
    assert (deadline_class(RULESET.meta, match.state.top) in pace.seconds) == timed


def test_there_is_no_other_option() -> None:
    """EGC-2.2, EGC-2.3."""
    assert RULESET.make_table(10).options == {"turn_zero_timeout": False, "allow_vacant_seats": False}
    with pytest.raises(InvalidTable):
        RULESET.make_table(10, {"fog": True})
