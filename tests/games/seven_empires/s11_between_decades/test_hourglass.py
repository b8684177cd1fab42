"""SE7-11: between decades."""

from __future__ import annotations

from typing import Any

from domain.games.seven_empires.data import EMPIRES, OWN_CITIES, PILES
from tests.games.seven_empires.board import (
    Position,
    asked,
    end_decade,
    kinds_of,
    last_turn,
    move,
    of_kind,
    offers,
    there,
    tiles,
)


def ended(tile: str, seats: int = 3, **more: Any) -> Position:
    """The first decade has ended with this tile; seat 0 had the seventh turn."""
    rest = list(tiles(seats))
    rest.remove(tile)
    game = last_turn(order=[tile, *rest], seats=seats, **more)
    game.facts = end_decade(game)
    return game


def test_the_pawn_goes_on_from_the_turn_seat() -> None:
    """SE7-11.1: clockwise after the seat of the seventh turn, whoever was the actor."""
    assert ended("position_3").state.pawn == 1
    game = last_turn(monarchs=dict.fromkeys(EMPIRES, 1) | {"great_britain": 1}, hands={0: []})
    game.when(0, move("delegate", empire="great_britain"))
    game.when(1, move("choose_action", empire="great_britain", action="palace"))
    game.when(1, move("build_palace", region="london"))
    assert game.state.pawn == 1


def test_a_position_tile() -> None:
    """SE7-11.2, SE7-3.4: all seats clockwise from that position take a card."""
    game = ended("position_3")
    assert game.state.revealed == ("position_3",)
    for seat, queue in ((2, [2, 0, 1]), (0, [0, 1]), (1, [1])):
        assert asked(game) == ("tile_influence", seat)
        assert game.decision.context == {"tile": "position_3", "queue": queue}
        game.when(seat, move("take_influence", empire="spain"))
    assert asked(game) == ("choose_empire", 1)


def test_the_pawn_tile_begins_with_the_new_holder() -> None:
    """SE7-11.2."""
    assert asked(ended("pawn")) == ("tile_influence", 1)


def test_a_worker_tile() -> None:
    """SE7-11.2: one worker each, of an empire whose worker is in stock."""
    game = ended("worker")
    game.when(1, move("take_worker", empire="spain"))
    game.refused(2, move("take_worker", empire="spain"), "worker_taken", "SE7-11.2")
    assert "spain" not in offers(game, 2)
    game.when(2, move("take_worker", empire="russia"))
    game.when(0, move("take_worker", empire="prussia"))
    assert game.state.hands[1][-1] == "spain.worker"


def test_an_infantry_tile() -> None:
    """SE7-11.2: each monarch in flag order, in an unoccupied own city region with at most two units, tile or not."""
    units = {
        "berlin": "prussia infantry infantry infantry",
        "konigsberg": "russia infantry",
        "vienna": "prussia infantry",
    }
    game = ended("infantry", units=units)
    assert game.decision.context == {"tile": "infantry", "queue": list(EMPIRES)}
    game.refused(0, move("place_event_unit", empire="spain", region="madrid"), "wrong_empire", "SE7-11.2")
    for region, code in (("vienna", "not_own_city"), ("konigsberg", "city_occupied"), ("berlin", "city_full")):
        game.refused(0, move("place_event_unit", empire="prussia", region=region), code, "SE7-11.2")
    assert offers(game, 0) == ["breslau"]
    game.when(0, move("place_event_unit", empire="prussia", region="breslau"))
    assert there(game, "breslau") == {"prussia": {"infantry": 1}}
    assert game.decision.context["queue"] == list(EMPIRES[1:])


def test_a_two_master_tile() -> None:
    """SE7-11.2: in an unoccupied own port; what is too much there is removed at once by the monarch."""
    game = ended("two_master", units={"konigsberg": "prussia infantry infantry artillery"})
    game.refused(0, move("place_event_unit", empire="prussia", region="berlin"), "not_a_port", "SE7-11.2")
    game.when(0, move("place_event_unit", empire="prussia", region="konigsberg"))
    assert asked(game) == ("reduction", 0)
    assert game.decision.context == {"region": "konigsberg", "empire": "prussia", "excess": 1}
    game.when(0, move("reduce_region", region="konigsberg", remove=["infantry"]))
    assert game.decision.context["queue"] == list(EMPIRES[1:])


def test_the_last_empire_reduces_too() -> None:
    """SE7-11.2: before the markers shift."""
    game = ended("two_master", units={"london": "great_britain infantry infantry artillery"})
    while game.decision.context["queue"] != ["great_britain"]:
        empire = game.decision.context["queue"][0]
        seat: int = game.decision.must[0]
        game.when(seat, move("place_event_unit", empire=empire, region=offers(game, seat)[0]))
    game.when(0, move("place_event_unit", empire="great_britain", region="london"))
    assert asked(game) == ("reduction", 0)
    facts = game.when(0, move("reduce_region", region="london", remove=["two_master"]))
    assert kinds_of(facts)[1:4] == ["markers_shifted", "monarchs_assigned", "decade_started"]


def test_the_top_card_of_a_pile_is_taken() -> None:
    """SE7-11.3: also of an empire already held; a pile can be empty."""
    game = ended("position_1")
    game.when(0, move("take_influence", empire="prussia"))
    assert game.state.hands[0][-1] == "prussia.clergy"
    spain = [f"spain.{rank}" for rank in ("nobility", "clergy", "bourgeoisie", "magistrate")]
    empty = ended("position_1", hands={2: [*spain, *[f"spain.peasant_{n}" for n in (1, 2, 3)]]})
    empty.refused(0, move("take_influence", empire="spain"), "pile_empty", "SE7-11.3")
    assert "spain" not in offers(empty, 0)


def test_who_can_place_nothing_is_skipped() -> None:
    """SE7-11.4: no monarch, no supply, no region."""
    full = dict.fromkeys(["constantinople", "salonica"], "ottomans infantry infantry infantry")
    units = {**full, "konya": "ottomans infantry"}
    game = ended("infantry", units=units, monarchs={"prussia": None})
    assert game.decision.context["queue"][0] == "spain"


def test_nobody_takes_a_worker_that_is_not_there() -> None:
    """SE7-11.4."""
    game = ended("worker", hands={0: [f"{e}.worker" for e in EMPIRES[:5]], 1: ["france.worker"]})
    game.when(1, move("take_worker", empire="great_britain"))
    assert asked(game)[0] == "choose_empire"


def test_nobody_takes_a_card_when_no_card_is_left() -> None:
    """SE7-11.4."""
    game = ended("position_1", hands={0: [c for pile in PILES.values() for c in pile], 1: [], 2: []})
    assert asked(game)[0] == "choose_empire"


def test_markers_shift() -> None:
    """SE7-11.5: III to the tray, II to III, I to II."""
    game = ended("infantry", units={c: f"{e} infantry infantry infantry" for e in EMPIRES for c in OWN_CITIES[e][:2]})
    while asked(game)[0] == "tile_unit":
        seat: int = game.decision.must[0]
        game.when(seat, game.offered(seat, offers(game, seat)[0]))  # type: ignore[arg-type]
    assert game.at("/empires/russia/markers") == {"empire": "III", "build_deploy": "II"}
    assert game.at("/empires/great_britain/markers") == {"empire": "III", "palace": "II"}


def test_monarchs_are_assigned_after_the_tile() -> None:
    """SE7-11.6, SE7-11.7: with the influence that it brought; then the pawn holder begins the next decade."""
    game = ended(
        "position_1",
        hands={0: ["spain.nobility", "spain.magistrate"], 2: ["spain.clergy", "spain.bourgeoisie"]},
        monarchs={"spain": 0},
    )
    for seat in (0, 1, 2):
        game.when(seat, move("take_influence", empire="spain"))
    assert game.at("/empires/spain/monarch") == 0
    assert (game.state.decade, asked(game)) == (2, ("choose_empire", 1))
    assert not [empire for empire in EMPIRES if game.state.acted(empire)]


def test_the_log_of_a_tile() -> None:
    """SE7-11.2: revealed to all."""
    (fact,) = of_kind(ended("pawn").facts, "tile_revealed")
    assert fact == {"t": "tile_revealed", "decade": 1, "tile": "pawn"}
