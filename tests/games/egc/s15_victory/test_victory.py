"""Counts, links, the end, ties."""

from __future__ import annotations

from domain.games.egc.data import LINKS
from domain.games.egc.rules.victory import realised, territory_points
from tests.games.egc.board import of, position
from tests.games.egc.registered import RULESET

ROAD = ("holland", "germany", "denmark_norway", "finland")


def test_a_count_comes_in_its_turn() -> None:
    """EGC-15.1: with the protectorates in force; other turns have none."""
    assert not of(position(13).resolve(), "victory_counted")
    game = position(14, owners={"holland": 3}, lands={"italy": {"protectorate": {"seat": 3, "since": 13}}})
    (count,) = of(game.resolve(), "victory_counted")
    assert count["points"][3] == 6 + 6
    assert game.state.counts[0].turn == 14


def test_territory_points() -> None:
    """EGC-15.2: one and the bonus for colonies and protectorates; none for the own home; doubled at the end."""
    game = position(35, owners={"spain": 3, "holland": 3, "switzerland": 3, "morocco": 8}, levels={"spain": {}})
    assert territory_points(game.state, 3) == 6 + 6 + 1
    assert territory_points(game.state, 0) == 0
    game.resolve()
    assert game.state.vp[3] == 26


def test_links() -> None:
    """EGC-15.3: a chain by land, or one territory of each group; the own home serves; a link counts once."""
    owners = dict.fromkeys(ROAD, 3)
    game = position(14, owners=owners, empires={3: {"links": ["holland_finland", "france_greece"]}})
    (count,) = of(game.resolve(), "victory_counted")
    assert (count["realised"][3], count["failed"][3]) == (["holland_finland"], ["france_greece"])
    assert game.state.vp[3] == count["points"][3] + 50
    e = game.state.empires[3]
    assert (e.links, e.links_done) == ((), ("holland_finland",))
    broken = position(owners={t: 3 for t in ROAD if t != "germany"}).state
    assert not realised(broken, 3, LINKS["holland_finland"])
    home = position(
        owners={"italy": 3, "spain": 3, "portugal": 3, "morocco": 8, "azores": 6}, levels={"spain": {}, "portugal": {}}
    ).state
    assert realised(home, 3, LINKS["portugal_italy"])
    isles = {"malacca": 3, "new_south_wales": 3, "borneo": 3, "java": 3, "queensland": 3}
    assert realised(position(owners=isles).state, 3, LINKS["malacca_new_south_wales"])
    assert not realised(position(owners={**isles, "borneo": 4}).state, 3, LINKS["malacca_new_south_wales"])


def test_the_fourth_count_ends_the_game() -> None:
    """EGC-15.4: all ten are ranked; nothing of P9 to P15 happens."""
    game = position(35, owners={"holland": 3, "italy": 3})
    facts = game.resolve()
    assert game.state.over
    assert not of(facts, "finance_settled")
    table = RULESET.scores(game.state)
    assert (table[3].place, table[3].points, len(table)) == (1, 24, 10)


def test_a_choice_made_in_the_turn_of_a_count_is_scored_in_it() -> None:
    """EGC-15.5: counts in turns 14 and 15."""
    first = {"turn": 14, "points": [0] * 10, "realised": [[]] * 10, "failed": [[]] * 10}
    game = position(15, owners=dict.fromkeys(ROAD, 3), counts=[first], count_turns=[14, 15, 28, 35])
    facts = game.resolve({3: [{"type": "choose_links", "links": ["holland_finland"]}]})
    assert of(facts, "victory_counted")[0]["realised"][3] == ["holland_finland"]


def test_ties() -> None:
    """EGC-15.6: the last count, territories, treasury, lot; the last two are secret while the game goes on."""
    game = position(35, treasury={4: 600_000, 5: 600_000}, owners={"holland": 3}, vp={"6": 12})
    running = {s.seat: s for s in RULESET.scores(game.state)}
    assert "treasury" not in running[0].to_json()["detail"]
    assert running[0].place == running[4].place
    game.resolve()
    places = [s.place for s in RULESET.scores(game.state)]
    assert [places[x] for x in (3, 6, 4, 5, 0, 1, 2, 7, 8, 9)] == list(range(1, 11))
