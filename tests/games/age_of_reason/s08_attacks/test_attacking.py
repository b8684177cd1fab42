"""AOR-8.2, AOR-8.3: attacks, and which card."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.age_of_reason.data import SCORING
from domain.games.age_of_reason.rules.attacking import has_access
from domain.kernel.schema.canonical_json import canonical
from domain.types import Json
from tests.games.age_of_reason.board import attack, commit, facts_of, figures, hire, move, offers, position

TOKENS = {
    "prussia": {"central_europe": 1},
    "austria": {"central_europe": 2, "baltic": 1, "india": 1},
    "russia": {"central_europe": 1},
    "france": {"ottoman_empire": 1},
}
SHIPS = ["prussia_0s1n", "prussia_1s1n", "prussia_2s1n"]
BLUFF = "prussia_bluff"


def test_others_see_region_and_target_and_not_the_card() -> None:
    """AOR-8.2.1."""
    game = position(2, tokens=TOKENS)
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    record = game.match.records[-1]
    assert "4s0n" not in canonical(record.public).decode()
    shown = game.sight("public")["battle"]
    assert (shown["region"], shown["target"]["power"], shown["attacker"]) == ("central_europe", "austria", 0)
    assert game.sight(0)["sealed"]["card"] == "prussia_4s0n"
    assert game.sight("public")["empires"][0]["hand_size"] == 11


def test_who_can_be_attacked() -> None:
    """AOR-8.2.2: powers of the other coalition with a token there, with or without seat, and numbered markers."""
    game = position(2, tokens=TOKENS, markers=["ce_poland"])
    targets = offers(game, 0, "attack", "central_europe")
    assert targets == [{"kind": "power", "power": "austria"}, {"kind": "marker", "marker": "ce_poland"}]


@pytest.mark.parametrize(
    ("seat", "own", "reached"),
    [
        (0, {}, {"german_states", "central_europe"}),
        (1, {}, {"german_states", "central_europe", "ottoman_empire"}),
        (4, {}, {"central_europe", "ottoman_empire"}),
        (3, {}, {"german_states"}),
        (5, {}, set()),
        (5, {"mediterranean": 1}, {"german_states", "ottoman_empire"}),
        (5, {"ottoman_empire": 1}, {"central_europe", "ottoman_empire"}),
        (5, {"india": 1}, {"india"}),
    ],
)
def test_which_regions_are_within_reach(seat: int, own: dict[str, int], reached: set[str]) -> None:
    """AOR-8.2.3: colonies with a token there; the seas always; else a token there or next to it, or the own home."""
    power = ("prussia", "austria", "france", "britain", "russia", "spain")[seat]
    game = position(6, tokens={power: own})
    found = {region for region in SCORING if has_access(game.state, seat, region)}
    assert found == reached | {"baltic", "mediterranean"}


def test_what_cannot_be_attacked() -> None:
    """AOR-8.2.4: the errors, in their order."""
    position(2, turn_record={"attacks_made": 1}).refused(
        0, attack("atlantis", "austria", BLUFF), "no_attack_left", "AOR-8.2.6"
    )
    poor = {0: {"gold": 0, "unrest": 22}}
    game = position(2, tokens=TOKENS, markers=["ce_poland", "ca_cuba", "in_oudh"], empires=poor)
    game.refused(0, attack("atlantis", "austria", "x"), "unknown_region", "AOR-8.2.4")
    game.refused(0, attack("home_austria", "austria", "x"), "invalid_region", "AOR-8.2.4")
    for target in ({"kind": "treasure"}, {"kind": "power"}, {"kind": "marker"}):
        game.refused(0, move("attack", region="india", target=target, card="x"), "invalid_target", "AOR-8.2.4")
    both: Json = {"kind": "power", "power": "austria", "marker": "x"}
    malformed: list[Json] = [{}, [], None, both, {"kind": "power", "power": 3}]
    for bad in malformed:
        game.refused(0, move("attack", region="india", target=bad, card="x"), "malformed_move")
    targets: list[tuple[dict[str, Any], str]] = [
        ({"kind": "power", "power": "poland"}, "unknown_power"),
        ({"kind": "power", "power": "prussia"}, "cannot_attack_self"),
        ({"kind": "power", "power": "russia"}, "cannot_attack_ally"),
        ({"kind": "power", "power": "france"}, "target_absent"),
        ({"kind": "marker", "marker": "ce_poland"}, "unknown_marker"),
        ({"kind": "marker", "marker": "ca_bahamas"}, "unknown_marker"),
    ]
    for target, code in targets:
        game.refused(0, move("attack", region="india", target=target, card="x"), code, "AOR-8.2.4")
    game.refused(0, attack("caribbean", "ca_cuba", "x"), "marker_not_attackable", "AOR-8.2.4")
    game.refused(0, attack("india", "austria", "x"), "region_not_accessible", "AOR-8.2.3")
    game.refused(0, attack("central_europe", "austria", "x"), "card_not_in_hand", "AOR-8.3.5")
    game.refused(0, attack("central_europe", "austria", "prussia_4s0n"), "insufficient_funds", "AOR-15.3")
    assert offers(game, 0, "attack", "central_europe", {"kind": "power", "power": "austria"}) == [BLUFF]


def test_an_attack_binds_and_nothing_is_paid_yet() -> None:
    """AOR-8.2.5."""
    game = position(2, tokens=TOKENS)
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    assert figures(game, 0) == (10, 0, 0)
    assert game.state.acting.attacks_made == 1
    game.refused(0, move("pass"), "not_your_decision")


def test_a_late_attack_meets_another_decision() -> None:
    """AOR-8.2.6: the turn has ended by itself; `no_attack_left` only guards positions set up by hand."""
    game = position(2, tokens=TOKENS, markers=["ca_cuba"])
    game.when(0, move("convert", marker="ca_cuba", card="prussia_0s1n"))
    game.refused(0, attack("central_europe", "austria", BLUFF), "not_your_decision")


def test_an_attacker_in_a_naval_region_needs_a_ship() -> None:
    """AOR-8.3.1: or the Bluff with no ship card in hand, paid for or not."""
    game = position(2, tokens=TOKENS)
    target = {"kind": "power", "power": "austria"}
    assert offers(game, 0, "attack", "baltic", target) == SHIPS
    game = position(2, tokens=TOKENS, empires={0: {"gold": 0, "unrest": 22}})
    assert "baltic" not in offers(game, 0, "attack")
    game = position(2, tokens=TOKENS, discards={0: SHIPS})
    assert offers(game, 0, "attack", "baltic", target) == [BLUFF]
    game.when(0, attack("baltic", "austria", BLUFF))
    facts = game.when(1, commit("austria_bluff"), draws=[3, 1, 2, 2])
    assert facts_of(facts, "battle_rolled")[0]["strength"] == [2, 0]


def test_attacker_elsewhere_plays_any_force_card_or_the_bluff() -> None:
    """AOR-8.3.2."""
    game = position(2, tokens=TOKENS)
    cards = offers(game, 0, "attack", "central_europe", {"kind": "power", "power": "austria"})
    assert len(cards) == 10
    assert BLUFF in cards


def test_defender_plays_any_force_card_or_the_bluff_everywhere() -> None:
    """AOR-8.3.3: no ship is needed, and ships count in naval regions."""
    game = position(2, tokens=TOKENS)
    game.when(0, attack("baltic", "austria", "prussia_0s1n"))
    assert len(offers(game, 1)) == 10
    facts = game.when(1, commit("austria_1s2n"), draws=[1, 1, 1, 1])
    assert facts_of(facts, "battle_rolled")[0]["strength"] == [1, 3]


def test_principals_never_play_alliance_and_allies_bluff_only() -> None:
    """AOR-8.3.4: who has no force card left can only bluff."""
    deck = [c for c in position(2).sight(1)["hand"] if c[-1] == "n" or c[-2] == "_"]
    game = position(5, tokens={**TOKENS, "france": {"central_europe": 1}}, discards={1: deck})
    game.refused(0, attack("central_europe", "austria", "prussia_alliance"), "card_not_allowed", "AOR-8.3.5")
    game.when(0, attack("central_europe", "austria", BLUFF))
    assert offers(game, 1) == ["austria_bluff"]
    assert offers(game, 2) == [None, "france_bluff", "france_alliance"]


def test_card_errors_in_their_order() -> None:
    """AOR-8.3.5: unknown, another seat's or discarded; not allowed; ship required; Bluff not allowed."""
    game = position(5, tokens={**TOKENS, "france": {"central_europe": 1}}, discards={0: ["prussia_0s1n"]})
    for card in ("nothing", "austria_bluff", "prussia_0s1n"):
        game.refused(0, attack("baltic", "austria", card), "card_not_in_hand", "AOR-8.3.5")
    game.refused(0, attack("baltic", "austria", "prussia_alliance"), "card_not_allowed", "AOR-8.3.5")
    game.refused(0, attack("baltic", "austria", "prussia_4s0n"), "ship_card_required", "AOR-8.3.5")
    game.refused(0, attack("baltic", "austria", BLUFF), "bluff_not_allowed", "AOR-8.3.5")
    game.when(0, attack("central_europe", "austria", BLUFF))
    game.refused(1, commit("austria_alliance"), "card_not_allowed", "AOR-8.3.5")
    game.refused(2, commit("france_2s2n"), "card_not_allowed", "AOR-8.3.5")
    game.refused(2, commit("austria_alliance"), "card_not_in_hand", "AOR-8.3.5")


def test_a_second_attack_may_be_of_another_kind() -> None:
    """AOR-8.2.5, AOR-7.2.3: against another target, in another region."""
    ministry: Any = {"spaces": {"ministry_of_war": [0]}, "turn_record": {"attacks_allowed": 2}}
    game = position(2, tokens=TOKENS, markers=["ce_poland"], **ministry)
    game.when(0, attack("central_europe", "austria", BLUFF))
    game.when(1, commit("austria_bluff"))
    game.when(0, hire(), draws=[1, 1, 1, 1])
    game.when(0, attack("central_europe", "ce_poland", BLUFF))
    game.when(0, hire(), draws=[1, 1, 1, 1])
    assert game.decision.must == (1,)
