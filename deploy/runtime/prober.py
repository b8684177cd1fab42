"""Health checks: requests through nginx, on a socket of their own, extend the deadlines of nginx, servers and Redis.

The supervisor restarts a process after its deadline. The request for /readyz also writes the heartbeat
(`domain.service.heartbeat`): if the prober reaches the service, players do.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import NoReturn

from deploy.config.settings import Settings
from deploy.runtime import certificate, nginx
from deploy.runtime.unix_http import UnixHttpConnection
from workers import liveness

PROBE_PERIOD = 1.0
"""Seconds between two rounds of checks."""

PATIENCE = 2.5
"""Seconds to wait for an answer."""

STREAM_PATIENCE = 1.0
"""Seconds to wait for the stream server. Short, so that the other checks are on time while it hangs."""

ANSWER_DEADLINE = 10.0
"""Seconds after an answer within which the next one must come."""

PROBER_DEADLINE = 6.0
"""Seconds within which the prober itself must give a sign of life, in a pause or one request.

Well below ANSWER_DEADLINE: a prober that hangs is replaced before the processes it checks are ended.
"""


def run_prober(settings: Settings, liveness_folder: Path, _: Sequence[str]) -> NoReturn:
    """Check all servers forever, once per PROBE_PERIOD."""
    prober = Prober(settings, liveness_folder)
    while True:
        began = time.monotonic()
        prober.probe()
        liveness.set_deadline(PROBER_DEADLINE)
        time.sleep(max(began + PROBE_PERIOD - time.monotonic(), 0))


def extend_deadlines(liveness_folder: Path, *names: str) -> None:
    """Extend the deadlines of these processes: they have just answered."""
    for name in names:
        liveness.set_deadline(ANSWER_DEADLINE, liveness_folder / name)


class Prober:
    """Health checks of one service. `liveness_folder` holds the supervisor's deadline files."""

    def __init__(self, settings: Settings, liveness_folder: Path) -> None:
        self._settings, self._liveness_folder = settings, liveness_folder
        self._own_redis = bool(settings.redis_url) and _is_embedded(settings)

    def probe(self) -> None:
        """Check each server once, and renew the certificate.

        If there is no answer through nginx, ask nginx and the API server separately to find the one at fault.
        """
        nginx.renew_certificate(self._settings)
        if _has_answer(_connect_to_nginx(self._settings), "/healthz"):
            self._extend_deadlines("front", "api")
            _has_answer(_connect_to_nginx(self._settings), "/readyz")
        else:
            self._extend_deadlines(
                *(["front"] if _has_answer(_connect_to_nginx(self._settings), "/", nameless=True) else [])
            )
            self._extend_deadlines(
                *(
                    ["api"]
                    if _has_answer(UnixHttpConnection(nginx.server_socket(self._settings), PATIENCE), "/healthz")
                    else []
                )
            )
        self._extend_deadlines(
            *(
                ["streams"]
                if _has_answer(UnixHttpConnection(nginx.stream_socket(self._settings), STREAM_PATIENCE), "/healthz")
                else []
            )
        )
        if self._own_redis and self._is_redis_alive():
            self._extend_deadlines("redis")

    def _is_redis_alive(self) -> bool:
        liveness.set_deadline(PROBER_DEADLINE)
        from deploy.runtime import embedded_redis  # noqa: PLC0415 - a service in one process has none

        return embedded_redis.is_alive(self._settings.redis_url)

    def _extend_deadlines(self, *names: str) -> None:
        extend_deadlines(self._liveness_folder, *names)


def _is_embedded(settings: Settings) -> bool:
    from deploy.runtime import embedded_redis  # noqa: PLC0415

    return settings.redis_url == embedded_redis.server_url(settings.data)


def is_ready(settings: Settings, seconds: float) -> bool:
    """Return whether the service answers through nginx within `seconds` and is ready."""
    with closing(_connect_to_nginx(settings, seconds)) as connection, suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    return False


def _connect_to_nginx(settings: Settings, seconds: float = PATIENCE) -> UnixHttpConnection:
    """Open a connection to nginx on the socket for health checks, which clients cannot fill."""
    context = None if settings.tls_cert is None else certificate.unverified_context()
    return UnixHttpConnection(nginx.probe_socket(settings), seconds, context)


def _has_answer(connection: http.client.HTTPConnection, path: str, *, nameless: bool = False) -> bool:
    """Return whether the server answers, and not nginx in its place.

    A `nameless` request has no Host header, and tests nginx alone: a live nginx refuses it, or closes the connection
    if it has none left.
    """
    liveness.set_deadline(PROBER_DEADLINE)
    try:
        connection.putrequest("GET", path, skip_host=nameless)
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
        return nameless or answer.getheader("Request-Id") is not None
    except (ConnectionResetError, BrokenPipeError):
        return nameless
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
