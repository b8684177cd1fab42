"""All that is kept of people, over one database."""

from __future__ import annotations

from collections.abc import Callable

from domain.beside.people import rows
from domain.beside.people.accounts import Accounts
from domain.beside.people.credentials import Credentials
from domain.beside.people.journal import Journal
from domain.beside.people.passwords import Passwords
from domain.beside.people.reports import Reports
from domain.beside.tables import Database


class People:
    """The tables of people, and who makes slow hashes; `key` is the master key, `clock` gives ms since 1970."""

    def __init__(self, database: Database, key: bytes, clock: Callable[[], int] = rows.now) -> None:
        self._database, self.clock = database, clock
        self.accounts = Accounts(database, key, clock)
        self.credentials = Credentials(database, key, clock)
        self.journal = Journal(database, key, clock)
        self.reports = Reports(database, key, clock)
        self.passwords = Passwords()

    def migrate(self) -> None:
        """Create the tables that are missing. May be run any number of times, also by several at once."""
        rows.migrate(self._database)
