"""A player leaves a running game, defaults are played for the empty seat, another one goes on with it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from domain.ruleset_registry import load_shipped
from tests.api import conftest
from tests.api.conftest import Site, Table, make_site, refused
from tests.api.player import play, step
from workers.context import set_context
from workers.jobs import turns

GAMES = load_shipped()
LIGHT = "struggle_of_empires@1"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site with what is shipped."""
    monkeypatch.setattr(conftest, "CATALOGUE", GAMES)
    site = make_site(tmp_path)
    yield site
    site.close()


def due(site: Site, game: str) -> dict[str, str]:
    """The work that is due now: which, for which decision."""
    rows = site.services.reader.list_due(10**15)
    return {row.work: row.decision for row in rows if row.game == game}


def listed(site: Site, query: str) -> list[str]:
    return [item["game"] for item in site.get(f"/games?{query}").json["items"]]


def owing(table: Table) -> list[int]:
    """Seats that owe an answer, as each of them knows."""
    seats = range(len(table.tokens))
    shown = {s: table.get("/decisions", s).json["decisions"] for s in seats}
    return [s for s in seats if shown[s] and s in shown[s][0]["must"]]


def defaults(site: Site, table: Table) -> int:
    """What workers do for empty seats until one with a player is asked; how many records that made."""
    before = table.version
    set_context(site.context)
    for _ in range(200):
        work = due(site, table.game)
        if "vacant" in work:
            assert turns.play_vacant_seats(table.game, work["vacant"]) == turns.DONE
        elif "resolve" in work:
            assert turns.resolve(table.game, work["resolve"]) == turns.DONE
        else:
            return table.version - before
    raise AssertionError("the empty seat is asked for ever")


@pytest.mark.parametrize("ruleset", GAMES.names())
@pytest.mark.parametrize("put_out", [False, True])
def test_in_every_game_a_seat_is_left_played_for_and_taken_over(site: Site, ruleset: str, put_out: bool) -> None:
    seats = max(GAMES.get(ruleset).meta.seats[0], 3)
    table, rng = site.table(ruleset, seats, hold=0), random.Random(5)
    play(table, rng, 30)
    seat = owing(table)[0]
    old = table.tokens[seat]

    left = site.delete(f"{table.path}/seats/{seat}", table.director if put_out else old)
    assert left.status_code == 200, left.text
    refused(site.post(f"{table.path}/choices", {}, old), 401, "unauthenticated")
    shown = table.get().json["seats"][seat]
    assert (shown["player"], shown["vacant"]) == (None, True)
    assert listed(site, "free=1") == listed(site, "free=1&status=running") == [table.game]

    if seat in owing_in_log(table):
        assert defaults(site, table) > 0, "the seat that is asked has no player"
    play_for_others(site, table, rng, seat)

    taken = site.post(f"{table.path}/seats", {"seat": seat, "name": "Newcomer"})
    assert taken.status_code == 201, taken.text
    table.tokens[seat] = taken.json["token"]
    assert taken.json["token"] != old
    refused(site.post(f"{table.path}/choices", {}, old), 401, "unauthenticated")
    refused(site.post(f"{table.path}/seats", {"seat": seat}), 409, "seat_taken")
    shown = table.get().json
    assert (shown["seats"][seat]["player"], shown["seats"][seat]["vacant"]) == (taken.json["player"], False)
    assert shown["names"][taken.json["player"]] == "Newcomer"
    assert listed(site, "free=1") == []
    assert table.get("/board", seat).json["own"] is not None

    for _ in range(400):
        if seat in owing(table):
            break
        assert step(table, rng) is not None, "the game ended before the newcomer was asked"
    move = site.post(f"{table.path}/choices", {"picks": []}, table.tokens[seat])
    assert move.status_code == 200, move.text
    play(table, rng, 20)
    assert table.get("/audit").json["proved"] is True
    assert "vacant" not in due(site, table.game)


def owing_in_log(table: Table) -> list[int]:
    p = table.site.services.commands.game(table.game)
    return list(p.state.top.owing) if p.status == "running" else []


def play_for_others(site: Site, table: Table, rng: random.Random, seat: int) -> None:
    """Some moves of the others, while the seat is empty and plays its defaults."""
    for _ in range(15):
        defaults(site, table)
        found: Any = table.get("/decisions").json["decisions"]
        assert found, "the game is over too soon"
        assert seat not in owing_in_log(table)
        assert step(_without(table, seat), rng) is not None


def _without(table: Table, seat: int) -> Table:
    """The table as the others play it: nobody has a token of that seat, which must not be asked for one."""
    tokens = [t if s != seat else table.director for s, t in enumerate(table.tokens)]
    return Table(table.site, table.game, table.director, tokens)


def test_the_lobby_lists_open_tables_with_a_free_seat(site: Site) -> None:
    full = site.table(LIGHT, 3, start=False)
    made = site.post("/games", {"ruleset": LIGHT, "seats": 3})
    open_ = made.json["game"]
    assert set(listed(site, "")) == {full.game, open_}
    assert listed(site, "free=1") == [open_]
    refused(site.get("/games?free=yes"), 422, "invalid_query")


def test_the_free_ones_come_page_by_page(site: Site) -> None:
    games = {site.post("/games", {"ruleset": LIGHT, "seats": 3}).json["game"] for _ in range(3)}
    first = site.get("/games?free=1&limit=2").json
    rest = site.get(first["next"].removeprefix("/v1")).json
    assert {item["game"] for item in first["items"] + rest["items"]} == games
    assert rest["next"] is None
