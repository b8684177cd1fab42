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
from tests.deploy.harness import until
from tests.kernel.flows import orders
from tests.projections.conftest import CATALOGUE, opened
from tests.workers.conftest import Harness
from workers import liveness
from workers.job_calls import BATCH, BATCH_PERIOD, BATCH_SECONDS, TURNS
from workers.jobs import audits, rebuilds, runner, turns
from workers.queues import Queues
from workers.worker import RowWorker, make_worker


def rows(harness: Harness) -> dict[str, list[tuple[object, ...]]]:
    """All views, whatever their generation is called."""
    tables = (schema.games, schema.boards, schema.timeline, schema.due, schema.results, schema.leaves, schema.nodes)
    with harness.context.views.reading() as db:
        return {t.name: sorted(_row(harness, row) for row in db.execute(select(t)).mappings()) for t in tables}


def _row(harness: Harness, row: Mapping[Any, Any]) -> tuple[object, ...]:
    """Opened, and without its first column, which is the generation."""
    return tuple(opened(harness.context.views, row).values())[1:]


def test_an_audit_of_a_running_game_decides_every_record_again(harness: Harness) -> None:
    game = harness.game()
    turns.resolve(game, harness.submit(game, 0, 1, 2))
    found = harness.job(harness.ask("audit", game))
    assert found["verified"] is True
    assert found["closed"] is False
    assert found["decided"] == found["records"] == 9
    assert found["draws"] == len(orders.PLACES)


def test_an_audit_of_a_closed_game_is_the_offline_proof(harness: Harness) -> None:
    game = harness.game(options={"turns": 1})
    turns.resolve(game, harness.submit(game, 0, 1, 2))
    found = harness.job(harness.ask("audit", game))
    assert found["closed"] is True
    assert found["decided"] == found["records"]


def test_a_fault_is_named_without_what_is_secret(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    game = harness.game()
    other = harness.game()
    monkeypatch.setattr(harness.context.seed_store, "seed", lambda _: b"x" * 32)
    assert audits.audit_game(harness.context, game) == {
        "verified": False,
        "game": game,
        "code": "record_mismatch",
        "version": 1,
    }
    assert audits.audit_game(harness.context, other)["verified"] is False


def test_rebuild_gives_same_views_and_the_pump_goes_on_at_once(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 60}})
    harness.submit(game, 0)
    harness.passed()
    before = rows(harness)
    assert harness.job(harness.ask("rebuild")) == {"generation": 2, "position": 6}
    assert rows(harness) == before
    harness.submit(game, 1)
    assert harness.pumping.catch_up()
    assert harness.reader.read_position() == 7


def test_a_rebuild_brings_back_a_game_that_was_set_aside(harness: Harness) -> None:
    game = harness.game()
    blind = Projector(
        ViewerHistory(harness.context.ledger, RulesetRegistry([]), harness.context.views),
        harness.context.node,
    )
    blind.run(harness.context.clock())
    assert harness.reader.find_summary(game) is None
    harness.job(harness.ask("rebuild"))
    assert harness.reader.find_summary(game) is not None
    with harness.context.views.reading() as db:
        assert db.execute(select(schema.aside)).all() == []


class TestRebuildsAtOnce:
    """One at a time: another one is awaited, unless it is dead; none fails, whenever it is overtaken."""

    @pytest.fixture(autouse=True)
    def shown(self, harness: Harness) -> None:
        harness.submit(harness.game(pace={"seconds": {"turn": 60}}), 0)
        harness.passed()
        self.before = rows(harness)

    def test_each_slice_is_a_sign_of_life(
        self, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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
        rebuilds.rebuild_views(harness.context)
        assert len(found) >= len(TABLES), "the old views are dropped in slices as well"
        assert all(0 < seconds <= rebuilds.LIVENESS_SECONDS for seconds in found)

    @staticmethod
    def half(harness: Harness) -> tuple[Projector, int]:
        """Another rebuild, which has begun."""
        gen = create_generation(harness.context.views, harness.time[0])
        pump = Projector(ViewerHistory(harness.context.ledger, CATALOGUE, harness.context.views), "other", gen)
        assert pump.run(harness.time[0])
        return pump, gen

    def test_one_that_goes_on_is_awaited(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        _, gen = self.half(harness)

        def nap(_: float) -> None:
            assert switch_generation(harness.context.views, gen)

        monkeypatch.setattr(rebuilds, "time", SimpleNamespace(sleep=nap, monotonic=time.monotonic))
        assert rebuilds.rebuild_views(harness.context)["generation"] == gen + 1
        assert rows(harness) == self.before

    def test_one_that_is_dead_is_not(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        self.half(harness)
        naps: list[float] = []

        def nap(seconds: float) -> None:
            naps.append(seconds)
            harness.time[0] += round(seconds * 1000)

        monkeypatch.setattr(rebuilds, "time", SimpleNamespace(sleep=nap, monotonic=time.monotonic))
        rebuilds.rebuild_views(harness.context)
        assert len(naps) == LEASE / 1000
        assert rows(harness) == self.before

    @staticmethod
    def overtaken(harness: Harness, monkeypatch: pytest.MonkeyPatch, at: int) -> tuple[int, int]:
        """The generation of a rebuild before whose transaction of that number another one is made whole.

        And how many transactions there were.
        """
        lend, uses = ViewStore.transaction, count()

        def lent(views: ViewStore) -> Any:
            if next(uses) == at:
                harness.time[0] += 2 * LEASE
                rebuilds.rebuild_views(harness.context)
            return lend(views)

        with monkeypatch.context() as patch:
            patch.setattr(ViewStore, "transaction", lent)
            made = rebuilds.rebuild_views(harness.context)
        return int(str(made["generation"])), next(uses)

    def test_one_that_is_taken_for_dead_begins_again(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """Before any of its transactions."""
        _, whole = self.overtaken(harness, monkeypatch, -1)
        assert whole > 5
        for at in range(whole):
            made, _ = self.overtaken(harness, monkeypatch, at)
            with harness.context.views.reading() as db:
                assert db.execute(select(schema.generations.c.gen)).scalars().all()[-1] >= made
            assert rows(harness) == self.before

    def test_one_that_froze_in_a_slice_holds_up_no_views(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Until the server ends it, whoever rebuilds meanwhile waits for it alone."""
        if harness.context.views.engine.dialect.name == "sqlite":
            return  # it has one writer, and who froze there holds up all others
        self.half(harness)
        harness.time[0] += 2 * LEASE
        harness.pumping.catch_up()
        with harness.context.views.transaction() as frozen, ThreadPoolExecutor(1) as pool:
            frozen.execute(select(schema.parts).where(schema.parts.c.owner == "other").with_for_update()).all()
            waits = pool.submit(rebuilds.rebuild_views, harness.context)
            until(lambda: waiting(harness) > 0)
            harness.game()
            assert harness.pumping.catch_up()
            assert not waits.done()
            frozen.rollback()
            waits.result(60)

    def test_those_that_begin_together_are_all_done(self, harness: Harness) -> None:
        for _ in range(5):
            with ThreadPoolExecutor(3) as pool:
                found = [f.result(60) for f in [pool.submit(rebuilds.rebuild_views, harness.context) for _ in range(3)]]
            assert len({each["generation"] for each in found}) == 3
            assert rows(harness) == self.before


def waiting(harness: Harness) -> int:
    """Sessions that wait for a lock."""
    with harness.context.views.reading() as db:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return int(db.exec_driver_sql(asked).scalar_one())


def test_views_are_new_though_old_rows_cannot_be_dropped(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def sweep(*_: object) -> None:
        raise StoreUnavailable("no room")

    game = harness.game()
    harness.passed()
    monkeypatch.setattr("workers.jobs.rebuilds.drop_old_rows", sweep)
    assert harness.job(harness.ask("rebuild"))["generation"] == 2
    assert harness.reader.find_summary(game) is not None


def test_failed_rebuild_of_damaged_views_ends_its_trials(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next start makes them anew."""

    def damaged(*_: object) -> int:
        raise ViewsDamaged("the views: database disk image is malformed")

    monkeypatch.setattr("workers.jobs.rebuilds.create_generation", damaged)
    id_ = harness.ask("rebuild")
    assert harness.job(id_) == {"refused": "internal_error"}
    assert harness.context.job_requests.list_open() == []


def test_a_slice_of_games_set_aside_does_not_stop_the_pump(harness: Harness) -> None:
    harness.game()
    blind = Projector(
        ViewerHistory(harness.context.ledger, RulesetRegistry([]), harness.context.views),
        harness.context.node,
    )
    blind.run(harness.context.clock())
    harness.context.commands.handle(harness.game(), Leave(0))
    harness.pumping.catch_up()
    assert harness.reader.read_position() == 11


def test_an_audit_is_a_row_until_it_is_done(harness: Harness) -> None:
    game = harness.game()
    id_ = harness.ask("audit", game)
    assert [harness.reconciler.pass_once() for _ in range(2)] == [1, 0]
    assert harness.queues.job_state(id_, harness.context.clock()) == ""
    harness.redis.flushall()
    assert harness.reconciler.pass_once() == 1, "an emptied Redis loses no errand"
    harness.worked(BATCH)
    errand = harness.context.job_requests.find(id_)
    assert errand is not None
    assert errand.outcome is not None
    assert errand.outcome["verified"] is True
    assert harness.context.job_requests.list_open() == []
    harness.redis.flushall()
    assert harness.reconciler.pass_once() == 0, "what is done is not done again"


def test_an_errand_that_cannot_be_done_says_why(harness: Harness) -> None:
    unknown = harness.ask("audit", "00000000-0000-0000-0000-000000000000")
    assert harness.job(unknown) == {"refused": "unknown_game"}


def test_a_fault_of_ours_ends_the_errand_too(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "audit_game", lambda *_: 1 // 0)
    assert harness.job(harness.ask("audit", harness.game())) == {"refused": "internal_error"}


def test_while_the_store_is_away_the_errand_stands(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("gone")

    id_ = harness.ask("audit", harness.game())
    with monkeypatch.context() as broken:
        broken.setattr(audits, "audit_game", away)
        assert harness.job(id_) is None
    harness.redis.flushall()
    found = harness.job(id_)
    assert found["verified"] is True


def test_long_work_does_not_stand_in_the_way_of_turns(harness: Harness) -> None:
    game = harness.game()
    harness.ask("audit", game)
    harness.submit(game, 0, 1, 2)
    harness.passed()
    harness.worked(TURNS)
    assert harness.kinds(game)[-1] == "resolved"


def test_without_redis_what_is_due_waits_as_rows(harness: Harness, caplog: pytest.LogCaptureFixture) -> None:
    game = harness.game()
    harness.submit(game, 0, 1, 2)
    harness.ask("audit", game)
    away = Queues("unix:///nowhere/socket")
    with pytest.raises(StoreUnavailable):
        away.count_workers()
    assert away.job_state("audit-x", 0) == ""
    harness.reconciler._queues = away
    assert [harness.passed() for _ in range(3)] == [0, 0, 0]
    said = [r.getMessage() for r in caplog.records if r.name == "annals.reconcile"]
    assert said == ["due work waits: the queue does not answer"], "once in a while, not at every pass"
    harness.reconciler._queues = harness.queues
    assert harness.passed() == 2


def test_workers_are_counted_by_queue(harness: Harness) -> None:
    assert harness.queues.count_workers() == {TURNS: 0, BATCH: 0}


class TestWorkersInRedis:
    """The doctor counts them."""

    @staticmethod
    def register(harness: Harness) -> RowWorker:
        worker = make_worker(harness.url, BATCH)
        worker.register_birth()  # type: ignore[no-untyped-call] # as the library has it
        return worker

    def test_a_living_worker_counts(self, harness: Harness) -> None:
        worker = self.register(harness)
        assert harness.queues.count_workers()[BATCH] == 1
        worker.heartbeat()
        assert harness.queues.count_workers() == {TURNS: 0, BATCH: 1}

    def test_a_silent_worker_does_not_count(self, harness: Harness) -> None:
        worker = self.register(harness)
        harness.redis.delete(worker.key)
        assert harness.queues.count_workers()[BATCH] == 0

    def test_a_worker_that_outlives_redis_counts_again(self, harness: Harness) -> None:
        worker = self.register(harness)
        harness.redis.flushall()
        assert harness.queues.count_workers()[BATCH] == 0
        worker.heartbeat()
        assert harness.queues.count_workers()[BATCH] == 1


class TestLeasesOfLongWork:
    """One worker at a time does it, as long as that one renews its lease."""

    @staticmethod
    def hold(harness: Harness, id_: str) -> None:
        with harness.context.views.transaction() as db:
            acquire_lease(db, f"job-{id_}", "another", harness.context.clock(), runner.LEASE_MS)

    def test_work_of_another_worker_waits_for_its_lease(self, harness: Harness) -> None:
        id_ = harness.ask("audit", harness.game())
        self.hold(harness, id_)
        assert harness.job(id_) is None
        harness.later(runner.LEASE_MS)
        assert harness.job(id_)["verified"] is True

    @pytest.mark.parametrize("work", ["audit", "rebuild"])
    def test_a_lease_is_renewed_meanwhile_and_given_back(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch, work: str
    ) -> None:
        ends: list[int] = []

        def find_end(id_: str) -> int:
            with harness.context.views.reading() as db:
                leases = schema.leases
                found = db.execute(select(leases.c.until).where(leases.c.name == f"job-{id_}")).scalars().all()
            return found[0] if found else 0

        def take_long(*_: object) -> dict[str, Any]:
            ends.append(find_end(id_))
            harness.later(runner.LEASE_MS - 1)
            until(lambda: find_end(id_) > ends[0])
            return {"verified": True, "generation": 1, "position": 1}

        monkeypatch.setattr(runner, "RENEW_SECONDS", 0.01)
        monkeypatch.setattr(audits, "audit_game", take_long)
        monkeypatch.setattr(rebuilds, "rebuild_views", take_long)
        id_ = harness.ask(work, harness.game())
        assert harness.job(id_)
        assert len(ends) == 1
        assert find_end(id_) == 0

    def test_each_period_has_an_attempt_of_its_own(self, harness: Harness) -> None:
        """Whatever became of the last one: its worker was killed, or froze, or Redis came back empty."""
        harness.time[0] = 100 * BATCH_PERIOD
        id_ = harness.ask("rebuild")
        assert [harness.reconciler.pass_once() for _ in range(3)] == [1, 0, 0]
        harness.redis.delete(f"rq:queue:{BATCH}")
        harness.later(BATCH_PERIOD)
        assert [harness.reconciler.pass_once() for _ in range(3)] == [1, 0, 0]
        harness.worked(BATCH)
        assert harness.context.job_requests.list_open() == []
        harness.context.ledger.execute("UPDATE errands SET outcome = ''")  # as in a database that came back older
        harness.later(BATCH_PERIOD)
        assert harness.reconciler.pass_once() == 1
        harness.worked(BATCH)
        found = harness.context.job_requests.find(id_)
        assert found
        assert found.outcome

    def test_the_state_of_a_long_attempt_is_known_to_its_end(self, harness: Harness) -> None:
        harness.time[0] = 1000 * BATCH_PERIOD
        id_ = harness.ask("audit", harness.game())
        harness.reconciler.pass_once()
        harness.redis.hset(f"rq:job:{id_}-1000", "status", "started")
        harness.later(BATCH_SECONDS * 1000)
        assert harness.queues.job_state(id_, harness.context.clock()) == "running"
