"""The supervisor: starts the processes of a service, starts those anew that die, and ends them all.

It knows nothing of what they do. They stay in its process group and do not outlive it.
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
"""Seconds before a process that died is started anew; doubled each time it dies soon again."""

LONGEST_PAUSE = 5.0
STEADY = 10.0
"""Seconds after which a process counts as one that runs: its next death is a first one."""

GRACE = 10.0
"""Seconds that processes have to end by themselves."""

ABSENCE = 1.0
"""Most seconds between two looks that count: for the rest we stood still, perhaps with all others."""

_HELD: list[IO[str]] = []
"""Files that a child must not keep open: a lock lives as long as anybody has its file."""

_ENDING = frozenset({signal.SIGINT, signal.SIGTERM})

_FOR_US = frozenset({signal.SIGINT})
"""Ctrl-C goes to the whole group, but is for the supervisor, which ends the others in order."""

log = logging.getLogger("annals.supervisor")


class StoppedError(BaseException):
    """A signal asks the supervisor to end. Whatever it interrupts must not take it for a failure of its own."""


class Ending:
    """What a signal does: the first raises StoppedError wherever it arrives, a later one while ending changes nothing.

    Where it arrives in a finalizer or a weak reference's callback, Python drops what is raised: who goes on looks.
    """

    asked = False

    def __call__(self, _: int, __: FrameType | None) -> None:
        if not self.asked:
            self.asked = True
            raise StoppedError

    def look(self) -> None:
        """Raises StoppedError if a signal has come."""
        if self.asked:
            raise StoppedError


@dataclass(frozen=True)
class Program:
    """A process to keep running: `run(args)` in a child of ours, or if there is no `run` the command `args`."""

    name: str
    args: Sequence[str]
    run: Callable[[Sequence[str]], int] | None = None
    last: bool = False
    """Ends after all others: they use it."""
    sign: float = 0
    """Seconds until its first sign of life (`workers.liveness`); 0 for one that gives none."""


class _Running(Protocol):
    """A child process, whichever way it was made."""

    @property
    def pid(self) -> int: ...
    def status(self) -> int | None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def wait(self, seconds: float) -> bool: ...


class _Command:
    """Another program."""

    def __init__(self, args: Sequence[str], environ: Mapping[str, str]) -> None:
        parent_death.prepare()
        supervisor = os.getpid()

        def before_exec() -> None:
            signal.pthread_sigmask(signal.SIG_SETMASK, _FOR_US)
            parent_death.tie_program(supervisor)

        self._process = subprocess.Popen(
            args,
            env=binaries.told(environ),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),  # ours has one line, for whoever waits for it
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


class _Fork:
    """A child that needs not load anything: it has what the supervisor has loaded, and shares its memory."""

    def __init__(self, program: Program, environ: Mapping[str, str]) -> None:
        # Where forking is unsafe, the child loads everything itself.
        told = (program, dict(environ), os.getpid())
        self._process: BaseProcess
        if sys.platform == "linux":
            self._process = multiprocessing.get_context("fork").Process(target=_run, args=told)
        else:
            self._process = multiprocessing.get_context("spawn").Process(target=_run, args=told)
        self._process.start()
        self.pid = int(self._process.pid or 0)
        self.terminate, self.kill = self._process.terminate, self._process.kill

    def status(self) -> int | None:
        return self._process.exitcode

    def wait(self, seconds: float) -> bool:
        self._process.join(seconds)
        return self._process.exitcode is not None


def _run(program: Program, environ: Mapping[str, str], supervisor: int) -> NoReturn:
    """In the child: first forget what was the supervisor's alone."""
    parent_death.tie(supervisor)
    parent_death.name(f"annals-{program.name}")
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, _FOR_US)
    for each in _HELD:
        each.close()
    liveness.release_locks()
    os.dup2(2, 1)
    os.environ.clear()
    os.environ.update(environ)
    sys.exit(program.run(program.args) if program.run else 1)


@dataclass
class _Child:
    program: Program
    process: _Running
    born: float
    deaths: int = 0
    again_at: float = 0.0


@dataclass
class Supervisor:
    """Keeps programs running. `environ` is what they are told, `pulses` the folder for their signs of life."""

    environ: Mapping[str, str]
    pulses: Path | None = None
    deaths: dict[str, int] = field(default_factory=dict)
    """How often each has died without having been asked to."""
    ending: Ending = field(default_factory=Ending)
    """Whether this process is to end."""
    _children: list[_Child] = field(default_factory=list)
    _looked: float = field(default_factory=time.monotonic)

    def start(self, program: Program) -> None:
        """Start a program, and again whenever it ends. Raises StoppedError, as `run` does."""
        self.ending.look()
        with _undisturbed():
            self._children.append(_Child(program, self._spawn(program), time.monotonic()))

    def _spawn(self, program: Program) -> _Running:
        environ = dict(self.environ)
        if path := self._pulse(program):
            liveness.expect_first_sign(path, program.sign)
            environ[liveness.ENV_VARIABLE] = str(path)
        return _Fork(program, environ) if program.run else _Command(program.args, environ)

    def _pulse(self, program: Program) -> Path | None:
        return self.pulses / program.name if self.pulses and program.sign else None

    def tend(self) -> None:
        """Look once at every child: end what hangs, start anew what has died, after a pause that grows."""
        now = time.monotonic()
        before, self._looked = self._looked, now
        for child in self._children:
            if child.process.status() is None:
                self._feel(child, now - max(before, child.born))
                continue
            if not child.again_at:
                self._died(child, now)
            if now >= child.again_at:
                with _undisturbed():
                    child.process, child.born, child.again_at = self._spawn(child.program), now, 0.0

    def _feel(self, child: _Child, unheard: float) -> None:
        """One that hangs may take no other signal. The seconds that we stood still do not count: it was not heard.

        All promises grow by as much: who vouches for others is still ended, and replaced, before they are.
        """
        path = self._pulse(child.program)
        if path and unheard > ABSENCE:
            liveness.extend_deadline(path, unheard - ABSENCE)
        if path and liveness.is_overdue(path):
            log.warning("%s has given no sign of life, and is ended", child.program.name)
            child.process.kill()
            child.process.wait(GRACE)

    def _died(self, child: _Child, now: float) -> None:
        name = child.program.name
        self.deaths[name] = self.deaths.get(name, 0) + 1
        child.deaths = 1 if now - child.born > STEADY else child.deaths + 1
        pause = min(FIRST_PAUSE * 2 ** min(child.deaths - 1, 10), LONGEST_PAUSE)
        child.again_at = now + pause
        log.warning("%s ended with status %s; again in %.2f s", name, child.process.status(), pause)

    def run(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Tend the children until a signal raises StoppedError."""
        while True:
            self.ending.look()
            self.tend()
            meanwhile()
            time.sleep(0.02)

    def stop(self) -> None:
        """End all: those that others use after those that use them, by force if they take too long."""
        for last in (False, True):
            group = [c.process for c in self._children if c.program.last is last and c.process.status() is None]
            for process in group:
                process.terminate()
            end = time.monotonic() + GRACE
            for process in group:
                if not process.wait(max(end - time.monotonic(), 0.01)):
                    process.kill()
                    process.wait(GRACE)
        self._children.clear()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A signal waits until the child is known: nobody is forgotten, and none inherits what it was to raise in us."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def stopped_by_signals() -> Iterator[Ending]:
    """Ctrl-C and SIGTERM raise StoppedError inside, which ends here."""
    ending = Ending()
    before = {number: signal.signal(number, ending) for number in _ENDING}
    try:
        with suppress(StoppedError):
            yield ending
    finally:
        if not ending.asked:  # else whatever comes changes nothing until the process is gone
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock of a data folder; raises SettingsError if another process does. The system frees it with us."""
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise SettingsError(f"{path.parent} is in use by another service (process {holder})") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        _HELD.append(file)
        try:
            yield
        finally:
            _HELD.remove(file)
