"""Scripts of pages: figures, dates and lists are written by the server alone."""

from __future__ import annotations

import re

from tests.api.conftest import ROOT

LOCAL = re.compile(r"\bIntl\b|\.toLocale\w*String\b")


def test_no_script_writes_figures_dates_or_lists_of_a_language() -> None:
    """Browsers and the server would write the same number differently."""
    scripts = sorted((ROOT / "api" / "pages" / "static").glob("*.js"))
    assert scripts
    assert [script.name for script in scripts if LOCAL.search(script.read_text("utf-8"))] == []
