"""Players who vanish, over HTTP: the seat is offered, kept for them, and taken over with time to look."""

from __future__ import annotations

import pytest

from domain.command_handler import CommandHandler
from domain.kernel.game.play_commands import Lapse
from domain.service.seed_store import SeedStore
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import register, timed

PACE = {"seconds": {"turn": 60}}


def miss(table: Table, seat: int) -> None:
    """Let the others answer, and the deadline of one seat pass."""
    s = table.site.services
    game = s.commands.game(table.game)
    due = max(game.due_times([seat]).values())
    late = CommandHandler(s.ledger, s.registry, SeedStore(s.ledger, s.ledger.keys), lambda: due)
    stored = late.handle(table.game, Lapse(table.decision))
    s.notify_appended(stored.position)


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3, pace=PACE, misses={"row": 1, "all": 5}, hold=0)


def seats(table: Table) -> list[Doc]:
    found: list[Doc] = table.get().json["seats"]
    return found


def test_a_new_table_has_limits_that_it_can_change(site: Site) -> None:
    by_default = site.table("orders@1", 3, pace=PACE, start=False)
    assert by_default.get().json["misses"] == {"row": 3, "all": 5}
    assert site.table("orders@1", 3, pace=PACE, misses=None, start=False).get().json["misses"] is None
    for wrong in ({"row": 0}, {"row": 1, "all": 1001}, 3):
        refused(site.post("/games", {"ruleset": "orders@1", "seats": 3, "misses": wrong}), 422, "invalid_body")
    unknown = {"ruleset": "orders@1", "seats": 3, "misses": {"rows": 1}}
    refused(site.post("/games", unknown), 422, "unknown_field")


def test_an_absent_seat_is_shown_and_offered(orders: Table) -> None:
    assert [row["absent"] for row in seats(orders)] == [False] * 3
    miss(orders, 0)
    assert [row["absent"] for row in seats(orders)] == [True] * 3
    assert all(row["vacant"] and row["player"] for row in seats(orders))
    free = orders.site.get("/games?free=1").json["items"]
    assert [game["game"] for game in free] == [orders.game]


def test_its_player_takes_it_again_and_nobody_else_then(orders: Table) -> None:
    miss(orders, 0)
    back = orders.post("/seats", {}, orders.tokens[1])
    assert (back.status_code, back.json["seat"]) == (201, 1)
    assert not seats(orders)[1]["absent"]
    refused(orders.post("/seats", {"seat": 1, "name": "Late"}), 409, "seat_taken")


def test_a_substitute_takes_it_and_the_old_token_ends(orders: Table) -> None:
    miss(orders, 0)
    taken = orders.post("/seats", {"seat": 2, "name": "Substitute"})
    assert taken.status_code == 201
    assert orders.site.get(f"{orders.path}/board", taken.json["token"]).json["viewer"] == 2
    refused(
        orders.post("/moves", {"move": {"type": "submit"}, "decision": orders.decision}, orders.tokens[2]),
        401,
        "unauthenticated",
    )


def test_who_comes_back_by_an_account_is_no_stranger(site: Site) -> None:
    """Under another id one would have the full time of the decision again."""
    timed(site)
    anne, table = register(site), site.table("orders@1", 2, pace=PACE)
    claimed = anne.post("/me/claims", {"token": table.tokens[0]})
    assert claimed.status_code == 200, claimed.text
    assert site.delete(f"{table.path}/seats/0", anne.token).status_code == 200
    back = table.post("/seats", {"seat": 0}, anne.token)
    assert back.json["player"] == claimed.json["player"]
    (joined,) = table.get(f"/records?after={table.version - 1}").json["items"]
    assert "clock" not in joined["body"]
