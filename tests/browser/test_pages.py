"""Pages in a real browser: by clicks, with and without scripts, two at one table, and read by axe."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from domain.ruleset_registry import load_shipped
from tests.api.conftest import ROOT
from tests.api.test_npm_clients import run
from tests.browser.conftest import Scenario
from tests.deploy.house import Doc, Service

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),  # one service and one browser at a time
]

SOE = "struggle_of_empires@1"
HOST, PASSWORD = "Genoa Club", "correct horse battery staple 9"
PICTURES = ROOT / "docs" / "web"


@pytest.fixture(scope="module")
def tournament(service: Service) -> str:
    """The path of a tournament of four, with the tables of its first round."""
    names = (HOST, "Ada", "Bruno", "Clara", "Dorian")
    accounts = [service.http.post("/accounts", json={"name": name, "password": PASSWORD}) for name in names]
    tokens = [each.json()["token"] for each in accounts]

    def post(path: str, body: Doc, token: str = tokens[0]) -> Doc:
        answer = service.http.post(path, json=body, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 201, answer.text
        found: Doc = answer.json()
        return found

    terms = {
        "title": "Genoa Open",
        "note": "Round 1 begins on Sunday.",
        "ruleset": SOE,
        "table": {"undo": "none"},
        "seats": {"least": 2, "most": 2, "preferred": 2},
        "stages": [{"format": "league", "rounds": 3, "ties": ["points", "direct", "wins", "opponents", "draw"]}],
    }
    path = f"/tournaments/{post('/tournaments', terms)['tournament']}"
    for token in tokens[1:]:
        post(f"{path}/entrants", {}, token)
    post(f"{path}/phases", {"phase": "checking"})
    for token in tokens[1:]:
        post(f"{path}/checkin", {}, token)
    post(f"{path}/phases", {"phase": "drawing"})
    post(f"{path}/stages/1/rounds/1/draw", {})
    post(f"{path}/stages/1/rounds/1/tables", {})
    return path


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_person_with_only_the_address_plays_by_clicks(scenario: Scenario, script: bool) -> None:
    name = f"Zoe {script}"
    found = scenario("playing", name=name, ruleset=SOE, decisions=2, script=script, phone=not script)
    assert found["decisions"] == 2
    assert not found["sideways"]


def test_regions_are_chosen_on_the_map_and_a_replay_steps(scenario: Scenario) -> None:
    found = scenario("mapping", ruleset=SOE, picks=2)
    assert found["picks"] == {"mouse": 2, "keys": 2, "touch": 2}
    assert found["focus"]
    assert found["zoomed"] == {"closer": True, "kept": True}
    assert found["replay"] == {"seen": ["6", "7", "1", "4", "5"], "loads": 0}


def test_two_browsers_at_one_table_see_each_other(scenario: Scenario) -> None:
    found = scenario("following")
    assert set(found["delays"]) == {"seat", "start", "move", "vote"}
    assert max(found["delays"].values()) < 1000, found["delays"]
    assert found["kept"] == {"scroll": True, "focus": "agreements", "panel": True, "answers": True, "move": True}
    assert found["refused"] == 4


def test_no_page_has_a_serious_fault_of_access(scenario: Scenario, tournament: str) -> None:
    found = scenario("reading", tournament=tournament, host=HOST, password=PASSWORD)
    assert found["findings"] == []
    assert found["count"] == 4 * 14


@pytest.mark.parametrize("name", load_shipped().names())
def test_a_game_is_played_to_its_end_by_clicks(scenario: Scenario, name: str) -> None:
    """Against bots; of egc, the first orders."""
    most = 12 if name.startswith("egc") else 600
    found = scenario("playing", name=f"Long {name[:9]}", ruleset=name, decisions=most, script=True)
    assert found["over"] or name.startswith("egc")
    assert not found["sideways"]


def test_pictures_show_the_pages(scenario: Scenario, tournament: str, tmp_path: Path) -> None:
    """`ANNALS_TEST_REFRESH=1 ./run test --long tests/browser` writes those of the documentation anew."""
    folder = PICTURES if os.environ.get("ANNALS_TEST_REFRESH") else tmp_path
    scenario("showing", tournament=tournament, host=HOST, password=PASSWORD, folder=str(folder))
    made = {path.name for path in folder.glob("*.png")}
    assert made == {path.name for path in PICTURES.glob("*.png")}


def test_pictures_are_few_and_small_and_shown() -> None:
    told = (ROOT / "docs/web.md").read_text("utf-8") + (ROOT / "README.md").read_text("utf-8")
    pictures = list(PICTURES.glob("*.png"))
    assert 0 < len(pictures) <= 8
    assert all(path.stat().st_size < 150_000 for path in pictures)
    assert all(f"web/{path.name})" in told for path in pictures)


def test_scripts_of_pages_have_types(tools: Path) -> None:
    options = ["--noEmit", "--allowJs", "--checkJs", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022"]
    scripts = ROOT / "api/pages/static"
    files = [str(path) for path in sorted(scripts.glob("*.js")) if path.name != "passkey.js"]
    run(str(tools / "tsc"), *options, "--lib", "es2022,dom,dom.iterable", *files, cwd=scripts)
