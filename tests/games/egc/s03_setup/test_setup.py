"""The set-up and its draws."""

from __future__ import annotations

from domain.games.egc.data import HOMES, TERRITORIES
from domain.games.egc.state import Egc
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.rules.draws import Extreme
from domain.types import PUBLIC
from tests.games.egc.board import plain_draws, set_up
from tests.games.egc.registered import RULESET
from tests.spec import SEED


def started(last: bool | None = None) -> InMemoryGame[Egc]:
    """A game in turn zero."""
    return InMemoryGame(RULESET, 10, SEED, source=None if last is None else Extreme(last))


def test_the_draws_come_in_their_order_and_for_nobody() -> None:
    """EGC-3.1: four count turns, the tie order, then territory by territory."""
    match = started(last=True)
    record = next(r for r in match.records if r.kind == "started")
    assert "draws" not in record.public
    draws = [(d[1], d[2]) for d in record.packs[TABLE_KEY]["draws"]]
    assert draws[:5] == [*(("count", [a, a + 6]) for a in (8, 15, 22, 29)), ("tie_order", 10)]
    inland = [("neutral_morale", [2, 8]), ("neutral_training", [1, 7]), *[("neutral_infra", [1, 100])] * 5]
    assert next(iter(TERRITORIES)) == "afghanistan"
    assert draws[5:12] == inland
    assert draws[12:15] == [("neutral_morale", [2, 8]), ("neutral_training", [1, 7]), ("neutral_naval", [4, 10])]
    assert len(draws) == 1198 - 8
    assert match.state.count_turns == (14, 21, 28, 35)


def test_levels_rise_while_the_dice_are_low() -> None:
    """EGC-3.1: with every draw at its least, everything is built as high as it goes, and forts have a siege rank."""
    state = started(last=False).state
    assert state.levels["afghanistan"] == {
        "recruitment_centre": 3,
        "fortification": 3,
        "farm": 3,
        "factory": 3,
        "railway": 1,
    }
    assert state.neutral_ranks["afghanistan"].siege == 4
    assert state.neutral_ranks["afghanistan"].naval is None
    assert state.neutral_ranks["alaska"].naval == 4
    assert state.lands["alaska"].port
    assert not state.lands["afghanistan"].port


def test_neutral_armies_count_the_supply() -> None:
    """EGC-3.2."""
    state = started().state
    assert all(state.garrisons[t].divisions == TERRITORIES[t].supply for t in TERRITORIES if t not in HOMES)
    assert set(state.manned.values()) == {"neutral"}


def test_homes() -> None:
    """EGC-3.3: seven with a port; the portless ones have a second recruitment centre."""
    state = started().state
    ports = [state.lands[home].port for home in HOMES]
    assert [home for home, port in zip(HOMES, ports, strict=True) if not port] == ["mexico", "russia", "south_africa"]
    assert state.levels["england"] == {"recruitment_centre": 1, "fortification": 1}
    assert state.levels["russia"] == {"recruitment_centre": 2, "fortification": 1}


def test_all_begin_at_peace() -> None:
    """EGC-3.4."""
    state = started().state
    assert set(state.relations.values()) == {"peace"}
    assert len(state.relations) == 45
    assert (state.closed, state.open_ports, state.casus_belli, set(state.vp)) == ({}, {}, {}, {0})


def test_the_game_waits_in_turn_zero() -> None:
    """EGC-3.5."""
    match = started()
    assert match.state.top.kind == "turn_zero"
    assert match.state.top.owing == tuple(range(10))
    assert {e.revenue for e in match.state.empires} == {300_000}
    assert RULESET.player_view(match.state, PUBLIC)["turn"] == 0


def test_ten_in_a_hundred_is_the_chance_of_a_level() -> None:
    """EGC-3.1: at 10 it rises, at 11 it does not; a fort brings a siege rank, drawn last."""
    draws = plain_draws()
    assert draws[5:12] == [5, 4, 100, 100, 100, 100, 100]
    # Afghanistan, inland: recruitment centre 0, fortification 2, farm 0, factory 0, railway 1.
    draws[5:12] = [3, 2, 11, 10, 1, 11, 100, 12, 10, 7]
    state = set_up(draws).state
    assert state.levels["afghanistan"] == {"fortification": 2, "railway": 1}
    assert (state.garrisons["afghanistan"].morale, state.garrisons["afghanistan"].training) == (3, 2)
    assert state.neutral_ranks["afghanistan"].siege == 7
    assert "alaska" not in state.levels
