"""SE7-5: Build & Deploy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from domain.types import Doc
from tests.games.seven_empires.board import acting, asked, move, of_kind, offers, there
from tests.spec import Given

ALL_GUNS = dict.fromkeys(["kiev", "saint_petersburg", "livonia", "moldavia", "crimea", "finland"], "russia artillery")


def each(*units: tuple[str, str]) -> Doc:
    """Way A."""
    return move("deploy", mode="each_city", units=[{"region": r, "unit": u} for r, u in units])


def levy(region: str, *units: str) -> Doc:
    """Way B."""
    return move("deploy", mode="palace", region=region, levy=list(units))


def deploying(empire: str = "russia", build: str | None = "azov", **more: Any) -> Given:
    """Units are to be deployed, after this city was raised."""
    game = acting(empire, "build_deploy", **more)
    if build:
        game.when(0, move("build_city", region=build))
    return game


FULL = {"moscow": 2, "saint_petersburg": 2, "kiev": 2, "azov": 2}


def test_a_city_is_built_or_raised() -> None:
    """SE7-5.1: 0 to 1, 1 to 2; own, unoccupied, below level 2; mandatory."""
    game = acting("russia", "build_deploy", levels={"moscow": 2}, units={"kiev": "ottomans infantry"})
    assert offers(game, 0) == ["saint_petersburg", "azov"]
    game.refused(0, move("build_city", region="konya"), "not_own_city", "SE7-5.1")
    game.refused(0, move("build_city", region="kiev"), "city_occupied", "SE7-5.1")
    game.refused(0, move("build_city", region="moscow"), "city_at_maximum", "SE7-5.1")
    game.refused(0, each(), "wrong_phase")
    game.when(0, move("build_city", region="azov"))
    assert (asked(game), game.state.level("azov")) == (("deploy", 0), 1)


def test_one_unit_in_each_city() -> None:
    """SE7-5.2: of the level after the build; not where a foreign unit stands or no tile is."""
    game = deploying(build="kiev", units={"saint_petersburg": "prussia infantry"})
    own = ("moscow", "infantry"), ("kiev", "artillery")
    game.refused(0, each(*own, ("konya", "infantry")), "not_own_city", "SE7-5.2")
    game.refused(0, each(*own, ("saint_petersburg", "two_master")), "city_occupied", "SE7-5.2")
    game.refused(0, each(*own, ("azov", "two_master")), "no_city_tile", "SE7-5.2")
    game.refused(0, each(*own, ("kiev", "artillery")), "one_unit_per_city", "SE7-5.2")
    game.refused(0, each(("moscow", "two_master"), own[1]), "cannot_produce", "SE7-5.2")
    game.refused(0, each(own[1]), "deployment_incomplete", "SE7-5.2")
    game.when(0, each(*own))
    assert there(game, "kiev") == {"russia": {"artillery": 1}}


def test_a_higher_city_makes_the_lower_unit_only_in_need() -> None:
    """SE7-5.3: no substitute while the primary unit is in supply."""
    game = deploying(build="kiev")
    units = ("moscow", "infantry"), ("saint_petersburg", "two_master"), ("kiev", "infantry")
    game.refused(0, each(*units), "cannot_produce", "SE7-5.3")


def short(number: int, **more: Any) -> Given:
    """Russia with level 2 cities, and so many pieces of artillery left."""
    guns = dict(list({**ALL_GUNS, "sweden": "russia artillery"}.items())[number:])
    return deploying(build=None, levels=FULL, units=guns, **more)


def test_short_supply_is_shared_out_by_the_actor() -> None:
    """SE7-5.2: which of the cities get the unit; the others may have the substitute."""
    game = short(1)
    assert game.state.supply("russia", "artillery") == 1
    ships = ("saint_petersburg", "three_master"), ("azov", "three_master")
    guns = [{"region": r, "unit": "artillery"} for r in ("moscow", "kiev")]
    assert offers(game, 0, "each_city") == guns
    instead = [{"region": "kiev", "unit": "infantry"}]
    assert offers(game, 0, "each_city", [guns[0]]) == instead
    both = each(("moscow", "artillery"), ("kiev", "artillery"), *ships)
    game.refused(0, both, "supply_exhausted", "SE7-0.10")
    game.refused(0, each(("kiev", "infantry"), *ships), "cannot_produce", "SE7-5.3")
    want: Sequence[tuple[str, str]] = (("moscow", "artillery"), ships[0], ("kiev", "infantry"), ships[1])
    assert game.offered(0, "each_city", [guns[0]], instead) == each(*want)
    game.when(0, each(*want))
    assert there(game, "moscow") == {"russia": {"artillery": 1}}


def test_substitutes_are_optional() -> None:
    """SE7-5.3: a city may stay without."""
    game = short(1)
    ships = ("saint_petersburg", "three_master"), ("azov", "three_master")
    game.when(0, each(("moscow", "artillery"), *ships))
    assert there(game, "kiev") == {}


def test_up_to_three_units_at_a_palace() -> None:
    """SE7-5.2: of the primary unit, in an eligible city with a palace."""
    game = deploying(palaces={"kiev": 1}, units={"saint_petersburg": "prussia infantry"}, build="azov")
    three = ["infantry"] * 3
    game.refused(0, levy("konya", *three), "not_own_city", "SE7-5.2")
    game.refused(0, levy("saint_petersburg", *three), "city_occupied", "SE7-5.2")
    game.refused(0, levy("azov", *["two_master"] * 3), "no_palace", "SE7-5.2")
    game.refused(0, levy("moscow", *three, "infantry"), "too_many_units", "SE7-5.2")
    game.refused(0, levy("moscow", "artillery"), "cannot_produce", "SE7-5.2")
    game.refused(0, levy("moscow", "infantry"), "deployment_incomplete", "SE7-5.2")
    assert offers(game, 0) == ["each_city", "palace"]
    assert offers(game, 0, "palace") == ["moscow", "kiev"]
    (fact,) = of_kind(game.when(0, levy("kiev", *three)), "units_deployed")
    assert fact["units"] == [{"region": "kiev", "unit": "infantry", "number": 3}]
    assert there(game, "kiev") == {"russia": {"infantry": 3}}


def test_a_palace_without_a_city_tile_deploys_nothing() -> None:
    """SE7-5.3."""
    game = deploying(build="moscow", palaces={"azov": 1})
    game.refused(0, levy("azov", "two_master"), "no_city_tile", "SE7-5.2")
    assert "azov" not in offers(game, 0, "palace")


def test_a_levy_may_be_filled_up_with_substitutes() -> None:
    """SE7-5.2, SE7-5.3: once the primary unit is used up."""
    game = short(1)
    game.refused(0, levy("moscow", "artillery", "artillery"), "supply_exhausted", "SE7-0.10")
    game.refused(0, levy("moscow", "infantry"), "cannot_produce", "SE7-5.3")
    assert offers(game, 0, "palace", "moscow") == [None, "infantry"]
    assert game.offered(0, "palace", "moscow", "infantry", None) == levy("moscow", "artillery", "infantry")
    game.when(0, levy("moscow", "artillery", "infantry", "infantry"))
    assert there(game, "moscow")["russia"] == {"artillery": 1, "infantry": 2}


def test_a_city_may_hold_too_many_for_a_moment() -> None:
    """SE7-5.4: the excess is removed after the action."""
    game = deploying(units={"moscow": "russia infantry infantry"})
    game.when(0, levy("moscow", "infantry", "infantry", "infantry"))
    assert asked(game) == ("reduction", 0)
    assert game.decision.context == {"region": "moscow", "empire": "russia", "excess": 2}
