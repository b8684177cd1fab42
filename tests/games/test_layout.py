"""Every game has the same layout."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import domain.games
from domain.kernel.rules.ruleset import Nothing, no_hidden_view, no_powers
from domain.ruleset_registry import SHIPPED

ROOT = Path(domain.games.__file__).parent

PLACES = {
    "refusal_codes": ("CODES", "meta.codes"),
    "state": None,
    "data": None,
    "moves": ("MOVES", "moves"),
    "facts": ("FACTS", "facts"),
    "rules": ("HANDLERS", "handlers"),
    "rules.setup": ("setup", "setup"),
    "choices": ("build", "build"),
    "defaults": ("default", "default"),
    "frames": ("FRAMES", "frames"),
    "player_view": ("board", "board"),
    "template_context": ("CONTEXT_BUILDERS", "context_builders"),
    "scoring": ("scores", "scores"),
    "invariants": ("check", "check"),
    "redeal": ("redeal", "redeal"),
    "bot": ("propose", "bot"),
}
"""Module of a game -> a name in it, and the field of the ruleset with this value."""


@pytest.fixture(params=SHIPPED)
def game(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def module(game: str, name: str) -> ModuleType:
    return import_module(f"domain.games.{game}.{name}")


@pytest.mark.parametrize("name", PLACES)
def test_a_part_of_the_ruleset_is_where_it_is_in_all_games(game: str, name: str) -> None:
    found = module(game, name)
    if (place := PLACES[name]) is not None:
        part = import_module(f"domain.games.{game}").RULESET
        for step in place[1].split("."):
            part = getattr(part, step)
        assert getattr(found, place[0]) is part


def test_the_rest_of_a_game_is_where_it_is_in_all_games(game: str) -> None:
    package = import_module(f"domain.games.{game}")
    rules, setup = package.RULESET, module(game, "rules.setup")
    assert (package.META, package.RULESETS[-1]) == (rules.meta, rules)
    assert module(game, "rules").CONTINUATIONS is rules.continuations
    assert setup.blank is rules.blank
    view = module(game, "player_view")
    assert rules.own is view.own_view
    assert rules.powers is getattr(view, "powers", no_powers)
    assert rules.hidden is getattr(view, "hidden_view", no_hidden_view)
    assert rules.view_types == {
        "board": view.Board,
        "own": view.Own,
        "hidden": getattr(view, "Hidden", Nothing),
        "detail": module(game, "scoring").Detail,
    }
    assert module(game, "invariants").fill is rules.fill
    assert rules.check_table is getattr(setup, "check_table", None)
    assert rules.package == package.__name__
    assert {path.name for path in (ROOT / game / "texts").iterdir()} == {"en.json", "fr.json"}
    assert (ROOT / game / "data.json").exists()
    assert (ROOT / game / "presentation.json").exists()


def test_a_game_has_its_pages_and_its_tests(game: str) -> None:
    root = ROOT.parents[1]
    for page in (f"docs/rules/{game}.md", f"docs/rulings/{game}.md", f"docs/games/{game}.md"):
        assert (root / page).exists(), page
    tests = {path.stem for path in (root / "tests/games" / game).iterdir()}
    assert {"words", *(f"test_{name}" for name in ("bot", "data", "games", "golden"))} <= tests


def test_folders_without_a_ruleset_know_no_game() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*SHIPPED, "common"}
