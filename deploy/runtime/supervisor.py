"""The supervisor: starts, restarts and ends the processes of a service.

It does not depend on their work. They stay in its process group and end with it.
"""

from __future__ import annotations

import fcntl
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn, Protocol

from deploy.config.settings import SettingsError
from deploy.runtime import binaries, parent_death
from workers import liveness

FIRST_PAUSE = 0.05
"""Seconds before a dead process is restarted; doubled each time it dies soon again."""

LONGEST_PAUSE = 5.0
STEADY_SECONDS = 10.0
"""Seconds after which a process counts as stable: its next death counts as the first."""

STOP_SECONDS = 10.0
"""Seconds that processes have to stop by themselves, at most."""

MAX_CHECK_GAP = 1.0
"""Seconds between two checks that count against a deadline: during the rest, the supervisor itself was halted."""

_LOCK_FILES: list[IO[str]] = []
"""Lock files. A child must close them: a lock lasts as long as any process has its file open."""

_STOP_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})

_SUPERVISOR_SIGNALS = frozenset({signal.SIGINT})
"""Signals blocked in children: Ctrl-C reaches the whole group, but the supervisor ends the children in order."""

log = logging.getLogger("annals.supervisor")


class StoppedError(BaseException):
    """A signal asks the supervisor to stop. A BaseException: interrupted code must not handle it as its own failure."""


class StopRequest:
    """Signal handler: the first signal raises StoppedError in any code, later ones do nothing.

    Python drops exceptions in finalizers and callbacks of weak references, so loops also call `raise_if_requested`.
    """

    is_requested = False

    def __call__(self, _: int, __: FrameType | None) -> None:
        if not self.is_requested:
            self.is_requested = True
            raise StoppedError

    def raise_if_requested(self) -> None:
        """Raise StoppedError if a signal has come."""
        if self.is_requested:
            raise StoppedError


@dataclass(frozen=True)
class Program:
    """A process to keep running: `run(args)` in a child process, or without `run` the command `args`."""

    name: str
    args: Sequence[str]
    run: Callable[[Sequence[str]], int] | None = None
    stops_last: bool = False
    """Stop it after all others, since they use it."""
    stop_seconds: float = STOP_SECONDS
    """Seconds it has to stop by itself."""
    first_sign_seconds: float = 0
    """Seconds until its first sign of life (`workers.liveness`); 0: it gives none."""


class _ChildProcess(Protocol):
    """A child process, forked or executed."""

    @property
    def pid(self) -> int: ...
    def status(self) -> int | None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def wait(self, seconds: float) -> bool: ...


class _ExternalProgram:
    """A child process that executes another program."""

    def __init__(self, args: Sequence[str], environ: Mapping[str, str]) -> None:
        parent_death.load_libc()
        supervisor = os.getpid()

        def before_exec() -> None:
            signal.pthread_sigmask(signal.SIG_SETMASK, _SUPERVISOR_SIGNALS)
            parent_death.end_program_with_parent(supervisor)

        self._process = subprocess.Popen(
            args,
            env=binaries.without_settings(environ),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),  # our standard output has one line: ready
            preexec_fn=before_exec,  # noqa: PLW1509 - the supervisor has no threads
        )
        self.pid = self._process.pid
        self.status, self.terminate, self.kill = self._process.poll, self._process.terminate, self._process.kill

    def wait(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True


class _ForkedProgram:
    """A child process with the supervisor's loaded modules, in shared memory."""

    def __init__(self, program: Program, environ: Mapping[str, str]) -> None:
        # On systems with unsafe forks, the child loads everything itself.
        arguments = (program, dict(environ), os.getpid())
        self._process: BaseProcess
        if sys.platform == "linux":
            self._process = multiprocessing.get_context("fork").Process(target=_run_child, args=arguments)
        else:
            self._process = multiprocessing.get_context("spawn").Process(target=_run_child, args=arguments)
        self._process.start()
        self.pid = int(self._process.pid or 0)
        self.terminate, self.kill = self._process.terminate, self._process.kill

    def status(self) -> int | None:
        return self._process.exitcode

    def wait(self, seconds: float) -> bool:
        self._process.join(seconds)
        return self._process.exitcode is not None


def _run_child(program: Program, environ: Mapping[str, str], supervisor: int) -> NoReturn:
    """Release the supervisor's locks and signal handlers in the child, then run the program."""
    parent_death.end_with_parent(supervisor)
    parent_death.set_process_name(f"annals-{program.name}")
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, _SUPERVISOR_SIGNALS)
    for each in _LOCK_FILES:
        each.close()
    liveness.release_locks()
    os.dup2(2, 1)
    _set_environment(environ)
    sys.exit(program.run(program.args) if program.run else 1)


def _set_environment(environ: Mapping[str, str]) -> None:
    """Make `environ` the environment. Touch only differences: the rest is memory shared with the supervisor."""
    for name in os.environ.keys() - environ.keys():
        del os.environ[name]
    os.environ.update({name: value for name, value in environ.items() if os.environ.get(name) != value})


@dataclass
class _Child:
    program: Program
    process: _ChildProcess
    started_at: float
    deaths: int = 0
    restart_at: float = 0.0


@dataclass
class Supervisor:
    """Keeps programs running. `environ` is their environment, `liveness_folder` holds their deadline files."""

    environ: Mapping[str, str]
    liveness_folder: Path | None = None
    deaths: dict[str, int] = field(default_factory=dict)
    """Unexpected ends, by name of the program."""
    stop_request: StopRequest = field(default_factory=StopRequest)
    """State of the signal handler of this process."""
    _children: list[_Child] = field(default_factory=list)
    _last_check: float = field(default_factory=time.monotonic)

    def start(self, program: Program) -> None:
        """Start a program and keep it running. Raises StoppedError, as `run` does."""
        self.stop_request.raise_if_requested()
        with _block_signals():
            self._children.append(_Child(program, self._spawn(program), time.monotonic()))

    def _spawn(self, program: Program) -> _ChildProcess:
        environ = dict(self.environ)
        if path := self._liveness_path(program):
            liveness.expect_first_sign(path, program.first_sign_seconds)
            environ[liveness.ENV_VARIABLE] = str(path)
        return _ForkedProgram(program, environ) if program.run else _ExternalProgram(program.args, environ)

    def _liveness_path(self, program: Program) -> Path | None:
        return self.liveness_folder / program.name if self.liveness_folder and program.first_sign_seconds else None

    def check_children(self) -> None:
        """Check every child once: kill it if it hangs, restart it if it died, after a growing pause."""
        now = time.monotonic()
        before, self._last_check = self._last_check, now
        for child in self._children:
            if child.process.status() is None:
                self._kill_if_overdue(child, now - max(before, child.started_at))
                continue
            if not child.restart_at:
                self._schedule_restart(child, now)
            if now >= child.restart_at:
                with _block_signals():
                    child.process = self._spawn(child.program)
                    child.started_at = now
                    child.restart_at = 0.0

    def _kill_if_overdue(self, child: _Child, gap: float) -> None:
        """Kill a child past its deadline. `gap`: seconds since the last check, or since its start.

        All deadlines grow by the seconds in which the supervisor was halted. So the prober is still replaced before
        the processes it checks.
        """
        path = self._liveness_path(child.program)
        if path and gap > MAX_CHECK_GAP:
            liveness.extend_deadline(path, gap - MAX_CHECK_GAP)
        if path and liveness.is_overdue(path):
            log.warning("%s has given no sign of life, and is ended", child.program.name)
            child.process.kill()
            child.process.wait(STOP_SECONDS)

    def _schedule_restart(self, child: _Child, now: float) -> None:
        name = child.program.name
        self.deaths[name] = self.deaths.get(name, 0) + 1
        child.deaths = 1 if now - child.started_at > STEADY_SECONDS else child.deaths + 1
        pause = min(FIRST_PAUSE * 2 ** min(child.deaths - 1, 10), LONGEST_PAUSE)
        child.restart_at = now + pause
        log.warning("%s ended with status %s; again in %.2f s", name, child.process.status(), pause)

    def list_ended(self) -> list[str]:
        """Return the names of programs that have ended. A process with threads does not start them again."""
        return [child.program.name for child in self._children if child.process.status() is not None]

    def run(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Check the children until a signal raises StoppedError; call `meanwhile` after each check."""
        while True:
            self.stop_request.raise_if_requested()
            self.check_children()
            meanwhile()
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop all children, the shared ones last; kill children that do not stop in time."""
        for last in (False, True):
            group = [c for c in self._children if c.program.stops_last is last and c.process.status() is None]
            for child in group:
                child.process.terminate()
            began = time.monotonic()
            for child in sorted(group, key=lambda each: each.program.stop_seconds):
                end = began + min(child.program.stop_seconds, STOP_SECONDS)
                if not child.process.wait(max(end - time.monotonic(), 0.01)):
                    child.process.kill()
                    child.process.wait(STOP_SECONDS)
        self._children.clear()


@contextmanager
def _block_signals() -> Iterator[None]:
    """Block signals until a new child is registered: so none is forgotten, and no child inherits a pending signal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Raise StoppedError inside the block on Ctrl-C or SIGTERM, and end the block with it."""
    stop_request = StopRequest()
    before = {number: signal.signal(number, stop_request) for number in _STOP_SIGNALS}
    try:
        with suppress(StoppedError):
            yield stop_request
    finally:
        if not stop_request.is_requested:  # otherwise signals do nothing until the process has ended
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Hold a lock file; the system releases it with the process. Raises SettingsError if another process has it."""
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise SettingsError(f"{path.parent} is in use by another service (process {holder})") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        _LOCK_FILES.append(file)
        try:
            yield
        finally:
            _LOCK_FILES.remove(file)
