"""The stored outline of a game is what a fold from its first record gives, to every reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from domain import game_history
from domain.errors import StoreDamaged
from domain.kernel.game.game_fold import active_versions
from domain.kernel.narration.outline import GameOutline
from domain.kernel.records.record import Record
from domain.types import DIRECTOR, PUBLIC, Viewer
from projections import schema, stored_outlines
from projections.stored_outlines import StoredOutlines
from tests.projections.test_viewer_history import ORDERS, Shelf, _near, make_shelf
from tests.rulesets import REGISTERED, Registered

__all__ = ["_near", "make_shelf"]

RULESETS = [ORDERS, *(entry for entry in REGISTERED if entry.name in ("struggle_of_empires@1", "egc@1"))]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_history, "SPACING", 8)


def outlines(shelf: Shelf) -> StoredOutlines:
    """As a process has them that has just started."""
    return StoredOutlines(shelf.fresh())


def by_hand(shelf: Shelf, version: int, viewer: Viewer) -> Any:
    rules = shelf.fresh().rules_of(shelf.game)
    return stored_outlines._fold_outline(rules, shelf.records[:version], viewer).outline


def rows(shelf: Shelf) -> dict[str, int]:
    with shelf.views.reading() as db:
        return {row.reader: row.version for row in db.execute(select(schema.outlines))}


@pytest.mark.parametrize("entry", RULESETS, ids=lambda entry: entry.name)
def test_outline_continued_from_any_version_is_that_of_a_fold(
    make_shelf: Callable[..., Shelf], entry: Registered
) -> None:
    """Across rewinds, to before the stored version too, and to the close."""
    shelf = make_shelf(entry, 90)
    assert any(record.kind == "rewound" for record in shelf.records)
    last = len(shelf.records)
    for version in (1, 5, 30, 31, 55, 80, last):
        end = shelf.records[version - 1]
        for viewer in (PUBLIC, 0, DIRECTOR) if end.kind != "closed" else (DIRECTOR,):
            found = outlines(shelf).load(shelf.game, end, viewer)
            assert found == by_hand(shelf, version, viewer), (version, viewer)
            active = {v for turn in found.turns for low, high in turn.spans for v in range(low, high + 1)}
            assert active == set(active_versions(shelf.records[:version]))
    assert rows(shelf) == {"public": 80, "0": 80, "director": last}
    assert outlines(shelf).check(shelf.game, shelf.records)


@pytest.mark.parametrize("entry", RULESETS, ids=lambda entry: entry.name)
def test_outline_since_a_version_tells_what_each_one_tells(make_shelf: Callable[..., Shelf], entry: Registered) -> None:
    """Without a row, from the row of a later version, also of undone ones, and from a row of another log."""
    shelf = make_shelf(entry, 60)

    def told(outline: GameOutline, after: int) -> object:
        lasting = [turn for turn in outline.turns if turn.last > after]
        parts = [part for turn in lasting for part in turn.parts if part.version > after]
        active = [v for turn in lasting for low, high in turn.spans for v in range(low, high + 1) if v > after]
        commands = [command for command in outline.commands if command.version > after]
        return active, [part for part in parts if part.headlines], [turn.end for turn in lasting], commands

    def check() -> None:
        for viewer in (PUBLIC, 0):
            for after, upto in ((20, 40), (1, 3), (45, 49), (39, 55), (30, 31)):
                found = outlines(shelf).load_since(shelf.game, after, upto, viewer)
                assert told(found, after) == told(by_hand(shelf, upto, viewer), after), (after, upto)

    check()
    assert rows(shelf) == {}
    outlines(shelf).load(shelf.game, shelf.records[54], PUBLIC)
    outlines(shelf).load(shelf.game, shelf.records[49], 0)
    check()
    assert rows(shelf) == {"public": 55, "0": 50}
    shelf.change(update(schema.outlines).values(hash="0" * 64))
    check()


def test_damaged_record_at_row_hinders_no_earlier_digest(
    make_shelf: Callable[..., Shelf], monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = make_shelf(ORDERS, 60)
    outlines(shelf).load(shelf.game, shelf.records[49], PUBLIC)
    read = shelf.ledger.read

    def fail_at_the_row(game: str, after: int = 0, upto: int | None = None) -> list[Record]:
        if upto == 50:
            raise StoreDamaged("a page is unreadable")
        return read(game, after, upto)

    monkeypatch.setattr(shelf.ledger, "read", fail_at_the_row)
    assert outlines(shelf).load_since(shelf.game, 0, 40, PUBLIC) == by_hand(shelf, 40, PUBLIC)


def test_spectators_with_a_delay_have_a_row_of_their_own(make_shelf: Callable[..., Shelf]) -> None:
    shelf = make_shelf(ORDERS, 60)
    found = outlines(shelf)
    for _ in range(2):
        found.load(shelf.game, shelf.records[49], PUBLIC)
        assert found.load(shelf.game, shelf.records[29], PUBLIC, delayed=True) == by_hand(shelf, 30, PUBLIC)
    assert rows(shelf) == {"public": 50, "spectators": 30}
    assert found.check(shelf.game, shelf.records)


@pytest.mark.parametrize(
    "change", [{"hash": "0" * 64}, {"doc": b"x"}, {"form": "0" * 16}], ids=lambda change: next(iter(change))
)
def test_row_of_another_log_and_altered_one_are_replaced(
    make_shelf: Callable[..., Shelf], change: dict[str, Any]
) -> None:
    shelf = make_shelf(ORDERS, 60)
    outlines(shelf).load(shelf.game, shelf.records[29], 0)
    shelf.change(update(schema.outlines).values(**change))
    assert outlines(shelf).load(shelf.game, shelf.records[49], 0) == by_hand(shelf, 50, 0)
    assert rows(shelf) == {"0": 50}
    assert outlines(shelf).check(shelf.game, shelf.records)


def test_the_audit_drops_outlines_that_differ(make_shelf: Callable[..., Shelf]) -> None:
    shelf = make_shelf(ORDERS, 60)
    found = outlines(shelf)
    found.load(shelf.game, shelf.records[29], 0)
    last = shelf.records[30]
    shelf.change(update(schema.outlines).values(version=last.version, hash=last.hash))
    assert not outlines(shelf).check(shelf.game, shelf.records)
    assert rows(shelf) == {}


def test_an_outline_that_is_too_large_is_not_stored(
    make_shelf: Callable[..., Shelf], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_outlines, "LEAST_BYTES", 0)
    monkeypatch.setattr(stored_outlines, "BYTES_PER_RECORD", 1)
    shelf = make_shelf(ORDERS, 60)
    assert outlines(shelf).load(shelf.game, shelf.records[49], 0) == by_hand(shelf, 50, 0)
    assert rows(shelf) == {}
