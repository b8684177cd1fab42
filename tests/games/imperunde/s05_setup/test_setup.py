"""IMP-5: set-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from domain.games.imperunde import RULESET
from domain.games.imperunde.data import COUNTRIES, VALUE
from domain.games.imperunde.rules.setup import eligible
from domain.games.imperunde.state import Country
from domain.kernel.rules.flow import assign
from domain.kernel.schema.json_codec import from_json
from tests.games.imperunde.board import colony, country, deciding, die, standing, units, wheel
from tests.spec import Given

NATIONS = [die(6), die(1), die(2), die(2), die(3)]
"""Seat 0 is Great Britain, seat 1 South Africa; seat 2 rolls a nation that is taken, then Japan."""


def fresh(*nations: Any) -> Given:
    return Given(RULESET, 3, draws=nations or NATIONS)


def fleets(game: Given, last: Sequence[Any]) -> Given:
    """All home fleets, the first zone of each; the last one spins for the first colony."""
    for seat, zone, spins in ((0, "north_sea", ()), (1, "indian_ocean", ()), (2, "china_sea", last)):
        game.when(seat, {"type": "place_home_fleet", "frigate": zone, "ship_of_the_line": zone}, draws=spins)
    return game


def armies(**counts: int) -> dict[str, Any]:
    return {"type": "equip_colony", "choice": "armies", "units": units(**counts)}


def test_the_highest_die_is_great_britain() -> None:
    """IMP-5.1, IMP-0.4: ties roll again among themselves; a 1 and a taken nation at once."""
    game = fresh(die(5), die(2), die(5), die(3), die(4), die(1), die(6), die(6), die(3))
    assert game.state.homes() == {"great_britain": 2, "brazil": 0, "japan": 1}
    assert list(game.state.order) == [2, 0, 1]
    assert deciding(game) == ("setup_fleet", [2])


def test_every_home_has_three_armies() -> None:
    """IMP-5.2: one of each kind."""
    game = fresh()
    for home, seat in game.state.homes().items():
        assert standing(game, home, seat) == {"infantry": 1, "cavalry": 1, "artillery": 1}


def test_the_home_fleet() -> None:
    """IMP-5.3: one zone or two, next to the home."""
    game = fresh()
    fleet = {"type": "place_home_fleet", "frigate": "north_sea", "ship_of_the_line": "north_atlantic"}
    game.refused(0, {**fleet, "frigate": "france"}, "unknown_region", "IMP-5.3")
    game.refused(0, {**fleet, "frigate": "baltic_sea"}, "zone_not_adjacent", "IMP-5.3")
    game.refused(1, fleet, "not_your_decision")
    game.when(0, fleet)
    assert standing(game, "north_sea", 0) == {"frigate": 1}
    assert standing(game, "north_atlantic", 0) == {"ship_of_the_line": 1}


def test_initial_colonies() -> None:
    """IMP-5.4: homes, their land neighbours, owned countries and too much value spin again."""
    game = fleets(fresh(), [wheel("country", c) for c in ("japan", "congo", "victoria")])
    assert (game.decision.kind, game.decision.must) == ("setup_colony", (0,))
    victoria = country(game, "victoria")
    assert (victoria.posts, victoria.forts, standing(game, "victoria", 0)) == (2, 2, {"infantry": 2})
    game.when(0, armies(artillery=1), draws=[wheel("country", "victoria"), wheel("country", "china")])
    assert standing(game, "victoria", 0) == {"infantry": 2, "artillery": 1}
    assert country(game, "china").owner == 1


def test_the_bonus() -> None:
    """IMP-5.4: a frigate next to the colony, or armies worth exactly 3."""
    game = fleets(fresh(), [wheel("country", "siam")])
    game.refused(0, armies(infantry=2), "invalid_choice", "IMP-5.4")
    game.refused(0, armies(fort=1), "invalid_choice", "IMP-5.4")
    game.refused(0, {"type": "equip_colony", "choice": "gold"}, "invalid_choice", "IMP-5.4")
    frigate = {"type": "equip_colony", "choice": "frigate", "zone": "china_sea"}
    game.refused(0, {**frigate, "zone": "siam"}, "unknown_region")
    game.refused(0, {**frigate, "zone": "north_sea"}, "zone_not_adjacent")
    game.refused(0, frigate, "foreign_warships_present", "IMP-5.4")
    game.when(0, {**frigate, "zone": "bay_of_bengal"}, draws=[wheel("country", "chile")])
    assert standing(game, "bay_of_bengal", 0) == {"frigate": 1}


def test_round_after_round_until_everybody_has_five() -> None:
    """IMP-5.4, IMP-5.5: then the first turn starts: all at peace, no debt, surplus or cards but the one dealt."""
    game = fleets(fresh(), [wheel("country", "china")])
    later = [
        *[[wheel("country", c)] for c in ("france", "spain", "siam", "ceylon", "egypt")],
        [die(3), die(2), die(1), {"label": "shuffle.deck", "value": list(game.state.deck)}],
    ]
    for draws in later:
        game.when(game.decision.must[0], armies(infantry=3), draws=draws)
    s = game.state
    assert deciding(game) == ("diplomacy", [0, 1, 2])
    assert (s.turn, [n.debt + n.surplus for n in s.nations], [n.cards for n in s.nations]) == (1, [0] * 3, [1] * 3)
    assert all(p.agreed == "peace" for p in s.pairs.values())


def test_a_seat_for_which_nothing_is_left_gets_no_colony() -> None:
    """IMP-5.4: checked before spinning."""
    s = fleets(fresh(), [wheel("country", "china")]).state
    assert all(VALUE[c] <= 2 for c in eligible(s, 0))
    taken = {c: from_json(Country, colony(1, posts=1)) for c in COUNTRIES if VALUE[c] < 3 and c not in s.homes()}
    assert eligible(assign(s, countries={**s.countries, **taken}), 0) == []
