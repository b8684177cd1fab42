"""The API over a ledger and views in files; the pump runs after each write, as with a signal that never fails."""

from __future__ import annotations

import functools
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from api.app import ApiServices, ApiSettings, create_app
from api.streams.asgi import StreamApp, no_proxy_fix
from domain.accounts import passwords
from domain.accounts.account_store import AccountStore
from domain.command_handler import CommandHandler
from domain.games import struggle_of_empires
from domain.kernel.game.play_commands import Resolve
from domain.kernel.rules.decide import decisions
from domain.ledger import Ledger
from domain.notifications.notification_store import NotificationStore
from domain.ruleset_registry import RulesetRegistry
from domain.service.heartbeat import Heartbeat
from domain.service.job_requests import JobRequests
from domain.service.seat_tokens import SeatTokens
from domain.service.seed_store import SeedStore
from domain.standing_orders.order_store import OrderStore
from domain.talk.anchors import MailboxAnchors
from domain.talk.talk_store import TalkStore
from domain.transparency.checkpoint_store import CheckpointStore
from domain.transparency.witness_reports import WitnessReports
from domain.transparency.witness_store import WitnessStore
from projections.archived_views import ArchivedViewLoader
from projections.projector import Projector
from projections.reader import Reader
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.api.streaming import Answer, Loop, scope
from tests.rulesets import FLOWS
from workers.context import WorkerContext, set_context
from workers.job_calls import request_call

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = RulesetRegistry([*(entry.rules for entry in FLOWS), *struggle_of_empires.RULESETS])
PROBLEM = "application/problem+json"
Doc = dict[str, Any]
Reply = Any
"""An answer of the test client, whose JSON is whatever the test expects."""


@dataclass
class Site:
    """The application, and what stands behind it."""

    services: ApiServices
    pump: Projector
    context: WorkerContext
    now: int = 0
    """What the pump takes for the time, ms."""
    asleep: bool = False
    """Nobody answers the signal: no pump, no worker."""
    loop: Loop | None = None
    """Of the process for streams, once there is one."""
    streams: StreamApp | None = None
    tell: list[Callable[[frozenset[str]], None]] = field(default_factory=list)
    """Whom the signal wakes."""

    def __post_init__(self) -> None:
        self.context = replace(self.context, notify_appended=lambda _: self.ring())
        self.services = replace(
            self.services, notify_appended=lambda _: self.ring(), notify_changed=self.stirred, listen=self.tell.append
        )
        self.remake()

    def remake(self, **settings: Any) -> None:
        """The same harness behind another application."""
        self.services = replace(self.services, settings=replace(self.services.settings, **settings))
        for made in {"app", "client"} & vars(self).keys():
            delattr(self, made)
        self.unfollow()

    @cached_property
    def app(self) -> Flask:
        return create_app(self.services)

    @cached_property
    def client(self) -> Any:
        return self.app.test_client(use_cookies=False)

    def ring(self) -> None:
        while not self.asleep and self.pump.run(self.now):
            pass
        for tell in self.tell:
            tell(frozenset())

    def work(self) -> None:
        """What a worker does: all errands that stand."""
        set_context(self.context)
        for errand in [] if self.asleep else self.services.job_requests.list_open():
            request_call(errand).function(errand.id)

    def stirred(self, game: str) -> None:
        """Something about a game is new that is not in the log."""
        self.work()
        for tell in self.tell:
            tell(frozenset({game}))

    def follow(
        self,
        path: str,
        token: str = "",
        method: str = "GET",
        address: str = "127.0.0.1",
        scheme: str = "http",
        **headers: str,
    ) -> Answer:
        """Ask the process for streams."""
        self.loop = self.loop or Loop()
        self.streams = self.streams or StreamApp(self.app, no_proxy_fix)
        return Answer(self.loop, self.streams, scope("/v1" + path, _headers(token, headers), method, address, scheme))

    def unfollow(self) -> None:
        """The process for streams ends."""
        if self.loop and self.streams:
            self.loop.do(self.streams.close())
        self.streams = None
        self.tell.clear()

    def close(self) -> None:
        """Take leave of those who follow, and close the stores."""
        self.unfollow()
        if self.loop:
            self.loop.close()
        self.services.reader._views.close()
        self.services.ledger.close()

    def get(self, path: str, token: str = "", **headers: str) -> Reply:
        if path.partition("?")[0].endswith("/stream"):
            return self.follow(path, token, **headers)
        return self.client.get("/v1" + path, headers=_headers(token, headers))

    def post(self, path: str, body: Any = None, token: str = "", **headers: str) -> Reply:
        return self.client.post("/v1" + path, json={} if body is None else body, headers=_headers(token, headers))

    def put(self, path: str, body: Any = None, token: str = "", **headers: str) -> Reply:
        return self.client.put("/v1" + path, json={} if body is None else body, headers=_headers(token, headers))

    def delete(self, path: str, token: str = "", **headers: str) -> Reply:
        return self.client.delete("/v1" + path, headers=_headers(token, headers))

    def table(self, ruleset: str, seats: int, start: bool = True, **terms: Any) -> Table:
        """A game with a player at each seat."""
        made = self.post("/games", {"ruleset": ruleset, "seats": seats, **terms})
        assert made.status_code == 201, made.text
        table = Table(self, made.json["game"], made.json["token"], [])
        for seat in range(seats):
            joined = self.post(f"/games/{table.game}/seats", {"seat": seat, "name": f"Player {seat}"})
            assert joined.status_code == 201, joined.text
            table.tokens.append(joined.json["token"])
        if start:
            assert table.post("/start", token=table.director).status_code == 201
        return table


@dataclass
class Table:
    """One game, with the tokens of all."""

    site: Site
    game: str
    director: str
    tokens: list[str]

    @property
    def path(self) -> str:
        return f"/games/{self.game}"

    def token(self, who: int | str | None) -> str:
        if who is None:
            return ""
        return self.director if who == "director" else self.tokens[int(who)]

    def get(self, path: str = "", who: int | str | None = None, **headers: str) -> Reply:
        return self.site.get(self.path + path, self.token(who), **headers)

    def post(self, path: str, body: Any = None, token: str = "", **headers: str) -> Reply:
        return self.site.post(self.path + path, body, token, **headers)

    def move(self, seat: int, move: Doc, **headers: str) -> Reply:
        """A move that answers what is open now."""
        return self.post("/moves", {"move": move, "decision": self.decision}, self.tokens[seat], **headers)

    @property
    def decision(self) -> str:
        p = self.site.services.commands.game(self.game)
        return decisions(self.site.services.registry.get(p.ruleset), p.state, p.lasting.rewinds.count)[0].id

    @property
    def version(self) -> int:
        return self.site.services.ledger.version(self.game)

    def resolve(self) -> None:
        """The batch work that is due."""
        stored = self.site.services.commands.handle(self.game, Resolve(self.decision))
        self.site.services.notify_appended(stored.position)


def _headers(token: str, headers: Mapping[str, str]) -> dict[str, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return named | ({"Authorization": f"Bearer {token}"} if token else {})


def refused(answer: Reply, status: int, code: str) -> Doc:
    """The problem, which is one in every respect."""
    assert answer.mimetype == PROBLEM, answer.text
    doc: Doc = json.loads(answer.data)
    assert (answer.status_code, doc["code"]) == (status, code), doc
    assert doc["status"] == status
    assert doc["type"] == f"/v1/problems/{code}"
    assert doc["title"]
    return doc


@functools.cache
def _stores() -> dict[str, bytes]:
    """The files of stores that hold nothing yet: to make their tables takes longer than most tests."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with closing(Ledger.open(f"sqlite:///{folder / 'ledger'}", bytes(32))) as ledger:
            ledger.migrate()
            beside = (
                SeatTokens(ledger, ledger.keys),
                JobRequests(ledger),
                Heartbeat(ledger),
                AccountStore(ledger, ledger.keys),
                CheckpointStore(ledger, ledger.keys),
                WitnessStore(ledger, ledger.keys),
                WitnessReports(ledger),
                OrderStore(ledger, lambda: ledger.keys, lambda: 0),
                TalkStore(ledger, lambda: ledger.keys, MailboxAnchors(ledger, lambda: ledger.keys), lambda: 0),
            )
            for each in (*beside, NotificationStore(ledger, ledger.keys, lambda: 0)):
                each.migrate()
            with closing(ViewStore(f"sqlite:///{folder / 'views'}", ledger.keys)) as views:
                views.migrate()
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def make_site(
    folder: Path, catalogue: RulesetRegistry | None = None, stores: Mapping[str, bytes] | None = None
) -> Site:
    """A site in a folder; with the rulesets of CATALOGUE and empty stores unless others are given."""
    catalogue = catalogue or CATALOGUE
    for name, data in {**_stores(), **(stores or {})}.items():
        (folder / name).write_bytes(data)
    ledger = Ledger.open(f"sqlite:///{folder / 'ledger'}", bytes(32))
    views = ViewStore(f"sqlite:///{folder / 'views'}", ledger.keys)
    ticks = itertools.count(1_000, 1_000)
    access, seed_store = SeatTokens(ledger, ledger.keys), SeedStore(ledger, ledger.keys)
    history = ViewerHistory(ledger, catalogue, views)
    commands = CommandHandler(ledger, catalogue, seed_store, lambda: next(ticks), history=history)
    settings = ApiSettings(rate=0, keep_alive=0.05, patience=0.05, docs=ROOT / "docs")
    clock = partial(next, ticks)
    people, notices = AccountStore(ledger, ledger.keys), NotificationStore(ledger, ledger.keys, clock)
    services = ApiServices(
        ledger=ledger,
        registry=catalogue,
        seed_store=seed_store,
        commands=commands,
        views=views,
        clock=clock,
        reader=Reader(views, ArchivedViewLoader(history)),
        seat_tokens=access,
        account_store=people,
        notifications=notices,
        history=history,
        settings=settings,
    )
    context = WorkerContext(**services.list_shared())
    return Site(services, Projector(ViewerHistory(ledger, catalogue, views), "pump"), context)


@pytest.fixture(autouse=True)
def _quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes at the least cost there is; what they cost in truth is told in tests/contracts/test_sessions.py."""
    monkeypatch.setattr(passwords, "TIMES", 1)
    monkeypatch.setattr(passwords, "MEMORY", 8)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(make_site(tmp_path)) as site:
        yield site
