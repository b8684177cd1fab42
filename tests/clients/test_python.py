"""The Python client: typed by the document, alone in its folder, and through a whole game with a dead service in it."""

from __future__ import annotations

import importlib
import io
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from deploy.cli.main import main
from tests.api.test_clients import imported
from tests.clients.forked import FIRST, GAME, SECOND, forging
from tests.clients.kit import PYTHON, Phoenix, python_client, python_types
from tests.deploy.harness import SHIPPED, serving

client: Any = python_client()


@pytest.fixture
def phoenix(tmp_path: Path) -> Iterator[Phoenix]:
    found = Phoenix(tmp_path / "data")
    yield found
    found.end()


def opened(url: str, name: str) -> tuple[Any, Any]:
    """An account of a bot, and its seat at a table with two bots of the service."""
    annals = client.Annals(url)
    annals.register(name, "a river of green glass", bot=True)
    table = annals.open("struggle_of_empires@1", 3)
    table.seat_bot(1)
    table.seat_bot(2)
    return annals, table.join(0)


def test_it_is_small_and_imports_nothing_of_ours() -> None:
    for file in (PYTHON / "annals_client.py", PYTHON / "bot_template.py"):
        text = file.read_text("utf-8")
        assert len(text.splitlines()) <= 520
        found = set(re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE))
        assert found <= {*sys.stdlib_module_names, "annals_client"}


def test_every_type_that_it_names_is_in_the_document(tmp_path_factory: pytest.TempPathFactory) -> None:
    types = imported(python_types(tmp_path_factory), "annals_types")
    named = set(re.findall(r"\bt\.([A-Z]\w+)", (PYTHON / "annals_client.py").read_text("utf-8")))
    assert len(named) > 15
    assert not [name for name in named if not hasattr(types, name)]


def test_a_whole_game_with_the_service_killed_in_it(
    tmp_path: Path, phoenix: Phoenix, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kill comes between a question and its answer; the stream and the requests find the service again."""
    annals, seat = opened(phoenix.url, "Nadia")
    seat.start()
    asked, back = 0, threading.Thread(target=phoenix.rise)

    def choose(board: Any, choice: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == 25:
            phoenix.die()
            back.start()
        return client.at_random(board, choice)

    seat.play(choose)
    back.join()
    assert asked > 25
    assert seat.scores()["final"]
    assert [game["status"] for game in annals.my_games()] == ["closed"]
    file = tmp_path / "game.jsonl"
    file.write_bytes(seat.export())
    assert main(["verify", str(file)]) == 0
    assert "closed: true" in capsys.readouterr().out


def test_a_seat_gives_standing_orders_and_revokes_them(phoenix: Phoenix) -> None:
    _, seat = opened(phoenix.url, "Orla")
    seat.start()
    assert "pass_turns" in [each["kind"] for each in seat.standing_orders()["kinds"]]
    given = seat.order("bid_up_to", {"amount": 2, "a": 0, "b": 1}, times=3, stops=[])
    assert (given["state"], given["times"]) == ("stands", 3)
    with pytest.raises(client.Refused, match="unknown_standing_order"):
        seat.order("march")
    seat.revoke(given["order"])
    (found,) = seat.standing_orders()["items"]
    assert (found["order"], found["reason"]) == (given["order"], "revoked")


def test_a_move_is_built_of_the_answers_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another request is made for picks that no answer has, such as one of many options."""
    first: dict[str, Any] = {"choice": {"field": "type"}, "move": None, "ahead": []}
    second = {"choice": {"field": "place"}, "move": None, "picks": ["build"]}
    third = {"choice": None, "move": {"type": "build", "place": "x"}, "picks": ["build", "x"]}
    for known, requests in (
        ([second, third], [[]]),
        ([second], [[], ["build", "x"]]),
        ([], [[], ["build"], ["build", "x"]]),
    ):
        asked: list[list[Any]] = []

        def ask(picks: list[Any], ahead: int, known: list[Any] = known, asked: list[Any] = asked) -> Any:
            assert ahead > 0
            asked.append([*picks])
            return {**(first, second, third)[len(picks)], "ahead": known}

        table = client.Table(client.Wire("http://127.0.0.1"), "game")
        monkeypatch.setattr(table, "ask", ask)
        choose = {"type": "build", "place": "x"}
        assert table.build(lambda _, choice: choose[choice["field"]], {}) == third["move"]  # noqa: B023 - called at once
        assert asked == requests


def test_who_lost_everything_but_a_code_finds_all_games(tmp_path: Path) -> None:
    with serving(tmp_path / "data", program=SHIPPED) as service:
        first = client.Annals(service.url)
        codes = first.register("Olga", "a river of green glass")["codes"]
        games = {first.open("struggle_of_empires@1", 2).join(0).game for _ in range(23)}
        other = client.Annals(service.url)
        other.recover("Olga", codes[3], "seven slow white horses")
        assert {game["game"] for game in other.my_games(limit=10)} == games
        with pytest.raises(client.Refused) as refused:
            first.me()
        assert refused.value.code == "unauthenticated"


def test_the_template_plays_a_seat_and_goes_on_with_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data", program=SHIPPED) as service:
        annals = client.Annals(service.url)
        annals.register("Pavel", "a river of green glass", bot=True)
        token = annals.personal_token("bot", ["play"], 1)["token"]
        host = client.Annals(service.url)
        host.register("Host", "a river of green glass")
        table = host.open("struggle_of_empires@1", 2)
        table.seat_bot(0)
        assert annals.table(table.game).join(1).seat == 1
        table.start()
        command = [sys.executable, "bot_template.py", service.url, table.game, "--seat", "1"]
        environment = {"PATH": os.environ["PATH"], "ANNALS_TOKEN": token}
        done = subprocess.run(command, cwd=PYTHON, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(done.stdout.splitlines()) == 2


def test_the_template_declines_treaties_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PYTHON))
    template: Any = importlib.import_module("bot_template")
    said: list[Any] = []

    class StubTable:
        def messages(self, after: int) -> Any:
            open_, closed = {"may_answer": True}, {"may_answer": False}
            found: list[Any] = [{"entry": n, "treaty": treaty} for n, treaty in enumerate((None, open_, closed), 1)]
            return {"items": [each for each in found if each["entry"] > after]}

        def say(self, text: str, **more: Any) -> None:
            said.append(more)

    answers = template.TreatyAnswers(StubTable())
    answers.answer()
    answers.answer()
    assert said == [{"answer": {"entry": 2, "answer": "decline"}}]


class TestEvents:
    def read(self, text: str) -> list[Any]:
        with closing(io.BytesIO(text.encode())) as lines:
            return list(client.read_events(lines))

    def test_what_was_cut_off_is_no_event(self) -> None:
        whole = 'id: 7\nevent: end\ndata: {"version": 7}\n\n'
        assert self.read(whole) == [{"id": "7", "event": "end", "data": {"version": 7}}]
        assert all(self.read(whole[:cut]) == [] for cut in range(len(whole) - 1))

    def test_signs_of_life_are_no_events(self) -> None:
        assert self.read("retry: 2000\n\n: still here\n\n") == []


class TestAForkedGame:
    """A service that shows another game than before is found out, whatever it forges first."""

    @pytest.mark.parametrize("head", ["", SECOND, FIRST])
    def test_it_is_told(self, head: str) -> None:
        """A record that is gone, another one, and another one only in the stream."""
        with forging(head) as url:
            table = client.Annals(url).table(GAME, "0")
            table.move({"type": "order"}, decision="0-1")
            with pytest.raises(client.Forked, match=f"version 7: first {FIRST}, now"):
                next(table.follow())

    def test_the_bot_ends_with_a_line(self) -> None:
        with forging(SECOND) as url:
            command = [sys.executable, "bot_template.py", url, GAME, "--seat", "0"]
            environment = {"PATH": os.environ["PATH"], "ANNALS_TOKEN": "x"}
            done = subprocess.run(command, cwd=PYTHON, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith("bot: game ")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("wanted", "least", "most"),
    [
        ("7", 7, 7.1),
        ("9" * 5000, 999_999_999, 1_000_000_000),
        *[(value, 0.4, 0.5) for value in ("", "-5", "1.5", "soon", "٦")],
    ],
)
def test_it_waits_as_long_as_a_refusal_asks(wanted: str, least: float, most: float) -> None:
    """By itself it waits 0.4 s the third time."""
    assert least <= client.Wire("http://127.0.0.1").pause(2, wanted) <= most


@pytest.mark.parametrize(("ahead", "least", "most"), [(3600, 3500, 3601), (-3600, 0, 0.1)])
def test_it_waits_until_the_date_of_a_refusal(ahead: int, least: float, most: float) -> None:
    wanted = formatdate(time.time() + ahead, usegmt=True)
    assert least <= client.Wire("http://127.0.0.1").pause(2, wanted) <= most
