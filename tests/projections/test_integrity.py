"""Bytes of the log that change on their own are found, and the game is named."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from domain.command_handler import CommandHandler
from domain.errors import GameDamaged, VerificationError
from domain.kernel.game.play_commands import Play
from domain.ledger import Ledger
from domain.ledger.mapper import pack, unpack
from domain.service.corruption import CorruptRecords
from domain.service.seed_store import SeedStore
from projections import integrity, pair_lookup, schema
from projections.integrity import UNKNOWN_HASH, CorruptRecord, Inspector, ScrubPlace, find_corruption
from projections.pair_lookup import PairLookup
from projections.projector import Projector
from projections.reader import Reader
from projections.rebuild import create_generation, switch_generation
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.damage import overwrite
from tests.projections.conftest import CATALOGUE, Harness


@pytest.fixture
def games(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two games of six records each, looked at three at a time."""
    found = [harness.game("orders@1", 3) for _ in range(2)]
    for game in found:
        harness.commands.handle(game, Play(0, [{"type": "order", "to": "t01", "units": 1}]))
    harness.pumped()
    monkeypatch.setattr(integrity, "SLICE", 3)
    return found


def found(harness: Harness) -> tuple[list[CorruptRecord], int]:
    """What is damaged, without its hashes, and how many records were looked at."""
    every = list(find_corruption(harness.ledger, harness.views, harness.seed_store))
    told = [replace(each, hash="") for each in every if isinstance(each, CorruptRecord)]
    return told, max((e for e in every if isinstance(e, int)), default=0)


def change(harness: Harness, game: str, version: int, how: Callable[[Any], None]) -> None:
    """A stored record says something else, and is as well-formed as before."""
    (where,) = [e for e in harness.ledger.log(0, 100) if (e.game, e.version) == (game, version)]
    doc = {"public": where.record.public, "packs": where.record.packs}
    how(doc)
    put(harness, game, version, pack(doc))
    assert unpack(pack(doc)) == doc


def put(harness: Harness, game: str, version: int, state: bytes) -> None:
    update = "UPDATE records SET state = ? WHERE originator_version = ? AND originator_id = ?"
    overwrite(harness.ledger, update, (state, version, key(harness, game)))


def key(harness: Harness, game: str) -> Any:
    """As the store writes the id of a game."""
    rows = harness.ledger.execute("SELECT DISTINCT originator_id FROM records")
    return next(id_ for (id_,) in rows if str(id_).replace("-", "") == game.replace("-", ""))


def test_a_sound_log_is_found_sound(harness: Harness, games: list[str]) -> None:
    assert found(harness) == ([], 12)


def test_what_the_views_have_not_read_is_not_judged(harness: Harness, games: list[str]) -> None:
    harness.commands.handle(games[0], Play(1, [{"type": "order", "to": "t02", "units": 1}]))
    assert found(harness) == ([], 12)


def test_a_record_that_says_something_else_is_named(harness: Harness, games: list[str]) -> None:
    change(harness, games[1], 4, lambda doc: doc["public"].update(at=doc["public"]["at"] + 1))
    assert found(harness) == ([CorruptRecord(games[1], 4, "is not the one that stands in the tree")], 12)


def test_a_pack_that_says_something_else_is_named(harness: Harness, games: list[str]) -> None:
    change(harness, games[0], 6, lambda doc: next(iter(doc["packs"].values())).update(salt="00"))
    assert found(harness) == ([CorruptRecord(games[0], 6, "has packs that are not those that were sealed")], 12)


def test_bytes_that_are_no_record_are_named(harness: Harness, games: list[str]) -> None:
    put(harness, games[0], 2, b"j{")
    assert found(harness) == ([CorruptRecord(games[0], 2, "cannot be read")], 12)


@pytest.mark.parametrize("version", range(2, 7))
@pytest.mark.parametrize("step", [1, 2, 3, 500])
def test_chain_that_was_broken_before_tree_was_made_is_named(
    harness: Harness, games: list[str], version: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the slices begin; and what names the record, as it was, does not follow it any more."""
    monkeypatch.setattr(integrity, "SLICE", step)
    change(harness, games[1], version, lambda doc: doc["public"].update(prev="ab" * 32))
    harness.views.clear()
    harness.views.migrate()
    harness.pumped()
    broken = [version, version + 1][: 7 - version]
    unlinked = [CorruptRecord(games[1], each, "does not follow the record before") for each in broken]
    assert found(harness) == (unlinked, 12)
    inspecting = Inspector(harness.ledger, harness.views, harness.seed_store, lambda: 7)
    inspecting.check_next(ScrubPlace(), 1000)
    assert inspecting.inspect(games[1]) == version
    assert inspecting.inspect(games[0]) is None


def test_however_many_games_a_slice_has_none_is_passed_over(
    harness: Harness, games: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_lookup, "BATCH", 1)
    leaves = schema.leaves.c
    monkeypatch.setattr(integrity, "_HASHES", PairLookup(leaves.game, leaves.version, leaves.hash))
    for game in games:
        harness.commands.handle(game, Play(1, [{"type": "order", "to": "t02", "units": 1}]))
        change(harness, game, 7, lambda doc: doc["public"].update(prev="ab" * 32))
    harness.views.clear()
    harness.views.migrate()
    harness.pumped()
    told, _ = integrity.check_slice(harness.ledger, harness.views, ScrubPlace(12, 12), 2)
    assert [(d.game, d.version) for d in told] == [(game, 7) for game in games]


WHERE = " WHERE originator_version = ? AND originator_id = ?"
COLUMNS = {
    "another kind": "topic = 'game.moved@1'",
    "no kind": "topic = ''",
    "another game": "originator_id = '0123456789abcdef0123456789abcdef'",
    "a far version": "originator_version = originator_version + 1099511627776",
    "no version": "originator_version = -originator_version",
}
OF_SQLITE = {
    "no text in the kind": "topic = CAST(x'ff67' AS TEXT)",
    "no name": "originator_id = 'z' || substr(originator_id, 2)",
    "no text in the name": "originator_id = CAST(x'ff' AS TEXT)",
    "bytes in the name": "originator_id = x'ff'",
    "a number": "state = 7",
    "no document": """state = CAST('j{"packs":{},"public":null}' AS BLOB)""",
}


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("column", [*COLUMNS, *OF_SQLITE])
def test_changed_column_sets_its_game_alone_aside(harness: Harness, column: str, read: bool) -> None:
    """Whether the views have read the record before or not; those that are made anew show the others too."""
    if column in OF_SQLITE and not is_sqlite(harness):
        return
    games = [harness.game("orders@1", 3) for _ in range(2)]
    if read:
        harness.pumped()
    changed = f"UPDATE records SET {(COLUMNS | OF_SQLITE)[column]}{WHERE}"  # noqa: S608 - our words
    overwrite(harness.ledger, changed, (3, key(harness, games[0])))
    if not read:
        harness.pumped()
    inspecting = Inspector(harness.ledger, harness.views, harness.seed_store, lambda: 0)
    inspecting.check_next(ScrubPlace(), 1000)
    for row in harness.reader.list_quarantined():
        inspecting.inspect(row["game"])
    assert {(d.game, d.version) for d in CorruptRecords(harness.ledger).list_all()} >= {(games[0], 3)}
    with pytest.raises((GameDamaged, VerificationError)):
        harness.commands.handle(games[0], Play(0, [{"type": "submit"}]))
    harness.commands.handle(games[1], Play(0, [{"type": "submit"}]))
    harness.pumped()
    gen = create_generation(harness.views, 0)
    harness.pumped(Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "rebuild", gen))
    switch_generation(harness.views, gen)
    assert games[1] not in {row["game"] for row in harness.reader.list_quarantined()}
    shown = harness.reader.find_summary(games[1])
    assert shown is not None
    assert shown["version"] == 6


def is_sqlite(harness: Harness) -> bool:
    return bool(harness.views.url.startswith("sqlite"))


def test_a_tree_that_has_changed_is_not_blamed_on_the_game(
    harness: Harness, games: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The next record proves which of them has."""
    with harness.views.transaction() as db:
        db.execute(schema.leaves.update().filter_by(game=games[0], version=3).values(hash="1" * 64))
    Inspector(harness.ledger, harness.views, harness.seed_store, lambda: 0).check_next(ScrubPlace(), 1000)
    assert CorruptRecords(harness.ledger).list_all() == []
    assert any(f"{games[0]} is sound, and the tree" in said for said in caplog.messages)
    harness.commands.handle(games[0], Play(1, [{"type": "submit"}]))
    change(harness, games[0], 3, lambda doc: doc["public"].update(at=5))
    assert Inspector(harness.ledger, harness.views, harness.seed_store, lambda: 0).inspect(games[0]) == 3


def test_a_record_that_is_gone_is_named(harness: Harness, games: list[str]) -> None:
    gone = "DELETE FROM records WHERE originator_version = 5 AND originator_id = ?"
    overwrite(harness.ledger, gone, (key(harness, games[0]),))
    (damage,) = found(harness)[0]
    assert damage.said == "is missing, or is not in its place"
    assert (damage.game, damage.version) == (games[0], 5)


def test_what_comes_after_record_gone_is_looked_at_all_same(harness: Harness, games: list[str]) -> None:
    gone = "DELETE FROM records WHERE originator_version = 5 AND originator_id = ?"
    overwrite(harness.ledger, gone, (key(harness, games[0]),))
    put(harness, games[1], 6, b"j{")
    told = [(d.game, d.version, d.said) for d in found(harness)[0]]
    assert told == [
        (games[0], 5, "is missing, or is not in its place"),
        (games[1], 6, "cannot be read"),
    ]


def test_a_seed_that_is_gone_or_of_another_game_is_named(harness: Harness, games: list[str]) -> None:
    harness.ledger.execute("DELETE FROM seeds WHERE game = ?", (games[0],))
    assert [(d.game, d.version) for d in found(harness)[0]] == [(games[0], 0)]


def inspector(harness: Harness) -> Inspector:
    return Inspector(harness.ledger, harness.views, harness.seed_store, lambda: 7)


class TestOneGame:
    def test_what_is_found_stands_in_a_row_until_it_is_put_right(self, harness: Harness, games: list[str]) -> None:
        state = state_of(harness, games[0], 4)
        put(harness, games[0], 4, b"j{")
        assert inspector(harness).inspect(games[0]) == 4
        (row,) = CorruptRecords(harness.ledger).list_all()
        assert (row.version, row.hash) == (4, leaf(harness, games[0], 4))
        put(harness, games[0], 4, state)
        inspector(harness).recheck()
        assert CorruptRecords(harness.ledger).list_all() == []

    def test_it_takes_no_further_record_whoever_has_it_in_memory(self, harness: Harness, games: list[str]) -> None:
        put(harness, games[0], 4, b"j{")
        inspector(harness).inspect(games[0])
        more = Play(1, [{"type": "order", "to": "t02", "units": 1}])
        with pytest.raises(GameDamaged, match="version 4"):
            harness.commands.handle(games[0], more)
        harness.commands.handle(games[1], more)

    def test_a_record_that_the_tree_has_not_is_judged_by_the_chain(self, harness: Harness, games: list[str]) -> None:
        for seat in (1, 2):
            harness.commands.handle(games[0], Play(seat, [{"type": "order", "to": "t02", "units": 1}]))
        assert inspector(harness).inspect(games[0]) is None
        change(harness, games[0], 7, lambda doc: doc["public"].update(at=1))
        assert inspector(harness).inspect(games[0]) == 8, "what follows names another"
        put(harness, games[0], 7, b"z")
        harness.pumped()
        assert leaf(harness, games[0], 7) != UNKNOWN_HASH, "the next one names it"
        assert inspector(harness).inspect(games[0]) == 7

    def test_of_an_unknown_one_nothing_is_damaged(self, harness: Harness, games: list[str]) -> None:
        assert inspector(harness).inspect("00000000-0000-4000-8000-000000000000") is None


class TestViews:
    def test_the_tree_stays_the_same_when_they_are_made_anew(self, harness: Harness, games: list[str]) -> None:
        before = [leaf(harness, game, v) for game in games for v in range(1, 7)]
        change(harness, games[0], 3, lambda doc: doc["public"].update(at=1))
        put(harness, games[1], 6, b"j{")
        for game in games:
            inspector(harness).inspect(game)
        harness.views.clear()
        harness.views.migrate()
        harness.pumped()
        assert [leaf(harness, game, v) for game in games for v in range(1, 7)] == before
        assert {row["error"] for row in harness.reader.list_quarantined()} == {
            "damaged: version 3",
            "damaged: version 6",
        }

    def test_the_game_is_shown_as_it_was_before_and_comes_back(self, harness: Harness, games: list[str]) -> None:
        whole = shown(harness, games[0])
        harness.pump.quarantine(games[0], 4, 0)
        board = harness.reader.find_board(games[0], 1)
        assert board is not None
        assert (board.version, json.loads(board.doc)["damaged"]) == (3, 4)
        assert [entry["version"] for entry in harness.reader.read_timeline(games[0], 1)] == [1, 2, 3]
        harness.pump.quarantine(games[0], 1, 0)
        assert harness.reader.find_board(games[0], 1) is None
        harness.pump.restore(games[0], 0)
        assert shown(harness, games[0]) == whole
        assert harness.reader.list_quarantined() == []


def shown(harness: Harness, game: str) -> list[Any]:
    return [
        harness.reader.find_board(game, 1),
        harness.reader.find_summary(game),
        harness.reader.read_timeline(game, 1),
    ]


def state_of(harness: Harness, game: str, version: int) -> bytes:
    asked = "SELECT state FROM records WHERE originator_version = ? AND originator_id = ?"
    ((state,),) = harness.ledger.execute(asked, (version, key(harness, game)))
    return bytes(state)


def leaf(harness: Harness, game: str, version: int) -> str:
    with harness.views.reading() as db:
        rows = db.execute(select(schema.leaves.c.hash).filter_by(game=game, version=version))
        return str(rows.scalar_one())


def test_damaged_pages_are_complained_of_and_do_not_hide_others(tmp_path: Path) -> None:
    """Only SQLite's file can be spoiled here: PostgreSQL is asked for its checksums."""
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.open(f"sqlite:///{path}", bytes(32))
    views = ViewStore(f"sqlite:///{tmp_path / 'views.sqlite'}", ledger.keys)
    ledger.migrate()
    views.migrate()
    seed_store = SeedStore(ledger, ledger.keys)
    commands = CommandHandler(ledger, CATALOGUE, seed_store, lambda: 0)
    made = Harness(
        ledger, commands, views, Reader(views), Projector(ViewerHistory(ledger, CATALOGUE, views), "pump"), seed_store
    )
    games = [made.game("orders@1", 3) for _ in range(40)]
    made.pumped()
    ledger.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = db.execute("PRAGMA page_size").fetchone()
    at = page_of(path, size)
    ledger.close()
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes(size))
    assert ledger.admin.list_integrity_errors(10)
    told = [d for d in find_corruption(ledger, views, seed_store) if isinstance(d, CorruptRecord)]
    assert 0 < len(told) < 40
    assert {d.said for d in told} <= {"cannot be read", "is missing, or is not in its place"}
    inspecting = Inspector(ledger, views, seed_store, lambda: 0)
    assert inspecting.check_next(ScrubPlace(), 1000).leaf == 200
    hurt = {d.game for d in CorruptRecords(ledger).list_all()}
    assert hurt == {d.game for d in told} < set(games)
    views.close()
    ledger.close()


def page_of(path: Path, size: int) -> int:
    """Where a page of records begins, in the middle of them."""
    data = path.read_bytes()
    pages = range(size, len(data), size)
    leaves = [at for at in pages if data[at] == 0x0D and b"game.joined@1" in data[at : at + size]]
    return leaves[len(leaves) // 2]
