"""Proposals as rows: enqueued when nobody is missing or the time is over, and done once."""

from __future__ import annotations

from typing import Any

import pytest

from domain.kernel.game.proposals import SILENCE_MS
from domain.kernel.game.table_commands import Leave
from domain.service.job_requests import JobRequest, new_id
from domain.service.seat_tokens import SeatTokens
from tests.workers.conftest import Harness
from workers.jobs import proposals
from workers.jobs.runner import SETTLED


def propose(harness: Harness, game: str, act: Any = None, *, asked: tuple[int, ...] = (1, 2)) -> str:
    head = harness.context.ledger.version(game)
    args = {"seat": 0, "act": act or {"act": "close"}}
    request = JobRequest(new_id("proposal"), "proposal", game, head, args, asked, harness.context.clock())
    assert harness.context.job_requests.submit(request) is not None
    return request.id


def outcome(harness: Harness, id_: str) -> Any:
    request = harness.context.job_requests.find(id_)
    assert request is not None
    return request.outcome


def test_it_is_done_once_when_all_have_agreed(harness: Harness) -> None:
    game = harness.game()
    id_ = propose(harness, game)
    harness.submit(game, 0, 1)
    assert harness.reconciler.pass_once() == 0, "a move does not end it"
    for seat in (1, 2):
        harness.context.job_requests.consent(id_, seat, agrees=True)
    assert [harness.reconciler.pass_once() for _ in range(2)] == [1, 0]
    harness.worked()
    assert harness.kinds(game)[-1] == "closed"
    version = harness.context.ledger.version(game)
    assert outcome(harness, id_)["version"] == version
    assert proposals.run_proposal(id_) == SETTLED
    assert harness.context.ledger.version(game) == version


def test_after_a_week_the_silent_have_no_vote(harness: Harness) -> None:
    game = harness.game()
    id_ = propose(harness, game)
    harness.context.job_requests.consent(id_, 1, agrees=True)
    harness.later(SILENCE_MS - 1)
    assert harness.reconciler.pass_once() == 0
    harness.later(1)
    assert harness.reconciler.pass_once() == 1
    harness.worked()
    record = harness.context.ledger.read(game)[-1]
    assert (record.kind, record.body["agreed"]) == ("closed", {"seat": 0, "consent": [1], "silent": [2]})


def test_a_seat_that_is_vacant_by_now_has_no_vote(harness: Harness) -> None:
    """Nobody waits a week for a player who has left, or has missed too many deadlines."""
    game = harness.game()
    id_ = propose(harness, game)
    harness.context.job_requests.consent(id_, 1, agrees=True)
    assert harness.reconciler.pass_once() == 0
    harness.context.commands.handle(game, Leave(2))
    harness.pumping.catch_up()
    assert harness.reconciler.pass_once() == 1
    harness.worked()
    record = harness.context.ledger.read(game)[-1]
    assert (record.kind, record.body["agreed"]) == ("closed", {"seat": 0, "consent": [1]})


def test_who_has_come_meanwhile_has_a_vote(harness: Harness) -> None:
    """The votes are counted again when the command is executed."""
    game = harness.game()
    id_ = propose(harness, game, asked=(1,))
    harness.context.job_requests.consent(id_, 1, agrees=True)
    assert harness.reconciler.pass_once() == 1
    harness.worked()
    assert outcome(harness, id_) == {"refused": "consent_missing"}


@pytest.mark.parametrize("declined", [True, False])
def test_a_removed_players_token_opens_nothing(harness: Harness, declined: bool) -> None:
    game, tokens = harness.game(), SeatTokens(harness.context.ledger, harness.context.ledger.keys)
    tokens.migrate()
    token = tokens.make_token().token
    harness.context.ledger.execute(*tokens.issue(game, 1, "p1", token)[0])
    id_ = propose(harness, game, {"act": "remove", "seat": 1})
    for seat in (1, 2):
        harness.context.job_requests.consent(id_, seat, agrees=not (declined and seat == 2))
    assert harness.reconciler.pass_once() == 1
    harness.worked()
    left = harness.context.commands.game(game).players[1].id == ""
    assert left is not declined
    assert (tokens.authenticate(token) is None) is left
    assert ("refused" in outcome(harness, id_)) is declined
