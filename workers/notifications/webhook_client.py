"""One request to a stranger: to an address that was looked at, with a certificate of the name, for so long at most.

Nothing of the answer is read but its status. What the receiver is told stands in the signed body; a redirect is an
answer like any other.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from domain.notifications.deliveries import Outcome
from domain.notifications.ip_ranges import public
from domain.notifications.webhook_urls import Target
from workers.notifications.dns import Permit, Resolve, resolve

CONNECT = 5.0
"""Seconds for each address that is tried."""

WHOLE = 10.0
"""Seconds from the connection to the status of the answer."""

TRIED = 2
"""Addresses of a name that are tried."""


class RefusedError(Exception):
    """The name stands for an address to which nothing is sent."""


@functools.cache
def trusted() -> ssl.SSLContext:
    """What the system trusts."""
    return ssl.create_default_context()


@dataclass(frozen=True)
class Sender:
    """Sends requests. Safe with threads."""

    permit: Permit = public
    resolve: Resolve = resolve
    context: Callable[[], ssl.SSLContext] = trusted
    """What certificates must be signed by; asked for when it is first needed."""
    connect_seconds: float = CONNECT
    seconds: float = WHOLE

    def post(self, to: Target, body: bytes, headers: Mapping[str, str]) -> Outcome:
        """What came of it. Raises nothing that a receiver could cause."""
        began = time.monotonic()
        try:
            status, said = self._post(to, body, headers), ""
        except RefusedError:
            status, said = 0, "address_refused"
        except socket.gaierror:
            status, said = 0, "no_such_host"
        except TimeoutError:
            status, said = 0, "timeout"
        except ssl.SSLError:
            status, said = 0, "tls_failed"
        except (OSError, http.client.HTTPException, ValueError):
            status, said = 0, "no_answer"
        ms = int((time.monotonic() - began) * 1000)
        return Outcome(status, ms, "timeout" if not status and ms >= self.seconds * 1000 else said)

    def _post(self, to: Target, body: bytes, headers: Mapping[str, str]) -> int:
        with self._connected(to) as raw, limited(raw, self.seconds):
            raw.settimeout(self.seconds)
            sock = self.context().wrap_socket(raw, server_hostname=to.host) if to.tls else raw
            with sock:
                return _asked(sock, to, body, headers)

    def _connected(self, to: Target) -> socket.socket:
        """A connection to an address of the name, all of which are such as may be asked."""
        found = self.resolve(to.host, to.port)
        if not found or not all(map(self.permit, found)):
            raise RefusedError
        return connected(found, to.port, self.connect_seconds)


def connected(addresses: Sequence[str], port: int, seconds: float) -> socket.socket:
    """A connection to the first of a few addresses that takes one; raises OSError. `seconds` for each."""
    last = OSError("no address")
    for address in addresses[:TRIED]:
        try:
            return socket.create_connection((address, port), seconds)
        except OSError as error:
            last = error
    raise last


def _asked(sock: socket.socket, to: Target, body: bytes, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection(to.host, to.port)
    connection.sock = sock
    connection.putrequest("POST", to.path, skip_host=True, skip_accept_encoding=True)
    sent = {"Host": to.authority, "Content-Length": str(len(body)), "Connection": "close", **headers}
    for name, value in sent.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    return connection.getresponse().status


@contextmanager
def limited(sock: socket.socket, seconds: float) -> Iterator[None]:
    """However slowly the other side goes on, byte by byte, it is over after so many seconds.

    A descriptor of our own: TLS takes that of the socket over.
    """
    own = sock.dup()

    def end() -> None:
        with contextlib.suppress(OSError):
            own.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        own.close()
