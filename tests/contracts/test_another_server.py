"""Commands on PostgreSQL where another log takes the place of the one before, which knows less."""

import math
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import count, pairwise
from typing import LiteralString

import psycopg
import pytest

from domain.command_handler import CommandHandler, GameConditions, new_game_id
from domain.errors import StaleVersion, StoreUnavailable
from domain.kernel.game.play_commands import Play
from domain.ledger import Ledger, postgres
from domain.service.seed_store import SeedStore
from tests.contracts import context
from tests.contracts.context import KEY, decision, refolded, running
from tests.postgres import Server, new_server, url_of

PutBack = Callable[[Server, Callable[[], object]], None]


@pytest.fixture(scope="module")
def anybody() -> Iterator[Server]:
    """A server that may be stopped."""
    with new_server() as server:
        yield server


@pytest.fixture
def server(anybody: Server) -> Server:
    """The same, with an empty database `played`."""
    with psycopg.connect(anybody.dsn, autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS lost")
        admin.execute("DROP DATABASE IF EXISTS played")
        admin.execute("CREATE DATABASE played")
    return anybody


class TestAnotherServer:
    """Of PostgreSQL, in the place of the one before: a standby that lagged, or a copy, of the database alone too."""

    @staticmethod
    def put_back(server: Server, plays: Callable[[], object]) -> None:
        """The server as it was before them."""
        server.stop("fast")
        copy = server.folder / "copy"
        assert server._run("/bin/cp", "-a", server.data, copy) == 0  # by its owner
        server.start()
        plays()
        server.stop("fast")
        shutil.rmtree(server.data)
        copy.rename(server.data)
        server.start()

    @staticmethod
    def rename(server: Server, plays: Callable[[], object]) -> None:
        """The database as it was before them, in the same run of the server."""

        def among_nobody(*statements: LiteralString) -> None:
            with psycopg.connect(server.dsn, autocommit=True) as admin:
                admin.execute("ALTER DATABASE played ALLOW_CONNECTIONS false")
                admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'played'")
                for statement in statements:
                    admin.execute(statement)
                admin.execute("ALTER DATABASE played ALLOW_CONNECTIONS true")

        among_nobody("CREATE DATABASE older TEMPLATE played")
        plays()
        among_nobody("ALTER DATABASE played RENAME TO lost", "ALTER DATABASE older RENAME TO played")

    @pytest.mark.parametrize("back", [put_back, rename])
    @pytest.mark.parametrize("noticed", [False, True])
    @pytest.mark.parametrize("meanwhile", [0, 1, 2, 3])
    @pytest.mark.parametrize("by", ["decision", "version"])
    def test_what_it_does_not_know_is_forgotten(
        self, server: Server, back: PutBack, noticed: bool, meanwhile: int, by: str
    ) -> None:
        """Whatever the next to move remembers, and however many moves somebody else has made instead."""
        self.is_forgotten(url_of(server.dsn, "played"), partial(back, server), noticed, meanwhile, by)

    @staticmethod
    def make_anew(admin: psycopg.Connection) -> None:
        """As a dump does that is put back in place: the tables are others."""
        admin.execute("ALTER TABLE records RENAME TO lost")
        admin.execute("CREATE TABLE records (LIKE lost INCLUDING ALL)")

    @staticmethod
    def empty(admin: psycopg.Connection) -> None:
        admin.execute("SET LOCAL session_replication_role = replica")  # no trigger
        admin.execute("TRUNCATE records")

    @pytest.mark.parametrize("away", [make_anew, empty])
    @pytest.mark.parametrize("noticed", [False, True])
    @pytest.mark.parametrize("meanwhile", [0, 1, 2, 3])
    @pytest.mark.parametrize("by", ["decision", "version"])
    def test_so_is_what_was_in_the_tables_before(
        self,
        postgres_url: str,
        away: Callable[[psycopg.Connection], None],
        noticed: bool,
        meanwhile: int,
        by: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Rows of before are put in their place, and no connection ends."""

        def back(plays: Callable[[], object]) -> None:
            with psycopg.connect(postgres_url) as admin:
                admin.execute("CREATE TABLE before AS TABLE records")
                admin.commit()
                plays()
                away(admin)
                admin.execute("INSERT INTO records SELECT * FROM before")

        monkeypatch.setattr(postgres, "LOG_ID_LIFETIME", 0 if noticed else math.inf)
        self.is_forgotten(postgres_url, back, noticed, meanwhile, by)

    def test_no_game_is_opened_with_a_seed_that_it_does_not_know(
        self, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres, "LOG_ID_LIFETIME", 0)
        with closing(Ledger.open(postgres_url)) as ledger:
            ledger.migrate()
            commands, create, game = context.commands(ledger), SeedStore.create, new_game_id()

            def replaced(seed_store: SeedStore, game: str) -> bytes:
                seed = create(seed_store, game)
                with psycopg.connect(postgres_url) as admin:
                    self.make_anew(admin)
                return seed

            with monkeypatch.context() as patch:
                patch.setattr(SeedStore, "create", replaced)
                with pytest.raises(StoreUnavailable):
                    commands.open(game, "orders@1", 2)
            assert ledger.version(game) == 0
            commands.open(game, "orders@1", 2)
            assert ledger.version(game) == 1

    @staticmethod
    def is_forgotten(
        url: str, back: Callable[[Callable[[], object]], None], noticed: bool, meanwhile: int, by: str
    ) -> None:
        with closing(Ledger.open(url)) as ledger, closing(Ledger.open(url)) as elsewhere:
            ledger.migrate()
            commands, others = context.commands(ledger), context.commands(elsewhere)
            game = running(commands)

            def order(who: CommandHandler, seat: int, units: int) -> None:
                act = Play(seat, [{"type": "order", "to": "t01", "units": units}], decision(who, game))
                tried(lambda: who.handle(game, act))

            order(commands, 1, 1)
            back(lambda: order(commands, 0, 1))
            if noticed:
                tried(lambda: ledger.version(game))
            for seat in range(meanwhile):
                order(others, seat, 2)
            if by == "decision":
                order(commands, 2, 1)
            else:
                act = Play(2, [{"type": "order", "to": "t01", "units": 1}])
                if not meanwhile and math.isinf(
                    postgres.LOG_ID_LIFETIME
                ):  # refused by what is remembered, for that second
                    with pytest.raises(StaleVersion):
                        commands.handle(game, act, GameConditions(expected=6))
                    return
                tried(lambda: commands.handle(game, act, GameConditions(expected=6 + meanwhile)))
            records = elsewhere.read(game)
            assert [r.version for r in records] == list(range(1, len(records) + 1))
            assert all(b.public["prev"] == a.hash for a, b in pairwise(records))
            assert commands.game(game) == refolded(ledger, game) == others.game(game)

    def test_nothing_is_sealed_with_a_key_that_it_does_not_know(self, server: Server) -> None:
        """Nobody could open it any more, once no process remembers the key."""
        url = url_of(server.dsn, "played")
        with closing(Ledger.open(url, KEY)) as ledger, closing(Ledger.open(url, KEY[::-1])) as changed:
            ledger.migrate()
            ledger.keys.check()
            ledger.keys.add_master_key(KEY[::-1])
            commands = CommandHandler(changed, context.CATALOGUE, SeedStore(changed, changed.keys), count(1).__next__)
            game = running(commands)

            def finished() -> None:
                tried(changed.keys.complete_rotation)
                order(0)

            def order(seat: int) -> None:
                act = Play(seat, [{"type": "order", "to": "t01", "units": 1}], decision(commands, game))
                tried(lambda: commands.handle(game, act))

            self.put_back(server, finished)
            order(1)
        with closing(Ledger.open(url, KEY[::-1])) as anew:
            assert len(anew.read(game)) == 6
            assert refolded(anew, game).version == 6


def tried(use: Callable[[], object]) -> None:
    """Until the server is there, whose connections are made anew."""
    deadline = time.monotonic() + 20
    while True:
        try:
            use()
        except StoreUnavailable:
            assert time.monotonic() < deadline
        else:
            return


def test_answers_across_a_migration_do_not_count(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As over a connection that is made in the background while the tables are."""
    late: list[Callable[[], None]] = []
    told = postgres._LogIdCache.update
    with closing(Ledger.open(postgres_url)) as ledger:
        with monkeypatch.context() as patch:

            def tells_late(there: postgres._LogIdCache, server: str, asked: float) -> None:
                late.append(partial(told, there, server, asked))

            patch.setattr(postgres._LogIdCache, "update", tells_late)
            ledger.execute("SELECT 1")
        ledger.migrate()
        assert late
        for answer in late:
            answer()
        assert context.commands(ledger).open(new_game_id(), "orders@1", 2).versions == (1,)
