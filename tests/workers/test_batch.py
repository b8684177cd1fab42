"""Work that is asked for: audits, rebuilds, and what is told of a job."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select

from domain.errors import StoreUnavailable, ViewsDamaged
from domain.kernel.game.table_commands import Leave
from domain.ruleset_registry import RulesetRegistry
from projections import schema
from projections.leases import LEASE, acquire_lease
from projections.projector import Projector
from projections.rebuild import TABLES, create_generation, drop_old_rows, switch_generation
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.deploy.house import until
from tests.kernel.flows import orders
from tests.projections.conftest import CATALOGUE, opened
from tests.workers.conftest import House
from workers import liveness
from workers.job_calls import BATCH, BATCH_PERIOD, BATCH_SECONDS, TURNS
from workers.jobs import audits, rebuilds, runner, turns
from workers.queues import Queues
from workers.worker import RowWorker, make_worker


def rows(house: House) -> dict[str, list[tuple[object, ...]]]:
    """All views, whatever their generation is called."""
    tables = (schema.games, schema.boards, schema.timeline, schema.due, schema.results, schema.leaves, schema.nodes)
    with house.crew.views.reading() as db:
        return {t.name: sorted(_row(house, row) for row in db.execute(select(t)).mappings()) for t in tables}


def _row(house: House, row: Mapping[Any, Any]) -> tuple[object, ...]:
    """Opened, and without its first column, which is the generation."""
    return tuple(opened(house.crew.views, row).values())[1:]


def test_an_audit_of_a_running_game_decides_every_record_again(house: House) -> None:
    game = house.game()
    turns.resolve(game, house.submit(game, 0, 1, 2))
    found = house.job(house.ask("audit", game))
    assert found["verified"] is True
    assert found["closed"] is False
    assert found["decided"] == found["records"] == 9
    assert found["draws"] == len(orders.PLACES)


def test_an_audit_of_a_closed_game_is_the_offline_proof(house: House) -> None:
    game = house.game(options={"turns": 1})
    turns.resolve(game, house.submit(game, 0, 1, 2))
    found = house.job(house.ask("audit", game))
    assert found["closed"] is True
    assert found["decided"] == found["records"]


def test_a_fault_is_named_without_what_is_secret(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    game = house.game()
    other = house.game()
    monkeypatch.setattr(house.crew.seed_store, "seed", lambda _: b"x" * 32)
    assert audits.audit_game(house.crew, game) == {
        "verified": False,
        "game": game,
        "code": "record_mismatch",
        "version": 1,
    }
    assert audits.audit_game(house.crew, other)["verified"] is False


def test_rebuild_gives_same_views_and_the_pump_goes_on_at_once(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 60}})
    house.submit(game, 0)
    house.passed()
    before = rows(house)
    assert house.job(house.ask("rebuild")) == {"generation": 2, "position": 6}
    assert rows(house) == before
    house.submit(game, 1)
    assert house.pumping.catch_up()
    assert house.reader.read_position() == 7


def test_a_rebuild_brings_back_a_game_that_was_set_aside(house: House) -> None:
    game = house.game()
    blind = Projector(ViewerHistory(house.crew.ledger, RulesetRegistry([]), house.crew.views), house.crew.node)
    blind.run(house.crew.clock())
    assert house.reader.find_summary(game) is None
    house.job(house.ask("rebuild"))
    assert house.reader.find_summary(game) is not None
    with house.crew.views.reading() as db:
        assert db.execute(select(schema.aside)).all() == []


class TestRebuildsAtOnce:
    """One at a time: another one is awaited, unless it is dead; none fails, whenever it is overtaken."""

    @pytest.fixture(autouse=True)
    def shown(self, house: House) -> None:
        house.submit(house.game(pace={"seconds": {"turn": 60}}), 0)
        house.passed()
        self.before = rows(house)

    def test_each_slice_is_a_sign_of_life(self, house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who froze in one keeps all others from writing on SQLite until it is ended."""
        run, sign, found = Projector.run, tmp_path / "sign", list[float]()
        liveness.expect_first_sign(sign, BATCH_SECONDS)  # as when the job was taken
        monkeypatch.setenv(liveness.ENV_VARIABLE, str(sign))

        def left() -> float:
            return sign.stat().st_mtime - time.monotonic()

        def pumped(pump: Projector, now: int) -> Any:
            found.append(left())
            return run(pump, now)

        def swept(views: ViewStore, *before: Any) -> None:
            assert len(found) > 1, "the new views are made in slices"
            assert all(0 < seconds <= rebuilds.LIVENESS_SECONDS for seconds in found)
            found.clear()
            with monkeypatch.context() as patch:
                patch.setattr(ViewStore, "transaction", transacted)
                drop_old_rows(views, *before)

        def transacted(views: ViewStore) -> Any:
            found.append(left())
            return transaction(views)

        transaction = ViewStore.transaction
        monkeypatch.setattr(Projector, "run", pumped)
        monkeypatch.setattr(ViewStore, "yield_to_writers", lambda *_: liveness.set_deadline(BATCH_SECONDS))
        monkeypatch.setattr(rebuilds, "drop_old_rows", swept)
        rebuilds.rebuild_views(house.crew)
        assert len(found) >= len(TABLES), "the old views are dropped in slices as well"
        assert all(0 < seconds <= rebuilds.LIVENESS_SECONDS for seconds in found)

    @staticmethod
    def half(house: House) -> tuple[Projector, int]:
        """Another rebuild, which has begun."""
        gen = create_generation(house.crew.views, house.time[0])
        pump = Projector(ViewerHistory(house.crew.ledger, CATALOGUE, house.crew.views), "other", gen)
        assert pump.run(house.time[0])
        return pump, gen

    def test_one_that_goes_on_is_awaited(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        _, gen = self.half(house)

        def nap(_: float) -> None:
            assert switch_generation(house.crew.views, gen)

        monkeypatch.setattr(rebuilds, "time", SimpleNamespace(sleep=nap, monotonic=time.monotonic))
        assert rebuilds.rebuild_views(house.crew)["generation"] == gen + 1
        assert rows(house) == self.before

    def test_one_that_is_dead_is_not(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self.half(house)
        naps: list[float] = []

        def nap(seconds: float) -> None:
            naps.append(seconds)
            house.time[0] += round(seconds * 1000)

        monkeypatch.setattr(rebuilds, "time", SimpleNamespace(sleep=nap, monotonic=time.monotonic))
        rebuilds.rebuild_views(house.crew)
        assert len(naps) == LEASE / 1000
        assert rows(house) == self.before

    @staticmethod
    def overtaken(house: House, monkeypatch: pytest.MonkeyPatch, at: int) -> tuple[int, int]:
        """The generation of a rebuild before whose transaction of that number another one is made whole.

        And how many transactions there were.
        """
        lend, uses = ViewStore.transaction, count()

        def lent(views: ViewStore) -> Any:
            if next(uses) == at:
                house.time[0] += 2 * LEASE
                rebuilds.rebuild_views(house.crew)
            return lend(views)

        with monkeypatch.context() as patch:
            patch.setattr(ViewStore, "transaction", lent)
            made = rebuilds.rebuild_views(house.crew)
        return int(str(made["generation"])), next(uses)

    def test_one_that_is_taken_for_dead_begins_again(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        """Before any of its transactions."""
        _, whole = self.overtaken(house, monkeypatch, -1)
        assert whole > 5
        for at in range(whole):
            made, _ = self.overtaken(house, monkeypatch, at)
            with house.crew.views.reading() as db:
                assert db.execute(select(schema.generations.c.gen)).scalars().all()[-1] >= made
            assert rows(house) == self.before

    def test_one_that_froze_in_a_slice_holds_up_no_views(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        """Until the server ends it, whoever rebuilds meanwhile waits for it alone."""
        if house.crew.views.engine.dialect.name == "sqlite":
            return  # it has one writer, and who froze there holds up all others
        self.half(house)
        house.time[0] += 2 * LEASE
        house.pumping.catch_up()
        with house.crew.views.transaction() as frozen, ThreadPoolExecutor(1) as pool:
            frozen.execute(select(schema.parts).where(schema.parts.c.owner == "other").with_for_update()).all()
            waits = pool.submit(rebuilds.rebuild_views, house.crew)
            until(lambda: waiting(house) > 0)
            house.game()
            assert house.pumping.catch_up()
            assert not waits.done()
            frozen.rollback()
            waits.result(60)

    def test_those_that_begin_together_are_all_done(self, house: House) -> None:
        for _ in range(5):
            with ThreadPoolExecutor(3) as pool:
                found = [f.result(60) for f in [pool.submit(rebuilds.rebuild_views, house.crew) for _ in range(3)]]
            assert len({each["generation"] for each in found}) == 3
            assert rows(house) == self.before


def waiting(house: House) -> int:
    """Sessions that wait for a lock."""
    with house.crew.views.reading() as db:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return int(db.exec_driver_sql(asked).scalar_one())


def test_views_are_new_though_old_rows_cannot_be_dropped(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def sweep(*_: object) -> None:
        raise StoreUnavailable("no room")

    game = house.game()
    house.passed()
    monkeypatch.setattr("workers.jobs.rebuilds.drop_old_rows", sweep)
    assert house.job(house.ask("rebuild"))["generation"] == 2
    assert house.reader.find_summary(game) is not None


def test_failed_rebuild_of_damaged_views_ends_its_trials(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next start makes them anew."""

    def damaged(*_: object) -> int:
        raise ViewsDamaged("the views: database disk image is malformed")

    monkeypatch.setattr("workers.jobs.rebuilds.create_generation", damaged)
    id_ = house.ask("rebuild")
    assert house.job(id_) == {"refused": "internal_error"}
    assert house.crew.job_requests.list_open() == []


def test_a_slice_of_games_set_aside_does_not_stop_the_pump(house: House) -> None:
    house.game()
    blind = Projector(ViewerHistory(house.crew.ledger, RulesetRegistry([]), house.crew.views), house.crew.node)
    blind.run(house.crew.clock())
    house.crew.commands.handle(house.game(), Leave(0))
    house.pumping.catch_up()
    assert house.reader.read_position() == 11


def test_an_audit_is_a_row_until_it_is_done(house: House) -> None:
    game = house.game()
    id_ = house.ask("audit", game)
    assert [house.reconciler.pass_once() for _ in range(2)] == [1, 0]
    assert house.queues.job_state(id_, house.crew.clock()) == ""
    house.redis.flushall()
    assert house.reconciler.pass_once() == 1, "an emptied Redis loses no errand"
    house.worked(BATCH)
    errand = house.crew.job_requests.find(id_)
    assert errand is not None
    assert errand.outcome is not None
    assert errand.outcome["verified"] is True
    assert house.crew.job_requests.list_open() == []
    house.redis.flushall()
    assert house.reconciler.pass_once() == 0, "what is done is not done again"


def test_an_errand_that_cannot_be_done_says_why(house: House) -> None:
    unknown = house.ask("audit", "00000000-0000-0000-0000-000000000000")
    assert house.job(unknown) == {"refused": "unknown_game"}


def test_a_fault_of_ours_ends_the_errand_too(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "audit_game", lambda *_: 1 // 0)
    assert house.job(house.ask("audit", house.game())) == {"refused": "internal_error"}


def test_while_the_store_is_away_the_errand_stands(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("gone")

    id_ = house.ask("audit", house.game())
    with monkeypatch.context() as broken:
        broken.setattr(audits, "audit_game", away)
        assert house.job(id_) is None
    house.redis.flushall()
    found = house.job(id_)
    assert found["verified"] is True


def test_long_work_does_not_stand_in_the_way_of_turns(house: House) -> None:
    game = house.game()
    house.ask("audit", game)
    house.submit(game, 0, 1, 2)
    house.passed()
    house.worked(TURNS)
    assert house.kinds(game)[-1] == "resolved"


def test_without_redis_what_is_due_waits_as_rows(house: House, caplog: pytest.LogCaptureFixture) -> None:
    game = house.game()
    house.submit(game, 0, 1, 2)
    house.ask("audit", game)
    away = Queues("unix:///nowhere/socket")
    with pytest.raises(StoreUnavailable):
        away.count_workers()
    assert away.job_state("audit-x", 0) == ""
    house.reconciler._queues = away
    assert [house.passed() for _ in range(3)] == [0, 0, 0]
    said = [r.getMessage() for r in caplog.records if r.name == "annals.reconcile"]
    assert said == ["due work waits: the queue does not answer"], "once in a while, not at every pass"
    house.reconciler._queues = house.queues
    assert house.passed() == 2


def test_workers_are_counted_by_queue(house: House) -> None:
    assert house.queues.count_workers() == {TURNS: 0, BATCH: 0}


class TestWorkersInRedis:
    """The doctor counts them."""

    @staticmethod
    def register(house: House) -> RowWorker:
        worker = make_worker(house.url, BATCH)
        worker.register_birth()  # type: ignore[no-untyped-call] # as the library has it
        return worker

    def test_a_living_worker_counts(self, house: House) -> None:
        worker = self.register(house)
        assert house.queues.count_workers()[BATCH] == 1
        worker.heartbeat()
        assert house.queues.count_workers() == {TURNS: 0, BATCH: 1}

    def test_a_silent_worker_does_not_count(self, house: House) -> None:
        worker = self.register(house)
        house.redis.delete(worker.key)
        assert house.queues.count_workers()[BATCH] == 0

    def test_a_worker_that_outlives_redis_counts_again(self, house: House) -> None:
        worker = self.register(house)
        house.redis.flushall()
        assert house.queues.count_workers()[BATCH] == 0
        worker.heartbeat()
        assert house.queues.count_workers()[BATCH] == 1


class TestLeasesOfLongWork:
    """One worker at a time does it, as long as that one renews its lease."""

    @staticmethod
    def hold(house: House, id_: str) -> None:
        with house.crew.views.transaction() as db:
            acquire_lease(db, f"job-{id_}", "another", house.crew.clock(), runner.LEASE_MS)

    def test_work_of_another_worker_waits_for_its_lease(self, house: House) -> None:
        id_ = house.ask("audit", house.game())
        self.hold(house, id_)
        assert house.job(id_) is None
        house.later(runner.LEASE_MS)
        assert house.job(id_)["verified"] is True

    @pytest.mark.parametrize("work", ["audit", "rebuild"])
    def test_a_lease_is_renewed_meanwhile_and_given_back(
        self, house: House, monkeypatch: pytest.MonkeyPatch, work: str
    ) -> None:
        ends: list[int] = []

        def find_end(id_: str) -> int:
            with house.crew.views.reading() as db:
                leases = schema.leases
                found = db.execute(select(leases.c.until).where(leases.c.name == f"job-{id_}")).scalars().all()
            return found[0] if found else 0

        def take_long(*_: object) -> dict[str, Any]:
            ends.append(find_end(id_))
            house.later(runner.LEASE_MS - 1)
            until(lambda: find_end(id_) > ends[0])
            return {"verified": True, "generation": 1, "position": 1}

        monkeypatch.setattr(runner, "RENEW_SECONDS", 0.01)
        monkeypatch.setattr(audits, "audit_game", take_long)
        monkeypatch.setattr(rebuilds, "rebuild_views", take_long)
        id_ = house.ask(work, house.game())
        assert house.job(id_)
        assert len(ends) == 1
        assert find_end(id_) == 0

    def test_each_period_has_an_attempt_of_its_own(self, house: House) -> None:
        """Whatever became of the last one: its worker was killed, or froze, or Redis came back empty."""
        house.time[0] = 100 * BATCH_PERIOD
        id_ = house.ask("rebuild")
        assert [house.reconciler.pass_once() for _ in range(3)] == [1, 0, 0]
        house.redis.delete(f"rq:queue:{BATCH}")
        house.later(BATCH_PERIOD)
        assert [house.reconciler.pass_once() for _ in range(3)] == [1, 0, 0]
        house.worked(BATCH)
        assert house.crew.job_requests.list_open() == []
        house.crew.ledger.execute("UPDATE errands SET outcome = ''")  # as in a database that came back older
        house.later(BATCH_PERIOD)
        assert house.reconciler.pass_once() == 1
        house.worked(BATCH)
        found = house.crew.job_requests.find(id_)
        assert found
        assert found.outcome

    def test_the_state_of_a_long_attempt_is_known_to_its_end(self, house: House) -> None:
        house.time[0] = 1000 * BATCH_PERIOD
        id_ = house.ask("audit", house.game())
        house.reconciler.pass_once()
        house.redis.hset(f"rq:job:{id_}-1000", "status", "started")
        house.later(BATCH_SECONDS * 1000)
        assert house.queues.job_state(id_, house.crew.clock()) == "running"
