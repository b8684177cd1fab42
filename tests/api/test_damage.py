"""A game of which a record is damaged can be read up to there, and takes nothing more; all others go on."""

from __future__ import annotations

import pytest

from domain.kernel.proof.verify import verify
from domain.kernel.records.export import parse
from domain.ledger.mapper import pack
from tests import damage
from tests.api.conftest import Site, Table, refused
from tests.damage import UNREADABLE
from workers.maintenance.corruption_handler import CorruptionHandler

ORDER = {"type": "order", "to": "t01", "units": 1}


@pytest.fixture
def tables(site: Site) -> list[Table]:
    """Two games, each with one move: version 6."""
    found = [site.table("orders@1", 3) for _ in range(2)]
    for table in found:
        assert table.move(0, ORDER).status_code == 201
    return found


def spoil(table: Table, version: int, state: bytes = UNREADABLE) -> bytes:
    """The stored bytes of a record become others; those that they were."""
    return damage.spoil(table.site.services.ledger, table.game, version, state)


def looked(site: Site) -> None:
    """What the process that pumps does every second."""
    CorruptionHandler(site.context, site.pump).update_views()


def test_records_and_export_end_before_it_and_say_so(tables: list[Table]) -> None:
    table, other = tables
    spoil(table, 4)
    page = table.get("/records")
    assert [r["v"] for r in page.json["items"]] == [1, 2, 3]
    assert (page.headers["Annals-Damaged"], page.json["next"]) == ("4", None)
    assert "immutable" not in page.headers["Cache-Control"]
    file = table.get("/export")
    found = parse(file.data)
    assert (len(found.records), found.damaged, file.headers["Annals-Damaged"]) == (3, True, "4")
    verify(table.site.services.registry.get("orders@1"), found)
    assert "Annals-Damaged" not in other.get("/export").headers
    assert table.get("/audit").json["fault"]["version"] == 4


@pytest.mark.parametrize("found", ["/export", "/records", "/audit", "/board?version=5"])
def test_whoever_comes_upon_it_first_ends_the_writing(tables: list[Table], found: str) -> None:
    """Also by a process that has the game in memory, and had no need to read it."""
    table, other = tables
    spoil(table, 4)
    table.get(found)
    told = refused(table.move(1, ORDER), 503, "record_damaged")
    assert (told["version"], told["readable"]) == (4, 3)
    assert other.move(1, ORDER).status_code == 201


def test_a_move_finds_it(tables: list[Table]) -> None:
    """By a process that knows nothing of the game."""
    table, other = tables
    spoil(table, 4)
    table.site.services.commands._recent._reset()
    answer = table.post("/moves", {"move": ORDER, "decision": "0-1"}, table.tokens[1])
    assert refused(answer, 503, "record_damaged")["version"] == 4
    assert answer.headers["Retry-After"] == "60"
    assert other.move(1, ORDER).status_code == 201


def test_record_with_other_words_is_no_fault_of_ours(tables: list[Table]) -> None:
    """It cannot be folded: facts are assigned, never checked."""
    table, _ = tables
    record = table.site.services.ledger.read(table.game, 4, 5)[0]
    spoil(table, 5, pack({"public": {**record.public, "facts": [{"type": "asked"}]}, "packs": record.packs}))
    table.site.services.commands._recent._reset()
    answer = table.post("/moves", {"move": ORDER, "decision": "0-1"}, table.tokens[1])
    assert refused(answer, 503, "record_damaged")["version"] == 5
    assert refused(table.get("/board?version=6"), 503, "record_damaged")["readable"] == 4


def test_seed_that_does_not_open_stops_game_and_hides_nothing(tables: list[Table]) -> None:
    table, _ = tables
    table.site.services.ledger.execute("UPDATE seeds SET box = ? WHERE game = ?", (b"x" * 48, table.game))
    table.site.services.commands._recent._reset()
    answer = table.post("/moves", {"move": ORDER, "decision": "0-1"}, table.tokens[1])
    assert refused(answer, 503, "record_damaged")["version"] == 0
    assert len(table.get("/records").json["items"]) == 6
    looked(table.site)
    assert table.get("/board").json["damaged"] == 0


class TestSetAside:
    def test_the_board_is_that_before_it(self, tables: list[Table]) -> None:
        table, other = tables
        spoil(table, 6)
        table.get("/export")
        looked(table.site)
        board = table.get("/board", 0).json
        assert (board["version"], board["set_aside"], board["damaged"]) == (5, True, 6)
        assert "set_aside" not in other.get("/board", 0).json
        assert [e["version"] for e in table.get("/timeline").json["items"]] == [1, 2, 3, 4, 5]
        assert table.get("").json["damaged"] == 6
        assert table.get("/board?version=5").status_code == 200
        for path in ("/board?version=6", "/choices"):
            found = table.get(path) if "version" in path else table.post(path, {}, table.tokens[0])
            assert found.status_code in (200, 422, 503), found.text
        table.site.services.commands._recent._reset()
        for path in ("/scores", "/decisions", "/resume"):
            assert table.get(path, 0).status_code in (200, 503), path

    def test_it_is_brought_back_once_it_is_sound(self, tables: list[Table]) -> None:
        table, _ = tables
        whole = [table.get("/board", 0).json, table.get("/timeline", 0).json, table.get("/export").data]
        state = spoil(table, 3)
        table.get("/export")
        looked(table.site)
        spoil(table, 3, state)
        table.site.context.inspector.recheck()
        looked(table.site)
        assert [table.get("/board", 0).json, table.get("/timeline", 0).json, table.get("/export").data] == whole
        assert table.move(1, ORDER).status_code == 201

    def test_of_game_whose_opening_is_damaged_nothing_can_be_shown(self, tables: list[Table]) -> None:
        table, other = tables
        spoil(table, 1)
        table.site.services.commands._recent._reset()
        refused(table.get("/export"), 503, "record_damaged")
        looked(table.site)
        for path in ("", "/board", "/timeline", "/records", "/decisions", "/export", "/scores", "/resume"):
            refused(table.get(path, 0), 503, "record_damaged")
        assert other.get("/board").status_code == 200
        assert len(table.site.get("/games").json["items"]) == 1


def test_the_figures_tell_it(tables: list[Table]) -> None:
    table, _ = tables
    spoil(table, 4)
    table.get("/export")
    assert "annals_records_damaged 1.0" in table.site.client.get("/metrics").text
