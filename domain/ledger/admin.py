"""Administration of the database of the ledger: roles, triggers, integrity of its pages."""

from __future__ import annotations

from domain.errors import StoreDamaged
from domain.ledger.connection import StoreConnection


class LedgerAdmin:
    """Operations for owners and operators of the database."""

    def __init__(self, connection: StoreConnection) -> None:
        self._connection = connection

    def grant_service_role(self, address: str) -> None:
        """Let the role in a database address append, read, and change the other tables; do nothing on SQLite.

        Creates the role, and `annals_repair`, if missing. Only the owner of the tables may call it.
        """
        with self._connection.use() as store:
            store.grant_service_role(address)

    def has_append_triggers(self) -> bool:
        """Return whether triggers of the database refuse changes of the log."""
        with self._connection.use() as store:
            return store.has_append_triggers()

    def list_foreign_triggers(self) -> list[str]:
        """Return the names of triggers that the service does not make, or makes otherwise."""
        with self._connection.use() as store:
            return store.list_foreign_triggers()

    def find_pooler(self) -> str:
        """Return what a pooler before the server keeps together, `transaction` or `statement`; empty without one."""
        with self._connection.use() as store:
            return store.find_pooler()

    def list_integrity_errors(self, patience: float) -> list[str]:
        """Return the database's own reports of corrupt pages, searched for at most `patience` seconds."""
        try:
            with self._connection.use() as store:
                return store.list_integrity_errors(patience)
        except StoreDamaged as error:
            return [str(error)]
