"""The prober: asks through the front door as any client does, and vouches for front, servers and Redis by what answers.

The supervisor replaces whom nobody has vouched for in time. That the service is asked whether it is ready also makes
its heart beat (`domain.service.heartbeat`): what the prober can reach, a player can.
"""

from __future__ import annotations

import http.client
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import NoReturn

from deploy.config.settings import Settings
from deploy.runtime import certificate, embedded_redis, nginx
from deploy.runtime.unix_http import Local
from workers import liveness

PERIOD = 1.0
"""Seconds between two looks."""

PATIENCE = 2.5
"""Seconds that each may take to answer."""

GLANCE = 1.0
"""The same for the process for streams: while it hangs the others are to be asked in time."""

VOUCHED = 10.0
"""Seconds after the last answer within which there must be another."""

SIGN = 6.0
"""Seconds within which the prober itself is to be heard of again, while it sleeps or asks one question.

So much less than VOUCHED that one that hangs is replaced before anybody is ended for whom it does not vouch any more.
"""

_OWN_ADDRESS = "127.1.0.1"
"""From where it asks on this machine: connections are counted for each address, and others may have used up theirs."""


def run(settings: Settings, pulses: Path, _: Sequence[str]) -> NoReturn:
    """Look again and again."""
    prober = Prober(settings, pulses)
    while True:
        began = time.monotonic()
        prober.look()
        liveness.set_deadline(SIGN)
        time.sleep(max(began + PERIOD - time.monotonic(), 0))


def vouch(pulses: Path, *names: str) -> None:
    """They have answered just now."""
    for name in names:
        liveness.set_deadline(VOUCHED, pulses / name)


class Prober:
    """`pulses` is the supervisor's folder for signs of life."""

    def __init__(self, settings: Settings, pulses: Path) -> None:
        self._settings, self._pulses = settings, pulses
        self._own_redis = settings.redis_url == embedded_redis.url_of(settings.data)

    def look(self) -> None:
        """Ask once; who does not answer through the door is asked by itself, so that the other is not blamed.

        And see whether the certificate was renewed.
        """
        nginx.renew(self._settings)
        if _answers(_door(self._settings), "/healthz"):
            self._vouch("front", "api")
            _answers(_door(self._settings), "/readyz")
        else:
            self._vouch(*(["front"] if _answers(_door(self._settings), "/", nameless=True) else []))
            self._vouch(
                *(["api"] if _answers(Local(nginx.server_socket(self._settings), PATIENCE), "/healthz") else [])
            )
        self._vouch(*(["streams"] if _answers(Local(nginx.stream_socket(self._settings), GLANCE), "/healthz") else []))
        if self._own_redis and self._redis_lives():
            self._vouch("redis")

    def _redis_lives(self) -> bool:
        liveness.set_deadline(SIGN)
        return embedded_redis.probe(self._settings.redis_url)

    def _vouch(self, *names: str) -> None:
        vouch(self._pulses, *names)


def ready(settings: Settings, seconds: float) -> bool:
    """Whether the service says through its door, in so many seconds, that it is ready."""
    with closing(_door(settings, seconds)) as connection, suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    return False


def _door(settings: Settings, seconds: float = PATIENCE) -> http.client.HTTPConnection:
    """To the front door, past any proxy that this process is told of."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    here = (_OWN_ADDRESS, 0) if sys.platform == "linux" and host.startswith("127.") else None
    if settings.tls_cert is None:
        return http.client.HTTPConnection(host, settings.port, timeout=seconds, source_address=here)
    context = certificate.unchecked()
    return http.client.HTTPSConnection(host, settings.port, timeout=seconds, source_address=here, context=context)


def _answers(connection: http.client.HTTPConnection, path: str, *, nameless: bool = False) -> bool:
    """Whether anything is answered, and not by the front in place of the server.

    A `nameless` request names no host: the front refuses it by itself, or where it has no connection left it closes
    this one, which it does only while it lives.
    """
    liveness.set_deadline(SIGN)
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
