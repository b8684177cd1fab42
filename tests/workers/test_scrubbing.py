"""The log is read against its tree in rounds that a restart does not begin anew; work on damaged games stops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.service.corruption import CorruptRecords
from projections.leases import LeaseLostError, load_progress
from tests import damage
from tests.damage import UNREADABLE
from tests.workers.conftest import House
from workers.maintenance.corruption_handler import CorruptionHandler
from workers.maintenance.scrubbing import LEASE_NAME, REST_MS, SAVE_MS, Scrubber


def spoil(house: House, game: str, version: int, state: bytes = UNREADABLE) -> bytes:
    """The stored bytes become others; those that they were."""
    return damage.spoil(house.crew.ledger, game, version, state)


@pytest.fixture
def games(house: House) -> list[str]:
    """Two games, ten records."""
    found = [house.game() for _ in range(2)]
    house.pumping.catch_up()
    return found


def test_so_many_records_in_a_step_and_a_round_that_is_measured(house: House, games: list[str]) -> None:
    scrub = Scrubber(house.crew, 20)
    for seen in (4, 8, 10):
        scrub.step()
        house.time[0] += SAVE_MS
        assert load_progress(house.crew.views, LEASE_NAME)["leaf"] in (seen, 0 if seen == 4 else seen - 4)
    doc = load_progress(house.crew.views, LEASE_NAME)
    assert (doc["ended"], doc["took"], doc["leaf"], doc["pages"]) == (True, 2 * SAVE_MS, 10, 0)
    scrub.step()
    assert load_progress(house.crew.views, LEASE_NAME)["ended"], "it rests"
    house.time[0] += REST_MS
    scrub.step()
    scrub.step()
    assert load_progress(house.crew.views, LEASE_NAME)["took"] == 2 * SAVE_MS, "of the last whole round"


def test_a_restart_goes_on_where_it_was_written_down_last(house: House, games: list[str]) -> None:
    first = Scrubber(house.crew, 20)
    first.step()
    house.time[0] += SAVE_MS
    first.step()
    spoil(house, games[0], 1)
    spoil(house, games[1], 5)
    again = Scrubber(house.crew, 20)
    again.step()
    assert [(d.game, d.version) for d in CorruptRecords(house.crew.ledger).list_all()] == [(games[1], 5)], (
        "the first slice is past"
    )


def test_one_works_and_others_stand_by(house: House, games: list[str]) -> None:
    Scrubber(house.crew, 20).step()
    other = Scrubber(replace(house.crew, node="other"), 20)
    with pytest.raises(LeaseLostError):
        other.step()
    house.time[0] += 60_000
    other.discard_progress()
    other.step()


def test_what_is_put_right_is_found_out_at_the_end_of_a_round(house: House, games: list[str]) -> None:
    before = spoil(house, games[0], 2)
    scrub = Scrubber(house.crew, 1000)
    scrub.step()
    assert house.crew.inspector.inspect(games[0]) == 2
    spoil(house, games[0], 2, before)
    house.time[0] += REST_MS
    scrub.step()
    assert CorruptRecords(house.crew.ledger).list_all() == []


def test_no_work_is_done_on_it_and_the_pump_goes_on(house: House) -> None:
    """Its turn is due, and its deadline was missed in an outage: others are played all the same."""
    bad, good = (house.game(pace={"seconds": {"turn": 60}}) for _ in range(2))
    for game in (bad, good):
        house.submit(game, 0, 1, 2)
    house.pumping.catch_up()
    house.crew.commands._recent._reset()
    spoil(house, bad, 4)
    house.reconciler.pass_once()
    house.worked()
    CorruptionHandler(house.crew, house.pumping._projector).update_views()
    house.pumping.catch_up()
    assert [row.game for row in house.reader.list_due(house.time[0] + 10**9)] == [good]
    assert "resolved" in house.kinds(good)
    house.crew.heartbeat.beat(house.time[0])
    house.down(1_000_000)
    house.crew.heartbeat.beat(house.time[0])
    house.pumping._outage_recovery.recover()


def test_an_audit_names_it_and_stops_the_game(house: House, games: list[str]) -> None:
    spoil(house, games[0], 3)
    id_ = house.ask("audit", games[0])
    assert house.job(id_) == {"verified": False, "game": games[0], "code": "unreadable", "version": 3}
    assert CorruptRecords(house.crew.ledger).first_version(games[0]) == 3


def test_outage_does_not_end_pump_over_game_that_cannot_be_read(house: House) -> None:
    bad = house.game(pace={"seconds": {"turn": 60}})
    house.pumping.catch_up()
    house.crew.heartbeat.beat(house.time[0])
    house.down(1_000_000)
    house.crew.heartbeat.beat(house.time[0])
    spoil(house, bad, 2)
    house.crew.commands._recent._reset()
    house.pumping._outage_recovery.recover()
    assert CorruptRecords(house.crew.ledger).first_version(bad) == 2
    assert house.crew.heartbeat.list_unresolved() == []


def test_views_are_not_made_anew_without_record_that_is_missing(house: House, games: list[str]) -> None:
    """Heads of before would not go on in their tree; a record that cannot be read has its hash there."""
    head = house.reader.proofs.head()
    before = spoil(house, games[0], 2)
    assert house.crew.inspector.inspect(games[0]) == 2
    assert "generation" in house.job(house.ask("rebuild"))
    assert house.reader.proofs.head() == head
    spoil(house, games[0], 2, before)
    damage.spoil(house.crew.ledger, games[1], 3, None)
    assert house.crew.inspector.inspect(games[1]) == 3
    assert house.job(house.ask("rebuild")) == {"refused": "record_damaged"}
    assert house.reader.proofs.head() == head
