"""Many streams at once: read once for all who see the same, and nobody waits for anybody."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any
from unittest import mock

import pytest

from api.streams import subscriber
from api.streams.events import SSE, Event, make_event, with_last_id
from api.streams.hub import Hub
from api.streams.subscriber import Subscriber
from domain.errors import StoreUnavailable
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.streaming import PATIENCE, Answer, Loop, scope

ORDER = {"type": "order", "to": "t01", "units": 1}
LINES = "application/x-ndjson"


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


def open_stream(table: Table, who: int | None = None, query: str = "", **headers: str) -> Answer:
    found: Answer = table.get(f"/stream{query}", who, **headers)
    assert found.status_code == 200, found.text
    return found


def lines(text: str) -> list[Doc]:
    return [json.loads(line) for line in text.splitlines() if line]


class TestSharing:
    def test_what_many_see_is_read_once(self, orders: Table) -> None:
        """And written once: all are given the very same bytes."""
        reader = orders.site.services.reader
        with ExitStack() as streams:
            open_ = [streams.enter_context(open_stream(orders)) for _ in range(10)]
            for each in open_:
                each.until("event: board")
            with mock.patch.object(reader, "read_timeline", wraps=reader.read_timeline) as read:
                orders.move(0, ORDER)
                said = [each.until("event: timeline").replace(": still here\n\n", "") for each in open_]
            assert read.call_count == 1
            assert len(set(said)) == 1

    def test_a_game_that_came_back_shorter_is_told_anew(self, orders: Table) -> None:
        """As from a standby that lagged: who follows comes again, and is not left with what nobody knows any more."""
        reader = orders.site.services.reader
        orders.move(0, ORDER)
        game = reader.find_summary

        def shorter(*args: Any, **kwargs: Any) -> Any:
            return {**found, "version": found["version"] - 1} if (found := game(*args, **kwargs)) else None

        with open_stream(orders) as stream:
            stream.until("event: board")
            with mock.patch.object(reader, "find_summary", shorter):
                orders.site.stirred(orders.game)
                assert "event: timeline" not in stream.until("event: bye")

    def test_who_takes_leave_waits_for_who_reads(self, orders: Table) -> None:
        """Or they would connect once more to stores that are closed."""
        reader, reads, done = orders.site.services.reader, threading.Event(), threading.Event()

        def slow(*args: Any, **kwargs: Any) -> Any:
            reads.set()
            time.sleep(0.3)
            done.set()
            return timeline(*args, **kwargs)

        with open_stream(orders) as stream:
            stream.until("event: board")
            timeline = reader.read_timeline
            with mock.patch.object(reader, "read_timeline", slow):
                orders.move(0, ORDER)
                assert reads.wait(20)
                orders.site.unfollow()
                assert done.is_set()

    @pytest.mark.parametrize("last", ["before", "while", "after"])
    def test_what_is_heard_while_it_takes_leave_is_not_read(self, last: str) -> None:
        """Or the process would end with an error in its log, as one that had failed."""
        reads, go_on, failed = threading.Event(), threading.Event(), list[Any]()

        def marks(_: Sequence[str]) -> dict[str, int]:
            reads.set()
            assert go_on.wait(PATIENCE)
            return {}

        def hear(heard: bool) -> None:
            if heard:
                hub.notify(frozenset())
            loop.do(asyncio.sleep(0))

        async def made() -> Hub:
            return Hub(marks, 60)

        loop = Loop()
        loop.loop.set_exception_handler(lambda _, context: failed.append(context))
        hub = loop.do(made())
        hub._topics = {"game": set()}
        hear(heard=True)
        assert reads.wait(PATIENCE)
        hear(last == "before")
        leaving = asyncio.run_coroutine_threadsafe(hub.close(), loop.loop)
        hear(last == "while")
        go_on.set()
        leaving.result(PATIENCE)
        hear(last == "after")
        loop.do(asyncio.sleep(0))
        gc.collect()
        loop.close()
        assert failed == []

    def test_each_is_shown_its_own(self, orders: Table) -> None:
        with open_stream(orders, 0) as own, open_stream(orders, 1) as other, open_stream(orders) as public:
            for each in (own, other, public):
                each.until("event: board")
            orders.move(0, ORDER)
            assert "t01" in own.until("event: timeline")
            assert all('"to":"t01"' not in each.until("event: timeline") for each in (other, public))

    def test_languages_are_told_apart(self, orders: Table) -> None:
        with open_stream(orders, Accept_Language="fr") as french, open_stream(orders) as english:
            for each in (french, english):
                each.until("event: board")
            orders.site.delete(f"{orders.path}/seats/0", orders.director)
            told = [each.until("event: timeline", '"text":[') for each in (french, english)]
            assert french.headers["Content-Language"] == "fr"
            assert told[0].partition('"text":')[2] != told[1].partition('"text":')[2]

    def test_a_token_that_ends_ends_its_own_stream_alone(self, orders: Table) -> None:
        with open_stream(orders, 0) as put_out, open_stream(orders, 1) as stays, open_stream(orders) as public:
            for each in (put_out, stays, public):
                each.until("event: board")
            orders.site.delete(f"{orders.path}/seats/0", orders.director)
            assert "event: board" not in put_out.text
            assert "event: timeline" in stays.until("event: timeline")
            assert "event: timeline" in public.until("event: timeline")

    def test_who_comes_late_gets_what_there_is_and_then_same_as_all(self, orders: Table) -> None:
        with open_stream(orders) as first:
            first.until("event: board")
            orders.move(0, ORDER)
            with open_stream(orders) as late:
                assert f"id: {orders.version}\n" in late.until("event: board")
                orders.move(1, ORDER)
                assert late.until("event: timeline").count("event: timeline") == 1
                assert first.until(f"id: {orders.version}\n").count("event: timeline") == 2


class TestSlowReaders:
    def test_hold_nobody_and_are_asked_to_come_again(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """With what they have read; what they come back with gives them the rest."""
        monkeypatch.setattr(subscriber, "MOST_WAITING", 500)
        with slow(orders) as deaf, open_stream(orders) as quick:
            quick.until("event: board")
            for seat in (0, 1, 2):
                orders.move(seat, ORDER)
                quick.until(f"id: {orders.version}\n")
            rest = deaf.text
        last = json.loads(rest.rpartition("data: ")[2])["version"]
        assert rest.count("event: bye") == 1
        assert last < orders.version
        with open_stream(orders, Last_Event_ID=str(last)) as again:
            told = again.until(f"id: {orders.version}\n")
        assert told.count("event: timeline") == orders.version - last

    def test_one_that_reads_nothing_at_all_is_left(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(subscriber, "PATIENCE", 0.1)
        answer = slow(orders)
        assert answer._work.exception(PATIENCE) is None
        assert streams(orders) == 0


def streams(table: Table) -> int:
    """How many are open, as the process says to the prober."""
    assert table.site.loop is not None
    assert table.site.streams is not None
    found: int = Answer(table.site.loop, table.site.streams, scope("/healthz", {})).json["streams"]
    return found


def slow(table: Table) -> Answer:
    """A client that reads the head of the answer, and no more until it is asked to."""
    site = table.site
    site.follow(f"{table.path}/stream", method="HEAD")  # there is a process
    assert site.loop is not None
    assert site.streams is not None
    return Answer(site.loop, site.streams, scope(f"/v1{table.path}/stream", {}), ahead=0)


class TestForms:
    def test_events_as_lines(self, orders: Table) -> None:
        """The same events, each a document; an empty line shows that the stream lives."""
        with open_stream(orders, 0, Accept=LINES) as answer:
            assert answer.mimetype == LINES
            (board,) = lines(answer.until("\n"))
            shown = orders.get("/board", 0).json
            assert board == {"event": "board", "data": shown, "id": orders.version}
            assert answer.until("\n\n").strip() == ""
            orders.move(0, ORDER)
            changed, entry = lines(answer.until('"timeline"'))
        assert (changed["event"], changed.get("id")) == ("board", None)
        assert (entry["event"], entry["id"]) == ("timeline", orders.version)

    @pytest.mark.parametrize(
        ("accept", "media"),
        [
            ("", "text/event-stream"),
            ("*/*", "text/event-stream"),
            ("text/event-stream, application/x-ndjson", "text/event-stream"),
            ("text/event-stream;q=0.5, application/x-ndjson", LINES),
            ("application/json", "text/event-stream"),
        ],
    )
    def test_whoever_names_none_gets_events(self, orders: Table, accept: str, media: str) -> None:
        with open_stream(orders, Accept=accept) as answer:
            assert answer.mimetype == media

    @pytest.mark.parametrize("form", [LINES, "text/event-stream"])
    def test_a_client_that_sets_no_header_says_from_where(self, orders: Table, form: str) -> None:
        seen = orders.version
        orders.move(0, ORDER)
        orders.move(1, ORDER)
        with open_stream(orders, None, f"?from={seen}", Accept=form) as answer:
            assert answer.until(f'"version":{seen + 2}').count("timeline") == 2
        with open_stream(orders, None, f"?from={seen}", Accept=form, Last_Event_ID=str(seen + 1)) as answer:
            assert answer.until(f'"version":{seen + 2},"kind"').count("timeline") == 1, "a browser comes back so"

    @pytest.mark.parametrize("value", ["x", "-1", "1.5", "9999999999"])
    def test_a_version_that_is_none_is_refused(self, orders: Table, value: str) -> None:
        refused(orders.get(f"/stream?from={value}"), 422, "invalid_query")


class TestRequests:
    def test_head_opens_no_stream(self, orders: Table) -> None:
        answer = orders.site.follow(f"{orders.path}/stream", method="HEAD")
        assert (answer.status_code, answer.data) == (200, b"")
        assert streams(orders) == 0

    def test_what_streams_cannot_be_asked_for(self, orders: Table) -> None:
        refused(orders.site.follow(f"{orders.path}/stream", method="POST"), 405, "method_not_allowed")
        refused(orders.site.follow("/games/x/stream"), 404, "not_found")

    def test_the_process_for_requests_opens_none(self, orders: Table) -> None:
        """A thread would stand behind each; the front sends them elsewhere."""
        refused(orders.site.client.get(f"/v1{orders.path}/stream"), 503, "not_answering")

    def test_streams_are_counted(self, orders: Table) -> None:
        with open_stream(orders), open_stream(orders, 1):
            assert streams(orders) == 2

    def test_a_client_that_goes_leaves_nothing(self, orders: Table) -> None:
        for _ in range(3):
            open_stream(orders).close()
        assert streams(orders) == 0


class TestFaults:
    def test_a_fault_ends_the_streams_of_one_game(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        other = orders.site.table("orders@1", 3)
        reader, real = orders.site.services.reader, orders.site.services.reader.find_summary
        with open_stream(orders) as broken, open_stream(other) as sound:
            broken.until("event: board")
            sound.until("event: board")
            monkeypatch.setattr(
                reader, "find_summary", lambda game, **more: 1 / 0 if game == orders.game else real(game, **more)
            )
            assert "event: bye" in broken.text
            other.move(0, ORDER)
            assert "event: timeline" in sound.until("event: timeline")

    def test_a_store_that_hangs_holds_who_asks_it_alone(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not the loop, on which all streams are sent."""
        release, reader = threading.Event(), orders.site.services.reader
        real = reader.find_summary

        def hangs(game: str, **more: Any) -> Any:
            if game == orders.game:
                release.wait(10)
            return real(game, **more)

        other = orders.site.table("orders@1", 3)
        with open_stream(orders) as held, open_stream(other) as sound:
            held.until("event: board")
            sound.until("event: board")
            monkeypatch.setattr(reader, "find_summary", hangs)
            orders.move(0, ORDER)
            other.move(0, ORDER)
            assert "event: timeline" in sound.until("event: timeline")
            release.set()
            assert "event: timeline" in held.until("event: timeline")

    def test_a_long_absence_is_told_page_by_page(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each with its id: whoever is cut off in the middle goes on from there."""
        from api.streams import game_source

        monkeypatch.setattr(game_source, "PAGE", 2)
        for seat in (0, 1, 2):
            orders.move(seat, ORDER)
        with open_stream(orders, None, "?from=1", Accept=LINES) as answer:
            found = lines(answer.until(f'"id":{orders.version}'))
        assert [e["event"] for e in found] == ["board", *["timeline"] * (orders.version - 1)]
        assert [e["data"]["version"] for e in found[1:]] == list(range(2, orders.version + 1))
        ids = [e["id"] for e in found if "id" in e]
        assert ids == [*range(3, orders.version, 2), orders.version]

    @pytest.mark.parametrize("ended", ["by who gives it", "by what reads"])
    def test_what_came_after_something_that_was_missed_is_not_told(self, ended: str) -> None:
        """Or the client would go on from there, and never hear of what it has missed."""
        sent = list[bytes]()

        async def write(chunk: bytes) -> None:
            sent.append(chunk)

        async def followed() -> None:
            async def page(after: int, upto: int) -> tuple[list[Event], int]:
                told.give(
                    SSE.encode_all(with_last_id([make_event("timeline", {"version": upto + 1})], upto + 1)), upto + 1
                )
                if ended == "by what reads":
                    raise StoreUnavailable("away")
                told.end("bye")
                return [make_event("timeline", {"version": n + 1}) for n in range(after, upto)], upto

            source = mock.Mock(id_kind="version")
            told = Subscriber(source, mock.Mock(), SSE, PATIENCE, last_id=10)
            told.begin((make_event("board", {"version": 20}),), 20)
            await told.run(write, page)

        asyncio.run(followed())
        said = b"".join(sent).decode()
        assert "event: timeline" not in said
        assert json.loads(said.rpartition("data: ")[2]) == {"version": 10}

    def test_who_is_left_far_behind_comes_again(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        from api.streams import game_source

        monkeypatch.setattr(game_source, "MAX_BEHIND", 1)
        seen = orders.version
        with open_stream(orders) as answer:
            answer.until("event: board")
            orders.site.asleep = True
            orders.move(0, ORDER)
            orders.move(1, ORDER)
            orders.site.asleep = False
            orders.site.ring()
            assert json.loads(answer.text.rpartition("data: ")[2]) == {"version": seen}
