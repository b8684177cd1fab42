"""SOE-6: alliances and turn order."""

from __future__ import annotations

from domain.types import Json, Seat
from tests.games.struggle_of_empires.board import TEN, asked, empire, move, position
from tests.spec import Given


def bid(amount: int, a: Seat | None, b: Seat | None) -> dict[str, Json]:
    return move("bid", amount=amount, a=a, b=b)


def everybody_passes(game: Given, seats: int) -> None:
    """All but the standing bidder pass, one after the other."""
    for _ in range(seats - 1):
        game.when(asked(game)[1], move("pass_bid"))


def test_an_auction_aligns_two_seats() -> None:
    """SOE-6.1: one seat joins grey, one white."""
    game = position(4, turn=None)
    assert game.state.unaligned() == [0, 1, 2, 3]
    game.when(0, bid(0, 3, 1))
    everybody_passes(game, 4)
    assert game.at("/alliances") == {"grey": [3], "white": [1]}


def test_the_winner_of_the_last_auction_places_the_odd_seat() -> None:
    """SOE-6.1: the one remaining seat joins the alliance named by the winner."""
    for a, b, row in ((1, None, "grey"), (None, 1, "white")):
        game = position(3, turn=None, alliances={"grey": [0], "white": [2]}, auction={"opener": 1, "passes": 0})
        game.when(0, bid(0, a, b))
        everybody_passes(game, 3)
        assert game.at(f"/alliances/{row}")[-1] == 1


def test_first_player_opens_then_always_seat_to_left_of_opener() -> None:
    """SOE-6.2: not of the winner; aligned seats bid and open like all others."""
    game = position(5, turn=None, first_player=0)
    game.when(0, bid(0, 1, 2))
    game.when(1, move("pass_bid"))
    game.when(2, bid(1, 1, 2))
    everybody_passes(game, 5)
    assert game.at("/alliances") == {"grey": [1], "white": [2]}
    assert asked(game) == ("auction_bid", 1)
    game.when(1, bid(0, 0, 3))
    everybody_passes(game, 5)
    assert asked(game) == ("auction_bid", 2)


def test_later_wars_are_opened_by_seat_last_in_turn_order() -> None:
    """SOE-6.2: the seat that was last in the turn order of the War before."""
    game = position(3, turn=1, grey=[0, 1], round=6, to_play=[])
    assert game.at("/turn_order") == [0, 2, 1]
    game.when(1, move("pass"), draws=TEN)
    assert asked(game) == ("auction_bid", 1)


def test_bids_rise_and_go_round_and_a_passed_seat_may_bid_again() -> None:
    """SOE-6.3: clockwise, each bid above the last, the proposal kept or changed."""
    game = position(3, turn=None)
    game.when(0, bid(0, 0, 1))
    game.when(1, move("pass_bid"))
    game.refused(2, bid(0, 0, 1), "bid_too_low", "SOE-6.3")
    game.when(2, bid(3, 2, 0))
    game.when(0, move("pass_bid"))
    game.when(1, bid(4, 2, 0))
    assert game.at("/auction/standing") == {"seat": 1, "amount": 4, "a": 2, "b": 0}


def test_the_bidder_need_not_be_one_of_the_two() -> None:
    """SOE-6.3: two different unaligned seats, whoever bids."""
    game = position(4, turn=None)
    game.when(0, bid(5, 2, 3))
    assert asked(game) == ("auction_bid", 1)


def test_the_opener_must_bid_but_may_bid_nothing() -> None:
    """SOE-6.4: no pass while there is no bid; at most 99; the amount need not be owned."""
    game = position(3, turn=None)
    game.refused(0, move("pass_bid"), "must_open_bid", "SOE-6.4")
    game.refused(0, bid(100, 0, 1), "bid_too_high", "SOE-6.4")
    game.when(0, bid(99, 0, 1))
    assert empire(game, 0)["gold"] == 10


def test_the_winner_pays_when_all_others_have_passed() -> None:
    """SOE-6.5, SOE-14.2: n-1 passes after a bid; the bid goes to the bank, with a loan if need be."""
    game = position(3, turn=None)
    game.when(0, bid(12, 0, 1))
    game.when(1, move("pass_bid"))
    assert empire(game, 0)["gold"] == 10
    game.when(2, move("pass_bid"))
    assert (empire(game, 0)["gold"], game.state.unrest[0]) == (0, 1)
    assert game.at("/alliances") == {"grey": [0], "white": [1]}


def test_the_turn_order_alternates_between_the_rows() -> None:
    """SOE-6.6: grey 1, white 1, grey 2, white 2, ...; an odd last seat acts last."""
    game = position(5, turn=None)
    for a, b in ((3, 1), (0, 4), (None, 2)):
        game.when(asked(game)[1], bid(0, a, b))
        everybody_passes(game, 5)
    assert game.at("/turn_order") == [3, 1, 0, 4, 2]
    assert asked(game) == ("turn", 3)


def test_the_turn_order_stays_in_every_round() -> None:
    """SOE-6.6: the same in all rounds of the War."""
    game = position(3, turn=1, to_play=[])
    order = game.at("/turn_order")
    game.when(1, move("pass"))
    assert (game.at("/round"), game.at("/turn_order")) == (2, order)
    assert asked(game) == ("turn", order[0])


def test_what_cannot_be_bid() -> None:
    """SOE-6.7: the errors, in their order."""
    row = {"grey": [0], "white": [2]}
    game = position(5, turn=None, alliances=row, auction={"opener": 0, "passes": 0})
    game.refused(0, bid(-1, 0, 0), "bid_too_low", "SOE-6.3")
    game.refused(0, bid(100, 0, 0), "bid_too_high", "SOE-6.4")
    for a, b in ((9, 1), (0, 1), (1, 1), (1, None), (None, None)):
        game.refused(0, bid(1, a, b), "invalid_proposal", "SOE-6.3")
    game = position(3, turn=None, alliances=row, auction={"opener": 0, "passes": 0})
    for a, b in ((1, 1), (None, None), (1, 0), (None, 0)):
        game.refused(0, bid(1, a, b), "invalid_proposal", "SOE-6.3")
