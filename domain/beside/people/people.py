"""All that is kept of people, over one database."""

from __future__ import annotations

from collections.abc import Callable

from domain.beside.keys import Keyring
from domain.beside.people import clients, devices, grants, passkeys, rows
from domain.beside.people.accounts import Accounts
from domain.beside.people.circle import Circle
from domain.beside.people.clients import Clients
from domain.beside.people.credentials import Credentials
from domain.beside.people.devices import Devices
from domain.beside.people.factors import Factors
from domain.beside.people.forms import Forms
from domain.beside.people.grants import Grants
from domain.beside.people.journal import Journal
from domain.beside.people.passkeys import Passkeys
from domain.beside.people.passwords import Passwords
from domain.beside.people.reports import Reports
from domain.beside.tables import Database, create


class People:
    """The tables of people, and who makes slow hashes.

    `keys` derive what requests are given, `clock` gives ms since 1970.
    """

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int] = rows.now) -> None:
        self._database, self.clock = database, clock
        self.accounts = Accounts(database, keys, clock)
        self.credentials = Credentials(database, keys, clock)
        self.journal = Journal(database, keys, clock)
        self.reports = Reports(database, keys, clock)
        self.circle = Circle(database, keys, clock)
        self.clients = Clients(database, keys, clock)
        self.grants = Grants(database, keys, clock)
        self.devices = Devices(database, keys, clock)
        self.factors = Factors(database, keys, clock)
        self.passkeys = Passkeys(database, keys, clock)
        self.forms = Forms(database, keys, clock)
        self.passwords = Passwords()

    def migrate(self) -> None:
        """Create the tables that are missing. May be run any number of times, also by several at once."""
        rows.migrate(self._database)
        create(self._database, [*clients.TABLES, *grants.TABLES, *devices.TABLES, *passkeys.TABLES])

    def alive(self, credential: str) -> bool:
        """Whether that session, personal token or grant still lets anybody in; long streams ask now and then."""
        return self.credentials.alive(credential) or self.grants.alive(credential)
