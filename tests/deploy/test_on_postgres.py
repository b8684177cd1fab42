"""The whole service on a PostgreSQL and a Redis that are there: a game over HTTP to its end, and its proof."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import psycopg
from redis import Redis

from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from projections.schema import schema_name
from tests.deploy.harness import CATALOGUE, Doc, Table, serving, until
from tests.postgres import postgres_server, postgres_url
from tests.valkey import redis_url, valkey_server

__all__ = ["postgres_server", "postgres_url", "redis_url", "valkey_server"]


def test_a_game_is_played_to_its_end_and_proves_itself(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    with serving(tmp_path / "data", ANNALS_DATABASE_URL=postgres_url, ANNALS_REDIS_URL=redis_url) as service:
        table = Table(service).open()
        table.turn()
        start = table.get()["version"]
        table.submit(0, table.decision())
        back = gone_back(table, start)
        assert back["status"] == "done", back
        Redis.from_url(redis_url).flushall()
        while table.get()["status"] != "closed":
            table.turn()
        answer = service.http.get(f"/games/{table.game}/export")
        assert table.get("/audit")["proved"]
    assert sorted(p.name for p in (tmp_path / "data").iterdir() if p.suffix == ".sqlite") == []
    report = verify(CATALOGUE.get("orders@1"), export.parse(answer.content))
    assert (report.closed, report.decided) == (True, report.records)
    with psycopg.connect(postgres_url) as db:
        rows = db.execute("SELECT count(*) FROM records WHERE originator_id = %s", (table.game,)).fetchone()
    assert rows == (report.records,)


def gone_back(table: Table, to: int) -> Doc:
    """The director goes back; the job at its end."""
    head = table.acknowledged[-1]
    asked = table.service.http.post(
        f"/games/{table.game}/rewinds",
        json={"to": to, "reason": "A card was misread"},
        headers={"Authorization": f"Bearer {table.director}", "If-Match": f'"{head}"'},
    )
    assert asked.status_code == 202, asked.text
    address = asked.headers["Location"].removeprefix("/v1")

    def ended() -> Doc | None:
        job: Doc = table.service.http.get(address).json()
        return job if job["status"] in ("done", "failed") else None

    job: Doc = until(ended)
    until(lambda: table.get()["version"] > head)  # what is read next is as after it
    return job


def test_pumps_share_the_games_and_take_over_from_each_other(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    """One is killed, one is frozen: games go on, whichever of them had theirs."""
    urls = {"ANNALS_DATABASE_URL": postgres_url, "ANNALS_REDIS_URL": redis_url}
    with serving(tmp_path / "data", ANNALS_PUMPS="2", **urls) as service:

        def shared() -> bool:
            with psycopg.connect(postgres_url) as db:
                rows = db.execute(
                    f"SELECT count(*) FROM {schema_name()}.parts WHERE part >= 0 GROUP BY owner"  # noqa: S608 - our own
                ).fetchall()
            return sorted(rows) == [(5,), (7,)]  # who has five has the tree

        until(shared)
        tables = [Table(service).open() for _ in range(4)]
        os.kill(service.pid("annals-pump"), signal.SIGKILL)
        for table in tables:
            table.turn()
        frozen = service.pid("annals-pump-2")
        os.kill(frozen, signal.SIGSTOP)
        for table in tables:
            table.turn()
        with suppress(ProcessLookupError):  # it has been ended where all this took long, since it gave no sign of life
            os.kill(frozen, signal.SIGCONT)
        for table in tables:
            while table.get()["status"] != "closed":
                table.turn()
            assert table.get("/audit")["proved"]
        until(shared)
        head = service.http.get("/log").json()
        with psycopg.connect(postgres_url) as db:
            assert db.execute("SELECT count(*) FROM records").fetchone() == (head["size"],)
