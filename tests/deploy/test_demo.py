"""The demo: a game over HTTP by clients that know nothing but the API, against the real service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deploy.cli import main
from deploy.demo import Client, DemoError, pick


def test_a_whole_game_is_played_and_its_export_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Final table, addresses and a file that proves itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    assert main(["demo", "--ruleset", "struggle_of_empires", "--seats", "2", "--export", "out"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0].split() == ["place", "seat", "points"]
    (file,) = (tmp_path / "out").iterdir()
    assert main(["verify", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["closed"] is True


def test_a_problem_of_the_service_is_told() -> None:
    """By its code, not by a traceback."""

    class Broken(Client):
        def raw(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
            return 409, b'{"code": "decision_closed", "detail": "too late"}'

    with pytest.raises(DemoError, match="409 decision_closed too late"):
        Broken("http://localhost").call("POST", "/v1/games")


def test_a_ruleset_or_table_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is started."""
    assert main(["demo", "--ruleset", "chess"]) == 1
    assert main(["demo", "--seats", "99"]) == 1
    assert "annals:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("choice", "picks"),
    [
        ({"kind": "range", "lo": 2, "hi": 3}, (2, 3)),
        ({"kind": "one", "options": [{"value": None}, {"value": "a", "ends": True}]}, (None, "a")),
        ({"kind": "some", "lo": 1, "hi": 9, "options": [{"value": 1}, {"value": 2}]}, ([1], [2], [1, 2], [2, 1])),
    ],
)
def test_picks_are_among_what_is_offered(choice: dict[str, object], picks: tuple[object, ...]) -> None:
    """Every kind of question."""
    import random

    rng = random.Random(1)
    assert all(pick(choice, rng) in picks for _ in range(50))
