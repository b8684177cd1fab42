"""Changing what was written, as a disk or an intruder would: the database itself refuses it to everybody else."""

from collections.abc import Sequence

from domain.ledger import Ledger


def spoil(ledger: Ledger, statement: str, params: Sequence[object] = ()) -> None:
    """One statement that changes the log."""
    with ledger.repair("a statement of a test", "to see what notices it") as execute:
        execute(statement, params)
