"""Bots in files: played in process as over HTTP, the same game for the same seed, and refused where they are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deploy.cli.main import main
from deploy.simulation.simulate import simulate
from tests.deploy.harness import ROOT
from tests.kernel.flows import skirmish

TEMPLATE = str(ROOT / "clients" / "python" / "bot_template.py")


def bot(tmp_path: Path, text: str) -> str:
    file = tmp_path / f"bot_{tmp_path.name}.py"
    file.write_text(text)
    return str(file)


def figures(*bots: str, jobs: int = 1) -> dict[str, object]:
    found = simulate(skirmish.RULESET, len(bots), 6, 3, bot=bots, jobs=jobs, probes=0.0)
    return {name: value for name, value in found.items() if name not in ("seconds", "moves_per_second")}


def test_the_template_plays_whole_games_and_the_same_ones_again() -> None:
    """Whatever the number of processes."""
    one = figures(TEMPLATE, "builder", "builder")
    assert one["finished"] == 6
    assert one["invariant_failures"] == 0
    assert figures(TEMPLATE, "builder", "builder", jobs=2) == one


def test_it_is_shown_what_its_seat_may_see(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    text = "import json\ndef choose(board, choice):\n"
    text += f"    with open({str(seen)!r}, 'a') as out: out.write(json.dumps([board, choice]) + '\\n')\n"
    text += "    return choice['lo'] if choice['kind'] != 'one' else choice['options'][-1]['value']\n"
    simulate(skirmish.RULESET, 3, 1, 3, bot=("builder", "builder", bot(tmp_path, text)), probes=0.0)
    boards = [json.loads(line)[0] for line in seen.read_text().splitlines()]
    assert boards
    assert all(board["viewer"] == 2 and {"public", "own"} <= board.keys() for board in boards)


@pytest.mark.parametrize("text", ["x = 1\n", "choose = 3\n"])
def test_a_file_that_is_no_bot(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    """Told before the first game."""
    assert main(["simulate", "struggle_of_empires", "--games", "1", "--bot", bot(tmp_path, text)]) == 1
    assert "defines no function choose" in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "struggle_of_empires", "--bot", "nowhere.py"]) == 1
    assert main(["simulate", "struggle_of_empires", "--bot", "nobody"]) == 2
    assert "nowhere.py: there is no such file" in capsys.readouterr().err


def test_a_pick_that_was_not_offered_is_a_failure_of_the_game(tmp_path: Path) -> None:
    text = "def choose(board, choice):\n    return 'nonsense'\n"
    found = simulate(skirmish.RULESET, 3, 2, 3, bot=("builder", "builder", bot(tmp_path, text)), probes=0.0)
    assert found["finished"] == 0
    assert "not_offered" in str(found["first_failures"])
