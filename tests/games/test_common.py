"""What games share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from domain.errors import RuleError
from domain.games.common import auction, bag, powers
from domain.games.common.counts import add_count
from domain.games.common.dice import spread
from domain.games.common.loans import loan
from domain.games.common.majority import majority
from domain.games.common.ranking import groups, places
from domain.games.common.seats import clockwise, replace_at
from domain.games.common.validators import Either
from domain.kernel.rules.choices import replay_picks
from domain.kernel.rules.draws import Draws, Scripted
from domain.kernel.schema.validators import IntegerRange, Word
from domain.types import Json


def test_a_seat_gets_another_value() -> None:
    """The other seats keep theirs."""
    assert replace_at((1, 2, 3), 0, 9) == (9, 2, 3)
    assert replace_at((1, 2, 3), 2, 9) == (1, 2, 9)


def test_seats_come_clockwise() -> None:
    """To the left is the next higher number."""
    assert clockwise(2, 4) == [2, 3, 0, 1]


def test_counts_of_nothing_are_not_named() -> None:
    """And the counts before are not changed."""
    before = {"a": 1}
    assert add_count(before, "a", -1) == {}
    assert add_count(before, "b", 2) == {"a": 1, "b": 2}
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
    fault = Either(Word(("random",)), IntegerRange(0, 6)).find_error(value, "/first")
    assert (fault is None) is fits
    if fault:
        assert fault[0] == "/first"
        assert fault[1].endswith(", or an integer from 0 to 6")


def test_its_schema_offers_both() -> None:
    """JSON Schema `anyOf`."""
    schema = Either(Word(("random",)), IntegerRange(0, 6)).schema()
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
    assert [spread(dice) for dice in ((6, 2), (2, 6), (3, 3))] == [4, 4, 0]


# --- auctions, bags, powers ------------------------------------------------------------------------------------

RULES = auction.RuleNumbers(bid="X-1", limit="X-2")


@dataclass(frozen=True)
class Bid:
    """A bid for seats."""

    amount: int
    a: int | None = None
    b: int | None = None


@pytest.mark.parametrize(
    ("bid", "code"),
    [
        (Bid(3, 1, 2), "bid_too_low"),
        (Bid(10, 1, 2), "bid_too_high"),
        (Bid(4, 1, 1), "invalid_proposal"),
        (Bid(4, 1), "invalid_proposal"),
        (Bid(4, 0, 1), "invalid_proposal"),
        (Bid(3, 0, 0), "bid_too_low"),
        (Bid(4, 2, 1), None),
        (Bid(9, 1, 3), None),
    ],
)
def test_bid_is_higher_than_the_last_and_names_two_who_are_free(bid: Bid, code: str | None) -> None:
    """The refusal has the number of the game's own rule."""

    def check() -> None:
        auction.check_bid(RULES, Bid(3, 1, 2), 9, [1, 2, 3], bid)

    if code is None:
        check()
    else:
        with pytest.raises(RuleError, match=code) as caught:
            check()
        assert caught.value.rule == ("X-2" if code == "bid_too_high" else "X-1")


@pytest.mark.parametrize(("a", "b", "fits"), [(7, None, True), (None, 7, True), (None, None, False), (7, 7, False)])
def test_the_last_one_comes_alone(a: int | None, b: int | None, fits: bool) -> None:
    """To either side."""
    assert auction.is_valid_proposal([7], a, b) is fits


def test_who_opens_and_when_an_auction_is_won() -> None:
    """Openers go round the table; n - 1 passes after a bid end it; without a bid nobody may pass."""
    assert [auction.opener(2, number, 3) for number in range(4)] == [2, 0, 1, 2]
    assert [auction.is_won(passes, 3) for passes in range(3)] == [False, False, True]
    auction.check_pass(RULES, Bid(0))
    with pytest.raises(RuleError, match="must_open_bid"):
        auction.check_pass(RULES, None)


@pytest.mark.parametrize(
    ("standing", "free", "picks", "found"),
    [
        (Bid(3), [1, 2, 3], ["pass_bid"], None),
        (Bid(3), [1, 2, 3], ["bid", 4, 2, 3], (4, 2, 3)),
        (None, [7], ["bid", 0, None, 7], (0, None, 7)),
        (None, [7], ["bid", 9, 7, None], (9, 7, None)),
        (None, [1, 2], ["pass_bid"], "type"),
        (Bid(9), [1, 2], ["bid"], "type"),
        (Bid(3), [1, 2], ["bid", 3], "amount"),
        (Bid(3), [1, 2], ["bid", 4, 1, 1], "b"),
    ],
)
def test_the_builder_asks_for_amount_and_proposal(
    standing: Bid | None, free: list[int], picks: list[Json], found: Json
) -> None:
    """A bid or a pass where it is legal, or the question at which a pick is not offered."""
    builder: Any = auction.ask_bid(free, standing, 9)
    if isinstance(found, str):
        with pytest.raises(RuleError, match="not_offered") as caught:
            replay_picks(builder, picks)
        assert caught.value.detail["field"] == found
    else:
        assert replay_picks(builder, picks)[1] == found


def test_what_is_drawn_from_a_bag_stays_out() -> None:
    """Each draw is made, even of the last thing."""
    draws = Draws(Scripted(["b", "a"]))
    assert bag.draw(draws, "marker", ("a", "b"), 2) == ["b", "a"]
    assert len(draws.taken) == 2


def test_a_power_has_one_seat() -> None:
    """Those without one are free, in their order."""
    assert powers.free_powers(("x", "y", "z"), ["y", None]) == ["x", "z"]
    powers.check_choice("X-3", "x", ("x", "y"), ["y", None])
    for power, code in (("w", "unknown_power"), ("y", "power_taken")):
        with pytest.raises(RuleError, match=code):
            powers.check_choice("X-3", power, ("x", "y"), ["y", None])
