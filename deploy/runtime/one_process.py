"""A whole service in one process, for one core and little memory: requests, streams, views, jobs and maintenance.

Nginx stays a process of its own, since it shields the server from slow and partial requests. There is no Redis.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from deploy.config.settings import Settings
from deploy.runtime import nginx, prober, unix_http
from deploy.runtime.supervisor import Supervisor
from deploy.runtime.wiring import ServiceContainer
from workers import liveness
from workers.local_queues import LocalQueues
from workers.projector_process import ProjectorLoop
from workers.reconciler import Reconciler

LIMITS = nginx.Limits(connections=512, address_share=8)
"""Limits of nginx: fewer connections, since memory is set aside for each, but as many for an address."""

FIRST_ANSWER_SECONDS = 60.0
"""Seconds for the first answer of the service."""

LATEST_ANSWER_SECONDS = 30.0
"""Seconds without an answer until the process ends. A service manager starts it anew."""

STOP_SECONDS = 5.0
"""Seconds for each thread to stop by itself."""

SERVERS = ("front", "api", "streams")
"""Names of the servers in the folder of deadlines."""

log = logging.getLogger("annals.small")

Loop = Callable[[], None]


class OneProcess:
    """The threads beside the server of a service in one process."""

    def __init__(
        self, services: ServiceContainer, queues: LocalQueues, supervisor: Supervisor, liveness_folder: Path
    ) -> None:
        """`supervisor` runs nginx."""
        self._services, self._queues, self._supervisor = services, queues, supervisor
        self._settings, self._liveness_folder = services.settings, liveness_folder
        self.context = services.build_worker_context()
        self.stopped = threading.Event()
        """Set at the end."""
        self._projector = self._make_projector()
        self._threads: list[threading.Thread] = []

    def start(self, maintain_more: Callable[[], None]) -> None:
        """Start the threads. `maintain_more` runs the maintenance until the end."""
        for name in SERVERS:
            liveness.expect_first_sign(self._liveness_folder / name, FIRST_ANSWER_SECONDS)
        self._queues.start()
        loops: tuple[tuple[str, Loop], ...] = (
            ("pump", self._projector.run),
            ("keeper", maintain_more),
            ("prober", self._watch),
        )
        self._threads = [threading.Thread(target=loop, name=name, daemon=True) for name, loop in loops]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all threads: another process can then go on at once."""
        self.stopped.set()
        self._projector.stop()
        self._services.signals.notify_appended(0)
        self._queues.close()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(STOP_SECONDS)
        if self.context.delivery_pool:
            self.context.delivery_pool.stop()

    def _make_projector(self) -> ProjectorLoop:
        services, context = self._services, self.context
        owed = services.notifications.outbox.has_due if context.delivery_pool else None
        reconciler = Reconciler(
            services.reader,
            context.job_requests,
            context.heartbeat,
            self._queues,
            context.clock,
            owed,
            context.orders,
        )
        notifications = services.build_notification_producer() if context.delivery_pool else None
        return ProjectorLoop(context, services.signals, reconciler, context.node, notifications)

    def _watch(self) -> None:
        """Probe the service once a second, announce it, and end the process once a part has failed."""
        checks, began = prober.Prober(self._settings, self._liveness_folder), time.monotonic()
        is_announced = False
        while not self.stopped.wait(prober.PROBE_PERIOD if is_announced else 0.05):
            if not is_announced:
                is_announced = self._announce()
            else:
                checks.probe()
            if fault := self._find_fault(time.monotonic() - began):
                log.error("%s: the process ends, and is to be started anew", fault)
                os._exit(1)  # as after a kill, the databases have all; nginx ends with its parent

    def _announce(self) -> bool:
        """Print a line once the service is ready; return True if it is."""
        ready = prober.is_ready(self._settings, 1)
        if ready and unix_http.fetch_health(nginx.stream_socket(self._settings)):
            print(f"ready {self._settings.url}", flush=True)
            prober.extend_deadlines(self._liveness_folder, *SERVERS)
            return True
        return False

    def _find_fault(self, age: float) -> str:
        """Return what has failed, or an empty string."""
        if ended := self._supervisor.list_ended():
            return f"{', '.join(ended)} ended"
        if gone := [thread.name for thread in self._threads if not thread.is_alive()]:
            return f"{', '.join(gone)} ended"
        if self._queues.is_stuck:
            return "a job takes too long"
        files = [self._liveness_folder / name for name in SERVERS]
        late = LATEST_ANSWER_SECONDS - prober.ANSWER_DEADLINE
        if age > FIRST_ANSWER_SECONDS and any(path.stat().st_mtime + late < time.monotonic() for path in files):
            return "the service does not answer"
        return ""


def join_sockets(settings: Settings) -> None:
    """Let nginx reach the only server by both of its names."""
    path = nginx.server_socket(settings)
    path.unlink(missing_ok=True)
    path.symlink_to(nginx.stream_socket(settings))
