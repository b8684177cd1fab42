"""`annals demo`: a whole game over HTTP, by clients that use nothing but the public API and the move builder."""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

import urllib3

from deploy.runtime import parent_death
from domain.types import Json

Doc = dict[str, Json]

ENDING = 0.35
"""How often a client takes the option at once that brings the game on."""

PATIENCE = 30.0
"""Seconds to wait for a service to start, and for the workers to resolve a turn."""

LATE = 0.02
"""How often a client lets the deadline of a decision pass, where deadlines are counted in seconds."""

OVERTAKEN = {"already_answered", "decision_closed", "game_over", "not_offered", "not_your_decision", "wrong_phase"}
"""What a client is told whose deadline has passed while it was still thinking."""

WIDTH = 30

AGAIN = urllib3.Retry(
    10, redirect=0, allowed_methods=None, status_forcelist=[429, 503], backoff_factor=0.05, raise_on_status=False
)
"""A client that plays this fast is asked to wait, and waits; a connection that breaks is made anew."""


class DemoError(Exception):
    """The service did not do what its API says."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Client:
    """One person with one connection."""

    address: str
    token: str = ""
    pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(retries=AGAIN, timeout=PATIENCE))
    calls: list[float] = field(default_factory=list)
    """Seconds of each request."""

    def call(self, method: str, path: str, body: Json = None, **headers: str) -> Doc:
        """The answer's document; raises DemoError for a problem."""
        status, data = self.raw(method, path, body, **headers)
        doc: Doc = json.loads(data)
        if status >= 400:
            code = str(doc.get("code"))
            raise DemoError(f"{method} {path}: {status} {code} {doc.get('detail', '')}", code)
        return doc

    def raw(self, method: str, path: str, body: Json = None, **headers: str) -> tuple[int, bytes]:
        """Status and bytes. What was not taken, or is to be sent later, is sent again with its key."""
        sent = {} if body is None else {"Content-Type": "application/json", "Idempotency-Key": secrets.token_hex(16)}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        text, begun = None if body is None else json.dumps(body), time.perf_counter()
        try:
            answer = self.pool.request(
                method, self.address + path, body=text, headers={**sent, **named}, redirect=False
            )
        except urllib3.exceptions.HTTPError as error:
            raise DemoError(f"{method} {path}: the service does not answer ({error})") from error
        self.calls.append(time.perf_counter() - begun)
        return answer.status, answer.data

    def close(self) -> None:
        """Hang up."""
        self.pool.clear()


def pick(choice: Doc, rng: random.Random) -> Json:
    """An answer to a question of the move builder, at random."""
    if choice["kind"] == "range":
        return rng.randint(choice["lo"], choice["hi"])
    offered = choice["options"]
    if choice["kind"] == "some":
        return [o["value"] for o in rng.sample(offered, rng.randint(choice["lo"], min(choice["hi"], len(offered))))]
    ending = [o for o in offered if o.get("ends")]
    return rng.choice(ending if ending and rng.random() < ENDING else offered)["value"]


@dataclass
class Game:
    """A table whose seats are all played from here."""

    address: str
    game: str
    seats: list[Client]
    rng: random.Random
    deadline: int = 0
    """Seconds for every decision; 0: none that a demo could wait for."""
    position: int = 0
    """Of the last write: reads wait for it."""
    missed: int = 0
    """Deadlines that have passed."""
    late: dict[str, set[int]] = field(default_factory=dict)
    """Decision -> seats that will not answer it."""

    @property
    def path(self) -> str:
        """Where the game is."""
        return f"/v1/games/{self.game}"

    def decision(self, client: Client) -> Doc | None:
        """What is open, as that seat may know it; None at the end."""
        found = client.call("GET", f"{self.path}/decisions?wait={self.position}")["decisions"]
        return found[0] if found else None

    def step(self) -> bool:
        """One move of a seat that owes one, or the end of a wait for others; False at the end."""
        start = self.rng.randrange(len(self.seats))
        late = ""
        for offset in range(len(self.seats)):
            seat = (start + offset) % len(self.seats)
            found = self.decision(self.seats[seat])
            if found is None:
                return False
            if found["engine"]:
                self.passed(found["id"], "the workers do not resolve the turn")
                return True
            if seat in found["must"]:
                late = found["id"]
                if seat not in self.sleepers(late):
                    self.answer(seat, late)
                    return True
        if not late:
            raise DemoError("a decision is open, but no seat owes it")
        self.passed(late, "a deadline passes, but nothing comes of it")
        self.missed += 1
        return True

    def sleepers(self, decision: str) -> set[int]:
        """Who lets its deadline pass; found out when the decision is first met."""
        if decision not in self.late:
            every = range(len(self.seats)) if self.deadline else ()
            self.late = {decision: {seat for seat in every if self.rng.random() < LATE}}
        return self.late[decision]

    def answer(self, seat: int, decision: str) -> None:
        """A move; where there are deadlines it may come too late."""
        try:
            self.move(seat, decision)
        except DemoError as error:
            if not self.deadline or error.code not in OVERTAKEN:
                raise

    def move(self, seat: int, decision: str) -> None:
        """Answers the builder's questions, and sends the move that comes of it."""
        client = self.seats[seat]
        picks: list[Json] = []
        while True:
            answer = client.call("POST", f"{self.path}/choices", {"picks": picks})
            if answer["move"] is not None:
                break
            picks.append(pick(answer["choice"], self.rng))
        body = {"move": answer["move"], "decision": decision}
        self.position = client.call("POST", f"{self.path}/moves", body)["position"]

    def passed(self, decision: str, otherwise: str) -> None:
        """Waits until others, the workers or the clock, have closed the decision."""
        end = time.monotonic() + self.deadline + PATIENCE
        while (found := self.decision(self.seats[0])) and found["id"] == decision:
            if time.monotonic() > end:
                raise DemoError(otherwise)
            time.sleep(0.02)


@dataclass(frozen=True)
class Plan:
    """What is played, and where its export goes."""

    ruleset: str
    seats: int
    options: Doc
    seed: int
    export: Path
    pace: Json = None
    """As `POST /v1/games` takes it; None: no deadlines."""
    deadline: int = 0
    """Seconds for every decision, where the pace is so short that clients may let it pass."""


def open_table(address: str, plan: Plan, rng: random.Random) -> Game:
    """A game with a client at each seat, started."""
    host = Client(address)
    terms = {"ruleset": plan.ruleset, "seats": plan.seats, "options": plan.options, "pace": plan.pace}
    made = host.call("POST", "/v1/games", terms)
    host.token = made["token"]
    clients = []
    for seat in range(plan.seats):
        client = Client(address)
        body = {"seat": seat, "name": f"Demo {seat + 1}"}
        client.token = client.call("POST", f"/v1/games/{made['game']}/seats", body)["token"]
        clients.append(client)
    started = host.call("POST", f"/v1/games/{made['game']}/start", {})
    host.close()
    return Game(address, made["game"], clients, rng, plan.deadline, started["position"])


# --- the command -----------------------------------------------------------------------------------------------


def demo(address: str, plan: Plan) -> None:
    """Plays to the end with a bar on standard error, then prints scores, addresses and where the export is."""
    begun, rng = time.monotonic(), random.Random(plan.seed)  # noqa: S311 - clients need no secret dice
    game = open_table(address, plan, rng)
    print(f"{plan.ruleset}, {plan.seats} seats: {address}{game.path}", file=sys.stderr)
    moves = 0
    try:
        while game.step():
            moves += 1
            _bar(moves, time.monotonic() - begun)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        _results(game, moves, time.monotonic() - begun, plan.export)
    finally:
        for client in game.seats:
            client.close()


def _bar(moves: int, seconds: float) -> None:
    """How far it is nobody knows: the bar runs round, the figures grow. Silent where nobody looks."""
    if not sys.stderr.isatty():
        return
    at = moves // 4 % WIDTH
    bar = "".join("#" if i == at else "." for i in range(WIDTH))
    print(f"\r[{bar}] {moves} moves, {moves / max(seconds, 0.001):.0f}/s", end="", file=sys.stderr, flush=True)


def _results(game: Game, moves: int, seconds: float, export: Path) -> None:
    reader = game.seats[0]
    scores = reader.call("GET", f"{game.path}/scores?wait={game.position}")
    print("place  seat  points")
    for line in sorted(scores["scores"], key=lambda s: s["place"]):
        print(f"{line['place']:>5}  {line['seat'] + 1:>4}  {line['points']:>6}")
    status, data = reader.raw("GET", f"{game.path}/export")
    if status != 200:
        raise DemoError(f"the export answers {status}")
    export.mkdir(parents=True, exist_ok=True)
    file = export / f"{game.game}.jsonl"
    file.write_bytes(data)
    taken = sorted(s for c in game.seats for s in c.calls)
    print(f"moves:   {moves} in {seconds:.1f} s; requests: {len(taken)}, median {1000 * taken[len(taken) // 2]:.1f} ms")
    if game.deadline:
        print(f"late:    {game.missed} deadlines of {game.deadline} s have passed")
    print(f"replay:  {game.address}{game.path}/board?version=1 .. {len(data.splitlines()) - 1}")
    print(f"export:  {file} ({len(data)} bytes); prove it: ./run annals verify {file}")


@contextmanager
def service(data: Path, **given: str) -> Iterator[str]:
    """The address of a service of our own, stopped afterwards. No setting of this process is its; `given` are."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "deploy",
        "serve",
        "--port",
        "0",
        "--data",
        str(data),
        "--log-level",
        "error",
    ]
    # Else the games of a demonstration would be played in the stores that an operator's shell names.
    others = {name: value for name, value in os.environ.items() if not name.startswith("ANNALS_")}
    parent_death.prepare()
    process = subprocess.Popen(
        command,
        env={**others, "ANNALS_RATE": "0", **given},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=partial(parent_death.tie_program, os.getpid()),  # noqa: PLW1509 - nobody has begun a thread
    )
    try:
        said = process.stdout.readline().split() if process.stdout else []
        if len(said) != 2 or said[0] != "ready":
            raise DemoError("the service did not start")
        yield said[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def main(address: str, plan: Plan) -> None:
    """Against a running service, or one of its own in a temporary folder."""
    if address:
        demo(address.rstrip("/"), plan)
        return
    with _ended_in_order(), tempfile.TemporaryDirectory(prefix="annals-") as folder, service(Path(folder)) as own:
        demo(own, plan)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """SIGTERM raises SystemExit inside, once: else folder and service would be left behind."""

    def ended(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, ended)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
