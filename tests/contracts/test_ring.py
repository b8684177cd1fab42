"""The ring of keys is there before any transaction begins, on both stores."""

from __future__ import annotations

import pytest

from domain.errors import StoreUnavailable
from domain.ledger import Ledger
from domain.service.database import Execute
from tests.contracts.context import KEY


def test_a_transaction_may_be_the_first_to_need_the_ring(url: str) -> None:
    """Made within the transaction, the ring would wait for that transaction's lock."""
    ledger = Ledger.open(url, KEY)
    ledger.migrate()
    found: list[bytes] = []

    def work(execute: Execute) -> None:
        execute("DELETE FROM damages", ())
        found.append(ledger.keys.request_key())

    ledger.run_in_append_order(work)
    with ledger.repair.transaction("nothing", "a test") as execute:
        execute("DELETE FROM damages", ())
        found.append(ledger.keys.open("game", "seed", ledger.keys.seal("game", "seed", b"a seed")))
    ledger.close()
    assert found[1:] == [b"a seed"]
    assert len(found[0]) == 32


def test_a_ring_that_was_known_is_awaited_where_it_is_gone(url: str) -> None:
    """A dump that is put back makes all tables first, and fills them then: another ring would stay beside its own."""
    ledger = Ledger.open(url, KEY)
    ledger.migrate()
    sealed = ledger.keys.seal("game", "seed", b"a seed")
    ring = ledger.execute("SELECT number, mark, wrapped FROM keyring")
    ledger.execute("DELETE FROM keyring")
    with pytest.raises(StoreUnavailable):
        ledger.keys.open("game", "seed", b"\x00\x09" + sealed[2:])  # of a key that others may have made
    assert ledger.execute("SELECT number FROM keyring") == []
    for row in ring:
        ledger.execute("INSERT INTO keyring (number, mark, wrapped) VALUES (?, ?, ?)", row)
    assert ledger.keys.open("game", "seed", sealed) == b"a seed"
    ledger.close()
