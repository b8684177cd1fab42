"""Forks, kills, full disks and servers that are gone."""

import os
import resource
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from eventsourcing.sqlite import SQLiteCursor

from domain.errors import StoreUnavailable
from domain.ledger import Ledger, postgres, sqlite_files
from domain.ledger.socket_timeouts import TimeoutConnection
from domain.service.database import Execute, Row
from domain.service.idempotency_keys import IdempotencyKey
from domain.service.keyring import Keyring
from domain.service.seat_tokens import SeatTokens
from projections.view_store import ViewStore
from tests.contracts import context
from tests.contracts.context import game, record, records
from tests.postgres import Line, halfway, new_server, url_of

WRITER = f"writer-{os.getpid()}"


class TestMigrating:
    def test_several_processes_may_migrate_at_once(self, url: str) -> None:
        context.together(4, context.migrate, url)
        ledger = Ledger.open(url)
        assert ledger.append(game(), [record(1)], 0, IdempotencyKey("c", "h")).last == 1
        ledger.close()


class TestFork:
    def test_parent_and_child_both_go_on_writing(self, ledger: Ledger, url: str) -> None:
        _, pipe = context.start(context.fork_in_use, url)
        status, notes = pipe.recv()
        assert status == 0
        assert (notes.count("parent"), notes.count("child")) == (21, 20)
        assert [r.body["note"] for r in ledger.read(game())] == notes

    def test_a_child_that_never_uses_the_ledger_does_no_harm(self, ledger: Ledger, url: str) -> None:
        _, pipe = context.start(context.fork_unused, url)
        assert pipe.recv() == (2, 2)
        assert ledger.version(game()) == 2


class TestConnections:
    """Of SQLite."""

    def test_one_that_cannot_be_used_is_closed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "ledger.sqlite").write_bytes(bytes(range(256)) * 64)
        made, connect = list[sqlite3.Connection](), sqlite3.connect

        def connecting(*given: Any, **named: Any) -> sqlite3.Connection:
            made.append(connect(*given, **named))
            return made[-1]

        monkeypatch.setattr(sqlite3, "connect", connecting)
        ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
        for use in (lambda: ledger.version(game()), lambda: ledger.append(game(), [record(1)], 0)):
            with pytest.raises(StoreUnavailable, match="not a database"):
                use()
        assert len(made) == 2
        for each in made:
            with pytest.raises(sqlite3.ProgrammingError, match="closed"):
                each.execute("SELECT 1")
        ledger.close()

    def test_what_is_asked_again_is_not_compiled_again(self, tmp_path: Path) -> None:
        ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
        ledger.migrate()
        compiled = list[int]()

        def authorized(action: int, *_: object) -> int:
            compiled.append(action)
            return sqlite3.SQLITE_OK

        def used(version: int) -> None:
            ledger.append(game(), [record(version)], version - 1, IdempotencyKey(f"c{version}", "h"))
            assert (ledger.version(game()), ledger.find_command(game(), "c")) == (version, None)

        used(1)
        with ledger._connection.use() as store, store.datastore.connection() as connection:  # type: ignore[attr-defined]
            connection._sqlite_conn.set_authorizer(authorized)
        used(2)
        assert compiled
        compiled.clear()
        used(3)
        assert set(compiled) == {sqlite3.SQLITE_TRANSACTION}, "the driver never keeps what ends one"
        ledger.close()


class TestCutOff:
    def test_a_query_that_is_cut_off_leaves_no_moment_behind(self, tmp_path: Path) -> None:
        """Else whoever has its connection next sees what was, and cannot write."""
        url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
        ledger, other = Ledger.open(url), Ledger.open(url)
        ledger.migrate()
        with ledger._connection.use() as store:
            datastore = store.datastore  # type: ignore[attr-defined] # SQLite's own
        other.append(game(), records(1, 3), 0)

        def cut_off() -> None:
            with datastore.read_cursor() as cursor:
                cursor.execute("SELECT * FROM records")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as cut:
            cut_off()
        other.append(game(), [record(4)], 3)
        assert ledger.append(game(), [record(5)], 4).last == 5
        assert ledger.version(game()) == 5
        assert cut.tb is not None  # while somebody holds on to its frames
        for each in (ledger, other):
            each.close()


class TestKill:
    @pytest.mark.parametrize("after", [1, 5, 20, 60])
    def test_acknowledged_things_are_there_and_nothing_by_half(self, ledger: Ledger, url: str, after: int) -> None:
        process, pipe = context.start(context.write_until_killed, named(url))
        acknowledged = [pipe.recv() for _ in range(after)]
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        acknowledged += rest(pipe)
        settle(ledger, url)
        head = ledger.version(game())
        assert head - acknowledged[-1] in (0, 2)  # the last one may have been stored and not told
        assert ledger.read(game()) == records(1, head)
        for first in range(0, head, 2):
            row = ledger.find_command(game(), f"c{first}")
            assert row is not None
            assert (row.first, row.last, len(row.positions)) == (first + 1, first + 2, 2)
        assert ledger.find_command(game(), f"c{head}") is None

    def test_the_next_writer_need_not_wait_for_the_dead_one(self, ledger: Ledger, url: str) -> None:
        process, pipe = context.start(context.write_until_killed, named(url))
        pipe.recv()
        process.kill()
        process.join()
        settle(ledger, url)
        head = ledger.version(game())
        assert ledger.append(game(), [record(head + 1)], head).last == head + 1


class TestFullDisk:
    def test_nothing_is_half_stored_and_ledger_works_with_room(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/ledger.sqlite"
        Ledger.open(url).migrate()
        _, pipe = context.start(fill_the_disk, url)
        acknowledged, after = pipe.recv()
        assert acknowledged > 2
        assert after == acknowledged + 2
        ledger = Ledger.open(url)
        assert ledger.version(game()) == after
        assert len(ledger.log(0, 10_000)) == after
        assert ledger.find_command(game(), f"c{acknowledged}") is None
        ledger.close()


def fill_the_disk(pipe: Connection, url: str) -> None:
    """In a process whose files may not grow past a size: write until that is refused, then lift it and go on."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    ledger, head = Ledger.open(url), 0
    noise = "".join(chr(0x4E00 + i * 7919 % 20_000) for i in range(4_000))
    try:
        while True:
            head = ledger.append(game(), records(head + 1, 2, noise), head, IdempotencyKey(f"c{head}", "h")).last
    except StoreUnavailable:
        pass
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    pipe.send((head, ledger.append(game(), records(head + 1, 2), head).last))


class TestEndedFromOutside:
    def test_who_is_ended_when_it_has_just_got_lock_gives_it_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A signal that comes while the database waits for the lock is seen once it has it."""

        class Ended(BaseException):
            pass

        def ended(cursor: SQLiteCursor, *args: object) -> None:
            execute(cursor, *args)
            raise Ended

        execute, url = SQLiteCursor.execute, f"sqlite:///{tmp_path}/ledger.sqlite"
        ledger, other = Ledger.open(url), Ledger.open(url)
        ledger.migrate()
        with monkeypatch.context() as patched:
            patched.setattr(SQLiteCursor, "execute", ended)
            with pytest.raises(Ended):
                ledger.append(game(), [record(1)], 0)
        assert ledger.append(game(), [record(1)], 0).last == 1
        assert other.append(game(), [record(2)], 1).last == 2
        ledger.close()
        other.close()


class TestReadOnly:
    def test_unwritable_file_is_unavailable_and_can_be_read(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/ledger.sqlite"
        ledger = Ledger.open(url)
        ledger.migrate()
        ledger.append(game(), [record(1)], 0)
        ledger.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreUnavailable):
            ledger.append(game(), [record(2)], 1)
        assert ledger.version(game()) == 1
        ledger.close()


class TestServerGone:
    def test_every_call_says_so_and_the_ledger_works_when_back(self) -> None:
        with new_server() as server:
            ledger = Ledger.open(url_of(server.dsn, "postgres") + "&connect_timeout=1")
            ledger.migrate()
            ledger.append(game(), [record(1)], 0, IdempotencyKey("c", "h"))
            server.stop()
            uses: list[Callable[[], object]] = [
                lambda: ledger.append(game(), [record(2)], 1, IdempotencyKey("d", "h")),
                lambda: ledger.version(game()),
                lambda: ledger.read(game()),
            ]
            for use in uses:
                with pytest.raises(StoreUnavailable):
                    use()
            server.start()
            assert in_time(lambda: ledger.version(game())) == 1
            assert ledger.find_command(game(), "d") is None
            assert ledger.append(game(), [record(2)], 1, IdempotencyKey("d", "h")).last == 2
            ledger.close()

    def test_after_a_restart_at_most_one_append_is_refused(self) -> None:
        with new_server() as server:
            ledger = Ledger.open(url_of(server.dsn, "postgres"))
            ledger.migrate()
            ledger.append(game(), [record(1)], 0)
            server.stop()
            server.start()
            with pytest.raises(StoreUnavailable):
                ledger.append(game(), [record(2)], 1)
            assert ledger.append(game(), [record(2)], 1).last == 2
            ledger.close()


class TestNothingComesAnyMore:
    """Over connections to PostgreSQL, though the server is well: nobody closes them, nobody answers."""

    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(TimeoutConnection, "patience", 2.0)

    @staticmethod
    def hanging(ledger: Ledger, line: Line) -> Future[object]:
        """An append that nobody answers; of all others each goes over a connection that is well."""
        ledger.migrate()
        ledger.append(game(), [record(1)], 0)
        line.silence()
        pool = ThreadPoolExecutor(1)
        found = pool.submit(ledger.append, game(), [record(2)], 1)
        pool.shutdown(wait=False)
        assert line.swallowed.wait(20)
        return cast("Future[object]", found)

    def test_the_append_gives_up_and_all_goes_on(self, far_url: str, line: Line) -> None:
        with closing(Ledger.open(far_url)) as ledger:
            found = self.hanging(ledger, line)
            assert in_time(lambda: ledger.append(game(), [record(2)], 1).last) == 2
            assert isinstance(found.exception(20), StoreUnavailable)

    def test_the_heart_does_not_beat_meanwhile(self, far_url: str, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
        """It stands for a move, which would not be taken."""
        monkeypatch.setattr(postgres, "LONGEST_COMMIT", 0.5)
        with closing(Ledger.open(far_url)) as ledger:
            found, beaten = self.hanging(ledger, line), list[int]()
            time.sleep(0.5)
            with pytest.raises(StoreUnavailable, match="take too long"):
                ledger.run_in_append_order(lambda _: beaten.append(1))
            assert not beaten
            assert isinstance(found.exception(20), StoreUnavailable)
            ledger.run_in_append_order(lambda _: beaten.append(1))
            assert beaten

    def test_of_many_one_is_waited_for(self, far_url: str, line: Line) -> None:
        """Or who reads would wait for each of a full pool in turn."""
        with closing(Ledger.open(far_url)) as ledger:
            ledger.migrate()
            ledger.append(game(), [record(1)], 0)
            together = threading.Barrier(6)
            with ledger._connection.use() as store, ThreadPoolExecutor(6) as pool:

                def use(_: int) -> None:
                    with store.datastore.get_connection():  # type: ignore[attr-defined]
                        together.wait(20)

                assert len(list(pool.map(use, range(6)))) == 6
            line.silence()
            with pytest.raises(StoreUnavailable, match="has not answered"):
                ledger.version(game())
            assert ledger.version(game()) == 1
            assert line.lost == 1

    def test_the_server_is_told_that_nobody_waits(self, postgres_url: str) -> None:
        """Or what waits there for a lock would become more with every request."""
        asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        with (
            closing(Ledger.open(postgres_url)) as ledger,
            psycopg.connect(postgres_url) as other,
            psycopg.connect(postgres_url, autocommit=True) as watch,
        ):
            ledger.migrate()
            other.execute("LOCK TABLE records IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreUnavailable, match="has not answered"):
                ledger.version(game())
            deadline = time.monotonic() + 20
            while watch.execute(asked).fetchone() != (0,):  # it is told by a signal, which it takes when it comes to it
                assert time.monotonic() < deadline
            other.rollback()
            assert ledger.version(game()) == 0

    def test_nothing_is_cancelled(self, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A commit that waits for a synchronous standby would be visible at once, and lost by a failover."""
        monkeypatch.setattr(TimeoutConnection, "patience", 0.3)
        asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
        with (
            closing(Ledger.open(postgres_url)) as ledger,
            psycopg.connect(postgres_url, autocommit=True) as watch,
        ):
            with pytest.raises(StoreUnavailable, match="has not answered"):
                ledger.execute("SELECT pg_sleep(2)")
            assert watch.execute(asked).fetchone() == (1,)

    def test_what_may_take_long_is_waited_for(self, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """As the tables are made while another node makes them."""
        with closing(Ledger.open(postgres_url)) as ledger:
            ledger.migrate()
            monkeypatch.setattr(TimeoutConnection, "patience", 0.2)
            with ledger._connection.use() as store, store.datastore.without_timeout() as c:  # type: ignore[attr-defined]
                assert c.execute("SELECT pg_sleep(0.5)").fetchone()
            with pytest.raises(StoreUnavailable, match="has not answered"):
                ledger.execute("SELECT pg_sleep(5)")

    def test_frozen_statement_holds_nothing_for_long(self, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """To the server it is not idle: it waits for the rest."""
        executing = postgres._make_execute

        def frozen(cursor: psycopg.Cursor[Row]) -> Execute:
            halfway(cursor.connection)
            return executing(cursor)

        monkeypatch.setattr(postgres, "TRANSACTION_TIMEOUT", 1)
        with closing(Ledger.open(postgres_url)) as ledger, closing(Ledger.open(postgres_url)) as other:
            ledger.migrate()
            monkeypatch.setattr(postgres, "_make_execute", frozen)

            def repair() -> None:
                with ledger.repair.transaction("a game", "to be archived") as execute:
                    assert in_time(lambda: other.append(game(), [record(1)], 0).last) == 1
                    execute("SELECT 1", ())

            with pytest.raises(StoreUnavailable):
                repair()
            monkeypatch.undo()
            with ledger.repair.transaction("a game", "to be archived") as execute:
                execute("SELECT 1", ())

    def test_the_system_is_told_to_find_out(self, far_url: str) -> None:
        """Unless the address says otherwise."""
        for address, timeout in ((far_url, "10000"), (f"{far_url}&tcp_user_timeout=7", "7")):
            with closing(Ledger.open(address)) as ledger:
                ledger.migrate()
                with ledger._connection.use() as store, store.datastore.get_connection() as connection:  # type: ignore[attr-defined]
                    said = connection.info.get_parameters()
            assert (said["tcp_user_timeout"], said["keepalives_idle"]) == (timeout, "10")


class TestDemotedServer:
    """A server of PostgreSQL that takes no writes any more, though its connections go on."""

    READ_ONLY = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"

    def test_the_ledger_leaves_it_after_one_refusal(self, postgres_url: str) -> None:
        with closing(Ledger.open(postgres_url)) as ledger:
            ledger.migrate()
            ledger.append(game(), [record(1)], 0)
            for _ in range(4):  # the pool lends its connections in turn
                with ledger._connection.use() as store, store.datastore.get_connection() as connection:  # type: ignore[attr-defined]
                    connection.execute(self.READ_ONLY)
            with pytest.raises(StoreUnavailable, match="takes no writes"):
                ledger.append(game(), [record(2)], 1)
            assert ledger.append(game(), [record(2)], 1).last == 2

    def test_the_views_leave_it_after_one_refusal(self, postgres_url: str) -> None:
        views = ViewStore(postgres_url)
        views.migrate()
        with views.transaction() as db:
            db.exec_driver_sql(self.READ_ONLY)
        with pytest.raises(StoreUnavailable, match="read-only"):
            views.migrate()
        views.migrate()
        views.close()

    @pytest.mark.parametrize("kind", [Ledger.open, ViewStore])
    def test_it_is_no_server_for_a_new_connection(self, postgres_url: str, kind: Callable[[str], Any]) -> None:
        """Unless the address asks for any server."""
        store = kind(f"{postgres_url}&options=-cdefault_transaction_read_only%3Don")
        with pytest.raises(StoreUnavailable):
            store.migrate()
        store.close()

    def test_several_servers_in_an_address_are_tried_in_turn(self, postgres_url: str) -> None:
        address = postgres_url.replace("host=", "host=/nowhere,")
        with closing(Ledger.open(address)) as ledger, closing(ViewStore(address)) as views:
            ledger.migrate()
            views.migrate()
            assert ledger.append(game(), [record(1)], 0).last == 1


def rest(pipe: Connection) -> list[int]:
    """What was told before the end."""
    told = []
    try:
        while True:
            told.append(pipe.recv())
    except EOFError:
        return told


def settle(ledger: Ledger, url: str) -> None:
    """A server may still be doing what a process asked before it was killed."""
    writers = "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?"
    while url.startswith("postgresql") and ledger.execute(writers, (WRITER,))[0][0]:
        time.sleep(0.01)


def named(url: str) -> str:
    """The address for a process whose connections are to be told from ours."""
    return f"{url}&application_name={WRITER}" if url.startswith("postgresql") else url


def in_time(use: Callable[[], int]) -> int:
    """What it gives once the store is there again; connecting anew takes a moment."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return use()
        except StoreUnavailable:
            if time.monotonic() > deadline:
                raise


def test_file_says_which_name_is_in_log_while_one_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of last writes cannot be emptied then, and nobody waits for it; the next erasure empties it too."""
    monkeypatch.setattr(sqlite_files, "PAUSE", 0.0)
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    ledger.migrate()
    access = SeatTokens(ledger, Keyring(ledger, bytes(32)))
    access.migrate()
    name = "Quillon Abernethy"
    ledger.execute("INSERT INTO people VALUES ('p', ?)", (name,))
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM people").fetchall()
        access.texts.erase_now("p")
        assert sqlite_files.scrub_marker(tmp_path / "ledger.sqlite").exists()
    access.texts.erase_now("somebody else")
    assert not sqlite_files.scrub_marker(tmp_path / "ledger.sqlite").exists()
    assert not [path for path in tmp_path.iterdir() if name.encode() in path.read_bytes()]
    ledger.close()
