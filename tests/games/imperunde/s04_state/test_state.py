"""IMP-4: what the state holds."""

from __future__ import annotations

from domain.kernel.schema.json_codec import to_json
from tests.games.imperunde.board import PASS, card, colony, deciding, position, zone


def test_a_country_of_the_page() -> None:
    """IMP-4.1: owner, armies as lots, forts, posts, markers."""
    game = position(countries={"congo": colony(0, 2, 1, infantry=3, cavalry=1, famine=True)}, step="investment")
    assert to_json(game.state.country("congo")) == {
        "owner": 0,
        "units": [
            {"unit": "infantry", "count": 3, "moves_left": 0, "pinned": False},
            {"unit": "cavalry", "count": 1, "moves_left": 0, "pinned": False},
        ],
        "forts": 1,
        "posts": 2,
        "fresh_posts": 0,
        "famine": True,
        "plundered_by": None,
    }
    assert game.state.country("congo").black


def test_a_zone() -> None:
    """IMP-4.2: fleets by seat, black ships, a marker."""
    game = position(zones={"north_sea": zone({1: {"frigate": 2, "infantry": 1}}, pirates=1, marker="storm")})
    north_sea = game.state.zone("north_sea")
    assert [x.unit for x in north_sea.warships(1)] == ["frigate"]
    assert [x.unit for x in north_sea.transports(1)] == ["infantry"]
    assert (north_sea.pirates, north_sea.marker) == ({"frigate": 1}, "storm")


def test_a_seat() -> None:
    """IMP-4.3: nation, debt, surplus, funds, hand, supply."""
    game = position(nations={0: {"debt": 10, "surplus": 3}}, hands={0: ["ambush"]})
    nation = game.sight("public")["nations"][0]
    assert (nation["home"], nation["debt"], nation["surplus"], nation["cards"]) == ("great_britain", 10, 3, 1)
    assert nation["supply"]["frigate"] == 30
    assert game.sight(0)["hand"] == ["ambush"]


def test_overrides() -> None:
    """IMP-4.4: a card's relation goes before the base; a new one replaces the old for good."""
    game = position(wars=[(0, 1)], hands={0: ["armistice"], 1: ["declaration_of_war"]})
    assert deciding(game) == ("movement", [0])
    game.when(0, card("armistice", target_seat=1))
    game.when(1, PASS)
    assert game.state.relation(0, 1) == "peace"
    game.when(1, card("declaration_of_war", target_seat=0))
    assert game.state.relation(0, 1) == "war"
    override = game.state.pair(0, 1).override
    assert (override.card, override.by) == ("declaration_of_war", 1)


def test_the_game() -> None:
    """IMP-4.5: turn, phase, order, goal, piles, canals, events."""
    public = position(canals=["suez"], discard=["ambush"]).sight("public")
    assert {k: public[k] for k in ("turn", "phase", "order", "goal", "pile", "discard", "canals", "struck")} == {
        "turn": 3,
        "phase": 6,
        "order": [0, 1, 2],
        "goal": 40,
        "pile": 47,
        "discard": ["ambush"],
        "canals": ["suez"],
        "struck": [],
    }
