"""What is particular in the words of this game."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from domain.bots import builder_move, deciding_seats
from domain.games.struggle_of_empires import RULESET
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.narration.chapters import narrate
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records.record import facts_for
from domain.kernel.text.message_catalog import load_texts
from domain.types import DIRECTOR


def test_texts_stay_neutral() -> None:
    """Identifiers follow the rulebook; sentences say what happens to markers and tokens, and no more."""
    page = Path(__file__).parents[3] / "docs/about-the-games.md"
    assert "neutral and factual" in page.read_text()
    assert "marker" in (load_texts(RULESET.package, "en").get("move.enslave") or "")


@pytest.mark.parametrize(("lang", "said"), [("en", "Population rises to "), ("fr", "La population passe à ")])
def test_how_all_populations_grow_after_a_war_is_told_once(lang: str, said: str) -> None:
    """SOE-10.3: by the last that rises, whatever those before it had; what a tile adds is told of its seat alone."""
    played = InMemoryGame(RULESET, 4, bytes(32))
    rng = random.Random(2)
    while not played.state.over:
        seat = rng.choice(deciding_seats(played))
        played.play(seat, builder_move(played, seat, rng))
    words = load_texts(RULESET.package, lang)
    tale = narrate(RULESET, played.records, DIRECTOR, words, SeatNames(words, RULESET.powers(played.state), {}))
    told = [p.version for p in tale.sections for line in p.lines if line.startswith(said)]
    ends = {r.version for r in played.records if any(f["t"] == "war_ended" for f in facts_for(r, DIRECTOR))}
    assert len(set(told)) == len(told) > 0
    assert set(told) <= ends
