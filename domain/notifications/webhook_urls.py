"""Where a webhook leads: what its address must look like. What the name stands for is looked at with each delivery."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from domain.errors import AccountError
from domain.notifications.ip_ranges import loopback, public, public_or_own

LONGEST = 500
"""Characters of an address."""

MODES = ("https", "loopback", "none")
"""Where webhooks may lead: to the network by TLS, also to this machine in plain form (for trials), or nowhere."""

_SIGNS = re.compile(r"[!-~]+")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_HTTPS = 443
_FREE = range(1024, 65536)
"""Ports beside that of https: none of those below, where mail, name and other servers listen."""


@dataclass(frozen=True)
class Target:
    """An address in its parts."""

    tls: bool
    host: str
    """A name in small letters, or a literal address without brackets."""
    port: int
    path: str
    """With the query."""

    @property
    def authority(self) -> str:
        """What the header `Host` says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (_HTTPS if self.tls else 80) else f"{host}:{self.port}"


def target(url: str, mode: str = "https") -> Target:
    """The parts of an address; raises AccountError (`webhook_refused`) for one to which nothing is ever sent."""
    if mode == "none":
        raise AccountError("webhook_refused", "This service sends no webhooks.")
    if len(url) > LONGEST or not _SIGNS.fullmatch(url):
        raise AccountError("webhook_refused", "The address is too long, or has signs that must be escaped.")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise AccountError("webhook_refused", "That is no address.") from None
    if parts.username is not None or parts.password is not None or "#" in url or "\\" in url:
        raise AccountError("webhook_refused", "The address holds a user, a password or a fragment.")
    plain = mode == "loopback" and parts.scheme == "http" and loopback(host)
    if parts.scheme != "https" and not plain:
        raise AccountError("webhook_refused", "The address begins with https://.")
    if not _host(host):
        raise AccountError("webhook_refused", "The address names no host.")
    if literal(host) and not (public_or_own if mode == "loopback" else public)(host):
        raise AccountError("webhook_refused", "That address is not of the public network.")
    port = (80 if plain else _HTTPS) if port is None else port
    if port != _HTTPS and port not in _FREE and not plain:
        raise AccountError("webhook_refused", "The port is 443, or above 1023.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme == "https", host, port, path)


def literal(host: str) -> bool:
    """Whether that is no name."""
    try:
        return ipaddress.ip_address(host) is not None
    except ValueError:
        return False


def _host(host: str) -> bool:
    """A literal address in its usual form, or a name of several parts whose last one is no number."""
    try:
        return str(ipaddress.ip_address(host)) == host
    except ValueError:
        labels = host.split(".")
    named = len(host) <= 253 and len(labels) > 1 and all(_LABEL.fullmatch(label) for label in labels)
    return named and not labels[-1][0].isdigit()
