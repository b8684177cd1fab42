"""Rewinds and motions as rows: done once, by the log, whatever is lost on the way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from domain.errors import StoreUnavailable
from domain.kernel.game.proposals import SILENCE_MS
from domain.service.job_requests import JobRequest, new_id
from tests.workers.conftest import Harness
from workers.jobs import rewinds
from workers.jobs.runner import SETTLED, WAITS


def wished(harness: Harness, game: str, to: int, seat: int | None = None, *asked: int, **more: Any) -> JobRequest:
    """A rewind that somebody asks for on the newest version."""
    args = {"to": to, "seat": seat, "fresh": False, "reason": "", "undone": [], "draws": []} | more
    head = harness.context.ledger.version(game)
    return JobRequest(new_id("rewind"), "rewind", game, head, args, tuple(asked), harness.context.clock())


def told(harness: Harness, id_: str) -> Any:
    errand = harness.context.job_requests.find(id_)
    assert errand is not None
    return errand.outcome


def filed(harness: Harness) -> tuple[str, int]:
    """A game in which all but one have handed in their sheets; the version at its start."""
    game = harness.game()
    before = harness.context.ledger.version(game)
    harness.submit(game, 0, 1)
    return game, before


def test_it_is_enqueued_from_its_row_and_done_once(harness: Harness) -> None:
    game, before = filed(harness)
    errand = harness.context.job_requests.submit(wished(harness, game, before))
    assert errand is not None
    assert [harness.reconciler.pass_once() for _ in range(2)] == [1, 0]
    harness.redis.flushall()
    assert harness.reconciler.pass_once() == 1
    harness.worked()
    assert harness.kinds(game) == ["moved", "moved", "rewound"]
    assert told(harness, errand.id)["version"] == before + 3
    assert harness.rung[-1] == told(harness, errand.id)["position"]
    assert rewinds.run_rewind(errand.id) == SETTLED
    assert harness.reconciler.pass_once() == 0
    assert harness.kinds(game)[-1] == "rewound"
    assert harness.context.ledger.version(game) == before + 3


def test_a_worker_that_dies_after_the_append_is_told_by_the_log(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, before = filed(harness)
    errand = harness.context.job_requests.submit(wished(harness, game, before))
    assert errand is not None

    def dies(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as deadly:
        deadly.setattr("domain.service.job_requests.JobRequests.record_outcome", dies)
        with pytest.raises(KeyboardInterrupt):
            rewinds.run_rewind(errand.id)
    harness.submit(game, 2)
    assert told(harness, errand.id) is None
    assert rewinds.run_rewind(errand.id) == SETTLED
    assert told(harness, errand.id)["version"] == before + 3
    assert harness.kinds(game) == ["moved", "moved", "rewound", "moved"]


def test_a_move_that_came_in_between_wins(harness: Harness) -> None:
    game, before = filed(harness)
    errand = harness.context.job_requests.submit(wished(harness, game, before))
    assert errand is not None
    harness.submit(game, 2)
    head = harness.context.ledger.version(game)
    rewinds.run_rewind(errand.id)
    assert told(harness, errand.id) == {"refused": "stale_version", "version": head}
    assert harness.context.ledger.version(game) == head


def test_a_motion_waits_for_the_last_consent(harness: Harness) -> None:
    game, before = filed(harness)
    motion = harness.context.job_requests.submit(wished(harness, game, before, 0, 1, 2))
    assert motion is not None
    harness.passed()
    assert harness.reconciler.pass_once() == 0, "there is nothing to do yet"
    harness.context.job_requests.consent(motion.id, 1, agrees=True)
    assert rewinds.run_rewind(motion.id) == WAITS
    harness.context.job_requests.consent(motion.id, 2, agrees=True)
    assert harness.reconciler.pass_once() == 1
    harness.worked()
    last = harness.context.ledger.read(game)[-1]
    assert (last.kind, last.body["consent"], last.public["by"]) == ("rewound", [1, 2], "seat")


@pytest.mark.parametrize("end", ["declined", "moved on", "out of time"])
def test_a_motion_that_is_over_is_settled_and_makes_room(harness: Harness, end: str) -> None:
    game, before = filed(harness)
    motion = harness.context.job_requests.submit(wished(harness, game, before, 0, 1, 2))
    assert motion is not None
    if end == "declined":
        harness.context.job_requests.consent(motion.id, 1, agrees=False)
        harness.context.job_requests.consent(motion.id, 1, agrees=True)
    elif end == "moved on":
        harness.submit(game, 2)
    else:
        harness.context.job_requests.consent(motion.id, 1, agrees=True)
        harness.later(SILENCE_MS - 1)
        assert harness.reconciler.pass_once() == 0
        harness.later(1)
    assert harness.passed() >= 1
    harness.worked()
    refusals = {"declined": "declined", "moved on": "stale_version", "out of time": "motion_expired"}
    assert told(harness, motion.id)["refused"] == refusals[end]
    assert harness.context.job_requests.submit(wished(harness, game, before, 1, 0, 2)) is not None


def test_of_many_motions_at_once_one_is_opened(harness: Harness) -> None:
    game, before = filed(harness)
    motions = [wished(harness, game, before, seat, *({0, 1, 2} - {seat})) for seat in (0, 1, 2) for _ in range(3)]
    with ThreadPoolExecutor(9) as threads:
        opened = list(threads.map(harness.context.job_requests.submit, motions))
    assert len([m for m in opened if m is not None]) == 1
    assert len(harness.context.job_requests.list_rewinds(game, 10)) == 1


def test_free_rewinds_stand_in_nobodys_way(harness: Harness) -> None:
    game, before = filed(harness)
    found = [harness.context.job_requests.submit(wished(harness, game, before)) for _ in range(3)]
    assert all(found)
    for errand in harness.context.job_requests.list_open():
        rewinds.run_rewind(errand.id)
    outcomes = [told(harness, e.id) for e in found if e]
    assert ["refused" in o for o in outcomes].count(False) == 1, "one was first, the others came too late"


def test_while_the_store_is_away_the_request_stands(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    game, before = filed(harness)
    errand = harness.context.job_requests.submit(wished(harness, game, before))
    assert errand is not None

    def away(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as broken:
        broken.setattr(harness.context.ledger, "append", away)
        with pytest.raises(StoreUnavailable):
            rewinds.run_rewind(errand.id)
    assert told(harness, errand.id) is None
    rewinds.run_rewind(errand.id)
    assert told(harness, errand.id)["version"] == before + 3
