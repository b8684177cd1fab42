"""Processes that have a part of a core each: whether two make twice as much is then no matter of how many there are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

PERIOD = 10_000
"""In which the part is given anew, microseconds."""

_GROUPS = Path("/sys/fs/cgroup")


@contextmanager
def part_of_a_core(pids: Iterable[int], part: float) -> Iterator[bool]:
    """Each of these processes, with all its threads; false where the system gives nobody such parts.

    It takes Linux with its control groups, and the rights of root.
    """
    with ExitStack() as stack:
        try:
            limited = [stack.enter_context(_limited(pid, part)) for pid in pids]
        except OSError:
            stack.close()
            limited = []
        yield bool(limited)


@contextmanager
def _limited(pid: int, part: float) -> Iterator[None]:
    first = (_GROUPS / "cpu" / "cgroup.procs").exists()  # version 1 has a tree for each kind of limit
    tree = _GROUPS / "cpu" if first else _GROUPS
    before, ours = tree / _group_of(pid, "cpu" if first else ""), tree / f"annals-perf-{pid}"
    quota = round(PERIOD * part)
    ours.mkdir()
    try:
        if first:
            (ours / "cpu.cfs_period_us").write_text(str(PERIOD))
            (ours / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (ours / "cpu.max").write_text(f"{quota} {PERIOD}")
        (ours / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        with suppress(OSError):  # it has ended
            (before / "cgroup.procs").write_text(str(pid))
        ours.rmdir()


def _group_of(pid: int, limit: str) -> str:
    """Where it stands in the tree of that kind of limit."""
    lines = [line.split(":", 2) for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    return next((path.lstrip("/") for _, limits, path in lines if limit in limits.split(",")), "")


def processes(name: str) -> list[int]:
    """Ids of the descendants of this process that bear that name."""
    return [pid for pid, each in descendants().items() if each == name]


def descendants() -> dict[int, str]:
    """Names of the descendants of this process, by id."""
    parents, names = dict[int, int](), dict[int, str]()
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            before, _, after = status.read_text().rpartition(")")
            pid = int(status.parent.name)
            parents[pid] = int(after.split()[1])
            names[pid] = before.partition("(")[2]
    return {pid: names[pid] for pid in sorted(names) if pid != os.getpid() and _descends(pid, parents)}


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1 and pid != os.getpid():
        pid = parents.get(pid, 0)
    return pid == os.getpid()
