"""Scripts and styles of pages: what they leave to the server, and what must fit between them."""

from __future__ import annotations

import re

from tests.api.conftest import ROOT

LOCAL = re.compile(r"\bIntl\b|\.toLocale\w*String\b")


def test_no_script_writes_figures_dates_or_lists_of_a_language() -> None:
    """Browsers and the server would write the same number differently."""
    scripts = sorted((ROOT / "api" / "pages" / "static").glob("*.js"))
    assert scripts
    assert [script.name for script in scripts if LOCAL.search(script.read_text("utf-8"))] == []


def test_a_question_is_beside_the_map_or_has_a_link() -> None:
    """The link to the question below the map leaves at the very width from where it stands beside it."""
    map_css, style_css = ((ROOT / "api/pages/static" / name).read_text("utf-8") for name in ("map.css", "style.css"))
    beside = re.search(r"@media \(min-width: (\w+)\) \{\s*\.area:has\(\.decide\) \{ grid-template-columns", map_css)
    without_link = re.search(r"@media \(min-width: (\w+)\) \{\s*\.to-move \{ display: none", style_css)
    assert beside is not None
    assert without_link is not None
    assert beside[1] == without_link[1]
