"""Bytes of the log that change on their own are found, and the game is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.kernel.acts import Play
from domain.ledger.mapper import pack, unpack
from projections import scrub
from projections.scrub import Damage, damages
from tests.projections.conftest import House
from tests.spoil import spoil


@pytest.fixture
def games(house: House, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two games of six records each, looked at three at a time."""
    found = [house.game("orders@1", 3) for _ in range(2)]
    for game in found:
        house.commands.do(game, Play(0, [{"type": "order", "to": "t01", "units": 1}]))
    house.pumped()
    monkeypatch.setattr(scrub, "SLICE", 3)
    return found


def found(house: House) -> tuple[list[Damage], int]:
    """What is damaged, and how many records were looked at."""
    every = list(damages(house.ledger, house.views))
    return [each for each in every if isinstance(each, Damage)], max(
        (e for e in every if isinstance(e, int)), default=0
    )


def change(house: House, game: str, version: int, how: Callable[[Any], None]) -> None:
    """A stored record says something else, and is as well-formed as before."""
    (where,) = [e for e in house.ledger.log(0, 100) if (e.game, e.version) == (game, version)]
    doc = {"public": where.record.public, "packs": where.record.packs}
    how(doc)
    put(house, game, version, pack(doc))
    assert unpack(pack(doc)) == doc


def put(house: House, game: str, version: int, state: bytes) -> None:
    update = "UPDATE records SET state = ? WHERE originator_version = ? AND originator_id = ?"
    spoil(house.ledger, update, (state, version, key(house, game)))


def key(house: House, game: str) -> Any:
    """As the store writes the id of a game."""
    rows = house.ledger.execute("SELECT DISTINCT originator_id FROM records")
    return next(id_ for (id_,) in rows if str(id_).replace("-", "") == game.replace("-", ""))


def test_a_sound_log_is_found_sound(house: House, games: list[str]) -> None:
    assert found(house) == ([], 12)


def test_what_the_views_have_not_read_is_not_judged(house: House, games: list[str]) -> None:
    house.commands.do(games[0], Play(1, [{"type": "order", "to": "t02", "units": 1}]))
    assert found(house) == ([], 12)


def test_a_record_that_says_something_else_is_named(house: House, games: list[str]) -> None:
    change(house, games[1], 4, lambda doc: doc["public"].update(at=doc["public"]["at"] + 1))
    assert found(house) == ([Damage(games[1], 4, "is not the one that stands in the tree")], 12)


def test_a_pack_that_says_something_else_is_named(house: House, games: list[str]) -> None:
    change(house, games[0], 6, lambda doc: next(iter(doc["packs"].values())).update(salt="00"))
    assert found(house) == ([Damage(games[0], 6, "has packs that are not those that were sealed")], 12)


def test_bytes_that_are_no_record_are_named(house: House, games: list[str]) -> None:
    put(house, games[0], 2, b"j{")
    assert found(house) == ([Damage(games[0], 2, "cannot be read")], 12)


def test_a_record_that_is_gone_is_named(house: House, games: list[str]) -> None:
    gone = "DELETE FROM records WHERE originator_version = 5 AND originator_id = ?"
    spoil(house.ledger, gone, (key(house, games[0]),))
    (damage,) = found(house)[0]
    assert damage.said == "is missing, or is not in its place"
    assert (damage.game, damage.version) == (games[0], 5)
