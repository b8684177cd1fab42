"""Words of moves and options on pages, in every game and language."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import combinations
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
import pytest

from api.pages.common.collation import collation_key
from api.pages.common.geometry import load_geometry
from api.pages.common.labels import Labels
from api.pages.common.presentation import load_lists
from api.pages.decision.move_choices import show_question
from domain.bots import deciding_seats, random_pick
from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import build_move
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from tests.games.pages import ALL, Pages

DECISIONS = 40
"""Decisions of each game with options that are read."""


def labels_of(pages: Pages, lang: str) -> Labels:
    texts = load_texts(pages.rules.package, lang)
    return Labels(pages.rules, texts, SeatNames(texts, {}, {}))


def game(name: str) -> Pages:
    return next(pages for pages in ALL if pages.game == name)


def is_word(kind: Any) -> bool:
    """Whether a member may hold a word."""
    if get_origin(kind) is Annotated:
        return is_word(get_args(kind)[0])
    return kind is str or (get_origin(kind) in (Union, UnionType) and any(map(is_word, get_args(kind))))


def moves_with_two(pages: Pages) -> Iterator[tuple[str, str, str, str, str | None]]:
    """Each kind of move with two words of one list of the game in two of its members, or with one and none."""
    geometry = load_geometry(pages.rules.package)
    lists = [tuple(geometry.regions)] if geometry else []
    lists += [ids for ids in load_lists(pages.rules.package) if len(ids) > 1]
    for name, kind in pages.rules.moves.items():
        hints = msgspec.structs.fields(kind)
        words = [field.encode_name for field in hints if is_word(field.type)]
        for one, other in combinations(words, 2):
            yield from ((name, one, ids[0], other, ids[1]) for ids in lists[:6])
            yield name, one, "unlisted", other, "unknown"
            yield name, one, "unlisted", other, None


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_a_move_says_to_what_each_of_two_words_of_one_kind_belongs(pages: Pages, lang: str) -> None:
    labels = labels_of(pages, lang)
    for name, one, first, other, second in moves_with_two(pages):
        _, rest = labels.move_parts({"type": name, one: first, other: second})
        assert labels.pair(labels.holder(one, first), labels.value(one, first)) in rest, (name, rest)
        assert labels.pair(labels.holder(other, second), labels.value(other, second)) in rest, (name, rest)


def test_the_first_fleet_says_which_ship_goes_where() -> None:
    zones = list(load_geometry(game("imperunde").rules.package).regions)  # type: ignore[union-attr]
    move = {"type": "place_home_fleet", "frigate": zones[0], "ship_of_the_line": zones[1]}
    english, french = (labels_of(game("imperunde"), lang) for lang in LANGUAGES)
    first, second = (english.value("zone", zone) for zone in zones[:2])
    assert english.move_parts(move)[1] == f"Frigate: {first}; Ship of the line: {second}"
    assert "Navire de ligne\u00a0: " in french.move(move)
    assert french.member("ship_of_the_line") == "Navires de ligne"
    assert english.question("frigate", zones[0]) == "Frigate"
    assert english.move_parts({"type": "set_stance", "target": 1, "stance": "war"})[1].endswith("; war")


@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_options_in_french_have_french_punctuation(pages: Pages) -> None:
    labels, rng, shown = labels_of(pages, "fr"), random.Random(3), list[str]()

    def pick(choice: Choice) -> Any:
        shown.extend(labels.option(choice.field, option.value) for option in choice.options)
        return random_pick(rng, choice)

    match: AnyInMemoryGame = InMemoryGame(pages.rules, pages.rules.meta.seats[0], rng.randbytes(32))
    for _ in range(DECISIONS):
        if match.state.top.engine:
            match.resolve()
            continue
        seat = rng.choice(deciding_seats(match))
        move = build_move(pages.rules, match.state, seat, pick)
        shown += [labels.move(move), labels.move_parts(move)[1]]
        match.play(seat, move)
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
