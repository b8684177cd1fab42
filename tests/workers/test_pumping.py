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
from tests.workers.conftest import House
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


def test_what_fits_into_one_slice_is_read_at_once(house: House, slices: list[int | None]) -> None:
    game = house.game()
    assert house.pumping.catch_up()
    assert slices == [house.crew.ledger.version(game)]
    assert house.reader.read_position() == len(house.crew.ledger.log(0, 100))
    assert not house.pumping.catch_up()


@pytest.mark.parametrize("more", [0, 1])
def test_a_log_of_several_slices_is_read_to_its_end(
    house: House, slices: list[int | None], monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    """Also where the last one is full."""
    game = house.game()
    version = house.crew.ledger.version(game)
    monkeypatch.setattr("projections.projector.SLICE", (version - more) // 2)
    monkeypatch.setattr("projections.projector.MAX_SLICES", 1)
    house.pumping.catch_up()
    assert sum(records or 0 for records in slices) == version
    assert house.reader.shown_versions(game) == {"all": version}


@pytest.mark.parametrize("house", ["postgresql"], indirect=True)
def test_log_that_came_back_shorter_keeps_no_pump_from_its_work(house: House) -> None:
    """As from a standby that lagged, where others pump too: it would wait for records that are lost."""
    other = Projector(ViewerHistory(house.crew.ledger, CATALOGUE, house.crew.views), "other")
    house.game()
    house.pumping.catch_up()
    for _ in range(8):
        with suppress(LeaseLostError):
            other.run(house.time[0])
        house.time[0] += LEASE // 4
        house.pumping.catch_up()
    held = house.pumping._projector.lease
    assert held
    assert held.has_tree
    assert not held.has_all
    house.pumping._position += 1000
    house.pumping._run_upkeep()
    assert house.pumping._position == house.reader.read_position()
    house.pumping._catch_up_all()


def test_what_comes_after_the_last_look_is_rung_for(house: House) -> None:
    house.bell.wait_appended(MAX_WAIT)
    game = house.game()
    house.pumping.catch_up()
    house.submit(game, 0)
    house.bell.notify_appended(1)
    house.pumping.run_once()
    house.pumping.run_once()
    assert house.reader.shown_versions(game) == {"all": house.crew.ledger.version(game)}


def test_more_tables_than_a_slice_are_shown_at_their_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delayed_views, "MAX_GAMES", 2)
    monkeypatch.setattr(delayed_views, "FIND_DUE", PreparedStatement(delayed_views._DUE_ROWS.suffix_with("LIMIT 2")))
    games = [house.game(delay=60) for _ in range(5)]
    house.pumping.catch_up()
    before = [house.reader.shown_versions(game)["public"] for game in games]
    house.later(60_000)
    house.game()  # a slice that has records besides
    house.pumping.catch_up()
    after = [house.reader.shown_versions(game)["public"] for game in games]
    assert after == [house.crew.ledger.version(game) for game in games] != before


def test_a_store_that_does_not_answer_fills_no_log(
    house: House, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        if turns == 5:
            house.pumping.stop()
        raise StoreUnavailable("gone")

    monkeypatch.setattr(house.pumping, "run_once", turn)
    house.pumping.run()
    assert [r.getMessage() for r in caplog.records if r.name == "annals.pump"] == ["the store does not answer: gone"]


def test_long_work_is_handed_out_though_due_work_is_unread(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a page of it is damaged: whoever has asked for a rebuild is told that it fails."""

    def damaged(*_: object, **__: object) -> None:
        raise ViewsDamaged("the views: database disk image is malformed")

    game = house.game()
    house.pumping.catch_up()
    id_ = house.ask("audit", game)
    monkeypatch.setattr(Reader, "list_due", damaged)
    with pytest.raises(ViewsDamaged):
        house.pumping._run_upkeep()
    assert house.worked(BATCH)
    found = house.crew.job_requests.find(id_)
    assert found
    assert found.outcome
