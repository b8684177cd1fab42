"""What is particular in the words of this game."""

from __future__ import annotations

from pathlib import Path

from domain.games.struggle_of_empires import RULESET
from domain.kernel.texts import texts


def test_texts_stay_neutral() -> None:
    """Identifiers follow the rulebook; sentences say what happens to markers and tokens, and no more."""
    page = Path(__file__).parents[3] / "docs/about-the-games.md"
    assert "neutral and factual" in page.read_text()
    assert "marker" in (texts(RULESET.package, "en").get("move.enslave") or "")
