"""All that is kept of notices, over one database."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.accounts import account_tables
from domain.notifications.email_subscriptions import Mailboxes
from domain.notifications.notification_tables import TABLES
from domain.notifications.outbox import CARRIED, Outbox
from domain.notifications.webhooks import Hooks
from domain.service.database import Database, Statement, create
from domain.service.keyring import Keyring


class Notices:
    """The tables of notices. `keys` derive and seal, `clock` gives ms since 1970.

    `carried`: for what the operator lets anything be sent, of `outbox.CARRIED`.
    """

    def __init__(
        self,
        database: Database,
        keys: Keyring,
        clock: Callable[[], int] = account_tables.now,
        carried: Sequence[str] = CARRIED,
    ) -> None:
        self._database = database
        self.hooks = Hooks(database, keys, clock)
        self.mailboxes = Mailboxes(database, keys, clock)
        self.outbox = Outbox(database, keys, clock, carried)

    def forgotten(self, account: str) -> list[Statement]:
        """To be written with what erases an account."""
        return [*self.hooks.forgotten(account), *self.mailboxes.forgotten(account)]

    def migrate(self) -> None:
        """Create the tables that are missing. May be run any number of times, also by several at once."""
        create(self._database, TABLES)
