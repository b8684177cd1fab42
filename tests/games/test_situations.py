"""A decision that answers somebody says who has done what: by an open battle, or by a sentence of the game."""

from __future__ import annotations

import pytest

from api.pages.common.presentation import load_widgets
from domain.kernel.game.game_fold import initial_game
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.narration.template_context import template_context
from domain.kernel.records.record import facts_for
from domain.kernel.rules.battles import ToldFact
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import DIRECTOR
from tests.games.pages import GROUPED, Pages
from tests.games.test_rolls import games

ON_ONES_OWN = ("turn", "orders", "budget", "investment", "movement", "diplomacy")


@pytest.mark.parametrize("pages", GROUPED)
def test_each_answer_tells_what_it_answers(pages: Pages) -> None:
    package = pages.rules.package
    kinds = {kind for each in load_widgets(package) for kind in each.get("kinds", ())}
    assert kinds <= set(pages.rules.frames)
    assert not kinds & {*ON_ONES_OWN}
    for records in games(pages):
        state = initial_game(pages.rules, records[0]).state
        states, told = {0: state, 1: state}, list[ToldFact]()
        for record in records:
            if record.kind == "rewound":
                break
            before = states[record.version - 1]
            facts = facts_for(record, DIRECTOR)
            context = template_context(pages.rules, before, facts)
            told += [(record.version, {**context.get(i, {}), **fact}) for i, fact in enumerate(facts)]
            after = states[record.version] = pages.rules.fold(before, facts)
            if not after.frames or after.top.kind not in kinds:
                continue
            fights = [each for each in pages.rules.read_battles(told[-200:]) if each.is_open]
            for lang in LANGUAGES:
                words = load_texts(package, lang)
                namer = SeatNames(words, pages.rules.powers(after), {})
                said = words.render(f"situation.{after.top.kind}", after.top.data, namer)
                assert said or fights, (record.version, after.top.kind)
                assert not said or ("{" not in said and "_" not in said), said
