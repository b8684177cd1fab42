"""Where people find the service: the address that stands in what programs of others and authenticators are told."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request

from api.http.problems import Problem
from api.services import services

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def address() -> str:
    """Scheme, host and port, as the operator has named them; where nobody has, of this machine alone, as asked for.

    Raises Problem for any other host: whoever asks may name whatever they like.
    """
    if known := services().settings.public_url:
        return known
    host = urlsplit(f"//{request.host}").hostname
    if host not in LOOPBACK:
        raise Problem("address_unset")
    return f"{request.scheme}://{request.host}"


def secure() -> bool:
    """Whether people come by TLS, also where it ends before us."""
    return request.is_secure or services().settings.public_url.startswith("https:")
