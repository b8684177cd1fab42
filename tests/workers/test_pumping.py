"""How a pump comes to the end of the log: slice by slice, and no further than there is anything to read."""

from __future__ import annotations

from contextlib import suppress

import pytest

from domain.errors import StoreUnavailable, ViewsDamaged
from projections import delayed_views
from projections.leases import LEASE, LeaseLostError
from projections.projector import Projector
from projections.reader import Reader
from projections.view_store import PreparedStatement
from projections.viewer_history import ViewerHistory
from tests.projections.conftest import CATALOGUE
from tests.workers.conftest import Harness
from workers.job_calls import BATCH
from workers.projector_process import MAX_WAIT


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """How many records each slice had that was taken; None for one in which there was nothing to do."""
    taken: list[int | None] = []
    run = Projector.run

    def counted(pump: Projector, now: int) -> object:
        found = run(pump, now)
        taken.append(found and found.records)
        return found

    monkeypatch.setattr(Projector, "run", counted)
    return taken


def test_what_fits_into_one_slice_is_read_at_once(harness: Harness, slices: list[int | None]) -> None:
    game = harness.game()
    assert harness.pumping.catch_up()
    assert slices == [harness.context.ledger.version(game)]
    assert harness.reader.read_position() == len(harness.context.ledger.log(0, 100))
    assert not harness.pumping.catch_up()


@pytest.mark.parametrize("more", [0, 1])
def test_a_log_of_several_slices_is_read_to_its_end(
    harness: Harness, slices: list[int | None], monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    """Also where the last one is full."""
    game = harness.game()
    version = harness.context.ledger.version(game)
    monkeypatch.setattr("projections.projector.SLICE", (version - more) // 2)
    monkeypatch.setattr("projections.projector.MAX_SLICES", 1)
    harness.pumping.catch_up()
    assert sum(records or 0 for records in slices) == version
    assert harness.reader.shown_versions(game) == {"all": version}


@pytest.mark.parametrize("harness", ["postgresql"], indirect=True)
def test_log_that_came_back_shorter_keeps_no_pump_from_its_work(harness: Harness) -> None:
    """As from a standby that lagged, where others pump too: it would wait for records that are lost."""
    other = Projector(ViewerHistory(harness.context.ledger, CATALOGUE, harness.context.views), "other")
    harness.game()
    harness.pumping.catch_up()
    for _ in range(8):
        with suppress(LeaseLostError):
            other.run(harness.time[0])
        harness.time[0] += LEASE // 4
        harness.pumping.catch_up()
    held = harness.pumping._projector.lease
    assert held
    assert held.has_tree
    assert not held.has_all
    harness.pumping._position += 1000
    harness.pumping._run_upkeep()
    assert harness.pumping._position == harness.reader.read_position()
    harness.pumping._catch_up_all()


def test_what_comes_after_the_last_look_is_rung_for(harness: Harness) -> None:
    harness.signals.wait_appended(MAX_WAIT)
    game = harness.game()
    harness.pumping.catch_up()
    harness.submit(game, 0)
    harness.signals.notify_appended(1)
    harness.pumping.run_once()
    harness.pumping.run_once()
    assert harness.reader.shown_versions(game) == {"all": harness.context.ledger.version(game)}


def test_more_tables_than_a_slice_are_shown_at_their_time(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delayed_views, "MAX_GAMES", 2)
    monkeypatch.setattr(delayed_views, "FIND_DUE", PreparedStatement(delayed_views._DUE_ROWS.suffix_with("LIMIT 2")))
    games = [harness.game(delay=60) for _ in range(5)]
    harness.pumping.catch_up()
    before = [harness.reader.shown_versions(game)["public"] for game in games]
    harness.later(60_000)
    harness.game()  # a slice that has records besides
    harness.pumping.catch_up()
    after = [harness.reader.shown_versions(game)["public"] for game in games]
    assert after == [harness.context.ledger.version(game) for game in games] != before


def test_a_store_that_does_not_answer_fills_no_log(
    harness: Harness, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        if turns == 5:
            harness.pumping.stop()
        raise StoreUnavailable("gone")

    monkeypatch.setattr(harness.pumping, "run_once", turn)
    harness.pumping.run()
    assert [r.getMessage() for r in caplog.records if r.name == "annals.pump"] == ["the store does not answer: gone"]


def test_long_work_is_handed_out_though_due_work_is_unread(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a page of it is damaged: whoever has asked for a rebuild is told that it fails."""

    def damaged(*_: object, **__: object) -> None:
        raise ViewsDamaged("the views: database disk image is malformed")

    game = harness.game()
    harness.pumping.catch_up()
    id_ = harness.ask("audit", game)
    monkeypatch.setattr(Reader, "list_due", damaged)
    with pytest.raises(ViewsDamaged):
        harness.pumping._run_upkeep()
    assert harness.worked(BATCH)
    found = harness.context.job_requests.find(id_)
    assert found
    assert found.outcome
