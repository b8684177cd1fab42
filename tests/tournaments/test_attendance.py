"""Attendance is counted by decisions: a seat that moves freely and then lets the deadline pass has missed one."""

from __future__ import annotations

from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record
from domain.tournaments.attendance import (
    SeatDecision,
    count_lapses,
    count_shares,
    find_adopted_seats,
    find_unheld_seats,
    list_decisions,
)
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


def test_a_seat_is_held_by_two_thirds_of_its_decisions() -> None:
    def seat(number: int, *players: str) -> list[SeatDecision]:
        return [SeatDecision(version, number, player, not player) for version, player in enumerate(players, 1)]

    found = [*seat(0, "a", "a", ""), *seat(1, "b", "", ""), *seat(2, "c", "d", "d", "c"), *seat(3, "e", "f", "f")]
    assert find_unheld_seats(found) == {1, 2}


def test_a_seat_taken_over_after_the_start_is_adopted() -> None:
    match = InMemoryGame(RULESET, 3, bytes(32))
    assert find_adopted_seats(match.records) == frozenset()
    joined = next(record for record in match.records if record.kind == "joined" and record.head.seat == 1)
    later = Record({**joined.public, "body": {**joined.body, "player": "x"}}, {})
    assert find_adopted_seats([*match.records, later]) == {1}
    assert find_adopted_seats([*match.records, joined]) == frozenset()
