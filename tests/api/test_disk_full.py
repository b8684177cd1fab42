"""A full disk is said as such, nothing is half done, and the service goes on once there is room."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import structlog

from api.http import security_log
from tests.api.conftest import Site, make_site, refused
from tests.chaos.children import CONTEXT

ORDER = {"type": "order", "to": "t01", "units": 1}
ROOM = 250_000
"""Bytes by which the largest file may grow."""


def limit(size: int) -> None:
    """Files of this process may not grow past that size: what a write is then told is what a full disk tells."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size or hard, hard))


def opened(site: Site, n: int) -> Any:
    return site.post("/games", {"ruleset": "orders@1", "seats": 3}, Idempotency_Key=f"{n:032}")


def fill(pipe: Connection, folder: Path) -> None:
    """In a process of its own. Tells what was answered, and what is there afterwards."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    site = make_site(folder)
    table = site.table("orders@1", 3)
    site.asleep = True  # the views have a file of their own
    limit(ROOM + max(file.stat().st_size for file in folder.iterdir()))
    n, answer = 0, opened(site, 0)
    while answer.status_code == 201:
        n += 1
        answer = opened(site, n)
    while site.post("/stream-tickets", token=table.director).status_code == 201:
        pass  # the last corner is for small rows
    body = {"move": ORDER, "decision": table.decision}
    full = [answer, table.post("/moves", body, table.tokens[0], Idempotency_Key="the-one-order")]
    told = [(a.status_code, a.json["code"], a.headers.get("Retry-After")) for a in full]
    ready = [(a.status_code, a.json.get("detail")) for a in [site.client.get("/readyz") for _ in range(2)]]
    read = [table.get(path).status_code for path in ("", "/board", "/records", "/audit")]
    before = counted(site)
    limit(0)
    site.asleep = False
    again = [opened(site, n), table.post("/moves", body, table.tokens[0], Idempotency_Key="the-one-order")]
    after = [(a.status_code, a.headers.get("Idempotency-Replayed")) for a in again]
    shown = table.get("/board", 0).json["version"] == table.version
    assert site.client.get("/readyz").status_code == 200
    pipe.send((n, told, ready, read, before, after, counted(site), shown, table.get("/audit").json["proved"]))


def counted(site: Site) -> tuple[int, int]:
    """Games and records that there are."""
    rows = site.services.ledger.execute("SELECT count(DISTINCT originator_id), count(*) FROM records")
    return rows[0][0], rows[0][1]


def test_a_full_disk_answers_503_and_nothing_is_half_done(tmp_path: Path) -> None:
    ours, theirs = CONTEXT.Pipe()
    child = CONTEXT.Process(target=fill, args=(theirs, tmp_path))
    child.start()
    theirs.close()
    assert ours.poll(60), "no answer"
    games, told, ready, read, before, after, rows, shown, proved = ours.recv()
    child.join()
    assert games > 5
    assert told == [(503, "store_unavailable", "1")] * 2
    assert ready == [(503, "Nothing can be written to the log.")] * 2
    assert read == [200] * 4
    assert before == (1 + games, 5 + games), "what was refused is not there"
    assert after == [(201, None)] * 2, "the same keys count, since nothing was stored under them"
    assert rows == (2 + games, 7 + games)
    assert shown
    assert proved


class TestLogs:
    """A disk on which only the log stands: nobody is answered otherwise."""

    @pytest.fixture(autouse=True)
    def full(self) -> Iterator[None]:
        file = mock.Mock(write=mock.Mock(side_effect=OSError(28, "No space left on device")))
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(file))
        yield
        structlog.reset_defaults()
        assert file.write.called

    def test_who_is_given_a_token_is_told_it(self, site: Site) -> None:
        opened(site, 1)
        assert "token" in opened(site, 2).json
        assert site.table("orders@1", 3).tokens
        assert "token" in site.post("/accounts", {"name": "Anne", "password": "a long way home 77"}).json

    def test_who_is_turned_away_is_told_why(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        refused(site.get(table.path + "/board", table.tokens[0][:-1] + "?"), 401, "unauthenticated")
        refused(site.post("/games", {"nonsense": 1}), 422, "unknown_field")

    def test_nor_is_whose_request_sums_up_what_there_was(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        for _ in range(3):
            refused(site.get("/me", "nobody"), 401, "unauthenticated")
        monkeypatch.setattr(security_log, "PERIOD", 0.0)
        assert site.get("/rulesets").status_code == 200

    def test_a_fault_is_a_problem(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(type(site.services.reader), "list_lobby", broken)
        refused(site.get("/games"), 500, "internal_error")
