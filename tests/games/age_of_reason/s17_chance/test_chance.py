"""AOR-17: randomness and facts."""

from __future__ import annotations

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import MARKERS
from domain.kernel.records.audience import ALL_KEY
from domain.types import Doc
from tests.games.age_of_reason.board import TEN, attack, bid, commit, facts_of, hire, last_turn, move, position
from tests.spec import Given

HERE = {"central_europe": 1}


def labels(game: Given) -> list[str]:
    """What was drawn in the last record."""
    return [draw[1] for draw in game.match.records[-1].public.get("draws", ())]


def test_the_draws_in_their_order() -> None:
    """AOR-17.1: first player, powers, markers of seven powers, ten markers, coalitions."""
    options = {"power_assignment": "random", "first_alliances": "random"}
    game = Given(RULESET, 3, options=options)
    drawn = ["first_player"] + ["power"] * 3 + ["marker"] * 45 + ["coalition"] * 2 + ["coalition"] * 3
    assert labels(game) == drawn
    game = last_turn(empires={0: {"unrest": 3, "vp": 8}, 1: {"unrest": 7, "vp": 9}})
    game.when(1, move("pass"), draws=[3, 6, 1, *TEN, 0])
    assert labels(game) == ["unrest"] * 3 + ["marker"] * 10 + ["opener"]


def test_battle_draws_two_dice_a_side_and_second_roll_two() -> None:
    """AOR-17.1."""
    game = position(2, tokens={"prussia": HERE, "austria": HERE}, spaces={"reserves": [1]})
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    game.when(1, commit("austria_bluff"), draws=[1, 1, 1, 1])
    assert labels(game) == ["battle.attacker"] * 2 + ["battle.defender"] * 2
    game.when(1, move("reserves", use=True), draws=[1, 2])
    assert labels(game) == ["battle.defender"] * 2


def test_drawn_values_stand_in_the_facts() -> None:
    """AOR-17.2: one value at a time from the candidates left; the last ten markers are drawn too."""
    game = last_turn(2, gone=list(MARKERS)[:55])
    game.when(1, move("pass"), draws=[*list(MARKERS)[:54:-1], 0])
    record = game.match.records[-1].public
    drawn = [draw for draw in record["draws"] if draw[1] == "marker"]
    assert [draw[2] for draw in drawn] == list(range(10, 0, -1))
    assert facts_of(record["facts"], "markers_drawn")[0]["markers"] == [draw[3] for draw in drawn]
    assert game.state.bag == ()


def test_facts_and_their_audiences() -> None:
    """AOR-17.3: all are public but those of hands and sealed answers."""
    seen: dict[str, set[str]] = {}
    game = position(
        5,
        tokens=dict.fromkeys(("prussia", "austria", "spain"), HERE),
        discards={0: ["prussia_4s0n"]},
        markers=["ca_cuba"],
    )
    game.when(0, move("place", space="militia", card="prussia_4s0n"))
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    game.when(1, commit("austria_bluff"))
    game.when(0, hire(), draws=[1, 1, 1, 1])
    for record in game.match.records:
        for pack in record.packs.values():
            for _, fact in pack.get("facts", ()):
                seen.setdefault("hidden", set()).add(fact["t"])
        seen.setdefault(ALL_KEY, set()).update(fact["t"] for fact in record.public.get("facts", ()))
    assert seen["hidden"] == {"card_taken_back", "card_sealed", "hire_sealed"}
    assert not seen["hidden"] & seen[ALL_KEY]


def barred(game: Given, seat: int, act: Doc, *draws: object) -> bool:
    """Whether the move's record is a barrier."""
    game.when(seat, act, draws=draws)
    return bool(game.match.records[-1].public.get("barrier"))


def test_barriers_for_undo() -> None:
    """AOR-17.4: what draws or shows is one, a bid, a placement or a sealed answer is none."""
    tokens = dict.fromkeys(("prussia", "austria", "france", "spain"), HERE)
    game = position(5, tokens=tokens, markers=["ca_cuba"], discards={0: ["prussia_4s0n"]}, spaces={"reserves": [0]})
    assert not barred(game, 0, move("place", space="finance"))
    assert barred(game, 0, attack("central_europe", "austria", "prussia_bluff"))
    assert not barred(game, 2, commit("france_alliance"))
    assert not barred(game, 2, move("take_back"))
    assert not barred(game, 2, commit(None))
    assert barred(game, 1, commit("austria_bluff"))
    assert barred(game, 0, hire(), 1, 1, 1, 1)
    assert barred(game, 0, move("reserves", use=False))
    game = position(2, markers=["ca_cuba"], discards={0: ["prussia_4s0n"]})
    assert barred(game, 0, move("place", space="militia", card="prussia_4s0n"))
    assert barred(game, 0, move("convert", marker="ca_cuba", card="prussia_0s1n"))
    assert not barred(game, 1, move("pass"))
    assert barred(last_turn(), 1, move("pass"), *TEN, 0)
    game = position(2, turn=None)
    assert not barred(game, 0, bid(0, "spain", "russia"))
    assert not barred(game, 1, move("pass_bid"))
