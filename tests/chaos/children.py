"""The processes of a service, each of which kills itself at a named point. Importable, so that any context starts them.

The points are made by replacing functions in the child: what is shipped knows nothing of them.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import structlog
from werkzeug.serving import make_server

from api.app import ApiServices, ApiSettings, create_app
from domain.accounts.account_store import AccountStore
from domain.command_handler import CommandHandler
from domain.ledger import Ledger, store
from domain.notifications.notification_store import NotificationStore
from domain.ruleset_registry import RulesetRegistry
from domain.service.job_requests import JobRequests
from domain.service.seat_tokens import SeatTokens
from domain.service.seed_store import SeedStore
from projections import batch
from projections.reader import Reader
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.kernel.flows import orders
from workers import job_calls
from workers.context import WorkerContext
from workers.job_calls import TURNS
from workers.queues import Queues, RowJob
from workers.reconciler import Reconciler
from workers.signals import Signals
from workers.worker import run_projector, serve_queue

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.chaos.children"])

CATALOGUE = RulesetRegistry([orders.RULESET])
KEY = bytes(range(32))

PERIOD = 1000
"""ms: what a killed worker leaves behind in Redis blocks its work this long, instead of ten seconds."""


@dataclass(frozen=True)
class Place:
    """Where everything is."""

    ledger: str
    views: str
    redis: str


@dataclass(frozen=True)
class Kill:
    """Die at the n-th time of coming to a point."""

    point: str
    nth: int = 1


def now() -> int:
    return time.time_ns() // 1_000_000


def make_worker_context(place: Place) -> WorkerContext:
    """A process' own connections."""
    ledger = Ledger.open(place.ledger, KEY)
    views = ViewStore(place.views, ledger.keys)
    seed_store = SeedStore(ledger, ledger.keys)
    signals = Signals(place.redis)
    return WorkerContext(
        ledger=ledger,
        registry=CATALOGUE,
        seed_store=seed_store,
        commands=CommandHandler(ledger, CATALOGUE, seed_store, now),
        views=views,
        history=ViewerHistory(ledger, CATALOGUE, views),
        clock=now,
        notify_appended=signals.notify_appended,
        node="node",
    )


# --- points ----------------------------------------------------------------------------------------------------


def arm(pipe: Connection, kill: Kill | None) -> None:
    """Lay the trap."""
    logging.basicConfig(level=logging.ERROR)
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    for noisy in ("rq.worker", "rq.job", "werkzeug"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)  # it complains about jobs that were wiped under its hands
    job_calls.PERIOD = PERIOD
    if kill is None:
        return
    left, one = [kill.nth], threading.Lock()

    def here() -> None:
        with one:
            left[0] -= 1
            if not left[0]:
                pipe.send(("hit", kill.point))
                os.kill(os.getpid(), signal.SIGKILL)

    owner, name, before = POINTS[kill.point]
    real = getattr(owner, name)

    def trapped(*args: Any, **kwargs: Any) -> Any:
        if before:
            here()
        found = real(*args, **kwargs)
        if not before:
            here()
        return found

    setattr(owner, name, trapped)


POINTS: dict[str, tuple[Any, str, bool]] = {
    "before the append": (Ledger, "append", True),
    "after the append, before the answer": (Ledger, "append", False),
    "rows written, position not": (batch, "_write_leaves", False),
    "views committed, nobody told": (Signals, "notify_projected", True),
    "records stored, rows beside them not": (store, "write_extra_statements", True),
    "rows beside them stored, nothing committed": (store, "write_extra_statements", False),
    "asked for, not answered": (JobRequests, "submit", False),
    "done, not written down": (JobRequests, "record_outcome", True),
    "before the enqueueing": (Queues, "_enqueue", True),
    "enqueued, not known": (Queues, "_enqueue", False),
    "job begun": (RowJob, "perform", True),
}
"""Point: whose function, its name, and whether the end comes before it or after it."""


# --- processes -------------------------------------------------------------------------------------------------


def start(role: Callable[..., None], place: Place, kill: Kill | None, *args: Any) -> tuple[Any, Connection]:
    """A process, and our end of its pipe."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=role, args=(theirs, place, kill, *args), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def run_pump(pipe: Connection, place: Place, kill: Kill | None) -> None:
    """As `annals pump`."""
    arm(pipe, kill)
    context = make_worker_context(place)
    run_projector(
        context,
        Signals(place.redis),
        Reconciler(
            Reader(context.views),
            context.job_requests,
            context.heartbeat,
            Queues(place.redis),
            now,
        ),
    )


def run_worker(pipe: Connection, place: Place, kill: Kill | None) -> None:
    """As `annals worker`."""
    arm(pipe, kill)
    serve_queue(make_worker_context(place), place.redis, TURNS)


def run_api(pipe: Connection, place: Place, kill: Kill | None) -> None:
    """As `annals api`; tells its port."""
    arm(pipe, kill)
    context, queued, signals = make_worker_context(place), Queues(place.redis), Signals(place.redis)
    reader = Reader(context.views)
    app = create_app(
        ApiServices(
            **context.list_shared(),
            reader=reader,
            seat_tokens=SeatTokens(context.ledger, context.ledger.keys),
            account_store=AccountStore(context.ledger, context.ledger.keys),
            notifications=NotificationStore(context.ledger, context.ledger.keys),
            history=context.history,
            notify_changed=signals.notify_changed,
            job_state=lambda job: queued.job_state(job, now()),
            settings=ApiSettings(rate=0),
        )
    )
    server = make_server("127.0.0.1", 0, app, threaded=True)
    pipe.send(("port", server.server_port))
    server.serve_forever()
