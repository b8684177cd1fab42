"""SE7-16: time-outs."""

from __future__ import annotations

from typing import Any

from domain.games.seven_empires import ANSWERS, RULESET, TURNS
from domain.games.seven_empires.data import EMPIRES
from domain.types import Doc
from tests.games.seven_empires.board import acting, army, begun, end_decade, last_turn, move, moving, position, tiles
from tests.spec import Given

SPANISH_PORTS = ("barcelona", "bilbao")


def default(game: Given) -> Doc:
    """What is played when the time is up."""
    game.deadline()
    record = game.match.records[-1]
    return dict(record.moves()[0][1])


def test_every_decision_has_a_clock_and_a_default() -> None:
    """SE7-16.1: `move` for the phases of a turn, `answer` for the others."""
    assert RULESET.meta.clocks == dict.fromkeys(TURNS, "move") | dict.fromkeys(ANSWERS, "answer")
    assert set(RULESET.meta.paces) == {"live", "correspondence"}


def test_defaults_of_the_choice() -> None:
    """SE7-16.1: the first legal empire; the first free of build_deploy, palace, empire."""
    assert default(position()) == move("choose_action", empire="prussia", action="build_deploy")
    blocked = position(markers={"prussia": {"build_deploy": "II", "palace": "III"}})
    assert default(blocked) == move("choose_action", empire="prussia", action="empire")
    nobody = dict.fromkeys(EMPIRES, 1)
    game = position(monarchs=nobody, hands={0: []})
    assert default(game) == move("delegate", empire="prussia", deploy=None)
    assert default(game) == move("choose_action", empire="prussia", action="build_deploy")


def test_defaults_of_actions() -> None:
    """SE7-16.1: the first legal region; primary units in data order; two units; the movement ends."""
    game = acting("russia", "build_deploy")
    assert default(game) == move("build_city", region="moscow")
    units = [{"region": "moscow", "unit": "artillery"}, {"region": "saint_petersburg", "unit": "two_master"}]
    assert default(game) == move("deploy", mode="each_city", units=[*units, {"region": "kiev", "unit": "infantry"}])
    assert default(acting("russia", "palace")) == move("build_palace", region="moscow")
    game = acting("russia", "attack")
    assert default(game) == move("attack_deploy", units=[{"region": "moscow", "unit": "infantry"}] * 2)
    assert default(game) == {"type": "end_movement"}


def test_defaults_of_answers() -> None:
    """SE7-16.1: refuse; infantry, two_master, artillery, three_master fall; infantry is removed first."""
    game = moving("france", {"strasbourg": "france infantry", "palatinate": "habsburg infantry"})
    game.when(0, army("strasbourg", "infantry", "palatinate", "bavaria"))
    assert default(game) == {"type": "answer_passage", "grant": False}
    units = {"barcelona": "spain artillery", "marseille": "france infantry two_master artillery"}
    game = moving("spain", units)
    game.when(0, army("barcelona", "artillery", "marseille", target="infantry"))
    assert default(game) == {"type": "choose_defender", "unit": "two_master"}
    game = acting("russia", "build_deploy", units={"moscow": "russia infantry artillery artillery"})
    game.when(0, move("build_city", region="azov"))
    game.when(0, move("deploy", mode="palace", region="moscow", levy=["infantry"] * 3))
    assert default(game) == move("reduce_region", region="moscow", remove=["infantry"] * 3)


def test_default_of_a_reduction_goes_through_the_types_in_turn() -> None:
    """SE7-16.1: removed are infantry, two_masters, artillery, three_masters, in this order."""
    game = acting("spain", "build_deploy", units={"barcelona": "spain two_master artillery three_master"})
    game.when(0, move("build_city", region="bilbao"))
    units = [{"region": "madrid", "unit": "infantry"}, *({"region": r, "unit": "two_master"} for r in SPANISH_PORTS)]
    game.when(0, move("deploy", mode="each_city", units=units))
    assert default(game) == move("reduce_region", region="barcelona", remove=["two_master"])
    full = {"barcelona": "spain artillery three_master three_master"}
    game = acting("spain", "build_deploy", units=full, levels={"barcelona": 2})
    game.when(0, move("build_city", region="bilbao"))
    units[1] = {"region": "barcelona", "unit": "three_master"}
    game.when(0, move("deploy", mode="each_city", units=units))
    assert default(game) == move("reduce_region", region="barcelona", remove=["artillery"])


def after(tile: str, **more: Any) -> Given:
    """A decade has ended with that tile."""
    game = last_turn(order=[tile, *[t for t in tiles(3) if t != tile]], **more)
    end_decade(game)
    return game


def test_defaults_of_tiles() -> None:
    """SE7-16.1: the highest top card, ties in flag order; the first worker; the first legal region."""
    hands = {0: ["prussia.nobility", "spain.nobility"], 1: ["ottomans.nobility"], 2: []}
    assert default(after("position_1", hands=hands)) == move("take_influence", empire="habsburg")
    assert default(after("worker")) == move("take_worker", empire="prussia")
    assert default(after("infantry")) == move("place_event_unit", empire="prussia", region="berlin")


def test_the_default_of_a_draft() -> None:
    """SE7-16.1: the first legal empire."""
    game = Given(begun().match.rules, 3, options={"setup": "draft"}, draws=[0, tiles(3)])
    assert default(game) == move("draft_influence", empire="prussia")
    assert default(game) == move("draft_influence", empire="ottomans")
