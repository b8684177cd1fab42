"""The log is read against its tree in rounds that a restart does not begin anew; work on damaged games stops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.service.corruption import CorruptRecords
from projections.leases import LeaseLostError, load_progress
from tests import damage
from tests.damage import UNREADABLE
from tests.workers.conftest import Harness
from workers.maintenance.corruption_handler import CorruptionHandler
from workers.maintenance.scrubbing import LEASE_NAME, REST_MS, SAVE_MS, Scrubber


def spoil(harness: Harness, game: str, version: int, state: bytes = UNREADABLE) -> bytes:
    """The stored bytes become others; those that they were."""
    return damage.spoil(harness.context.ledger, game, version, state)


@pytest.fixture
def games(harness: Harness) -> list[str]:
    """Two games, ten records."""
    found = [harness.game() for _ in range(2)]
    harness.pumping.catch_up()
    return found


def test_so_many_records_in_a_step_and_a_round_that_is_measured(harness: Harness, games: list[str]) -> None:
    scrub = Scrubber(harness.context, 20)
    for seen in (4, 8, 10):
        scrub.step()
        harness.time[0] += SAVE_MS
        assert load_progress(harness.context.views, LEASE_NAME)["leaf"] in (seen, 0 if seen == 4 else seen - 4)
    doc = load_progress(harness.context.views, LEASE_NAME)
    assert (doc["ended"], doc["took"], doc["leaf"], doc["pages"]) == (True, 2 * SAVE_MS, 10, 0)
    scrub.step()
    assert load_progress(harness.context.views, LEASE_NAME)["ended"], "it rests"
    harness.time[0] += REST_MS
    scrub.step()
    scrub.step()
    assert load_progress(harness.context.views, LEASE_NAME)["took"] == 2 * SAVE_MS, "of the last whole round"


def test_a_restart_goes_on_where_it_was_written_down_last(harness: Harness, games: list[str]) -> None:
    first = Scrubber(harness.context, 20)
    first.step()
    harness.time[0] += SAVE_MS
    first.step()
    spoil(harness, games[0], 1)
    spoil(harness, games[1], 5)
    again = Scrubber(harness.context, 20)
    again.step()
    assert [(d.game, d.version) for d in CorruptRecords(harness.context.ledger).list_all()] == [(games[1], 5)], (
        "the first slice is past"
    )


def test_one_works_and_others_stand_by(harness: Harness, games: list[str]) -> None:
    Scrubber(harness.context, 20).step()
    other = Scrubber(replace(harness.context, node="other"), 20)
    with pytest.raises(LeaseLostError):
        other.step()
    harness.time[0] += 60_000
    other.discard_progress()
    other.step()


def test_what_is_put_right_is_found_out_at_the_end_of_a_round(harness: Harness, games: list[str]) -> None:
    before = spoil(harness, games[0], 2)
    scrub = Scrubber(harness.context, 1000)
    scrub.step()
    assert harness.context.inspector.inspect(games[0]) == 2
    spoil(harness, games[0], 2, before)
    harness.time[0] += REST_MS
    scrub.step()
    assert CorruptRecords(harness.context.ledger).list_all() == []


def test_no_work_is_done_on_it_and_the_pump_goes_on(harness: Harness) -> None:
    """Its turn is due, and its deadline was missed in an outage: others are played all the same."""
    bad, good = (harness.game(pace={"seconds": {"turn": 60}}) for _ in range(2))
    for game in (bad, good):
        harness.submit(game, 0, 1, 2)
    harness.pumping.catch_up()
    harness.context.commands._recent._reset()
    spoil(harness, bad, 4)
    harness.reconciler.pass_once()
    harness.worked()
    CorruptionHandler(harness.context, harness.pumping._projector).update_views()
    harness.pumping.catch_up()
    assert [row.game for row in harness.reader.list_due(harness.time[0] + 10**9)] == [good]
    assert "resolved" in harness.kinds(good)
    harness.context.heartbeat.beat(harness.time[0])
    harness.down(1_000_000)
    harness.context.heartbeat.beat(harness.time[0])
    harness.pumping._outage_recovery.recover()


def test_an_audit_names_it_and_stops_the_game(harness: Harness, games: list[str]) -> None:
    spoil(harness, games[0], 3)
    id_ = harness.ask("audit", games[0])
    assert harness.job(id_) == {"verified": False, "game": games[0], "code": "unreadable", "version": 3}
    assert CorruptRecords(harness.context.ledger).first_version(games[0]) == 3


def test_outage_does_not_end_pump_over_game_that_cannot_be_read(harness: Harness) -> None:
    bad = harness.game(pace={"seconds": {"turn": 60}})
    harness.pumping.catch_up()
    harness.context.heartbeat.beat(harness.time[0])
    harness.down(1_000_000)
    harness.context.heartbeat.beat(harness.time[0])
    spoil(harness, bad, 2)
    harness.context.commands._recent._reset()
    harness.pumping._outage_recovery.recover()
    assert CorruptRecords(harness.context.ledger).first_version(bad) == 2
    assert harness.context.heartbeat.list_unresolved() == []


def test_views_are_not_made_anew_without_record_that_is_missing(harness: Harness, games: list[str]) -> None:
    """Heads of before would not go on in their tree; a record that cannot be read has its hash there."""
    head = harness.reader.proofs.head()
    before = spoil(harness, games[0], 2)
    assert harness.context.inspector.inspect(games[0]) == 2
    assert "generation" in harness.job(harness.ask("rebuild"))
    assert harness.reader.proofs.head() == head
    spoil(harness, games[0], 2, before)
    damage.spoil(harness.context.ledger, games[1], 3, None)
    assert harness.context.inspector.inspect(games[1]) == 3
    assert harness.job(harness.ask("rebuild")) == {"refused": "record_damaged"}
    assert harness.reader.proofs.head() == head
