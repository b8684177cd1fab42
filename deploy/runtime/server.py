"""The HTTP servers behind nginx: granian runs each application.

The API server handles each request in a thread. The stream server handles all streams on an event loop.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from deploy.config.settings import Settings, load_settings
from deploy.runtime import logging_setup, nginx

if TYPE_CHECKING:
    from _typeshed.wsgi import InputStream, StartResponse, WSGIApplication, WSGIEnvironment

    from api.app import AnnalsApp
    from api.streams.asgi import StreamApp
    from api.streams.whole_app import WholeApp
    from deploy.runtime.shared_services import SharedServices
    from deploy.runtime.wiring import ServiceContainer

RESERVED_FILES = 256
"""Open files apart from connections: databases, locks, libraries."""

MAX_THREADS = 256
"""Concurrent requests of one process."""

MAX_CONNECTIONS = 1024
"""Connections of one process. Nginx opens fewer, so its limits apply first."""

IDLE_SECONDS = 600
"""Seconds before an idle connection is closed. Nginx closes it long before."""


READ_BYTES = 2**16
"""Size of a piece of a refused body."""

_whole: list[WholeApp] = []
"""The application of a service in one process."""

_inherited: list[SharedServices] = []
"""Services and application of forked processes. Other processes build their own, with the shipped rulesets."""


def serve_api(settings: Settings, shared: SharedServices | None) -> None:
    """Serve the API without streams to nginx, until a signal comes."""
    socket = nginx.server_socket(settings)
    _run_server(settings, shared, "create_api_app", Interfaces.WSGI, socket, MAX_CONNECTIONS, MAX_THREADS)


def serve_streams(settings: Settings, shared: SharedServices | None) -> None:
    """Serve streams to nginx, until a signal comes."""
    path = nginx.stream_socket(settings)
    _run_server(settings, shared, "create_stream_app", Interfaces.ASGI, path, nginx.MAX_STREAMS)


def prepare_whole_app(services: ServiceContainer, leave: Callable[[], None]) -> None:
    """Make the application that `serve_all` serves; `leave` ends all else before the process ends."""
    from api.app import create_app  # noqa: PLC0415 - forked processes inherit it
    from api.streams.whole_app import WholeApp  # noqa: PLC0415 - other servers need none of it

    logging_setup.configure_request_log(services.settings.log_level)
    _whole[:] = [WholeApp(create_app(services.build_api_services()), apply_nginx_headers, leave)]


def serve_all(settings: Settings) -> None:
    """Serve requests and streams to nginx until a signal comes. The process ends with it."""
    path = nginx.stream_socket(settings)
    _run_server(settings, None, "find_whole_app", Interfaces.ASGI, path, MAX_CONNECTIONS)


def find_whole_app() -> WholeApp:
    """Return the application of a service in one process."""
    return _whole[0]


class _ProcessServer(MPServer):
    """Granian's server with its only worker in this process: the supervisor restarts it."""

    _sso: socket | None

    def _spawn_workers(self, spawn_target: Callable[..., None], target_loader: Callable[..., object]) -> None:
        """Serve until a signal comes."""
        self._spawn_worker(0, spawn_target, target_loader).inner.run()
        self.interrupt_signal = True
        self.main_loop_interrupt.set()

    def _drop_shared_socket(self) -> None:
        """Forget the socket: the worker has closed it."""
        if self._sso is not None:
            self._sso.detach()
            self._sso = None


def _run_server(
    settings: Settings,
    shared: SharedServices | None,
    application: str,
    interface: Interfaces,
    socket: Path,
    connections: int,
    threads: int | None = None,
) -> None:
    _inherited[:] = [shared] if shared else []
    nginx.raise_file_limit(connections + RESERVED_FILES)
    socket.unlink(missing_ok=True)  # a killed server left it behind
    _ProcessServer(
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
    ).serve()


def create_api_app() -> WSGIApplication:
    """Return the WSGI application."""
    return with_nginx_headers(_load_app())


def create_stream_app() -> StreamApp:
    """Return the ASGI application for streams."""
    from api.streams.asgi import StreamApp  # noqa: PLC0415 - the other server needs none of it

    return StreamApp(_load_app(), apply_nginx_headers)


def _load_app() -> AnnalsApp:
    """Return the inherited application, or a new one with settings from the environment."""
    if _inherited:
        logging_setup.configure_request_log(_inherited[0].settings.log_level)
        return _inherited[0].find_app()
    from api.app import create_app  # noqa: PLC0415 - forked processes inherit it
    from deploy.runtime.wiring import create_services  # noqa: PLC0415

    settings = load_settings()
    logging_setup.configure_request_log(settings.log_level)
    return create_app(create_services(settings).build_api_services())


def with_nginx_headers(app: WSGIApplication) -> WSGIApplication:
    """Return the application with the client's address and scheme from nginx."""

    def wrapped(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        apply_nginx_headers(environ)
        try:
            return app(environ, start_response)
        finally:
            _read_rest(environ["wsgi.input"])

    return wrapped


def _read_rest(body: InputStream) -> None:
    """Read the unread rest of a refused body.

    Otherwise the server closes the connection while nginx still writes, and nginx answers 503 in place of the refusal.
    Nginx has the whole body, within its limits of size and time, so no client can prolong this.
    """
    while body.read(READ_BYTES):
        pass


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
