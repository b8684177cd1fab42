"""All that is kept of notices, over one database."""

from __future__ import annotations

from collections.abc import Callable

from domain.beside.keys import Keyring
from domain.beside.notices.hooks import Hooks
from domain.beside.notices.outbox import Outbox
from domain.beside.notices.rows import TABLES
from domain.beside.people import rows
from domain.beside.tables import Database, create


class Notices:
    """The tables of notices. `keys` derive and seal, `clock` gives ms since 1970."""

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int] = rows.now) -> None:
        self._database = database
        self.hooks = Hooks(database, keys, clock)
        self.outbox = Outbox(database, keys, clock)

    def migrate(self) -> None:
        """Create the tables that are missing. May be run any number of times, also by several at once."""
        create(self._database, TABLES)
