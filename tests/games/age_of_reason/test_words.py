"""What is particular in the words of this game."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import CARDS, DOC, MARKERS, SPACES
from domain.ids import DIRECTOR
from domain.kernel.record import facts_for
from domain.kernel.texts import LANGUAGES, texts
from tests.games.age_of_reason.registered import RARE
from tests.games.age_of_reason.test_games import DRAWN, played
from tests.games.age_of_reason.words import SILENT
from tests.games.test_texts import CLUMSY, DOUBLED


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_and_every_card_has_its_words(lang: str) -> None:
    known = texts(RULESET.package, lang).own
    wanted = {f"paid.{why}" for why in ("bid", "battle", "support", "convert")} | {"received.income"}
    wanted |= {f"paid.{space.id}" for space in SPACES.values() if space.cost}
    wanted |= {f"received.{space.id}" for space in SPACES.values() if space.effect in ("trade", "immediate_gold")}
    wanted |= {f"received.{marker.id}" for marker in MARKERS.values() if marker.gold}
    wanted |= {f"laid.{card}" for card in CARDS}
    assert wanted == {key for key in known if key.partition(".")[0] in ("paid", "received", "laid")}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_options_have_words(lang: str) -> None:
    values = {v for o in DOC["options"]["items"] for v in o["values"] if o["id"] != "powers" and v != "seat"}
    assert {f"word.{v}" for v in values if isinstance(v, str)} <= texts(RULESET.package, lang).own.keys()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sentences_of_all_kinds_are_whole(lang: str) -> None:
    """Those of whole games with drawn coalitions, with a crowd of allies, and of an ordinary one."""
    crowded = played(4, 2, RARE[0]["options"], RARE[0]["patch"])
    records = [*played(4, 1).records, *played(5, 2, DRAWN).records, *crowded.records]
    facts = [f for r in records for f in facts_for(r, DIRECTOR) if f["t"] in RULESET.facts.keys() - SILENT]
    assert {f["t"] for f in facts} >= RULESET.facts.keys() - SILENT - {"hire_taken_back"}
    catalogue = texts(RULESET.package, lang)
    for fact in facts:
        sentence = catalogue.sentence(fact)
        assert sentence is not None, fact
        assert not CLUMSY.search(sentence), (sentence, fact)
        assert not DOUBLED.search(sentence), (sentence, fact)


def test_texts_stay_neutral() -> None:
    """Identifiers follow the rulebook; sentences say what happens to markers and tokens, and no more."""
    page = Path(__file__).parents[3] / "docs/about-the-games.md"
    assert "neutral and factual" in page.read_text()
    assert "action board" in (texts(RULESET.package, "en").get("fact.space_placed") or "")
