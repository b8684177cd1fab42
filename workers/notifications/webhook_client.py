"""Webhook requests: to a checked address, with a valid certificate, within a time limit.

Only the status of the response and its Retry-After are read. Redirects are not followed.
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
from email.utils import parsedate_to_datetime

from domain.notifications.deliveries import DeliveryResult
from domain.notifications.ip_ranges import is_public_ip
from domain.notifications.webhook_urls import WebhookUrl
from workers.notifications.dns import Permit, Resolve, resolve

CONNECT_SECONDS = 5.0
"""Connection timeout per address, seconds."""

TOTAL_SECONDS = 10.0
"""Seconds from the connection to the response status."""

MAX_DIGITS = 9
"""Most digits of the seconds in a Retry-After: longer times are cut anyway."""

MAX_ADDRESSES = 2
"""Most addresses of a name to try."""


class AddressRefusedError(Exception):
    """The name resolves to a forbidden address."""


@functools.cache
def system_trust() -> ssl.SSLContext:
    """Return a TLS context with the system's root certificates."""
    return ssl.create_default_context()


@dataclass(frozen=True)
class WebhookClient:
    """Sends webhook requests. Thread-safe."""

    permit: Permit = is_public_ip
    resolve: Resolve = resolve
    context: Callable[[], ssl.SSLContext] = system_trust
    """Makes the TLS context on first use."""
    connect_seconds: float = CONNECT_SECONDS
    seconds: float = TOTAL_SECONDS

    def post(self, url: WebhookUrl, body: bytes, headers: Mapping[str, str]) -> DeliveryResult:
        """Send a request and return the result. No act of the receiver can raise an error here."""
        began, wait = time.monotonic(), 0
        try:
            status, wait = self._post(url, body, headers)
            word = ""
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
        return DeliveryResult(status, ms, "timeout" if not status and ms >= self.seconds * 1000 else word, wait)

    def _post(self, url: WebhookUrl, body: bytes, headers: Mapping[str, str]) -> tuple[int, int]:
        with self._connect(url) as raw, time_limit(raw, self.seconds):
            raw.settimeout(self.seconds)
            sock = self.context().wrap_socket(raw, server_hostname=url.host) if url.tls else raw
            with sock:
                return _send_request(sock, url, body, headers)

    def _connect(self, url: WebhookUrl) -> socket.socket:
        """Connect to an address of the host after a check of all of them."""
        addresses = self.resolve(url.host, url.port)
        if not addresses or not all(map(self.permit, addresses)):
            raise AddressRefusedError
        return connect_first(addresses, url.port, self.connect_seconds)


def connect_first(addresses: Sequence[str], port: int, seconds: float) -> socket.socket:
    """Connect to the first of MAX_ADDRESSES addresses that accepts; `seconds` for each. Raises OSError."""
    last = OSError("no address")
    for address in addresses[:MAX_ADDRESSES]:
        try:
            return socket.create_connection((address, port), seconds)
        except OSError as error:
            last = error
    raise last


def _send_request(sock: socket.socket, url: WebhookUrl, body: bytes, headers: Mapping[str, str]) -> tuple[int, int]:
    """Return the status of the response, and the time (ms) until the receiver wants another attempt."""
    connection = http.client.HTTPConnection(url.host, url.port)
    connection.sock = sock
    connection.putrequest("POST", url.path, skip_host=True, skip_accept_encoding=True)
    all_headers = {"Host": url.authority, "Content-Length": str(len(body)), "Connection": "close", **headers}
    for name, value in all_headers.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    return answer.status, read_retry_after(answer.headers.get("Retry-After", ""), time.time())


def read_retry_after(value: str, now: float) -> int:
    """Return the time (ms) of a Retry-After (RFC 9110, 10.2.3): seconds, or a date; 0 if it is neither.

    `now`: seconds since 1970.
    """
    if value.isascii() and value.isdecimal():
        return int(value[:MAX_DIGITS]) * 1000
    try:
        return max(int((parsedate_to_datetime(value).timestamp() - now) * 1000), 0)
    except (ValueError, OverflowError):
        return 0


@contextmanager
def time_limit(sock: socket.socket, seconds: float) -> Iterator[None]:
    """Shut the socket down after `seconds`, however slowly the other side sends.

    Uses a duplicate descriptor, because TLS takes over the socket's own.
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
