"""What sentences take from the states around a fact."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from domain.bots import deciding_seats
from domain.games.common.dice import describe_roll
from domain.kernel.game.game_fold import initial_game
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.narration.template_context import (
    FINISHED,
    SILENT,
    public_dice,
    record_template_context,
    template_context,
    with_context,
)
from domain.kernel.records.record import facts_for
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import Nothing, Score
from domain.kernel.text.message_catalog import Texts
from domain.rollouts import random_move
from domain.types import DIRECTOR, PUBLIC, Viewer
from tests.games.pages import ALL, Pages

PLAYED = 300


def played(pages: Pages) -> InMemoryGame[Any]:
    rules, rng = pages.rules, random.Random(3)
    match: InMemoryGame[Any] = InMemoryGame(rules, rules.meta.seats[0], rng.randbytes(32))
    while not match.state.over and len(match.records) < PLAYED:
        if match.state.top.engine:
            match.resolve()
            continue
        seat = rng.choice(deciding_seats(match))
        match.play(seat, random_move(rules, match.state, seat, rng))
    return match


@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_a_sentence_takes_no_more_than_its_reader_knows(pages: Pages) -> None:
    """What is taken from whole states, for all or for a seat to read, is what follows from the facts of each reader."""
    rules, match, taken = pages.rules, played(pages), 0
    whole = initial_game(rules, match.records[0]).state
    viewers: tuple[Viewer, ...] = (PUBLIC, *range(match.state.seats))
    seen = dict.fromkeys(viewers, whole)
    for record in match.records:
        besides = record_template_context(rules, whole, record)
        dice = public_dice(rules, record)
        for viewer in viewers:
            facts = facts_for(record, viewer)
            assert besides(facts) == template_context(rules, seen[viewer], facts, dice)
            taken += len(besides(facts))
            seen[viewer] = rules.fold(seen[viewer], facts)
        whole = rules.fold(whole, facts_for(record, DIRECTOR))
    assert taken or not rules.context_builders


def test_strength_is_spread_of_dice_and_parts_that_add_to_it() -> None:
    told = describe_roll(2, (6, 3), 4, {"own": 1, "allied": 0})
    parts = [{"part": "spread", "value": 3, "who": 2}, {"part": "own", "value": 1, "who": 2}]
    assert told == {"who": 2, "dice": [6, 3], "strength": 4, "parts": parts}


def test_a_strength_of_nothing_has_no_parts() -> None:
    assert describe_roll(2, (3, 3), 0, {"own": 0})["parts"] == []


def test_told_items_are_sentences_and_silent_ones_left_out() -> None:
    texts = Texts(
        "en",
        {
            "over": "Over.[\n{final:said.line}]",
            "item.line": "{who} has {parts:part}.",
            "item.part": "[{many? |}{many} of {what}]",
        },
    )
    final = [{"who": "one", "parts": [{"many": 2, "what": "a"}, {"many": 0, "what": "b"}, {"many": 1, "what": "c"}]}]
    assert texts.render("over", {"final": final}) == "Over.\nOne has 2 of a and 1 of c."
    assert texts.render("over", {"final": []}) == "Over."


def test_final_table_tells_who_is_set_apart_by_more_than_points() -> None:
    scores = [
        Score(seat, place, points, Nothing()) for seat, place, points in ((0, 1, 9), (1, 2, 5), (2, 3, 5), (3, 4, 2))
    ]
    rules: Any = SimpleNamespace(
        context_builders={},
        decode_facts=lambda _: [SimpleNamespace(evolve=lambda s: s)],
        scores=lambda _: scores,
        tie_breaks=(),
    )
    final = template_context(rules, State(), [{"t": FINISHED}])[0]["final"]
    assert [line["tied"] for line in final] == [False, True, True, False]


def test_merged_tellings_keep_every_fact_in_its_place() -> None:
    """The kernel's own facts do not come between; what another fact tells is silent, so that headings stay in place."""
    mergers = {"step": lambda run: [{**run[0], "count": len(run)}]}
    rules: Any = SimpleNamespace(sentence_mergers=mergers, complete_sentences=list)
    step, asked, other = {"t": "step"}, {"t": "asked"}, {"t": "other"}
    told = with_context(rules, [step, asked, step, other, step], {0: {"who": 1}})
    assert told == [{"t": "step", "who": 1, "count": 2}, asked, SILENT, other, {"t": "step", "count": 1}]
    assert with_context(rules, [asked, other], {1: {"who": 2}}) == [asked, {"t": "other", "who": 2}]
