"""A service as its user has it: started by the command, spoken to over HTTP, ended by signals."""

from __future__ import annotations

import io
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

from api.http.security_log import EVENTS
from deploy.cli.main import main
from domain.ruleset_registry import RulesetRegistry
from tests.rulesets import FLOWS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 75
TOLD = re.compile(f'"event": "({"|".join(EVENTS)})"')
"""Security events, which stand in the log of a service that is well."""
CATALOGUE = RulesetRegistry(entry.rules for entry in FLOWS)
Doc = dict[str, Any]


def environment(**more: str) -> dict[str, str]:
    """No setting of the machine's, but the project on the path."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("ANNALS_")}
    return {**own, "PYTHONPATH": str(ROOT), "ANNALS_RATE": "0", **more}


SMALL, SHIPPED = "tests.deploy.served", "deploy"
"""The program with the small rulesets of the tests, and as people have it."""


def command(*args: str, program: str = SMALL, python: str = sys.executable) -> list[str]:
    return [python, "-P", "-m", program, *args]


def run(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    return subprocess.run(
        command(*args), env=environment(**env), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def call(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """As `run`, in this process: loading everything takes longer than most commands."""
    said, complained = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment(**env), clear=True),
        redirect_stdout(said),
        redirect_stderr(complained),
    ):
        status = main(args, CATALOGUE)
    return subprocess.CompletedProcess(list(args), status, said.getvalue(), complained.getvalue())


def until(what: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """The first true answer."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
    return found


class Service:
    """`annals serve` in a process group of its own."""

    def __init__(self, data: Path, *args: str, program: str = SMALL, python: str = sys.executable, **env: str) -> None:
        self.data = data
        self.errors = data.with_name(f"{data.name}.errors")
        with self.errors.open("a") as errors:
            self.process = subprocess.Popen(
                command("serve", "--port", "0", "--data", str(data), *args, program=program, python=python),
                env=environment(**env),
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                text=True,
            )
        try:
            self.url = self._ready()
        except BaseException:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise
        self.http = httpx.Client(base_url=f"{self.url}/v1", timeout=10, verify=False)  # noqa: S501 - it is our own

    def _ready(self) -> str:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], PATIENCE)[0], self.errors.read_text()
        line = self.process.stdout.readline()
        found = re.fullmatch(r"ready (https?://[\d.]+:\d+)\n", line)
        assert found, self.errors.read_text()
        return found[1]

    def complaints(self) -> str:
        """What it has said on stderr besides where its data are and its security events: nothing where all is well."""
        said = self.errors.read_text().replace(f"annals: the data are in {self.data}\n", "")
        return "".join(line for line in said.splitlines(keepends=True) if not TOLD.search(line))

    def group(self) -> dict[int, tuple[int, str]]:
        """The processes of the group that live: pid -> parent, name."""
        out: dict[int, tuple[int, str]] = {}
        listed = subprocess.run(
            ["/bin/ps", "-eo", "pid,ppid,pgid,stat,comm"], capture_output=True, text=True, check=True
        ).stdout
        for line in listed.splitlines()[1:]:
            pid, parent, group, status, name = line.split(None, 4)
            if int(group) == self.process.pid and not status.startswith("Z"):
                out[int(pid)] = int(parent), name
        return out

    def pid(self, name: str) -> int:
        """The child of that name; fails where there is none: a signal to 0 would end the tests themselves."""
        found = self.find(name)
        assert found, f"no {name} lives: {self.group()}"
        return found

    def find(self, name: str) -> int:
        """The same; 0 for none."""
        return next((p for p, (up, n) in self.group().items() if n == name and up == self.process.pid), 0)

    def kill_group(self) -> None:
        """As a machine that fails, except that the disk keeps what it has."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.http.close()
        until(lambda: not self.group())

    def end(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop; its exit status."""
        self.process.send_signal(number)
        self.http.close()
        return self.process.wait(PATIENCE)


@contextmanager
def serving(data: Path, *args: str, program: str = SMALL, **env: str) -> Iterator[Service]:
    """A service that leaves nothing behind."""
    service = Service(data, *args, program=program, **env)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.kill_group()
        service.http.close()
        assert service.process.stdout is not None
        service.process.stdout.close()


@dataclass
class Table:
    """A game of orders for three, over HTTP."""

    service: Service
    pace: Doc | None = None
    game: str = ""
    tokens: list[str] = field(default_factory=list)
    director: str = ""
    acknowledged: list[int] = field(default_factory=list)
    """Versions."""

    def open(self) -> Table:
        """Returns once the views show that it has started."""
        made = self.post("/games", {"ruleset": "orders@1", "seats": 3, "options": {"turns": 3}, "pace": self.pace})
        self.game, self.director = made["game"], made["token"]
        for seat in range(3):
            self.tokens.append(self.post(f"/games/{self.game}/seats", {"seat": seat})["token"])
        self.post(f"/games/{self.game}/start", {}, made["token"])
        until(lambda: self.get()["status"] == "running")
        return self

    def post(self, path: str, body: Doc, token: str = "", **headers: str) -> Doc:
        if token:
            headers["Authorization"] = f"Bearer {token}"
        answer = self.service.http.post(path, json=body, headers=headers)
        assert answer.status_code in (200, 201), answer.text
        found: Doc = answer.json()
        return found

    def get(self, path: str = "", seat: int | None = None) -> Doc:
        headers = {} if seat is None else {"Authorization": f"Bearer {self.tokens[seat]}"}

        def asked() -> httpx.Response | None:
            found = self.service.http.get(f"/games/{self.game}{path}", headers=headers)
            return None if found.status_code == 503 else found  # the views have not read that far

        answer: httpx.Response = until(asked)
        assert answer.status_code == 200, answer.text
        found: Doc = answer.json()
        return found

    def decision(self) -> str:
        """The one that seats owe; waits while the engine works."""

        def seats_owe() -> str:
            found = self.get("/decisions", 0)["decisions"]
            return str(found[0]["id"]) if found and found[0]["must"] else ""

        return str(until(seats_owe))

    def submit(self, seat: int, decision: str) -> None:
        body = {"move": {"type": "submit"}, "decision": decision}
        stored = self.post(f"/games/{self.game}/moves", body, self.tokens[seat])
        self.acknowledged.append(stored["version"])

    def turn(self) -> None:
        """All hand in their sheets; a worker resolves, and the views show it."""
        decision = self.decision()
        for seat in range(3):
            self.submit(seat, decision)
        until(lambda: self.get()["status"] == "closed" or self.get()["version"] > self.acknowledged[-1])
