"""SE7-6: the action Palace."""

from __future__ import annotations

from tests.games.seven_empires.board import acting, kinds_of, move, offers, power


def test_a_palace_is_built_or_enlarged() -> None:
    """SE7-6.1: in an unoccupied own city region, with or without a city tile; up to 2 crowns, the capital's up to 3."""
    game = acting("habsburg", "palace", palaces={"trieste": 2}, units={"budapest": "prussia infantry"})
    game.refused(0, move("build_palace", region="berlin"), "not_own_city", "SE7-6.1")
    game.refused(0, move("build_palace", region="budapest"), "city_occupied", "SE7-6.1")
    game.refused(0, move("build_palace", region="trieste"), "palace_at_maximum", "SE7-6.1")
    assert offers(game, 0) == ["vienna", "prague"]
    game.when(0, move("build_palace", region="prague"))
    assert game.state.palaces["prague"] == 1
    assert game.state.level("prague") == 0


def test_crowns_are_counted_after_the_build() -> None:
    """SE7-6.2: of city tiles and palaces in unoccupied own city regions."""
    units = {"budapest": "prussia infantry"}
    game = acting(
        "habsburg", "palace", palaces={"budapest": 2}, levels={"trieste": 2}, units=units, power={"habsburg": 7}
    )
    game.when(0, move("build_palace", region="vienna"))
    assert power(game, "habsburg") == 7 + 3 + 1


def test_the_count_goes_on_when_nothing_can_be_built() -> None:
    """SE7-6.1: the build is skipped."""
    game = acting("spain", "palace", palaces={"madrid": 3, "barcelona": 2, "bilbao": 2}, levels={"madrid": 2})
    assert "power_scored" in kinds_of(game.facts)
    assert power(game, "spain") == 8
