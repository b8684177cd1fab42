"""PostgreSQL under Patroni in networks of its own: machines that can be killed, frozen, cut off, or filled up.

Needs what `network` needs, and etcd (Debian: `etcd-server`); Patroni is in the environment of `./run chaos`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import yaml

from tests import postgres
from tests.chaos.network import Network, NoNamespaces, inside

DCS = "etcd"
"""The host of the store in which Patroni agrees on who is the primary."""

SIZE = "500m"
"""Of the disk of each database."""

SHIPPED = Path(__file__).resolve().parents[2] / "deploy" / "cluster" / "patroni.yml"

PATIENCE = 90.0

AS_NOBODY = [
    *("setpriv", "--reuid", str(postgres.NOBODY), "--regid", str(postgres.NOBODY), "--clear-groups"),
    *("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"),
]
"""PostgreSQL refuses to run as root; what it runs from may be readable by root alone."""

GUARD = """read -r _
for each in $1; do ip netns pids "$each" | xargs -r kill -9; done 2>/dev/null
for each in $2; do umount -l "$each"; done 2>/dev/null
rm -rf "$3" """

HAPROXY = """
defaults
 mode tcp
 timeout connect 3s
 timeout client 1h
 timeout server 1h
listen primary
 bind 127.0.0.1:5000
 option httpchk GET /primary
 http-check expect status 200
 default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
"""

PGBOUNCER = """
[databases]
* = host=127.0.0.1 port=5000 user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = 6432
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 300
default_pool_size = 40
server_login_retry = 1
log_connections = 0
log_disconnections = 0
"""

REPLICATED: Mapping[str, Any] = {}
"""As shipped."""
ASYNCHRONOUS: Mapping[str, Any] = {"synchronous_mode": False, "maximum_lag_on_failover": 1 << 30}


def until(what: Callable[[], Any], seconds: float = PATIENCE, why: str = "it") -> Any:
    """The first true answer."""
    end = time.monotonic() + seconds
    while not (found := what()):
        if time.monotonic() > end:
            raise TimeoutError(f"{why} takes longer than {seconds:.0f} s")
        time.sleep(0.05)
    return found


@dataclass
class Machine:
    """A host with Patroni and PostgreSQL, and a disk of its own."""

    network: Network
    host: str
    folder: Path
    settings: Mapping[str, Any]
    log: Path = field(init=False)

    def __post_init__(self) -> None:
        self.log = self.folder / "patroni.log"

    @property
    def address(self) -> str:
        return self.network.addresses[self.host]

    def prepare(self) -> None:
        """A small disk, and the settings of Patroni."""
        disk = self.folder / "disk"
        disk.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "annals-chaos", disk], check=True)  # noqa: S607
        for each in (self.folder, disk):
            os.chown(each, postgres.NOBODY, postgres.NOBODY)
        (self.folder / "patroni.yml").write_text(yaml.safe_dump(self._settings()))

    def _settings(self) -> dict[str, Any]:
        """Those that are shipped, but for addresses, folders, passwords, and what makes a small disk fill quickly."""
        settings: dict[str, Any] = yaml.safe_load(SHIPPED.read_text())
        settings["name"] = self.host
        settings["restapi"] = dict.fromkeys(("listen", "connect_address"), f"{self.address}:8008")
        settings["etcd3"]["hosts"] = [f"{self.network.addresses[DCS]}:2379"]
        settings["bootstrap"]["initdb"].append({"wal-segsize": "1"})
        settings["bootstrap"]["dcs"].update(self.settings)
        settings["bootstrap"]["dcs"]["postgresql"]["parameters"] |= {"wal_keep_size": "64MB", "max_wal_size": "64MB"}
        networks = "10.77.0.0/16"
        settings["postgresql"] |= {
            **dict.fromkeys(("listen", "connect_address"), f"{self.address}:5432"),
            "data_dir": str(self.folder / "disk" / "data"),
            "bin_dir": str(postgres.programs()),
            "pgpass": str(self.folder / "pgpass"),
            "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "replicator"}},
            "parameters": {"unix_socket_directories": str(self.folder), "shared_buffers": "32MB"},
            "pg_hba": ["local all all trust", *(f"host {to} all {networks} trust" for to in ("all", "replication"))],
        }
        return settings

    # --- what happens to it

    def start(self) -> None:
        """Start it, or start it again."""
        command = [*AS_NOBODY, sys.executable, "-m", "patroni", str(self.folder / "patroni.yml")]
        with inside(self.network.name(self.host)):
            _start(command, self.log)

    def processes(self) -> list[int]:
        said = subprocess.run(
            ["ip", "netns", "pids", self.network.name(self.host)],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        return [int(word) for word in said.stdout.split()]

    def signal(self, number: signal.Signals) -> None:
        """All its processes get it; twice, since one may have started another meanwhile."""
        for _ in range(2):
            for pid in self.processes():
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def fill(self) -> None:
        """Nothing more fits onto its disk."""
        with suppress(OSError), (self.folder / "disk" / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))

    def empty(self) -> None:
        (self.folder / "disk" / "filler").unlink(missing_ok=True)

    # --- what is seen of it

    def ask(self, query: str) -> Any:
        """The first row, by its socket; None if it does not answer."""
        with suppress(psycopg.Error):
            dsn = f"host={self.folder} user=postgres dbname=postgres connect_timeout=2"
            with psycopg.connect(dsn, autocommit=True) as connection:
                return connection.execute(query.encode()).fetchone()
        return None

    def is_primary(self) -> bool:
        return bool(self.ask("SELECT pg_is_in_recovery()") == (False,))

    def standby(self) -> str:
        """How its standby follows: `sync`, `async`, or nothing."""
        row = self.ask("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")
        return str(row[0]) if row else ""


@dataclass
class Cluster:
    """Two machines, one of which is the primary."""

    network: Network
    machines: Sequence[Machine]
    folder: Path
    wanted: str
    """How the standby is to follow."""

    def primary(self) -> Machine | None:
        """The machine that takes writes, once exactly one does and the other follows as it should."""
        first = [m for m in self.machines if m.is_primary()]
        return first[0] if len(first) == 1 and first[0].standby() == self.wanted else None

    def settle(self) -> Machine:
        """Wait for it."""
        found: Machine = until(self.primary, why="the cluster")
        return found

    def other(self, machine: Machine) -> Machine:
        return next(m for m in self.machines if m is not machine)

    def url(self, database: str) -> str:
        """For the nodes: both, whichever takes writes."""
        return f"postgresql://postgres@{','.join(f'{m.address}:5432' for m in self.machines)}/{database}"

    def start_pooler(self, host: str) -> str:
        """PgBouncer in transaction mode on that host, and HAProxy, which asks Patroni for the primary; the address."""
        for program in ("pgbouncer", "haproxy"):
            if not shutil.which(program):
                raise NoNamespaces(f"this needs {program} (Debian: {program})")
        servers = "".join(f" server {m.host} {m.address}:5432 check port 8008\n" for m in self.machines)
        (self.folder / "haproxy.cfg").write_text(HAPROXY + servers)
        (self.folder / "pgbouncer.ini").write_text(PGBOUNCER)
        commands = (
            ["haproxy", "-db", "-f", f"{self.folder}/haproxy.cfg"],
            ["pgbouncer", f"{self.folder}/pgbouncer.ini"],
        )
        with inside(self.network.name(host)):
            for command in commands:
                _start([*AS_NOBODY, *command], self.folder / f"{command[0]}.log")
        time.sleep(2)
        return "postgresql://postgres@127.0.0.1:6432"

    def local_url(self, database: str) -> str:
        """For this program: by sockets."""
        hosts = ",".join(str(m.folder) for m in self.machines)
        return f"postgresql:///{database}?host={hosts}&user=postgres&target_session_attrs=read-write"


@contextmanager
def new_cluster(network: Network, hosts: Sequence[str], settings: Mapping[str, Any] = REPLICATED) -> Iterator[Cluster]:
    """Started, with an empty database `annals`. Raises NoNamespaces if a program is missing."""
    for program, package in (("etcd", "etcd-server"), ("setpriv", "util-linux")):
        if not shutil.which(program):
            raise NoNamespaces(f"this needs {program} (Debian: {package})")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=postgres.SHORT))
    folder.chmod(0o755)
    machines = [Machine(network, host, folder / host, settings) for host in hosts]
    with ExitStack() as stack:
        stack.enter_context(_guarded(network, machines, folder))
        stack.enter_context(_telling(folder))
        _start_etcd(network, folder)
        for machine in machines:
            machine.prepare()
            machine.start()
            if machine is machines[0]:
                until(machine.is_primary, why="the first primary")
        cluster = Cluster(network, machines, folder, "sync" if settings.get("synchronous_mode", True) else "async")
        cluster.settle().ask("CREATE DATABASE annals")
        yield cluster


@contextmanager
def _telling(folder: Path) -> Iterator[None]:
    """Tells the ends of all logs if anything goes wrong: they are about to be removed."""
    try:
        yield
    except Exception:
        for log in sorted(folder.glob("**/*.log")):
            print(f"--- {log}", *log.read_text(errors="replace").splitlines()[-40:], sep="\n", file=sys.stderr)
        raise


def _start_etcd(network: Network, folder: Path) -> None:
    address = f"http://{network.addresses[DCS]}:2379"
    command = ["etcd", "--data-dir", str(folder / "etcd"), "--listen-client-urls", address]
    command += ["--advertise-client-urls", address, "--unsafe-no-fsync", "--log-level", "error"]
    with inside(network.name(DCS)):
        _start(command, folder / "etcd.log")


def _start(command: Sequence[str], log: Path) -> None:
    """In the network of this thread; the guard ends it."""
    with log.open("a") as file:
        subprocess.Popen(command, cwd="/", stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)


@contextmanager
def _guarded(network: Network, machines: Sequence[Machine], folder: Path) -> Iterator[None]:
    """Ends everything, also if this process is killed: then the guard's input ends all the same."""
    spaces = " ".join(map(network.name, network.addresses))
    disks = " ".join(str(m.folder / "disk") for m in machines)
    command = ["sh", "-c", GUARD, "guard", spaces, disks, str(folder)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen[bytes](command, stdin=subprocess.PIPE, cwd="/", start_new_session=True, **quiet):  # type: ignore[call-overload]
        yield
