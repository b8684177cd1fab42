"""Treaties, their answers and disclosures in the tables of talk, over every store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.errors import RuleError
from domain.talk.disclosures import Disclosures
from domain.talk.talk_store import Post, TreatyAnswer
from tests.talk.conftest import TalkingTable, ledger, line, postgres_server, postgres_url, table, url

__all__ = ["ledger", "line", "postgres_server", "postgres_url", "table", "url"]


def post_of(table: TalkingTable, seat: int, *seats: int) -> Post:
    """A letter without words between these seats."""
    head = table.ledger.read(table.game)[-1]
    table.now += 60_000
    holders = {each: f"bot-heuristic-{each}" if each == 2 else f"p{each}" for each in seats}
    where = "-".join(map(str, seats))
    return Post(table.game, seat, holders[seat], where, holders, 3, head.version, (head.version, head.hash), "")


def test_treaty_is_answered_once_by_each_seat_but_no_bot(table: TalkingTable) -> None:
    treaty = {"kind": "peace", "values": {}, "ends": 10_000_000}
    table.say(0, "Hello.", 1)
    table.store.post(replace(post_of(table, 0, 0, 1, 2), treaty=treaty))
    assert table.store.list_unanswered("bot-", 10) == [(table.game, 2, 1)]
    for seat, word in ((1, "accept"), (2, "decline")):
        table.store.post(replace(post_of(table, seat, 0, 1, 2), answer=(2, word)))
    assert table.store.list_unanswered("bot-", 10) == []
    version = table.ledger.version(table.game)
    expected = [TreatyAnswer(1, "accept", version), TreatyAnswer(2, "decline", version)]
    assert table.store.list_answers(table.reader(0), [1, 2]) == {2: expected}
    assert table.store.list_answered(table.reader(1), [3, 4]) == {3: 2, 4: 2}
    found = table.store.list_entries(table.reader(0))
    assert [each.message and each.message.get("answer") for each in found[2:]] == [
        {"to": found[1].commitment, "answer": "accept"},
        {"to": found[1].commitment, "answer": "decline"},
    ]
    with pytest.raises(RuleError, match="treaty_answered"):
        table.store.post(replace(post_of(table, 1, 0, 1, 2), answer=(2, "decline")))
    with pytest.raises(RuleError, match="no_treaty"):
        table.store.post(replace(post_of(table, 1, 0, 1), answer=(1, "accept")))
    table.now = 20_000_000
    table.store.post(replace(post_of(table, 0, 0, 1), treaty={**treaty, "ends": 20_100_000}))
    table.now = 20_200_000
    with pytest.raises(RuleError, match="treaty_expired"):
        table.store.post(replace(post_of(table, 1, 0, 1), answer=(5, "accept")))


def test_a_disclosure_is_stored_once_and_goes_with_its_account(table: TalkingTable) -> None:
    store = Disclosures(table.ledger, lambda: table.now)
    first = store.add("a" * 24, table.game, 1, "p1", "table", [1, 2])
    assert store.add("a" * 24, table.game, 1, "p1", "table", [1, 2]) == first
    assert store.list_disclosures(table.game) == [first]
    for statement, params in table.store.erase(["p1"]):
        table.ledger.execute(statement, params)
    assert store.list_disclosures(table.game) == []
