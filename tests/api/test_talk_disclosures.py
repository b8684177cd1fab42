"""Disclosures: who may show which messages to whom, and what the others read of it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.documents.mailbox_files import check_file
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.test_table_talk import WORD, say, walk
from tests.api.test_talk_treaties import answer, propose

ONE_FILE = Path(__file__).parents[2] / "clients" / "verifier" / "annals_verify.py"


@pytest.fixture
def table(site: Site) -> Table:
    """A table of three with a letter from seat 0 to seat 1, and words before and after it."""
    made = site.table("orders@1", 3, talk="free")
    say(made, 0, "Hello.")
    say(made, 0, f"Meet me in {WORD}.", 1)
    say(made, 1, "A secret.", 0)
    made.post("/vacations", {"days": 1}, made.tokens[0])
    return made


def disclose(table: Table, seat: int, to: str, *entries: int) -> Any:
    return table.site.put(f"{table.path}/talk/disclosures", {"entries": list(entries), "to": to}, table.tokens[seat])


def shown(table: Table, who: int | str | None) -> list[Doc]:
    items: list[Doc] = table.get("/talk/disclosures", who).json["items"]
    return items


def test_letter_is_shown_to_the_table_and_all_read_its_proof(table: Table, tmp_path: Path) -> None:
    made = disclose(table, 1, "table", 2)
    assert made.status_code == 200, made.text
    for who in (0, 1, 2, None, "director"):
        (found,) = shown(table, who)
        assert (found["proved"], found["seat"], found["reason"]) == (True, 1, "")
        (message,) = found["messages"]
        assert (message["text"], message["seat"], message["seats"]) == (f"Meet me in {WORD}.", 0, [0, 1])
    got = table.get(f"/talk/disclosures/{made.json['disclosure']}/file", None)
    assert "A secret." not in got.text
    (tmp_path / "box").write_bytes(got.data)
    (tmp_path / "game").write_bytes(table.get("/export", None).data)
    command = [sys.executable, "-I", "-S", str(ONE_FILE), str(tmp_path / "game"), "--mailbox", str(tmp_path / "box")]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert "checked: 3 messages, 1 with their words" in told


def test_what_is_answered_to_a_treaty_is_not_shown_with_it(site: Site) -> None:
    """The answer is another message, which nobody has shown."""
    table = site.table("struggle_of_empires@1", 3)
    propose(table, 0, "peace", 1)
    assert disclose(table, 0, "table", 1).status_code == 200
    answer(table, 1, 1, "accept")
    (found,) = shown(table, None)
    assert found["messages"][0]["treaty"]["answers"] == []


def test_a_seat_shows_no_more_than_some(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.routes.talk_disclosures.MOST_DISCLOSURES", 1)
    assert disclose(table, 1, "table", 2).status_code == 200
    assert disclose(table, 1, "table", 2).status_code == 200
    assert disclose(table, 1, "officers", 2).status_code == 409


def test_a_changed_word_is_not_proved(table: Table) -> None:
    made = disclose(table, 1, "table", 2).json
    data = table.get(f"/talk/disclosures/{made['disclosure']}/file", None).data
    s, now = table.site.services, table.site.services.commands.game(table.game)
    assert check_file(s, now, data) == ""
    assert check_file(s, now, data.replace(WORD.encode(), b"Cordoba.")) == "commitment_differs"
    lines = data.splitlines(keepends=True)
    assert check_file(s, now, b"".join(lines[:-1])) == "anchor_missing"


def test_only_officers_without_stake_read_what_is_shown_them(site: Site, table: Table) -> None:
    site.services = replace(site.services, clock=lambda: 9_000_000)
    site.remake()
    tokens = {"nobody": "", "seat 0": table.tokens[0], "seat 2": table.tokens[2]}
    walk(site, table, tokens)
    before = walk(site, table, tokens)
    assert disclose(table, 1, "officers", 2).status_code == 200
    now = walk(site, table, tokens)
    assert [place for place in before if before[place] != now[place]] == []
    assert [each["messages"][0]["text"] for each in shown(table, "director")] == [f"Meet me in {WORD}."]
    assert len(shown(table, 1)) == 1
    (id_,) = [each["disclosure"] for each in shown(table, 1)]
    refused(table.get(f"/talk/disclosures/{id_}/file", 0), 404, "not_found")


def test_participant_shows_messages_of_the_own_mailbox_alone(table: Table) -> None:
    refused(disclose(table, 2, "table", 2), 409, "unknown_reference")
    refused(disclose(table, 1, "table", 9), 409, "unknown_reference")
    url = f"{table.path}/talk/disclosures"
    refused(table.site.put(url, {"entries": [1], "to": "table"}, table.director), 403, "not_a_participant")
    refused(table.site.put(url, {"entries": [1], "to": "table"}), 401, "unauthenticated")
    refused(table.site.put(url, {"entries": [], "to": "table"}, table.tokens[1]), 422, "invalid_body")
    refused(table.site.put(url, {"entries": [1], "to": "moderators"}, table.tokens[1]), 422, "invalid_body")


def test_the_same_messages_are_shown_once(table: Table) -> None:
    first = disclose(table, 1, "table", 3, 2).json
    assert disclose(table, 1, "table", 2, 3, 3).json["disclosure"] == first["disclosure"]
    assert disclose(table, 1, "officers", 2, 3).json["disclosure"] != first["disclosure"]
    assert len(shown(table, None)) == 1


def test_erased_text_is_gone_from_disclosure_and_rest_is_proved(table: Table) -> None:
    disclose(table, 1, "table", 2, 3)
    player = table.get().json["seats"][0]["player"]
    store = table.site.services.talk
    for statement, params in store.erase([player]):
        table.site.services.ledger.execute(statement, params)
    (found,) = shown(table, None)
    assert [(each["text"], each["withheld"]) for each in found["messages"]] == [(None, "account"), ("A secret.", "")]
    assert found["proved"]
    assert WORD not in json.dumps(found)


def test_a_spectator_of_a_table_with_a_delay_reads_it_later(site: Site) -> None:
    table = site.table("orders@1", 3, talk="free", delay=3600)
    say(table, 0, WORD, 1)
    assert disclose(table, 1, "table", 1).status_code == 200
    assert shown(table, None) == []
    assert len(shown(table, 2)) == 1
