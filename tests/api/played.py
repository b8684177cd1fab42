"""Games of every ruleset, played for a while over HTTP and closed, and every document that was read of them."""

from __future__ import annotations

import fcntl
import json
import os
import random
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from domain.ruleset_registry import load_shipped
from tests.api.conftest import Doc, Site, Table, make_site
from tests.api.player import build, play, step

MOVES = 50
CATALOGUE = load_shipped()


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that one of pytest's workers fills, for all of them."""
    root = factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    folder = root / name
    folder.mkdir(exist_ok=True)
    with (root / f"{name}.lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            make(folder)
            (folder / "made").touch()
    return folder


def published(factory: pytest.TempPathFactory) -> Path:
    """The OpenAPI document of all rulesets, in a file."""

    def make(folder: Path) -> None:
        with closing(make_site(folder, CATALOGUE)) as site:
            (folder / "openapi.json").write_bytes(site.client.get("/v1/openapi.json").data)

    return once(factory, "document", make) / "openapi.json"


class Hasty(random.Random):
    """Picks what brings the game on, where that is offered: ten sheets of orders would else take for ever."""

    def random(self) -> float:
        return 0.0


class Played:
    """Component of the document -> what was read that should be of it."""

    def __init__(self, folder: Path) -> None:
        self.site: Site = make_site(folder, CATALOGUE)
        self.found: dict[str, list[Doc]] = defaultdict(list)
        for name in CATALOGUE.names():
            table = self.site.table(name, CATALOGUE.get(name).meta.seats[-1])
            play(table, random.Random(7), MOVES)
            play(table, Hasty(7), MOVES)
            self._running(name, table)
            self._closed(name, table)
        self._take("Lobby", self.site.get("/games"))
        self._take("Rulesets", self.site.get("/rulesets"))
        self.site.close()

    def _take(self, component: str, answer: object) -> Doc:
        doc: Doc = json.loads(answer.data)  # type: ignore[attr-defined] # of the test client
        self.found[component].append(doc)
        return doc

    def _running(self, ruleset: str, table: Table) -> None:
        for who in (0, None):
            self._take("Board", table.get("/board", who))
            self._take("Decisions", table.get("/decisions", who))
        self._take("Resume", table.get("/resume", 0))
        self._take("Summary", table.get())
        self._take("Ruleset", self.site.get(f"/rulesets/{ruleset}"))
        seat = _asked(table)
        self._take("Next", table.post("/choices", {}, table.tokens[seat]))
        move = build(table, seat, random.Random(3))
        self._take("DryRun", table.post("/moves?dry_run=1", {"move": move}, table.tokens[seat]))
        self._take("Moved", table.move(seat, move))
        self._take("Problem", table.move(seat, {"type": "nonsense"}))
        self._take("Problem", table.post("/moves", {"move": move, "decision": "9-9"}, table.tokens[seat]))
        self._take("Problem", table.post("/moves", {"move": move, "more": 1}, table.tokens[seat]))
        self._take("LookDoc", table.post("/looks", token=table.director))

    def _closed(self, ruleset: str, table: Table) -> None:
        player = table.get().json["seats"][0]["player"]
        assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201
        for who in (0, None):
            self._take("Board", table.get("/board", who))
            self._take("Timeline", table.get("/timeline?limit=200", who))
        self._take("Records", table.get("/records?limit=200"))
        self._take("Scores", table.get("/scores"))
        self._take("Audit", table.get("/audit"))
        self._take("Results", self.site.get(f"/players/{player}/results"))
        header, *records, trailer = [json.loads(line) for line in table.get("/export").data.splitlines()]
        self.found["ExportHeader"].append(header)
        self.found["ExportRecord"] += records
        self.found["ExportTrailer"].append(trailer)
        told = [*(f for r in records for f in r["public"].get("facts", ())), *_hidden(records)]
        kinds = {fact["t"] for fact in told} & set(CATALOGUE.get(ruleset).facts)
        assert len(kinds) > 10, f"{ruleset}: too few kinds of facts to prove anything"
        self.found["StreamEvent"] += events(table.get("/stream", 0, Last_Event_ID="5").data.decode())


def _hidden(records: list[Doc]) -> list[Doc]:
    return [fact for r in records for pack in r["packs"].values() for _, fact in pack.get("facts", ())]


def _asked(table: Table) -> int:
    """A seat that owes an answer; work of the engine is done first."""
    while (decision := table.get("/decisions").json["decisions"][0])["engine"]:
        step(table, random.Random(5))
    owing = (s for s in decision["must"] if s in table.get("/decisions", s).json["decisions"][0]["must"])
    return int(next(owing))


def events(text: str) -> list[Doc]:
    """The events of a stream that has ended, as the document describes them."""
    found = []
    for part in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in part.splitlines() if not line.startswith(":"))
        if "data" in lines:
            event: Doc = {"event": lines["event"], "data": json.loads(lines["data"])}
            found.append(event | ({"id": int(lines["id"])} if "id" in lines else {}))
    return found
