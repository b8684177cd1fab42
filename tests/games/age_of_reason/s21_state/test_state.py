"""AOR-21: the state and its invariants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import DECKS
from domain.games.age_of_reason.state import AgeOfReason, Sealed
from domain.kernel.rules.choices import Choice
from domain.kernel.schema.json_codec import from_json, merge_patch, to_json
from domain.types import Json
from tests.games.age_of_reason.board import attack, bid, commit, last_turn, move, position

HERE = {"central_europe": 1}


def test_the_sight_has_the_names_of_the_page() -> None:
    """AOR-21.1: a seat's part, other powers, the display, the action board."""
    tokens = {"prussia": {"baltic": 2}, "spain": {"india": 1}}
    shown = position(2, tokens=tokens, spaces={"finance": [0]}, markers=["ce_poland"]).sight("public")
    assert shown["empires"][0] == {
        "seat": 0,
        "power": "prussia",
        "gold": 10,
        "vp": 0,
        "unrest": 0,
        "tokens": {"baltic": 2},
        "action_tokens": ["finance"],
        "reserve": 19,
        "hand_size": 11,
        "discard_size": 0,
    }
    assert (shown["npp"], shown["markers"]) == ({"spain": {"india": 1}}, {"central_europe": ["ce_poland"]})
    assert (shown["slots"]["7"], shown["slots"]["8"]) == ("russia", None)
    assert (shown["action_board"]["finance"], shown["action_board"]["reserves"]) == ([0], [])
    assert set(position(2).sight(0)) == {"hand", "discard", "sealed"}


@pytest.mark.parametrize(
    "change",
    [
        {"gold": -1},
        {"vp": -1},
        {"unrest": 23},
        {"unrest": -1},
        {"discard_size": 1},
        {"power": "austria"},
    ],
)
def test_a_broken_seat_is_noticed(change: dict[str, Any]) -> None:
    """AOR-21.2: gold, points, unrest, cards, powers."""
    s = position(2).state
    assert RULESET.check(s) == []
    assert RULESET.check(replace(s, empires=(replace(s.empires[0], **change), s.empires[1])))


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": {"prussia": {"baltic": 23}}},
        {"tokens": {"prussia": {"home_prussia": 1}}},
        {"tokens": {"prussia": {"baltic": 0}}},
        {"spaces": {"finance": (0, 1)}},
        {"spaces": {"finance": ()}},
        {"discards": (("prussia_bluff",), ())},
        {"discards": (("austria_1s0n",), ())},
        {"sealed": (Sealed("austria_1s0n"), None)},
        {"bag": ()},
        {"gone": ("gs_baden",)},
        {"slots": {"1": "spain", "2": "spain"}},
        {"slots": {"1": "spain"}},
        {"turn_order": (1, 0)},
    ],
)
def test_a_broken_table_is_noticed(change: dict[str, Any]) -> None:
    """AOR-21.2: tokens, places, cards, markers, the display."""
    assert RULESET.check(replace(position(2).state, **change))


def test_cards_lie_in_one_place() -> None:
    """AOR-21.2: hand, discard, sealed or on the table."""
    s = position(2, discards={0: ["prussia_4s0n"]}).state
    assert RULESET.check(replace(s, sealed=(Sealed("prussia_4s0n"), None)))
    assert len(s.hand(0)) + 1 == len(DECKS["prussia"])


def test_somebody_decides() -> None:
    """AOR-21.2: one seat, or those who answer at the same time."""
    s = position(2).state
    assert RULESET.check(replace(s, frames=s.frames[:1]))
    assert RULESET.check(replace(s, frames=(s.frames[0], replace(s.top, owing=(0, 1)))))


STRANGE: list[tuple[Json, str]] = [
    ({"tokens": {"poland": {}}}, "/tokens/poland"),
    ({"tokens": {"prussia": {"atlantis": 1}}}, "/tokens/prussia/atlantis"),
    ({"markers": {"atlantis": []}}, "/markers/atlantis"),
    ({"markers": {"baltic": ["ba_atlantis"]}}, "/markers/baltic/0"),
    ({"discards": {"0": ["prussia_9s9n"]}}, "/discards/0/0"),
    ({"sealed": {"0": {"card": "prussia_9s9n"}}}, "/sealed/0/card"),
    ({"sealed": {"0": {"powers": ["poland"]}}}, "/sealed/0/powers/0"),
    ({"slots": {"9": "spain"}}, "/slots/9"),
    ({"slots": {"1": "poland"}}, "/slots/1"),
    ({"spaces": {"harem": [0]}}, "/spaces/harem"),
    ({"spaces": {"finance": [7]}}, "/spaces/finance/0"),
    ({"turn_order": [7]}, "/turn_order/0"),
    ({"turn": {"seat": 7}}, "/turn/seat"),
    ({"turn": None}, "/turn"),
    ({"auction": {"number": 1, "opener": 7}}, "/auction/opener"),
    ({"auction": {"number": 1, "opener": 0, "standing": {"seat": 7, "amount": 1, "a": "poland"}}}, "/auction"),
    ({"battle": {"region": "atlantis", "attacker": 0}}, "/battle/region"),
    ({"battle": {"region": "india", "attacker": 0, "cards": {"0": "joker"}}}, "/battle/cards/0"),
    ({"battle": {"region": "india", "attacker": 0, "hired": {"attacker": ["poland"]}}}, "/battle/hired/attacker/0"),
    ({"battle": {"region": "india", "attacker": 0, "dice": {"north": [1, 1]}}}, "/battle/dice/north"),
]


@pytest.mark.parametrize(("patch", "at"), STRANGE, ids=lambda x: x if isinstance(x, str) else "")
def test_ids_that_game_does_not_have_are_told_with_their_place(patch: Json, at: str) -> None:
    """AOR-21.2: what only a patch can bring."""
    s = from_json(AgeOfReason, merge_patch(to_json(position(2).state), patch))
    assert any(line.startswith(at) for line in RULESET.check(s))


def test_what_follows_from_the_rest_fills_itself() -> None:
    """AOR-21.2: the bag, and the sizes of discards."""
    s = position(2, discards={0: ["prussia_4s0n"]}, markers=["gs_baden"]).state
    hollow = replace(s, bag=(), empires=tuple(replace(e, discard_size=0) for e in s.empires))
    assert RULESET.fill is not None
    assert RULESET.fill(hollow) == s


def test_bids_and_hirings_are_templates() -> None:
    """AOR-21.3: a bid's amount is a range, powers are some of those that can be hired."""
    amount = position(3, turn=None).offered(0, "bid")
    assert isinstance(amount, Choice)
    assert (amount.kind, amount.lo, amount.hi) == ("range", 0, 54)
    game = position(2, tokens=dict.fromkeys(("prussia", "austria", "spain", "britain"), HERE))
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    game.when(1, commit("austria_bluff"))
    powers = game.offered(0)
    assert isinstance(powers, Choice)
    assert (powers.kind, powers.lo, powers.hi, powers.values) == ("some", 0, 2, ["britain", "spain"])


def test_phase_auction_and_turn() -> None:
    """AOR-21.4: `auction` only in the coalitions, `turn` only in the actions."""
    game = position(3, turn=None)
    game.when(0, bid(2, "france", "spain"))
    game.when(1, move("pass_bid"))
    shown = game.sight("public")
    assert (shown["phase"], shown["turn"], shown["round"]) == ("coalitions", None, 0)
    assert shown["auction"] == {
        "number": 1,
        "opener": 0,
        "standing": {"seat": 0, "amount": 2, "a": "france", "b": "spain"},
        "passes": 1,
        "unaligned": ["britain", "france", "spain", "russia", "austria", "prussia", "united_provinces"],
    }
    assert position(4).sight("public")["phase"] == "actions"
    game = last_turn(3)
    game.when(1, move("pass"))
    assert game.sight("public")["phase"] == "finished"


def test_during_the_set_up_a_seat_has_nothing() -> None:
    """AOR-21.4."""
    shown = RULESET.player_view(RULESET.blank(RULESET.make_table(2)), "public")
    assert shown["phase"] == "setup"
    assert [shown["empires"][0][key] for key in ("power", "gold", "unrest", "hand_size", "reserve")] == [
        None,
        0,
        0,
        0,
        0,
    ]


def test_a_battle_in_sight() -> None:
    """AOR-21.4: null what is not known yet."""
    tokens = dict.fromkeys(("prussia", "austria", "france", "spain"), HERE)
    game = position(3, tokens=tokens, spaces={"reserves": [0]})
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    battle = game.sight("public")["battle"]
    assert battle == {
        "region": "central_europe",
        "attacker": 0,
        "target": {"kind": "power", "power": "austria", "marker": None},
        "defender": 1,
        "asked": [1, 2],
        "laid": None,
        "cards": None,
        "hired": None,
        "dice": None,
        "strength": None,
    }
    game.when(1, commit("austria_bluff"))
    game.when(2, commit("france_alliance"))
    game.when(0, move("hire", powers=["spain"]), draws=[3, 1, 2, 2])
    battle = game.sight("public")["battle"]
    assert battle["cards"] == {"0": "prussia_bluff", "1": "austria_bluff", "2": "france_alliance"}
    assert battle["hired"] == {"attacker": ["spain"], "defender": []}
    assert (battle["laid"], battle["strength"]) == ([2], {"attacker": 3, "defender": 1})
