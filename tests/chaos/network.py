"""Hosts in network namespaces of their own, with links that can be cut: each has an address, and a router between all.

Needs Linux, root and iproute2. Packets go between these namespaces alone.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

NAMESPACES = Path("/run/netns")
OURS = "annals-"
BUFFER = ("burst", "5kb", "latency", "400ms")
"""Of a narrow line."""

_NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of setns(2)."""

_LIBC = ctypes.CDLL(None, use_errno=True)

Direction = tuple[str, str]
"""Sender and receiver of packets."""


class NoNamespaces(Exception):
    """This machine gives us no namespaces."""


def _ip(*args: str) -> None:
    done = subprocess.run(["ip", *args], capture_output=True, text=True, check=False)  # noqa: S607
    if done.returncode:
        raise NoNamespaces(f"ip {' '.join(args)}: {done.stderr.strip()}")


class Network:
    """Hosts that reach each other through a router, which loses what goes along a cut link without a word."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self.addresses = {host: f"10.77.{n}.2" for n, host in enumerate(hosts, 1)}
        self._prefix = f"{OURS}{os.getpid()}-"
        self._cut: set[Direction] = set()
        self._slow: set[str] = set()

    def name(self, host: str) -> str:
        """The namespace of a host."""
        return self._prefix + host

    def make(self) -> None:
        """Raises NoNamespaces."""
        _ip("netns", "add", self.name("router"))
        for n, host in enumerate(self.addresses, 1):
            inner, router = self.name(host), self.name("router")
            _ip("netns", "add", inner)
            _ip("-n", router, "link", "add", f"to-{host}", "type", "veth", "peer", "name", "eth0", "netns", inner)
            _ip("-n", router, "address", "add", f"10.77.{n}.1/24", "dev", f"to-{host}")
            _ip("-n", router, "link", "set", f"to-{host}", "up")
            _ip("-n", inner, "address", "add", f"{self.addresses[host]}/24", "dev", "eth0")
            _ip("-n", inner, "link", "set", "eth0", "up")
            _ip("-n", inner, "link", "set", "lo", "up")
            _ip("-n", inner, "route", "add", "default", "via", f"10.77.{n}.1")
        with inside(self.name("router")):
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    def cut(self, directions: Sequence[Direction]) -> None:
        """From now on nothing of that passes, and nobody is told."""
        for direction in set(directions) - self._cut:
            self._rule("add", direction)
            self._cut.add(direction)

    def slow(self, host: str, rate: str) -> None:
        """A narrow line in front of a host, to it and from it, with a short queue."""
        self._slow.add(host)
        for where, device in ((self.name("router"), f"to-{host}"), (self.name(host), "eth0")):
            with inside(where):
                subprocess.run(
                    ["tc", "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate, *BUFFER],  # noqa: S607
                    check=True,
                )

    def heal(self) -> None:
        """All links are well."""
        for direction in [*self._cut]:
            self._rule("delete", direction)
            self._cut.remove(direction)
        for host in [*self._slow]:
            for where, device in ((self.name("router"), f"to-{host}"), (self.name(host), "eth0")):
                with inside(where):
                    subprocess.run(["tc", "qdisc", "delete", "dev", device, "root"], check=True)  # noqa: S607
            self._slow.remove(host)

    def _rule(self, verb: str, direction: Direction) -> None:
        sender, receiver = (self.addresses[host] for host in direction)
        _ip("-n", self.name("router"), "rule", verb, "from", sender, "to", receiver, "blackhole")

    def remove(self) -> None:
        """Remove what there is of it."""
        for host in ("router", *self.addresses):
            with suppress(NoNamespaces):
                _ip("netns", "delete", self.name(host))


def both(first: Sequence[str], second: Sequence[str]) -> list[Direction]:
    """All directions between two groups of hosts."""
    pairs = list(itertools.product(first, second))
    return [*pairs, *((b, a) for a, b in pairs)]


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """This thread, and what it starts, is in that namespace."""
    with Path("/proc/thread-self/ns/net").open() as before:
        enter(namespace)
        try:
            yield
        finally:
            _set(before.fileno())


def enter(namespace: str) -> None:
    """This thread is there from now on."""
    with (NAMESPACES / namespace).open() as there:
        _set(there.fileno())


def _set(number: int) -> None:
    if _LIBC.setns(number, _NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "setns")


@contextmanager
def new_network(hosts: Sequence[str]) -> Iterator[Network]:
    """Also removes what killed programs have left. Raises NoNamespaces."""
    if os.geteuid() or not shutil.which("ip") or not shutil.which("tc"):
        raise NoNamespaces("this needs root, and iproute2")
    for left in NAMESPACES.glob(f"{OURS}*-*"):
        if not Path("/proc", left.name.split("-")[1]).exists():
            _ip("netns", "delete", left.name)
    network = Network(hosts)
    try:
        network.make()
        yield network
    finally:
        network.remove()


def report(play: Callable[[], Sequence[str]]) -> int:
    """Print what does not hold after `play`; return 1 if there is any, 2 if this machine cannot."""
    signal.signal(signal.SIGTERM, _end)
    try:
        found = play()
    except NoNamespaces as error:
        print(error, file=sys.stderr)
        return 2
    print(*(found or ["everything holds"]), sep="\n")
    return 1 if found else 0


def _end(*_: object) -> None:
    raise SystemExit(143)


class Flicker(threading.Thread):
    """Cuts all links for a part of each period, until it is told to end."""

    def __init__(self, network: Network, directions: Sequence[Direction], lost: float, period: float) -> None:
        super().__init__(daemon=True)
        self._network, self._directions = network, directions
        self._lost, self._period = lost, period
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.is_set():
            self._network.cut(self._directions)
            self._over.wait(self._lost)
            self._network.heal()
            self._over.wait(self._period - self._lost)

    def end(self) -> None:
        """Returns once all links are well."""
        self._over.set()
        self.join()
