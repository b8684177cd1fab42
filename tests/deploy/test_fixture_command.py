"""`annals fixture`: a game becomes a stored log that the tests verify."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from deploy.cli.main import main
from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.ledger import Ledger
from domain.ruleset_registry import load_shipped

RULESET = "struggle_of_empires@1"


def make_game(game: str = "match") -> AnyInMemoryGame:
    return InMemoryGame(load_shipped().get(RULESET), 3, bytes(32), game=game)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (made := tmp_path / "logs").mkdir()
    return made


def test_an_export_becomes_a_log_in_one_step(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = make_game()
    match.close("abandoned")
    file = folder.parent / "game.jsonl"
    file.write_bytes(export.dump(match.records))
    assert main(["fixture", str(file), "--name", "a-lost-war", "--to", str(folder)]) == 0
    assert "records: 6" in capsys.readouterr().out
    found = export.parse(lzma.decompress((folder / "a-lost-war.jsonl.xz").read_bytes()))
    assert verify.verify(load_shipped().get(RULESET), found).closed
    assert main(["fixture", str(file), "--name", "a-lost-war", "--to", str(folder)]) == 1
    assert "exists already" in capsys.readouterr().err


def test_a_game_of_the_data_folder_becomes_one_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, game = folder.parent / "data", "00000000-0000-4000-8000-000000000001"
    match = make_game(game)
    match.close("abandoned")
    data.mkdir()
    monkeypatch.setenv("ANNALS_KEY", "00" * 32)
    ledger = Ledger.open(f"sqlite:///{data / 'ledger.sqlite'}", bytes(32))
    ledger.migrate()
    ledger.append(game, match.records, 0)
    ledger.close()
    assert main(["fixture", game, "--to", str(folder), "--data", str(data)]) == 0
    assert [path.name for path in folder.iterdir()] == [f"struggle-of-empires-{match.game.hash[:8]}.jsonl.xz"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["game.jsonl"], "close the game first"),
        (["game.jsonl", "--name", "../up"], "small letters, digits and hyphens"),
        (["00000000-0000-4000-8000-000000000001"], "no such file or game"),
    ],
)
def test_other_games_and_names_are_refused_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    match = make_game()
    if "--name" in arguments:
        match.close("abandoned")
    monkeypatch.chdir(folder.parent)
    Path("game.jsonl").write_bytes(export.dump(match.records))
    monkeypatch.setenv("ANNALS_KEY", "00" * 32)
    Ledger.open(f"sqlite:///{folder.parent / 'ledger.sqlite'}", bytes(32)).migrate()
    assert main(["fixture", *arguments, "--to", str(folder), "--data", str(folder.parent)]) == 1
    assert told in capsys.readouterr().err
    assert not list(folder.iterdir())
