"""Frames, turn zero, submitting, resigning, leaving."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import RuleError
from domain.games.egc.data import ALLOCATION
from domain.games.egc.state import Egc
from domain.kernel.game.in_memory_game import InMemoryGame
from tests.games.egc.board import of, position
from tests.games.egc.registered import RULESET
from tests.spec import SEED

SUBMIT = {"type": "submit_orders"}


def fresh(**options: Any) -> InMemoryGame[Egc]:
    """A game in turn zero."""
    return InMemoryGame(RULESET, 10, SEED, options=options)


def begun(match: InMemoryGame[Egc]) -> InMemoryGame[Egc]:
    """Turn zero is over: seat i puts 18000 - 10 i into logistics and the rest into research."""
    for seat in range(10):
        points = {"logistics": 9000 - 10 * seat, "research": 9000 + 10 * seat}
        match.play(seat, {"type": "allocate_turn_zero", "points": points})
        match.play(seat, SUBMIT)
    return match


def test_the_states_of_a_game() -> None:
    """EGC-4.1: turn zero, orders, resolving, orders."""
    match = fresh()
    assert match.state.top.kind == "turn_zero"
    begun(match)
    assert (match.state.top.kind, match.state.turn) == ("orders", 1)
    for seat in range(10):
        match.play(seat, SUBMIT)
    assert match.state.top.kind == "resolving"
    assert match.state.top.engine
    assert len(match.state.frames) == 1
    match.resolve()
    assert (match.state.top.kind, match.state.turn) == ("orders", 2)
    assert len(match.state.frames) == 1


def test_defaults_at_the_deadline() -> None:
    """EGC-4.2: sheets as they stand, a proposal refused, an incitement accepted, no links, automatic orders."""
    proposals = {
        "3:1:0": {"sender": 1, "target": 0, "action": "propose"},
        "3:3:2": {"sender": 3, "target": 2, "action": "incite"},
    }
    game = position(4, armies={3: {"france-1": ("france", 100, 7, 6)}}, proposals=proposals)
    game.file(3, {"type": "set_ports", "target": "spain", "open": True})
    game.deadline()
    facts = game.engine()
    assert [f["accepted"] for f in of(facts, "proposal_answered")] == [False, False, True, True]
    assert game.state.relation(0, 1) == "peace"
    assert game.state.relation(2, 3) == "nap"
    assert "3:8" in game.state.open_ports
    assert of(facts, "armies_drilled", 3)
    assert game.state.empires[3].links == ()


def test_turn_zero_by_default() -> None:
    """EGC-4.3: 1800 points in each technology."""
    match = fresh(turn_zero_timeout=True)
    match.play(4, {"type": "allocate_turn_zero", "points": {"naval": 18_000}})
    match.lapse()
    assert match.state.empires[0].points == dict(ALLOCATION)
    assert match.state.empires[4].points["naval"] == 18_000


def test_the_end_of_turn_zero() -> None:
    """EGC-4.4: ranks, one army, treasury and points."""
    state = begun(fresh()).state
    for seat in range(10):
        e, (army,) = state.empires[seat], state.armies[seat].values()
        assert (e.ranks["logistics"], e.ranks["research"]) == (seat + 1, 10 - seat)
        assert e.treasury == 500_000
        assert army.divisions == 200
    officer = state.empires[0].ranks["officer_training"]
    army = next(iter(state.armies[0].values()))
    assert army.morale == [7, 7, 6, 6, 5, 5, 4, 4, 3, 3][officer - 1]
    income = [200, 180, 165, 150, 135, 120, 105, 90, 75, 60][state.empires[0].ranks["diplomacy"] - 1]
    assert state.empires[0].diplomacy == 100 + income
    assert state.manned["england"] == "britain"
    assert set(state.sheets[3].controls) == {"bay_of_biscay", "english_channel", "western_mediterranean"}
    assert {s.next_army for s in state.sheets} == {2}


def test_a_submitted_sheet_is_not_edited_before_it_is_reopened() -> None:
    """EGC-4.5."""
    game = position()
    build = {"type": "build", "territory": "france", "infrastructure": "farm"}
    game.file(3, SUBMIT)
    game.refused(3, build, "already_answered")
    game.file(3, {"type": "reopen_orders"}, build)
    game.refused(3, {"type": "reopen_orders"}, "not_your_decision")
    assert 3 in game.state.top.owing
    game.resolve()
    assert game.state.levels["france"]["farm"] == 1


def test_resigning_makes_an_empire_dormant() -> None:
    """EGC-4.6: the sheet is emptied, what spies have cost stays spent; the last one ends the game."""
    game = position()
    game.file(
        3, {"type": "spy_empire", "empire": "spain"}, {"type": "set_research", "technology": "naval", "amount": 9}
    )
    game.file(3, {"type": "resign"})
    assert game.state.status[3] == "dormant"
    assert game.state.sheets[3].orders == ()
    game.resolve()
    assert of(game.facts(), "finance_settled", 3)[0]["kept"] == 480_000
    game.refused(3, {"type": "resign"}, "seat_dormant", "EGC-4.6")
    for seat in (0, 1, 2, 4, 5, 6, 7, 8, 9):
        game.file(seat, {"type": "resign"})
    assert game.state.over
    assert game.state.final is not None


def test_no_seat_resigns_once_eliminated_or_while_resolved() -> None:
    """EGC-4.6, EGC-7.23."""
    out = position(status={"4": "eliminated"}, owners={"japan": 2}, levels={"japan": {}})
    out.refused(4, {"type": "resign"}, "seat_eliminated", "EGC-4.6")
    game = position()
    for seat in range(10):
        game.file(seat, SUBMIT)
    game.refused(0, {"type": "resign"}, "wrong_phase")


def test_no_seat_undoes_a_record() -> None:
    """EGC-4.7: a director takes the game back, and the same sheets give the same result."""
    assert not RULESET.meta.undo
    game = position(armies={3: {"france-1": ("france", 200, 7, 6)}})
    game.file(3, {"type": "order_army", "army": "france-1", "order": "move", "path": ["france", "holland"]})
    start = game.match.game.version
    with pytest.raises(RuleError) as refused:
        game.match.rewind(start - 1, seat=3)
    assert refused.value.code == "undo_forbidden"
    first = game.resolve()
    game.match.rewind(start)
    assert [f for f in game.resolve() if "step" in f] == [f for f in first if "step" in f]


def test_the_turn_resolves_when_nobody_is_awaited() -> None:
    """EGC-4.8: tested after every submission, resignation, and when a player leaves."""
    match = begun(fresh())
    for seat in range(8):
        match.play(seat, SUBMIT)
    match.play(8, {"type": "resign"})
    assert match.state.top.kind == "orders"
    match.leave(9)
    assert match.state.top.kind == "resolving"
    assert match.state.status[9] == "active"
    match.resolve()
    assert 9 not in match.state.top.owing
    assert 8 not in match.state.top.asked
    match.join(9, "new")
    match.play(9, {"type": "reopen_orders"})
    assert 9 in match.state.top.owing


def test_a_seat_that_is_left_is_dormant_by_option() -> None:
    """EGC-1.1, EGC-4.8: and in turn zero takes the default."""
    match = fresh(allow_vacant_seats=True)
    match.leave(2)
    assert match.state.status[2] == "dormant"
    plain = fresh()
    plain.leave(2)
    assert plain.state.status[2] == "active"
    assert plain.state.sheets[2].allocation == dict(ALLOCATION)


def test_the_director_resigns_for_an_absent_player() -> None:
    """EGC-4.9."""
    match = fresh()
    match.play(5, {"type": "resign"}, director=True)
    assert match.state.status[5] == "dormant"
    assert 5 not in match.state.top.owing


def test_emptied_sheet_controls_no_sea_by_port_not_built() -> None:
    """EGC-4.6, EGC-6.3: what the seat sees of its seas goes back with the sheet."""
    game = position(owners={"morocco": 3})
    before = game.sight(3)["projection"]["controlled"]
    game.file(3, {"type": "build", "territory": "morocco", "infrastructure": "port"})
    assert "east_atlantic" in game.sight(3)["projection"]["controlled"]
    game.file(3, {"type": "resign"})
    assert game.sight(3)["projection"]["controlled"] == before


def test_a_dormant_empire_does_not_reopen_its_sheet() -> None:
    """EGC-4.5, EGC-4.6: also where it had submitted before; nor does a seat whose player has left."""
    game = position()
    game.file(3, SUBMIT, {"type": "resign"})
    assert list(game.state.top.done) == [3]
    assert list(game.decision.may) == []
    game.refused(3, {"type": "reopen_orders"}, "already_answered")
    game.file(4, SUBMIT)
    assert list(game.decision.may) == [4]
    game.match.leave(4)
    assert list(game.decision.may) == []
