"""An office that sends mail, to a server that really listens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from domain.accounts.accounts import Account
from domain.notifications.email_subscriptions import EmailPreferences, EmailSubscription
from domain.notifications.ip_ranges import is_public_or_loopback_ip
from domain.notifications.outbox import Delivery
from projections.projector import Projector
from projections.reader import Reader
from projections.table_describer import TableDescriber
from projections.viewer_history import ViewerHistory
from tests.notifications.conftest import Office
from tests.notifications.mailserver import MailServer, mail_server, text
from workers.notifications.chat_renderer import ChatRenderer
from workers.notifications.delivery_pool import DeliveryPool
from workers.notifications.digests import DigestProducer
from workers.notifications.email_renderer import EmailRenderer
from workers.notifications.order_hold import OrderHold
from workers.notifications.producer import NotificationProducer
from workers.notifications.smtp_client import Mailer, SmtpClient
from workers.notifications.smtp_settings import SmtpServer
from workers.notifications.webhook_client import WebhookClient

ADDRESS = "anne@example.org"
ALL = ("turn.due", "deadline.near", "game.over")


class Desk:
    """An office that sends mail."""

    def __init__(self, office: Office, server: MailServer) -> None:
        self.office, self.server, self.catalogue = office, server, office.context.registry
        office.context.views.migrate()
        self.reader = Reader(office.context.views)
        self.by(SmtpClient(SmtpServer("127.0.0.1", server.port, "none")))
        self.digests = DigestProducer(office.notices.outbox, office.notices.email_subscriptions, self.reader)
        office.owing = NotificationProducer(office.context, office.notices.outbox, self.digests)

    def by(self, post: SmtpClient) -> None:
        """From now on that one hands mails over."""
        self.describer = TableDescriber(self.catalogue, self.office.access.texts, self.reader)
        letters = EmailRenderer(self.describer, "https://play.example", "annals@play.example")
        notices = self.office.notices
        unread = notices.unread_mail, notices.outbox.unread_messages
        self.mailer = Mailer(notices.email_subscriptions, letters, post, self.reader, *unread)
        self.office.delivery_pool = DeliveryPool(
            self.office.notices,
            self.office.people.audit_log,
            self.office.context.clock,
            "loopback",
            WebhookClient(is_public_or_loopback_ip),
            self.mailer,
            ChatRenderer(notices.chats, self.describer, "https://play.example"),
            order_hold=OrderHold(self.office.context.orders, self.reader),
        )

    def keep(self, who: Account, address: str = ADDRESS, *events: str, **more: Any) -> EmailSubscription:
        wish = EmailPreferences(address, events or ALL, **more)
        return self.office.notices.email_subscriptions.save(who.id, wish, self.office.head(), [])

    def code(self) -> str:
        """The one in the last mail."""
        found = re.search(r"^    ([A-Z2-9]{10})$", text(self.server.mails[-1]), re.MULTILINE)
        assert found
        return found[1]

    def confirmed(self, who: Account, address: str = ADDRESS, *events: str, **more: Any) -> EmailSubscription:
        self.keep(who, address, *events, **more)
        self.office.deliver()
        assert self.confirm(who, self.code())
        self.server.got.clear()
        found = self.box(who)
        assert found.state == "on"
        return found

    def confirm(self, who: Account, code: str) -> bool:
        return self.office.notices.email_subscriptions.confirm(who.id, code, self.office.head(), [])

    def box(self, who: Account) -> EmailSubscription:
        found = self.office.notices.email_subscriptions.find_by_account(who.id)
        assert found
        return found

    def send(self) -> int:
        self.office.owing.produce()
        return self.office.deliver()

    def states(self) -> set[str]:
        return {row[3] for row in self.office.rows()}

    def pump(self) -> None:
        """Bring the views to the end of the log."""
        pump = Projector(ViewerHistory(self.office.context.ledger, self.catalogue, self.office.context.views), "test")
        while pump.run(self.office.time[0]):
            pass
        pump.release()

    def deliveries(self, who: Account) -> list[Delivery]:
        """All that was to be sent to somebody but codes, the oldest first."""
        found = self.office.notices.outbox.list_deliveries(self.box(who).webhook)
        return [each for each in reversed(found) if each.type != "mail.confirm"]


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as made:
        yield made


@pytest.fixture
def desk(office: Office, server: MailServer) -> Desk:
    return Desk(office, server)


@pytest.fixture
def anne(office: Office) -> Account:
    return office.person("Anne")
