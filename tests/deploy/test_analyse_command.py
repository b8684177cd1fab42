"""The command `annals analyse`."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from deploy.cli.main import main
from domain.kernel.records import export
from tests.players.test_rollouts import begin

LOGS = Path(__file__).parent.parent / "logs"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.jsonl"
    path.write_bytes(lzma.decompress((LOGS / "aor3.jsonl.xz").read_bytes()))
    return path


def test_it_tells_each_turn_in_both_languages(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", str(file), "--games", "2"]) == 0
    told = capsys.readouterr().out
    assert "Game turn 1" in told
    assert "Britain" in told
    assert "Largest changes:" in told
    assert main(["analyse", str(file), "--games", "2", "--lang", "fr"]) == 0
    assert "Grande-Bretagne" in capsys.readouterr().out


def test_its_document_repeats_by_the_seed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for _ in range(2):
        assert main(["analyse", str(file), "--games", "2", "--seed", "4", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert len(found[0]["turns"]) == 3
    assert all(sum(each["chances"]) == pytest.approx(1) for each in found[0]["turns"])


def test_one_version_is_played_on(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", str(file), "--version", "136", "--games", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [len(points) for points in found["points"]] == [3, 3, 3]
    assert main(["analyse", str(file), "--version", "136", "--games", "3"]) == 0
    assert "Endings of 3 games of bots from version 136." in capsys.readouterr().out


def test_a_changed_file_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_bytes(file.read_bytes().replace(b'"gold":5', b'"gold":6', 1))
    assert main(["analyse", str(file), "--games", "1"]) == 1
    assert "Chances" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "status", "reason"),
    [
        (["--version", "9999"], 1, "the file holds the versions 1 to"),
        (["--games", "0"], 2, "a number from 1 to"),
        (["--games", "many"], 2, "a number from 1 to"),
    ],
)
def test_what_it_cannot_do_is_told(
    file: Path, capsys: pytest.CaptureFixture[str], args: list[str], status: int, reason: str
) -> None:
    assert main(["analyse", str(file), *args]) == status
    assert reason in capsys.readouterr().err


def test_a_game_that_is_still_played_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = begin("seven_empires@1")
    file = tmp_path / "running.jsonl"
    file.write_bytes(export.dump(match.records))
    assert main(["analyse", str(file)]) == 1
    assert "not closed" in capsys.readouterr().err


def test_nothing_is_left_at_the_end(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    last = len(file.read_text("utf-8").splitlines()) - 1
    assert main(["analyse", str(file), "--version", str(last)]) == 1
    assert "nothing is left to be played" in capsys.readouterr().err
