"""Streams: a complete document first, then what is new, resumable, and closed at the end."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from api.services import ApiSettings
from api.streams.slots import StreamSlots
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.player import play

ORDER = {"type": "order", "to": "t01", "units": 1}


class Events:
    """The events of an open stream, one chunk at a time."""

    def __init__(self, answer: Any) -> None:
        assert answer.status_code == 200, answer.text
        assert answer.mimetype == "text/event-stream"
        self.answer, self.chunks = answer, iter(answer.response)
        assert next(self.chunks) == b": open\n\n"

    def next(self) -> list[tuple[str, Doc, int | None]]:
        """Name, document and id of each event in the next chunk; a sign of life is none."""
        return [parsed(text) for text in next(self.chunks).decode().split("\n\n") if text and text[0] != ":"]

    def news(self) -> list[tuple[str, Doc, int | None]]:
        """The next chunk that holds an event."""
        while not (found := self.next()):
            pass
        return found


def parsed(text: str) -> tuple[str, Doc, int | None]:
    lines = dict(line.split(": ", 1) for line in text.split("\n"))
    return lines["event"], json.loads(lines["data"]), int(lines["id"]) if "id" in lines else None


@contextmanager
def following(table: Table, who: int | str | None = None, query: str = "", **headers: str) -> Iterator[Events]:
    answer = table.get("/stream" + query, who, **headers)
    try:
        yield Events(answer)
    finally:
        answer.close()


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


class TestEvents:
    def test_the_first_is_the_complete_board(self, orders: Table) -> None:
        with following(orders, 0) as events:
            assert events.next() == [("board", orders.get("/board", 0).json, orders.version)]

    def test_it_says_when_to_come_again(self, orders: Table) -> None:
        """In the block of the first event: alone, httpx-sse makes a message of it."""
        with following(orders, 0) as events:
            assert next(events.chunks).decode().split("\n")[:2] == ["retry: 2000", f"id: {orders.version}"]
            orders.move(0, ORDER)
            assert not any(chunk.startswith(b"retry") for chunk in (next(events.chunks), next(events.chunks)))

    def test_then_what_changes_with_what_is_told_of_it(self, orders: Table) -> None:
        with following(orders, 0) as events:
            events.next()
            orders.move(0, ORDER)
            board, entry = events.news()
            assert board == ("board", orders.get("/board", 0).json, None)
            assert (entry[0], entry[1]["own"][0]["acts"], entry[2]) == ("timeline", [[0, ORDER]], orders.version)

    def test_others_are_told_that_something_was_filed(self, orders: Table) -> None:
        """No new board, since theirs has not changed."""
        with following(orders, 1) as events:
            events.next()
            orders.move(0, ORDER)
            ((name, doc, last),) = events.news()
            assert (name, last, doc.get("own"), doc["acts"]) == ("timeline", orders.version, None, [])

    def test_a_stream_goes_on_where_it_broke(self, orders: Table) -> None:
        seen = orders.version
        for seat in (0, 1, 2):
            orders.move(seat, ORDER)
        with following(orders, 0, Last_Event_ID=str(seen)) as events:
            (board, *told) = events.next()
            assert board[0] == "board"
            assert [e["version"] for _, e, _ in told] == [seen + 1, seen + 2, seen + 3]
            assert [i for *_, i in told] == [None, None, seen + 3]

    @pytest.mark.parametrize("last", ["", "x", "-1", "999", "99999999999999999999", "1.5"])
    def test_an_id_that_is_none_starts_anew(self, orders: Table, last: str) -> None:
        with following(orders, 0, Last_Event_ID=last) as events:
            assert [(name, id_) for name, _, id_ in events.next()] == [("board", orders.version)]
            orders.move(0, ORDER)
            assert events.news()[-1][2] == orders.version

    def test_it_shows_signs_of_life(self, orders: Table) -> None:
        with following(orders) as events:
            events.next()
            assert next(events.chunks) == b": still here\n\n"

    def test_it_ends_with_the_game(self, site: Site) -> None:
        table = site.table("windows@1", 3, options={"turns": 1})
        with following(table) as events:
            events.next()
            play(table, random.Random(1), 200)
            assert events.news()[0][1]["status"] == "closed"
            assert events.next() == [("end", {"version": table.version}, None)]
            assert list(events.chunks) == []
        with following(table) as events:
            assert [events.next()[0][0], events.next()[0][0]] == ["board", "end"]

    def test_it_asks_to_come_again_after_a_while(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        with following(orders) as events:
            events.next()
            assert orders.site.loop is not None
            loop = orders.site.loop.loop
            before = loop.time
            monkeypatch.setattr(loop, "time", lambda: before() + ApiSettings().stream_seconds + 1)
            assert events.news() == [("bye", {"version": orders.version}, None)]


class TestAccess:
    def test_a_ticket_opens_one_stream(self, orders: Table) -> None:
        made = orders.site.post("/stream-tickets", token=orders.tokens[0])
        assert (made.status_code, made.json["seconds"]) == (201, 60)
        query = f"?ticket={made.json['ticket']}"
        with following(orders, None, query) as events:
            assert events.next()[0][1]["viewer"] == 0
        refused(orders.get("/stream" + query), 401, "unauthenticated")

    def test_browser_comes_back_with_ticket_of_stream_that_broke(self, orders: Table) -> None:
        """As EventSource does: the same address, and the id of the last event. Nobody else does with it."""
        query = f"?ticket={orders.site.post('/stream-tickets', token=orders.tokens[0]).json['ticket']}"
        browser = {"User_Agent": "Browser/1"}
        refused(orders.get("/stream" + query + "x", Last_Event_ID="5", **browser), 401, "unauthenticated")
        with following(orders, None, query, **browser) as events:
            assert events.next()[0][1]["viewer"] == 0
        for _ in range(2):
            with following(orders, None, query, Last_Event_ID="5", **browser) as events:
                assert events.next()[0][1]["viewer"] == 0
        refused(orders.get("/stream" + query, Last_Event_ID="5", User_Agent="Browser/2"), 401, "unauthenticated")
        refused(orders.get("/stream" + query, **browser), 401, "unauthenticated")
        orders.site.delete("/stream-cookies", orders.tokens[0])
        refused(orders.get("/stream" + query, Last_Event_ID="5", **browser), 401, "unauthenticated")

    def test_a_ticket_is_for_its_table(self, orders: Table) -> None:
        other = orders.site.table("orders@1", 3)
        ticket = orders.site.post("/stream-tickets", token=other.tokens[0]).json["ticket"]
        refused(orders.get(f"/stream?ticket={ticket}"), 403, "other_table")
        refused(orders.site.post("/stream-tickets"), 401, "unauthenticated")

    def test_a_ticket_opens_nothing_else(self, orders: Table) -> None:
        ticket = orders.site.post("/stream-tickets", token=orders.tokens[0]).json["ticket"]
        refused(orders.get(f"/board?ticket={ticket}"), 422, "invalid_query")
        refused(orders.site.get(orders.path + "/board", ticket), 401, "unauthenticated")

    def test_it_ends_when_the_seat_is_taken_over(self, orders: Table) -> None:
        """Before anything of the new player's is shown."""
        with following(orders, 0) as events:
            events.next()
            orders.site.delete(f"{orders.path}/seats/0", orders.director)
            orders.tokens[0] = orders.post("/seats", {"seat": 0}).json["token"]
            assert [name for name, *_ in events.news()] == ["bye"]

    def test_places_are_limited_and_given_back(self, orders: Table) -> None:
        orders.site.remake(max_streams=3)
        with following(orders), following(orders):
            answer = orders.get("/stream")
            refused(answer, 503, "too_many_streams")
            assert answer.headers["Retry-After"]
        for _ in range(3):
            orders.get("/stream").close()  # one that never began gives its place back as well
            with following(orders) as events:
                events.next()

    def test_nobody_takes_all_of_them(self, orders: Table) -> None:
        orders.site.remake(streams_each=1)
        with following(orders, 0), following(orders, 1), following(orders):
            for who in (0, 1, None):
                refused(orders.get("/stream", who), 503, "too_many_streams")

    def test_no_address_takes_all_of_them(self, orders: Table) -> None:
        """Whatever its tokens, of which anybody may have many."""
        orders.site.remake(streams_address=3)
        waiting = orders.site.table("orders@1", 3, start=False)
        with following(waiting, 0), following(orders, "director"), following(orders):
            for table, who in ((waiting, 1), (orders, "director"), (orders, None)):
                refused(table.get("/stream", who), 503, "too_many_streams")
            with orders.site.follow(f"{orders.path}/stream", address="192.0.2.7") as other:
                assert other.status_code == 200
        with following(orders) as events:
            events.next()

    def test_seats_of_running_games_are_beside_what_an_address_has(self, orders: Table) -> None:
        """Fifty people may play behind one address; it still takes no more than a part of the places of all players."""
        orders.site.remake(streams_address=1)
        with following(orders), following(orders, 0), following(orders, 1), following(orders, 2):
            refused(orders.get("/stream", "director"), 503, "too_many_streams")
        slots = StreamSlots(most=80, each=20, address=4)
        assert [slots.take(f"seat {n}", "a", plays=True) for n in range(11)] == [True] * 10 + [False]
        assert slots.take("seat", "b", plays=True)
        slots.leave("seat 0", "a", plays=True)
        assert slots.take("seat 11", "a", plays=True)

    def test_network_that_operator_names_has_no_limit_of_its_own(self, orders: Table) -> None:
        orders.site.remake(streams_address=1, streams_each=2, shared_networks=("127.0.0.0/8",))
        with following(orders), following(orders), following(orders, "director"), following(orders, "director"):
            with following(orders) as events:
                events.next()
            refused(orders.get("/stream", "director"), 503, "too_many_streams")

    def test_the_last_quarter_is_for_seats_of_running_games(self, orders: Table) -> None:
        orders.site.remake(max_streams=4)
        waiting = orders.site.table("orders@1", 3, start=False)
        with following(orders), following(orders, 0), following(waiting, 0):
            for table, who in ((orders, None), (orders, "director"), (waiting, 1), (waiting, None)):
                refused(table.get("/stream", who), 503, "too_many_streams")
            with following(orders, 1) as events:
                events.next()
                refused(orders.get("/stream", 2), 503, "too_many_streams")

    def test_the_place_of_who_has_gone_is_soon_free(self) -> None:
        """That nobody listens is seen where a sign of life is written."""
        assert ApiSettings().keep_alive <= 5

    def test_a_store_that_fails_ends_it_politely(self, orders: Table) -> None:
        with following(orders) as events:
            events.next()
            orders.site.services.reader._views.migrate()
            with orders.site.services.reader._views.transaction() as db:
                db.exec_driver_sql("DROP TABLE games")
            assert events.news()[0][0] == "bye"


def test_no_token_goes_over_the_wire(orders: Table) -> None:
    with following(orders, 0) as events:
        text = json.dumps(events.next())
    assert not re.search("an[lt]_", text)


class TestCookies:
    def made(self, orders: Table, who: int = 0, **headers: str) -> Any:
        answer = orders.site.post("/stream-cookies", token=orders.tokens[who], **headers)
        assert answer.status_code == 201, answer.text
        return answer

    def value(self, answer: Any) -> str:
        return str(answer.headers["Set-Cookie"].partition(";")[0])

    def test_no_script_reads_it_and_no_other_site_sends_it(self, orders: Table) -> None:
        answer = self.made(orders)
        _, *attributes = answer.headers["Set-Cookie"].split("; ")
        path = f"/v1{orders.path}/stream"
        assert {"HttpOnly", "SameSite=Strict", f"Path={path}", "Max-Age=900"} <= set(attributes)
        assert "Secure" not in attributes
        assert answer.json == {"path": path, "seconds": 900}
        assert self.value(answer).partition("=")[2] not in answer.text
        assert "Secure" not in self.made(orders, X_Forwarded_Proto="https").headers["Set-Cookie"].split("; ")

    def test_over_https_it_goes_back_over_https_alone(self, orders: Table) -> None:
        """By the scheme that the server has found out: not everybody who names one is believed."""
        headers = {"Authorization": f"Bearer {orders.tokens[0]}"}
        answer = orders.site.client.post("/v1/stream-cookies", base_url="https://localhost", headers=headers)
        assert "Secure" in answer.headers["Set-Cookie"].split("; ")
        name, _, value = answer.headers["Set-Cookie"].partition(";")[0].partition("=")
        assert name == "__Secure-annals_stream"
        for planted in ("https", "http"):  # each name counts on its own way alone
            other = {"https": "annals_stream", "http": name}[planted]
            with orders.site.follow(f"{orders.path}/stream", scheme=planted, Cookie=f"{other}={value}") as seen:
                assert '"viewer":"public"' in seen.until("event: board")

    def test_it_opens_streams_of_its_seat_as_often_as_it_is_shown(self, orders: Table) -> None:
        cookie = self.value(self.made(orders, 1))
        for _ in range(2):
            with following(orders, None, Cookie=cookie) as events:
                assert events.next()[0][1]["viewer"] == 1
        with following(orders, 0, Cookie=cookie) as events:
            assert events.next()[0][1]["viewer"] == 0, "a token comes before the cookie"

    def test_it_does_not_count_for_pages_of_other_origins(self, orders: Table) -> None:
        cookie = self.value(self.made(orders, 1))
        for headers in (
            {"Origin": "https://other.example"},
            {"Origin": "null"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
        ):
            with following(orders, None, Cookie=cookie, **headers) as events:
                assert events.next()[0][1]["viewer"] == "public", headers
        with following(orders, None, Cookie=cookie, Origin="http://localhost", Sec_Fetch_Site="same-origin") as events:
            assert events.next()[0][1]["viewer"] == 1

    def test_it_opens_nothing_else(self, orders: Table) -> None:
        """Neither a read nor a write: there is nothing that a foreign page could have done."""
        cookie = self.value(self.made(orders))
        for path, method in (("/moves", "post"), ("/rewinds", "post"), ("/start", "post"), ("/seats/0", "delete")):
            answer = getattr(orders.site.client, method)(f"/v1{orders.path}{path}", headers={"Cookie": cookie})
            refused(answer, 401, "unauthenticated")
        assert orders.get("/board", Cookie=cookie).json["viewer"] == "public"
        secret = cookie.partition("=")[2]
        refused(orders.site.get(orders.path + "/board", secret), 401, "unauthenticated")
        refused(orders.get(f"/stream?ticket={secret}"), 401, "unauthenticated")

    def test_it_is_for_its_table_and_its_time(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        cookie = self.value(self.made(orders))
        other = orders.site.table("orders@1", 3)
        refused(other.get("/stream", Cookie=cookie), 403, "other_table")
        refused(orders.get("/stream", Cookie="annals_stream=anc_nonsense"), 401, "unauthenticated")
        access = orders.site.services.seat_tokens
        later = access.tickets._now() + 901
        monkeypatch.setattr(access.tickets, "_now", lambda: later)
        refused(orders.get("/stream", Cookie=cookie), 401, "unauthenticated")

    def test_it_can_be_taken_back(self, orders: Table) -> None:
        cookie, ticket = self.value(self.made(orders)), orders.site.post("/stream-tickets", token=orders.tokens[0])
        others = self.value(self.made(orders, 1))
        answer = orders.site.delete("/stream-cookies", orders.tokens[0])
        assert answer.status_code == 204
        assert f"Path=/v1{orders.path}/stream" in answer.headers["Set-Cookie"]
        refused(orders.get("/stream", Cookie=cookie), 401, "unauthenticated")
        refused(orders.get(f"/stream?ticket={ticket.json['ticket']}"), 401, "unauthenticated")
        with following(orders, None, Cookie=others) as events:
            assert events.next()[0][1]["viewer"] == 1

    def test_it_ends_with_its_token(self, orders: Table) -> None:
        cookie = self.value(self.made(orders))
        orders.site.delete(f"{orders.path}/seats/0", orders.tokens[0])
        refused(orders.get("/stream", Cookie=cookie), 401, "unauthenticated")
