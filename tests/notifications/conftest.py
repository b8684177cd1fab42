"""Accounts, tables and a receiver; nothing is sent but to this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from domain.accounts.account_store import AccountStore
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import Account, AccountRegistration
from domain.command_handler import CommandHandler, GameConditions, new_game_id
from domain.kernel.game.table_commands import Join, Start
from domain.ledger import Ledger
from domain.notifications.ip_ranges import is_public_or_loopback_ip
from domain.notifications.notification_store import NotificationStore
from domain.notifications.webhooks import Webhook, WebhookRequest
from domain.ruleset_registry import RulesetRegistry
from domain.service.database import Statement
from domain.service.job_requests import JobRequests
from domain.service.keyring import Keyring
from domain.service.seat_tokens import SeatTokens
from domain.service.seed_store import SeedStore
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.postgres import postgres_server, postgres_url
from tests.rulesets import FLOWS
from workers.context import WorkerContext
from workers.notifications.delivery_pool import DeliveryPool
from workers.notifications.producer import NotificationProducer
from workers.notifications.webhook_client import WebhookClient

__all__ = ["postgres_server", "postgres_url"]

CATALOGUE = RulesetRegistry(entry.rules for entry in FLOWS)


@dataclass
class Receiver:
    """A program of somebody's. `answer` gives the status for what has come."""

    url: str = ""
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answer: Callable[[bytes], int] = lambda _: 204
    headers: dict[str, str] = field(default_factory=dict)
    """Further headers of each answer."""
    came: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def take(self, headers: dict[str, str], body: bytes) -> int:
        self.got.append((headers, body))
        status = self.answer(body)
        self.came.release()
        return status

    @property
    def docs(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]

    @property
    def types(self) -> list[str]:
        return [doc["type"] for doc in self.docs]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = made.take({name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(status)
            if status in (301, 307):
                self.send_header("Location", f"{made.url}/elsewhere")
            self.send_header("Content-Length", "0")
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the library
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


@dataclass
class Office:
    """Everything that makes notices and sends them."""

    context: WorkerContext
    people: AccountStore
    access: SeatTokens
    notices: NotificationStore
    time: list[int]

    def __post_init__(self) -> None:
        self.owing = NotificationProducer(self.context, self.notices.outbox)
        self.delivery_pool = self.send()

    def send(self, sender: WebhookClient | None = None, mode: str = "loopback") -> DeliveryPool:
        """Those who deliver."""
        sender = sender or WebhookClient(is_public_or_loopback_ip)
        return DeliveryPool(self.notices, self.people.audit_log, self.context.clock, mode, sender)

    def again(self) -> None:
        """The process was killed and started anew."""
        self.owing = NotificationProducer(self.context, self.notices.outbox)

    def person(self, name: str) -> Account:
        id_ = self.people.accounts.make_id()
        return self.people.accounts.open(
            id_, AccountRegistration(name, "$kept", self.people.recovery_codes.generate(id_)[1])
        )[0]

    def table(
        self, *people: Account, ruleset: str = "orders@1", seats: int = 3, start: bool = True, **body: Any
    ) -> str:
        """A game at which these have the first seats, guests the others."""
        game = new_game_id()
        self.context.commands.open(game, ruleset, seats, body.pop("options", {}), body=body)
        for seat in range(seats):
            player = people[seat].player if seat < len(people) else f"guest{seat}"
            beside = self.access.issue(game, seat, player, self.access.make_token().token, account=seat < len(people))
            self.context.commands.handle(
                game, Join(seat, player), GameConditions(extra_statements=partial(_beside, beside))
            )
        if start:
            self.begin(game)
        return game

    def begin(self, game: str) -> None:
        """Start a game of which all seats are taken."""
        self.context.commands.handle(game, Start())

    def hook(self, who: Account, url: str, about: str = "mine", game: str = "", *events: str) -> Webhook:
        wanted = WebhookRequest(url, about, game, events)
        return self.notices.webhooks.create(who.id, wanted, "loopback", self.head(), [])[0]

    def head(self) -> int:
        entries = self.context.ledger.log(0, 10_000)
        return entries[-1].position if entries else 0

    def rows(self) -> Sequence[tuple[Any, ...]]:
        """Of all deliveries id, webhook, type and state."""
        return self.context.ledger.execute("SELECT id, webhook, type, state FROM deliveries ORDER BY made, id")

    def types(self) -> list[str]:
        return sorted(row[2] for row in self.rows())

    def deliver(self) -> int:
        """All that is due now; how many were tried."""
        found = 0
        while self.delivery_pool.deliver_next():
            found += 1
        return found


def _beside(rows: Sequence[Statement], _: object) -> Sequence[Statement]:
    return rows


@pytest.fixture
def catalogue() -> RulesetRegistry:
    """The rulesets of the office."""
    return CATALOGUE


@pytest.fixture(params=["sqlite", "postgresql"])
def office(request: pytest.FixtureRequest, tmp_path: Path, catalogue: RulesetRegistry) -> Iterator[Office]:
    if request.param == "sqlite":
        urls = [f"sqlite:///{tmp_path / name}.sqlite" for name in ("ledger", "views")]
    else:
        urls = [request.getfixturevalue("postgres_url")] * 2
    ledger, time = Ledger.open(urls[0], bytes(32)), [1_000 * DAY]
    ledger.migrate()
    keys: Keyring = ledger.keys
    views, seed_store = ViewStore(urls[1], keys), SeedStore(ledger, keys)
    people, access = AccountStore(ledger, keys, lambda: time[0]), SeatTokens(ledger, keys, lambda: time[0] // 1000)
    notices = NotificationStore(ledger, keys, lambda: time[0])
    for each in (people, access, notices, notices, JobRequests(ledger)):
        each.migrate()
    commands = CommandHandler(ledger, catalogue, seed_store, lambda: time[0])
    context = WorkerContext(
        ledger=ledger,
        registry=catalogue,
        seed_store=seed_store,
        commands=commands,
        views=views,
        history=ViewerHistory(ledger, catalogue, views),
        clock=lambda: time[0],
    )
    context.talk.migrate()
    context.orders.migrate()
    yield Office(context, people, access, notices, time)
    views.close()
    ledger.close()
