"""No pinned version is one of which something bad is known."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tests.test_locks import LOCKS, ROOT, pins

KNOWN: dict[str, Any] = json.loads((ROOT / "requirements" / "advisories.json").read_text())


def affected(pinned: dict[str, str], advisories: list[dict[str, Any]]) -> list[str]:
    """The advisories that are about a version that is pinned."""
    return [
        f"{a['id']}: {a['package']} {pinned[a['package']]}"
        for a in advisories
        if a["package"] in pinned
        and any(SpecifierSet(each, prereleases=True).contains(Version(pinned[a["package"]])) for each in a["affected"])
    ]


@pytest.mark.parametrize("lock", LOCKS)
def test_no_pin_is_affected(lock: str) -> None:
    assert affected(pins(lock), KNOWN["advisories"]) == []


@pytest.mark.parametrize(("version", "found"), [("3.1.0", 1), ("3.1.1", 0), ("2.3.1", 1), ("2.2.5", 0)])
def test_a_version_that_is_affected_is_named(version: str, found: int) -> None:
    assert len(affected({"flask": version}, KNOWN["advisories"])) == found


def test_list_says_where_it_is_from_and_names_what_is_pinned() -> None:
    assert dt.date.fromisoformat(KNOWN["checked"]).year >= 2026
    assert KNOWN["source"]
    named = {a["package"] for a in KNOWN["advisories"]}
    assert named <= pins("lint").keys(), "an advisory of nothing that we use says nothing"
    assert all(a["id"] and a["affected"] for a in KNOWN["advisories"])
