"""Keys of requests are bound where the write is: with its rows or not at all, and to one request."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from domain.errors import CommandReused, StaleVersion
from domain.ledger import Ledger
from domain.service.idempotency_keys import NO_GAME, IdempotencyKey
from domain.service.job_requests import JobRequest, JobRequests, new_id
from tests.contracts.context import game, record


def key(asked: str, id_: str = "key", at: int = 7) -> IdempotencyKey:
    return IdempotencyKey(id_, asked, at=at)


def append(ledger: Ledger, n: int, asked: str) -> bool:
    """Return whether a table was opened."""
    command = IdempotencyKey(f"open-{n}", asked, claim=key(asked))
    return not ledger.append(game(n), [record(1)], 0, command).replayed


class TestWithRecords:
    def test_one_request_may_store_several_games_and_another_none(self, ledger: Ledger) -> None:
        assert [append(ledger, n, "a batch") for n in (1, 2)] == [True, True]
        with pytest.raises(CommandReused):
            append(ledger, 3, "another")
        assert ledger.version(game(3)) == 0
        assert ledger.find_command(game(3), "open-3") is None
        assert not append(ledger, 1, "a batch")

    def test_what_is_refused_binds_nothing(self, ledger: Ledger) -> None:
        with pytest.raises(StaleVersion):
            ledger.append(game(), [record(5)], 4, IdempotencyKey("open", "a", claim=key("a")))
        assert append(ledger, 1, "another")

    def test_of_several_requests_at_once_one_gets_the_key(self, ledger: Ledger) -> None:
        def attempt(n: int) -> bool:
            try:
                return append(ledger, n, f"request {n}")
            except CommandReused:
                return False

        with ThreadPoolExecutor(6) as pool:
            assert sorted(pool.map(attempt, range(1, 7))) == [False] * 5 + [True]
        assert sum(ledger.version(game(n)) for n in range(1, 7)) == 1

    def test_a_hash_of_an_earlier_version_is_the_same_request(self, ledger: Ledger) -> None:
        ledger.append(game(), [record(1)], 0, IdempotencyKey("c", "hash of the command"))
        for earlier, known in (("hash of the command", True), ("another", False)):
            command = IdempotencyKey("c", "fingerprint", earlier_hash=earlier)
            if known:
                assert ledger.append(game(), [record(1)], 0, command).replayed
            else:
                with pytest.raises(CommandReused):
                    ledger.append(game(), [record(1)], 0, command)


class TestWithRows:
    def test_the_first_binds_and_its_time_is_kept(self, ledger: Ledger) -> None:
        found: list[tuple[bool, int | None]] = []
        for at in (7, 8):
            bound, new = key("a", at=at), list[bool]()
            ledger.run_in_append_order(lambda execute: new.append(bound.bind(execute)))  # noqa: B023 - run at once
            found.append((new[0], bound.first))
        assert found == [(True, None), (False, 7)]
        with pytest.raises(CommandReused):
            ledger.run_in_append_order(key("b").bind)  # type: ignore[arg-type] # its result is not needed
        assert ledger.find_command(NO_GAME, "key") is not None

    def test_a_key_of_a_command_is_none_of_a_job_and_the_other_way(self, ledger: Ledger) -> None:
        jobs = JobRequests(ledger)
        jobs.migrate()
        ledger.append(game(), [record(1)], 0, IdempotencyKey("moved", "a move"))
        asked = JobRequest(new_id("rewind", "0" * 24), "rewind", game(), 1, {}, (), 5)
        with pytest.raises(CommandReused):
            jobs.submit(asked, IdempotencyKey("moved", "a rewind", game()))
        assert jobs.find(asked.id) is None
        for _ in range(2):
            assert jobs.submit(asked, IdempotencyKey("asked", "a rewind", game())) == asked
        with pytest.raises(CommandReused):
            jobs.submit(asked, IdempotencyKey("asked", "another rewind", game()))
        with pytest.raises(CommandReused):
            ledger.append(game(), [record(2)], 1, IdempotencyKey("asked", "a move"))
        assert ledger.version(game()) == 1
