"""An evening of ImpeRunde: six people, their letters and treaties, and all that is shown of them afterwards."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from domain.rollouts import random_move
from domain.ruleset_registry import load_shipped
from tests.api.conftest import Doc, Site, Table, make_site
from tests.api.game_pages import Page, Person
from tests.api.members import Member, register
from tests.api.oauth.browser import Browser
from tests.api.test_table_talk import WORD, say, walk
from tests.api.test_talk_disclosures import ONE_FILE, disclose, shown
from tests.api.test_talk_treaties import propose, read

NAMES = ("Anne", "Bruno", "Clara", "Dora", "Emil", "Fritz")
PHONE = 1
"""The seat played by the pages in French."""


@dataclass
class Evening:
    """A table in its talks, and its people."""

    site: Site
    table: Table
    people: list[Member]
    phone: Person

    def page(self, query: str = "") -> str:
        got = self.phone.read(f"{self.table.path}/talk{query}", Accept_Language="fr")
        assert got.status_code == 200, got.text
        return str(got.text)

    def verdict(self, folder: Path, mailbox: bytes) -> str:
        """What the one file says in a folder with nothing else but the game and the mailbox."""
        folder.mkdir()
        for name, data in (("one.py", ONE_FILE.read_bytes()), ("box", mailbox), ("game", self.export())):
            (folder / name).write_bytes(data)
        command = [sys.executable, "-I", "-S", "one.py", "game", "--mailbox", "box"]
        told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        return told.stdout + told.stderr

    def export(self) -> bytes:
        return bytes(self.table.get("/export", None).data)


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[Evening]:
    """Six people and a director who does not play, in the first talks."""
    with closing(make_site(tmp_path, load_shipped())) as site:
        host, people = register(site, "Host"), [register(site, name) for name in NAMES]
        game = host.post("/games", {"ruleset": "imperunde@1", "seats": 6}).json["game"]
        for seat, person in enumerate(people):
            assert person.post(f"/games/{game}/seats", {"seat": seat}).status_code == 201
        assert host.post(f"/games/{game}/start").status_code == 201
        table = Table(site, game, host.token, [person.token for person in people])
        dice = random.Random(1)
        while (now := site.services.commands.game(game)).state.top.kind != "diplomacy":
            seat = now.state.top.owing[0]
            move = random_move(site.services.registry.get(now.ruleset), now.state, seat, dice)
            assert table.move(seat, move).status_code == 201
        browser = Browser(site)
        assert browser.log_in(NAMES[PHONE]).status_code == 303
        yield Evening(site, table, people, Person(site, browser, people[PHONE]))


def promise(table: Table, seat: int, entry: int) -> tuple[str, int | None]:
    (found,) = read(table, seat, entry)["treaty"]["promises"]
    return str(found["state"]), found["version"]


def sent(evening: Evening, act: str, entry: str, *fields: tuple[str, str]) -> None:
    """Send a form of the open letter: the one about a message, or else the one for a new text."""
    page = Page(evening.page(open_letter(evening, PHONE)))
    forms = [form for form in page.forms if ("act", act) in form.fields]
    about = [form for form in forms if ("entry", entry) in form.fields]
    answer = evening.phone.send((about or forms[::-1])[0], *fields)
    assert answer.status_code == 303, answer.text


def open_letter(evening: Evening, seat: int) -> str:
    found: list[Doc] = evening.table.get("/talk", seat).json["conversations"]
    return f"?conversation={next(each['conversation'] for each in found if each['kind'] == 'private')}"


def test_an_evening_of_letters_treaties_and_proofs(evening: Evening, tmp_path: Path) -> None:
    site, table = evening.site, evening.table
    site.services = replace(site.services, clock=lambda: 9_000_000)
    site.remake()
    others = {"nobody": "", "director": table.director, "Dora": table.tokens[3]}
    walk(site, table, others)  # what is made at a first look is made now
    before, version = walk(site, table, others), table.version

    say(table, 0, f"Meet me in {WORD}.", PHONE)
    propose(table, 0, "peace", PHONE, hours=1)
    sent(evening, "say", "2", ("answer", "accept"))
    sent(evening, "say", "", ("text", "D'accord."))
    assert "Tenu jusqu" in evening.page(open_letter(evening, PHONE))
    assert promise(table, 0, 2) == promise(table, PHONE, 2) == ("holds", None)

    now = walk(site, table, others)
    assert [place for place in before if before[place] != now[place]] == []
    assert table.version == version

    assert table.move(0, {"type": "set_stance", "target": PHONE, "stance": "war"}).status_code == 201
    assert promise(table, PHONE, 2) == ("broken", table.version)
    assert "Rompu" in evening.page(open_letter(evening, PHONE))

    sent(evening, "disclose", "1", ("audience", "officers"))
    (found,) = shown(table, "director")
    assert (found["proved"], found["messages"][0]["text"]) == (True, f"Meet me in {WORD}.")
    assert shown(table, 3) == []
    letter = table.get(f"/talk/disclosures/{found['disclosure']}/file", "director").data
    assert "1 with their words" in evening.verdict(tmp_path / "bare", letter)
    assert disclose(table, 3, "table", 1).status_code == 409

    assert evening.people[0].delete("/me").status_code == 204
    assert WORD not in evening.page(open_letter(evening, PHONE))
    mailbox = table.get("/talk/mailbox", PHONE).data
    told = evening.verdict(tmp_path / "erased", mailbox)
    assert "HOLDS" in told
    assert "checked: 4 messages, 2 with their words" in told
    assert WORD not in mailbox.decode()
