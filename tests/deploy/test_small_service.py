"""`serve --small`: a service in one process answers as one of many does, and takes over from it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx

from tests.deploy.harness import Service, Table, run, serving, until
from tests.deploy.test_streams import LINES, Stream


def test_it_serves_plays_and_ends_without_a_trace(tmp_path: Path) -> None:
    """Requests with bodies, refusals, jobs, streams and pages come from one process behind nginx."""
    with serving(tmp_path / "data", "--small") as service:
        assert len(service.group()) == 2, "it and nginx"
        table = Table(service).open()
        stream = Stream(service.url, table.game)
        table.turn()
        assert stream.until(table.acknowledged[-1])[-1] == table.acknowledged[-1]
        stream.close()
        _check_answers(service, table)
        checks = run("doctor", "--data", str(service.data))
        assert checks.returncode == 0, checks.stdout
        assert service.end() == 0
        assert not service.group()
        assert service.complaints() == ""


def _check_answers(service: Service, table: Table) -> None:
    """Check answers of all kinds: refused, empty, in pieces, compressed."""
    refused = service.http.post("/games", content=b"{", headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.headers["Content-Type"]) == (400, "application/problem+json")
    head = service.http.head(f"/games/{table.game}/board")
    assert (head.status_code, head.content) == (200, b"")
    tag = service.http.get(f"/games/{table.game}/board").headers["ETag"]
    assert service.http.get(f"/games/{table.game}/board", headers={"If-None-Match": tag}).status_code == 304
    replay = service.http.get(f"/games/{table.game}/replay", headers=LINES)
    assert replay.text.strip().splitlines()[-1].startswith('{"event":"end"')
    page = httpx.get(f"{service.url}/play", headers={"Accept-Encoding": "gzip"}, follow_redirects=True)
    assert (page.status_code, page.headers["Content-Encoding"]) == (200, "gzip")
    assert httpx.get(f"{service.url}/readyz").json()["redis"] == "up"


def test_what_it_acknowledged_outlives_it_and_its_kind(tmp_path: Path) -> None:
    """After a kill the same folder is served again, by one process and then by many."""
    data = tmp_path / "data"
    with serving(data, "--small") as service:
        table = Table(service).open()
        table.turn()
        service.kill_group()
    for options in (["--small"], []):
        with serving(data, *options) as service:
            table.service = service
            assert table.get()["version"] >= table.acknowledged[-1]
            table.turn()
            assert service.end() == 0


def test_it_ends_where_nginx_ends(tmp_path: Path) -> None:
    """A service manager starts it anew: a process with threads does not fork."""
    with serving(tmp_path / "data", "--small") as service:
        os.kill(service.pid("nginx"), signal.SIGKILL)
        assert service.process.wait(30) == 1
        until(lambda: not service.group())
        assert "nginx ended" in service.complaints()
    with serving(tmp_path / "data", "--small") as service:
        assert service.end() == 0
