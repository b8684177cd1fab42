"""The presentation of a ruleset: how its documents are drawn, for the pages and for the programs of others."""

from __future__ import annotations

import functools
from contextlib import suppress

from domain.kernel.text.package_data import load
from domain.types import Doc

_COMMON = "domain.games.common"


@functools.cache
def load_presentation(package: str) -> Doc:
    """Return `presentation.json` of a game, with the members of all games; for a game without one, these alone."""
    found: Doc = {}
    with suppress(FileNotFoundError):
        found = dict(load(package, "presentation.json")) if package else {}
    return found | {"members": {**load(_COMMON, "presentation.json")["members"], **found.get("members", {})}}
