"""The HTTP servers behind the front: granian runs an application in a worker process of its own.

One serves all requests but those for streams, with a thread for each; the other one serves streams, on an event loop.
"""

from __future__ import annotations

import ipaddress
import multiprocessing
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from deploy.config.settings import Settings, load
from deploy.runtime import logging_setup, nginx, parent_death
from domain.ruleset_registry import RulesetRegistry

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from api.services import ApiServices
    from api.streams.asgi import StreamApp

FILES = 256
"""Files beside the connections: databases, locks, libraries."""

THREADS = 256
"""Requests that one process serves at once."""

CONNECTIONS = 1024
"""Connections that one process takes: more than the front makes, which is what limits."""

IDLE = 600
"""Seconds that a connection without a request is kept; the front closes it long before."""

KILL_AFTER = 1
"""Seconds that requests which are under way have to end; who was cut off sends the move again, with its key."""


_given: list[RulesetRegistry] = []
"""The rulesets to serve; passed on to the processes that are forked from this one, others play what is shipped."""


def serve(settings: Settings, catalogue: RulesetRegistry) -> None:
    """Serve the front until a signal comes: all but streams."""
    socket = nginx.server_socket(settings)
    _serve(settings, catalogue, "application", Interfaces.WSGI, socket, CONNECTIONS, KILL_AFTER, THREADS)


def serve_streams(settings: Settings, catalogue: RulesetRegistry) -> None:
    """Serve streams to the front until a signal comes."""
    from api.streams.asgi import SHUTDOWN_SECONDS  # noqa: PLC0415 - the server's main process needs no more of it

    socket = nginx.stream_socket(settings)
    _serve(settings, catalogue, "streams", Interfaces.ASGI, socket, nginx.STREAMS, SHUTDOWN_SECONDS + KILL_AFTER)


def _serve(
    settings: Settings,
    catalogue: RulesetRegistry,
    application: str,
    interface: Interfaces,
    socket: Path,
    connections: int,
    kill_after: int,
    threads: int | None = None,
) -> None:
    _given[:] = [catalogue]
    nginx.allow_files(connections + FILES)
    socket.unlink(missing_ok=True)  # one that was killed has left it behind
    Server(
        f"deploy.runtime.server:{application}",
        uds=socket,
        uds_permissions=0o600,
        interface=interface,
        factory=True,
        workers=1,
        blocking_threads=threads,
        backlog=connections,
        backpressure=connections,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE * 1000),
        websockets=False,
        log_level=LogLevels.info if settings.log_level == "debug" else LogLevels.error,
        workers_kill_timeout=kill_after,
        respawn_failed_workers=True,
    ).serve()


def application() -> WSGIApplication:
    """The WSGI application, made in the process that serves it; its settings come from the environment."""
    from api.app import create_app  # noqa: PLC0415 - the server's main process needs none of it

    return behind_front(create_app(_services()))


def streams() -> StreamApp:
    """The ASGI application, likewise."""
    from api.app import create_streams  # noqa: PLC0415 - as above

    return create_streams(_services(), as_the_front_says)


def _services() -> ApiServices:
    from deploy.runtime.wiring import create_services  # noqa: PLC0415

    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        parent_death.tie(parent.pid)
    settings = load()
    logging_setup.set_up_requests(settings.log_level)
    return create_services(settings, *_given).api()


def behind_front(app: WSGIApplication) -> WSGIApplication:
    """The same application, told who asks and how."""

    def told(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        as_the_front_says(environ)
        return app(environ, start_response)

    return told


def as_the_front_says(environ: WSGIEnvironment) -> None:
    """Tell the application who asks and how: the connection itself comes from the front."""
    environ["REMOTE_ADDR"] = _plain(environ.pop("HTTP_ANNALS_ADDRESS", ""))
    environ["wsgi.url_scheme"] = environ.pop("HTTP_ANNALS_SCHEME", "http")


@lru_cache(4096)
def _plain(address: str) -> str:
    """An address in its usual form, also one of IPv4 that came over IPv6; nothing for what is none."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(getattr(found, "ipv4_mapped", None) or found)
