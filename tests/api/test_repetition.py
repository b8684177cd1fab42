"""Every write is repeated after the world has changed: what it stood for then is all that it gives back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.command_handler import GameConditions
from domain.errors import NotSeated
from domain.kernel.game.play_commands import Rest
from tests.api.conftest import Doc, Site, Table, refused

K = "K" * 32
ORDER: Doc = {"type": "order", "to": "t00", "units": 1}


@pytest.fixture
def table(site: Site) -> Table:
    """A table for three with a free seat 0."""
    table = site.table("orders@1", 3, start=False)
    assert site.delete(f"{table.path}/seats/0", table.tokens[0]).status_code == 200
    return table


def join(table: Table, key: str = "", **body: Any) -> Doc:
    answer = table.post("/seats", body, **({"Idempotency_Key": key} if key else {}))
    assert answer.status_code == 201, answer.text
    found: Doc = answer.json
    return found


def own(table: Table, token: str) -> Any:
    """What the seat of that token is shown besides; None if it opens nothing."""
    board = table.site.get(f"{table.path}/board", token)
    return board.json["own"] if board.status_code == 200 else refused(board, 401, "unauthenticated") and None


class TestSeatTakenBack:
    """A player who was put out sends what he sent before."""

    def test_joining_again_with_old_key_gives_no_open_secret(self, table: Table) -> None:
        first = join(table, K, seat=0, name="Anne")
        table.site.delete(f"{table.path}/seats/0", table.director)
        second = join(table, seat=0, name="Bob")
        again = join(table, K, seat=0, name="Anne")
        assert again == first
        assert own(table, again["token"]) is None
        assert own(table, second["token"]) is not None
        assert table.get().json["names"][second["player"]] == "Bob"

    def test_any_seat_again_with_the_old_key(self, table: Table) -> None:
        first = join(table, K)
        table.site.delete(f"{table.path}/seats/0", table.director)
        second = join(table)
        again = join(table, K)
        assert (again, own(table, again["token"])) == (first, None)
        assert own(table, second["token"]) is not None

    def test_in_a_running_game(self, table: Table) -> None:
        first = join(table, K)
        table.post("/start", token=table.director)
        table.site.delete(f"{table.path}/seats/0", table.director)
        second = join(table)
        again = join(table, K)
        assert own(table, again["token"]) is None
        assert own(table, second["token"]) is not None
        refused(
            table.post("/moves", {"move": ORDER, "decision": table.decision}, first["token"]), 401, "unauthenticated"
        )

    def test_leaving_again_with_the_old_key_ends_no_other_token(self, table: Table) -> None:
        join(table, seat=0)
        left = table.site.delete(f"{table.path}/seats/0", table.director, Idempotency_Key="put-out-1")
        second = join(table, seat=0)
        again = table.site.delete(f"{table.path}/seats/0", table.director, Idempotency_Key="put-out-1")
        assert (again.data, again.headers["Idempotency-Replayed"]) == (left.data, "true")
        assert own(table, second["token"]) is not None

    def test_a_director_puts_out_nobody_but_whom_it_saw(self, table: Table) -> None:
        join(table, seat=0)
        seen = table.version
        table.site.delete(f"{table.path}/seats/0", table.director)
        second = join(table, seat=0)
        answer = table.site.delete(f"{table.path}/seats/0", table.director, If_Match=f'"{seen}"')
        refused(answer, 412, "stale_version")
        assert own(table, second["token"]) is not None

    def test_a_name_that_was_erased_does_not_come_back(self, table: Table) -> None:
        first = join(table, K, name="Anne")
        table.site.services.seat_tokens.texts.erase_now(first["player"])
        join(table, K, name="Anne")
        assert first["player"] not in table.get().json["names"]

    def test_opening_again_keeps_token_and_invitation_as_they_are(self, site: Site) -> None:
        body = {"ruleset": "orders@1", "seats": 3, "listing": "invitation"}
        first = site.post("/games", body, Idempotency_Key=K)
        again = site.post("/games", body, Idempotency_Key=K)
        assert again.data == first.data
        seat = {"invitation": first.json["invitation"]}
        assert site.post(f"/games/{first.json['game']}/seats", seat).status_code == 201

    def test_the_same_key_at_two_tables_is_two_requests(self, site: Site) -> None:
        tables = [site.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"] for _ in range(2)]
        joined = [site.post(f"/games/{game}/seats", {}, Idempotency_Key=K).json for game in tables]
        assert joined[0]["token"] != joined[1]["token"]
        assert joined[0]["player"] != joined[1]["player"]


class TestOnTheWay:
    """A request that was let in, and is decided after the player was put out."""

    @pytest.fixture
    def put_out(self, table: Table, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
        """From now on seat 0 changes hands between the look at the token and the command."""
        access = table.site.services.seat_tokens
        real = access.authenticate

        def late(token: str) -> Any:
            found = real(token)
            if found and found.seat == 0:
                monkeypatch.setattr(access, "authenticate", real)
                table.site.delete(f"{table.path}/seats/0", table.director)
                join(table, seat=0)
            return found

        return lambda: monkeypatch.setattr(access, "authenticate", late)

    def test_a_move_of_the_former_player_is_not_the_new_ones(self, table: Table, put_out: Callable[[], None]) -> None:
        token = join(table, seat=0)["token"]
        table.post("/start", token=table.director)
        put_out()
        before = table.version
        answer = table.post("/moves", {"move": ORDER, "decision": table.decision}, token)
        refused(answer, 401, "unauthenticated")
        assert "WWW-Authenticate" in answer.headers
        assert table.version == before + 2

    def test_neither_does_the_former_player_leave_for_the_new_one(
        self, table: Table, put_out: Callable[[], None]
    ) -> None:
        token = join(table, seat=0)["token"]
        put_out()
        refused(table.site.delete(f"{table.path}/seats/0", token), 401, "unauthenticated")
        assert table.get().json["seats"][0]["player"] is not None

    def test_nor_take_the_new_ones_vacation(self, site: Site) -> None:
        """By the command itself: the seat must be that person's when the record is stored."""
        table = site.table("orders@1", 3, pace={"seconds": {"turn": 60}, "vacation": 5})
        with pytest.raises(NotSeated):
            site.services.commands.handle(table.game, Rest(0, 1), GameConditions(seat_guard=(0, "somebody")))


def test_what_was_refused_leaves_no_token(table: Table) -> None:
    ledger = table.site.services.ledger
    rows = ledger.execute("SELECT count(*) FROM tokens")
    refused(table.post("/seats", {"seat": 1}), 409, "seat_taken")
    refused(table.post("/seats", {"seat": 9}), 409, "unknown_seat")
    assert ledger.execute("SELECT count(*) FROM tokens") == rows


WITHOUT_IF_MATCH = {
    "/v1/games/{game}/seats": "a seat is free or not, whatever the version",
    "/v1/games/{game}/choices": "stores nothing but a look, which is decided on the version that it answers for",
    "/v1/games/{game}/rewinds/{rewind}/consents": "a vote counts for its request",
    "/v1/games/{game}/proposals/{proposal}/consents": "a vote counts for its proposal",
    "/v1/games/{game}/card": "no part of the log",
    "/v1/games/{game}/chat": "no part of the log",
    "/v1/games/{game}/notes": "no part of the log",
    "/v1/games/{game}/talk/disclosures": "no part of the log",
    "/v1/games/{game}/talk/reports": "no part of the log",
    "/v1/games/{game}/talk/reports/{report}": "no part of the log",
    "/v1/games/{game}/seats/{seat}/silence": "no part of the log",
    "/v1/games/{game}/talk/messages": "no part of the log; the body names the version that the writer saw",
    "/v1/games/{game}/standing-orders": "no part of the log",
    "/v1/games/{game}/standing-orders/{order}": "no part of the log",
    "/v1/games/{game}/talk/mutes": "no part of the log",
    "/v1/games/{game}/talk/read": "no part of the log",
    "/v1/tournaments/{tournament}/chat": "no part of the log",
    "/v1/games/{game}/challenges": "no part of the log",
    "/v1/games/{game}/forks": "opens another game, from a version that the body names",
    "/v1/games/{game}/rematches": "opens another game",
    "/v1/games/{game}/officers": "an offer, which counts if its author may still give the role when it is accepted",
    "/v1/games/{game}/officers/{player}/offer": "no part of the log",
}


def test_every_write_at_table_honours_the_version_that_was_seen(site: Site) -> None:
    """A double click took four days of vacation in place of two: If-Match was accepted and dropped."""
    paths = site.get("/openapi.json").json["paths"]
    dropped = []
    for path, methods in paths.items():
        for method, operation in methods.items():
            if path.startswith("/v1/games/{game}/") and method in ("post", "put", "delete"):
                names = {p["name"] for p in operation.get("parameters", ()) if p["in"] == "header"}
                if "If-Match" not in names and path not in WITHOUT_IF_MATCH:
                    dropped.append((method, path))
    assert dropped == []
    assert paths.keys() >= WITHOUT_IF_MATCH.keys()


def test_the_second_press_is_refused(site: Site) -> None:
    table = site.table("orders@1", 3, pace={"seconds": {"turn": 3600}, "vacation": 9})
    seen = f'"{table.version}"'
    presses: list[tuple[str, Doc, str]] = [
        ("/vacations", {"days": 2}, table.tokens[0]),
        ("/extensions", {"decision": table.decision, "seconds": 60}, table.director),
        ("/looks", {}, table.director),
        ("/proposals", {"act": "close"}, table.tokens[1]),
        ("/close", {"reason": "void"}, table.director),
    ]
    assert table.post(*presses[0], If_Match=seen).status_code == 201
    for path, body, token in presses:
        refused(table.post(path, body, token, If_Match=seen), 412, "stale_version")
    assert site.services.commands.game(table.game).timing.banks[0].days == 7
