"""Pages in a real browser: by clicks, with and without scripts, two at one table, and read by axe."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from deploy.cli.main import main
from domain.lessons import load_lesson
from domain.ruleset_registry import load_shipped
from tests.api.conftest import ROOT
from tests.api.test_npm_clients import run
from tests.browser.conftest import Scenario
from tests.clients.kit import python_client
from tests.deploy.harness import Doc, Service

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),  # one service and one browser at a time
]

EGC, SOE = "egc@1", "struggle_of_empires@1"
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


def test_pages_hold_with_large_text_zoom_and_forced_colours(scenario: Scenario, tournament: str) -> None:
    """No page scrolls sideways, the focus is seen, and nothing is cut or covered."""
    assert scenario("looking", tournament=tournament)["count"] == 4 * 17


PHONE = {"viewport": {"width": 390, "height": 844}, "hasTouch": True, "isMobile": True}
WAYS: dict[str, Doc] = {
    "clicks": {},
    "no script": {"script": False, "browsing": PHONE},
    "keys": {"by": "keys"},
    "touch": {"by": "tap", "browsing": PHONE},
    "French": {"browsing": {"locale": "fr"}},
    "no motion": {"browsing": {"reducedMotion": "reduce"}},
    "a phone in French": {"by": "tap", "browsing": {**PHONE, "locale": "fr", "reducedMotion": "reduce"}},
}
"""Ways in which people play."""


@pytest.mark.parametrize("way", ["clicks", "no script", "keys", "a phone in French"])
def test_a_person_with_only_the_address_plays(scenario: Scenario, way: str) -> None:
    found = scenario("playing", name=f"Zoe {way}", ruleset=SOE, decisions=2, **WAYS[way])
    assert found["decisions"] == 2
    check_look(found, way)


@pytest.mark.parametrize("name", load_shipped().names())
@pytest.mark.parametrize("way", ["no script", "keys"])
def test_a_decision_of_every_game_is_made_in_every_way(scenario: Scenario, name: str, way: str) -> None:
    """Two of them, since the first one is often a choice of powers."""
    found = scenario("playing", name=f"{way} {name[:9]}", ruleset=name, decisions=2, orders=1, **WAYS[way])
    assert found["decisions"] == 2
    check_look(found, way)


DESK = {"viewport": {"width": 1280, "height": 800}}
LYING = {"viewport": {"width": 844, "height": 390}, "hasTouch": True, "isMobile": True}


ANSWERS = 12


@pytest.mark.parametrize("name", load_shipped().names())
@pytest.mark.parametrize(("size", "browsing"), [("phone", PHONE), ("lying phone", LYING), ("desk", DESK)])
def test_after_every_answer_question_is_in_window_and_has_focus(
    scenario: Scenario, name: str, size: str, browsing: Doc
) -> None:
    by = "click" if size == "desk" else "tap"
    assert scenario("staying", name=f"{size} {name[:9]}", ruleset=name, answers=ANSWERS, by=by, browsing=browsing)[
        "answers"
    ]


def test_the_question_stays_in_the_window_without_scripts(scenario: Scenario) -> None:
    found = scenario("staying", name="Stay plain", ruleset=SOE, answers=8, script=False, browsing=PHONE)
    assert found["answers"] == 8


SEVEN = "seven_empires@1"


@pytest.mark.parametrize("way", ["clicks", "no script", "keys", "a phone in French"])
def test_what_is_no_option_leads_to_its_reason(scenario: Scenario, way: str) -> None:
    """By buttons beside the question and on the board, in a game that has both early."""
    given = {"places": [".closed", ".panels"], "steps": 80}
    found = scenario("asking", name=f"Why {way}", ruleset=SEVEN, **given, **WAYS[way])
    assert found["told"] == {".closed": True, ".panels": True}
    assert not found["sideways"]


@pytest.mark.parametrize("way", ["no script", "keys", "touch", "French", "no motion"])
def test_a_whole_game_is_played_in_every_way(scenario: Scenario, service: Service, way: str) -> None:
    on_map = way in {"keys", "touch"}
    found = scenario("playing", name=f"Whole {way}", ruleset=SOE, decisions=600, onMap=on_map, **WAYS[way])
    check_look(found, way)
    assert bool(found["picks"]) == on_map
    check_end(service, found, f"Whole {way}")


def check_look(found: Doc, way: str) -> None:
    assert not found["sideways"]
    assert found["lang"] == ("fr" if "French" in way else "en")
    assert way != "no motion" or found["moves"] == 0


def check_end(service: Service, found: Doc, name: str) -> None:
    """The scores on the page are those of the API."""
    assert found["over"]
    told = log_in(service, name).table(found["table"].rpartition("/")[2], "0").scores()["scores"]
    places = sorted((each["place"], each["points"]) for each in told)
    assert [(int(row[0]), int(row[2])) for row in found["scores"]] == places


def log_in(service: Service, name: str) -> Any:
    """The account in the client that is published."""
    client = vars(python_client())["Annals"](service.url)
    client.log_in(name, PASSWORD)
    return client


def bring_on(_board: Doc, choice: Doc) -> Any:
    """The answer that brings the game on."""
    if choice["kind"] == "range":
        return choice["lo"]
    values = [option["value"] for option in choice["options"]]
    ends = [option["value"] for option in choice["options"] if option.get("ends")]
    return values[: choice["lo"]] if choice["kind"] == "some" else (ends or values)[0]


def test_visitor_with_the_address_plays_and_takes_the_proof(scenario: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    told = scenario("arriving", file=str(file))["told"]
    assert "The game has moved on" in told["refusal"]
    assert "Meanwhile:" in told["refusal"]
    assert told["away"] > 0
    assert told["undone"] > 0
    assert main(["verify", str(file)], load_shipped()) == 0


def test_regions_are_chosen_on_the_map_and_a_replay_steps(scenario: Scenario) -> None:
    found = scenario("mapping", ruleset=SOE, picks=2)
    assert found["picks"] == {"click": 2, "keys": 2, "tap": 2}
    assert found["why"] == found["told"] == {"click": True, "keys": True, "tap": True}
    assert found["focus"]
    assert found["zoomed"] == {"closer": True, "kept": True}
    assert found["replay"] == {"seen": ["6", "7", "1", "4", "4", "4", "5"], "loads": 0}


ANSWERS = 12


@pytest.mark.parametrize("name", load_shipped().names())
@pytest.mark.parametrize(("size", "browsing"), [("phone", PHONE), ("desk", DESK)])
def test_what_the_page_tells_of_is_marked_in_sight(scenario: Scenario, name: str, size: str, browsing: Doc) -> None:
    """Names on the map can be read, and none covers another; the line below it tells of nothing old."""
    found = scenario("marking", name=f"Mark {size} {name[:9]}", ruleset=name, turns=14, looks=3, browsing=browsing)
    assert found["looked"]
    assert found["names"]


COSTS = {"ruleset": SOE, "largest": EGC}


def test_a_map_is_drawn_quickly_and_an_update_moves_nothing(scenario: Scenario) -> None:
    """The largest map takes about three times as long as a page with as many bare paths."""
    found = scenario("measuring", name="Measure", pages=2, updates=10, **COSTS)
    assert found["ratio"] < 9
    assert found["shift"] <= 0.05
    assert found["stops"] == 1


def test_memory_is_steady_over_500_updates(scenario: Scenario) -> None:
    """That of the last hundred against that of the second."""
    found = scenario("measuring", name="Measure long", pages=6, updates=500, **COSTS)
    assert found["growth"] < 1.1


def test_two_browsers_at_one_table_see_each_other(scenario: Scenario) -> None:
    found = scenario("following")
    assert set(found["delays"]) == {"seat", "start", "move", "vote"}
    assert max(found["delays"].values()) < 1000, found["delays"]
    kept = {"scroll": True, "focus": "agreements", "panel": True, "answers": True, "beside": True, "move": True}
    assert found["kept"] == kept
    assert found["refused"] <= 5, "after each refusal one more request reads how long to wait"


def test_no_page_has_a_serious_fault_of_access(scenario: Scenario, tournament: str) -> None:
    found = scenario("reading", tournament=tournament, host=HOST, password=PASSWORD)
    assert found["findings"] == []
    assert found["count"] == 4 * 17


@pytest.mark.parametrize("name", [name for name in load_shipped().names() if name != "imperunde@1"])
def test_a_first_game_by_taps_leads_to_a_game_against_bots(scenario: Scenario, name: str, tmp_path: Path) -> None:
    """In French, as a guest. Each step, with its text and the way on, is in the window of a phone.

    The driver finds no way through ImpeRunde's lists of picks; its lesson is played by forms.
    """
    lesson = load_lesson(load_shipped().get(name))
    assert lesson is not None
    moves = [each.moves[0] if each.moves else None for each in lesson.steps[:-1]]
    pictures = os.environ.get("ANNALS_TEST_PICTURES", "")
    found = scenario(
        "learning", ruleset=name, moves=moves, by="tap", browsing={**PHONE, "locale": "fr"}, pictures=pictures
    )
    assert found["table"].startswith("/games/")
    assert found["hidden"] == []


ACTS = 1
"""Moves that bring nothing on, such as attacks and purchases, before one that does."""


@pytest.mark.timeout(600)  # on a machine that does much else; alone the longest takes four minutes
@pytest.mark.parametrize("name", [name for name in load_shipped().names() if name != EGC])
def test_a_game_is_played_to_its_end_by_clicks(scenario: Scenario, service: Service, name: str) -> None:
    """Against bots; of the answers, those that lead to a region on the map come first."""
    given = {"decisions": 600, "orders": ACTS, "onMap": True}
    found = scenario("playing", name=f"Long {name[:9]}", ruleset=name, **given)
    check_look(found, "clicks")
    assert found["picks"]
    check_end(service, found, f"Long {name[:9]}")


@pytest.mark.timeout(600)
def test_three_turns_of_sheets_are_played_by_clicks_then_api(scenario: Scenario, service: Service) -> None:
    """Every page is opened in each turn."""
    pages = ["/", "/games", "/desk", "/account", "TABLE", "TABLE/chronicle", "TABLE/rules", "TABLE/desk"]
    given = {"decisions": 100, "orders": 7, "sheets": 3, "pages": pages, "onMap": True}
    found = scenario("playing", name="Sheets", ruleset=EGC, **given)
    assert found["sheets"] == 3
    assert found["picks"]
    assert found["decisions"] >= 9
    table = log_in(service, "Sheets").table(found["table"].rpartition("/")[2], "0")
    table.seat = 0
    table.play(bring_on)
    assert table.scores()["scores"]


def test_pictures_show_the_pages(scenario: Scenario, tournament: str, tmp_path: Path) -> None:
    """`ANNALS_TEST_REFRESH=1 ./run test --long tests/browser` writes those of the documentation anew."""
    folder = PICTURES if os.environ.get("ANNALS_TEST_REFRESH") else tmp_path
    scenario("showing", tournament=tournament, host=HOST, password=PASSWORD, folder=str(folder))
    made = {path.name for path in folder.glob("*.png")}
    assert made == {path.name for path in PICTURES.glob("*.png")}


def test_pictures_are_few_and_small_and_shown() -> None:
    told = (ROOT / "docs/web.md").read_text("utf-8") + (ROOT / "README.md").read_text("utf-8")
    pictures = list(PICTURES.glob("*.png"))
    assert 0 < len(pictures) <= 14
    assert all(path.stat().st_size < 150_000 for path in pictures)
    assert all(f"web/{path.name})" in told for path in pictures)


def test_scripts_of_pages_have_types(tools: Path) -> None:
    options = ["--noEmit", "--allowJs", "--checkJs", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022"]
    scripts = ROOT / "api/pages/static"
    workers = ["worker.js", "worker_off.js"]  # each runs by itself
    files = [path.name for path in sorted(scripts.glob("*.js")) if path.name not in ("passkey.js", *workers)]
    for lib, names in [("dom,dom.iterable", files), *(("webworker,webworker.iterable", [each]) for each in workers)]:
        run(str(tools / "tsc"), *options, "--lib", f"es2022,{lib}", *names, cwd=scripts)
