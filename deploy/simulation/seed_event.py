"""The command `annals seed-event`: fill a running service with an event in play, to look at."""

from __future__ import annotations

import random
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from deploy.simulation.demo import DemoClient, DemoGame
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import Doc

MOVES = 30
"""Moves of each table of the second round, which stays in play."""

PASSWORD_BYTES = 12


@dataclass(frozen=True)
class EventPlan:
    """Parameters of a seeded event."""

    rules: AnyRuleset
    seats: int
    tables: int
    seed: int


def seed_event(address: str, plan: EventPlan) -> None:
    """Open an event, play its first round to the end and its second for some moves, and print how to look at it."""
    rng = random.Random(plan.seed)  # noqa: S311 - clients need no secret dice
    tag = secrets.token_hex(2)
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    host = _register(address, f"Organiser {tag}", password)
    people = [_register(address, f"Entrant {number + 1} {tag}", password) for number in range(plan.seats * plan.tables)]
    path = f"/v1/tournaments/{_open(host, plan, tag)}"
    for person in people:
        person.call("POST", f"{path}/entrants", {})
    host.call("POST", f"{path}/phases", {"phase": "checking"})
    for person in people:
        person.call("POST", f"{path}/checkin", {})
    host.call("POST", f"{path}/phases", {"phase": "drawing"})
    for number in (1, 2):
        _play_round(host, people, path, number, plan, rng)
    print(f"event:    {address}{path.removeprefix('/v1')}")
    print(f"log in:   Organiser {tag}, or Entrant 1 {tag}")
    print(f"password: {password}")


def _register(address: str, name: str, password: str) -> DemoClient:
    client = DemoClient(address)
    client.token = client.call("POST", "/v1/accounts", {"name": name, "password": password})["token"]
    return client


def _open(host: DemoClient, plan: EventPlan, tag: str) -> str:
    seats = {"least": plan.seats, "most": plan.seats, "preferred": plan.seats}
    terms: Doc = {"title": f"Sample event {tag}", "ruleset": plan.rules.meta.ruleset, "seats": seats}
    terms |= {"table": {"undo": "none"}, "stages": [{"format": "swiss", "rounds": 3}]}
    return str(host.call("POST", "/v1/tournaments", terms)["tournament"])


def _play_round(
    host: DemoClient, people: Sequence[DemoClient], path: str, number: int, plan: EventPlan, rng: random.Random
) -> None:
    """Draw a round and play it: the first to its end and its ranking, a later one for some moves."""
    address = host.address
    round_ = f"{path}/stages/1/rounds/{number}"
    host.call("POST", f"{round_}/draw", {})
    host.call("POST", f"{round_}/tables", {})
    for pod in host.call("GET", round_)["pods"]:
        seats = [people[entrant] for entrant in pod["entrants"]]
        game = DemoGame(address, pod["game"], seats, rng, heuristic=plan.rules.bot)
        print(f"round {number}: {address}/games/{pod['game']}", file=sys.stderr)
        moves = 0
        while (number == 1 or moves < MOVES) and game.step():
            moves += 1
    if number == 1:
        host.call("POST", f"{round_}/reports", {})
        host.call("POST", f"{round_}/rank", {})
