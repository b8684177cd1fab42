"""What games share."""

from __future__ import annotations

import pytest

from domain.games.common.counts import plus
from domain.games.common.dice import difference
from domain.games.common.loans import loan
from domain.games.common.majority import majority
from domain.games.common.ranking import groups, places
from domain.games.common.seats import clockwise, put
from domain.games.common.shapes import Either
from domain.ids import Json
from domain.kernel.shapes import Int, Word


def test_a_seat_gets_another_value() -> None:
    """The other seats keep theirs."""
    assert put((1, 2, 3), 0, 9) == (9, 2, 3)
    assert put((1, 2, 3), 2, 9) == (1, 2, 9)


def test_seats_come_clockwise() -> None:
    """To the left is the next higher number."""
    assert clockwise(2, 4) == [2, 3, 0, 1]


def test_counts_of_nothing_are_not_named() -> None:
    """And the counts before are not changed."""
    before = {"a": 1}
    assert plus(before, "a", -1) == {}
    assert plus(before, "b", 2) == {"a": 1, "b": 2}
    assert before == {"a": 1}


def test_equal_values_form_a_group() -> None:
    """The highest first."""
    assert groups({2: 5, 0: 3, 1: 5}) == [[1, 2], [0]]
    assert groups({}) == []


def test_shared_places_use_up_those_below() -> None:
    """Keys may be tuples with tie-breaks."""
    assert places([(5, 1), (7, 0), (5, 1), (5, 0)]) == [2, 1, 2, 4]


@pytest.mark.parametrize(("value", "fits"), [("random", True), (3, True), (7, False), ("drawn", False), (True, False)])
def test_a_value_fits_either_shape(value: Json, fits: bool) -> None:
    """The fault names the place and both shapes."""
    fault = Either(Word(("random",)), Int(0, 6)).fault(value, "/first")
    assert (fault is None) is fits
    if fault:
        assert fault[0] == "/first"
        assert fault[1].endswith(", or an integer from 0 to 6")


def test_its_schema_offers_both() -> None:
    """JSON Schema `anyOf`."""
    schema = Either(Word(("random",)), Int(0, 6)).schema()
    assert [s["type"] for s in schema["anyOf"]] == ["string", "integer"]


def test_a_majority_is_ranked_densely() -> None:
    """Equals share a value and do not use up the next; who is behind all values gets nothing."""
    assert majority({"a": 3, "b": 2, "c": 2, "d": 1}, (8, 5, 3)) == {"a": 8, "b": 5, "c": 5, "d": 3}
    assert majority({"a": 2, "b": 1, "c": 1}, (3,)) == {"a": 3}
    assert majority({}, (8, 5)) == {}


def test_a_loan_is_never_more_than_needed() -> None:
    """Whole points, so that at most one gold is left over at a rate of two."""
    assert [loan(have, 5, 2) for have in (9, 5, 4, 3, 0)] == [(0, 0), (0, 0), (2, 1), (2, 1), (6, 3)]
    assert loan(0, 7, 3) == (9, 3)


def test_the_difference_of_dice_knows_no_order() -> None:
    """Equal dice have none."""
    assert [difference(dice) for dice in ((6, 2), (2, 6), (3, 3))] == [4, 4, 0]
