"""Clients of the storm: each plays all seats of one game over HTTP, by whichever process of the API answers.

A request that gets no answer is sent again with its key, as clients do that never know what has become of it.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Doc = dict[str, Any]

NO_ANSWER = (OSError, http.client.HTTPException)


@dataclass
class Game:
    """What a client has of a game, and all that it was told."""

    id: str
    seats: list[str]
    """Tokens."""
    director: str
    rewinds: int
    """How often it goes back."""
    changes: int
    """How often its last seat changes hands."""
    stored: dict[str, int] = field(default_factory=dict)
    """Key of a move -> version, as answered."""
    jobs: dict[str, Doc] = field(default_factory=dict)
    """Rewinds that were accepted -> the job at its end."""
    joined: dict[str, Doc] = field(default_factory=dict)
    """Key of who has taken the last seat -> what was answered."""


class Lost(Exception):
    """It takes too long."""


@dataclass
class Client(threading.Thread):
    """Plays to the end; `fault` is what went wrong."""

    game: Game
    ports: Callable[[], list[int]]
    seed: int
    end: float
    fault: BaseException | None = None
    unanswered: int = 0

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.rng = random.Random(self.seed)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        try:
            while self._turn():
                pass
        except BaseException as fault:  # noqa: BLE001 - told by whoever waits for this thread
            self.fault = fault

    # --- playing

    def _turn(self) -> bool:
        """Everything that is to be said of the open decision; False at the end."""
        summary = self._ask("GET", "", self.game.seats[0])[1]
        if summary["status"] == "closed":
            return False
        decision = next(iter(self._ask("GET", "/decisions", self.game.seats[0])[1]["decisions"]), None)
        if decision is None or decision["engine"]:
            time.sleep(0.03)
            return True
        n = int(decision["id"].partition("-")[2])
        for seat in range(3):
            late = seat == 2 and n % 4 == 1  # somebody always misses a deadline
            moves: list[Doc] = [{"type": "order", "to": f"t0{seat}", "units": 1}]
            for step, move in enumerate([*moves, *([] if late else [{"type": "submit"}])]):
                if not self._move(decision["id"], seat, step, move):
                    return True  # the clock was faster
            if self.game.changes and n % 4 != 1 and self.rng.random() < 0.3:
                self.game.changes -= 1
                self._change_hands()
                return True
            if self.game.rewinds and self.rng.random() < 0.2:
                self.game.rewinds -= 1
                self._go_back(decision["id"])
                return True
        time.sleep(0.03)
        return True

    def _move(self, decision: str, seat: int, step: int, move: Doc) -> bool:
        key = f"{decision}/{seat}/{step}/move"
        body = {"move": move, "decision": decision}
        status, doc = self._ask("POST", "/moves", self.game.seats[seat], body, Idempotency_Key=key)
        if status != 201:
            assert status == 409, doc
            return False
        assert self.game.stored.setdefault(key, doc["version"]) == doc["version"], "another answer to the same key"
        return True

    def _change_hands(self) -> None:
        """Somebody else takes the last seat; then all who had it say again what they said before."""
        n = len(self.game.joined)
        status, _ = self._ask("DELETE", "/seats/2", self.game.director, Idempotency_Key=f"put-out-{n}")
        if status == 409:
            return  # the game was over
        assert status == 200
        for again in (*self.game.joined, f"{n:032}", f"{n:032}"):
            status, doc = self._ask("POST", "/seats", "", {"seat": 2}, Idempotency_Key=again)
            if status == 409 and again not in self.game.joined:
                self.game.seats[2] = ""  # over, with nobody there
                return
            assert status == 201, doc
            assert self.game.joined.setdefault(again, doc) == doc, "another answer to the same key"
        for before in range(n + 1):
            self._ask("DELETE", "/seats/2", self.game.director, Idempotency_Key=f"put-out-{before}")
        self.game.seats[2] = self.game.joined[f"{n:032}"]["token"]
        for token in [doc["token"] for doc in self.game.joined.values()]:
            status = self._ask("GET", "/board", token)[0]
            assert status == (200 if token == self.game.seats[2] else 401), "a token outlives its seat"

    def _go_back(self, decision: str) -> None:
        """The director goes some versions back; a deadline may have passed meanwhile, and then nothing has changed."""
        records = self._ask("GET", "/records?limit=200", self.game.director)[1]
        head = len(records["items"]) if records["next"] is None else 0
        if not head:
            return
        start = next(r["v"] for r in records["items"] if r["kind"] == "started")
        body, key = {"to": max(start, head - self.rng.randint(1, 8))}, f"{decision}/back/{head}"
        headers = {"Idempotency_Key": key, "If_Match": f'"{head}"'}
        status, doc = self._ask("POST", "/rewinds", self.game.director, body, **headers)
        if status == 202:
            self.game.jobs[doc["id"]] = self._job(doc["job"])
        else:
            assert status in (409, 412), doc

    def _job(self, path: str) -> Doc:
        while True:
            status, doc = self._ask("GET", path, self.game.director)
            assert status == 200, doc
            if doc["status"] in ("done", "failed"):
                return doc
            time.sleep(0.05)

    # --- asking

    def _ask(self, method: str, path: str, token: str, body: Doc | None = None, **headers: str) -> tuple[int, Doc]:
        """The answer of whoever answers."""
        whole = path if path.startswith("/v1") else f"/v1/games/{self.game.id}{path}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"Authorization": f"Bearer {token}"} if token else {}
        named |= {"Content-Type": "application/json"} if body else {}
        while True:
            if time.monotonic() > self.end:
                raise Lost(f"{method} {whole}")
            if not self.ports():
                time.sleep(0.05)
                continue
            try:
                status, doc = self._once(method, whole, json.dumps(body) if body else None, named)
            except NO_ANSWER:
                self.unanswered += 1
                time.sleep(0.05)
                continue
            if status < 500:
                return status, doc
            assert status == 503, doc

    def _once(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int, Doc]:
        connection = http.client.HTTPConnection("127.0.0.1", self.rng.choice(self.ports() or [1]), timeout=10)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()
