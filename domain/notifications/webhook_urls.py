"""Syntax of webhook URLs. Each delivery checks the resolved address again."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from domain.errors import AccountError
from domain.notifications.ip_ranges import is_loopback_ip, is_public_ip, is_public_or_loopback_ip

LONGEST = 500
"""Characters of a URL."""

MODES = ("https", "loopback", "none")
"""Allowed targets: the network by TLS, also this machine over plain HTTP (for trials), or none."""

_SIGNS = re.compile(r"[!-~]+")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_HTTPS = 443
_FREE = range(1024, 65536)
"""Ports besides 443: none below 1024, with mail, name and other servers."""


@dataclass(frozen=True)
class WebhookUrl:
    """A parsed URL."""

    tls: bool
    host: str
    """A name in lower case, or an IP address without brackets."""
    port: int
    path: str
    """Path with query."""

    @property
    def authority(self) -> str:
        """The value of the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (_HTTPS if self.tls else 80) else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme and authority: the same text for all spellings."""
        return f"{'https' if self.tls else 'http'}://{self.authority}"


def parse_webhook_url(url: str, mode: str = "https") -> WebhookUrl:
    """Return the parts of a URL; raise AccountError (`webhook_refused`) for a forbidden one."""
    if mode == "none":
        raise AccountError("webhook_refused", "This service sends no webhooks.")
    if len(url) > LONGEST or not _SIGNS.fullmatch(url):
        raise AccountError("webhook_refused", "The URL is too long, or has characters that must be escaped.")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise AccountError("webhook_refused", "This is not a URL.") from None
    if parts.username is not None or parts.password is not None or "#" in url or "\\" in url:
        raise AccountError("webhook_refused", "The URL must not contain a user, a password or a fragment.")
    plain = mode == "loopback" and parts.scheme == "http" and is_loopback_ip(host)
    if parts.scheme != "https" and not plain:
        raise AccountError("webhook_refused", "The URL must begin with https://.")
    if not host:
        raise AccountError("webhook_refused", "The URL has no host.")
    if not _is_valid_host(host):
        raise AccountError("webhook_refused", "The host must be a full name or an IP address in its usual form.")
    if is_ip_address(host) and not (is_public_or_loopback_ip if mode == "loopback" else is_public_ip)(host):
        raise AccountError("webhook_refused", "The address is not in the public network.")
    port = (80 if plain else _HTTPS) if port is None else port
    if port != _HTTPS and port not in _FREE and not plain:
        raise AccountError("webhook_refused", "The port must be 443, or above 1023.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebhookUrl(parts.scheme == "https", host, port, path)


def is_ip_address(host: str) -> bool:
    """Return whether a host is an IP address."""
    try:
        return ipaddress.ip_address(host) is not None
    except ValueError:
        return False


def _is_valid_host(host: str) -> bool:
    """Return whether a host is an IP address in its usual form, or a name of several parts without a last number."""
    try:
        return str(ipaddress.ip_address(host)) == host
    except ValueError:
        labels = host.split(".")
    is_name = len(host) <= 253 and len(labels) > 1 and all(_LABEL.fullmatch(label) for label in labels)
    return is_name and not labels[-1][0].isdigit()
