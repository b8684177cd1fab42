"""Work that is asked for: audits, rebuilds, and what is told of a job."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from domain.catalogue import Catalogue
from domain.errors import StoreUnavailable
from projections import schema
from projections.pump import Pump
from tests.kernel.flows import orders
from tests.workers.conftest import House
from workers import audits, turns
from workers.queues import BATCH, TURNS, Queues


def rows(house: House) -> dict[str, list[tuple[object, ...]]]:
    """All views, whatever their generation is called."""
    tables = (schema.games, schema.boards, schema.timeline, schema.due, schema.results, schema.leaves, schema.nodes)
    with house.crew.views.reading() as db:
        return {
            t.name: sorted(tuple(row)[1:] for row in db.execute(select(t)))  # the first column is the generation
            for t in tables
        }


def test_an_audit_of_a_running_game_decides_every_record_again(house: House) -> None:
    game = house.game()
    turns.resolve(game, house.submit(game, 0, 1, 2))
    found = house.job(house.queues.audit(game))
    assert found["verified"] is True
    assert found["closed"] is False
    assert found["decided"] == found["records"] == 9
    assert found["draws"] == len(orders.PLACES)


def test_an_audit_of_a_closed_game_is_the_offline_proof(house: House) -> None:
    game = house.game(options={"turns": 1})
    turns.resolve(game, house.submit(game, 0, 1, 2))
    found = house.job(house.queues.audit(game))
    assert found["closed"] is True
    assert found["decided"] == found["records"]


def test_a_fault_is_named_without_what_is_secret(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    game = house.game()
    other = house.game()
    monkeypatch.setattr(house.crew.vault, "seed", lambda _: b"x" * 32)
    assert audits.audit(game) == {"verified": False, "game": game, "code": "record_mismatch", "version": 1}
    assert audits.audit(other)["verified"] is False


def test_a_rebuild_gives_the_same_views_and_the_pump_goes_on_at_once(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 60}})
    house.submit(game, 0)
    house.passed()
    before = rows(house)
    assert house.job(house.queues.rebuild()) == {"generation": 2, "position": 6}
    assert rows(house) == before
    house.submit(game, 1)
    assert house.pumping.catch_up()
    assert house.reader.position() == 7


def test_a_rebuild_brings_back_a_game_that_was_set_aside(house: House) -> None:
    game = house.game()
    blind = Pump(house.crew.ledger, Catalogue([]), house.crew.views, house.crew.node)
    blind.run(house.crew.clock())
    assert house.reader.game(game) is None
    house.job(house.queues.rebuild())
    assert house.reader.game(game) is not None
    with house.crew.views.reading() as db:
        assert db.execute(select(schema.aside)).all() == []


def test_a_slice_of_games_set_aside_does_not_stop_the_pump(house: House) -> None:
    house.game()
    blind = Pump(house.crew.ledger, Catalogue([]), house.crew.views, house.crew.node)
    blind.run(house.crew.clock())
    house.crew.commands.leave(house.game(), 0)
    house.pumping.catch_up()
    assert house.reader.position() == 11


def test_a_job_is_told_from_queued_to_finished(house: House) -> None:
    game = house.game()
    id_ = house.queues.audit(game)
    queued = house.queues.status(id_)
    assert queued is not None
    assert (queued.work, queued.status, queued.game, queued.result) == ("audit", "queued", game, None)
    house.worked(BATCH)
    finished = house.queues.status(id_)
    assert finished is not None
    assert finished.status == "finished"
    assert house.queues.status("audit-unknown") is None


def test_a_job_that_cannot_be_done_has_failed(house: House) -> None:
    id_ = house.queues.audit("00000000-0000-0000-0000-000000000000")
    house.worked(BATCH)
    found = house.queues.status(id_)
    assert found is not None
    assert (found.status, found.result) == ("failed", None)


def test_long_work_does_not_stand_in_the_way_of_turns(house: House) -> None:
    game = house.game()
    house.queues.audit(game)
    house.submit(game, 0, 1, 2)
    house.passed()
    house.worked(TURNS)
    assert house.kinds(game)[-1] == "resolved"


def test_without_redis_asking_is_an_error_and_due_work_waits(house: House) -> None:
    game = house.game()
    house.submit(game, 0, 1, 2)
    away = Queues("unix:///nowhere/socket")
    for ask in (away.rebuild, lambda: away.audit(game), lambda: away.status("x"), away.workers):
        with pytest.raises(StoreUnavailable):
            ask()
    house.reconciler._queues = away
    assert house.passed() == 0
    house.reconciler._queues = house.queues
    assert house.passed() == 1


def test_workers_are_counted_by_queue(house: House) -> None:
    assert house.queues.workers() == {TURNS: 0, BATCH: 0}
