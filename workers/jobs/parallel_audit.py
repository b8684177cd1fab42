"""Audit of a long game by several processes: each replays one segment, and one checks the boards.

A segment starts from the game folded from all earlier records. The earlier segments prove those records, so together
the processes prove as much as one process from start to end.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

from domain.errors import UnknownRuleset, VerificationError
from domain.kernel.proof import verify
from domain.kernel.records.export import Export, dump, parse
from domain.ruleset_registry import load_shipped

MIN_RECORDS = 8000
"""Shortest game for several processes. Starting a process takes as long as auditing 2,000 records."""

Task = tuple[int, int]
"""Versions of a segment: after the first, up to the second. (-1, 0) checks the boards instead."""

BOARDS: Task = (-1, 0)


def replay(
    rules: Any, export: Export, seed: bytes, progress: Callable[[int], None] | None = None
) -> verify.ReplayCounts:
    """Replay like `verify.replay`, on all cores if the game is long and its ruleset is a shipped one.

    `progress` is told how many records are decided: one after the other, or a segment at once.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not seed or cores < 2 or len(export.records) < MIN_RECORDS or not _is_shipped(rules):
        return verify.replay(rules, export, seed, progress=progress)
    try:
        return replay_in_processes(export, seed, cores, progress)
    except (EOFError, OSError):  # a process was killed or could not start
        return verify.replay(rules, export, seed, progress=progress)


def replay_in_processes(
    export: Export, seed: bytes, count: int, progress: Callable[[int], None] | None = None
) -> verify.ReplayCounts:
    """Replay the game in `count` processes and add up their results."""
    data = dump(export.records, export.viewer)
    tasks = [*split_records(len(export.records), count), BOARDS]
    with ExitStack() as stack:
        ends = [stack.enter_context(_running_process(task)) for task in tasks]
        for end in ends:
            end.send_bytes(seed)
            end.send_bytes(data)
        # Boards first, then segments in order, so that the reported fault is the first one, as with one process.
        boards, decided = _receive_result(ends[-1]), []
        for (_, last), end in zip(tasks, ends[:-1], strict=False):
            decided.append(_receive_result(end))
            if progress:
                progress(last)
    return verify.ReplayCounts(boards[0], sum(d for d, _ in decided), sum(n for _, n in decided))


def split_records(records: int, count: int) -> list[Task]:
    """Return segments of equal length."""
    each = records / count
    ends = [round(each * n) for n in range(count + 1)]
    return list(pairwise(ends))


def _is_shipped(rules: Any) -> bool:
    with suppress(UnknownRuleset):
        return type(load_shipped().get(rules.meta.ruleset)) is type(rules)
    return False


@contextmanager
def _running_process(task: Task) -> Iterator[Connection]:
    context = multiprocessing.get_context("spawn")
    parent_end, child_end = context.Pipe()
    process = context.Process(target=_run_task, args=(child_end, task), daemon=True)
    process.start()
    child_end.close()
    try:
        yield parent_end
    finally:
        parent_end.close()
        process.kill()
        process.join()
        process.close()


def _receive_result(end: Connection) -> Sequence[int]:
    code, version, detail, counts = end.recv()
    if code:
        raise VerificationError(code, version, detail)
    return list(counts)


def _run_task(end: Connection, task: Task) -> None:
    """Run one task in the child process and send its result, unless the parent has gone."""
    with suppress(EOFError, OSError):
        seed = end.recv_bytes()
        export = parse(end.recv_bytes())
        end.send(_capture_result(lambda: _prove(export, seed, task)))


def _capture_result(work: Callable[[], Sequence[int]]) -> tuple[str, int, str, Sequence[int]]:
    try:
        return "", 0, "", work()
    except VerificationError as error:
        return error.code, error.version, error.detail, ()


def _prove(export: Export, seed: bytes, task: Task) -> Sequence[int]:
    rules: Any = load_shipped().get(export.ruleset)
    if task == BOARDS:
        return [verify.check_boards(rules, export.records)]
    after, upto = task
    return verify.audit(rules, export.records[:upto], seed, after)
