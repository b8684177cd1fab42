"""IMP-10: events and pirates."""

from __future__ import annotations

from typing import Any

from tests.games.imperunde.board import (
    attack,
    colony,
    country,
    deciding,
    dice,
    group,
    move,
    moves_left,
    named,
    position,
    standing,
    wheel,
    zone,
)
from tests.spec import Given

LAND = [
    ("iceland", "trade"),
    ("scandinavia", "trade"),
    ("portugal", "trade"),
    ("italy", "trade"),
    ("austria", "trade"),
    ("russia", "trade"),
]
SEA = [("hudson_bay", "calm"), ("labrador_sea", "calm"), ("northwest_passage", "calm")]


def spins(*events: tuple[str, str], sea: bool = False) -> list[Any]:
    kind = "sea" if sea else "country"
    return [
        w for place, event in events for w in (wheel(kind, place), wheel(f"{'sea' if sea else 'land'}_event", event))
    ]


def phase_8(land: list[Any] | None = None, sea: list[Any] | None = None, **more: Any) -> tuple[Given, list[Any]]:
    """The last embarkation before phase 8, and the facts of the move that ends it; nine events, some of them named."""
    top = {"n": 2, "kind": "embarkation", "asked": [0], "owing": [0], "data": {}}
    frames = [{"n": 1, "kind": "game", "data": {"step": "event_window"}}, top]
    game = position(step="embarkation", frames=frames, opened=2, options={"turn_limit": 4}, turn=4, **more)
    first = land if land is not None else spins(*LAND)
    second = sea if sea is not None else spins(*SEA, sea=True)
    return game, game.when(0, {"type": "end_embarkation"}, draws=[*first, *second])


def after(*events: Any) -> list[Any]:
    """One land event with its dice, then five that do nothing."""
    return [*events, *spins(*LAND[1:])]


def at_sea(*events: Any) -> list[Any]:
    """One sea event with its dice, then two that do nothing."""
    return [*events, *spins(*SEA[1:], sea=True)]


def test_markers_are_removed_first() -> None:
    """IMP-10.1: storm, calm and black ones."""
    game, facts = phase_8(
        countries={"france": colony(0, posts=1, famine=True, plundered_by=1)}, zones={"north_sea": zone(marker="storm")}
    )
    assert next(f["t"] for f in facts if f["t"].endswith(("_removed", "_event"))) == "markers_removed"
    assert not country(game, "france").black
    assert game.state.zone("north_sea").marker is None


def test_the_window_comes_first() -> None:
    """IMP-10.1: for all who hold cards."""
    top = {"n": 2, "kind": "embarkation", "asked": [0], "owing": [0], "data": {}}
    frames = [{"n": 1, "kind": "game", "data": {"step": "event_window"}}, top]
    game = position(step="embarkation", frames=frames, opened=2, hands={2: ["ambush"]})
    game.when(0, {"type": "end_embarkation"})
    assert (deciding(game), game.state.phase) == (("open_window", [2]), 8)


def test_six_land_events() -> None:
    """IMP-10.2: homes and countries that had one spin again; nothing happens in free countries."""
    first = [wheel("country", "japan"), *spins(LAND[0]), wheel("country", "iceland"), *spins(*LAND[1:])]
    game, facts = phase_8(first)
    assert [f["region"] for f in named(facts, "land_event")] == [c for c, _ in LAND]
    assert len(game.state.struck) == 9


def test_three_sea_events() -> None:
    """IMP-10.3: each in another zone."""
    spun = [*spins(SEA[0], sea=True), wheel("sea", "hudson_bay"), *spins(*SEA[1:], sea=True)]
    _, facts = phase_8(sea=spun)
    assert [f["region"] for f in named(facts, "sea_event")] == [z for z, _ in SEA]


def test_volunteers_and_trade() -> None:
    """IMP-10.4: infantry as far as the supply goes; doubloons to the surplus."""
    countries = {"spain": colony(0, posts=1), "china": colony(1, posts=1)}
    events = [*spins(("spain", "volunteers"), ("china", "trade")), *spins(*LAND[2:])]
    game, _ = phase_8(events, countries=countries)
    assert standing(game, "spain", 0) == {"infantry": 3}
    assert game.state.nations[1].surplus == 3


def test_famine() -> None:
    """IMP-10.4: it binds the country until the next phase 8."""
    game, _ = phase_8(after(*spins(("spain", "famine"))), countries={"spain": colony(0, posts=1)})
    assert country(game, "spain").famine


def test_epidemic() -> None:
    """IMP-10.4: one die for each infantry, cavalry, artillery; the country may become free."""
    sick = [*spins(("spain", "epidemic")), *dice("w1 w2 w3 w6")]
    game, _ = phase_8(after(*sick), countries={"spain": colony(0, posts=1, infantry=2, cavalry=1, artillery=1)})
    assert standing(game, "spain", 0) == {"infantry": 1, "artillery": 1}
    gone = [*spins(("spain", "epidemic")), *dice("w1")]
    game, _ = phase_8(after(*gone), countries={"spain": colony(0, infantry=1)})
    assert country(game, "spain").owner is None


def test_unrest_and_uprising() -> None:
    """IMP-10.4, IMP-8.6.4: value insurgents, twice as many."""
    countries = {"china": colony(0, posts=1, forts=1), "spain": colony(1, posts=1, forts=1)}
    events = [
        *spins(("china", "unrest")),
        *dice("w1 w2 w3 r4 w1 w2 r4 w1 r4"),
        *spins(("spain", "uprising")),
        *dice("w6 w6 w6 r4"),
        *spins(*LAND[2:]),
    ]
    game, facts = phase_8(events, countries=countries)
    assert [f["horde"] for f in named(facts, "combat_started")] == [3, 6]
    assert (country(game, "china").owner, country(game, "spain").owner) == (0, None)


def test_storm() -> None:
    """IMP-10.5: every ship rolls, seats in turn order, pirates last."""
    fleets = zone({1: {"frigate": 1}, 0: {"ship_of_the_line": 1, "infantry": 1}}, pirates=2)
    storm = [*spins(("north_sea", "storm"), sea=True), *dice("w1 w2 w3 w5 w6")]
    game, _ = phase_8(sea=at_sea(*storm), zones={"north_sea": fleets})
    left = game.state.zone("north_sea")
    assert (standing(game, "north_sea", 0), standing(game, "north_sea", 1), left.pirates) == (
        {"infantry": 1},
        {},
        {"frigate": 1},
    )
    assert left.marker == "storm"


def test_calm() -> None:
    """IMP-10.5: a marker."""
    game, _ = phase_8(sea=at_sea(*spins(("north_sea", "calm"), sea=True)))
    assert game.state.zone("north_sea").marker == "calm"


def test_pirates_appear_and_attack() -> None:
    """IMP-10.5, IMP-10.6: against each seat in turn order; what is left sinks all transports."""
    fleets = zone({0: {"frigate": 1}, 1: {"frigate": 1}, 2: {"infantry": 2}})
    raid = [*spins(("north_sea", "pirates"), sea=True), *dice("w6 w5 w4 w1 w6 w5 w4 w1")]
    game, facts = phase_8(sea=at_sea(*raid), zones={"north_sea": fleets})
    assert [f["defender"] for f in named(facts, "combat_started")] == [0, 1]
    assert game.state.zone("north_sea").pirates == {"frigate": 3}
    assert game.state.zone("north_sea").fleets == {}


def test_pirates_that_lose_sink_nothing() -> None:
    """IMP-10.6: a seat that has beaten them keeps its transports."""
    fleets = zone({0: {"ship_of_the_line": 3, "infantry": 1}})
    raid = [*spins(("norwegian_sea", "pirates"), sea=True), *dice("w1 g8 g8 g8")]
    game, _ = phase_8(sea=at_sea(*raid), zones={"norwegian_sea": fleets})
    assert standing(game, "norwegian_sea", 0) == {"ship_of_the_line": 3, "infantry": 1}


def windy(**more: Any) -> Given:
    """A fair wind in the North Sea as the seventh event."""
    game, _ = _windy(**more)
    return game


def _windy(**more: Any) -> tuple[Given, Any]:
    top = {"n": 2, "kind": "embarkation", "asked": [0], "owing": [0], "data": {}}
    frames = [{"n": 1, "kind": "game", "data": {"step": "event_window"}}, top]
    game = position(step="embarkation", frames=frames, opened=2, options={"turn_limit": 4}, turn=4, **more)
    facts = game.when(
        0, {"type": "end_embarkation"}, draws=[*spins(*LAND), *spins(("north_sea", "fair_wind"), sea=True)]
    )
    return game, facts


def test_fair_wind() -> None:
    """IMP-10.7: ships there have one move, everything else none; seats in turn order."""
    game = windy(
        zones={"north_sea": zone({2: {"frigate": 1}, 1: {"frigate": 1}}), "baltic_sea": zone({1: {"frigate": 1}})}
    )
    assert deciding(game) == ("fair_wind", [1])
    assert moves_left(game, "north_sea", 1) == {"frigate": 1}
    game.refused(1, move("north_sea", "norwegian_sea", "barents_sea", frigate=1), "not_enough_moves", "IMP-7.2")
    game.when(1, move("north_sea", "norwegian_sea", frigate=1))
    game.when(1, {"type": "end_fair_wind"})
    assert deciding(game) == ("fair_wind", [2])
    game.when(2, {"type": "end_fair_wind"}, draws=spins(*SEA[1:], sea=True))
    assert game.state.over


def test_landing_and_attacking_by_fair_wind() -> None:
    """IMP-10.7, IMP-7.3: cavalry that lands stops; reinforcements come from the zone only."""
    game = windy(
        countries={"france": colony(0, posts=1, infantry=3), "spain": colony(0, posts=1)},
        zones={"north_sea": zone({0: {"cavalry": 1, "infantry": 2}})},
    )
    game.refused(0, move("north_sea", "france", "spain", cavalry=1), "not_enough_moves")
    game.when(0, move("north_sea", "france", cavalry=1))
    assert moves_left(game, "france", 0)["cavalry"] == 0
    game.when(0, attack(group("north_sea", "netherlands", infantry=1)), draws=dice("w1 w2 w3"))
    assert deciding(game) == ("reinforce", [0])
    again = [group("france", "netherlands", infantry=1)]
    game.refused(0, {"type": "reinforce", "groups": again}, "not_enough_moves")
