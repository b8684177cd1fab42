"""The rules beside the map, and their index by region, piece and card."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from api.pages.rules.rules import read_blocks
from api.pages.rules.rules_names import Names, Thing, load_names
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from tests.api.conftest import make_site
from tests.api.game_pages import Person
from tests.api.test_game_pages import CATALOGUE, SOE, person
from tests.games.pages import ALL, Pages


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Person, str]]:
    with closing(make_site(tmp_path_factory.mktemp("rules"), CATALOGUE)) as site:
        anne = person(site)
        yield anne, anne.play_now(SOE)


def links(html: str, path: str) -> set[str]:
    """Fragments of the links to a page."""
    return set(re.findall(rf'href="{path}#([^"]+)"', html))


def ids(html: str) -> set[str]:
    return set(re.findall(r' id="([^"]+)"', html))


def test_links_of_rules_and_their_index_lead_to_their_place(reader: tuple[Person, str]) -> None:
    anne, path = reader
    table, rules, index = (anne.read(path + part).text for part in ("", "/rules", "/rules/index"))
    assert f'href="{path}/rules/index"' in table
    assert "place-baltic" in links(rules, "") <= ids(rules)
    assert {"about-baltic", "about-surprise_attack"} <= links(rules, f"{path}/rules/index") <= ids(index)
    assert "SOE-1.8" in links(index, f"{path}/rules") <= ids(rules)
    assert "Baltique" in anne.read(path + "/rules/index", Accept_Language="fr").text


@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_the_rule_of_every_refusal_is_on_the_rules_page(pages: Pages) -> None:
    rules = {block.rule for block in read_blocks(pages.rules_page)}
    assert set(pages.rules.meta.codes.values()) | set(pages.numbers) <= rules


@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_the_index_names_regions_and_pieces_of_every_game(pages: Pages) -> None:
    names = load_names(pages.rules.package)
    mentions = names.find_mentions((block.rule, block.text) for block in read_blocks(pages.rules_page))
    found = {thing.id: thing for thing in names.things if mentions.get(thing.id)}
    assert any(thing.is_place for thing in found.values())
    assert any(thing.is_piece for thing in found.values())
    for lang in LANGUAGES:
        texts = load_texts(pages.rules.package, lang)
        assert not [each.id for each in found.values() if re.search("[a-z]_[a-z]", each.find_name(texts))]


def test_the_longest_name_counts_and_no_part_of_a_word() -> None:
    things = {word: Thing(word.lower()) for word in ("Indies", "East Indies", "India")}
    names = Names(list(things.values()), things)
    split: Any = [(text, thing and thing.id) for text, thing in names.split("East Indies, Indian, India.")]
    assert [each for each in split if each[1]] == [("East Indies", "east indies"), ("India", "india")]
    rules = [("A-1", "India and India"), ("", "East Indies"), ("A-2", "India")]
    assert names.find_mentions(rules) == {"india": ["A-1", "A-2"], "east indies": ["A-1"]}
