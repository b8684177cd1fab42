"""Streams of tables: one's own, and those of the lobby."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from api.streams.source import ANY, ViewRequest
from api.streams.table_sources import LobbySource
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import register
from tests.api.streaming import Answer
from tests.api.test_rewinds import moved, say

ORDER = {"type": "order", "to": "t01", "units": 1}
LINES = "application/x-ndjson"


class Events:
    """The events of an open stream, as lines."""

    def __init__(self, answer: Answer) -> None:
        assert answer.status_code == 200, answer.text
        self._answer = answer
        self._pieces = self._read()

    def _read(self) -> Iterator[Doc]:
        for piece in self._answer.response:
            yield from (json.loads(line) for line in piece.decode().splitlines() if line)

    def next(self) -> Doc:
        return next(self._pieces)

    def until(self, holds: Callable[[Doc], bool]) -> Doc:
        """The first event of which that is true."""
        return next(each for each in self._pieces if holds(each))


def of(name: str, **members: object) -> Callable[[Doc], bool]:
    return lambda e: e["event"] == name and all(e["data"][k] == v for k, v in members.items())


def still(doc: Doc) -> Doc:
    """Without what runs on."""
    return doc | {"items": [{k: v for k, v in item.items() if k != "left"} for item in doc["items"]]}


@pytest.fixture
def table(site: Site) -> Table:
    return site.table("orders@1", 3, pace={"seconds": {"turn": 86400}})


def mine(table: Table, who: int | str) -> Answer:
    return table.site.follow("/me/stream", table.token(who), Accept=LINES)


class TestMine:
    def test_the_first_message_is_complete(self, table: Table) -> None:
        with mine(table, 0) as answer:
            first = Events(answer).next()
        assert first["event"] == "tables"
        assert still(first["data"]) == still(table.site.get("/me/games", table.tokens[0]).json)
        assert first["id"] == table.site.services.reader.read_position()

    def test_then_what_changes_is_told_of_each_table(self, table: Table) -> None:
        """Whose turn it is, and until when; the same as a read tells."""
        with mine(table, 0) as answer:
            events = Events(answer)
            (item,) = events.next()["data"]["items"]
            assert item["turn"]
            table.move(0, {"type": "submit"})
            told = events.until(of("table", turn=False))["data"]
            assert told["left"] is None
            (read,) = table.site.get("/me/games", table.tokens[0]).json["items"]
            assert read.pop("votes") == 0
            assert told == read
            table.post("/close", {"reason": "void"}, table.director)
            assert events.until(of("table", status="closed"))["data"]["ending"]["reason"] == "void"

    def test_a_turn_that_ends_and_begins_between_two_looks_is_told(self, table: Table) -> None:
        """One's turn it is before and after, but another one."""
        with mine(table, 0) as answer:
            events = Events(answer)
            before = events.next()["data"]["items"][0]
            table.site.asleep = True
            for seat in range(3):
                table.move(seat, {"type": "submit"})
            table.resolve()
            table.site.asleep = False
            table.site.ring()
            after = events.until(of("table", turn=True))["data"]
        assert before["turn"]
        assert after["waiting_since"] > before["waiting_since"]

    def test_what_others_file_in_secret_is_no_news(self, table: Table) -> None:
        with mine(table, 0) as answer:
            events = Events(answer)
            events.next()
            table.move(1, ORDER)
            table.move(0, {"type": "submit"})
            assert events.next()["data"]["turn"] is False

    def test_tables_come_and_go_while_it_is_open(self, site: Site, table: Table) -> None:
        """A person is known by any token: one more table, and one that is left."""
        with mine(table, 0) as answer:
            events = Events(answer)
            events.next()
            made = site.post("/games", {"ruleset": "orders@1", "seats": 2}, table.tokens[0]).json
            assert events.until(of("table", game=made["game"]))["data"]["roles"] == ["director"]
            site.post(f"/games/{made['game']}/seats", {"seat": 1}, table.tokens[0])
            events.until(of("table", game=made["game"], roles=[1, "director"]))
            other = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
            joined = site.post(f"/games/{other['game']}/seats", {"seat": 0}, table.tokens[0]).json
            events.until(of("table", game=other["game"], roles=[0]))
            site.delete(f"/games/{other['game']}/seats/0", joined["token"])
            assert events.until(of("gone"))["data"] == {"game": other["game"]}

    def test_motions_are_told(self, table: Table) -> None:
        with mine(table, 1) as answer:
            events = Events(answer)
            events.next()
            motion = moved(table)
            assert events.until(of("motion"))["data"]["id"] == motion["id"]
            with mine(table, 2) as late:
                late_events = Events(late)
                assert [late_events.next()["event"] for _ in range(2)] == ["tables", "motion"]
            say(table, motion, 1, agrees=False)
            assert events.until(of("motion", status="declined"))["data"]["declined"] == [1]

    def test_it_ends_with_the_token(self, table: Table) -> None:
        with mine(table, 0) as answer:
            events = Events(answer)
            events.next()
            table.site.delete(f"{table.path}/seats/0", table.director)
            last = list(events._pieces)[-1]
        assert last["event"] == "bye"
        assert set(last["data"]) == {"position"}

    def test_who_comes_back_has_missed_nothing(self, table: Table) -> None:
        with mine(table, 0) as answer:
            last = Events(answer).next()["id"]
        table.move(0, {"type": "submit"})
        with table.site.follow("/me/stream", table.tokens[0], Accept=LINES, Last_Event_ID=str(last)) as answer:
            (item,) = Events(answer).next()["data"]["items"]
        assert not item["turn"]

    def test_only_who_has_a_token_has_tables(self, table: Table) -> None:
        refused(table.site.follow("/me/stream"), 401, "unauthenticated")
        refused(table.site.follow("/me/stream?game=x", table.tokens[0]), 422, "invalid_query")

    def test_a_lent_token_shows_its_seat_alone(self, site: Site, table: Table) -> None:
        site.post("/games", {"ruleset": "orders@1", "seats": 2}, table.tokens[0])
        lent = table.post("/seats/0/tokens", token=table.director).json["token"]
        with site.follow("/me/stream", lent, Accept=LINES) as answer:
            assert [item["game"] for item in Events(answer).next()["data"]["items"]] == [table.game]

    def test_nobody_is_told_of_others_tables(self, site: Site, table: Table) -> None:
        with mine(table, 0) as answer:
            events = Events(answer)
            events.next()
            site.table("orders@1", 2)
            table.move(0, {"type": "submit"})
            assert events.next()["data"]["game"] == table.game


class TestLobby:
    def test_the_first_message_is_the_first_page(self, site: Site, table: Table) -> None:
        for _ in range(51):
            site.post("/games", {"ruleset": "orders@1", "seats": 2})
        with site.follow("/games/stream", Accept=LINES) as answer:
            first = Events(answer).next()
        assert first["data"] == site.get("/games").json
        assert len(first["data"]["items"]) == 50
        assert first["data"]["next"]

    def test_tables_are_told_of_when_they_open_fill_start_and_close(self, site: Site, table: Table) -> None:
        with site.follow("/games/stream", Accept=LINES) as answer:
            events = Events(answer)
            events.next()
            made = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
            events.until(of("table", game=made["game"], status="open"))
            for seat, name in enumerate(("Anne", "Bea")):
                site.post(f"/games/{made['game']}/seats", {"seat": seat, "name": name})
            full = events.until(lambda e: all(s["player"] for s in e["data"]["seats"]))
            assert set(full["data"]["names"].values()) == {"Anne", "Bea"}
            site.post(f"/games/{made['game']}/start", token=made["token"])
            events.until(of("table", status="running"))
            site.post(f"/games/{made['game']}/close", {"reason": "void"}, made["token"])
            assert events.until(of("table", status="closed"))["data"]["game"] == made["game"]

    def test_where_log_has_come_back_shorter_it_is_to_be_asked_anew(
        self, site: Site, table: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What was opened since would lie before what has been told, and be left out."""
        source, position = LobbySource(site.services), site.services.reader.read_position()
        before = source.read_updates({ANY: ViewRequest()})[ANY]
        monkeypatch.setattr(site.services.reader, "read_position", lambda: position - 1)
        assert source.read_updates({ANY: ViewRequest(before.state, needs_snapshot=False)})[ANY].last_event == "bye"
        monkeypatch.setattr(site.services.reader, "read_position", lambda: position)
        assert not source.read_updates({ANY: ViewRequest(before.state, needs_snapshot=False)})[ANY].last_event

    def test_moves_are_no_news_there(self, site: Site, table: Table) -> None:
        with site.follow("/games/stream", Accept=LINES) as answer:
            events = Events(answer)
            events.next()
            table.move(0, ORDER)
            made = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
            assert events.next()["data"]["game"] == made["game"]

    @pytest.mark.parametrize("listing", ["unlisted", "invitation"])
    def test_tables_that_are_not_public_are_not_told_of(self, site: Site, listing: str) -> None:
        with site.follow("/games/stream", Accept=LINES) as answer:
            events = Events(answer)
            events.next()
            site.post("/games", {"ruleset": "orders@1", "seats": 2, "listing": listing})
            made = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
            assert events.next()["data"]["game"] == made["game"]


class TestChallenges:
    def test_one_that_comes_and_goes_is_told(self, site: Site) -> None:
        anne = register(site)
        opened = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json
        new = Table(site, opened["game"], opened["token"], [])
        with site.follow("/me/stream", anne.token, Accept=LINES) as answer:
            events = Events(answer)
            assert events.next()["event"] == "tables"
            assert new.post("/challenges", {"name": "Anne", "seat": 1}, new.director).status_code == 201
            told = events.until(of("challenges"))["data"]["items"]
            assert [(each["game"], each["seat"]) for each in told] == [(new.game, 1)]
            assert anne.get("/me/challenges").json["items"] == told
            assert anne.delete(f"/me/challenges/{new.game}").status_code == 204
            assert events.until(of("challenges"))["data"]["items"] == []

    def test_those_that_wait_are_told_at_the_beginning(self, site: Site) -> None:
        anne, bob = register(site), register(site, "Bob")
        game = bob.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"]
        bob.post(f"/games/{game}/challenges", {"name": "Anne"})
        with site.follow("/me/stream", anne.token, Accept=LINES) as answer:
            assert Events(answer).until(of("challenges"))["data"]["items"][0]["game"] == game
        anne.put(f"/me/blocks/{bob.doc['player']}")
        with site.follow("/me/stream", anne.token, Accept=LINES) as answer:
            events = Events(answer)
            events.next()
            own = anne.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"]
            assert events.next()["data"]["game"] == own
