"""Streams of a service as its users have it: whoever dies, hangs or reads nothing, nobody else misses anything."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.deploy.harness import Doc, Service, Table, command, environment, serving, until
from tests.deploy.test_frozen import REPLACED, halt
from tests.postgres import postgres_server, postgres_url
from tests.valkey import redis_url, valkey_server

__all__ = ["postgres_server", "postgres_url", "redis_url", "valkey_server"]

LINES = {"Accept": "application/x-ndjson"}


class Stream:
    """An open stream, read line by line."""

    def __init__(self, url: str, what: str, last: int = 0, **headers: str) -> None:
        self._open = ExitStack()
        query = f"?from={last}" if last else ""
        address = f"{url}/v1/{what if '/' in what else f'games/{what}/stream'}{query}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = httpx.stream("GET", address, headers={**LINES, **named}, timeout=20)
        self.answer = self._open.enter_context(answer)
        assert self.answer.status_code == 200, self.answer.read()
        self._lines = self.answer.iter_lines()
        self.last = last

    def next(self) -> Doc:
        """The next event."""
        line = next(each for each in self._lines if each)
        found: Doc = json.loads(line)
        self.last = found.get("id", self.last)
        return found

    def until(self, version: int) -> list[int]:
        """The versions that are told, up to this one."""
        told = []
        while self.last < version:
            found = self.next()
            told += [found["data"]["version"]] if found["event"] == "timeline" else []
        return told

    def ended(self) -> bool:
        """Whether the connection breaks; reads what comes before."""
        try:
            for _ in self._lines:
                pass
        except httpx.HTTPError:
            pass
        return True

    def close(self) -> None:
        self._open.close()


@contextmanager
def following(service: Service, game: str, last: int = 0, **headers: str) -> Iterator[Stream]:
    with closing(Stream(service.url, game, last, **headers)) as stream:
        yield stream


def again(service: Service, game: str, last: int) -> Stream:
    """A client that comes back until it is let in."""

    def opened() -> Stream | None:
        try:
            return Stream(service.url, game, last)
        except (AssertionError, httpx.HTTPError):
            return None

    found: Stream = until(opened)
    return found


def version(table: Table) -> int:
    return int(table.get()["version"])


def worker(service: Service) -> int:
    """The process that holds the streams."""
    return service.pid("annals-streams")


class TestWhoDies:
    def test_nobody_misses_anything_when_streams_are_killed(self, tmp_path: Path) -> None:
        with serving(tmp_path / "data") as service:
            table = Table(service).open()
            with ExitStack() as streams:
                open_ = [streams.enter_context(following(service, table.game)) for _ in range(5)]
                for each in open_:
                    each.next()
                before = worker(service)
                os.kill(before, signal.SIGKILL)
                decision = table.decision()
                for seat in range(3):
                    table.submit(seat, decision)
                for each in open_:
                    assert each.ended()
                    back = streams.enter_context(closing(again(service, table.game, each.last)))
                    seen = each.last
                    head = version(table)
                    assert back.until(head) == list(range(seen + 1, back.last + 1))
                    assert back.last >= head
            assert worker(service) != before

    def test_games_and_streams_go_on_without_redis(self, tmp_path: Path) -> None:
        with serving(tmp_path / "data") as service:
            table = Table(service).open()
            with following(service, table.game) as stream:
                stream.next()
                os.kill(service.pid("valkey-server"), signal.SIGKILL)
                table.turn()
                stream.until(version(table))
                until(lambda: service.find("valkey-server"))
                table.turn()
                stream.until(version(table))

    def test_streams_are_resumed_after_everything_was_killed(self, tmp_path: Path) -> None:
        with serving(tmp_path / "data") as service:
            table = Table(service).open()
            with following(service, table.game) as stream:
                stream.next()
                seen = stream.last
            table.turn()
            head = version(table)
            service.kill_group()
        with serving(tmp_path / "data") as service, following(service, table.game, seen) as stream:
            assert stream.until(head) == list(range(seen + 1, head + 1))


class TestWhoHangs:
    def test_frozen_streams_stop_no_game_and_are_replaced(self, tmp_path: Path) -> None:
        with serving(tmp_path / "data") as service:
            table = Table(service).open()
            others = [service.pid(name) for name in ("nginx", "annals-api", "valkey-server")]
            with following(service, table.game) as stream:
                stream.next()
                seen, frozen = stream.last, worker(service)
                halt([frozen])
                table.turn()
                assert service.http.get("/../readyz").json()["streams"] == "away"
                until(lambda: frozen not in service.group(), REPLACED)
                assert stream.ended()
            head = version(table)
            with closing(again(service, table.game, seen)) as back:
                assert back.until(head) == list(range(seen + 1, head + 1))
            assert [service.pid(name) for name in ("nginx", "annals-api", "valkey-server")] == others

    def test_clients_that_never_read_hold_nobody(self, tmp_path: Path) -> None:
        """Nor memory without end."""
        with serving(tmp_path / "data") as service, ExitStack() as deaf:
            table = Table(service).open()
            for n in range(60):
                deaf.enter_context(closing(_deaf(service, table.game, f"127.0.2.{1 + n // 20}")))
            with following(service, table.game) as stream:
                stream.next()
                before = _memory(worker(service))
                for _ in range(2):
                    table.turn()
                    stream.until(version(table))
                assert _memory(worker(service)) - before < 60 * 100


def _deaf(service: Service, game: str, address: str) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    found.bind((address, 0))
    found.connect(("127.0.0.1", urlsplit(service.url).port or 0))
    found.sendall(f"GET /v1/games/{game}/stream HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    return found


def _memory(pid: int) -> int:
    """kB that the process has in memory."""
    line = next(x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1])


def test_on_postgresql_too(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    """A game's, a person's and the lobby's; resumed, and over two servers' worth of writes."""
    with serving(tmp_path / "data", ANNALS_DATABASE_URL=postgres_url, ANNALS_REDIS_URL=redis_url) as service:
        with closing(Stream(service.url, "games/stream")) as lobby:
            assert lobby.next() == {"event": "tables", "data": {"items": [], "next": None}, "id": 0}
            table = Table(service).open()
            assert lobby.next()["data"]["game"] == table.game
        bearer = {"Authorization": f"Bearer {table.tokens[0]}"}
        with following(service, table.game) as game, closing(Stream(service.url, "me/stream", 0, **bearer)) as mine:
            seen = game.next()["id"]
            (item,) = mine.next()["data"]["items"]
            assert (item["game"], item["turn"]) == (table.game, True)
            table.turn()
            game.until(head := version(table))
            assert mine.next()["event"] == "table"
        with closing(again(service, table.game, seen)) as back:
            assert back.until(head) == list(range(seen + 1, head + 1))
        assert service.complaints() == ""


class TestTheFront:
    def test_streams_of_tables_go_through_it(self, tmp_path: Path) -> None:
        with serving(tmp_path / "data") as service, closing(Stream(service.url, "games/stream")) as lobby:
            lobby.next()
            table = Table(service).open()
            assert lobby.next()["data"]["game"] == table.game
            bearer = {"Authorization": f"Bearer {table.tokens[1]}"}
            with closing(Stream(service.url, "me/stream", 0, **bearer)) as mine:
                mine.next()
                table.submit(1, table.decision())
                assert mine.next()["data"]["turn"] is False

    def test_lines_are_not_kept_to_be_compressed(self, tmp_path: Path) -> None:
        with serving(tmp_path / "data") as service:
            table = Table(service).open()
            with following(service, table.game, Accept_Encoding="gzip") as stream:
                assert "Content-Encoding" not in stream.answer.headers
                stream.next()
                table.submit(0, table.decision())
                stream.until(version(table))
            slash = service.http.get(f"/games/{table.game}/stream/?x=1")
            assert slash.status_code == 422, "it is the same route for the front as for who answers"

    def test_the_end_is_told(self, tmp_path: Path) -> None:
        with serving(tmp_path / "data") as service:
            table = Table(service).open()
            with following(service, table.game) as stream:
                stream.next()
                service.process.send_signal(signal.SIGTERM)
                assert stream.next() == {"event": "bye", "data": {"version": stream.last}}
                assert stream.ended()
            assert service.process.wait(10) == 0
            assert service.complaints() == ""


def test_a_stream_at_one_server_tells_what_is_done_at_another(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        args = command("api", "--port", "0", "--data", str(service.data))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        args[args.index("0")] = str(port)
        other = subprocess.Popen(args, env=environment(), stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            table = Table(service).open()
            url = f"http://127.0.0.1:{port}"

            def opened() -> Stream | None:
                try:
                    return Stream(url, table.game)
                except (AssertionError, httpx.HTTPError):
                    return None

            with closing(until(opened)) as stream:
                stream.next()
                table.turn()
                stream.until(version(table))
        finally:
            os.killpg(other.pid, signal.SIGTERM)
            other.wait(20)
