"""The HTTP servers behind nginx: granian runs each application in a worker process.

The API server handles each request in a thread. The stream server handles all streams on an event loop.
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

from deploy.config.settings import Settings, load_settings
from deploy.runtime import logging_setup, nginx, parent_death
from domain.ruleset_registry import RulesetRegistry

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from api.services import ApiServices
    from api.streams.asgi import StreamApp

RESERVED_FILES = 256
"""Open files apart from connections: databases, locks, libraries."""

MAX_THREADS = 256
"""Concurrent requests of one process."""

MAX_CONNECTIONS = 1024
"""Connections of one process. Nginx opens fewer, so its limits apply first."""

IDLE_SECONDS = 600
"""Seconds before an idle connection is closed. Nginx closes it long before."""

KILL_AFTER = 1
"""Seconds that running requests have to finish. Clients repeat an interrupted move with its idempotency key."""


_registries: list[RulesetRegistry] = []
"""Rulesets to serve, inherited by forked processes. Without one, processes load the shipped rulesets."""


def serve_api(settings: Settings, registry: RulesetRegistry) -> None:
    """Serve the API without streams to nginx, until a signal comes."""
    socket = nginx.server_socket(settings)
    _run_server(settings, registry, "create_api_app", Interfaces.WSGI, socket, MAX_CONNECTIONS, KILL_AFTER, MAX_THREADS)


def serve_streams(settings: Settings, registry: RulesetRegistry) -> None:
    """Serve streams to nginx, until a signal comes."""
    from api.streams.asgi import SHUTDOWN_SECONDS  # noqa: PLC0415 - the server's main process needs only this name

    socket = nginx.stream_socket(settings)
    _run_server(
        settings,
        registry,
        "create_stream_app",
        Interfaces.ASGI,
        socket,
        nginx.MAX_STREAMS,
        SHUTDOWN_SECONDS + KILL_AFTER,
    )


def _run_server(
    settings: Settings,
    registry: RulesetRegistry,
    application: str,
    interface: Interfaces,
    socket: Path,
    connections: int,
    kill_after: int,
    threads: int | None = None,
) -> None:
    _registries[:] = [registry]
    nginx.raise_file_limit(connections + RESERVED_FILES)
    socket.unlink(missing_ok=True)  # a killed server left it behind
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
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_SECONDS * 1000),
        websockets=False,
        log_level=LogLevels.info if settings.log_level == "debug" else LogLevels.error,
        workers_kill_timeout=kill_after,
        respawn_failed_workers=True,
    ).serve()


def create_api_app() -> WSGIApplication:
    """Return the WSGI application, with settings from the environment. Called in the worker process."""
    from api.app import create_app  # noqa: PLC0415 - the server's main process needs none of it

    return with_nginx_headers(create_app(_create_api_services()))


def create_stream_app() -> StreamApp:
    """Return the ASGI application for streams, with settings from the environment."""
    from api.app import create_streams  # noqa: PLC0415 - as above

    return create_streams(_create_api_services(), apply_nginx_headers)


def _create_api_services() -> ApiServices:
    from deploy.runtime.wiring import create_services  # noqa: PLC0415

    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        parent_death.end_with_parent(parent.pid)
    settings = load_settings()
    logging_setup.configure_request_log(settings.log_level)
    return create_services(settings, *_registries).build_api_services()


def with_nginx_headers(app: WSGIApplication) -> WSGIApplication:
    """Return the application with the client's address and scheme from nginx."""

    def wrapped(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        apply_nginx_headers(environ)
        return app(environ, start_response)

    return wrapped


def apply_nginx_headers(environ: WSGIEnvironment) -> None:
    """Set the client's address and scheme from nginx's headers, since the connection itself comes from nginx."""
    environ["REMOTE_ADDR"] = _normalize_address(environ.pop("HTTP_ANNALS_ADDRESS", ""))
    environ["wsgi.url_scheme"] = environ.pop("HTTP_ANNALS_SCHEME", "http")


@lru_cache(4096)
def _normalize_address(address: str) -> str:
    """Return an IP address in its usual form, IPv4 also if mapped to IPv6; empty if invalid."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return ""
    return str(getattr(ip, "ipv4_mapped", None) or ip)
