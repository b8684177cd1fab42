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

from domain.notifications.deliveries import DeliveryResult
from domain.notifications.ip_ranges import is_public_ip
from domain.notifications.webhook_urls import WebhookUrl
from workers.notifications.dns import Permit, Resolve, resolve

CONNECT_SECONDS = 5.0
"""Seconds for each address that is tried."""

TOTAL_SECONDS = 10.0
"""Seconds from the connection to the status of the answer."""

MAX_ADDRESSES = 2
"""Addresses of a name that are tried."""


class AddressRefusedError(Exception):
    """The name stands for an address to which nothing is sent."""


@functools.cache
def system_trust() -> ssl.SSLContext:
    """What the system trusts."""
    return ssl.create_default_context()


@dataclass(frozen=True)
class WebhookClient:
    """Sends requests. Safe with threads."""

    permit: Permit = is_public_ip
    resolve: Resolve = resolve
    context: Callable[[], ssl.SSLContext] = system_trust
    """What certificates must be signed by; asked for when it is first needed."""
    connect_seconds: float = CONNECT_SECONDS
    seconds: float = TOTAL_SECONDS

    def post(self, url: WebhookUrl, body: bytes, headers: Mapping[str, str]) -> DeliveryResult:
        """What came of it. Raises nothing that a receiver could cause."""
        began = time.monotonic()
        try:
            status, word = self._post(url, body, headers), ""
        except AddressRefusedError:
            status, word = 0, "address_refused"
        except socket.gaierror:
            status, word = 0, "no_such_host"
        except TimeoutError:
            status, word = 0, "timeout"
        except ssl.SSLError:
            status, word = 0, "tls_failed"
        except (OSError, http.client.HTTPException, ValueError):
            status, word = 0, "no_answer"
        ms = int((time.monotonic() - began) * 1000)
        return DeliveryResult(status, ms, "timeout" if not status and ms >= self.seconds * 1000 else word)

    def _post(self, url: WebhookUrl, body: bytes, headers: Mapping[str, str]) -> int:
        with self._connect(url) as raw, time_limit(raw, self.seconds):
            raw.settimeout(self.seconds)
            sock = self.context().wrap_socket(raw, server_hostname=url.host) if url.tls else raw
            with sock:
                return _send_request(sock, url, body, headers)

    def _connect(self, url: WebhookUrl) -> socket.socket:
        """A connection to an address of the name, all of which are such as may be asked."""
        addresses = self.resolve(url.host, url.port)
        if not addresses or not all(map(self.permit, addresses)):
            raise AddressRefusedError
        return connect_first(addresses, url.port, self.connect_seconds)


def connect_first(addresses: Sequence[str], port: int, seconds: float) -> socket.socket:
    """A connection to the first of a few addresses that takes one; raises OSError. `seconds` for each."""
    last = OSError("no address")
    for address in addresses[:MAX_ADDRESSES]:
        try:
            return socket.create_connection((address, port), seconds)
        except OSError as error:
            last = error
    raise last


def _send_request(sock: socket.socket, url: WebhookUrl, body: bytes, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection(url.host, url.port)
    connection.sock = sock
    connection.putrequest("POST", url.path, skip_host=True, skip_accept_encoding=True)
    all_headers = {"Host": url.authority, "Content-Length": str(len(body)), "Connection": "close", **headers}
    for name, value in all_headers.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    return connection.getresponse().status


@contextmanager
def time_limit(sock: socket.socket, seconds: float) -> Iterator[None]:
    """However slowly the other side goes on, byte by byte, it is over after so many seconds.

    A descriptor of our own: TLS takes that of the socket over.
    """
    duplicate = sock.dup()

    def end() -> None:
        with contextlib.suppress(OSError):
            duplicate.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        duplicate.close()
