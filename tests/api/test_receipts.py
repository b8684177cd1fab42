"""What a seat holds in its hands after it has filed an order, and how it proves it when the game is closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from domain.games.egc.data import EMPIRES
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import parse
from domain.kernel.schema.canonical_json import digest
from domain.ruleset_registry import load_shipped
from tests.api import conftest
from tests.api.conftest import Table, make_site

SEATS = range(len(EMPIRES))
FRANCE = EMPIRES.index("france")
ORDER = {"type": "set_research", "technology": "naval", "amount": 4_000}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A game of ten empires in its first turn."""
    monkeypatch.setattr(conftest, "CATALOGUE", load_shipped())
    site = make_site(tmp_path)
    table = site.table("egc@1", len(EMPIRES))
    for seat in SEATS:
        both = [{"type": "allocate_turn_zero", "points": {"naval": 18_000}}, {"type": "submit_orders"}]
        body = {"moves": both, "decision": table.decision}
        assert table.post("/moves", body, table.tokens[seat]).status_code == 201
    yield table
    site.close()


def end(table: Table) -> None:
    """All submit, the turn is resolved, all resign: the game is closed."""
    for seat in SEATS:
        assert table.move(seat, {"type": "submit_orders"}).status_code == 201
    table.resolve()
    for seat in SEATS:
        assert table.move(seat, {"type": "resign"}).status_code == 201
    assert table.get().json["status"] == "closed"


def test_the_answer_is_a_receipt(table: Table) -> None:
    """Version, position, and what was stored."""
    answer = table.move(FRANCE, ORDER)
    assert answer.status_code == 201
    assert answer.json["version"] == table.version
    assert answer.json["position"] > 0
    (record,) = answer.json["records"]
    assert record["version"] == answer.json["version"]
    assert record["facts"] == [{"t": "order_filed", "seat": FRANCE, "n": 1, "order": ORDER}]


def test_the_seal_is_public_at_once_and_the_pack_is_the_seats(table: Table) -> None:
    version = table.move(FRANCE, ORDER).json["version"]
    (public,) = table.get(f"/records?after={version - 1}").json["items"]
    assert public["v"] == version
    assert "seat" not in public
    pack = parse(table.get("/export", FRANCE).data).records[version - 1].packs[str(FRANCE)]
    assert digest(pack) in public["seals"]
    others = [parse(table.get("/export", who).data).records[version - 1].packs for who in (None, FRANCE + 1)]
    assert others == [{}, {}]


def test_closed_export_proves_that_the_sheet_was_not_changed(table: Table) -> None:
    version = table.move(FRANCE, ORDER).json["version"]
    kept = parse(table.get("/export", FRANCE).data).records[version - 1]
    end(table)
    final = parse(table.get("/export").data)
    assert verify(load_shipped().get("egc@1"), final).closed
    assert final.records[version - 1].packs[str(FRANCE)] == kept.packs[str(FRANCE)]
    assert final.records[version - 1].hash == kept.hash
