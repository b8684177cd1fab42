"""The public URL of the service, used for OAuth, passkeys and authenticators."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request

from api.http.problems import Problem
from api.services import services

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def base_url() -> str:
    """Return scheme, host and port from the settings, or of the request if it is for this machine.

    Raise Problem for any other host: a client can send any Host header.
    """
    if url := services().settings.public_url:
        return url
    host = urlsplit(f"//{request.host}").hostname
    if host not in LOOPBACK:
        raise Problem("address_unset")
    return f"{request.scheme}://{request.host}"


def is_secure() -> bool:
    """Return True if clients use TLS, also where a reverse proxy ends it."""
    return request.is_secure or services().settings.public_url.startswith("https:")
