"""A service without processes: its parts, on every store, with a real Redis."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from domain.command_handler import CommandHandler, new_game_id
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Join, Start
from domain.kernel.rules.decide import decisions
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.heartbeat import Heartbeat
from domain.service.job_requests import JobRequest, JobRequests, new_id
from domain.service.seed_store import SeedStore
from domain.standing_orders.order_store import OrderStore
from domain.transparency.checkpoint_store import CheckpointStore
from domain.types import DIRECTOR
from projections.reader import Reader
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.postgres import postgres_server, postgres_url
from tests.rulesets import FLOWS
from tests.valkey import redis_url, valkey_server
from workers.context import WorkerContext, set_context
from workers.job_calls import BATCH, TURNS
from workers.projector_process import ProjectorLoop
from workers.queues import Queues
from workers.reconciler import Reconciler
from workers.signals import Signals
from workers.worker import serve_queue

__all__ = ["postgres_server", "postgres_url", "redis_url", "valkey_server"]

CATALOGUE = RulesetRegistry(entry.rules for entry in FLOWS)


@dataclass
class Harness:
    """Everything that reads, writes and works."""

    context: WorkerContext
    reader: Reader
    signals: Signals
    queues: Queues
    url: str
    time: list[int]
    rung: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        context = self.context
        self.reconciler = Reconciler(
            self.reader,
            context.job_requests,
            context.heartbeat,
            self.queues,
            context.clock,
            orders=context.orders,
        )
        self.pumping = ProjectorLoop(self.context, self.signals, self.reconciler)
        self.redis = Redis.from_url(self.url)

    def later(self, ms: int) -> None:
        """Time goes on, and who asks is answered all the while."""
        self.context.heartbeat.beat(self.time[0])
        self.down(ms)
        self.context.ledger.execute("UPDATE heartbeat SET at = ? WHERE name = 'service'", (self.time[0],))

    def down(self, ms: int) -> None:
        """Time goes on, and nobody is answered."""
        self.time[0] += ms

    def game(self, ruleset: str = "orders@1", seats: int = 3, **body: Any) -> str:
        """A started game."""
        game = new_game_id()
        self.context.commands.open(game, ruleset, seats, body.pop("options", {}), body=body)
        for seat in range(seats):
            self.context.commands.handle(game, Join(seat, f"p{seat}"))
        self.context.commands.handle(game, Start())
        return game

    def decision(self, game: str) -> str:
        """The id of the open decision; empty at the end."""
        p = self.context.commands.game(game)
        open_ = (
            decisions(CATALOGUE.get(p.ruleset), p.state, p.lasting.rewinds.count, DIRECTOR)
            if p.status == "running"
            else []
        )
        return open_[0].id if open_ else ""

    def submit(self, game: str, *seats: int) -> str:
        """These seats hand in their sheets; the decision that is open then."""
        decision = self.decision(game)
        for seat in seats:
            self.context.commands.handle(game, Play(seat, [{"type": "submit"}], decision=decision))
        return self.decision(game)

    def kinds(self, game: str) -> list[str]:
        """What was recorded after the start."""
        return [r.kind for r in self.context.ledger.read(game)][5:]

    def passed(self) -> int:
        """Pump, then look at the due work; how many jobs are new."""
        self.pumping.catch_up()
        return self.reconciler.pass_once()

    def worked(self, queue: str = TURNS) -> bool:
        """Do all jobs that are waiting; whether there were any."""
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            return serve_queue(self.context, self.url, queue, burst=True)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def ask(self, work: str, game: str = "") -> str:
        """Somebody asks for an errand; its id."""
        errand = self.context.job_requests.submit(JobRequest(new_id(work), work, game, at=self.context.clock()))
        assert errand is not None
        return errand.id

    def job(self, id_: str) -> Any:
        """What came of an errand."""
        self.reconciler.pass_once()
        self.worked(BATCH)
        errand = self.context.job_requests.find(id_)
        assert errand is not None
        return errand.outcome


@pytest.fixture(params=["sqlite", "postgresql"])
def harness(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Iterator[Harness]:
    """SQLite in two files, or one PostgreSQL database."""
    if request.param == "sqlite":
        urls = [f"sqlite:///{tmp_path / name}.sqlite" for name in ("ledger", "views")]
    else:
        urls = [request.getfixturevalue("postgres_url")] * 2
    ledger, time, rung = Ledger.open(urls[0], bytes(32)), [1_000_000], list[int]()
    views = ViewStore(urls[1], ledger.keys)
    ledger.migrate()
    JobRequests(ledger).migrate()
    Heartbeat(ledger).migrate()
    CheckpointStore(ledger, ledger.keys).migrate()
    OrderStore(ledger, lambda: ledger.keys, lambda: 0).migrate()
    views.migrate()
    seed_store = SeedStore(ledger, ledger.keys)
    commands = CommandHandler(ledger, CATALOGUE, seed_store, lambda: time[0])
    context = WorkerContext(
        ledger=ledger,
        registry=CATALOGUE,
        seed_store=seed_store,
        commands=commands,
        views=views,
        history=ViewerHistory(ledger, CATALOGUE, views),
        clock=lambda: time[0],
        notify_appended=rung.append,
        node="node",
    )
    set_context(context)
    made = Harness(context, Reader(views), Signals(redis_url), Queues(redis_url), redis_url, time, rung)
    yield made
    for each in (made.signals, made.queues, made.redis, views, ledger):
        each.close()
