"""Sentences of moves and options in games that bots play: words of people, never of the schema."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pytest

from api.pages.common.labels import Labels
from api.pages.common.presentation import load_members
from deploy.simulation.bot_files import load_bot
from domain.bots import deciding_seats
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.narration.move_sentences import MoveSentences, find_move_type
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import query_answers
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.rollouts import random_pick
from domain.types import Doc, Json, Seat
from tests.rulesets import GAMES, Registered

DECISIONS = 90
"""Decisions of each game whose answers are read."""

WALKS = 2
"""Moves built at random for each decision."""

RAW = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z]-\d|[{}\[\]\"]|\bNone\b|  ")
"""Ids, and the marks of JSON and of templates."""


@dataclass(frozen=True)
class Asked:
    """A question or a finished move, and what a seat reads of it in each language."""

    kind: str
    step: Choice | Doc
    answers: Mapping[str, Json]
    told: Mapping[str, MoveSentences[Any]]
    labels: Mapping[str, Labels]
    read: dict[str, list[str]] = field(default_factory=dict)

    def options(self, lang: str) -> list[str]:
        """Return the texts of the values of a question; they are made once for all tests."""
        step = self.step
        assert isinstance(step, Choice)
        if lang not in self.read:
            self.read[lang] = self.told[lang].options(self.kind, step.field, step.values, self.answers)
        return self.read[lang]


def sentences_of(match: AnyInMemoryGame, seat: Seat, lang: str, state: object) -> MoveSentences[Any]:
    texts = load_texts(match.rules.package, lang)
    namer = SeatNames(texts, match.rules.powers(match.state), {}, own=seat)
    return MoveSentences(match.rules, texts, namer, seat, state)


def walk(match: AnyInMemoryGame, seat: Seat, rng: random.Random) -> Iterator[Asked]:
    """Answer the questions of the builder at random."""
    told = {lang: sentences_of(match, seat, lang, match.state) for lang in LANGUAGES}
    labels = {lang: Labels(match.rules, each.texts, each.namer) for lang, each in told.items()}  # type: ignore[arg-type]
    picks: list[Json] = []
    while True:
        answers, step = query_answers(match.rules, match.state, seat, picks)
        kind = find_move_type(match.rules, match.state.top.kind, answers)
        yield Asked(kind, step, answers, told, labels)
        if not isinstance(step, Choice):
            return
        picks.append(random_pick(rng, step))


def play(
    table: Registered, rare: Mapping[str, Json] = MappingProxyType({})
) -> Iterator[tuple[AnyInMemoryGame, Seat, random.Random]]:
    """Play a game with bots, perhaps of a patched state, and yield each decision before it is answered."""
    rng = random.Random(7)
    seats, options = rare.get("seats", table.seats), rare.get("options", table.options)
    match: AnyInMemoryGame = InMemoryGame(
        table.rules, seats, rng.randbytes(32), options=options, patch=rare.get("patch")
    )
    for number in range(DECISIONS):
        if match.state.over:
            return
        if match.state.top.engine:
            match.resolve()
            continue
        seat = rng.choice(deciding_seats(match))
        yield match, seat, rng
        move = load_bot("builder" if number % 3 else "heuristic")(match, seat, rng)
        if move is not None:
            match.play(seat, move)


def asked_in(table: Registered) -> list[Asked]:
    """Return all questions and moves of a game."""
    return _asked_in(table.name)


@functools.cache
def _asked_in(name: str) -> list[Asked]:
    table = next(each for each in GAMES if each.name == name)
    games = (play(table, rare) for rare in ({}, *table.rare))
    return [
        asked for game in games for match, seat, rng in game for _ in range(WALKS) for asked in walk(match, seat, rng)
    ]


def texts_of(asked: Asked, lang: str) -> list[str]:
    """Return what a seat reads: the sentence of a move, or the question and its options."""
    told, step = asked.told[lang], asked.step
    if not isinstance(step, Choice):
        return [told.move(step), asked.labels[lang].move(step), told.loan(step) or ""]
    shown = [asked.labels[lang].option(step.field, value, asked.kind, asked.answers) for value in step.values]
    return [told.question(asked.kind, step.field, asked.answers) or "", *asked.options(lang), *shown]


def words_of(table: Registered) -> frozenset[str]:
    return frozenset(import_module(f"tests.games.{table.rules.package.rpartition('.')[2]}.words").UNMET)


@pytest.fixture(
    params=[
        pytest.param(each, id=each.name, marks=pytest.mark.xdist_group(f"sentences of {each.name}"))  # played once
        for each in GAMES
    ]
)
def table(request: pytest.FixtureRequest) -> Registered:
    found: Registered = request.param
    return found


@pytest.fixture(params=LANGUAGES)
def lang(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_no_text_has_an_id_or_a_mark_of_the_schema(table: Registered, lang: str) -> None:
    members = {each.get(lang, "") for each in load_members(table.rules.package).values()}
    fields = {name for kind in table.rules.moves.values() for name in kind.__struct_encode_fields__}
    named = re.compile(
        rf"(?:^|[;:,]\s)({'|'.join(map(re.escape, sorted({*members, *fields} - {''})))})\s?:", re.IGNORECASE
    )
    for asked in asked_in(table):
        for text in texts_of(asked, lang):
            assert not RAW.search(text), (asked.kind, asked.step, text)
            assert not named.search(text), (asked.kind, asked.step, text)


def test_each_option_and_move_has_text_and_no_two_options_same(table: Registered, lang: str) -> None:
    for asked in asked_in(table):
        told, step = asked.told[lang], asked.step
        if not isinstance(step, Choice):
            assert told.texts.get(f"whole.{step['type']}") or len(step) == 1, step
            assert told.move(step)
            continue
        options = asked.options(lang)
        assert all(options), (step.field, step.values)
        assert len({*options}) == len(options), (step.field, options)


NUMBERED = {"allocate_turn_zero"}
"""Kinds of moves with one form for all their numbers, each beside its name."""


def test_each_question_is_asked_in_a_sentence(table: Registered, lang: str) -> None:
    mute = {
        (asked.kind, asked.step.field)
        for asked in asked_in(table)
        if isinstance(asked.step, Choice) and asked.step.field != "type" and asked.kind not in NUMBERED
        if not (asked.told[lang].question(asked.kind, asked.step.field, asked.answers) or "").endswith(("?", ".", "]"))
    }
    assert not mute


def words_in(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from words_in(each)


def test_no_option_repeats_the_question_or_an_answer(table: Registered, lang: str) -> None:
    for asked in asked_in(table):
        told, step = asked.told[lang], asked.step
        if not isinstance(step, Choice):
            continue
        question = told.question(asked.kind, step.field, asked.answers)
        answers = {name: each for name, each in asked.answers.items() if isinstance(each, str) and name != "type"}
        for value, text in zip(step.values, asked.options(lang), strict=True):
            assert text != question
            if isinstance(value, str) and text == told.texts.word(value):
                continue  # a name may hold another: the North Atlantic
            for answer in {*answers.values()} - {*words_in(value)}:
                name = re.escape(told.texts.word(answer))
                assert not re.search(rf"\b{name}\b", text, re.IGNORECASE), (step.field, answer, text)


def test_each_kind_of_move_and_each_text_is_met_or_listed(table: Registered) -> None:
    rules, english = table.rules, load_texts(table.rules.package, "en").own
    met: set[str] = set()
    for asked in asked_in(table):
        if isinstance(asked.step, Choice):
            fields = [asked.step.field, f"{asked.kind}.{asked.step.field}"]
            met |= {f"{name}.{field}" for name in ("ask", "pick") for field in fields}
        else:
            met.add(f"whole.{asked.step['type']}")
    wanted = {f"whole.{name}" for name, kind in rules.moves.items() if kind.admission.by != "engine"}
    wanted |= {
        key
        for key in english
        if key.startswith(("ask.", "pick.")) and not key.startswith(("ask.treaty.", "ask.standing_order."))
    }
    unmet = {key for key in wanted if key not in met and key.rpartition(".")[0] not in met}
    assert unmet <= words_of(table), sorted(unmet - words_of(table))


def test_sentences_use_only_what_the_seat_knows(table: Registered) -> None:
    for number, (match, seat, rng) in enumerate(play(table)):
        if number % 15:
            continue
        known = sentences_of(match, seat, "en", state_known_to(match.rules, match.records, seat))
        for asked in walk(match, seat, rng):
            told, step = asked.told["en"], asked.step
            if isinstance(step, Choice):
                told_of, known_of = (
                    (
                        each.question(asked.kind, step.field, asked.answers),
                        each.options(asked.kind, step.field, step.values, asked.answers),
                    )
                    for each in (told, known)
                )
                assert told_of == known_of
            else:
                assert (told.move(step), told.loan(step)) == (known.move(step), known.loan(step))


def test_a_move_beyond_the_purse_tells_its_loan() -> None:
    for table in GAMES:
        if table.name.startswith(("struggle_of_empires", "age_of_reason")):
            moves = [(each.told, each.step) for each in asked_in(table) if isinstance(each.step, dict)]
            bids = [(told, step) for told, step in moves if step["type"] == "bid"]
            english = [told["en"].loan(step) for told, step in bids]
            assert any(english)
            assert not all(english)
            assert all(
                re.search("You have .*, and this costs [0-9]+: the bank lends", each) for each in english if each
            )
            french = [told["fr"].loan(step) for told, step in bids]
            assert [bool(each) for each in french] == [bool(each) for each in english]


def test_a_bid_says_what_it_is_for_and_who_stands_where() -> None:
    for table in GAMES:
        if not table.name.startswith(("struggle_of_empires", "age_of_reason")):
            continue
        asked = [each for each in asked_in(table) if isinstance(each.step, Choice) and each.step.field == "amount"]
        bids = {each.told["en"].question("bid", "amount", each.answers) or "" for each in asked if each.kind == "bid"}
        assert bids
        assert all("to choose who joins which" in each for each in bids)
        if table.name.startswith("age_of_reason"):
            assert any(re.search("Upper: .*Lower: ", each) for each in bids)


RARE_MOVES: Mapping[str, tuple[tuple[Doc, str, str], ...]] = {
    "struggle_of_empires": (
        (
            {"type": "choose_loss", "choices": [{"seat": 1, "unit": "army"}, {"seat": 2, "unit": "navy"}]},
            "Lose an army of France and a navy of Spain",
            "Perdre une armée de la France et un navire de l'Espagne",
        ),
        (
            {"type": "attack", "region": "india", "target": {"kind": "pirates"}, "ask": [1, 2]},
            "Attack the Pirates in India, asking France and Spain for support",
            "Attaquer les Pirates en Inde, en demandant le soutien de la France et de l'Espagne",
        ),
        (
            {"type": "assign_alliance_tiles", "naval": ["sweden", "denmark"]},
            "Use the alliance tiles Sweden and Denmark at sea",
            "Utiliser en mer les tuiles d'Alliance Suède et Danemark",
        ),
        (
            {"type": "assign_alliance_tiles", "naval": []},
            "Keep all alliance tiles for the battle on land",
            "Garder toutes les tuiles d'Alliance pour le combat terrestre",
        ),
        ({"type": "use_blockade", "use": True}, "Use the Blockade tile", "Utiliser la tuile Blocus"),
        (
            {"type": "fighting_withdrawal", "use": True, "save": 1},
            "Use Fighting Withdrawal to save a unit of France",
            "Utiliser le Repli Stratégique pour sauver une unité de la France",
        ),
        (
            {"type": "fighting_withdrawal", "use": False},
            "Do not use Fighting Withdrawal",
            "Ne pas utiliser le Repli Stratégique",
        ),
        (
            {"type": "use_tile", "tile": "trained_natives", "region": "india", "then_to": "africa"},
            "Use the Trained Natives tile in India, then move the army to Africa",
            "Utiliser la tuile Indigènes Qualifiés en Inde, puis déplacer l'armée vers l'Afrique",
        ),
        (
            {"type": "use_tile", "tile": "diplomatic_service", "alliance_tile": "sweden"},
            "Use the Diplomatic Service tile to take the Sweden tile",
            "Utiliser la tuile Service Diplomatique pour prendre la tuile Suède",
        ),
        (
            {
                "type": "use_tile",
                "tile": "war_office",
                "attack": {"region": "baltic", "target": {"kind": "player", "seat": 1}, "ask": []},
            },
            "Use the War Office tile to attack France in the Baltic without asking for support",
            "Utiliser la tuile État de Guerre pour attaquer la France en Baltique sans demander de soutien",
        ),
        (
            {"type": "bid", "amount": 2, "a": 0, "b": 1},
            "Bid 2 gold: you grey, France white",
            "Miser 2 pièces d'or\u00a0: vous en gris, la France en blanc",
        ),
        (
            {"type": "bid", "amount": 0, "a": None, "b": 1},
            "Bid 0 gold: France white",
            "Miser 0 pièce d'or\u00a0: la France en blanc",
        ),
    ),
    "egc": (
        (
            {"type": "choose_links", "links": ["florida_mexico"]},
            "Choose the connection Florida \u2013 Mexico",
            "Choisir la liaison Floride \u2013 Mexique",
        ),
        ({"type": "choose_links", "links": []}, "Choose no connections", "Ne choisir aucune liaison"),
        (
            {"type": "answer_proposal", "proposal": "0-1", "accept": True},
            "Accept a proposal that another empire has made",
            "Accepter la proposition d'un autre empire",
        ),
        ({"type": "resign"}, "Resign", "Abandonner la partie"),
    ),
    "imperunde": (
        (
            {"type": "choose_units", "units": [{"unit": "infantry", "count": 2, "moves_left": 0}]},
            "Fight with 2 infantry",
            "Combattre avec 2 infanteries",
        ),
        (
            {
                "type": "attack",
                "target": "italy",
                "groups": [{"unit": "infantry", "count": 1, "moves_left": 1, "path": ["austria", "italy"]}] * 2,
            },
            "Attack Italy with 2 infantry from Austria",
            "Attaquer l'Italie avec 2 infanteries depuis l'Autriche",
        ),
        ({"type": "unready"}, "Be no longer ready", "Ne plus être prêt"),
        ({"type": "pass", "for_combat": True}, "Pass until the end of the combat", "Passer jusqu'à la fin du combat"),
    ),
    "seven_empires": (
        (
            {"type": "choose_defender", "unit": "infantry"},
            "Strike back with an infantry unit",
            "Riposter avec une infanterie",
        ),
        ({"type": "choose_action", "empire": "prussia", "action": "attack"}, "Prussia attacks", "La Prusse attaque"),
    ),
    "age_of_reason": (
        (
            {"type": "bid", "amount": 1, "a": None, "b": "spain"},
            "Bid 1 gold: Spain in the lower coalition",
            "Miser 1 pièce d'or\u00a0: l'Espagne dans la coalition inférieure",
        ),
    ),
}
"""Game -> moves that its bots seldom make, with their sentences."""

POWERS = {0: "britain", 1: "france", 2: "spain"}


def test_rare_moves_read_well(table: Registered, lang: str) -> None:
    texts = load_texts(table.rules.package, lang)
    told = MoveSentences(table.rules, texts, SeatNames(texts, POWERS, {}, own=0), 0)
    for move, *sentences in RARE_MOVES[table.rules.package.rpartition(".")[2]]:
        assert told.move(move) == sentences[LANGUAGES.index(lang)]
