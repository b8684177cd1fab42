"""A ledger with commands, and views beside it, on every store."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from domain.command_handler import CommandHandler, new_game_id
from domain.kernel.game.table_commands import Join, Start
from domain.kernel.rules.decide import decisions
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.seed_store import SeedStore
from projections.projector import Projector
from projections.reader import Reader
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.postgres import far_url, line, postgres_server, postgres_url
from tests.rulesets import FLOWS

__all__ = ["far_url", "line", "postgres_server", "postgres_url"]

CATALOGUE = RulesetRegistry(entry.rules for entry in FLOWS)


@dataclass
class Harness:
    """Everything that reads and writes, without processes."""

    ledger: Ledger
    commands: CommandHandler
    views: ViewStore
    reader: Reader
    pump: Projector
    seed_store: SeedStore
    now: int = 0

    def pumped(self, pump: Projector | None = None) -> list[str]:
        """Pump until all is read; returns the games that changed."""
        changed: list[str] = []
        while slice_ := (pump or self.pump).run(self.now):
            changed += slice_.games
        return changed

    def game(self, ruleset: str, seats: int, **body: Any) -> str:
        """A started game."""
        game = new_game_id()
        self.commands.open(game, ruleset, seats, body.pop("options", {}), body=body)
        for seat in range(seats):
            self.commands.handle(game, Join(seat, f"p{seat}"))
        self.commands.handle(game, Start())
        return game

    def decision(self, game: str) -> str:
        """The id of the open decision."""
        p = self.commands.game(game)
        return decisions(CATALOGUE.get(p.ruleset), p.state, p.lasting.rewinds.count)[0].id


def opened(views: ViewStore, row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row as it would be without keys: sealed twice, equal documents differ."""
    reader = row.get("viewer") or row.get("audience")
    doc = {"doc": views.open_document(row["game"], reader, row["doc"])} if reader else {}
    return {**row, **doc}


@pytest.fixture(params=["sqlite", "postgresql"])
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    """SQLite in two files, or one PostgreSQL database."""
    if request.param == "sqlite":
        urls = [f"sqlite:///{tmp_path / name}.sqlite" for name in ("ledger", "views")]
    else:
        urls = [request.getfixturevalue("postgres_url")] * 2
    ledger, ticks = Ledger.open(urls[0], bytes(32)), itertools.count(1_000, 1_000)
    views = ViewStore(urls[1], ledger.keys)
    ledger.migrate()
    views.migrate()
    seed_store = SeedStore(ledger, ledger.keys)
    commands = CommandHandler(ledger, CATALOGUE, seed_store, lambda: next(ticks))
    yield Harness(
        ledger, commands, views, Reader(views), Projector(ViewerHistory(ledger, CATALOGUE, views), "pump-1"), seed_store
    )
    views.close()
    ledger.close()
