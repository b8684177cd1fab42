"""The battles of whole games as cards: each roll of a battle is on one, and their words are whole in both languages."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from domain.kernel.game.game_fold import initial_game
from domain.kernel.narration.battle_texts import tell_battle
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.narration.template_context import template_context
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.battles import Battle, ToldFact
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import DIRECTOR, Seat
from tests.games.pages import GROUPED, Pages
from tests.games.test_rolls import games

ROLLED = {"battle_rolled": 2, "round_fought": 2}
"""Facts with dice of a battle, and how many sides roll there."""


@pytest.fixture(params=GROUPED)
def pages(request: pytest.FixtureRequest) -> Pages:
    found: Pages = request.param
    return found


def read_game(pages: Pages, records: Sequence[Record]) -> tuple[list[ToldFact], Mapping[Seat, str]]:
    """The facts of a game with the context of their sentences, and the powers of its seats at the end."""
    state = initial_game(pages.rules, records[0]).state
    states, found = {0: state, 1: state}, []
    for record in records:
        before = states[record.body["to"] if record.kind == "rewound" else record.version - 1]
        facts = facts_for(record, DIRECTOR)
        context = {} if record.kind == "rewound" else template_context(pages.rules, before, facts)
        found += [(record.version, {**context.get(i, {}), **fact}) for i, fact in enumerate(facts)]
        states[record.version] = pages.rules.fold(before, facts)
    return found, pages.rules.powers(states[records[-1].version])


@dataclass(frozen=True)
class Fought:
    """A game, told."""

    facts: Sequence[ToldFact]
    powers: Mapping[Seat, str]
    battles: Sequence[Battle]


@functools.cache
def fought(pages: Pages) -> list[Fought]:
    """The games of a ruleset."""
    read = [read_game(pages, records) for records in games(pages)]
    return [Fought(facts, powers, pages.rules.read_battles(facts)) for facts, powers in read]


def test_each_game_has_battles(pages: Pages) -> None:
    assert sum(len(game.battles) for game in fought(pages)) > 3


def test_all_dice_of_battles_are_on_cards(pages: Pages) -> None:
    """Dice that are rolled again take the place of the first."""
    for game in fought(pages):
        rolled = sum(ROLLED.get(fact["t"], 0) for _, fact in game.facts)
        assert sum(len(side.dice) for each in game.battles for side in each.sides.values()) == rolled


def test_a_strength_is_the_sum_of_its_reasons(pages: Pages) -> None:
    for game in fought(pages):
        for each in game.battles:
            for side in each.sides.values():
                if side.strength is not None:
                    assert sum(part["value"] for part in side.reasons) == side.strength


@pytest.mark.parametrize("lang", LANGUAGES)
def test_cards_are_whole_in_words(pages: Pages, lang: str) -> None:
    """A name of an id stands nowhere, and each part of a strength and each loss has its words."""
    words = load_texts(pages.rules.package, lang)
    for game in fought(pages):
        namer = SeatNames(words, game.powers, {})
        for each in game.battles:
            card = tell_battle(words, namer, each)
            assert card["text"][-1] == "."
            for told, side in zip(card["sides"], each.sides.values(), strict=True):
                assert "_" not in "".join([told["name"], *told["reasons"], *told["lost"], *told["force"]])
                assert len(told["reasons"]) == len(side.reasons)
                assert len(told["lost"]) == len(side.lost)
                assert told["seat"] is not None or told["who"]
