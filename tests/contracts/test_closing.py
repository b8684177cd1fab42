"""A ledger that is closed while threads read from it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from domain.errors import StoreUnavailable
from domain.ledger import Ledger

LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT count(*) FROM n"
READERS = 4


def test_whoever_reads_reads_to_the_end(tmp_path: Path) -> None:
    """Closing a connection that is being read from ends the process."""
    for n in range(5):
        ledger = Ledger.open(f"sqlite:///{tmp_path / str(n)}")
        ledger.migrate()

        def read(ledger: Ledger = ledger) -> int:
            rows = 0
            with suppress(StoreUnavailable):
                for _ in range(10):
                    ((rows,),) = ledger.execute(LONG)
            return rows

        with ThreadPoolExecutor(READERS) as pool:
            reading = [pool.submit(read) for _ in range(READERS)]
            ledger.execute(LONG)
            ledger.close()
            assert {thread.result() for thread in reading} <= {0, 300_000}
