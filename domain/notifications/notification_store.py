"""All tables of notifications, over one database."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.accounts import account_tables
from domain.notifications import personal_news
from domain.notifications.chats import Chats
from domain.notifications.email_subscriptions import EmailSubscriptions
from domain.notifications.followed_series import FollowedSeries
from domain.notifications.notification_tables import TABLES
from domain.notifications.outbox import KINDS, Outbox
from domain.notifications.push_devices import PushDevices
from domain.notifications.unread_mail import UnreadMail
from domain.notifications.webhooks import Webhooks
from domain.service.database import Database, Statement, create_tables
from domain.service.keyring import Keyring


class NotificationStore:
    """Facade over the tables of notifications.

    `keys` derive and seal, `clock` returns ms since 1970, `enabled` are the operator's choice of `outbox.KINDS`.
    """

    def __init__(
        self,
        database: Database,
        keys: Keyring,
        clock: Callable[[], int] = account_tables.now,
        enabled: Sequence[str] = KINDS,
    ) -> None:
        self._database = database
        self.webhooks = Webhooks(database, keys, clock)
        self.email_subscriptions = EmailSubscriptions(database, keys, clock)
        self.chats = Chats(database, keys, clock)
        self.push_devices = PushDevices(database, keys, clock)
        self.followed_series = FollowedSeries(database, keys, clock)
        self.unread_mail = UnreadMail(database, keys, clock)
        self.outbox = Outbox(database, keys, clock, enabled)

    def erase(self, account: str) -> list[Statement]:
        """Return statements that delete an account's subscriptions of every kind."""
        stores = (self.webhooks, self.email_subscriptions, self.chats, self.push_devices, self.followed_series)
        return [statement for store in stores for statement in store.erase(account)]

    def migrate(self) -> None:
        """Create missing tables. Safe to repeat, and to run in several processes at once."""
        create_tables(self._database, (*TABLES, *personal_news.TABLES))
