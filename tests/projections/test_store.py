"""The tables of the read side: made once, kept while they fit, made anew for another version of the code."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from sqlalchemy import Connection, select, text, update

from domain.accounts.account_store import AccountStore
from domain.command_handler import new_game_id
from domain.errors import StoreUnavailable
from domain.ledger import Ledger
from domain.ledger.socket_timeouts import TimeoutConnection
from domain.service.seed_store import SeedStore
from projections import schema
from projections import view_store as store
from projections.leases import LEASE, LeaseLostError
from projections.projector import Projector
from projections.view_store import PreparedStatement, ViewStore
from projections.viewer_history import ViewerHistory
from tests.postgres import Line, halfway
from tests.projections.conftest import CATALOGUE, Harness


def test_views_that_fit_are_kept(harness: Harness) -> None:
    game = harness.game("orders@1", 2)
    harness.pumped()
    position = harness.reader.read_position()
    harness.views.migrate()
    assert harness.reader.read_position() == position
    assert harness.reader.find_summary(game) is not None


def test_tables_are_in_one_schema_whatever_database_names_first(postgres_url: str) -> None:
    """PostgreSQL itself recommends a schema for each role, which then comes first."""
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA other")
        admin.execute("CREATE TABLE other.seeds (a integer)")  # another program's
        name = Identifier(admin.info.dbname)
        admin.execute(SQL("ALTER DATABASE {} SET search_path TO other, public").format(name))
    with (
        closing(Ledger.open(postgres_url, bytes(32))) as ledger,
        closing(ViewStore(postgres_url, ledger.keys)) as views,
    ):
        ledger.migrate()
        views.migrate()
        AccountStore(ledger, ledger.keys).migrate()
        SeedStore(ledger, ledger.keys).create(new_game_id())
        rows = ledger.execute("SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('other', 'public')")
        assert [name for schema, name in rows if schema == "other"] == ["seeds"]
        assert {"accounts", "records", "seeds"} <= {name for schema, name in rows if schema == "public"}


@pytest.mark.parametrize("old", ["documents", "columns", "before shapes were noted"])
def test_views_of_another_version_are_made_again(harness: Harness, monkeypatch: pytest.MonkeyPatch, old: str) -> None:
    """The log is the truth: nothing else is needed."""
    game = harness.game("orders@1", 2)
    harness.pumped()
    before = harness.reader.find_board(game, 0)
    within = _within(harness)
    with harness.views.transaction() as db:
        if old == "columns":
            db.execute(text(f"DROP TABLE {within}leaves"))
            db.execute(text(f"CREATE TABLE {within}leaves (gen INTEGER, leaf INTEGER, PRIMARY KEY (gen, leaf))"))
        if old == "before shapes were noted":
            db.execute(text(f"DROP TABLE {within}shape"))
        elif old == "columns":
            db.execute(text(f"UPDATE {within}shape SET hash = 'another'"))  # noqa: S608 - our own name
    if old == "documents":
        monkeypatch.setattr(schema, "DOCUMENT_FORMAT", schema.DOCUMENT_FORMAT + 1)
    harness.views.migrate()
    assert harness.reader.read_position() == 0
    harness.pumped(Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "another"))
    assert harness.reader.find_board(game, 0) == before
    with harness.views.reading() as db:
        assert db.execute(select(schema.shape.c.hash)).scalars().all() == [schema.fingerprint()]


def test_versions_have_views_beside_each_other(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of both serve at once. Of versions that no node uses any more, the last one can be gone back to."""

    def made(version: int, url: str = postgres_url) -> ViewStore:
        monkeypatch.setattr(schema, "DOCUMENT_FORMAT", version)
        return ViewStore(url)

    def use(views: ViewStore, position: int, until: int = 0) -> None:
        with views.transaction() as db:
            db.execute(update(schema.parts).values(position=position, until=until))

    def schemas() -> set[str]:
        with closing(Ledger.open(postgres_url)) as ledger:
            rows = ledger.execute("SELECT schemaname FROM pg_tables WHERE tablename = 'parts'")
        return {name for (name,) in rows}

    first = made(100)
    first._schema, first._prepared = "public", store._create_engine(postgres_url, "public")  # as version 0.1.0 has them
    first.migrate()
    use(first, 7, until=int(time.time() * 1000) + 10_000)
    second = made(101)
    second.migrate()
    assert (first.has_tables(), second.has_tables(), second.is_current()) == (True, True, True)
    assert second.count_other_versions() == 1
    use(second, 8)
    assert [v.fetch_all(PreparedStatement(select(schema.parts.c.position).distinct())) for v in (first, second)] == [
        [(7,)],
        [(8,)],
    ]
    third = made(102)
    assert not third.is_current()
    third.migrate()
    assert schemas() == {"public", second._schema, third._schema}, "the first one is in use"
    use(first, 7)
    assert third.count_other_versions() == 0
    third.migrate()
    assert schemas() == {second._schema, third._schema}, "one that is behind another goes"
    second.migrate()
    assert schemas() == {second._schema, third._schema}
    for each in (first, second, third):
        each.close()


def test_views_that_nobody_may_look_at_are_not_said_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited for their end would wait for nobody."""
    views = tmp_path / "views.sqlite"
    assert not store.is_in_use(views)
    (tmp_path / "views.sqlite-shm").mkdir()
    with pytest.raises(IsADirectoryError, match="-shm"):
        store.is_in_use(views)

    def refused(path: Path, _: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        with pytest.raises(PermissionError, match="-shm"):
            store.is_in_use(views)


def test_who_shows_does_not_wait_for_disk_and_who_appends_does(harness: Harness) -> None:
    harness.game("orders@1", 2)
    harness.pumped()
    sqlite = harness.views.url.startswith("sqlite:")
    asked = "PRAGMA synchronous" if sqlite else "SELECT current_setting('synchronous_commit')"
    with harness.views.transaction() as db:
        assert db.exec_driver_sql(asked).scalar_one() == (1 if sqlite else "off")
    with harness.ledger._connection.use() as store:
        assert [tuple(row) for row in store.run(asked)] == ([(2,)] if sqlite else [("on",)])


def test_one_query_is_no_transaction_and_what_comes_after_it_is(harness: Harness) -> None:
    class Looking(PreparedStatement):
        def fetch_all(self, db: Connection, **params: object) -> list[tuple[Any, ...]]:
            found, driver = super().fetch_all(db, **params), cast("Any", db.connection.driver_connection)
            asked.append("in a transaction" if hasattr(driver, "info") and driver.info.transaction_status else "alone")
            return found

    asked: list[str] = []
    query = Looking(select(schema.generations.c.gen))
    for _ in range(20):  # on whichever connection
        assert harness.views.fetch_all(query) == [(1,)]
        with suppress(ZeroDivisionError), harness.views.transaction() as db:
            db.execute(schema.generations.delete())
            raise ZeroDivisionError
        with harness.views.reading() as db:
            assert query.fetch_all(db) == [(1,)]
    afterwards = "alone" if harness.views.url.startswith("sqlite:") else "in a transaction"
    assert asked == ["alone", afterwards] * 20


@pytest.mark.parametrize("harness", ["postgresql"], indirect=True)
def test_system_finds_out_connections_over_which_nothing_comes(harness: Harness) -> None:
    """As those of the ledger; unless the address says otherwise."""
    for url, timeout in ((harness.views.url, "10000"), (f"{harness.views.url}&tcp_user_timeout=7", "7")):
        with closing(ViewStore(url, harness.ledger.keys)) as views, views.reading() as db:
            said: Any = db.connection.driver_connection
            told = said.info.get_parameters()
        assert (told["tcp_user_timeout"], told["keepalives_idle"]) == (timeout, "10")


@pytest.mark.parametrize("harness", ["postgresql"], indirect=True)
def test_the_server_frees_the_locks_of_a_lost_machine(harness: Harness) -> None:
    """By limits of each session, since its own are hours. Over a socket of this machine it tells only who set them."""
    asked = "SELECT count(*) FROM pg_settings WHERE starts_with(name, 'tcp_') AND source = 'session'"
    with harness.views.reading() as db:
        assert db.exec_driver_sql(asked).scalar_one() == 4
    assert harness.ledger.execute(asked)[0][0] == 4


class TestNothingComesAnyMore:
    """Over connections to PostgreSQL: nobody closes them, nobody answers."""

    @pytest.fixture
    def views(self, far_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ViewStore]:
        monkeypatch.setattr(TimeoutConnection, "patience", 1.0)
        monkeypatch.setattr(store, "IDLE_SECONDS", 1)
        with closing(ViewStore(far_url)) as views:
            views.migrate()
            yield views

    @pytest.mark.parametrize("writes", [False, True])
    @pytest.mark.parametrize("prepared", [False, True])
    def test_of_many_connections_one_is_waited_for(
        self, views: ViewStore, line: Line, prepared: bool, writes: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        """In the middle of a use: at its beginning the library asks each whether it is well."""
        lend = views.transaction if writes else views.reading
        with ExitStack() as stack:
            for _ in range(4):
                stack.enter_context(views.reading())
        asked = select(schema.generations.c.gen)
        ask: Callable[[Any], Any] = PreparedStatement(asked).fetch_all if prepared else lambda db: db.execute(asked)
        with pytest.raises(StoreUnavailable, match="has not answered"), lend() as db:
            ask(_over(line, db))
        with lend() as db:
            assert db.execute(select(schema.generations.c.gen)).scalar() == 1
        assert line.lost == 1
        assert not caplog.records

    def test_nor_at_the_beginning(self, views: ViewStore, line: Line, caplog: pytest.LogCaptureFixture) -> None:
        with ExitStack() as stack:
            for _ in range(4):
                stack.enter_context(views.reading())
        line.silence()
        with views.reading() as db:
            assert db.execute(select(schema.generations.c.gen)).scalar() == 1
        assert line.lost == 1
        assert not caplog.records

    @pytest.mark.parametrize("prepared", [False, True])
    def test_nor_at_the_end(
        self, views: ViewStore, line: Line, prepared: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        asked = select(schema.generations.c.gen)
        ask: Callable[[Any], Any] = (
            PreparedStatement(asked).fetch_all if prepared else lambda db: db.execute(asked).all()
        )
        with suppress(StoreUnavailable), views.reading() as db:
            assert len(ask(db)) == 1
            line.silence()
        with views.reading() as db:
            assert db.execute(asked).scalar() == 1
        assert line.lost == 1
        assert not caplog.records

    def test_nor_by_one_query(self, views: ViewStore, line: Line, caplog: pytest.LogCaptureFixture) -> None:
        query = Silent(select(schema.generations.c.gen), line)
        with ExitStack() as stack:
            for _ in range(4):
                stack.enter_context(views.reading())
        with pytest.raises(StoreUnavailable, match="has not answered"):
            views.fetch_all(query)
        assert views.fetch_all(PreparedStatement(select(schema.generations.c.gen))) == [(1,)]
        assert line.lost == 1
        assert not caplog.records

    def test_to_make_tables_may_take_long(self, views: ViewStore) -> None:
        """As while another node makes them; and nothing after it may."""
        with views.transaction() as db, ThreadPoolExecutor(1) as pool:
            db.exec_driver_sql("SELECT pg_advisory_xact_lock(20260101)")
            made = pool.submit(views.migrate)
            db.exec_driver_sql("SELECT pg_sleep(1.2)")
            time.sleep(1)
            assert not made.done()
            db.rollback()
            made.result(20)
        with pytest.raises(StoreUnavailable, match="has not answered"), views.reading() as db:
            db.exec_driver_sql("SELECT pg_sleep(5)")


class Silent(PreparedStatement):
    """A query after whose connection was lent nothing comes."""

    def __init__(self, statement: Any, line: Line) -> None:
        super().__init__(statement)
        self._line = line

    def fetch_all(self, db: Connection, **params: object) -> list[tuple[Any, ...]]:
        return super().fetch_all(_over(self._line, db), **params)


def _over(line: Line, db: Connection) -> Connection:
    """The connection, of which nothing is heard from now on."""
    line.silence()
    return db


@pytest.mark.parametrize("harness", ["postgresql"], indirect=True)
@pytest.mark.parametrize("halfway_in", [False, True])
def test_a_pump_that_freezes_in_its_slice_keeps_no_parts(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, halfway_in: bool
) -> None:
    """Nor does one whose machine is gone: once its lease has ended, another one shows the games."""
    limited, limit = (
        ("_TIME_LIMIT", store.TRANSACTION_SECONDS) if halfway_in else ("_WRITE_SETTINGS", store.IDLE_SECONDS)
    )
    monkeypatch.setattr(store, limited, getattr(store, limited).replace(f"'{limit}s'", "'2s'"))
    game, frozen, thawed = harness.game("orders@1", 2), threading.Event(), threading.Event()
    apply = harness.pump._apply

    def freeze(db: Connection, *args: Any) -> Any:
        if halfway_in:
            halfway(store._driver_connection(db))
        frozen.set()
        thawed.wait(60)
        return apply(db, *args)

    monkeypatch.setattr(harness.pump, "_apply", freeze)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(harness.pump.run, harness.now)
        assert frozen.wait(60)
        another, end = (
            Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "another"),
            time.monotonic() + 60,
        )
        while not harness.reader.shown_versions(game) and time.monotonic() < end:
            harness.now += LEASE
            with suppress(LeaseLostError, StoreUnavailable):
                another.run(harness.now)
        assert harness.reader.shown_versions(game) == {"all": harness.ledger.version(game)}
        thawed.set()
        assert isinstance(first.exception(), StoreUnavailable)
    monkeypatch.undo()
    harness.pumped(another)
    assert harness.reader.shown_versions(game) == {"all": harness.ledger.version(game)}


def test_a_board_is_read_again_after_the_database_could_not(harness: Harness) -> None:
    """Also by the way that passes the library's by."""
    game = harness.game("orders@1", 2)
    harness.pumped()
    before = harness.reader.find_board(game, 0)
    assert before is not None
    reads: dict[str, Callable[[], object]] = {
        "boards": lambda: harness.reader.find_board(game, 0),
        "parts": harness.reader.read_position,
        "games": lambda: harness.reader.find_summary(game),
    }
    for table, read in reads.items():
        _renamed(harness, table, "elsewhere")
        with pytest.raises(StoreUnavailable):
            read()
        _renamed(harness, "elsewhere", table)
    assert harness.reader.find_board(game, 0) == before


def _renamed(harness: Harness, table: str, name: str) -> None:
    with harness.views.transaction() as db:
        db.execute(text(f"ALTER TABLE {_within(harness)}{table} RENAME TO {name}"))


def _within(harness: Harness) -> str:
    """What stands before the names of tables."""
    return "" if harness.views.url.startswith("sqlite:") else f"{schema.schema_name()}."


@pytest.mark.parametrize("first", ["connected", "closed"])
def test_reader_while_views_close_leaves_no_connection(harness: Harness, first: str) -> None:
    """Whether it has a connection then, or is given one after that."""
    with harness.views._translate_errors() as engine:
        if first == "closed":
            harness.views.close()
        with engine.connect() as db:
            connection = db.connection.dbapi_connection
            harness.views.close()
    assert connection is not None
    with pytest.raises(Exception, match=r"closed"):
        connection.cursor().execute("SELECT 1")
