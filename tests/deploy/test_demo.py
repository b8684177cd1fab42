"""The demo: a game over HTTP by clients that see nothing but the API, against the real service."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cli.main import main
from deploy.simulation import demo
from deploy.simulation.demo import DemoClient, DemoError, DemoGame, pick
from domain.types import Doc, Json
from tests.deploy.harness import PATIENCE, SHIPPED, command, environment, until


def test_a_whole_game_is_played_and_its_export_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """README.md shows what is printed; the commands in it work, and stores that the shell names are left alone."""
    page = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    ((words, shown),) = re.findall(r"^\$ \./run (demo .*)\n((?:.+\n)+)", page, re.MULTILINE)
    monkeypatch.setenv("ANNALS_DATABASE_URL", "postgresql://127.0.0.1:9/of_somebody")
    monkeypatch.setenv("ANNALS_KEY", "0" * 64)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    assert main(shlex.split(words)) == 0
    said = capsys.readouterr().out
    assert re.fullmatch(re.escape(shown).replace(re.escape("[...]"), ".+"), said, re.DOTALL)
    (file,) = (tmp_path / "games").iterdir()
    assert main(["verify", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["closed"] is True
    for name, printed in (("prove", "verified: true"), ("read", "Set-up"), ("replay", "public: {")):
        (line,) = re.findall(rf"^{name}: +\./run annals ([^(\n]+)", said, re.MULTILINE)
        assert main(shlex.split(line)) == 0
        assert printed in capsys.readouterr().out


def test_one_that_is_ended_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither the folder of its data nor its service."""
    env = environment(TMPDIR=str(tmp_path))
    args = command("demo", "--ruleset", "imperunde", "--export", "out", program=SHIPPED)
    with subprocess.Popen(
        args, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stderr is not None
            assert next(line for line in process.stderr if "seats: http" in line)
            process.terminate()
            assert process.wait(PATIENCE) == 128 + signal.SIGTERM
            assert list(tmp_path.iterdir()) == []
            until(lambda: not lives(process.pid))
        finally:
            if lives(process.pid):
                os.killpg(process.pid, signal.SIGKILL)


def lives(group: int) -> bool:
    """Whether there is any process of that group."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_clients_may_let_deadlines_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers play the defaults of those who are late; the game goes on to its end and verifies."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setattr(demo, "MISSED_SHARE", 0.1)
    assert main(["demo", "--ruleset", "struggle_of_empires", "--seats", "2", "--pace", "1", "--export", "out"]) == 0
    (late,) = re.findall(r"late: +(\d+) deadlines of 1 s", capsys.readouterr().out)
    assert int(late) > 0
    (file,) = (tmp_path / "out").iterdir()
    kinds = [json.loads(line)["public"]["kind"] for line in file.read_text().splitlines()[1:-1]]
    assert kinds.count("lapsed") >= int(late)
    assert main(["verify", str(file)]) == 0


def test_a_pace_that_the_ruleset_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is started."""
    assert main(["demo", "--pace", "never"]) == 1
    assert main(["demo", "--ruleset", "egc", "--pace", "hours_11"]) == 1
    assert "hours_24" in capsys.readouterr().err


def test_who_is_overtaken_by_a_deadline_plays_on() -> None:
    """A refusal of any other kind is a fault."""
    codes = iter(("decision_closed", "not_on_line"))

    class Late(DemoGame):
        def send_move(self, seat: int, decision: Doc) -> None:
            raise DemoError("too late", next(codes))

    game = Late("http://localhost", "game", [], random.Random(1), deadline=1)
    game.answer(0, {"id": "0-1"})
    with pytest.raises(DemoError):
        game.answer(0, {"id": "0-1"})


def test_the_heuristic_plays_what_the_rules_allow() -> None:
    """A refused proposal leads to the next one; a decision that is closed ends them."""
    answers: dict[str, tuple[int, Doc]] = {
        "no gold": (409, {"code": "no_gold"}),
        "late": (409, {"code": "decision_closed"}),
        "good": (200, {"position": 7, "version": 7, "head": "7"}),
    }

    class Table(DemoClient):
        def request(self, method: str, path: str, body: Json = None, **headers: str) -> tuple[int, bytes]:
            status, doc = answers[body["move"]] if method == "POST" else (200, {"public": {}, "own": {}})
            return status, json.dumps(doc).encode()

    def game(*proposals: str) -> DemoGame:
        def propose(*_: object) -> Iterator[Json]:
            return iter(proposals)

        return DemoGame("", "game", [Table("")], random.Random(1), heuristic=propose)

    played = game("no gold", "good", "late")
    played.send_move(0, {"id": "0-1"})
    assert played.position == 7
    with pytest.raises(DemoError, match="decision_closed"):
        game("late", "good").send_move(0, {"id": "0-1"})


def test_a_problem_of_the_service_is_told() -> None:
    """By its code, not by a traceback."""

    class Broken(DemoClient):
        def request(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
            return 409, b'{"code": "decision_closed", "detail": "too late"}'

    with pytest.raises(DemoError, match="409 decision_closed too late"):
        Broken("http://localhost").call("POST", "/v1/games")


def test_a_ruleset_or_table_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is started."""
    assert main(["demo", "--ruleset", "chess"]) == 1
    assert main(["demo", "--seats", "99"]) == 1
    assert main(["demo", "--bot", "clever"]) == 2
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
    rng = random.Random(1)
    assert all(pick(choice, rng) in picks for _ in range(50))
