"""`annals demo`: a whole game over HTTP, played by clients of the public API.

A client reads its seat's board and decisions. The ruleset's heuristic chooses from them, or the move builder at random.
"""

from __future__ import annotations

import itertools
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
from domain.kernel.rules.ruleset import Bot
from domain.kernel.schema.canonical_json import digest
from domain.rollouts import MAX_PROPOSALS
from domain.types import Doc, Json

ENDING_SHARE = 0.35
"""Share of picks limited to options with `ends`, the ones to bring the game forward."""

PATIENCE = 30.0
"""Seconds to wait for a service to start, and for the workers to resolve a turn."""

MISSED_SHARE = 0.02
"""Share of decisions whose deadline a client misses, with deadlines in seconds."""

STALE_CODES = {"already_answered", "decision_closed", "game_over", "not_offered", "not_your_decision", "wrong_phase"}
"""Refusals of a move that comes after its deadline."""

REFUSED = (409, 422)
"""Statuses of a move that the rules refuse."""

CLOSED_CODES = {"already_answered", "decision_closed", "game_over"}
"""Refusals of every move for a decision, so that the next proposal would be refused too."""

BAR_WIDTH = 30

RETRIES = urllib3.Retry(
    10, redirect=0, allowed_methods=None, status_forcelist=[429, 503], backoff_factor=0.05, raise_on_status=False
)
"""Retries: the service asks such a fast client to wait, and connections can break."""


class DemoError(Exception):
    """The service did not behave as its API promises."""

    def __init__(self, message: str, code: str = "", status: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


@dataclass
class DemoClient:
    """HTTP client of one person."""

    address: str
    token: str = ""
    pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(retries=RETRIES, timeout=PATIENCE))
    calls: list[float] = field(default_factory=list)
    """Duration of each request, seconds."""

    def call(self, method: str, path: str, body: Json = None, **headers: str) -> Doc:
        """Send a request and return the document. Raises DemoError for a problem."""
        status, data = self.request(method, path, body, **headers)
        doc: Doc = json.loads(data)
        if status >= 400:
            code = str(doc.get("code"))
            raise DemoError(f"{method} {path}: {status} {code} {doc.get('detail', '')}", code, status)
        return doc

    def request(self, method: str, path: str, body: Json = None, **headers: str) -> tuple[int, bytes]:
        """Send a request and return status and bytes. Retries keep the idempotency key. Raises DemoError."""
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
        """Close all connections."""
        self.pool.clear()


def pick(choice: Doc, rng: random.Random) -> Json:
    """Return a random pick for a question of the move builder."""
    if choice["kind"] == "range":
        return rng.randint(choice["lo"], choice["hi"])
    offered = choice["options"]
    if choice["kind"] == "some":
        return [o["value"] for o in rng.sample(offered, rng.randint(choice["lo"], min(choice["hi"], len(offered))))]
    ending = [o for o in offered if o.get("ends")]
    return rng.choice(ending if ending and rng.random() < ENDING_SHARE else offered)["value"]


@dataclass
class DemoGame:
    """A game with a client for each seat."""

    address: str
    game: str
    seats: list[DemoClient]
    rng: random.Random
    deadline: int = 0
    """Seconds for every decision; 0: no deadlines, or too long ones to wait for."""
    heuristic: Bot | None = None
    """Player of all seats; None: random picks in the move builder."""
    position: int = 0
    """Position of the last write: reads wait for it."""
    missed: int = 0
    """Number of missed deadlines."""
    heads: dict[int, str] = field(default_factory=dict)
    """Version -> hash of its record, as the answers to moves had it."""
    late: dict[str, set[int]] = field(default_factory=dict)
    """Decision -> seats that miss its deadline."""

    @property
    def path(self) -> str:
        """Path of the game."""
        return f"/v1/games/{self.game}"

    def find_decision(self, client: DemoClient) -> Doc | None:
        """Return the open decision as the seat sees it; None after the end."""
        decisions = client.call("GET", f"{self.path}/decisions?wait={self.position}")["decisions"]
        return decisions[0] if decisions else None

    def step(self) -> bool:
        """Play one move, or wait until workers or the clock close the decision. Return False after the end."""
        start = self.rng.randrange(len(self.seats))
        late = ""
        for offset in range(len(self.seats)):
            seat = (start + offset) % len(self.seats)
            decision = self.find_decision(self.seats[seat])
            if decision is None:
                return False
            if decision["engine"]:
                self.wait_until_closed(decision["id"], "the workers do not resolve the turn")
                return True
            if seat in decision["must"]:
                late = decision["id"]
                if seat not in self.seats_missing(late):
                    self.answer(seat, decision)
                    return True
        if not late:
            raise DemoError("a decision is open, but no seat owes it")
        self.wait_until_closed(late, "a deadline passes, but nothing comes of it")
        self.missed += 1
        return True

    def seats_missing(self, decision: str) -> set[int]:
        """Return the seats that miss the deadline, drawn at the first call for a decision."""
        if decision not in self.late:
            every = range(len(self.seats)) if self.deadline else ()
            self.late = {decision: {seat for seat in every if self.rng.random() < MISSED_SHARE}}
        return self.late[decision]

    def answer(self, seat: int, decision: Doc) -> None:
        """Play a move; ignore a refusal after a missed deadline."""
        try:
            self.send_move(seat, decision)
        except DemoError as error:
            if not self.deadline or error.code not in STALE_CODES:
                raise

    def send_move(self, seat: int, decision: Doc) -> None:
        """Send the heuristic's first legal proposal, or else a move of random picks in the move builder."""
        client = self.seats[seat]
        for proposal in self.propose_moves(seat, decision):
            try:
                self.post_move(client, proposal, decision)
            except DemoError as refusal:
                if refusal.status not in REFUSED or refusal.code in CLOSED_CODES:
                    raise
            else:
                return
        picks: list[Json] = []
        while True:
            answer = client.call("POST", f"{self.path}/choices", {"picks": picks})
            if answer["move"] is not None:
                break
            picks.append(pick(answer["choice"], self.rng))
        self.post_move(client, answer["move"], decision)

    def propose_moves(self, seat: int, decision: Doc) -> Iterator[Doc]:
        """Yield the heuristic's proposals from the seat's board, best first."""
        if self.heuristic is None:
            return
        board = self.seats[seat].call("GET", f"{self.path}/board?wait={self.position}")
        view = {"public": board["public"], "own": board["own"]}
        yield from itertools.islice(self.heuristic(view, decision, seat, self.rng), MAX_PROPOSALS)

    def post_move(self, client: DemoClient, move: Json, decision: Doc) -> None:
        """Send a move for a decision."""
        body = {"move": move, "decision": decision["id"]}
        answer = client.call("POST", f"{self.path}/moves", body)
        self.position, self.heads[answer["version"]] = answer["position"], answer["head"]

    def wait_until_closed(self, decision: str, otherwise: str) -> None:
        """Wait until workers or the clock close the decision. Raises DemoError with `otherwise` if they do not."""
        end = time.monotonic() + self.deadline + PATIENCE
        while (found := self.find_decision(self.seats[0])) and found["id"] == decision:
            if time.monotonic() > end:
                raise DemoError(otherwise)
            time.sleep(0.02)


@dataclass(frozen=True)
class DemoPlan:
    """Parameters of a demo."""

    ruleset: str
    seats: int
    options: Doc
    seed: int
    export: Path
    pace: Json = None
    """`pace` of `POST /v1/games`; None: no deadlines."""
    deadline: int = 0
    """Seconds for every decision, if short enough to miss deadlines; else 0."""
    heuristic: Bot | None = None
    """Player of all seats; None: random picks in the move builder."""


def open_table(address: str, plan: DemoPlan, rng: random.Random) -> DemoGame:
    """Open and start a game with a client for each seat."""
    host = DemoClient(address)
    terms = {"ruleset": plan.ruleset, "seats": plan.seats, "options": plan.options, "pace": plan.pace}
    game = host.call("POST", "/v1/games", terms)
    host.token = game["token"]
    clients = []
    for seat in range(plan.seats):
        client = DemoClient(address)
        body = {"seat": seat, "name": f"Demo {seat + 1}"}
        client.token = client.call("POST", f"/v1/games/{game['game']}/seats", body)["token"]
        clients.append(client)
    started = host.call("POST", f"/v1/games/{game['game']}/start", {})
    host.close()
    return DemoGame(address, game["game"], clients, rng, plan.deadline, plan.heuristic, started["position"])


# --- the command -----------------------------------------------------------------------------------------------


def play_demo(address: str, plan: DemoPlan, *, stays: bool) -> None:
    """Play to the end with a progress bar on standard error, then print scores and commands for the export.

    A service that `stays` also serves the replay, so its address is printed instead of the command.
    """
    begun, rng = time.monotonic(), random.Random(plan.seed)  # noqa: S311 - clients need no secret dice
    game = open_table(address, plan, rng)
    print(f"{plan.ruleset}, {plan.seats} seats: {address}{game.path}", file=sys.stderr)
    moves = 0
    try:
        while game.step():
            moves += 1
            _print_progress(moves, time.monotonic() - begun)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        _print_results(game, moves, time.monotonic() - begun, plan.export, stays=stays)
    finally:
        for client in game.seats:
            client.close()


def _print_progress(moves: int, seconds: float) -> None:
    """Print an indeterminate progress bar, if standard error is a terminal."""
    if not sys.stderr.isatty():
        return
    at = moves // 4 % BAR_WIDTH
    bar = "".join("#" if i == at else "." for i in range(BAR_WIDTH))
    print(f"\r[{bar}] {moves} moves, {moves / max(seconds, 0.001):.0f}/s", end="", file=sys.stderr, flush=True)


def _print_results(game: DemoGame, moves: int, seconds: float, export: Path, *, stays: bool) -> None:
    reader = game.seats[0]
    scores = reader.call("GET", f"{game.path}/scores?wait={game.position}")
    print("place  seat  points")
    for line in sorted(scores["scores"], key=lambda s: s["place"]):
        print(f"{line['place']:>5}  {line['seat'] + 1:>4}  {line['points']:>6}")
    status, data = reader.request("GET", f"{game.path}/export")
    if status != 200:
        raise DemoError(f"the export answers {status}")
    lines = data.splitlines()[1:-1]
    if told := [v for v, head in game.heads.items() if digest(json.loads(lines[v - 1])["public"]) != head]:
        raise DemoError(f"version {told[0]} of the export is not the record of its move: the game was forked")
    export.mkdir(parents=True, exist_ok=True)
    file = export / f"{game.game}.jsonl"
    file.write_bytes(data)
    taken = sorted(s for c in game.seats for s in c.calls)
    print(f"moves:   {moves} in {seconds:.1f} s; requests: {len(taken)}, median {1000 * taken[len(taken) // 2]:.1f} ms")
    if game.deadline:
        print(f"late:    {game.missed} deadlines of {game.deadline} s have passed")
    print(f"export:  {file} ({len(data)} bytes)")
    program = "annals" if Path(sys.argv[0]).name == "annals" else "./run annals"  # from a wheel, or in a clone
    print(f"prove:   {program} verify {file}")
    print(f"read:    {program} show {file}")
    shown = f"{game.address}{game.path}/board?version=" if stays else f"{program} replay {file} --version "
    print(f"replay:  {shown}{len(lines)} (or any version from 1)")


@contextmanager
def run_service(data: Path, **settings: str) -> Iterator[str]:
    """Run a service in a data folder, yield its address and stop it. It gets `settings`, not this process's ones."""
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
    # Otherwise the demo would play in the stores of the operator's shell.
    others = {name: value for name, value in os.environ.items() if not name.startswith("ANNALS_")}
    parent_death.load_libc()
    process = subprocess.Popen(
        command,
        env={**others, "ANNALS_RATE": "0", **settings},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=partial(parent_death.end_program_with_parent, os.getpid()),  # noqa: PLW1509 - this process has no threads
    )
    try:
        words = process.stdout.readline().split() if process.stdout else []
        if len(words) != 2 or words[0] != "ready":
            raise DemoError("the service did not start")
        yield words[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def run_demo(address: str, plan: DemoPlan) -> None:
    """Play on a running service, or without an address on a temporary one."""
    if address:
        play_demo(address.rstrip("/"), plan, stays=True)
        return
    with _exit_on_sigterm(), tempfile.TemporaryDirectory(prefix="annals-") as folder, run_service(Path(folder)) as own:
        play_demo(own, plan, stays=False)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Raise SystemExit in the block on the first SIGTERM, to clean up folder and service."""

    def exit_once(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, exit_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
