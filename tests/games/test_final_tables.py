"""Final tables and headlines: what sets equal points apart, and nothing twice in a digest."""

from __future__ import annotations

import dataclasses

import pytest
from msgspec import structs

from domain.kernel.narration.chapters import narrate
from domain.kernel.narration.template_context import final_table
from domain.kernel.narration.turn_digests import LEVELS, MOST_LINES, digests
from domain.kernel.rules.ruleset import AnyRuleset, Score
from domain.kernel.schema.declarations import Part
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import DIRECTOR, Doc
from tests.games.pages import ALL, GROUPED, Pages
from tests.games.test_stories import namer_at, seeded

LADDERS = [each for pages, each in zip(ALL, GROUPED, strict=True) if pages.rules.tie_breaks]


@pytest.mark.parametrize("pages", LADDERS)
def test_equal_points_are_told_with_figure_that_sets_them_apart(pages: Pages) -> None:
    """The first figure in the order of precedence that differs; nothing for a shared place."""
    rules: AnyRuleset = pages.rules
    (first, *_) = rules.scores(seeded(pages, "heuristic").state)
    for name in rules.tie_breaks:
        better = dataclasses.replace(first, seat=0, place=1)
        worse = Score(1, 2, first.points, _changed(first.detail, name))
        top, last = final_table([better, worse], rules.tie_breaks)
        assert (top["ahead"], top["apart"]) == (1, name)
        assert "ahead" not in last
        for lang in LANGUAGES:
            texts = load_texts(rules.package, lang)
            reason = texts.get(f"apart.{name}")
            assert reason
            assert reason in (texts.render("item.final", top) or "")
    tied = final_table([dataclasses.replace(first, seat=0), dataclasses.replace(first, seat=1)], rules.tie_breaks)
    assert all("ahead" not in line for line in tied)


def _changed(detail: Part, name: str) -> Part:
    """The detail with another value there, also for what a running game withholds."""
    value = getattr(detail, name)
    other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else 1
    return structs.replace(detail, **{name: other})


@pytest.mark.parametrize("pages", GROUPED)
def test_brief_digest_counts_the_lines_that_it_leaves_out(pages: Pages) -> None:
    words, game = load_texts(pages.rules.package, "en"), seeded(pages, "heuristic")
    tale = narrate(pages.rules, game.records, DIRECTOR, words, namer_at(pages, words))
    brief, full = (digests(pages.rules, words, namer_at(pages, words), tale, level) for level in LEVELS)
    assert len(brief) == len(full) > 0
    for few, many in zip(brief, full, strict=True):
        results = [line for line in few.lines if "the game" in line and "win" in line]
        assert len(few.lines) - len(results) <= MOST_LINES
        kept = [line for line in few.lines if not line.startswith("And ")]
        assert [line for line in many.lines if line in kept] == kept
        assert len(kept) in (len(few.lines), MOST_LINES - 1 + len(results))


def test_a_conquest_is_no_battle_too() -> None:
    """A digest tells a battle and the conquest that it brought in one line, and the conquests of an empire together."""
    (pages,) = (pages for pages in ALL if pages.game == "egc")
    fought: Doc = {"t": "battle_fought", "territory": "poland", "empires": ["russia"], "held_by": "russia"}
    facts: list[Doc] = [
        fought,
        {"t": "territory_conquered", "seat": 7, "territory": "poland"},
        {"t": "territory_conquered", "seat": 7, "territory": "romania"},
    ]
    (one,) = pages.rules.gather_headlines(facts)
    assert load_texts(pages.rules.package, "en").render("headline.territory_conquered", one) == (
        "Seat 8 conquers Poland and Romania."
    )
    assert pages.rules.gather_headlines([fought]) == [fought]
