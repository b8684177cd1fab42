"""The ring of keys is there before any transaction begins, on both stores."""

from __future__ import annotations

from domain.beside.tables import Execute
from domain.ledger import Ledger
from tests.contracts.crew import KEY


def test_a_transaction_may_be_the_first_to_need_the_ring(url: str) -> None:
    """Made within the transaction, the ring would wait for that transaction's lock."""
    ledger = Ledger.open(url, KEY)
    ledger.migrate()
    found: list[bytes] = []

    def work(execute: Execute) -> None:
        execute("DELETE FROM damages", ())
        found.append(ledger.keys.requests())

    ledger.among_appends(work)
    with ledger.repair("nothing", "a test") as execute:
        execute("DELETE FROM damages", ())
        found.append(ledger.keys.open("game", "seed", ledger.keys.seal("game", "seed", b"a seed")))
    ledger.close()
    assert found[1:] == [b"a seed"]
    assert len(found[0]) == 32
