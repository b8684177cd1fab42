"""Attendance is counted by decisions: a seat that moves freely and then lets the deadline pass has missed one."""

from __future__ import annotations

from domain.kernel.game.in_memory_game import InMemoryGame
from domain.tournaments.attendance import count_lapses, count_shares, list_decisions
from tests.kernel.flows.orders import RULESET

ORDER = {"type": "order", "to": "t01", "units": 1}


def test_free_moves_hide_no_missed_deadline() -> None:
    match = InMemoryGame(RULESET, 3, bytes(32))
    for _ in range(3):
        match.play(0, ORDER)
    match.lapse()
    found = list_decisions(match.records)
    people = [[f"p{seat}"] for seat in range(3)]
    assert count_shares(found, people)[0] == (0, 1)
    assert count_lapses(found, 3)[0] == 1


def test_what_was_undone_does_not_count() -> None:
    match = InMemoryGame(RULESET, 3, bytes(32))
    before = match.game.version
    match.play(0, ORDER)
    match.rewind(before)
    assert [each for each in list_decisions(match.records) if each.seat == 0] == []
    match.play(0, ORDER)
    assert [each.player for each in list_decisions(match.records) if each.seat == 0] == ["p0"]
