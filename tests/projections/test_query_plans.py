"""Queries on the tree find their rows by an index: a log of a million records makes none of them slower."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event

from domain.command_handler import new_game_id
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.seed_store import SeedStore
from projections.integrity import Inspector, find_corruption, missing_position
from projections.merkle_proofs import MerkleProofs
from projections.projector import Projector
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.long_games import play_long_game
from tests.rulesets import FLOWS

ORDERS = next(entry for entry in FLOWS if entry.name == "orders@1")
SLOW = re.compile(r"SCAN (leaves|nodes)\b|SEARCH (leaves|nodes) .*\(gen=\?\)|TEMP B-TREE")
"""Parts of a plan that read all rows of a generation."""


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[tuple[Ledger, ViewStore, list[str]]]:
    """A ledger with two games, its views, and the statements that these execute."""
    ledger = Ledger.open("sqlite://", bytes(32))
    ledger.migrate()
    views, statements = ViewStore(f"sqlite:///{tmp_path / 'views'}", ledger.keys), list[str]()
    views.prepare_forks()
    event.listen(views._prepared, "connect", lambda driver, _: driver.set_trace_callback(statements.append))
    views.migrate()
    for seed in (1, 2):
        game = new_game_id()
        secret = SeedStore(ledger, ledger.keys).create(game)
        match = play_long_game(ORDERS.rules, ORDERS.seats, 80, name=game, seed=seed, secret=secret)
        ledger.append(game, match.records, 0)
    with closing(ledger), closing(views):
        yield ledger, views, statements


def test_no_query_on_the_tree_reads_all_its_rows(traced: tuple[Ledger, ViewStore, list[str]], tmp_path: Path) -> None:
    ledger, views, statements = traced
    pump = Projector(ViewerHistory(ledger, RulesetRegistry([ORDERS.rules]), views), "pump")
    while pump.run(0):
        pass
    proofs, entry = MerkleProofs(views), ledger.log(70, 1)[0]
    assert proofs.prove_inclusion(entry.game, entry.version) is not None
    assert proofs.prove_consistency(37) is not None
    assert proofs.tile(0, 0, 100) is not None
    assert proofs.entries(0, 100) is not None
    seeds = SeedStore(ledger, ledger.keys)
    assert [each for each in find_corruption(ledger, views, seeds) if not isinstance(each, int)] == []
    assert Inspector(ledger, views, seeds, lambda: 0).inspect(entry.game) is None
    assert missing_position(ledger, views, entry.game, entry.version) == 71
    asked = {
        text for text in statements if text.startswith("SELECT") and re.search(r"(FROM|JOIN) (leaves|nodes)\b", text)
    }
    assert len(asked) > 10
    with closing(sqlite3.connect(tmp_path / "views")) as db:
        plans = {text: [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {text}")] for text in asked}
    assert {text: plan for text, plan in plans.items() if any(map(SLOW.search, plan))} == {}
