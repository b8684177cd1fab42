"""Stories of exports cost no more sentences than they show."""

from __future__ import annotations

import lzma
from collections.abc import Callable

import pytest

from deploy.simulation import narrate
from domain.kernel.narration.turn_digests import LEVELS
from domain.kernel.records import export
from domain.kernel.records.record import facts_for
from domain.kernel.text.message_catalog import SeatNamer, Texts
from domain.ruleset_registry import load_shipped
from domain.types import DIRECTOR, Doc
from tests.test_logs import LOGS


@pytest.fixture(name="count")
def _count(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], int]:
    """Count the sentences about facts that a call renders."""
    rendered, sentence = list[str](), Texts.sentence

    def keep(texts: Texts, fact: Doc, namer: SeatNamer | None = None) -> str | None:
        said = sentence(texts, fact, namer)
        rendered.extend([said] if said else [])
        return said

    def count(call: Callable[[], object]) -> int:
        rendered.clear()
        call()
        return len(rendered)

    monkeypatch.setattr(Texts, "sentence", keep)
    return count


@pytest.mark.parametrize("name", ["aor3", "imp3"])
def test_story_renders_facts_once_and_summary_headlines_only(
    name: str, count: Callable[[Callable[[], object]], int]
) -> None:
    (path,) = [path for path in LOGS if path.name.startswith(name)]
    found = export.parse(lzma.decompress(path.read_bytes()))
    rules = load_shipped().get(found.ruleset)
    facts = [fact for record in found.records for fact in facts_for(record, DIRECTOR)]
    headlines = sum(fact["t"] in rules.meta.headlines for fact in facts)
    stories = dict[str, narrate.Story]()

    def tell(level: str) -> int:
        return count(lambda: stories.update({level: narrate.build_story(found, rules, "en", level=level)}))

    full, brief = tell(LEVELS[1]), tell(LEVELS[0])
    assert 0 < full <= len(facts) + headlines
    sections = [section for turn in stories["full"].turns for _, some in turn.sections for section in some]
    headings = len({(section.version, section.chapter) for section in sections}) - len(found.records)
    assert brief <= headlines + 2 * headings < full / 2  # both sides of a heading ask if there is anything to say
    digests = [turn.digest for turn in stories["full"].turns if turn.digest]
    assert [turn.digest for turn in stories["brief"].turns] == digests
