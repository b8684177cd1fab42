"""An evening of ImpeRunde against a service as people have it: six clients, one a phone in French, and an attacker."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.api.test_clients import imported
from tests.api.test_table_talk import VALUES, WORD
from tests.api.test_talk_disclosures import ONE_FILE
from tests.browser.conftest import Scenario
from tests.clients.kit import PYTHON
from tests.deploy.harness import Service, until

annals_client: Any = imported(PYTHON, "annals_client")

PASSWORD = "correct horse battery staple 9"
NAMES = ("Anne", "Bruno", "Clara", "Dora", "Emil", "Fritz")
PHONE, AWAY, OTHER = 1, 2, 3
"""The seat of the phone, that of a client without a connection for the time, and that of the attacker."""

OFFLINE = """
import runpy, sys
def refuse(event, _):
    if event.startswith("socket."):
        raise OSError("this machine has no network")
sys.addaudithook(refuse)
sys.argv = ["one.py", *sys.argv[1:]]
runpy.run_path("one.py", run_name="__main__")
"""

UNLIKE = {"date", "request-id", "content-length"}
"""Headers that differ from request to request, and the length, which the body has."""

TOLD = ("/board", "/export", "/records?limit=200", "/timeline?limit=200", "/talk", "/talk/messages?conversation=table")
"""Addresses of a table that are alike in two walks, whoever reads them."""

Seen = dict[tuple[str, str], tuple[int, tuple[tuple[str, str], ...], bytes]]


class Evening(NamedTuple):
    """A table in its talks."""

    service: Service
    people: list[Any]
    director: Any
    seats: list[Any]

    @property
    def game(self) -> str:
        return str(self.director.game)

    def walk(self, roles: dict[str, str]) -> Seen:
        """What each role sees at each address that can be read, the table's wherever a game is asked for."""
        document = self.service.http.get("/openapi.json").json()
        values = {**VALUES, "game": self.game, "player": self.director.summary()["seats"][0]["player"]}
        paths = [f"/games/{self.game}{path}" for path in TOLD]
        for path, methods in document["paths"].items():
            is_known = all(name in values for name in re.findall(r"{(\w+)}", path))
            if "get" in methods and not path.endswith("/stream") and is_known:
                paths.append(re.sub(r"{(\w+)}", lambda name: values[name[1]], path).removeprefix("/v1"))
        seen: Seen = {}
        for role, token in roles.items():
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            for path in paths:
                got = self.service.http.get(path, headers=headers, timeout=60)
                kept = tuple(sorted((n, v) for n, v in got.headers.items() if n.lower() not in UNLIKE))
                seen[role, path] = got.status_code, kept, got.content
        return seen

    def find_promise(self, seat: int, entry: int) -> tuple[str, int | None]:
        (found,) = self.seats[seat].messages(entry - 1, 1)["items"]
        (promise,) = found["treaty"]["promises"]
        return promise["state"], promise["version"]

    def verify_elsewhere(self, folder: Path, mailbox: bytes) -> str:
        """What the one file says on a machine with nothing but the game and the mailbox, and no network."""
        folder.mkdir()
        for name, data in (("one.py", ONE_FILE.read_bytes()), ("box", mailbox), ("game", self.director.export())):
            (folder / name).write_bytes(data)
        command = [sys.executable, "-I", "-S", "-c", OFFLINE, "game", "--mailbox", "box"]
        told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env={})
        return told.stdout + told.stderr


@pytest.fixture
def evening(service: Service) -> Evening:
    """Six people and a director who does not play, in the first talks."""
    people = [annals_client.Annals(service.url) for _ in (*NAMES, "Host", "Zoe")]
    for person, name in zip(people, (*NAMES, "Host", "Zoe"), strict=True):
        person.register(name, PASSWORD)
    director = people[len(NAMES)].open("imperunde@1", len(NAMES))
    seats = [person.table(director.game).join(seat) for seat, person in enumerate(people[: len(NAMES)])]
    director.start()
    while director.decisions()[0]["kind"] != "diplomacy":
        for seat in seats:
            seat.turn(annals_client.at_random)
    return Evening(service, people, director, seats)


def follow(table: Any, heard: list[str]) -> None:
    """Note the words of each message on the stream of a seat, until the one that ends the evening."""
    for event in table.follow():
        if event["event"] == "message":
            heard.append(str(event["data"]))
            if "Good night" in heard[-1]:
                return


def test_an_evening_of_six_clients_and_an_attacker(evening: Evening, scenario: Scenario, tmp_path: Path) -> None:
    seats, service = evening.seats, evening.service
    phone = {"name": NAMES[PHONE], "password": PASSWORD, "talk": f"/games/{evening.game}/talk"}
    roles = {"nobody": "", "officer": evening.director.wire.token, "spectator": evening.people[-1].wire.token}
    roles["another player"] = seats[OTHER].wire.token
    heard = list[str]()
    ear = threading.Thread(target=follow, args=(seats[OTHER], heard), daemon=True)
    ear.start()
    first, second = evening.walk(roles), evening.walk(roles)
    alike = {place for place in first if first[place] == second[place]}
    assert {(role, f"/games/{evening.game}{path}") for role in roles for path in TOLD} <= alike

    seats[0].say(f"Meet me in {WORD}.", [PHONE])
    seats[0].say("", [PHONE], treaty={"kind": "peace", "values": {}, "hours": 1})
    answered = scenario("talking", **phone, step="answer", picture=str(tmp_path / "phone.png"))
    assert WORD in answered["before"]
    assert answered["fits"]
    assert evening.find_promise(0, 2) == evening.find_promise(PHONE, 2) == ("holds", None)

    third = evening.walk(roles)
    assert [place for place in sorted(alike) if third[place] != first[place]] == []
    assert not [place for place, (_, _, body) in third.items() if WORD.encode() in body]
    assert heard == []

    talks = seats[0].decisions()[0]["id"]
    seats[0].move({"type": "set_stance", "target": PHONE, "stance": "war"}, decision=talks)
    broken = until(lambda: (found := evening.find_promise(PHONE, 2))[0] == "broken" and found)
    assert broken == ("broken", seats[0].summary()["version"])
    shown = scenario("talking", **phone, step="show")
    assert "Rompu" in shown["before"]
    (found,) = evening.director.wire.get(f"/games/{evening.game}/talk/disclosures")["items"]
    assert (found["proved"], found["messages"][0]["text"]) == (True, f"Meet me in {WORD}.")
    assert seats[OTHER].wire.get(f"/games/{evening.game}/talk/disclosures")["items"] == []
    letter = evening.director.wire.text(f"/games/{evening.game}/talk/disclosures/{found['disclosure']}/file")
    told = evening.verify_elsewhere(tmp_path / "officer", letter)
    assert "1 with their words" in told, told
    forged = letter.replace(WORD.encode(), b"Samarkand")
    assert "commitment" in evening.verify_elsewhere(tmp_path / "forged", forged)

    seats[4].say("Where is Clara?")
    seats[0].say("Are you away?", [AWAY])
    seats[5].say("Good night.")
    assert [each["text"] for each in seats[AWAY].messages(0)["items"]] == [
        "Where is Clara?",
        "Are you away?",
        "Good night.",
    ]
    ear.join(60)
    assert [("Clara" in each, "night" in each) for each in heard] == [(True, False), (False, True)]

    evening.people[0].wire.write("/me", None, method="DELETE")
    box = seats[PHONE].wire.text(f"/games/{evening.game}/talk/mailbox")
    assert WORD.encode() not in box
    told = evening.verify_elsewhere(tmp_path / "erased", box)
    assert "HOLDS" in told, told
    files = [file for file in service.data.rglob("*") if file.is_file()]
    assert not [file for file in files if WORD.encode() in file.read_bytes()]
    assert WORD not in service.errors.read_text()
