"""A replay is the boards of a game one after the other, for each viewer, in one answer."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

import pytest

from api.http.problems import Problem
from api.routes import replays
from api.streams.json_patches import make_board_patch
from domain import game_history
from domain.kernel.schema.json_codec import merge_patch
from domain.types import Doc
from projections.archived_views import drop_game_everywhere
from tests.api.conftest import Site, Table, refused
from tests.api.player import play

LINES = {"Accept": "application/x-ndjson"}


@pytest.fixture(autouse=True)
def _near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages and keyframes are many in a short game."""
    monkeypatch.setattr(replays, "PAGE", 4)
    monkeypatch.setattr(game_history, "SPACING", 5)


def played(site: Site, ruleset: str = "orders@1", **terms: Any) -> Table:
    """A game with a rewind."""
    table, rng = site.table(ruleset, 3, **terms), random.Random(5)
    play(table, rng, 12)
    went = table.post("/rewinds", {"to": table.version - 7}, table.director, If_Match=f'"{table.version}"')
    assert went.status_code == 202, went.text
    play(table, rng, 6)
    return table


def events(table: Table, who: int | None = None, query: str = "", **headers: str) -> list[Doc]:
    answer = table.get(f"/replay{query}", who, **{**LINES, **headers})
    assert (answer.status_code, answer.mimetype) == (200, "application/x-ndjson"), answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def boards(found: list[Doc]) -> dict[int, Doc]:
    """The boards that a client has after each event."""
    board: Doc = {}
    out = {}
    for event in found:
        if event["event"] in ("board", "step"):
            data = event["data"]
            step = data if event["event"] == "step" else {"board": data}
            board = step["board"] if "board" in step else merge_patch(board, step["patch"])
            out[event["id"]] = board
    return out


@pytest.mark.parametrize("ruleset", ["orders@1", "windows@1"])
def test_every_board_is_the_past_board_of_its_version(site: Site, ruleset: str) -> None:
    """With the texts and marks of the timeline, across the rewind."""
    table = played(site, ruleset)
    for who in (None, 0, 1):
        found = events(table, who)
        assert [event["event"] for event in found] == ["board", *["step"] * (table.version - 1), "end"]
        assert found[-1]["data"] == {"version": table.version}
        assert sum("patch" in event["data"] for event in found) > table.version // 2
        for version, board in boards(found).items():
            assert board == table.get(f"/board?version={version}", who).json, version
        entries = table.get("/timeline?limit=200", who).json["items"][1:]
        for event, entry in zip(found[1:-1], entries, strict=True):
            step = event["data"]
            assert step["undone"] == entry.get("undone", False)
            assert step["own"] == [line for part in entry.get("own", ()) for line in part["text"]]
            for member in ("version", "kind", "at", "chapter", "text", "headings"):
                assert step[member] == entry[member]
    assert any(event["data"].get("undone") for event in events(table))


def test_it_is_resumed_where_it_broke_off(site: Site) -> None:
    table = played(site)
    whole = events(table, 1)
    for last in (3, 4, 11):
        rest = events(table, 1, Last_Event_ID=str(last))
        assert rest == events(table, 1, f"?from={last}")
        assert rest[0]["data"] == boards(whole)[last]
        assert rest[1:] == whole[last:]


def test_a_part_is_given_alone(site: Site) -> None:
    table = played(site)
    found = events(table, None, "?from=5&to=9&lang=fr")
    assert [event.get("id") for event in found] == [5, 6, 7, 8, 9, None]
    assert found[1]["data"]["text"] == table.get("/timeline?after=5&limit=1&lang=fr").json["items"][0]["text"]
    assert [event["event"] for event in events(table, None, "?from=9&to=9")] == ["board", "end"]
    for wrong in (f"?to={table.version + 1}", f"?from={table.version + 1}", "?from=5&to=4"):
        refused(table.get(f"/replay{wrong}"), 422, "unknown_version")


def test_browsers_get_events(site: Site) -> None:
    table = played(site)
    answer = table.get("/replay?from=3&to=4")
    assert answer.mimetype == "text/event-stream"
    board, step, end = answer.text.strip().split("\n\n")
    assert board.startswith("id: 3\nevent: board\ndata: {")
    assert step.startswith("id: 4\nevent: step\ndata: {")
    assert end == 'event: end\ndata: {"version":4}'


def test_an_archived_game_is_replayed_alike(site: Site) -> None:
    """Its timeline is made again from its records."""
    table = played(site)
    closed = table.post("/close", {"reason": "abandoned"}, table.director, If_Match=f'"{table.version}"')
    assert closed.status_code == 201, closed.text
    before = {who: events(table, who) for who in (None, 0)}
    last = boards(before[None])[table.version]
    assert last == table.get("/board").json
    assert last["own"]
    drop_game_everywhere(site.context.views, table.game)
    object.__setattr__(site.services.ledger, "is_archived", lambda _: True)
    assert {who: events(table, who) for who in (None, 0)} == before


def test_a_failure_on_the_way_says_from_where_to_go_on(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    table = played(site)
    made: list[int] = []

    def break_off(before: Doc, after: Doc, size: int) -> Doc | None:
        made.append(after["version"])
        if len(made) > 6:
            raise Problem("too_many_requests")
        return make_board_patch(before, after, size)

    monkeypatch.setattr(replays, "make_board_patch", break_off)
    found = events(table)
    assert found[-1] == {"event": "bye", "data": {"version": 5}}
    assert [event["id"] for event in found[:-1]] == [1, 2, 3, 4, 5]
    assert all(a["id"] + 1 == b["id"] for a, b in pairwise(found[:-1]))
