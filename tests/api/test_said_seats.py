"""Names of powers within sentences of the pages: with their articles, in each language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.pages.common.labels import Labels
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import load_texts
from tests.api.test_game_pages import CATALOGUE

PAGES = Path(__file__).parents[2] / "api/pages"

PLAIN = {"Place of {name}", "Stop the time of {seat} until {until}.", "Stop the time of {seat} for {seconds:time}."}
"""Sentences in whose French form the name stands after a colon or a preposition."""

SAID = re.compile(r"""(?:say|Message)\(\s*"([^"]*\{(?:name|seat)\}[^"]*)",\s*(?:name|seat)=([^)]*\()""")


def test_no_sentence_takes_the_bare_name_of_a_seat() -> None:
    found = [
        (said[1], path.name)
        for path in [*PAGES.rglob("*.html"), *PAGES.rglob("*.py")]
        for said in SAID.finditer(path.read_text())
        if re.search(r"labels\.(short_)?seat\($", said[2]) and said[1] not in PLAIN
    ]
    assert not found


@pytest.mark.parametrize(
    ("lang", "said", "begun"),
    [("en", "the United Provinces", "The United Provinces"), ("fr", "les Provinces-Unies", "Les Provinces-Unies")],
)
def test_a_power_in_a_sentence_has_its_article(lang: str, said: str, begun: str) -> None:
    rules = CATALOGUE.get("struggle_of_empires@1")
    texts = load_texts(rules.package, lang)
    labels = Labels(rules, texts, SeatNames(texts, {0: "united_provinces", 1: "france"}, {1: "anne"}))
    assert labels.said_seat(0) == said
    assert labels.said_seat(0, begins=True) == begun
    assert labels.said_seat(1) == ("la France (anne)" if lang == "fr" else "France (anne)")
