"""Addresses of a Redis with Sentinels. A service in one process reads them too, so no library is needed.

`redis+sentinel://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT]/SERVICE[/DB][?OPTIONS]`, and `rediss+sentinel://` for TLS to
servers and Sentinels. User, password and options are those of the servers, as in an address without Sentinels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlencode

SCHEMES = {"redis+sentinel": "redis", "rediss+sentinel": "rediss"}
"""Scheme -> scheme of the servers and Sentinels."""

SENTINEL_PORT = 26379

_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")

_LOGIN = {"sentinel_username": "username", "sentinel_password": "password", "sentinel_passfile": "passfile"}
"""Option of the address -> option of each Sentinel. Sentinels have users of their own."""


@dataclass(frozen=True)
class SentinelAddress:
    """The address of a Redis with Sentinels, in parts that are addresses without Sentinels."""

    service: str
    """The Sentinels' name of the servers."""
    sentinel_urls: Sequence[str] = field(repr=False)
    server_url: str = field(repr=False)
    """Address of the current master, but for its host."""


def scheme_of(url: str) -> str:
    """Return the scheme of an address in lower case."""
    return url.partition("://")[0].lower() if "://" in url else ""


def parse_sentinel_url(url: str) -> SentinelAddress | None:
    """Return the parts of an address with Sentinels; None for any other address.

    Raises ValueError, with a message that repeats nothing of the address.
    """
    if (scheme := scheme_of(url)) not in SCHEMES:
        return None
    place, _, query = url.partition("://")[2].partition("?")
    authority, _, path = place.partition("/")
    user, at, hosts = authority.rpartition("@")
    service, _, number = path.partition("/")
    if not service:
        raise ValueError("the name of the service is missing: redis+sentinel://HOST:PORT,HOST:PORT/SERVICE")
    if not re.fullmatch("[0-9]{0,5}", number):
        raise ValueError("the part after the service is the number of a database")
    options = parse_qsl(query, keep_blank_values=True)
    if unknown := [n for n, _ in options if n.startswith("sentinel_") and n not in _LOGIN]:
        raise ValueError(f"options of Sentinels are {', '.join(_LOGIN)}; {len(unknown)} others are given")
    plain = SCHEMES[scheme]
    tls = [(name, value) for name, value in options if name.startswith("ssl_")]
    login = [(_LOGIN[name], value) for name, value in options if name in _LOGIN]
    own = [(name, value) for name, value in options if name not in _LOGIN]
    return SentinelAddress(
        unquote(service),
        [_with_options(f"{plain}://{_login_of(login)}{host}", [*tls, *_file_of(login)]) for host in _list_hosts(hosts)],
        _with_options(f"{plain}://{user}{at}sentinels/{number}", own),
    )


def _list_hosts(hosts: str) -> list[str]:
    found = [_HOST.fullmatch(host) for host in hosts.split(",")]
    each = [(match["host"], int(match["port"] or SENTINEL_PORT)) for match in found if match]
    if len(each) < len(found) or not all(0 < port < 1 << 16 for _, port in each):
        raise ValueError("Sentinels are given as HOST or HOST:PORT, separated by commas")
    return [f"{host}:{port}" for host, port in each]


def _login_of(login: Sequence[tuple[str, str]]) -> str:
    """Return user and password of a Sentinel in the form of an address."""
    named = dict(login)
    if not {"username", "password"} & named.keys():
        return ""
    password = f":{quote(named['password'], safe='')}" if "password" in named else ""
    return f"{quote(named.get('username', ''), safe='')}{password}@"


def _file_of(login: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in login if name == "passfile"]


def _with_options(url: str, options: Sequence[tuple[str, str]]) -> str:
    return f"{url}?{urlencode(options)}" if options else url
