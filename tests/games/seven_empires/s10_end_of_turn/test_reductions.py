"""SE7-10: the end of a turn."""

from __future__ import annotations

from domain.types import Doc
from tests.games.seven_empires.board import END, acting, army, asked, kinds_of, move, moving, offers, position, there


def reduce(region: str, *units: str) -> Doc:
    return move("reduce_region", region=region, remove=list(units))


def test_the_order_at_the_end() -> None:
    """SE7-10.1: flags, reductions, the next turn."""
    units = {"strasbourg": "france infantry", "bavaria": "france artillery"}
    game = moving("france", units)
    game.when(0, army("strasbourg", "infantry", "bavaria"))
    assert kinds_of(game.when(0, END)) == ["movement_ended", "flag_placed"]
    facts = game.when(0, reduce("bavaria", "infantry"))
    assert kinds_of(facts) == ["units_reduced", "turn_ended", "turn_begun"]
    assert facts[0]["units"] == [{"unit": "infantry", "number": 1}]
    assert there(game, "bavaria") == {"france": {"artillery": 1}}


def crowded() -> tuple[dict[str, str], list[Doc]]:
    """Two regions with too many units of France."""
    units = {"strasbourg": "france infantry infantry", "bavaria": "france infantry", "palatinate": "france artillery"}
    return units, [army("strasbourg", "infantry", region) for region in ("bavaria", "palatinate")]


def test_regions_are_reduced_in_data_order() -> None:
    """SE7-10.2: exactly the excess, of units that stand there; decided by the actor."""
    units, moves = crowded()
    game = moving("france", units)
    for step in moves:
        game.when(0, step)
    game.when(0, END)
    assert game.decision.context == {"region": "palatinate", "empire": "france", "excess": 1}
    game.refused(0, reduce("bavaria", "infantry"), "wrong_region", "SE7-10.2")
    game.refused(0, reduce("palatinate"), "wrong_count", "SE7-10.2")
    game.refused(0, reduce("palatinate", "infantry", "artillery"), "wrong_count", "SE7-10.2")
    game.refused(0, reduce("palatinate", "two_master"), "no_such_unit", "SE7-0.5")
    assert offers(game, 0) == ["infantry", "artillery"]
    game.when(0, reduce("palatinate", "infantry"))
    assert game.decision.context["region"] == "bavaria"
    game.when(0, reduce("bavaria", "infantry"))
    assert asked(game)[0] == "choose_empire"


def test_the_units_to_remove_are_freely_chosen() -> None:
    """SE7-10.2: in canonical order in the builder."""
    units = {"moscow": "russia infantry infantry artillery"}
    game = acting("russia", "build_deploy", units=units)
    game.when(0, move("build_city", region="azov"))
    game.when(0, move("deploy", mode="palace", region="moscow", levy=["infantry"] * 3))
    assert game.decision.context["excess"] == 3
    assert offers(game, 0, "infantry", "infantry") == ["infantry", "artillery"]
    game.when(0, reduce("moscow", "infantry", "artillery", "infantry"))
    assert there(game, "moscow") == {"russia": {"infantry": 3}}


def test_an_empire_has_acted_once_its_marker_lies() -> None:
    """SE7-10.3: it cannot act again in this decade."""
    game = position()
    game.when(0, move("choose_action", empire="prussia", action="palace"))
    assert game.state.acted("prussia")
    assert "prussia" not in game.state.waiting()
