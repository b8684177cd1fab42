"""AOR-18: time-outs."""

from __future__ import annotations

from domain.games.age_of_reason import ANSWERS, RULESET, TURNS
from domain.games.age_of_reason.data import DOC
from domain.types import Json
from tests.games.age_of_reason.board import asked, attack, bid, commit, move, position
from tests.games.age_of_reason.s03_setup.test_setup import DRAWN, LAID
from tests.games.age_of_reason.s06_coalitions.test_coalitions import PAIRS
from tests.spec import Given

HERE = {"central_europe": 1}
TOKENS = dict.fromkeys(("prussia", "austria", "france", "russia", "spain"), HERE)


def lapse(game: Given, *draws: Json) -> list[Json]:
    """The deadline passes; returns the moves that were played, with their seats."""
    game.deadline(draws)
    record = game.match.records[-1]
    return [[seat, act] for seat, act in record.moves()]


def test_a_power_is_the_first_free_one() -> None:
    """AOR-18.1: in the order of the data."""
    game = Given(RULESET, 2, draws=[0])
    assert lapse(game) == [[0, move("choose_power", power="britain")]]
    assert lapse(game, *DRAWN, *LAID) == [[1, move("choose_power", power="france")]]


def test_an_auction_is_opened_with_nothing_and_later_passed() -> None:
    """AOR-18.1: the first two unaligned powers; a single one as a."""
    game = position(4, turn=None)
    assert lapse(game) == [[0, bid(0, "britain", "france")]]
    assert lapse(game) == [[1, move("pass_bid")]]
    six = {str(i + 1): power for i, power in enumerate(p for pair in PAIRS[:3] for p in pair if p)}
    assert lapse(position(4, turn=None, slots=six)) == [[0, bid(0, "united_provinces", None)]]


def test_turns_are_passed_and_reserves_refused() -> None:
    """AOR-18.1."""
    game = position(2, tokens={"prussia": HERE, "austria": HERE}, spaces={"reserves": [1]})
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    assert lapse(game, 1, 1, 1, 1) == [[1, commit("austria_bluff")]]
    assert lapse(game) == [[1, move("reserves", use=False)]]
    assert asked(game) == ("turn", (1,))
    assert lapse(game) == [[1, move("pass")]]


def test_the_defaults_of_all_who_owe_are_filled_in_at_once() -> None:
    """AOR-18.2, AOR-18.1: ascending by seat, in a record of the clock, which is public; nobody is hired."""
    game = position(5, tokens=TOKENS)
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    game.when(2, commit("france_alliance"))
    assert lapse(game) == [[1, commit("austria_bluff")], [4, commit(None)]]
    record = game.match.records[-1]
    assert (record.kind, record.public["by"]) == ("lapsed", "clock")
    assert game.sight("public")["battle"]["laid"] == [2]
    assert lapse(game, 1, 1, 1, 1) == [[0, move("hire", powers=[])]]


def test_every_decision_has_a_default_and_a_clock() -> None:
    """AOR-18.1: by kind of decision; two deadline classes in two paces."""
    kinds = {*TURNS, *ANSWERS}
    parts = {"auction_bid_opening", "commit_defender", "commit_ally"}
    assert set(DOC["timeouts"]["defaults"]) == kinds - {"commit"} | parts
    assert set(RULESET.meta.clocks) == kinds
    for pace in ("live", "correspondence"):
        assert set(RULESET.meta.paces[pace]) == {"move", "answer"}


def test_a_seat_that_was_left_is_played_by_defaults() -> None:
    """AOR-18.3: there is no resignation; the seat is scored normally and is asked like all others."""
    game = position(5, tokens=TOKENS, empires={2: {"vp": 9}})
    game.match.leave(2)
    game.refused(0, move("resign"), "unknown_move")
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    assert asked(game) == ("commit", (1, 2, 4))
    game.match.lapse(seats=[2])
    assert game.decision.done == (2,)
    assert RULESET.scores(game.state)[2].points == 9


def test_an_answer_stays_though_its_player_leaves() -> None:
    """AOR-18.3: only what a seat still owes falls to the defaults."""
    game = position(5, tokens=TOKENS)
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    game.when(2, commit("france_alliance"))
    game.match.leave(2)
    assert asked(game) == ("commit", (1, 4))
    game.when(4, commit(None))
    game.when(1, commit("austria_2s0n_a"))
    assert game.sight("public")["battle"]["laid"] == [2]
