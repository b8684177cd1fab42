"""AOR-6: coalitions and turn order."""

from __future__ import annotations

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import POWERS
from domain.kernel.rules.choices import Choice
from tests.games.age_of_reason.board import (
    TEN,
    asked,
    bid,
    empire,
    facts_of,
    figures,
    last_turn,
    move,
    offers,
    position,
)
from tests.games.age_of_reason.s03_setup.test_setup import DRAWN, LAID
from tests.spec import Given

PAIRS = [("britain", "france"), ("spain", "russia"), ("austria", "prussia"), (None, "united_provinces")]


def everybody_passes(game: Given) -> None:
    """All but the standing bidder pass, one after the other."""
    for _ in range(game.state.seats - 1):
        game.when(asked(game)[1][0], move("pass_bid"))


def auction(game: Given, a: str | None, b: str | None) -> int:
    """The opener bids 0 and wins; returns who that was."""
    opener = asked(game)[1][0]
    game.when(opener, bid(0, a, b))
    everybody_passes(game)
    return opener


def test_odd_slots_are_upper_and_even_ones_lower() -> None:
    """AOR-6.1: all are empty at the start of the phase."""
    game = position(3, turn=None)
    assert game.state.unaligned() == list(POWERS)
    auction(game, "spain", "prussia")
    auction(game, "russia", "austria")
    assert game.at("/slots") == {"1": "spain", "2": "prussia", "3": "russia", "4": "austria"}
    assert game.sight("public")["coalitions"] == {"upper": ["spain", "russia"], "lower": ["prussia", "austria"]}


def test_four_auctions_align_seven_powers() -> None:
    """AOR-6.2: the last one places the seventh alone, in the coalition that its winner names."""
    for last in (("united_provinces", None), (None, "united_provinces")):
        game = position(3, turn=None)
        for pair in (*PAIRS[:3], last):
            assert asked(game)[0] == "auction_bid"
            auction(game, *pair)
        assert asked(game)[0] == "turn"
        assert game.at("/slots")["8" if last[0] is None else "7"] == "united_provinces"


def test_each_auction_is_opened_by_seat_to_left_of_the_opener() -> None:
    """AOR-6.3: not of the winner; the first player opens the first one."""
    game = position(3, turn=None)
    game.when(0, bid(0, *PAIRS[0]))
    game.when(1, bid(1, *PAIRS[0]))
    everybody_passes(game)
    assert asked(game) == ("auction_bid", (1,))
    assert [auction(game, *pair) for pair in PAIRS[1:]] == [1, 2, 0]


def test_the_seat_with_the_fewest_points_opens_later_game_turns() -> None:
    """AOR-6.3: drawn among equals, and only then."""
    game = last_turn(empires={0: {"vp": 5}, 1: {"vp": 3}})
    game.when(1, move("pass"), draws=TEN)
    assert (game.state.opener, asked(game)) == (1, ("auction_bid", (1,)))
    game = last_turn(empires={0: {"vp": 3}, 1: {"vp": 3}})
    game.when(1, move("pass"), draws=[*TEN, 1])
    assert game.state.opener == 1


def test_bids_rise_and_a_passed_seat_may_bid_again() -> None:
    """AOR-6.4: clockwise, each bid above the last, the proposal kept or changed; any powers, any seat."""
    game = position(3, turn=None)
    game.when(0, bid(0, "spain", "russia"))
    game.when(1, move("pass_bid"))
    game.refused(2, bid(0, "spain", "russia"), "bid_too_low", "AOR-6.4")
    game.when(2, bid(3, "prussia", "spain"))
    game.when(0, move("pass_bid"))
    game.when(1, bid(4, "prussia", "spain"))
    assert game.at("/auction") == {
        "number": 1,
        "opener": 0,
        "standing": {"seat": 1, "amount": 4, "a": "prussia", "b": "spain"},
        "passes": 0,
    }
    game.refused(2, move("bid", amount=5, a="prussia"), "malformed_move")


def test_opener_must_bid_and_nobody_bids_beyond_99_or_his_means() -> None:
    """AOR-6.5, AOR-15.3: gold and what loans could bring."""
    game = position(2, turn=None, empires={0: {"gold": 3, "unrest": 20}, 1: {"gold": 200}})
    game.refused(0, move("pass_bid"), "must_open_bid", "AOR-6.5")
    assert offers(game, 0) == ["bid"]
    game.refused(0, bid(8, "spain", "russia"), "insufficient_funds", "AOR-15.3")
    amount = game.offered(0, "bid")
    assert isinstance(amount, Choice)
    assert (amount.lo, amount.hi) == (0, 7)
    game.when(0, bid(7, "spain", "russia"))
    game.refused(1, bid(100, "spain", "russia"), "bid_too_high", "AOR-6.5")
    game.when(1, bid(99, "spain", "russia"))
    assert offers(game, 0) == ["pass_bid"]


def test_the_winner_pays_when_all_others_have_passed() -> None:
    """AOR-6.6, AOR-15.2: with a loan if need be; the powers take the lowest free slots."""
    game = position(3, turn=None)
    game.when(0, bid(13, "spain", "russia"))
    game.when(1, move("pass_bid"))
    assert empire(game, 0)["gold"] == 10
    game.when(2, move("pass_bid"))
    assert figures(game, 0) == (1, 2, 0)
    assert game.at("/slots") == {"1": "spain", "2": "russia"}


def test_the_turn_order_follows_the_slots() -> None:
    """AOR-6.7: powers without a seat are skipped; the same in every round."""
    game = position(3, turn=None)
    for pair in [("spain", "france"), ("prussia", "russia"), ("austria", "britain"), ("united_provinces", None)]:
        auction(game, *pair)
    assert game.at("/turn_order") == [2, 0, 1]
    for _ in range(6):
        for seat in (2, 0, 1):
            assert asked(game) == ("turn", (seat,))
            if (game.state.round, seat) != (6, 1):
                game.when(seat, move("pass"))


def test_what_cannot_be_bid() -> None:
    """AOR-6.8: the errors, in their order."""
    game = position(5, turn=None, slots={"1": "spain", "2": "russia"}, empires={0: {"gold": 0, "unrest": 22}})
    game.refused(0, bid(-1, "spain", None), "bid_too_low", "AOR-6.4")
    game.refused(0, bid(100, "spain", None), "bid_too_high", "AOR-6.5")
    for a, b in (("poland", "france"), ("spain", "france"), ("france", "france"), ("france", None), (None, None)):
        game.refused(0, bid(1, a, b), "invalid_proposal", "AOR-6.4")
    game.refused(0, bid(1, "france", "britain"), "insufficient_funds", "AOR-15.3")
    six = {str(i + 1): power for i, power in enumerate(POWERS[:6])}
    game = position(5, turn=None, slots=six)
    for a, b in (("united_provinces", "united_provinces"), (None, None), ("united_provinces", "spain")):
        game.refused(0, bid(1, a, b), "invalid_proposal", "AOR-6.4")
    assert offers(game, 0, "bid", 1) == ["united_provinces", None]
    assert offers(game, 0, "bid", 1, None) == ["united_provinces"]


def test_the_first_coalitions_can_be_drawn() -> None:
    """AOR-6.9: the seats' powers first, then the others; seven slots, no bid, no payment."""
    options = {"power_assignment": "fixed", "powers": ["spain", "russia"], "first_player": 0}
    options["first_alliances"] = "random"
    drawn = ["russia", "austria", "britain", "prussia", "france"]
    game = Given(RULESET, 2, options=options, draws=[*DRAWN, *LAID, drawn[0], *drawn[1:]])
    shown = game.sight("public")
    assert shown["coalitions"]["upper"] == ["russia", "austria", "prussia", "united_provinces"]
    assert shown["coalitions"]["lower"] == ["spain", "britain", "france"]
    assert (shown["slots"]["8"], shown["opener"], asked(game)) == (None, None, ("turn", (1,)))
    assert not facts_of(game.match.records[-1].public["facts"], "gold_paid")


def test_the_example_of_an_order() -> None:
    """AOR-6.10: slots 1 to 7 act in this order."""
    game = position(7, turn=None)
    for pair in [("prussia", "britain"), ("russia", "spain"), ("austria", "united_provinces"), ("france", None)]:
        auction(game, *pair)
    acting = ["prussia", "britain", "russia", "spain", "austria", "united_provinces", "france"]
    assert [game.state.power(seat) for seat in game.state.turn_order] == acting
    assert game.state.members("upper") == ["prussia", "russia", "austria", "france"]
