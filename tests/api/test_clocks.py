"""What the page of a table tells of its time limit."""

from __future__ import annotations

import re
from dataclasses import astuple

import pytest

from api.pages.common.clocks import Times
from tests.api.conftest import Site


@pytest.mark.parametrize(
    ("more", "now", "told"),
    [
        ({}, 999, ("the table ends on", 1000)),
        ({}, 1000, None),
        ({"last_turn": 60}, 999, ("last turn from", 1000)),
        ({"last_turn": 60}, 1000, ("last turn, until", 61_000)),
    ],
)
def test_a_limit_is_told_with_its_last_turn(more: dict[str, int], now: int, told: tuple[str, int] | None) -> None:
    found = Times("en", now).find_table_end({"limit_end": 1000, **more})
    assert (found and astuple(found)) == told


def test_the_page_of_a_table_tells_its_end(site: Site) -> None:
    assert Times("en", 0).find_table_end({}) is Times("en", 0).find_table_end({"limit_end": None}) is None
    table = site.table("orders@1", 3, time_limit=7200, last_turn=900, pace={"seconds": {"turn": 3600}})
    assert table.get("").json["limit_end"]
    page = site.client.get(f"/games/{table.game}", headers={"Accept-Language": "fr"}).text
    assert re.search(r"dernier tour à partir du <time datetime=", page)


def test_a_last_turn_needs_a_limit(site: Site) -> None:
    refused = site.client.post("/v1/games", json={"ruleset": "orders@1", "seats": 3, "last_turn": 900})
    assert refused.status_code == 422
    assert refused.json["errors"][0]["at"] == "/last_turn"
