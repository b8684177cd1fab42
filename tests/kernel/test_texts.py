"""Text catalogues: the same keys in every language, every code has a text."""

from __future__ import annotations

import re
from typing import Any

import pytest

from domain.kernel.game.command import TABLE_CODES
from domain.kernel.records.record import KINDS
from domain.kernel.rules.ruleset import COMMON_CODES
from domain.kernel.text import package_data
from domain.kernel.text.grammar import numbered_noun, parse_noun, person_noun
from domain.kernel.text.message_catalog import LANGUAGES, Texts, load_texts

PLACES = re.compile(r"\{\w+(?::\w+)?")
FORMS = re.compile(r":(?:the|in|le|de|en)\b")
"""Forms of one language."""


class TestTheKernelsOwn:
    def test_the_languages_have_the_same_keys_and_places(self) -> None:
        """And no text is empty."""
        catalogues = [dict(load_texts("", lang).common) for lang in LANGUAGES]
        assert catalogues[0].keys() == catalogues[1].keys()
        for key, text in catalogues[0].items():
            said, told = ([FORMS.sub("", place) for place in PLACES.findall(each[key])] for each in catalogues)
            assert sorted(said) == sorted(told), key
            assert text.strip()
            assert catalogues[1][key].strip()
            assert text != catalogues[1][key] or key == "item.counted"  # a number and its thing

    def test_every_code_and_kind_of_record_has_a_text(self) -> None:
        """A refusal can be told in any language."""
        known = load_texts("", "fr")
        assert [c for c in (*COMMON_CODES, *TABLE_CODES) if known.get(f"refusal.{c}") is None] == []
        assert [k for k in KINDS if k != "moved" and known.get(f"record.{k}") is None] == []


class TestSentences:
    own = Texts("en", {"fact.moved": "{seat:seat} moves {unit} to {to}: {list}.", "word.baltic": "the Baltic"})

    def test_places_are_filled(self) -> None:
        """Ids by their word, seats by their name, lists joined, null a dash in them."""
        fact = {"t": "moved", "seat": 0, "unit": 2, "to": "baltic", "list": ["baltic", "x", None]}
        assert self.own.sentence(fact) == "Seat 1 moves 2 to Baltic: Baltic, x and -."
        assert self.own.sentence(fact, lambda s: person_noun(f"p{s}")) == "p0 moves 2 to Baltic: Baltic, x and -."

    def test_objects_give_keys_and_values(self) -> None:
        """Nothing is a dash, or one could not tell which key has it."""
        texts = Texts("en", {"fact.a": "{of}", "word.baltic": "the Baltic", "word.yes": "yes"})
        fact = {"t": "a", "of": {"fleet": ["baltic", 3], "baltic": None, "free": True}}
        assert texts.sentence(fact) == "Fleet Baltic and 3; Baltic -; free yes"

    def test_an_id_of_parts_reads_part_by_part(self) -> None:
        """If a part has a word: else it is left as it is."""
        texts = Texts("en", {"word.new_york": "New York", "word.N": "neutral army of"})
        words = {"new_york-3": "New York 3", "N-new_york": "neutral army of New York", "a-3": "a-3", "0-9": "0-9"}
        assert {value: texts.word(value) for value in words} == words

    def test_a_clause_with_an_empty_place_is_left_out(self) -> None:
        """And what is said in it is never a clause itself."""
        texts = Texts("en", {"fact.built": "{seat:seat} builds.[ Ports: {ports}.][ Gone: {gone} of {all}.]"})
        built = {"t": "built", "seat": 0, "ports": ["[x]"], "gone": [], "all": 3}
        assert texts.sentence(built) == "Seat 1 builds. Ports: [x]."
        assert texts.sentence({**built, "ports": None, "gone": 0}) == "Seat 1 builds. Gone: 0 of 3."

    def test_items_have_templates_of_their_own(self) -> None:
        """Of an object by its members, of a list by their numbers; also one item alone."""
        templates = {"fact.a": "{units:lot}; {dice:die}", "item.lot": "{count} {unit}[ of {seat:seat}]"}
        texts = Texts("en", {**templates, "item.die": "{0}={1}", "word.inf": "infantry"})
        lots = [{"unit": "inf", "count": 2}, {"unit": "x", "count": 1, "seat": 0}]
        told = texts.sentence({"t": "a", "units": lots, "dice": [["inf", 3]]})
        assert told == "2 infantry and 1 x of seat 1; infantry=3"
        assert texts.sentence({"t": "a", "units": lots[0], "dice": []}) == "2 infantry;"

    def test_a_party_that_is_no_seat_has_its_word(self) -> None:
        """Natives fight, but sit nowhere."""
        texts = Texts("en", {"fact.a": "{by:seat}", "word.natives": "the natives"})
        assert [texts.sentence({"t": "a", "by": by}) for by in (1, "natives")] == ["Seat 2", "The natives"]

    def test_the_flow_is_silent(self) -> None:
        """Facts without a text say nothing."""
        assert self.own.sentence({"t": "noted", "data": {}}) is None

    def test_a_value_is_not_a_template(self) -> None:
        """What a member holds is never filled again."""
        texts = Texts("en", {"fact.said": "{what}"})
        assert texts.sentence({"t": "said", "what": "{seat:seat}"}) == "{seat:seat}"

    def test_seats_count_from_one(self) -> None:
        """As people do."""
        assert load_texts("", "fr").seat(0) == numbered_noun(parse_noun("le joueur"), 1)
        assert load_texts("", "fr").word(True) == "oui"


class TestDataFiles:
    @pytest.mark.parametrize("text", ['{"a": 1.5}', '{"a": NaN}', '{"a": 1, "a": 2}', '{"a": 1e3}'])
    def test_floats_and_repeated_keys_are_refused(self, text: str, tmp_path: Any, monkeypatch: Any) -> None:
        """Integers only, and no key that silently wins."""
        package = tmp_path / "somedata"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "data.json").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        package_data.load.cache_clear()
        with pytest.raises(ValueError, match=r"integers only|comes twice"):
            package_data.load("somedata", "data.json")
