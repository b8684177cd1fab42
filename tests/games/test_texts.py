"""What players read of every game, in both languages: names that sentences can be made with, and sentences."""

from __future__ import annotations

import functools
import lzma
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from api.pages.common.presentation import load_members
from deploy.simulation.narrate import Story, build_story
from domain.bots import deciding_seats
from domain.kernel.game.game_fold import active_versions, initial_game
from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.narration.template_context import template_context, with_context
from domain.kernel.records import export
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.declarations import member_names
from domain.kernel.text.grammar import GRAMMARS, Noun, parse_noun
from domain.kernel.text.message_catalog import LANGUAGES, PLACE, Texts, load_texts
from domain.rollouts import random_move
from domain.types import DIRECTOR, Doc, Seat
from tests.games.pages import ALL, GROUPED, Pages
from tests.spec import CLUMSY

LOGS = sorted((Path(__file__).parents[1] / "logs").glob("*.xz"))
BRACES = re.compile(r"\{[^{}]*\}")
DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
PLAYED = 700
"""Records of a random game whose sentences are read."""


@pytest.fixture(params=GROUPED)
def pages(request: pytest.FixtureRequest) -> Pages:
    found: Pages = request.param
    return found


@pytest.fixture(params=LANGUAGES)
def lang(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def words_of(pages: Pages) -> ModuleType:
    """What the tests of a game say of its words: IDS, ALIKE, SILENT, UNSAID."""
    return import_module(f"tests.games.{pages.game}.words")


def own(pages: Pages, lang: str) -> dict[str, str]:
    return dict(load_texts(pages.rules.package, lang).own)


def templates(pages: Pages, lang: str) -> dict[str, str]:
    return {key: text for key, text in own(pages, lang).items() if not key.startswith("word.")}


def places(text: str) -> list[re.Match[str]]:
    found = [PLACE.fullmatch(place) for place in BRACES.findall(text)]
    assert None not in found, text
    return [place for place in found if place]


# --- texts -----------------------------------------------------------------------------------------------------


def test_both_languages_have_the_same_keys_and_say_the_same(pages: Pages) -> None:
    english, french = own(pages, "en"), own(pages, "fr")
    assert english.keys() == french.keys()
    for key, text in english.items():
        assert {p["member"].partition(".")[0] for p in places(text)} == {
            p["member"].partition(".")[0] for p in places(french[key])
        }, key


def test_no_text_is_empty_and_french_is_not_english(pages: Pages) -> None:
    english, french, alike = (
        load_texts(pages.rules.package, "en"),
        load_texts(pages.rules.package, "fr"),
        words_of(pages).ALIKE,
    )
    for key in english.own:
        said, dit = english.label(key), french.label(key)
        assert said
        assert dit
        if _said(said).strip(" []"):  # more than places
            assert (said == dit) == (key.removeprefix("word.") in alike), key


def test_everything_has_a_text_and_nothing_else_has(pages: Pages, lang: str) -> None:
    rules, words = pages.rules, words_of(pages)
    wanted = {
        "title",
        "chapter",
        "section",
        "standing",
        *(f"move.{m}" for m in rules.moves),
        *(f"fact.{t}" for t in set(rules.facts) - words.SILENT),
    }
    wanted |= {f"refusal.{code}" for code in rules.meta.codes} | {f"option.{o}" for o in rules.meta.options}
    wanted |= {f"decision.{at}" for m in rules.moves.values() for at in m.admission.at}
    wanted |= {f"word.{i}" for i in words.IDS}
    own_treaties = {f"treaty.{kind.name}" for kind in rules.treaties.kinds} & own(pages, lang).keys()
    wanted |= own_treaties | ({f"{key}.name" for key in own_treaties} & own(pages, lang).keys())
    known = own(pages, lang)
    own_orders = {f"standing_order.{kind.name}" for kind in rules.standing_orders}
    wanted |= {key for name in own_orders for key in (name, f"{name}.name") if key in known}
    assert not wanted - known.keys()
    used = {found["form"].partition(".")[2].split(".")[0] for text in known.values() for found in forms(text, "by")}
    # test_move_sentences.py knows which are asked and picked, test_situations.py what is answered.
    kept = {"word", "item", "ask", "pick", "cost", "loan", "situation", *used}
    wanted |= {f"headline.{t}" for t in rules.meta.headlines if f"headline.{t}" in known}
    possible = wanted | {f"{group}.{m}" for m in rules.moves for group in ("made", "whole")}
    parts = {key for key in known if key.rpartition(".")[0] in wanted}  # what several facts say together
    assert not {key for key in known.keys() - possible - parts if key.partition(".")[0] not in kept}


def forms(text: str, kind: str) -> Iterator[re.Match[str]]:
    for place in places(text):
        if (place["form"] or "").partition(".")[0] == kind:
            yield place


def test_every_form_that_a_place_asks_for_there_is(pages: Pages, lang: str) -> None:
    catalogue = load_texts(pages.rules.package, lang)
    for key, text in templates(pages, lang).items():
        for place in places(text):
            kind, _, rest = (place["form"] or "").partition(".")
            if kind in ("seat", "person", "you"):
                assert not rest or rest in GRAMMARS[lang].forms, key
            elif kind == "n" and not rest.startswith("@"):
                assert parse_noun(catalogue.get(f"word.{rest}") or "").plural, (key, rest)
            elif kind in ("each", "said"):
                assert f"item.{rest}" in catalogue.own, (key, rest)
            elif kind == "by":
                known = (*catalogue.own, *catalogue.common)
                assert any(k.startswith(f"{rest.partition('.')[0]}.") for k in known), (key, rest)
            elif kind and kind != "n":
                assert kind in GRAMMARS[lang].forms or catalogue.get(f"item.{kind}"), (key, kind)
            if place["choice"]:
                assert len(place["words"].split("|")) in ((2, 4) if place["choice"] == "~" else (2,)), key


PLAIN = re.compile(r"\{[^{}#?~]*(?:[#?~]([^{}]*))?\}")
"""A place, with its alternatives."""


def _said(template: str) -> str:
    """The words of a template itself."""
    return PLAIN.sub(lambda place: f" {place[1] or ''} ", template).replace("|", " ")


def _uses(template: str, term: str) -> bool:
    return re.search(rf"\b(?:{term})s?\b", _said(template), re.IGNORECASE) is not None


def test_one_word_names_one_thing(pages: Pages) -> None:
    """A term of the game has the same counterpart wherever it is used."""
    english, french, terms = templates(pages, "en"), templates(pages, "fr"), words_of(pages).TERMS
    for term, counterpart in terms.items():
        using = {key for key, text in english.items() if _uses(text, term)}
        assert using == {key for key, text in french.items() if _uses(text, counterpart)}, (term, counterpart)
        assert using, term


def labels(pages: Pages, lang: str) -> dict[str, str]:
    """The names of ids, and of the members that pages show."""
    words = {key: parse_noun(text).bare for key, text in own(pages, lang).items() if key.startswith("word.")}
    return words | {f"label.{name}": entry[lang] for name, entry in load_members(pages.rules.package).items()}


def test_names_and_labels_have_the_words_of_the_sentences(pages: Pages) -> None:
    """Tokens of the map are no pawns on the page of the table."""
    english, french = labels(pages, "en"), labels(pages, "fr")
    for term, counterpart in words_of(pages).TERMS.items():
        using = {key for key, text in english.items() if _uses(text, term)} - words_of(pages).APART
        assert using == {key for key, text in french.items() if _uses(text, counterpart)} - words_of(pages).APART, term


def test_no_name_is_of_two_things(pages: Pages, lang: str) -> None:
    ids_by_name: dict[str, list[str]] = {}
    for key, text in own(pages, lang).items():
        if key.startswith("word."):
            ids_by_name.setdefault(parse_noun(text).bare.lower(), []).append(key.removeprefix("word."))
    for name, ids in ids_by_name.items():
        known = [twins for twins in words_of(pages).TWINS if all(re.fullmatch(twins, i) for i in ids)]
        assert len(ids) == 1 or known, (name, ids)


def test_no_thing_has_two_names(pages: Pages, lang: str) -> None:
    foreign = words_of(pages).FOREIGN[lang]
    for key, text in templates(pages, lang).items():
        assert not [word for word in foreign if _uses(text, word)], (key, text)


NONE_OF_MANY = re.compile(r"\bno (?:\w+ )?(?:point|token)\b|\bno (?:action|attack) left\b")


def test_english_has_no_things_and_never_no_thing(pages: Pages) -> None:
    """No victory points, no control tokens."""
    assert [key for key, text in templates(pages, "en").items() if NONE_OF_MANY.search(_said(text))] == []


@pytest.mark.parametrize("count", [1, 2])
def test_french_has_no_number_one_after_a_preposition(pages: Pages, count: int) -> None:
    """`d'un mouvement`, `de 2 mouvements`."""
    french = load_texts(pages.rules.package, "fr")
    for key, text in templates(pages, "fr").items():
        numbers = {place["member"]: count for place in forms(text, "n") if "." not in place["member"]}
        assert not re.search(r"\bde 1\b", french.fill(key, numbers) or ""), key


# --- names -----------------------------------------------------------------------------------------------------


def test_a_french_name_tells_its_gender(pages: Pages) -> None:
    known = own(pages, "fr")
    written = {i: known[f"word.{i}"] for i in words_of(pages).IDS}
    assert [i for i, text in written.items() if parse_noun(text).article in ("", "l'", "les") and not _told(text)] == []


def _told(text: str) -> bool:
    return any(mark in text.partition(";")[0] for mark in ("(m)", "(f)"))


# --- sentences -------------------------------------------------------------------------------------------------


def test_every_member_of_a_fact_is_said_or_known_not_to_be(pages: Pages, lang: str) -> None:
    unsaid: Mapping[str, set[str]] = words_of(pages).UNSAID
    known = own(pages, lang)
    left = {}
    for kind, fact in pages.rules.facts.items():
        text = known.get(f"fact.{kind}")
        if text is not None:
            said = _members(known, text, set())
            if missing := member_names(fact) - said - unsaid.get(kind, set()):
                left[kind] = missing
    assert left == {}


def _members(known: Mapping[str, str], text: str, seen: set[str]) -> set[str]:
    """Those that a template names, and the templates that it goes on with by the value of one."""
    found = set()
    for place in places(text):
        found.add(place["member"].partition(".")[0])
        kind, _, rest = (place["form"] or "").partition(".")
        if rest.startswith("@"):
            found.add(rest[1:])
        if kind == "by" and rest not in seen:
            for key in known:
                if key.startswith(f"{rest}."):
                    found |= _members(known, known[key], {*seen, rest})
    return found


@functools.cache
def played(name: str) -> tuple[tuple[Doc, ...], Mapping[Seat, str]]:
    """The facts of a random game, and of a real one where there is a log of it; the powers of the seats."""
    (rules,) = (p.rules for p in ALL if p.game == name)
    rng = random.Random(5)
    facts: list[Doc] = []
    match: AnyInMemoryGame = InMemoryGame(rules, rules.meta.seats[-1], rng.randbytes(32))
    while not match.state.over and len(match.records) < PLAYED:
        if match.state.top.engine:
            match.resolve()
            continue
        seat = rng.choice(deciding_seats(match))
        match.play(seat, random_move(rules, match.state, seat, rng))
    facts += told_facts(rules, match.records)
    facts += [f for path in LOGS for f in logged(path, rules)]
    return tuple(facts), rules.powers(match.state)


def logged(path: Path, rules: AnyRuleset) -> list[Doc]:
    found = export.parse(lzma.decompress(path.read_bytes()))
    return list(told_facts(rules, found.records)) if found.ruleset == rules.meta.ruleset else []


def told_facts(rules: AnyRuleset, records: Sequence[Record]) -> Iterator[Doc]:
    """The facts of what was not undone, with what their sentences take besides."""
    state, counted = initial_game(rules, records[0]).state, set(active_versions(records))
    for record in records:
        if record.version in counted and record.kind != "rewound":
            facts = facts_for(record, DIRECTOR)
            yield from with_context(rules, facts, template_context(rules, state, facts))
            state = rules.fold(state, facts)


def told(pages: Pages, lang: str) -> Iterator[tuple[Doc, str | None]]:
    """Every fact once in each form in which it came, with its sentence, seats named by their powers."""
    catalogue: Texts = load_texts(pages.rules.package, lang)
    facts, powers = played(pages.game)

    def name(seat: Seat) -> Noun:
        return catalogue.noun(powers[seat]) if seat in powers else catalogue.seat(seat)

    for fact in facts:
        if (
            catalogue.get(f"fact.{fact['t']}") is not None
            or fact["t"] in pages.rules.facts.keys() - words_of(pages).SILENT
        ):
            yield fact, catalogue.sentence(fact, name)


def test_sentences_are_whole(pages: Pages, lang: str) -> None:
    """No id, list or object shows through in the sentences of whole games, no word comes twice, and none has a hole."""
    kinds, quiet = set(), getattr(words_of(pages), "QUIET", ())
    for fact, sentence in told(pages, lang):
        kinds.add(fact["t"])
        assert sentence is not None or fact["t"] in quiet, fact
        for text in (sentence or "").splitlines():
            assert not CLUMSY.search(text), (text, fact)
            assert not DOUBLED.search(text), (text, fact)
            assert text[-1] in ".!?", (text, fact)
            assert not text[0].islower(), (text, fact)
    assert len(kinds) > len(pages.rules.facts) / 2


@functools.cache
def stories(game: str, lang: str) -> tuple[Story, ...]:
    """Of the real games of which there are logs, as told to whoever may read all."""
    (rules,) = (p.rules for p in ALL if p.game == game)
    found = [export.parse(lzma.decompress(path.read_bytes())) for path in LOGS]
    return tuple(build_story(one, rules, lang) for one in found if one.ruleset == rules.meta.ruleset)


def test_a_game_is_told_by_turns_with_what_came_of_each(pages: Pages, lang: str) -> None:
    """Turns follow each other, the digest of the first with a line for each seat; all lines are whole sentences."""
    lines = []
    for told in stories(pages.game, lang):
        digests = [turn.digest for turn in told.turns if turn.digest]
        assert [d.chapter.turn for d in digests] == list(range(1, len(digests) + 1))
        for turn in told.turns:
            heads = [head for head, _ in turn.sections]
            assert all(head.startswith(turn.title) for head in heads)
            lines += [turn.title, *heads]
        assert not digests or len(digests[0].standings) == told.game_export.records[0].body["seats"]
        for digest in digests:
            assert len(digest.standings) == told.game_export.records[0].body["seats"]
            lines += [*digest.lines, *digest.standings]
    assert len(set(lines)) > 20
    for text in lines:
        assert not CLUMSY.search(text), text
        assert not DOUBLED.search(text), text


def test_moves_are_told_in_sentences_too(pages: Pages, lang: str) -> None:
    """What a move's facts do not say has a sentence; the mere name of a move does not tell what was done."""
    labels = {own(pages, lang)[f"move.{m}"] for m in pages.rules.moves}
    for told in stories(pages.game, lang):
        for _, some in (section for turn in told.turns for section in turn.sections):
            for text in (text for passage in some for text in passage.lines):
                assert text.rpartition(":")[2].strip(" .\N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}") not in labels, (
                    text
                )


def test_who_fights_is_named_and_the_end_tells_the_final_table(pages: Pages, lang: str) -> None:
    """No die is thrown by a mere side, and nobody is left out of the table."""
    side = {"en": r"the (attacker|defender) (rolls|wins|hires)", "fr": r"l'attaquant (obtient|gagne|l'emporte|engage)"}
    for fact, sentence in told(pages, lang):
        if fact["t"] in ("battle_rolled", "battle_resolved", "round_fought", "battle_revealed"):
            assert not re.search(side[lang], sentence or "", re.IGNORECASE), sentence
        if fact["t"] == "finished":
            assert (sentence or "").count(load_texts("", lang).get("placed.1") or "") >= 1, sentence
            assert len((sentence or "").splitlines()) == 1 + len(fact["final"]), sentence


def test_sentences_are_in_their_language(pages: Pages, lang: str) -> None:
    foreign = {"en": {"le", "la", "les", "du", "des", "une", "et"}, "fr": {"the", "of", "and", "is", "are"}}[lang]
    names = {w for i in words_of(pages).IDS for w in own(pages, lang)[f"word.{i}"].split()}
    for fact, sentence in told(pages, lang):
        mixed = foreign & set(re.findall(r"\w+", sentence or "")) - names
        assert not mixed, (sentence, fact)


def test_what_the_kernel_tells_of_a_power_agrees_with_its_name(lang: str) -> None:
    """The United Provinces have left; les Provinces-Unies ont quitté la partie."""
    catalogue = load_texts("", lang)
    members = {"seat": 0, "days": 2, "hold": 3600}
    for key, text in catalogue.common.items():
        if key.partition(".")[0] in ("fact", "record") and text.startswith("{seat:seat} "):
            one, many = (
                catalogue.render(key, members, lambda _, many=plural: Noun("X", is_plural=many))  # type: ignore[misc]
                for plural in (False, True)
            )
            assert one != many, key
