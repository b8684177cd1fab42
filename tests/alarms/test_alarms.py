"""Every alarm fires when its fault is made on something that runs, and not before.

A test for one more: `@makes("AnnalsName")`, and `monitor.sees("AnnalsName", fault)` on a `watched` site or a service.
"""

from __future__ import annotations

import re
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import yaml

from deploy.backup.wal_archive import RunningBackup
from deploy.runtime import unix_http
from domain.service.database import Execute
from domain.service.job_requests import JobRequest, new_id
from domain.service.service_clock import ServiceClock
from tests.alarms.monitor import ALARMS, INTERVAL, MADE, Monitor, durations, makes
from tests.api.conftest import Site, Table, make_site
from tests.damage import overwrite, spoil
from tests.deploy.harness import serving, until
from tests.valkey import new_server
from workers.jobs.rebuilds import rebuild_views
from workers.maintenance.scrubbing import Scrubber
from workers.signals import Signals

ORDER = {"type": "order", "to": "t01", "units": 1}
OPERATIONS = ALARMS.parents[1] / "docs" / "operations.md"


@dataclass
class Watched:
    """A site that goes by the time of its monitor, is asked whether it is ready, and has a game that is played."""

    site: Site
    table: Table = field(init=False)
    monitor: Monitor = field(init=False)
    time: int = 1_000_000

    def __post_init__(self) -> None:
        self.site.services = replace(self.site.services, clock=lambda: self.time)
        self.site.services.commands._clock = lambda: self.time
        self.site.remake()
        self.table = self.site.table("orders@1", 3)
        self.monitor = Monitor(self.scraped)

    def scraped(self) -> str:
        answer = self.site.client.get("/metrics")
        assert answer.status_code == 200
        return str(answer.text)

    def passes(self) -> None:
        """The time between two scrapes, in which the prober asks."""
        for _ in range(4):
            self.time += int(INTERVAL * 250)
            self.site.client.get("/readyz")

    def submit(self, *seats: int) -> None:
        for seat in seats:
            assert self.table.move(seat, {"type": "submit"}).status_code == 201


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(make_site(tmp_path))
    yield made
    made.site.close()


def test_every_alarm_has_a_test_that_makes_its_fault() -> None:
    """Of this folder: what is imported here counts."""
    assert sorted(MADE) == sorted(durations())


def test_a_comma_of_a_summary_begins_no_annotation_of_its_own() -> None:
    """Prometheus refuses the whole file for it."""
    doc = yaml.safe_load(ALARMS.read_text())
    assert {tuple(rule["annotations"]) for group in doc["groups"] for rule in group["rules"]} == {("summary",)}


def test_the_runbook_tells_of_every_alarm_in_the_same_order() -> None:
    told = re.findall(r"^\| `(Annals\w+)` \|", OPERATIONS.read_text(), re.MULTILINE)
    assert told == list(durations())


# --- the faults ------------------------------------------------------------------------------------------------


@makes("AnnalsDown")
def test_nobody_answers(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:

        def scraped() -> str | None:
            try:
                return httpx.get(f"{service.url}/metrics", timeout=5).raise_for_status().text
            except httpx.HTTPError:
                return None

        monitor = Monitor(scraped)
        monitor.sees("AnnalsDown", service.kill_group)
    with serving(tmp_path / "data") as service:
        monitor.resolves("AnnalsDown")


@makes("AnnalsStoresDown")
def test_the_ledger_is_gone(watched: Watched, tmp_path: Path) -> None:
    def fault() -> None:
        watched.site.services.ledger.close()
        for file in tmp_path.glob("ledger*"):
            file.rename(tmp_path / f"gone-{file.name}")

    watched.monitor.sees("AnnalsStoresDown", fault, watched.passes)
    watched.site.services.ledger.close()
    for file in tmp_path.glob("ledger*"):
        file.unlink()
    for file in tmp_path.glob("gone-*"):
        file.rename(tmp_path / file.name.removeprefix("gone-"))
    watched.monitor.resolves("AnnalsStoresDown", watched.passes)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can be written past its first bytes: what is told then is what a full disk tells."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@makes("AnnalsCannotWrite")
def test_the_disk_is_full(watched: Watched) -> None:
    assert watched.monitor.watch(60, watched.passes) == set()
    with full_disk():
        assert watched.table.move(0, ORDER).status_code == 503
        watched.monitor.wait(30, watched.passes)
    assert watched.monitor.firing() == set()
    with full_disk():
        watched.monitor.wait(60, watched.passes)
    assert "AnnalsCannotWrite" in watched.monitor.firing()
    assert "AnnalsCannotWrite" not in watched.monitor.watch(15, watched.passes)


@makes("AnnalsClockJumped")
def test_the_clock_is_set(watched: Watched) -> None:
    error = [0]
    clock = ServiceClock(
        watched.site.services.ledger, lambda: watched.time + error[0], lambda: watched.time, alone=True
    )

    def passes() -> None:
        watched.passes()
        clock.sync()

    def fault() -> None:
        error[0] = 3600_000

    watched.monitor.sees("AnnalsClockJumped", fault, passes)
    error[0] = 0
    watched.monitor.resolves("AnnalsClockJumped", passes)
    clock.close()


@makes("AnnalsRedisDown")
def test_redis_is_gone(watched: Watched) -> None:
    with new_server() as server:
        signals = Signals(server.url)
        watched.site.services = replace(watched.site.services, redis_up=signals.is_up)
        watched.site.remake()
        watched.monitor.sees("AnnalsRedisDown", server.stop, watched.passes)
        server.start()
        until(
            signals.is_up
        )  # who was away is not asked again at once, and the monitor's minutes pass in less than that
        watched.monitor.resolves("AnnalsRedisDown", watched.passes)
        signals.close()


class _Lives(BaseHTTPRequestHandler):
    """What the process for streams says of itself."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"streams": 3}')

    def log_message(self, *_: object) -> None:
        pass

    def address_string(self) -> str:
        return ""


@makes("AnnalsStreamsDown")
def test_the_process_for_streams_is_gone(watched: Watched, short_path: Path) -> None:
    with UnixStreamServer(str(short_path / "streams"), _Lives) as server:
        answering = Thread(target=server.serve_forever)
        answering.start()

        def streams() -> int | None:
            found = unix_http.fetch_health(short_path / "streams")
            return None if found is None else int(found["streams"])

        def fault() -> None:
            server.shutdown()
            server.server_close()

        watched.site.services = replace(watched.site.services, streams=streams)
        watched.site.remake()
        watched.monitor.sees("AnnalsStreamsDown", fault, watched.passes)
        answering.join()
    (short_path / "streams").unlink()
    with UnixStreamServer(str(short_path / "streams"), _Lives) as server:
        answering = Thread(target=server.serve_forever)
        answering.start()
        watched.monitor.resolves("AnnalsStreamsDown", watched.passes)
        server.shutdown()
        answering.join()


@makes("AnnalsViewsBehind")
def test_nobody_pumps(watched: Watched) -> None:
    def fault() -> None:
        watched.site.asleep = True
        watched.submit(0)

    watched.monitor.sees("AnnalsViewsBehind", fault, watched.passes)
    watched.site.asleep = False
    watched.site.ring()
    watched.monitor.resolves("AnnalsViewsBehind", watched.passes)


@makes("AnnalsDueWorkWaits")
def test_nobody_resolves_a_turn(watched: Watched) -> None:
    watched.monitor.sees("AnnalsDueWorkWaits", lambda: watched.submit(0, 1, 2), watched.passes)
    watched.table.resolve()
    watched.monitor.resolves("AnnalsDueWorkWaits", watched.passes)


@makes("AnnalsErrandWaits")
def test_nobody_does_what_was_asked_for(watched: Watched) -> None:
    errands, id_ = watched.site.services.job_requests, new_id("audit")

    def fault() -> None:
        assert errands.submit(JobRequest(id_, "audit", watched.table.game, at=watched.time))
        assert watched.monitor.watch(3600, watched.passes) == set()

    watched.monitor.sees("AnnalsErrandWaits", fault, watched.passes)
    errands.record_outcome(id_, {})
    watched.monitor.resolves("AnnalsErrandWaits", watched.passes)


@makes("AnnalsGameSetAside")
def test_a_record_cannot_be_shown(watched: Watched) -> None:
    """Until it can, and the views are made anew."""
    ledger, sound = watched.site.services.ledger, [b""]
    damage = "UPDATE records SET state = ? WHERE originator_version = ?"

    def fault() -> None:
        watched.site.asleep = True
        watched.submit(0)
        version = watched.table.version
        sound[:] = ledger.execute("SELECT state FROM records WHERE originator_version = ?", (version,))[0]
        overwrite(ledger, damage, (b"j{}", version))
        watched.site.asleep = False
        watched.site.ring()

    watched.monitor.sees("AnnalsGameSetAside", fault, watched.passes)
    overwrite(ledger, damage, (sound[0], watched.table.version))
    rebuild_views(watched.site.context)
    watched.monitor.resolves("AnnalsGameSetAside", watched.passes)


@makes("AnnalsRecordDamaged")
def test_bytes_of_the_log_have_changed(watched: Watched) -> None:
    """The keeper comes upon them."""
    scrubbing = Scrubber(replace(watched.site.context, clock=lambda: watched.time), rate=1000, rest=0)

    def passes() -> None:
        watched.passes()
        scrubbing.step()

    ledger, game, before = watched.site.services.ledger, watched.table.game, [b""]

    def fault() -> None:
        before[0] = spoil(ledger, game, 3)

    watched.monitor.sees("AnnalsRecordDamaged", fault, passes)
    spoil(ledger, game, 3, before[0])
    watched.monitor.resolves("AnnalsRecordDamaged", passes)


@makes("AnnalsScrubStands")
def test_nobody_reads_the_log_against_its_tree(watched: Watched) -> None:
    """The end of a round is no end, and whoever goes on is heard of at once."""
    scrubbing = Scrubber(replace(watched.site.context, clock=lambda: watched.time), rate=1000)
    alive = Event()
    alive.set()

    def passes() -> None:
        watched.passes()
        if alive.is_set():
            scrubbing.step()

    def fault() -> None:
        alive.clear()
        assert watched.monitor.watch(300, passes) == set()

    watched.monitor.sees("AnnalsScrubStands", fault, passes)
    alive.set()
    assert watched.monitor.watch(15, passes) == set()


@makes("AnnalsBackupLate")
def test_the_folder_of_the_running_backup_is_gone(watched: Watched, tmp_path: Path) -> None:
    """Something else stands in its place; once it is back, the backup goes on."""
    copies, away = tmp_path / "copies", tmp_path / "away"
    settings: Any = SimpleNamespace(
        ledger_file=tmp_path / "ledger", backup=copies, backup_days=7, load_key=lambda: bytes(32)
    )
    backup = RunningBackup(settings, watched.site.context.views, lambda: watched.time)
    copies.mkdir()

    def passes() -> None:
        watched.passes()
        backup.step()

    def fault() -> None:
        copies.rename(away)
        copies.write_text("")

    watched.monitor.sees("AnnalsBackupLate", fault, passes)
    copies.unlink()
    away.rename(copies)
    assert "AnnalsBackupLate" not in watched.monitor.watch(60, passes)
    backup._archiver.release()


@makes("AnnalsFaults")
def test_requests_end_in_a_fault(watched: Watched) -> None:
    broken, views, before = Event(), watched.site.services.reader._views, [b""]

    def passes() -> None:
        watched.passes()
        assert watched.table.get().status_code == (500 if broken.is_set() else 200)

    def fault() -> None:
        with views.transaction() as db:
            (before[0],) = db.exec_driver_sql("SELECT doc FROM games").one()
            db.exec_driver_sql("UPDATE games SET doc = 'x'")
        broken.set()

    watched.monitor.sees("AnnalsFaults", fault, passes)
    with views.transaction() as db:
        db.exec_driver_sql("UPDATE games SET doc = ?", (before[0],))
    broken.clear()
    watched.monitor.resolves("AnnalsFaults", passes)


@makes("AnnalsSlow")
def test_the_ledger_is_slow(watched: Watched) -> None:
    """Another writer keeps it for a while, again and again."""
    slow = Event()

    def hold(taken: Event) -> None:
        def work(_: Execute) -> None:
            taken.set()
            time.sleep(0.3)

        watched.site.services.ledger.run_in_append_order(work)

    def passes() -> None:
        watched.passes()
        if watched.monitor.at % 60:
            return
        taken = Event()
        holder = Thread(target=hold, args=(taken,))
        if slow.is_set():
            holder.start()
            assert taken.wait(10)
        assert watched.site.post("/games", {"ruleset": "orders@1", "seats": 3}).status_code == 201
        if slow.is_set():
            holder.join()

    watched.monitor.sees("AnnalsSlow", slow.set, passes)
    slow.clear()
    watched.monitor.resolves("AnnalsSlow", passes)


@makes("AnnalsRefusesCallers")
def test_many_are_over_their_rate(watched: Watched) -> None:
    many = Event()

    def passes() -> None:
        watched.passes()
        for _ in range(200 if many.is_set() else 1):
            watched.site.post("/games", {"ruleset": "none"})

    watched.site.remake(rate=1.0, burst=1)
    watched.monitor.sees("AnnalsRefusesCallers", many.set, passes)
    many.clear()
    watched.monitor.resolves("AnnalsRefusesCallers", passes)
