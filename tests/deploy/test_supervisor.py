"""The supervisor: what dies comes again after a pause that grows, and what should end does."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from deploy.config.settings import SettingsError
from deploy.runtime import supervisor as module
from deploy.runtime.supervisor import MAX_CHECK_GAP, Program, Supervisor, hold_lock, stop_on_signals
from tests.deploy.harness import PATIENCE, environment, until
from workers import liveness

SLEEP = ["/bin/sh", "-c", "sleep 60"]
STUBBORN = "trap '' TERM; : > {}; while :; do sleep 1; done"


@pytest.fixture
def made() -> Iterator[Supervisor]:
    """One that leaves nothing behind."""
    logging.getLogger("annals.supervisor").setLevel(logging.ERROR)
    supervisor = Supervisor({})
    yield supervisor
    supervisor.stop()


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Supervisor]:
    """The same, with a folder for signs of life."""
    logging.getLogger("annals.supervisor").setLevel(logging.ERROR)
    supervisor = Supervisor(dict(os.environ), tmp_path)
    yield supervisor
    supervisor.stop()


def tended(supervisor: Supervisor, seconds: float) -> int:
    """How many deaths it has met by then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        supervisor.check_children()
        time.sleep(0.005)
    return sum(supervisor.deaths.values())


def test_what_dies_at_once_is_started_less_and_less_often(made: Supervisor) -> None:
    made.start(Program("short", ["/bin/sh", "-c", "exit 3"]))
    assert 2 <= tended(made, 1.5) <= 6, "0.05 + 0.1 + 0.2 + 0.4 s of pauses, and the next is longer"


def test_many_deaths_do_not_make_the_pause_endless(made: Supervisor) -> None:
    made.start(Program("short", ["/bin/sh", "-c", "exit 3"]))
    (child,) = made._children
    child.deaths = 100_000
    tended(made, 0.3)
    assert child.restart_at - time.monotonic() <= module.LONGEST_PAUSE


def test_what_runs_is_left_alone(made: Supervisor) -> None:
    made.start(Program("long", SLEEP))
    assert tended(made, 0.2) == 0


def test_who_does_not_listen_is_ended_by_force(
    made: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_SECONDS", 0.3)
    made.start(Program("stubborn", ["/bin/sh", "-c", STUBBORN.format(tmp_path / "deaf")]))
    (child,) = made._children
    until((tmp_path / "deaf").exists)
    made.stop()
    assert child.process.status() == -9


def test_program_with_little_time_to_stop_gets_no_other_time(made: Supervisor, tmp_path: Path) -> None:
    made.start(Program("stubborn", ["/bin/sh", "-c", STUBBORN.format(tmp_path / "deaf")], stop_seconds=0.2))
    (child,) = made._children
    until((tmp_path / "deaf").exists)
    began = time.monotonic()
    made.stop()
    assert time.monotonic() - began < module.STOP_SECONDS / 2
    assert child.process.status() == -9


def test_what_others_use_ends_last(made: Supervisor, tmp_path: Path) -> None:
    said = tmp_path / "said"
    for name, last in (("base", True), ("user", False)):
        script = f"trap 'echo {name} >> {said}; exit' TERM; echo {name} up >> {said}; while :; do sleep 0.05; done"
        made.start(Program(name, ["/bin/sh", "-c", script], stops_last=last))
    while not said.exists() or len(said.read_text().splitlines()) < 2:
        time.sleep(0.01)
    made.stop()
    assert said.read_text().splitlines()[2:] == ["user", "base"]


def test_a_lock_is_held_once_and_freed(tmp_path: Path) -> None:
    with hold_lock(tmp_path / "lock"), pytest.raises(SettingsError, match="in use"), hold_lock(tmp_path / "lock"):
        pass
    with hold_lock(tmp_path / "lock"):
        pass


def hangs(_: Sequence[str]) -> int:
    """Lives for a moment, then takes no signal and does nothing."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    liveness.set_deadline(0.2)
    time.sleep(60)
    return 0


def lives(_: Sequence[str]) -> int:
    while True:
        liveness.set_deadline(5)
        time.sleep(0.05)


def test_what_gives_no_sign_of_life_is_ended_and_started_anew(watching: Supervisor) -> None:
    watching.start(Program("hanging", [], hangs, first_sign_seconds=5))
    watching.start(Program("living", [], lives, first_sign_seconds=5))
    watching.start(Program("silent", SLEEP, first_sign_seconds=0.3))
    watching.start(Program("unwatched", SLEEP))

    def ended() -> bool:
        tended(watching, 0.1)
        return watching.deaths.get("hanging", 0) >= 2 and "silent" in watching.deaths

    until(ended)  # the one that was started anew hangs as well
    assert watching.deaths.keys() == {"hanging", "silent"}


def stood_still(supervisor: Supervisor, seconds: float) -> None:
    """As if it had done so, with all others."""
    supervisor._last_check -= seconds
    for child in supervisor._children:
        child.started_at -= seconds
        path = supervisor._liveness_path(child.program)
        assert path is not None
        liveness.set_deadline(path.stat().st_mtime - time.monotonic() - seconds, path)


def test_who_was_stopped_itself_gives_the_others_time_anew(watching: Supervisor, tmp_path: Path) -> None:
    """A whole group that is suspended and goes on: nobody could give a sign, and nobody could have heard it."""
    watching.start(Program("silent", SLEEP, first_sign_seconds=60))
    liveness.set_deadline(5, tmp_path / "silent")
    stood_still(watching, 70)
    tended(watching, 0.5)
    assert watching.deaths == {}
    liveness.set_deadline(-1, tmp_path / "silent")
    tended(watching, 0.5)
    assert watching.deaths.keys() == {"silent"}


def test_who_was_stopped_itself_shortens_no_promise(watching: Supervisor, tmp_path: Path) -> None:
    watching.start(Program("busy", SLEEP, first_sign_seconds=5))
    liveness.set_deadline(500, tmp_path / "busy")
    stood_still(watching, MAX_CHECK_GAP + 1)
    watching.check_children()
    assert (tmp_path / "busy").stat().st_mtime > time.monotonic() + 400


def test_stopped_one_prolongs_its_promise_by_as_much(watching: Supervisor, tmp_path: Path) -> None:
    """However often: one that hangs and had promised half a minute was ended a minute after each time."""
    begun = time.monotonic()
    watching.start(Program("hanging", SLEEP, first_sign_seconds=60))
    liveness.set_deadline(30, tmp_path / "hanging")
    before = (tmp_path / "hanging").stat().st_mtime
    for _ in range(2):
        stood_still(watching, 6)
        watching.check_children()
    longer = (tmp_path / "hanging").stat().st_mtime - before
    assert -0.1 < longer + 2 * MAX_CHECK_GAP < time.monotonic() - begun + 0.1


def test_hanging_one_is_ended_though_its_watcher_stops(watching: Supervisor) -> None:
    """It was given ten seconds anew each time, and lived for as long as somebody stopped its supervisor."""
    watching.start(Program("hanging", SLEEP, first_sign_seconds=6))
    for _ in range(8):
        stood_still(watching, 20)
        watching.check_children()
    assert watching.deaths.keys() == {"hanging"}


def test_who_vouches_for_others_and_hangs_is_ended_before_them(watching: Supervisor, tmp_path: Path) -> None:
    """Both were given the same time anew, and the others were ended first."""
    for name, left in (("vouched", 4.0), ("vouching", 0.5)):
        watching.start(Program(name, SLEEP, first_sign_seconds=60))
        liveness.set_deadline(left, tmp_path / name)
    stood_still(watching, 60)
    tended(watching, 0.1)
    assert watching.deaths.keys() == {"vouching"}


def test_time_before_the_process_is_none_of_silence(watching: Supervisor, tmp_path: Path) -> None:
    """As a long migration before it, which was added to the time for its start."""
    watching._last_check -= 60
    watching.start(Program("new", SLEEP, first_sign_seconds=5))
    watching.check_children()
    assert (tmp_path / "new").stat().st_mtime < time.monotonic() + 5


DROPPED = """
import os, signal, sys
from deploy.cli import serve, single_processes
from deploy.cli.main import main

class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.{signal})

preload = serve.preload_modules
def dropping(*more):
    preload(*more)
    Dropped()

serve.preload_modules = single_processes.preload_modules = dropping
sys.exit(main([sys.argv[1], "--port", "0", "--data", sys.argv[2]]))
"""


@pytest.mark.parametrize("one", ["serve", "api"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_signal_ends_it_also_where_python_drops_what_is_raised(tmp_path: Path, one: str, name: str) -> None:
    """As in a finalizer, which may run at any time."""
    found = subprocess.run(
        [sys.executable, "-c", DROPPED.format(signal=name), one, str(tmp_path / "data")],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert "StoppedError" in found.stderr, "it was dropped, which Python tells"
    assert "ended with status" not in found.stderr


def test_a_second_signal_changes_nothing_while_it_ends() -> None:
    ended = list[str]()
    with stop_on_signals():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            ended.append("in order")
    assert ended == ["in order"]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def test_signals_are_as_before_if_none_has_come() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(ValueError, match="something"), stop_on_signals():
        raise ValueError("something")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
