"""A client that knows no rules: it reads decisions and answers the questions of the builder."""

from __future__ import annotations

import random
from typing import Any

from tests.api.conftest import Doc, Table


def pick(choice: Doc, rng: random.Random) -> Any:
    """A random answer; one that brings the game on is preferred now and then."""
    if choice["kind"] == "range":
        return rng.randint(choice["lo"], choice["hi"])
    offered = choice["options"]
    if choice["kind"] == "some":
        return [o["value"] for o in rng.sample(offered, rng.randint(choice["lo"], min(choice["hi"], len(offered))))]
    ending = [o for o in offered if o.get("ends")]
    return rng.choice(ending if ending and rng.random() < 0.4 else offered)["value"]


def build(table: Table, seat: int, rng: random.Random, picks: list[Any] | None = None) -> Doc:
    """A finished move after these picks."""
    picks = list(picks or ())
    while True:
        answer = table.post("/choices", {"picks": picks}, table.tokens[seat])
        assert answer.status_code == 200, answer.text
        if answer.json["move"] is not None:
            move: Doc = answer.json["move"]
            return move
        picks.append(pick(answer.json["choice"], rng))


def kinds(table: Table, seat: int) -> list[str]:
    """The types of moves that the builder offers first."""
    choice = table.post("/choices", {}, table.tokens[seat]).json["choice"]
    return [o["value"] for o in choice["options"]] if choice and choice["field"] == "type" else []


def step(table: Table, rng: random.Random) -> Doc | None:
    """One move of somebody who owes one; the decision, or None at the end."""
    found = table.get("/decisions", "director").json["decisions"]
    if not found:
        return None
    decision: Doc = found[0]
    if decision["engine"]:
        table.resolve()
        return decision
    # In a secret decision the public does not know who has answered: each seat knows of itself.
    owing = [s for s in decision["must"] if s in table.get("/decisions", s).json["decisions"][0]["must"]]
    seat = rng.choice(owing)
    body = {"move": build(table, seat, rng), "decision": decision["id"]}
    answer = table.post("/moves", body, table.tokens[seat])
    assert answer.status_code == 201, answer.text
    return decision


def play(table: Table, rng: random.Random, most: int) -> int:
    """Plays until the end, or so many moves; how many were made."""
    for made in range(most):
        if step(table, rng) is None:
            return made
    return most
