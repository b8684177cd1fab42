"""A real server of Redis' protocol for the tests: one per test process, emptied before each test.

`ANNALS_TEST_REDIS_URL` names a server to use instead, which is then emptied too. Import the fixtures in a conftest:
`from tests.valkey import redis_url, valkey_server`.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from deploy.runtime import embedded_redis

# The server ends with its input, so also when the tests are killed.
GUARD = '"$@" & read -r _; kill "$!"; wait'


class Server:
    """A server that may be killed and started again at the same address, or halted."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.folder, self._more = folder, more
        self.url = f"unix://{folder / 'socket'}"
        self._guard: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            embedded_redis.find_server(),
            "--port",
            "0",
            "--unixsocket",
            str(self.folder / "socket"),
            "--save",
            "",
        ]
        command += ["--dir", str(self.folder), "--logfile", str(self.folder / "log"), *self._more]
        self._guard = subprocess.Popen(["/bin/sh", "-c", GUARD, "guard", *command], stdin=subprocess.PIPE)
        assert embedded_redis.wait_until_up(self.url, seconds=20), (self.folder / "log").read_text()

        with Redis.from_url(self.url) as client:
            self._pid = int(client.info("server")["process_id"])

    def freeze(self) -> None:
        """It takes connections, and answers nobody."""
        os.kill(self._pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    def stop(self) -> None:
        if self._guard is not None:
            self.thaw()
            self._guard.communicate(b"\n")
            self._guard = None


@contextmanager
def new_server(*more: str) -> Iterator[Server]:
    """A server of the test's own, with more arguments."""
    folder = Path(tempfile.mkdtemp(prefix="valkey-", dir="/tmp"))  # a socket's path must be short
    server = Server(folder, *more)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[str]:
    """The address of a running server."""
    if url := os.environ.get("ANNALS_TEST_REDIS_URL"):
        yield url
        return
    with new_server() as server:
        yield server.url


@pytest.fixture
def redis_url(valkey_server: str) -> str:
    """The address of an empty server."""
    client = Redis.from_url(valkey_server)
    client.flushall()
    client.close()
    return valkey_server
