"""A database is restored to moments before and after a failover, from a base backup and the archive of both timelines.

`./run chaos recovery`, some two minutes. The settings stand in docs/operations.md, and are taken from there.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psycopg

from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from tests import postgres
from tests.chaos.cluster import until
from tests.chaos.network import NoNamespaces, report
from tests.deploy.harness import CATALOGUE, ROOT, Service, Table, run, serving
from tests.postgres import Server

OPERATIONS = ROOT / "docs" / "operations.md"
DATABASE = "annals"
KEY = "5a" * 32
SHOWN_TIME = "2026-11-30 12:00:00+00"
"""The moment in the page."""


def settings_of(names: Sequence[str], archive: Path, moment: str = "") -> str:
    """Lines of the page that set these, for this archive and moment."""
    text = OPERATIONS.read_text("utf-8")
    found = [re.search(rf"^    ({name} = .+)$", text, re.MULTILINE) for name in names]
    assert all(found), names
    lines = "\n".join(match[1] for match in found if match)
    return lines.replace("/archive", str(archive)).replace(SHOWN_TIME, moment) + "\n"


class Copied(Server):
    """A server on a base backup of another one."""

    def __init__(self, folder: Path, source: Server, backup: Path | None = None) -> None:
        self.folder, self.data = folder, folder / "data"
        self.dsn = f"host={folder} user=postgres dbname=postgres"
        self.owner, self.bin = source.owner, source.bin
        folder.mkdir()
        if self.owner is not None:
            shutil.chown(folder, self.owner, self.owner)
        if backup is None:
            source.base_backup(self.data)
        else:
            assert not self._run("cp", "-a", backup, self.data)

    def add(self, text: str) -> None:
        """Append settings."""
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.write(text)


@dataclass(frozen=True)
class Moment:
    """What stood at some time."""

    name: str
    at: str
    games: Mapping[str, int]
    """Versions."""


def url_of(*servers: Server) -> str:
    """The address of a node for these servers."""
    return f"postgresql:///{DATABASE}?host={','.join(str(s.folder) for s in servers)}&user=postgres"


def note(name: str, tables: Sequence[Table]) -> Moment:
    """The present, with some time before it and after it in which nothing happens."""
    time.sleep(1.5)
    at = datetime.now(UTC).isoformat(sep=" ")
    moment = Moment(name, at, {t.game: t.get()["version"] for t in tables})
    time.sleep(1.5)
    return moment


def checkpoint_of(service: Service) -> str:
    """The newest one, as others hold it."""
    answer = service.http.get("/log/checkpoint")
    return answer.text if answer.status_code == 200 else ""


def size_of(checkpoint: str) -> int:
    """How many records it signs."""
    return int(checkpoint.splitlines()[1]) if checkpoint else 0


@contextmanager
def ended(*servers: Server) -> Iterator[None]:
    """Ends servers, whatever happened."""
    try:
        yield
    finally:
        for server in servers:
            with suppress(RuntimeError):
                server.stop()


def restored(
    folder: Path, source: Server, base: Path, archive: Path, moment: Moment, tables: Sequence[Table], newest: str
) -> list[str]:
    """A service on the database of that moment: what does not hold."""
    server = Copied(folder, source, base)
    names = ["restore_command", "recovery_target_time", "recovery_target_action"]
    server.add(settings_of(names, archive, moment.at))
    server.add("archive_mode = off\nsynchronous_standby_names = ''\n")
    (server.data / "recovery.signal").touch()
    shutil.chown(server.data / "recovery.signal", postgres.NOBODY, postgres.NOBODY)
    env = {"ANNALS_DATABASE_URL": url_of(server), "ANNALS_KEY": KEY}
    faults = []
    with ended(server):
        server.start()
        until(lambda: not _is_recovering(server), why="the end of the recovery")
        (folder / "annals").mkdir()
        halted = run("log-keys", "halt", "--data", str(folder / "annals"), **env)
        faults += [f"halt: {halted.stderr}"] if halted.returncode else []
        with serving(folder / "annals", **env) as service:
            for table in (replace(t, service=service, acknowledged=[]) for t in tables if t.game in moment.games):
                version = table.get()["version"]
                if version != moment.games[table.game]:
                    faults.append(f"{moment.name}: a game has version {version}, not {moment.games[table.game]}")
                while table.get()["status"] != "closed":
                    table.turn()
                exported = service.http.get(f"/games/{table.game}/export").content
                if not verify(CATALOGUE.get("orders@1"), export.parse(exported)).closed:
                    faults.append(f"{moment.name}: a game is not closed")
            lost = [t.game for t in tables if t.game not in moment.games]
            faults += [
                f"{moment.name}: {g} is there" for g in lost if service.http.get(f"/games/{g}").status_code != 404
            ]
            doctor = run("doctor", "--data", str(folder / "annals"), **env)
            if "nothing is signed" not in doctor.stdout + doctor.stderr:
                faults.append(f"{moment.name}: doctor says nothing of signing: {doctor.stdout}")
            held = folder / "held"
            held.write_text(newest)
            refused = run("log-keys", "resume", "--checkpoint", str(held), "--data", str(folder / "annals"), **env)
            said = (refused.stderr or refused.stdout).strip()[:200]
            print(
                f"{moment.name}: {len(moment.games)} games as they were; resuming after size {size_of(newest)}: {said}",
                flush=True,
            )
            if not refused.returncode:
                faults.append(f"{moment.name}: signing resumed, though others hold a later checkpoint")
    return faults


def _is_recovering(server: Server) -> bool:
    with suppress(psycopg.Error), psycopg.connect(server.dsn, autocommit=True) as db:
        row = db.execute("SELECT pg_is_in_recovery()").fetchone()
        return bool(row and row[0])
    return True


def play() -> list[str]:
    """A failover with an archive, then both moments. Raises NoNamespaces."""
    if os.geteuid():
        raise NoNamespaces("this needs root, to give files to the server's user")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=postgres.SHORT))
    folder.chmod(0o755)
    archive, base = folder / "archive", folder / "base"
    archive.mkdir()
    shutil.chown(archive, postgres.NOBODY, postgres.NOBODY)
    shutil.chown(folder, postgres.NOBODY, postgres.NOBODY)
    try:
        with postgres.new_server() as first:
            first.stop("fast")
            with (first.data / "postgresql.conf").open("a") as file:
                file.write(settings_of(["archive_mode", "archive_command"], archive) + "wal_level = replica\n")
            first.start()
            with psycopg.connect(first.dsn, autocommit=True) as db:
                db.execute("CREATE DATABASE annals")
            first.base_backup(base, "--wal-method", "none")
            second = Copied(folder / "b", first)
            primary = f"host={first.folder} user=postgres application_name=b"
            second.add(f"primary_conninfo = '{primary}'\n")
            (second.data / "standby.signal").touch()
            second.start()
            with psycopg.connect(first.dsn, autocommit=True) as db:
                db.execute("ALTER SYSTEM SET synchronous_standby_names = 'b'")
                db.execute("SELECT pg_reload_conf()")
            env = {"ANNALS_DATABASE_URL": url_of(first, second), "ANNALS_KEY": KEY}
            with ended(second), serving(folder / "node", **env) as service:
                tables = [Table(service).open() for _ in range(2)]
                for table in tables:
                    table.turn()
                before = note("before the failover", tables)
                tables[0].turn()
                until(lambda: checkpoint_of(service), why="a checkpoint")
                first.stop()
                second.call("pg_ctl", "promote", "-w")
                until(lambda: _is_ready(service), why="the service after the failover")
                tables.append(Table(service).open())
                tables[1].turn()
                after = note("after the failover", tables)
                size = size_of(checkpoint_of(service))
                tables[2].turn()
                until(lambda: size_of(checkpoint_of(service)) > size, why="a later checkpoint")
                newest = checkpoint_of(service)
                service.end()
                with psycopg.connect(second.dsn, autocommit=True) as db:
                    db.execute("SELECT pg_switch_wal()")
                    kept = "SELECT FROM pg_stat_archiver WHERE last_archived_time > now() - interval '9s'"
                    until(lambda: db.execute(kept).fetchone() is not None, why="the archive")
            print(f"timelines in the archive: {sorted({f.name[:8] for f in archive.iterdir()})}", flush=True)
            return [
                fault
                for n, moment in enumerate((before, after))
                for fault in restored(folder / f"restored-{n}", first, base, archive, moment, tables, newest)
            ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_ready(service: Service) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{service.url}/readyz", timeout=5).status_code == 200
    return False


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was seen; status 1 if anything does not hold."""
    about = __doc__.splitlines()[0] if __doc__ else ""
    argparse.ArgumentParser(prog="./run chaos recovery", description=about).parse_args(argv)
    return report(play)


if __name__ == "__main__":
    raise SystemExit(main())
