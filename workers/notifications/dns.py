"""Name resolution: once per delivery, with a check of all resolved addresses.

The connection goes to a checked address, so a later change of the name has no effect.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

Resolve = Callable[[str, int], Sequence[str]]
"""Resolves host and port to addresses. May raise OSError."""

Permit = Callable[[str], bool]
"""Returns True if deliveries to the address are allowed."""


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses that the system resolves."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))
