"""Clients of two nodes, each a thread in the network of the clients: they play, read boards, and ask for readiness."""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.history import LOOK, READ, READY, WRITE, Answer, History
from tests.chaos.network import Network, enter

Doc = dict[str, Any]

CLIENTS = "clients"
"""The host of all of them."""

PATIENT, HASTY = 20.0, 3.0
"""Seconds that clients wait for an answer: longer than any limit of the service, and as people do."""


@dataclass(frozen=True)
class Stored:
    """The last write of a table that was acknowledged, and the token of the seat that made it."""

    game: str
    token: str
    version: int
    position: int


@dataclass
class Harness:
    """What clients share."""

    network: Network
    addresses: dict[str, str]
    history: History = field(default_factory=History)
    over: threading.Event = field(default_factory=threading.Event)
    games: list[str] = field(default_factory=list)
    newest: dict[int, Stored] = field(default_factory=dict)
    """By the number of the player."""
    faults: list[str] = field(default_factory=list)
    may_forget: bool = False
    """Whether the service may lose positions that it has told."""

    def ask(
        self,
        node: str,
        patience: float,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: Doc | None = None,
    ) -> tuple[str, Doc, float, float]:
        """What one node says, its document, and when it was asked and answered."""
        host, port = self.addresses[node].removeprefix("http://").split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=patience)
        named = {**(headers or {}), **({"Content-Type": "application/json"} if body is not None else {})}
        begun = time.monotonic()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), named)
            answer = connection.getresponse()
            text = answer.read()
            is_json = "json" in (answer.getheader("Content-Type") or "")
            doc: Doc = json.loads(text) if is_json else {"text": text.decode()}
            said = f"{answer.status} {doc['code']}" if "code" in doc else str(answer.status)
        except (OSError, http.client.HTTPException) as error:
            doc, said = {}, "timed out" if isinstance(error, TimeoutError) else type(error).__name__
        finally:
            connection.close()
        return said, doc, begun, time.monotonic()


class Visitor(threading.Thread):
    """A thread in the network of the clients."""

    def __init__(self, harness: Harness) -> None:
        super().__init__(daemon=True)
        self.harness = harness

    def run(self) -> None:
        try:
            enter(self.harness.network.name(CLIENTS))
            while not self.harness.over.is_set():
                self.visit()
        except BaseException as error:  # noqa: BLE001 - told at the end
            self.harness.faults.append(f"{type(self).__name__}: {error!r}")

    def visit(self) -> None:
        """Once."""


class Player(Visitor):
    """Plays all seats of a table at one node, or at whichever answers, and then of another table."""

    def __init__(
        self, harness: Harness, number: int, nodes: Sequence[str], patience: float, pause: float = 0.1
    ) -> None:
        super().__init__(harness)
        self.number, self.nodes, self.patience, self.pause = number, [*nodes], patience, pause
        self.rng = random.Random(number)
        self.keys = (f"{number:08}{n:024}" for n in itertools.count())

    def visit(self) -> None:
        """One table, until it is closed."""
        pace = {"seconds": {"turn": 4}}
        terms = {"ruleset": "orders@1", "seats": 3, "options": {"turns": 99}, "pace": pace}
        made = self.tell("/v1/games", terms, "")
        path = f"/v1/games/{made['game']}"
        tokens = [self.tell(f"{path}/seats", {"seat": seat}, "")["token"] for seat in range(3)]
        started = self.tell(f"{path}/start", {}, made["token"])
        self.harness.games.append(made["game"])
        self.note(made["game"], tokens[0], started)
        while not self.harness.over.is_set() and self.turn(path, tokens):
            pass

    def turn(self, path: str, tokens: Sequence[str]) -> bool:
        """What all have to say of the open decision; False after the end."""
        found = self.look(f"{path}/decisions?wait={self.harness.newest[self.number].position}", tokens[0])
        if not found["decisions"]:
            return False
        decision = found["decisions"][0]
        silent = self.silent_seat(decision["id"])
        for seat in decision["must"]:
            for move in ({"type": "order", "to": f"t0{seat}", "units": 1}, {"type": "submit"}):
                if seat != silent and not self.harness.over.is_set():
                    self.move(path, tokens[seat], {"move": move, "decision": decision["id"]})
                    time.sleep(self.pause)
        time.sleep(self.pause)
        return True

    def silent_seat(self, _: str) -> int | None:
        """A seat that says nothing this time."""
        return 2 if self.rng.random() < 0.2 else None

    def move(self, path: str, token: str, body: Doc) -> None:
        """Until it is stored or refused, with one key."""
        doc = self.tell(f"{path}/moves", body, token, WRITE)
        if "code" not in doc:
            self.note(doc["game"], token, doc)

    def note(self, game: str, token: str, doc: Doc) -> None:
        """What watchers wait for."""
        self.harness.newest[self.number] = Stored(game, token, doc["version"], doc["position"])

    def tell(self, path: str, body: Doc, token: str, kind: str = "") -> Doc:
        """Until there is an answer other than 503, also after all is over."""
        key, game = next(self.keys), path.split("/")[3] if kind else ""
        named = {"Idempotency-Key": key} | ({"Authorization": f"Bearer {token}"} if token else {})
        while True:
            node = self.nodes[0]
            said, doc, begun, ended = self.harness.ask(node, self.patience, "POST", path, named, body)
            version = doc.get("version", 0) if said == "201" else 0
            self.harness.history.note(Answer(kind or "other", node, begun, ended, said, key, game, version))
            if said[0] in "24" and said[:3] != "429":
                assert kind or said[0] == "2", (path, said, doc)
                return doc
            self.nodes.append(self.nodes.pop(0))
            time.sleep(0.1)

    def look(self, path: str, token: str) -> Doc:
        """Until there is an answer other than 503."""
        while True:
            node = self.nodes[0]
            named = {"Authorization": f"Bearer {token}"}
            said, doc, begun, ended = self.harness.ask(node, self.patience, "GET", path, named)
            self.harness.history.note(Answer(LOOK, node, begun, ended, said))
            if said == "200":
                return doc
            if self.harness.may_forget and said == "422 unknown_position":
                path = path.partition("?")[0]
            elif said[0] == "4" and said[:3] != "429":
                raise AssertionError(f"{path} at {node}: {said}")
            self.nodes.append(self.nodes.pop(0))
            time.sleep(0.1)


class Watcher(Visitor):
    """Reads boards at one node, and waits for what was last acknowledged anywhere."""

    def __init__(self, harness: Harness, node: str) -> None:
        super().__init__(harness)
        self.node, self.rng = node, random.Random(node)

    def visit(self) -> None:
        """One board."""
        time.sleep(0.1)
        if not self.harness.newest:
            return
        last = self.rng.choice([*self.harness.newest.values()])
        path, named = f"/v1/games/{last.game}/board?wait={last.position}", {"Authorization": f"Bearer {last.token}"}
        said, doc, begun, ended = self.harness.ask(self.node, PATIENT, "GET", path, named)
        digest = hashlib.sha256(json.dumps(doc, sort_keys=True).encode()).hexdigest()
        found = doc.get("version", 0) if said == "200" else 0
        seen = last.token, last.game, found, last.version, digest
        self.harness.history.note(Answer(READ, self.node, begun, ended, said, *seen))


class Inspector(Visitor):
    """Asks one node whether it is ready, and for its checkpoint."""

    def __init__(self, harness: Harness, node: str) -> None:
        super().__init__(harness)
        self.node = node

    def visit(self) -> None:
        """Once a second at most."""
        said, doc, begun, ended = self.harness.ask(self.node, 5, "GET", "/readyz")
        stated = f"{said}{', redis away' if doc.get('redis') == 'away' else ''}"
        self.harness.history.note(Answer(READY, self.node, begun, ended, stated))
        said, doc, _, _ = self.harness.ask(self.node, 5, "GET", "/v1/log/checkpoint")
        if said == "200":
            _, size, root = doc["text"].splitlines()[:3]
            self.harness.history.checkpoints.add((self.node, int(size), root))
        time.sleep(0.5)
