"""What sentences need of their language: articles, prepositions, elision, agreement, numbers, lists, punctuation."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import pytest

from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.grammar import GRAMMARS, Noun, numbered_noun, parse_noun, person_noun
from domain.kernel.text.message_catalog import Texts

EN, FR = GRAMMARS["en"], GRAMMARS["fr"]


class TestNames:
    @pytest.mark.parametrize(
        ("text", "made"),
        [
            ("Africa", Noun("Africa")),
            ("the Baltic", Noun("Baltic", "the")),
            ("the Pirates (many)", Noun("Pirates", "the", is_plural=True)),
            ("an army, armies", Noun("army", "an", "armies")),
            ("l'Afrique (f)", Noun("Afrique", "l'", feminine=True)),
            ("les Caraïbes (f)", Noun("Caraïbes", "les", feminine=True, is_plural=True)),
            ("la Baltique; en Baltique", Noun("Baltique", "la", feminine=True, locative="en Baltique")),
            ("une armée, armées", Noun("armée", "une", "armées", feminine=True)),
            ("La Plata", Noun("La Plata")),
            ("personne (égalité)", Noun("personne (égalité)")),
        ],
    )
    def test_an_article_tells_what_the_language_must_know(self, text: str, made: Noun) -> None:
        assert parse_noun(text) == made


def test_decimals_are_rounded_to_even_and_keep_their_sign() -> None:
    for value, digits, shown in (
        (Fraction(9, 4), 3, "2.250"),
        (Fraction(-1, 3), 2, "-0.33"),
        (Fraction(-1, 3000), 2, "0.00"),
        (Fraction(1, 8), 2, "0.12"),
        (Fraction(123456), 1, "123456.0"),
    ):
        assert EN.decimal(value, digits) == shown
        assert FR.decimal(value, digits) == shown.replace(".", ",")


class TestFrench:
    @pytest.mark.parametrize(
        ("text", "le", "de", "à", "en"),
        [
            ("l'Afrique (f)", "l'Afrique", "de l'Afrique", "à l'Afrique", "en Afrique"),
            ("le Maroc", "le Maroc", "du Maroc", "au Maroc", "au Maroc"),
            ("la Baltique", "la Baltique", "de la Baltique", "à la Baltique", "en Baltique"),
            ("l'Angola", "l'Angola", "de l'Angola", "à l'Angola", "en Angola"),
            ("la Manche; dans la Manche", "la Manche", "de la Manche", "à la Manche", "dans la Manche"),
            ("les Caraïbes (f)", "les Caraïbes", "des Caraïbes", "aux Caraïbes", "aux Caraïbes"),
            ("Cuba (f)", "Cuba", "de Cuba", "à Cuba", "à Cuba"),
            ("Alger", "Alger", "d'Alger", "à Alger", "à Alger"),
            ("le Hanovre", "le Hanovre", "du Hanovre", "au Hanovre", "au Hanovre"),
        ],
    )
    def test_prepositions_and_articles(self, text: str, le: str, de: str, à: str, en: str) -> None:  # noqa: PLC2401
        name = parse_noun(text)
        assert [FR.forms[form](name) for form in ("le", "de", "à", "en")] == [le, de, à, en]

    @pytest.mark.parametrize(
        ("text", "whence"),
        [
            ("l'Afrique (f)", "d'Afrique"),
            ("la France", "de France"),
            ("le Maroc", "du Maroc"),
            ("les Caraïbes (f)", "des Caraïbes"),
            ("l'Angola", "de l'Angola"),
            ("Cuba (f)", "de Cuba"),
        ],
    )
    def test_whence(self, text: str, whence: str) -> None:
        assert FR.forms["depuis"](parse_noun(text)) == whence

    @pytest.mark.parametrize(("count", "said"), [(0, "0 or"), (1, "1 or"), (2, "2 ors"), (12_000, "12\u202f000 ors")])
    def test_numbers(self, count: int, said: str) -> None:
        assert FR.count_phrase(count, parse_noun("un or, ors")) == said

    def test_lists(self) -> None:
        assert [FR.join_list(x) for x in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a et b", "a, b et c"]

    def test_punctuation(self) -> None:
        told = "le fort tombe ; qui gagne ? la réponse : « rien » , 3:4."
        assert FR.sentence(told) == "Le fort tombe\u202f; qui gagne\u202f? La réponse\u00a0: «\u00a0rien\u00a0», 3:4."
        assert FR.punctuate(FR.sentence(told)) == FR.sentence(told)


class TestEnglish:
    def test_forms(self) -> None:
        forms = [
            EN.forms[form](parse_noun(text))
            for text in ("the Baltic", "an army, armies")
            for form in ("the", "a", "in")
        ]
        assert forms == ["the Baltic", "the Baltic", "in the Baltic", "army", "an army", "in army"]

    @pytest.mark.parametrize(("count", "said"), [(0, "0 armies"), (1, "1 army"), (3, "3 armies"), (-1, "-1 army")])
    def test_numbers(self, count: int, said: str) -> None:
        assert EN.count_phrase(count, parse_noun("an army, armies")) == said

    def test_lists_have_no_comma_before_and(self) -> None:
        assert EN.join_list(["a", "b", "c"]) == "a, b and c"


class TestTemplates:
    words: ClassVar = {
        "word.morocco": "le Maroc",
        "word.africa": "l'Afrique (f)",
        "word.isles": "les Îles (f)",
        "word.army": "une armée, armées",
        "word.fort": "un fort, forts",
        "word.seat": "le siège",
    }

    def said(self, template: str, **members: object) -> str:
        powers = {0: parse_noun("la France"), 1: parse_noun("les Provinces-Unies (f)"), 2: person_noun("alice")}
        texts = Texts("fr", {**self.words, "fact.x": template, "paid.bid": "pour sa mise", "item.lot": "{n:n.@unit}"})
        fact = {"t": "x", **members}
        return (
            texts.sentence(fact, lambda seat: powers.get(seat, numbered_noun(parse_noun("le siège"), seat + 1))) or ""
        )

    def test_places_take_forms(self) -> None:
        told = self.said("{seat:seat} va {from:de} {to:à}.", seat=0, **{"from": "africa", "to": "morocco"})
        assert told == "La France va de l'Afrique au Maroc."

    def test_lists_take_forms(self) -> None:
        assert self.said("vers {to:le}", to=["africa", "morocco"]) == "Vers l'Afrique et le Maroc"

    def test_verbs_agree_with_who_acts(self) -> None:
        template = "{seat:seat} {seat:seat#mise|misent} {gold}."
        assert [self.said(template, seat=s, gold=3) for s in (0, 1, 2, 3)] == [
            "La France mise 3.",
            "Les Provinces-Unies misent 3.",
            "alice mise 3.",
            "Le siège 4 mise 3.",
        ]

    def test_a_name_from_right_to_left_moves_no_figure_beside_it(self) -> None:
        """Without the marks, a reader sees the figure after the name before it."""
        texts = Texts("en", {"fact.x": "{a} for {seat:seat}, {b} for all."})
        told = {"alice": "alice", "\u05d0\u05d1": "\u2068\u05d0\u05d1\u2069", "\u0639": "\u2068\u0639\u2069"}
        people = [person_noun(name) for name in told]
        said = [texts.sentence({"t": "x", "seat": seat, "a": 3, "b": 1}, people.__getitem__) for seat in range(3)]
        assert said == [f"3 for {name}, 1 for all." for name in told.values()]

    def test_a_persons_name_stays_as_it_is_and_is_elided(self) -> None:
        assert self.said("{seat:seat} joue.", seat=2) == "alice joue."
        assert self.said("une armée {seat:seat.de} perd.", seat=2) == "Une armée d'alice perd."
        assert self.said("plus que {seat:seat}", seat=2) == "Plus qu'alice"

    def test_counts_and_gender_agree(self) -> None:
        assert self.said("{n:n.army}", n=1) == "1 armée"
        assert self.said("{n:n.@unit} {unit~perdu|perdue}", n=2, unit="army") == "2 armées perdue"
        assert self.said("{units~perdu|perdue|perdus|perdues}", units=["army", "army"]) == "Perdues"
        assert self.said("{units~perdu|perdue|perdus|perdues}", units=["army", "fort"]) == "Perdus"
        assert self.said("{where~pris|prise|pris|prises}", where="isles") == "Prises"
        assert self.said("il {n#reste|restent} {n:n.fort}", n=2) == "Il restent 2 forts"

    def test_alternatives(self) -> None:
        assert [self.said("{use?oui|non}", use=u) for u in (True, False)] == ["Oui", "Non"]
        assert self.said("{seat:seat} paie {why:by.paid}", seat=0, why="bid") == "La France paie pour sa mise"
        assert (
            self.said("{units:lot}", units=[{"n": 1, "unit": "army"}, {"n": 2, "unit": "fort"}]) == "1 armée et 2 forts"
        )

    def test_places_reach_into_lists_and_objects(self) -> None:
        assert self.said("{of.0} et {of.1.n:n.army}", of=[3, {"n": 2}]) == "3 et 2 armées"
        assert self.said("rien[ {of.5}]", of=[3]) == "Rien"

    def test_a_person_is_named_where_the_power_is_what_is_told(self) -> None:
        texts = Texts("fr", {**self.words, "word.france": "la France", "fact.x": "{seat:person} joue {power:le}."})
        who = SeatNames(texts, {0: "france"}, {1: "alice"})
        assert texts.sentence({"t": "x", "seat": 0, "power": "france"}, who) == "Le siège 1 joue la France."
        assert texts.sentence({"t": "x", "seat": 1, "power": "france"}, who) == "alice joue la France."

    def test_an_object_says_itself_by_its_type(self) -> None:
        texts = Texts("fr", {**self.words, "fact.x": "ordre : {of:by.order.type}", "order.march": "vers {to:le}"})
        assert texts.sentence({"t": "x", "of": {"type": "march", "to": "africa"}}) == "Ordre\u00a0: vers l'Afrique"

    def test_entries_of_a_mapping_and_of_a_list_by_seat(self) -> None:
        force = "[{key:le} {0:en} avec {1:n.fort}][{value?| }sans {key:le}]"
        texts = Texts("fr", {**self.words, "fact.x": "{of:each.force}", "item.force": force})
        told = texts.sentence({"t": "x", "of": {"army": ["morocco", 2], "fort": None}})
        assert told == "Armée au Maroc avec 2 forts et sans fort"
        texts = Texts("fr", {**self.words, "fact.x": "{of:each.force}", "item.force": "[{value? |}{key:seat} {value}]"})
        assert texts.sentence({"t": "x", "of": [["africa"], []]}) == "Le siège 1 Afrique"
