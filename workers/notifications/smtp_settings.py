"""The operator's mail server, parsed from the setting."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from domain.notifications.ip_ranges import is_loopback_ip

TLS_MODES = ("whole", "starttls", "none")
"""TLS from the first byte, by mandatory STARTTLS, or none."""

_PORTS = {"smtps": 465, "smtp": 587}
_HOST = re.compile(r"[A-Za-z0-9._:-]{1,253}")


@dataclass(frozen=True)
class SmtpServer:
    """Address and credentials of a mail server."""

    host: str
    port: int
    tls: str
    """One of TLS_MODES."""
    user: str = ""
    password: str = field(default="", repr=False)


def parse_smtp_url(url: str) -> SmtpServer:
    """Parse `smtps://user:password@host:port` or `smtp://...`; raises ValueError without quoting the URL."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    if parts.scheme not in _PORTS or not _HOST.fullmatch(host) or parts.path not in ("", "/") or parts.fragment:
        raise ValueError("smtp://user:password@host:port or smtps://... is expected")
    if parts.query not in ("", "starttls=no") or (parts.query and parts.scheme == "smtps"):
        raise ValueError("after the host of smtp:// nothing but ?starttls=no is expected")
    if (parts.username is None) != (parts.password is None):
        raise ValueError("a user and a password belong together")
    plain = bool(parts.query) or _is_local(host)
    tls = "whole" if parts.scheme == "smtps" else "none" if plain else "starttls"
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user + password).isprintable():
        raise ValueError("a user and a password are expected that can be printed")
    return SmtpServer(host, port or _PORTS[parts.scheme], tls, user, password)


def _is_local(host: str) -> bool:
    return host == "localhost" or is_loopback_ip(host)
