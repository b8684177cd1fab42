"""All that is kept of people, over one database."""

from __future__ import annotations

from collections.abc import Callable

from domain.accounts import account_tables, oauth_clients, oauth_devices, oauth_grants, passkeys
from domain.accounts.abuse_reports import Reports
from domain.accounts.accounts import Accounts
from domain.accounts.audit_log import Journal
from domain.accounts.credentials import Credentials
from domain.accounts.oauth_clients import Clients
from domain.accounts.oauth_devices import Devices
from domain.accounts.oauth_grants import Grants
from domain.accounts.passkeys import Passkeys
from domain.accounts.passwords import Passwords
from domain.accounts.second_factors import Factors
from domain.accounts.signed_forms import Forms
from domain.accounts.social import Circle
from domain.service.database import Database, create
from domain.service.keyring import Keyring


class People:
    """The tables of people, and who makes slow hashes.

    `keys` derive what requests are given, `clock` gives ms since 1970.
    """

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int] = account_tables.now) -> None:
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
        account_tables.migrate(self._database)
        create(self._database, [*oauth_clients.TABLES, *oauth_grants.TABLES, *oauth_devices.TABLES, *passkeys.TABLES])

    def alive(self, credential: str) -> bool:
        """Whether that session, personal token or grant still lets anybody in; long streams ask now and then."""
        return self.credentials.alive(credential) or self.grants.alive(credential)
