"""Dice that no fact names: who rolled them, for what, and what a number means (IMP-0.4)."""

from __future__ import annotations

import json

import pytest

from domain.games.imperunde import RULESET
from domain.kernel.narration.chapters import narrate
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.narration.turn_digests import digests
from domain.kernel.records.audience import ALL_KEY
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.types import PUBLIC, Doc
from projections.documents import add_text, build_entries
from projections.loaded_game import LoadedGame
from tests.games.imperunde.board import (
    PASS,
    attack,
    buy,
    colony,
    deciding,
    dice,
    die,
    group,
    move,
    position,
    units,
    zone,
)
from tests.games.imperunde.s05_setup.test_setup import fresh
from tests.games.imperunde.s09_cards.test_cards import item, smuggle, smuggler
from tests.games.imperunde.s10_events.test_events import LAND, SEA, spins
from tests.games.imperunde.test_words import told
from tests.spec import Given

STORM = zone(marker="storm")
WORDS = load_texts(RULESET.package, "en")


def in_storm(rolled: str, zone_name: str = "Norwegian Sea") -> str:
    return f"Great Britain rolls {rolled} in the storm in the {zone_name}; an odd number is a loss."


def namer(words: Texts = WORDS) -> SeatNames:
    return SeatNames(words, dict(enumerate(("great_britain", "south_africa", "japan"))), {})


def test_a_storm_that_spares_all_is_told_by_its_dice() -> None:
    """IMP-7.7: in both languages; the march is one sentence as before."""
    lines = {}
    for lang in ("en", "fr"):
        game = position(zones={"north_sea": zone({0: {"frigate": 2}}), "norwegian_sea": STORM})
        order = move("north_sea", "norwegian_sea", "barents_sea", frigate=2)
        _, lines[lang] = told(game, 0, order, draws=dice("w2 w6"), lang=lang)
    assert lines["en"] == in_storm("2 and 6 for 2 frigates")
    assert lines["fr"].replace("\N{NARROW NO-BREAK SPACE}", " ") == (
        "La Grande-Bretagne obtient aux dés 2 et 6 pour 2 frégates dans la tempête en mer de Norvège ; "
        "un nombre impair est une perte."
    )


def test_dice_stand_between_the_step_and_its_loss() -> None:
    """IMP-7.7: by kind, in the order in which they were rolled."""
    fleet = {"frigate": 2, "ship_of_the_line": 1, "infantry": 1}
    game = position(zones={"north_sea": zone({0: fleet}), "norwegian_sea": STORM})
    said = told(game, 0, move("north_sea", "norwegian_sea", **fleet), draws=dice("w2 w1 w4 w3"))
    assert said[1:] == [
        in_storm("2 for 1 ship of the line, 1 and 4 for 2 frigates and 3 for 1 infantry"),
        "Great Britain loses 1 frigate and 1 infantry in the storm in the Norwegian Sea.",
    ]


def test_an_attack_tells_the_dice_of_its_way_without_the_steps() -> None:
    """IMP-8.1.2.1: group by group; the losses are a sum behind them."""
    way = ("north_sea", "norwegian_sea", "barents_sea")
    fleet = {"frigate": 2, "ship_of_the_line": 1}
    game = position(zones={"north_sea": zone({0: fleet}), "norwegian_sea": STORM, "barents_sea": zone(pirates=1)})
    order = attack(group(*way, frigate=2), group(*way, ship_of_the_line=1))
    said = told(game, 0, order, draws=dice("w1 w3 w4 g8 w3"))
    assert said[1:3] == [
        in_storm("1 and 3 for 2 frigates and 4 for 1 ship of the line"),
        "Great Britain loses 2 frigates in the storm in the Norwegian Sea.",
    ]


def test_dice_and_losses_of_several_groups_of_attack_are_sums() -> None:
    """IMP-8.1.2.1: each group rolls when it comes."""
    way = ("north_sea", "norwegian_sea", "barents_sea")
    fleet = {"frigate": 3}
    game = position(zones={"north_sea": zone({0: fleet}), "norwegian_sea": STORM, "barents_sea": zone(pirates=1)})
    order = attack(group(*way, frigate=1), group(*way, frigate=2))
    said = told(game, 0, order, draws=dice("w1 w2 w3 w6 w1"))
    assert said[1:3] == [
        in_storm("1, 2 and 3 for 3 frigates"),
        "Great Britain loses 2 frigates in the storm in the Norwegian Sea.",
    ]


def test_units_of_several_regions_enter_storms_with_one_throw() -> None:
    """IMP-8.1.2.3, IMP-8.3.2: ships of the line first, wherever they come from; reinforcements, too."""
    game = position(
        zones={
            "north_sea": zone({0: {"frigate": 1, "ship_of_the_line": 1}}),
            "barents_sea": zone({0: {"frigate": 2, "ship_of_the_line": 1}}),
            "norwegian_sea": zone(pirates=3, marker="storm"),
        }
    )
    near, far = ("north_sea", "norwegian_sea"), ("barents_sea", "norwegian_sea")
    order = attack(group(*near, frigate=1), group(*far, ship_of_the_line=1))
    said = told(game, 0, order, draws=dice("w2 w4 g3 w1 w6 w5 w4"))
    assert said[1] == in_storm("2 for 1 ship of the line and 4 for 1 frigate")
    assert deciding(game) == ("reinforce", [0])
    more = {"type": "reinforce", "groups": [group(*far, frigate=2), group(*near, ship_of_the_line=1)]}
    said = told(game, 0, more, draws=dice("w2 w1 w4 g8 w6 w1 w1 w1 g8 w6 w1"))
    assert said[2:4] == [
        in_storm("2 for 1 ship of the line and 1 and 4 for 2 frigates"),
        "Great Britain loses 1 frigate in the storm in the Norwegian Sea.",
    ]


def test_ships_that_are_placed_in_a_storm() -> None:
    """IMP-6.4.2, IMP-6.7.2, IMP-9.4.11: bought, smuggled, and armies aboard transports."""
    storm = {"arabian_sea": STORM}
    game = position(
        step="investment", countries={"egypt": colony(0, posts=1)}, nations={0: {"available": 50}}, zones=storm
    )
    said = told(game, 0, buy("frigate", 1, "egypt", "arabian_sea"), draws=dice("w2"))
    assert said[1:] == [in_storm("2 for 1 frigate", "Arabian Sea")]
    game = position(step="embarkation", countries={"egypt": colony(0, posts=1, infantry=2)}, zones=storm)
    embark = {"type": "embark", "from": "egypt", "zone": "arabian_sea", "units": units(infantry=2)}
    assert told(game, 0, embark, draws=dice("w6 w2"))[1:] == [in_storm("6 and 2 for 2 infantry", "Arabian Sea")]
    game = smuggler(zones=storm)
    game.when(0, smuggle("egypt", item("frigate", 1, "arabian_sea"), item("infantry", 2)))
    assert told(game, 1, PASS, draws=dice("w2"))[-2:] == [
        in_storm("2 for 1 frigate", "Arabian Sea"),
        "Great Britain places 2 infantry in Egypt.",
    ]


def disasters() -> tuple[Given, Doc, list[Doc]]:
    """An epidemic and a storm, as the first events of the last phase 8."""
    top = {"n": 2, "kind": "embarkation", "asked": [0], "owing": [0], "data": {}}
    frames = [{"n": 1, "kind": "game", "data": {"step": "event_window"}}, top]
    fleets = zone({1: {"frigate": 1}, 0: {"ship_of_the_line": 1, "infantry": 1}}, pirates=2)
    countries = {"france": colony(1, posts=1, infantry=2, artillery=1)}
    game = position(
        step="embarkation",
        frames=frames,
        opened=2,
        options={"turn_limit": 4},
        turn=4,
        zones={"north_sea": fleets},
        countries=countries,
    )
    land = [*spins(("france", "epidemic")), *dice("w2 w3 w5"), *spins(*LAND[1:])]
    sea = [*spins(("north_sea", "storm"), sea=True), *dice("w1 w2 w4 w5 w6"), *spins(*SEA[1:], sea=True)]
    return game, {"type": "end_embarkation"}, [*land, *sea]


def test_disasters_tell_the_dice_of_everybody_they_strike() -> None:
    """IMP-10.4, IMP-10.5: the pirates are the last."""
    game, end, draws = disasters()
    said = told(game, 0, end, draws=draws)
    assert said[1] == (
        "South Africa rolls 2 and 3 for 2 infantry and 5 for 1 artillery in the epidemic in France; "
        "an odd number is a loss."
    )
    at = said.index("A storm rises in the North Sea.")
    assert said[at + 1 : at + 4] == [
        in_storm("1 for 1 ship of the line and 2 for 1 infantry", "North Sea"),
        "South Africa rolls 4 for 1 frigate in the storm in the North Sea; an odd number is a loss.",
        "The Pirates roll 5 and 6 for 2 frigates in the storm in the North Sea; an odd number is a loss.",
    ]


def test_the_entry_of_a_timeline_tells_the_same() -> None:
    """As it is stored: in JSON, without sentences."""
    game, end, draws = disasters()
    before = LoadedGame(RULESET, game.match.game)
    said = told(game, 0, end, draws=draws)
    entries = build_entries(game.match.records[-1], before, LoadedGame(RULESET, game.match.game))
    stored = json.loads(json.dumps(entries[ALL_KEY]))
    assert add_text(RULESET, stored, WORDS, namer())["text"] == said


def test_digests_tell_what_came_of_dice_and_not_the_dice() -> None:
    game, end, draws = disasters()
    game.when(0, end, draws=draws)
    tale = narrate(RULESET, game.match.records, PUBLIC, WORDS, lambda _, __: namer())
    lines = [line for digest in digests(RULESET, WORDS, lambda _, __: namer(), tale, "full") for line in digest.lines]
    assert "A storm rises in the North Sea." in lines
    assert "An epidemic breaks out in France, a colony of South Africa." in lines
    assert not any("roll" in line for line in lines)


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", "so both roll again to board (5 against 5 and 6 against 2)."),
        ("fr", "et les deux relancent pour l'abordage (5 contre 5 et 6 contre 2)."),
    ],
)
def test_a_boarding_tells_its_dice(lang: str, said: str) -> None:
    """IMP-8.4.1: the attacker's die first, until they differ."""
    game = position(
        wars=[(0, 1)], zones={"north_sea": zone({0: {"frigate": 1}}), "norwegian_sea": zone({1: {"frigate": 1}})}
    )
    order = attack(group("north_sea", "norwegian_sea", frigate=1))
    assert told(game, 0, order, draws=dice("w3 w3 w5 w5 w6 w2"), lang=lang)[1].endswith(said)


def test_each_boarding_of_a_round_has_its_own_dice() -> None:
    """IMP-8.4.1: in the order of the pairs."""
    game = position(zones={"north_sea": zone({0: {"frigate": 2}}), "norwegian_sea": zone(pirates=2)})
    order = attack(group("north_sea", "norwegian_sea", frigate=2))
    said = told(game, 0, order, draws=dice("w4 w3 w4 w3 w5 w1 w1 w1 w6 w2"))[1]
    assert said.index("4 (frigate) ties") < said.index("(5 against 1)") < said.index("3 (frigate) ties")
    assert said.index("3 (frigate) ties") < said.index("(1 against 1 and 6 against 2)")


def test_the_set_up_tells_the_dice_of_order_and_nations() -> None:
    """IMP-5.1: a tie rolls again among itself; a 1 and a taken nation decide nothing."""
    game = fresh(die(5), die(2), die(5), die(3), die(4), die(1), die(6), die(6), die(3))
    tale = narrate(RULESET, game.match.records, PUBLIC, WORDS, lambda _, __: WORDS.seat)
    lines = [line for section in tale.sections for line in section.lines]
    at = lines.index("All roll for the first place in the turn order: 5 for seat 1, 2 for seat 2 and 5 for seat 3.")
    assert lines[at + 1 : at + 4] == [
        "The highest roll again: 3 for seat 1 and 4 for seat 3.",
        "The turn order is seat 3, seat 1 and seat 2.",
        "Seat 3 plays Great Britain.",
    ]
    assert "Seat 1 plays Brazil after rolling 1 and 6." in lines
    assert "Seat 2 plays Japan after rolling 6 and 3." in lines


def test_every_reader_is_told_the_same_dice() -> None:
    """What they mean follows from public things."""
    game, end, draws = disasters()
    game.when(0, end, draws=draws)
    said = {
        tuple(
            line
            for section in narrate(RULESET, game.match.records, viewer, WORDS, lambda _, __: namer()).sections
            for line in section.lines
            if " roll" in line
        )
        for viewer in (PUBLIC, 0, 1, 2)
    }
    assert len(said) == 1
    assert len(said.pop()) > 4
