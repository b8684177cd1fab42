"""Talk between the players of a table, over HTTP: who may write what and when, and what others learn of it."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.cli.main import main
from domain.ruleset_registry import load_shipped
from domain.talk.talk_store import BURST, TalkStore
from tests.api.conftest import CATALOGUE, Doc, Site, Table, make_site, refused
from tests.api.members import Member, register

WORD = "Zanzibar"
"""A word that no page and no text of the service has."""


def say(table: Table, seat: int, text: str, *to: int, **more: Any) -> Doc:
    """A message that is accepted."""
    headers = {name: more.pop(name) for name in list(more) if name[0].isupper()}
    body = {"to": list(to), "text": text, **more}
    made = table.post("/talk/messages", body, table.tokens[seat], **headers)
    assert made.status_code == 201, made.text
    doc: Doc = made.json
    return doc


def texts(table: Table, who: int | str | None, query: str = "") -> list[str]:
    """The texts that somebody reads, in order."""
    got = table.get(f"/talk/messages{query}", who)
    assert got.status_code == 200, got.text
    return [each["text"] for each in got.json["items"]]


@pytest.fixture
def table(site: Site) -> Table:
    """A table of three at which all may be written."""
    return site.table("orders@1", 3, talk="free")


class TestMessages:
    def test_letter_is_read_by_its_seats_and_table_talk_by_all(self, table: Table) -> None:
        letter = say(table, 0, "Peace?", 1)
        say(table, 2, "Hello, all.")
        assert (letter["kind"], letter["seats"], letter["own"], letter["version"]) == ("private", [0, 1], True, 5)
        assert texts(table, 0) == texts(table, 1) == ["Peace?", "Hello, all."]
        assert texts(table, 2) == texts(table, None) == texts(table, "director") == ["Hello, all."]

    def test_each_seat_knows_a_conversation_by_an_id_of_its_own(self, table: Table) -> None:
        say(table, 0, "Peace?", 1)
        ids = [table.get("/talk", seat).json["conversations"][0]["conversation"] for seat in (0, 1)]
        assert ids[0] != ids[1]
        assert texts(table, 1, f"?conversation={ids[1]}") == ["Peace?"]
        refused(table.get(f"/talk/messages?conversation={ids[0]}", 1), 404, "not_found")
        refused(table.get(f"/talk/messages?conversation={ids[0]}", 2), 404, "not_found")

    def test_one_conversation_for_each_set_of_seats(self, table: Table) -> None:
        say(table, 0, "one", 1)
        say(table, 1, "two", 0, 1)
        say(table, 2, "three", 1, 0)
        found = table.get("/talk", 0).json["conversations"]
        assert [(each["seats"], each["last"] and each["last"]["text"]) for each in found] == [
            ([0, 1, 2], "three"),
            ([0, 1], "two"),
            ([0, 1, 2], None),
        ]
        assert [each["kind"] for each in found] == ["private", "private", "table"]

    def test_the_cursor_loses_and_repeats_nothing(self, table: Table) -> None:
        for number in range(9):
            say(table, number % 2, str(number), *([1 - number % 2] if number % 3 else []))
        url, got = f"{table.path}/talk/messages?limit=2", list[str]()
        while url:
            page = table.site.get(url.removeprefix("/v1"), table.tokens[1]).json
            got += [each["text"] for each in page["items"]]
            url = page["next"]
        assert got == [str(number) for number in range(9)]
        assert texts(table, 1, "?before=9007199254740991&limit=2") == ["7", "8"]
        assert texts(table, 1, "?after=8") == ["8"]

    def test_unread_numbers_marks_and_mutes_are_of_one_reader(self, table: Table) -> None:
        say(table, 0, "one", 1)
        last = say(table, 0, "two", 1)["entry"]
        talk = table.get("/talk", 1).json
        (letters, _) = talk["conversations"]
        assert (talk["unread"], letters["unread"], table.get("/talk", 0).json["unread"]) == (2, 2, 0)
        mark = {"conversation": letters["conversation"], "upto": 1}
        assert table.site.put(f"{table.path}/talk/read", mark, table.tokens[1]).status_code == 204
        assert table.get("/talk", 1).json["unread"] == 1
        for upto in (last, 0):  # a mark never goes back
            table.site.put(f"{table.path}/talk/read", mark | {"upto": upto}, table.tokens[1])
        assert table.get("/talk", 1).json["unread"] == 0
        say(table, 0, "three", 1)
        mute = {"conversation": letters["conversation"], "muted": True}
        assert table.site.put(f"{table.path}/talk/mutes", mute, table.tokens[1]).status_code == 204
        assert table.get("/talk", 1).json["unread"] == 0
        assert table.get("/talk", 1).json["conversations"][0]["muted"] is True

    def test_a_key_stands_for_one_message(self, table: Table) -> None:
        key = {"Idempotency_Key": "evening-letter"}
        first = say(table, 0, "Peace?", 1, **key)
        again = table.post("/talk/messages", {"to": [1], "text": "Peace?"}, table.tokens[0], **key)
        assert (again.status_code, again.json) == (201, first)
        assert again.headers["Idempotency-Replayed"] == "true"
        other = table.post("/talk/messages", {"to": [1], "text": "War!"}, table.tokens[0], **key)
        refused(other, 422, "idempotency_key_reused")
        rest = table.post("/vacations", {"days": 1}, table.tokens[0], **key)
        refused(rest, 422, "idempotency_key_reused")
        assert texts(table, 1) == ["Peace?"]

    def test_a_message_tells_whether_what_its_writer_saw_was_undone(self, table: Table) -> None:
        s = table.site.services
        seen = s.ledger.version(table.game)
        assert say(table, 0, "Now?", 1, version=4)["version"] == 4
        assert say(table, 0, "Now?", 1)["version"] == seen
        assert not table.get("/talk/messages", 1).json["items"][0]["undone"]


class TestRefusals:
    def test_each_has_its_code(self, table: Table) -> None:
        def send(seat: int | str | None = 0, **body: Any) -> Any:
            return table.post("/talk/messages", {"to": [1], "text": "Hm.", **body}, table.token(seat))

        refused(send(None), 401, "unauthenticated")
        refused(send("director"), 403, "not_a_participant")
        refused(send(to=[7]), 409, "unknown_seat")
        refused(send(to=[0]), 409, "seat_empty")
        refused(send(text="x" * 2001), 422, "too_long")
        refused(send(text=" \n "), 422, "invalid_body")
        refused(send(text="left \u202eright"), 422, "invalid_body")
        refused(send(text="signals\u0007"), 422, "invalid_body")
        refused(send(version=99), 409, "unknown_reference")
        refused(send(references=[{"version": 99}]), 409, "unknown_reference")
        refused(send(references=[{"version": 1}] * 11), 422, "invalid_body")
        refused(send(secret=1), 422, "unknown_field")
        assert send(text="line\nline \u2764\ufe0f", references=[{"version": 1}]).status_code == 201
        assert send(text="x" * 2000).status_code == 201

    def test_a_table_without_talk_has_none(self, site: Site) -> None:
        table = site.table("orders@1", 2)
        problem = refused(table.post("/talk/messages", {"to": [], "text": "Hm."}, table.tokens[0]), 409, "talk_is_off")
        assert problem["figures"] == {"talk": "none"}
        assert table.get("/talk", 0).json["conversations"] == []

    def test_a_public_table_has_no_letters(self, site: Site) -> None:
        table = site.table("orders@1", 2, talk="public")
        refused(table.post("/talk/messages", {"to": [1], "text": "Hm."}, table.tokens[0]), 409, "talk_is_off")
        assert say(table, 0, "Hello.")["kind"] == "table"

    def test_letters_begin_with_the_game_and_end_with_it(self, site: Site) -> None:
        table = site.table("orders@1", 2, start=False, talk="free")
        early = table.post("/talk/messages", {"to": [1], "text": "Hm."}, table.tokens[0])
        assert refused(early, 409, "not_now")["figures"] == {"when": "started"}
        say(table, 0, "Hello.")
        table.post("/start", token=table.director)
        say(table, 0, "Peace?", 1)
        table.post("/close", {"reason": "abandoned"}, table.director)
        late = table.post("/talk/messages", {"to": [1], "text": "Hm."}, table.tokens[0])
        assert refused(late, 409, "not_now")["figures"] == {"when": "never"}
        say(table, 1, "Well played.")

    def test_a_seat_writes_so_many_messages_at_once(self, table: Table) -> None:
        table.site.services = replace(table.site.services, clock=lambda: 5_000)
        table.site.remake()
        for number in range(BURST):
            say(table, 0, str(number), 1)
        answer = table.post("/talk/messages", {"to": [1], "text": "more"}, table.tokens[0])
        refused(answer, 429, "too_many")
        assert answer.headers["Retry-After"] == "3"
        say(table, 1, "another seat", 0)

    def test_a_replaced_token_reads_no_letters_and_writes_none(self, table: Table) -> None:
        say(table, 0, "Peace?", 1)
        lent = table.post("/seats/1/tokens", {}, table.director)
        assert lent.status_code == 201, lent.text
        table.tokens[1] = lent.json["token"]
        assert texts(table, 1) == []
        refused(table.post("/talk/messages", {"to": [0], "text": "Hm."}, table.tokens[1]), 403, "lent_token")

    def test_a_table_cannot_promise_a_phase_that_its_rules_lack(self, site: Site) -> None:
        answer = site.post("/games", {"ruleset": "orders@1", "seats": 2, "talk": "by_phase"})
        assert refused(answer, 422, "invalid_table")["errors"][0]["at"] == "/talk"


class TestPhases:
    def test_imperunde_has_letters_in_its_talks_alone(self, tmp_path: Path) -> None:
        with closing(make_site(tmp_path, load_shipped())) as site:
            table = site.table("imperunde@1", 6)
            assert table.get("/talk", 0).json["talk"] == "by_phase"
            kinds = [frame.kind for frame in site.services.commands.game(table.game).frames]
            answer = table.post("/talk/messages", {"to": [1], "text": "Hm."}, table.tokens[0])
            assert kinds[-1] != "diplomacy"
            problem = refused(answer, 409, "not_now")
            assert (problem["rule"], problem["figures"]["when"]) == ("IMP-6.2.6", "phase")
            assert table.get("/talk", 0).json["private"] is False
            say(table, 0, "Hello.")


# --- nobody else learns anything -------------------------------------------------------------------------------

VALUES = {"ruleset": "orders@1", "version": "2", "seat": "0"}


def readable(site: Site, table: Table) -> Iterator[str]:
    """Every address that can be read, with the table wherever a game is asked for."""
    values = {**VALUES, "game": table.game, "player": table.get().json["seats"][0]["player"]}
    for path, methods in site.get("/openapi.json").json["paths"].items():
        names = re.findall(r"{(\w+)}", path)
        if "get" in methods and not path.endswith("/stream") and all(name in values for name in names):
            yield re.sub(r"{(\w+)}", lambda name: values[name[1]], path).removeprefix("/v1")
    yield f"/games/{table.game}/talk/messages?before=9007199254740991"
    yield f"/games/{table.game}/talk/messages?conversation=table"
    yield f"/games/{table.game}/records?limit=200"
    yield f"/games/{table.game}/timeline?limit=200"


def walk(site: Site, table: Table, tokens: dict[str, str]) -> dict[tuple[str, str], tuple[Any, ...]]:
    """What each role sees at each address, with its headers."""
    hidden = {"Date", "X-Request-Id", "Annals-Request", "Request-Id"}
    found = {}
    for path in readable(site, table):
        for role, token in tokens.items():
            got = site.get(path, token)
            headers = sorted((n, v) for n, v in got.headers.items() if n not in hidden)
            found[role, path] = got.status_code, headers, got.data
    return found


class TestNobodyElseLearns:
    @pytest.mark.parametrize("after", ["kept", "published"])
    def test_ten_letters_change_no_byte_for_anybody_else(self, tmp_path: Path, after: str) -> None:
        with closing(make_site(tmp_path)) as site:
            clara, zoe = register(site, "Clara"), register(site, "Zoe")
            table = site.table("orders@1", 10, talk="free", after=after, start=False)
            assert table.post("/start", token=table.director).status_code == 201
            site.services = replace(site.services, clock=lambda: 9_000_000)
            site.remake()
            tokens = {"nobody": "", "director": table.director, "seat 2": table.tokens[2], "seat 3": table.tokens[3]}
            tokens |= {"Clara": clara.token, "Zoe": zoe.token}
            walk(site, table, tokens)  # what is made at a first look is made now
            before, version = walk(site, table, tokens), table.version
            etag = table.get("/board", 0).headers["ETag"]
            for number in range(10):
                say(table, number % 2, f"{WORD} {number}", 1 - number % 2)
            assert table.version == version
            assert table.get("/board", 0).headers["ETag"] == etag
            assert len(texts(table, 0)) == 10
            now = walk(site, table, tokens)
            assert [place for place in before if before[place] != now[place]] == []

    def test_letters_stay_private_after_close_unless_agreed_before(self, site: Site) -> None:
        for after, seen in (("kept", []), ("published", [f"{WORD} 1"])):
            table = site.table("orders@1", 3, talk="free", after=after)
            say(table, 0, f"{WORD} 1", 1)
            table.post("/close", {"reason": "abandoned"}, table.director)
            assert texts(table, None) == texts(table, 2) == seen
            assert texts(table, 0) == [f"{WORD} 1"]

    def test_a_stream_of_others_has_no_event(self, table: Table) -> None:
        with (
            table.get("/stream", 2) as other,
            table.get("/stream", 1) as one,
            table.get("/stream") as all_,
        ):
            for stream in (other, one, all_):
                stream.until("event: board")
            say(table, 0, WORD, 1)
            assert WORD in one.until("event: message")
            say(table, 0, "Hello.")
            for stream in (other, all_):
                told = stream.until("event: message")
                assert WORD not in told
                assert told.count("event: message") == 1

    def test_stream_of_ones_own_tables_names_place_of_new_message(self, table: Table) -> None:
        with table.site.get("/me/stream", table.tokens[1]) as one, table.site.get("/me/stream", table.tokens[2]) as two:
            for stream in (one, two):
                stream.until("event: tables")
            say(table, 0, WORD, 1)
            told = one.until("event: message", "entry")
            assert WORD not in told
            assert f'{{"game":"{table.game}","seat":1,"entry":1}}' in told
            say(table, 0, "Hello.")
            assert two.until("event: message", "entry").count("event: message") == 1


class TestSpectatorsWithADelay:
    def test_they_read_no_further_than_their_version(self, site: Site) -> None:
        site.services = replace(site.services, clock=lambda: 50_000)
        site.remake()
        table = site.table("orders@1", 3, talk="free", delay=3600)
        say(table, 0, "Hello.")
        assert texts(table, None) == []
        assert texts(table, 1) == ["Hello."]
        assert table.get("/talk").json["conversations"][0]["last"] is None


# --- erasure, seats that change hands --------------------------------------------------------------------------


def seated(site: Site, member: Member, game: str, seat: int, invitation: str = "") -> None:
    """An account takes a seat."""
    joined = member.post(f"/games/{game}/seats", {"seat": seat})
    assert joined.status_code == 201, joined.text


class TestErasure:
    def test_an_erased_account_leaves_commitments_without_words(self, site: Site) -> None:
        anne, bruno = register(site, "Anne"), register(site, "Bruno")
        game = anne.post("/games", {"ruleset": "orders@1", "seats": 2, "talk": "free"}).json["game"]
        for seat, member in enumerate((anne, bruno)):
            seated(site, member, game, seat)
        assert anne.post(f"/games/{game}/start", Annals_Role="director").status_code == 201
        path = f"/games/{game}/talk/messages"
        made = anne.post(path, {"to": [1], "text": WORD}, Annals_Role="0", Idempotency_Key="my-letter-1")
        assert made.status_code == 201, made.text
        anne.put(f"/games/{game}/notes", {"text": f"Trust nobody in {WORD}."}, Annals_Role="0")
        anne.prove()
        data = anne.get("/me/data").json
        assert [each["text"] for each in data["messages"]] == [WORD]
        assert [each["text"] for each in data["notes"]] == [f"Trust nobody in {WORD}."]
        assert anne.delete("/me").status_code == 204
        (item,) = bruno.get(path).json["items"]
        assert (item["text"], item["withheld"], item["commitment"]) == (None, "account", made.json["commitment"])
        ledger = site.services.ledger
        assert ledger.execute("SELECT count(*) FROM talk_keys") == [(0,)]
        assert ledger.execute("SELECT count(*) FROM talk_notes") == [(0,)]
        assert ledger.execute("SELECT sealed FROM talk_messages") == [("",)]

    def test_a_guest_erases_messages_too(self, table: Table) -> None:
        say(table, 0, WORD, 1)
        player = table.get().json["seats"][0]["player"]
        assert table.site.delete(f"/players/{player}/name", table.tokens[0]).status_code == 204
        assert texts(table, 1) == [None]

    @pytest.mark.parametrize("papers", ["own", "pass_on"])
    def test_who_takes_a_seat_over_gets_the_letters_only_if_agreed(self, site: Site, papers: str) -> None:
        anne, bruno, clara = (register(site, name) for name in ("Anne", "Bruno", "Clara"))
        terms = {"ruleset": "orders@1", "seats": 2, "talk": "free", "papers": papers}
        game = anne.post("/games", terms).json["game"]
        for seat, member in enumerate((anne, bruno)):
            seated(site, member, game, seat)
        anne.post(f"/games/{game}/start", Annals_Role="director")
        path = f"/games/{game}/talk/messages"
        assert anne.post(path, {"to": [1], "text": WORD}, Annals_Role="0").status_code == 201
        assert bruno.delete(f"/games/{game}/seats/1").status_code == 200
        seated(site, clara, game, 1)
        assert [each["text"] for each in clara.get(path).json["items"]] == ([WORD] if papers == "pass_on" else [])
        shown = [each["kind"] for each in clara.get(f"/games/{game}/talk").json["conversations"]]
        assert shown == (["private", "table"] if papers == "pass_on" else ["table"])
        assert [each["text"] for each in bruno.get(path).json["items"]] == [WORD]  # who has left keeps reading
        anne.post(path, {"to": [1], "text": "And you?"}, Annals_Role="0")
        assert [each["text"] for each in clara.get(path).json["items"]][-1:] == ["And you?"]
        assert [each["text"] for each in bruno.get(path).json["items"]] == [WORD]
        (letters,) = (x for x in bruno.get(f"/games/{game}/talk").json["conversations"] if x["kind"] == "private")
        assert (letters["unread"], letters["last"]["text"]) == (1, WORD)


class TestForks:
    def test_analysis_carries_no_talk_and_rematch_has_same_terms(self, site: Site) -> None:
        anne, bruno, clara = (register(site, name) for name in ("Anne", "Bruno", "Clara"))
        terms = {"ruleset": "orders@1", "seats": 2, "talk": "free", "papers": "pass_on"}
        game = clara.post("/games", terms).json["game"]
        for seat, member in enumerate((anne, bruno)):
            seated(site, member, game, seat)
        clara.post(f"/games/{game}/start")
        assert anne.post(f"/games/{game}/talk/messages", {"to": [1], "text": WORD}).status_code == 201
        version = site.services.ledger.version(game)
        clara.post(f"/games/{game}/close", {"reason": "abandoned"})
        assert site.get(f"/games/{game}").json["status"] == "closed"
        fork = anne.post(f"/games/{game}/forks", {"version": version})
        assert fork.status_code == 201, fork.text
        records = site.services.ledger.read(fork.json["game"])
        assert not any("talk" in record.public for record in records)
        assert "talk" not in records[0].body
        again = anne.post(f"/games/{game}/rematches", {})
        assert again.status_code == 201, again.text
        terms = site.services.ledger.read(again.json["game"])[0].body
        assert (terms["talk"], terms["papers"]) == ("free", "pass_on")


class TestBlocks:
    def test_whom_somebody_has_blocked_sees_no_difference(self, site: Site) -> None:
        anne, bruno = register(site, "Anne"), register(site, "Bruno")
        game = anne.post("/games", {"ruleset": "orders@1", "seats": 2, "talk": "free"}).json["game"]
        for seat, member in enumerate((anne, bruno)):
            seated(site, member, game, seat)
        anne.post(f"/games/{game}/start", Annals_Role="director")
        path, player = f"/games/{game}/talk/messages", bruno.get("/me").json["players"][0]
        before = bruno.post(path, {"to": [0], "text": WORD})
        assert anne.put(f"/me/blocks/{player}").status_code in (200, 201, 204)
        after = bruno.post(path, {"to": [0], "text": WORD})
        assert before.json.keys() == after.json.keys()
        assert [each["withheld"] for each in anne.get(path, Annals_Role="0").json["items"]] == ["blocked"] * 2
        assert anne.get(f"/games/{game}/talk", Annals_Role="0").json["unread"] == 0
        assert [each["text"] for each in bruno.get(path).json["items"]] == [WORD] * 2


class TestScopes:
    def test_a_token_needs_the_scope(self, site: Site) -> None:
        anne = register(site, "Anne")
        game = anne.post("/games", {"ruleset": "orders@1", "seats": 2, "talk": "free"}).json["game"]
        seated(site, anne, game, 0)
        path, body = f"/games/{game}/talk/messages", {"to": [], "text": "Hm."}
        as_seat = {"Annals_Role": "0"}
        for scopes, reads, writes in (
            (("read", "play"), 403, 403),
            (("talk:read",), 200, 403),
            (("talk:write",), 200, 201),
        ):
            token = anne.personal(*scopes)
            assert site.get(path, token, **as_seat).status_code == reads
            assert site.post(path, body, token, **as_seat).status_code == writes


class TestTheMailbox:
    def test_its_file_is_proved_by_the_command(self, table: Table, tmp_path: Path, capsys: Any) -> None:
        say(table, 0, WORD, 1)
        say(table, 1, "Yes.", 0)
        say(table, 2, "Hello, all.")
        table.post("/close", {"reason": "abandoned"}, table.director)
        game, box = tmp_path / "game.jsonl", tmp_path / "mailbox.jsonl"
        game.write_bytes(table.get("/export").data)
        box.write_bytes(table.get("/talk/mailbox", 0).data)
        args = ["verify", str(game), "--mailbox", str(box), "--json"]
        capsys.readouterr()
        assert main(args, CATALOGUE) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["mailbox_entries"], report["mailbox_readable"], report["mailbox_not_anchored"]) == (3, 3, 0)
        box.write_bytes(box.read_bytes().replace(b"Yes.", b"Yes!"))
        assert main(args, CATALOGUE) == 1
        assert json.loads(capsys.readouterr().out)["code"] == "commitment_differs"

    def test_nobody_else_has_one(self, table: Table) -> None:
        say(table, 0, WORD, 1)
        assert WORD.encode() not in table.get("/talk/mailbox", 2).data
        for who in (None, "director"):
            refused(table.get("/talk/mailbox", who), 403, "not_a_participant")


class TestAFailingStore:
    def test_it_refuses_messages_and_no_move(self, table: Table) -> None:
        ledger, s = table.site.services.ledger, table.site.services
        say(table, 0, WORD, 1)
        for name in ("tables", "messages", "entries", "keys", "marks"):
            ledger.execute(f"DROP TABLE talk_{name}")
        refused(table.post("/talk/messages", {"to": [1], "text": "Hm."}, table.tokens[0]), 503, "store_unavailable")
        refused(table.get("/talk", 0), 503, "store_unavailable")
        assert table.post("/vacations", {"days": 1}, table.tokens[0]).status_code in (201, 409)
        before = table.version
        assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201
        assert table.version == before + 1
        assert "talk" in s.ledger.read(table.game)[-1].public
        with table.get("/stream", 1) as stream:
            assert "event: board" in stream.until("event: board")

    def test_a_full_one_refuses_messages_and_no_move(self, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        def is_full(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(TalkStore, "_insert", is_full)
        refused(table.post("/talk/messages", {"to": [1], "text": "Hm."}, table.tokens[0]), 503, "store_unavailable")
        assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201
        monkeypatch.undo()
        assert texts(table, 1) == []
        say(table, 0, "Well played.")

    def test_a_slow_one_keeps_no_move_waiting(self, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        begun, freed, read = threading.Event(), threading.Event(), TalkStore.list_entries

        def read_slowly(*args: Any, **more: Any) -> Any:
            begun.set()
            assert freed.wait(30)
            return read(*args, **more)

        say(table, 0, WORD, 1)
        monkeypatch.setattr(TalkStore, "list_entries", read_slowly)
        reader = threading.Thread(target=table.get, args=("/talk/messages", 1))
        reader.start()
        assert begun.wait(30)
        assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201
        assert reader.is_alive()
        freed.set()
        reader.join()


class TestAClientThatWasAway:
    def test_after_a_day_it_gets_each_message_once(self, table: Table) -> None:
        """One client follows the stream all the time, the other asks after a day for what came after its last place."""
        now = [50_000]
        table.site.services = replace(table.site.services, clock=lambda: now[0])
        table.site.remake()
        last = say(table, 0, "See you tomorrow.", 1)["entry"]
        expected = list[str]()
        with table.get("/stream", 2) as stream:
            stream.until("event: board")
            for hour in range(24):
                now[0] += 3_600_000
                say(table, hour % 3, str(hour), *([1] if hour % 3 == 0 else []))
                expected.append(str(hour))
            told = stream.until('"text":"22"')
        assert [each["text"] for each in table.get(f"/talk/messages?after={last}", 1).json["items"]] == expected
        assert table.get("/talk", 1).json["unread"] == 1 + sum(hour % 3 != 1 for hour in range(24))
        others = [found for found in re.findall(r'"text":"(\d+)"', told) if int(found) % 3 == 1]
        assert others == [str(hour) for hour in range(1, 23, 3)]
        assert texts(table, 1, f"?after={last + 24}") == []
