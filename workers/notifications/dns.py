"""What a name stands for. It is resolved once for each delivery, and all that it stands for is looked at.

The connection is made to an address that was looked at: what the name stands for a moment later does not matter.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

Resolve = Callable[[str, int], Sequence[str]]
"""Host and port -> the addresses that the name stands for. May raise OSError."""

Permit = Callable[[str], bool]
"""Whether something may be sent to that address."""


def resolve(host: str, port: int) -> list[str]:
    """What the system says."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
