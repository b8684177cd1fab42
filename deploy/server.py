"""The HTTP server: granian runs the WSGI application in a worker process of its own, behind the front."""

from __future__ import annotations

import ipaddress
import multiprocessing
from collections.abc import Iterable
from typing import TYPE_CHECKING

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import Server

from deploy import front, lifeline, logs
from deploy.settings import Settings, load
from domain.catalogue import Catalogue

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

FILES = 256
"""Files beside the connections: databases, locks, libraries."""

THREADS = 256
"""Requests and streams that one process serves at once."""

CONNECTIONS = 1024
"""Connections that one process takes: more than the front makes, which is what limits."""

IDLE = 600
"""Seconds that a connection without a request is kept; the front closes it long before."""

KILL_AFTER = 1
"""Seconds that open streams have to end."""


_given: list[Catalogue] = []
"""The rulesets to serve; passed on to the processes that are forked from this one, others play what is shipped."""


def serve(settings: Settings, catalogue: Catalogue) -> None:
    """Serve the front until a signal comes."""
    _given[:] = [catalogue]
    front.allow_files(CONNECTIONS + FILES)
    front.server_socket(settings).unlink(missing_ok=True)  # one that was killed has left it behind
    Server(
        "deploy.server:application",
        uds=front.server_socket(settings),
        uds_permissions=0o600,
        interface=Interfaces.WSGI,
        factory=True,
        workers=1,
        blocking_threads=THREADS,
        backlog=CONNECTIONS,
        backpressure=CONNECTIONS,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE * 1000),
        websockets=False,
        log_level=LogLevels.info if settings.log_level == "debug" else LogLevels.error,
        workers_kill_timeout=KILL_AFTER,
        respawn_failed_workers=True,
    ).serve()


def application() -> WSGIApplication:
    """The WSGI application, made in the process that serves it; its settings come from the environment."""
    from api.app import create_app  # noqa: PLC0415 - the server's main process needs none of it
    from deploy.wiring import create_services  # noqa: PLC0415

    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        lifeline.tie(parent.pid)
    settings = load()
    logs.set_up_requests(settings.log_level)
    return behind_front(create_app(create_services(settings, *_given).api()))


def behind_front(app: WSGIApplication) -> WSGIApplication:
    """Tell the application who asks and how, as the front says: the connection itself comes from the front."""

    def told(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ["REMOTE_ADDR"] = _plain(environ.pop("HTTP_ANNALS_ADDRESS", ""))
        environ["wsgi.url_scheme"] = environ.pop("HTTP_ANNALS_SCHEME", "http")
        return app(environ, start_response)

    return told


def _plain(address: str) -> str:
    """An address in its usual form, also one of IPv4 that came over IPv6; nothing for what is none."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(getattr(found, "ipv4_mapped", None) or found)
