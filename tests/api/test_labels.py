"""Words of moves and options on pages, in every game and language."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from api.pages.common.collation import collation_key
from api.pages.common.geometry import load_geometry
from api.pages.common.labels import Labels
from api.pages.decision.move_choices import show_question
from domain.bots import deciding_seats
from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import build_move
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.rollouts import random_pick
from domain.types import Doc
from tests.games.pages import ALL, Pages

DECISIONS = 40
"""Decisions of each game with options that are read."""


def labels_of(pages: Pages, lang: str) -> Labels:
    texts = load_texts(pages.rules.package, lang)
    return Labels(pages.rules, texts, SeatNames(texts, {}, {}))


def game(name: str) -> Pages:
    return next(pages for pages in ALL if pages.game == name)


def test_the_first_fleet_says_which_ship_goes_where() -> None:
    move = {"type": "place_home_fleet", "frigate": "coral_sea", "ship_of_the_line": "north_sea"}
    english, french = (labels_of(game("imperunde"), lang) for lang in LANGUAGES)
    assert english.move(move) == "Place the frigate in the Coral Sea and the ship of the line in the North Sea"
    assert french.move(move) == "Placer la frégate en mer de Corail et le vaisseau de ligne en mer du Nord"
    assert french.member("ship_of_the_line") == "Vaisseaux de ligne"
    assert english.question("frigate", "coral_sea") == "Frigate"


@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_options_in_french_have_french_punctuation(pages: Pages) -> None:
    labels, rng, shown = labels_of(pages, "fr"), random.Random(3), list[str]()
    costs = list[Doc]()

    def pick(choice: Choice) -> Any:
        shown.extend(labels.option(choice.field, option.value) for option in choice.options)
        costs.extend(option.cost for option in choice.options if option.cost)
        return random_pick(rng, choice)

    match: AnyInMemoryGame = InMemoryGame(pages.rules, pages.rules.meta.seats[0], rng.randbytes(32))
    for _ in range(DECISIONS):
        if match.state.top.engine:
            match.resolve()
            continue
        seat = rng.choice(deciding_seats(match))
        move = build_move(pages.rules, match.state, seat, pick)
        shown.append(labels.move(move))
        match.play(seat, move)
    for told in {lang: labels_of(pages, lang) for lang in LANGUAGES}.values():
        plain = {told.texts.word(flag) for flag in (True, False)}
        assert not [text for text in map(told.cost, costs) if plain & set(text.split())], told.texts.lang
        named = {what for cost in costs for what in cost if told.texts.get(f"cost.{what}") is None}
        assert not [what for what in named if not (told.has_name(what) or told.has_name(what.removesuffix("s")))]
    assert shown
    assert not [text for text in shown if re.search(r"\w[:;](?=\s)|  |[\u00a0\u202f]{2}", text)]


def test_names_with_accents_stand_where_readers_look_for_them() -> None:
    names = ["Victoria", "Égypte", "Brésil", "Œuvre", "Orient", "bénin", "Bénin"]
    assert sorted(names, key=collation_key) == ["Bénin", "bénin", "Brésil", "Égypte", "Œuvre", "Orient", "Victoria"]
    labels = labels_of(game("egc"), "fr")
    geometry = load_geometry(labels.rules.package)
    assert geometry is not None
    options = [{"value": region} for region in geometry.regions]
    groups = show_question(labels, {"field": "territory", "kind": "one", "options": options}).groups
    for _, some in groups:
        found = [option.label for option in some]
        assert found == sorted(found, key=collation_key)
    continents = [name for name, _ in groups if name]
    assert continents == sorted(continents, key=collation_key)
