"""The HTTP server: granian runs the WSGI application in a worker process of its own."""

from __future__ import annotations

import multiprocessing
import socket
from typing import Any

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server

from deploy import lifeline, logs
from deploy.settings import Settings, SettingsError, load
from domain.catalogue import Catalogue

THREADS = 256
"""Requests and streams that one process serves at once."""

BACKPRESSURE = 300
"""Connections that one process takes; the others wait in the system's queue."""

KILL_AFTER = 5
"""Seconds that open streams have to end."""


_given: list[Catalogue] = []
"""The rulesets to serve; passed on to the processes that are forked from this one, others play what is shipped."""


def serve(settings: Settings, catalogue: Catalogue) -> None:
    """Serve until a signal comes."""
    _given[:] = [catalogue]
    Server(
        "deploy.server:application",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.WSGI,
        factory=True,
        workers=1,
        blocking_threads=THREADS,
        backpressure=BACKPRESSURE,
        websockets=False,
        log_level=LogLevels.info if settings.log_level == "debug" else LogLevels.error,
        workers_kill_timeout=KILL_AFTER,
        respawn_failed_workers=True,
    ).serve()


def application() -> Any:
    """The WSGI application, made in the process that serves it; its settings come from the environment."""
    from api.app import create_app  # noqa: PLC0415 - the server's main process needs none of it
    from deploy.wiring import create_services  # noqa: PLC0415

    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        lifeline.tie(parent.pid)
    settings = load()
    logs.set_up_requests(settings.log_level)
    return create_app(create_services(settings, *_given).api())


def free_port(host: str, port: int) -> int:
    """The port itself, or for 0 a free one; raises SettingsError if it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise SettingsError(f"{host}:{port} cannot be served: {error.strerror}") from error
        return int(probe.getsockname()[1])
