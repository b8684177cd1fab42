"""SE7-18: the worked examples of the rulebook."""

from __future__ import annotations

from tests.games.seven_empires.board import (
    END,
    acting,
    army,
    asked,
    move,
    moving,
    of_kind,
    offers,
    position,
    power,
    shares,
    ship,
    there,
)


def test_ship_movement() -> None:
    """SE7-18.1: three borders from Salonica, two from the Adriatic."""
    units = {"salonica": "ottomans three_master", "adriatic_sea": "ottomans two_master"}
    game = moving("ottomans", units)
    east = ["aegean_sea", "ionian_sea", "tyrrhenian_sea"]
    game.refused(0, ship("salonica", "three_master", *east, "ligurian_sea"), "too_far", "SE7-8.2")
    west = ["ionian_sea", "tyrrhenian_sea"]
    game.refused(0, ship("adriatic_sea", "two_master", *west, "ligurian_sea"), "too_far", "SE7-8.2")
    game.when(0, ship("salonica", "three_master", *east))
    game.refused(0, ship("adriatic_sea", "two_master", *west), "own_ship_there", "SE7-8.3")


def test_ship_movement_and_combat() -> None:
    """SE7-18.2: three ships pass a Prussian one and set three flags; or one ends there and both are removed."""
    units = {"london": "great_britain three_master three_master three_master", "north_sea": "prussia three_master"}
    game = moving("great_britain", units)
    for path in (["north_atlantic"], ["baltic_sea"], ["baltic_sea", "gulf_of_bothnia"]):
        game.when(0, ship("london", "three_master", "north_sea", *path))
    flags = of_kind(game.when(0, END), "flag_placed")
    assert [f["region"] for f in flags] == ["north_atlantic", "baltic_sea", "gulf_of_bothnia"]
    other = moving("great_britain", units)
    other.when(0, ship("london", "three_master", "north_sea"))
    assert there(other, "north_sea") == {}


def test_sea_transport() -> None:
    """SE7-18.3: three infantry of York, and four new flags."""
    units = {
        "liverpool": "great_britain two_master",
        "york": "great_britain infantry infantry infantry",
        "north_sea": "great_britain three_master",
        "baltic_sea": "great_britain two_master",
    }
    flags = {"north_atlantic": "prussia", "north_sea": "great_britain", "baltic_sea": "great_britain"}
    game = moving("great_britain", units, flags=flags)
    game.when(0, ship("liverpool", "two_master", "irish_sea", "north_atlantic"))
    game.when(0, army("york", "infantry", "edinburgh", "ireland via north_atlantic"))
    game.when(0, army("york", "infantry", "norway via north_sea", "sweden"))
    game.when(0, army("york", "infantry", "livonia via north_sea baltic_sea", "western_poland"))
    placed = of_kind(game.when(0, END), "flag_placed")
    assert [(f["region"], f.get("replaced")) for f in placed] == [
        ("ireland", None),
        ("sweden", None),
        ("western_poland", None),
        ("north_atlantic", "prussia"),
    ]


MARSEILLE = {"madrid": "spain artillery artillery", "marseille": "france infantry infantry two_master"}


def test_artillery_against_marseille() -> None:
    """SE7-18.4: against the two-master both go; against infantry 1:0, then France picks."""
    go = army("madrid", "artillery", "barcelona", "marseille", target="infantry")
    game = moving("spain", MARSEILLE)
    game.when(0, army("madrid", "artillery", "barcelona", "marseille", target="two_master"))
    assert there(game, "marseille") == {"france": {"infantry": 2}}
    game = moving("spain", MARSEILLE)
    game.when(0, go)
    game.when(1, move("choose_defender", unit="infantry"))
    game.when(0, army("madrid", "artillery", "barcelona", "marseille"))
    assert there(game, "marseille") == {}
    game = moving("spain", MARSEILLE)
    game.when(0, go)
    game.when(1, move("choose_defender", unit="two_master"))
    game.when(0, army("madrid", "artillery", "barcelona", "marseille"))
    assert there(game, "marseille") == {"spain": {"artillery": 1}}


def test_habsburg_attack() -> None:
    """SE7-18.5: ship to the Ionian Sea, artillery over two seas to Sicily in one step."""
    units = {"adriatic_sea": "habsburg two_master", "budapest": "habsburg infantry"}
    game = acting("habsburg", "attack", units=units)
    placed = [{"region": "trieste", "unit": "three_master"}, {"region": "trieste", "unit": "artillery"}]
    game.when(0, move("attack_deploy", units=placed))
    game.when(0, ship("trieste", "three_master", "adriatic_sea", "ionian_sea"))
    game.when(0, army("trieste", "artillery", "sicily via adriatic_sea ionian_sea"))
    flags = [f["region"] for f in of_kind(game.when(0, END), "flag_placed")]
    assert flags == ["sicily", "adriatic_sea", "ionian_sea"]


def test_habsburg_palace() -> None:
    """SE7-18.6: Vienna and Prague are legal; six crowns either way."""
    for region in ("vienna", "prague"):
        game = acting(
            "habsburg", "palace", units={"budapest": "ottomans infantry"}, palaces={"trieste": 2}, levels={"trieste": 2}
        )
        assert offers(game, 0) == ["vienna", "prague"]
        game.when(0, move("build_palace", region=region))
        assert power(game, "habsburg") == 6


def test_habsburg_flags() -> None:
    """SE7-18.7: nine flags are nine power."""
    nine = ["bavaria", "saxony", "venice", "bosnia", "serbia", "moldavia", "sicily", "adriatic_sea", "ionian_sea"]
    assert power(acting("habsburg", "empire", flags=dict.fromkeys(nine, "habsburg")), "habsburg") == 9


def test_scoring() -> None:
    """SE7-18.8: 28 + 30 + 70 + 20 = 148."""
    hand = [
        *("great_britain.nobility", "great_britain.magistrate", "great_britain.peasant_1"),
        "habsburg.clergy",
        *("ottomans.nobility", "ottomans.peasant_1"),
        "france.bourgeoisie",
    ]
    ranks = ["ottomans", "spain", "habsburg", "france", "russia", "great_britain", "prussia"]
    game = position(hands={0: hand, 1: [], 2: []}, power={empire: 10 - i for i, empire in enumerate(ranks)})
    (score, *_) = game.match.rules.scores(game.state)
    by = {share["empire"]: share["points"] for share in shares(game, 0)}
    assert [by[e] for e in ("great_britain", "habsburg", "ottomans", "france")] == [28, 30, 70, 20]
    assert score.points == 148
    assert asked(game)[0] == "choose_empire"
