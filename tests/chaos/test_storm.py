"""Killed at the worst moments: every acknowledged move is in the log once, every turn is resolved once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.children import Place
from tests.chaos.storm import check, expected, storm
from tests.postgres import postgres_server, postgres_url
from tests.valkey import redis_url, valkey_server

__all__ = ["postgres_server", "postgres_url", "redis_url", "valkey_server"]

TURNS = 4
STORMS = (7, 8, 9)
"""Seeds: which trap a process meets depends on the machine, so one storm need not come to all of them."""


@pytest.mark.timeout(900)  # on a machine that does much else; alone it takes ten seconds
@pytest.mark.xdist_group("storm")  # else a process that runs tests would wait for another one
@pytest.mark.usefixtures("one_storm")
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_no_kill_and_no_wipe_loses_or_doubles_anything(
    store: str, request: pytest.FixtureRequest, tmp_path: Path, redis_url: str
) -> None:
    if store == "sqlite":
        urls = [f"sqlite:///{tmp_path / name}.sqlite" for name in ("ledger", "views")]
    else:
        urls = [request.getfixturevalue("postgres_url")] * 2
    place = Place(urls[0], urls[1], redis_url)
    left, back = expected(), False
    for seed in STORMS:
        report = storm(place, games=4, turns=TURNS, rounds=1, seed=seed, rewinds=4, patience=400)
        print(report.figures())
        check(place, report, TURNS)
        left -= set(report.hits)
        back = back or any(job["status"] == "done" for game in report.games for job in game.jobs.values())
        if back and not left:
            return
    assert not left
    assert back, "nobody went back"
