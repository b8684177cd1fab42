"""Pages as an application of a phone, in a real browser: installed, without a net, after an upgrade and a logout."""

from __future__ import annotations

import shutil

import pytest

from tests.api.conftest import ROOT
from tests.browser.conftest import Scenario
from tests.browser.test_pages import PHONE, SOE
from tests.deploy.harness import Doc

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),  # one service and one browser at a time
]

OFF = ROOT / "api/pages/static/worker_off.js"


def test_pages_in_the_pocket(scenario: Scenario) -> None:
    found = scenario("pocketing", name="Pocket", ruleset=SOE, browsing=PHONE, off=str(OFF))
    check_manifest(**found["install"])
    assert found["badges"] == [1, 0]
    assert found["themes"] == ["(prefers-color-scheme: light)", "(prefers-color-scheme: dark)"]
    # two builds in turn, two tabs: no page of the first one is shown after the second
    assert (found["upgraded"], found["upgradedBeside"]) == ("second", "second")
    assert found["oldBuild"]["title"] == "No connection"
    # a move without a net stays, and nothing is sent behind the player's back
    assert found["unsent"] == {"isAsked": True, "posts": 0}
    copies = found["copies"]
    assert list(copies) == ["table", "table/chronicle", "table/rules", "/"]
    assert all(copy["isCopy"] and "2026" in copy["text"] for copy in copies.values()), copies
    assert all("version " in copies[page]["text"] for page in ("table", "table/chronicle"))
    assert (found["neverSeen"]["title"], found["neverSeen"]["isCopy"]) == ("No connection", False)
    # nothing is left for the next account
    assert found["afterLogout"] == []
    assert found["loggedOut"] in ("nothing", "No connection")
    assert found["other"]["title"] == "No connection"
    assert found["link"] == ["secret", "/hand-over"]
    assert found["isOff"]
    # the worker answers for pages and files alone: no stream, no form, no download
    kinds = set(found["answered"])
    assert "GET /games/{game}" in kinds
    assert all(each.startswith("GET ") and not each.endswith("/live") and "/v1/" not in each for each in kinds), kinds


def check_manifest(errors: list[Doc], manifest: Doc, url: str) -> None:
    """What Chromium asks of a page that it installs, in the manifest as it has read it."""
    assert errors == []
    assert manifest["name"]
    assert (manifest["startUrl"], manifest["scope"], manifest["id"]) == (f"{url}/", f"{url}/", f"{url}/")
    assert manifest["display"] == "kStandalone"
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"] if icon["type"] == "image/png"}
    assert [each["url"] for each in manifest["shortcuts"]] == [f"{url}/play", f"{url}/tournaments"]
