"""Scripts and styles of pages: what they leave to the server, and what must fit between them."""

from __future__ import annotations

import re

from tests.api.conftest import ROOT

LOCAL = re.compile(r"\bIntl\b(?!\.DateTimeFormat\(\)\.resolvedOptions\(\)\.timeZone)|\.toLocale\w*String\b")
"""Words of a language; the name of the browser's time zone is none."""


def test_no_script_writes_figures_dates_or_lists_of_a_language() -> None:
    """Browsers and the server would write the same number differently."""
    scripts = sorted((ROOT / "api" / "pages" / "static").glob("*.js"))
    assert scripts
    assert [script.name for script in scripts if LOCAL.search(script.read_text("utf-8"))] == []


def test_question_is_beside_map_on_desk_and_lying_phone() -> None:
    style_css = (ROOT / "api/pages/static/style.css").read_text("utf-8")
    wanted = r"@media ([^{]*) \{\s*\.paired \.area, [^{]* \{ grid-template: auto minmax\(0, 1fr\) / "
    beside = re.search(wanted, style_css)
    assert beside is not None
    assert beside[1] == "(min-width: 700px), (min-width: 30rem) and (orientation: landscape)"
