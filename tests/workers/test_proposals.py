"""Proposals as rows: enqueued when nobody is missing or the time is over, and done once."""

from __future__ import annotations

from typing import Any

import pytest

from domain.kernel.game.proposals import SILENCE_MS
from domain.kernel.game.table_commands import Leave
from domain.service.job_requests import JobRequest, new_id
from domain.service.seat_tokens import SeatTokens
from tests.workers.conftest import House
from workers.jobs import proposals
from workers.jobs.runner import SETTLED


def propose(house: House, game: str, act: Any = None, *, asked: tuple[int, ...] = (1, 2)) -> str:
    head = house.crew.ledger.version(game)
    args = {"seat": 0, "act": act or {"act": "close"}}
    request = JobRequest(new_id("proposal"), "proposal", game, head, args, asked, house.crew.clock())
    assert house.crew.job_requests.submit(request) is not None
    return request.id


def outcome(house: House, id_: str) -> Any:
    request = house.crew.job_requests.find(id_)
    assert request is not None
    return request.outcome


def test_it_is_done_once_when_all_have_agreed(house: House) -> None:
    game = house.game()
    id_ = propose(house, game)
    house.submit(game, 0, 1)
    assert house.reconciler.pass_once() == 0, "a move does not end it"
    for seat in (1, 2):
        house.crew.job_requests.consent(id_, seat, agrees=True)
    assert [house.reconciler.pass_once() for _ in range(2)] == [1, 0]
    house.worked()
    assert house.kinds(game)[-1] == "closed"
    version = house.crew.ledger.version(game)
    assert outcome(house, id_)["version"] == version
    assert proposals.run_proposal(id_) == SETTLED
    assert house.crew.ledger.version(game) == version


def test_after_a_week_the_silent_have_no_vote(house: House) -> None:
    game = house.game()
    id_ = propose(house, game)
    house.crew.job_requests.consent(id_, 1, agrees=True)
    house.later(SILENCE_MS - 1)
    assert house.reconciler.pass_once() == 0
    house.later(1)
    assert house.reconciler.pass_once() == 1
    house.worked()
    record = house.crew.ledger.read(game)[-1]
    assert (record.kind, record.body["agreed"]) == ("closed", {"seat": 0, "consent": [1], "silent": [2]})


def test_a_seat_that_is_vacant_by_now_has_no_vote(house: House) -> None:
    """Nobody waits a week for a player who has left, or has missed too many deadlines."""
    game = house.game()
    id_ = propose(house, game)
    house.crew.job_requests.consent(id_, 1, agrees=True)
    assert house.reconciler.pass_once() == 0
    house.crew.commands.handle(game, Leave(2))
    house.pumping.catch_up()
    assert house.reconciler.pass_once() == 1
    house.worked()
    record = house.crew.ledger.read(game)[-1]
    assert (record.kind, record.body["agreed"]) == ("closed", {"seat": 0, "consent": [1]})


def test_who_has_come_meanwhile_has_a_vote(house: House) -> None:
    """The votes are counted again when the command is executed."""
    game = house.game()
    id_ = propose(house, game, asked=(1,))
    house.crew.job_requests.consent(id_, 1, agrees=True)
    assert house.reconciler.pass_once() == 1
    house.worked()
    assert outcome(house, id_) == {"refused": "consent_missing"}


@pytest.mark.parametrize("declined", [True, False])
def test_a_removed_players_token_opens_nothing(house: House, declined: bool) -> None:
    game, tokens = house.game(), SeatTokens(house.crew.ledger, house.crew.ledger.keys)
    tokens.migrate()
    token = tokens.make_token().token
    house.crew.ledger.execute(*tokens.issue(game, 1, "p1", token)[0])
    id_ = propose(house, game, {"act": "remove", "seat": 1})
    for seat in (1, 2):
        house.crew.job_requests.consent(id_, seat, agrees=not (declined and seat == 2))
    assert house.reconciler.pass_once() == 1
    house.worked()
    left = house.crew.commands.game(game).players[1].id == ""
    assert left is not declined
    assert (tokens.authenticate(token) is None) is left
    assert ("refused" in outcome(house, id_)) is declined
