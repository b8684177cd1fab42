"""SOE-1: components and limits."""

from __future__ import annotations

from domain.games.struggle_of_empires import data
from tests.games.struggle_of_empires.board import army, attack, empire, move, position


def test_fourteen_armies_seven_navies_two_forts_are_all() -> None:
    """SOE-1.1: the number of units is a hard limit."""
    assert data.PIECES == {"army": 14, "navy": 7, "fort": 2}
    units = {**army("home_prussia", 14, navy=7), **army("baltic", 0, fort=2)}
    game = position(empires={0: {"units": units}})
    for unit in ("army", "navy", "fort"):
        game.refused(0, move("build", unit=unit, to="baltic"), "no_unit_available", "SOE-7.5.5")


def test_destroyed_unit_returns_to_supply_and_is_built_again() -> None:
    """SOE-1.1: units destroyed return to the supply."""
    game = position(empires={0: {"units": army("baltic", 14)}}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"), draws=[1, 1, 6, 1])
    assert game.state.empires[0].supply("army") == 0
    game = position(empires={0: {"units": army("baltic", 14)}}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"), draws=[6, 1, 6, 1])
    assert game.state.empires[0].supply("army") == 1
    game.when(0, move("build", unit="army", to="baltic"))
    assert empire(game, 0)["units"] == army("baltic", 14)


def test_twenty_tokens_can_be_on_the_map_captured_ones_counted() -> None:
    """SOE-1.2: 20 of the 23 tokens; captured tokens of the colour count."""
    assert data.TOKENS == 20
    game = position(
        empires={0: {"tokens": {"german_states": 18}}, 1: {"tokens": {"baltic": 3}}},
        pirates={"region": "africa", "token_of": 0},
    )
    assert [game.state.reserve(seat) for seat in range(3)] == [1, 17, 20]


def test_an_empty_reserve_refuses_to_settle() -> None:
    """SOE-1.2: `colonize` and `enslave` need a token in the reserve."""
    holdings = {"tokens": {"baltic": 20}, "units": army("africa", 0, navy=1)}
    game = position(empires={0: holdings}, markers=["na_virginia", "ca_cuba"])
    game.refused(0, move("colonize", marker="na_virginia"), "no_control_token", "SOE-1.2")
    game.refused(0, move("enslave", marker="ca_cuba"), "no_control_token", "SOE-1.2")


def test_with_empty_reserve_a_won_attack_removes_only() -> None:
    """SOE-1.2: an attack remains legal; the marker goes, its gold and points are taken, no token is placed."""
    holdings = {"tokens": {"baltic": 20}, "units": army("ottoman_empire", 9)}
    game = position(empires={0: holdings}, markers=["ot_belgrade"])
    game.when(0, attack("ottoman_empire", "ot_belgrade"), draws=[1, 1, 1, 1])
    assert game.at("/gone") == ["ot_belgrade"]
    assert empire(game, 0)["vp"] == 1
    assert empire(game, 0)["tokens"] == {"baltic": 20}


def test_several_markers_can_lie_in_one_region() -> None:
    """SOE-1.3: each marker has a region and one face; there is no limit to a region."""
    faces = {(m.kind, m.defence > 0, m.gold > 0, m.vp > 0) for m in data.MARKERS.values()}
    assert faces == {
        ("state", True, False, False),
        ("state", True, True, False),
        ("state", True, False, True),
        ("pop", False, False, False),
        ("slaves", False, False, False),
    }
    nine = [m.id for m in data.MARKERS.values() if m.region == "german_states"]
    assert len(position(markers=nine).at("/markers/german_states")) == 9


def test_gold_and_unrest_have_no_ceiling() -> None:
    """SOE-1.4: coins and unrest markers are unlimited."""
    game = position(empires={0: {"gold": 0, "units": army("baltic", 1), "unrest": 70}}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"), draws=[1, 1, 1, 1])
    assert game.state.unrest[0] == 70 + 1 + 1


def test_the_tile_list_governs_the_number_of_copies() -> None:
    """SOE-1.5: 55 development, 9 trade and 11 alliance tiles, all in the stock at first, for all to see."""
    counts = {
        group: sum(t.count for t in data.TILES.values() if t.group == group)
        for group in ("development", "trade", "alliance")
    }
    assert counts == {"development": 55, "trade": 9, "alliance": 11}
    game = position()
    assert game.sight("public")["stock"] == {t.id: t.count for t in data.TILES.values()}


def test_population_never_exceeds_nine() -> None:
    """SOE-1.6: whatever its source."""
    game = position(empires={0: {"population": 9, "tiles": ["improved_agriculture"]}})
    game.refused(0, move("use_tile", tile="improved_agriculture"), "population_at_max")


def test_map_has_five_european_regions_six_colonies_seven_homes() -> None:
    """SOE-1.7: colonies carry two values, European regions three, home countries none."""
    sizes = {
        kind: [len(r.vp) for r in data.REGIONS.values() if r.kind == kind] for kind in ("europe", "colony", "home")
    }
    assert sizes == {"europe": [3] * 5, "colony": [2] * 6, "home": [0] * 7}


def test_a_home_country_can_be_neither_fortified_nor_attacked() -> None:
    """SOE-1.7: home countries hold no forts and can never be attacked."""
    game = position(empires={0: {"units": army("home_prussia")}, 1: {"units": army("home_austria")}})
    game.refused(0, move("build", unit="fort", to="home_prussia"), "fort_needs_scoring_region")
    game.refused(0, attack("home_austria", 1), "invalid_region")


def test_navies_are_kept_out_of_three_inland_regions() -> None:
    """SOE-1.8: navies only in colonies, the Baltic, the Mediterranean and at home."""
    accepting = {r.id for r in data.REGIONS.values() if r.accepts_navies and r.scores}
    assert accepting == {*data.COLONIES, "baltic", "mediterranean"}
    game = position()
    for region in ("german_states", "central_europe", "ottoman_empire"):
        game.refused(0, move("build", unit="navy", to=region), "navy_cannot_enter", "SOE-15.1")
