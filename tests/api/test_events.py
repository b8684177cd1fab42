"""What somebody who watches over the service is told: ids and addresses, and nothing that opens anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from api.http import security_log
from api.http.security_log import EVENTS, MAX_TALLIED, OTHERS, PERIOD, RefusalTally
from domain.service.token_text import token_id
from tests.api.conftest import ROOT, Site, Table
from tests.api.members import Member, register

TABLE = {"ruleset": "orders@1", "seats": 3}
WRONG = "anl_0123456789abcdef_" + "x" * 43


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


def told(lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The events among the lines."""
    return [line for line in lines if line["event"] in EVENTS]


def named(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    return [line["event"] for line in told(lines)]


def test_who_is_given_a_token_is_told_by_its_id(site: Site) -> None:
    with capture_logs() as lines:
        table = site.table("orders@1", 3)
    assert named(lines) == ["token_issued"] * 4
    director, *seats = told(lines)
    assert (director["role"], director["game"], director["log_level"]) == ("director", table.game, "warning")
    assert [line["role"] for line in seats] == [0, 1, 2]
    assert [line["token"] for line in seats] == [token_id(token) for token in table.tokens]
    assert all(line["address"] and line["request_id"] and line["player"] for line in told(lines))
    assert not [token for token in (*table.tokens, table.director) if token in str(lines)]


def test_a_repetition_is_no_event(site: Site) -> None:
    body, key = {"ruleset": "orders@1", "seats": 3}, {"Idempotency_Key": "k" * 32}
    with capture_logs() as lines:
        for _ in range(2):
            assert site.post("/games", body, **key).status_code == 201
    assert named(lines) == ["token_issued"]


def test_a_token_that_was_replaced(orders: Table) -> None:
    with capture_logs() as lines:
        new = orders.post("/seats/1/tokens", {}, orders.director).json["token"]
    (line,) = told(lines)
    assert (line["event"], line["seat"], line["token"]) == ("token_replaced", 1, token_id(new))
    assert line["by"]
    assert new not in str(lines)


def test_a_seat_that_was_vacated_and_its_token(orders: Table) -> None:
    with capture_logs() as lines:
        orders.site.client.delete(f"/v1{orders.path}/seats/2", headers={"Authorization": f"Bearer {orders.director}"})
    assert named(lines) == ["seat_vacated", "token_revoked"]
    assert {(line["game"], line["seat"]) for line in told(lines)} == {(orders.game, 2)}
    assert told(lines)[0]["by"] == "director"


def test_a_look_of_a_director(orders: Table) -> None:
    with capture_logs() as lines:
        assert orders.post("/looks", token=orders.director).status_code == 201
    (line,) = told(lines)
    assert (line["event"], line["game"], line["token"]) == ("looked", orders.game, token_id(orders.director))


def test_a_token_that_opens_nothing(orders: Table) -> None:
    with capture_logs() as lines:
        assert orders.post("/moves", {}, WRONG).status_code == 401
    (line,) = told(lines)
    assert (line["event"], line["problem"]) == ("token_refused", "unauthenticated")
    assert "xxxx" not in str(line)


def test_who_shows_nothing_is_no_intruder(orders: Table) -> None:
    with capture_logs() as lines:
        assert orders.post("/moves", {}).status_code == 401
    assert named(lines) == []


def test_who_asks_for_what_is_not_theirs(orders: Table) -> None:
    with capture_logs() as lines:
        assert orders.post("/looks", token=orders.tokens[0]).status_code == 403
    (line,) = told(lines)
    assert (line["event"], line["problem"], line["role"]) == ("access_refused", "directors_only", 0)


REACHING: list[tuple[str, Callable[[Member, str, Table], Any]]] = [
    ("scope_missing", lambda anne, token, table: anne.site.post("/games", TABLE, token)),
    ("role_missing", lambda anne, token, table: anne.get("/reports")),
    ("session_required", lambda anne, token, table: anne.site.get("/me/sessions", token)),
    ("not_at_table", lambda anne, token, table: anne.post(f"{table.path}/moves", {})),
    ("accounts_only", lambda anne, token, table: anne.site.get("/me", table.tokens[0])),
]


@pytest.mark.parametrize(("problem", "reach"), REACHING, ids=[problem for problem, _ in REACHING])
def test_an_account_that_asks_for_what_is_not_its_own(
    orders: Table, problem: str, reach: Callable[[Member, str, Table], Any]
) -> None:
    anne = register(orders.site)
    token = anne.personal("read")
    with capture_logs() as lines:
        assert reach(anne, token, orders).status_code == 403
    (line,) = told(lines)
    assert (line["event"], line["problem"]) == ("access_refused", problem)


def test_somebody_banned_who_does_anything(site: Site) -> None:
    anne = register(site)
    site.services.account_store.accounts.set_state(anne.id, "banned", 0, [])
    with capture_logs() as lines:
        assert anne.post("/games", TABLE).status_code == 403
    (line,) = told(lines)
    assert (line["event"], line["problem"]) == ("access_refused", "account_banned")


def test_who_asks_too_often(site: Site) -> None:
    site.remake(rate=0.001, burst=1)
    with capture_logs() as lines:
        codes = [site.post("/games", {"ruleset": "orders@1", "seats": 3}).status_code for _ in range(12)]
    assert 429 in codes
    assert named(lines).count("limit_exceeded") == 1


def test_what_happens_to_an_account(site: Site) -> None:
    """By its id; a refused login by the address, and summed up."""
    body = {"name": "Wilhelmina", "password": "correct horse battery"}
    with capture_logs() as lines:
        made = site.post("/accounts", body)
        assert made.status_code == 201
        for password in ("wrong wrong wrong", "wrong again and again", body["password"]):
            site.post("/sessions", {"name": body["name"], "password": password})
    assert named(lines) == ["account_changed", "login_refused", "account_changed"]
    first, refused, last = told(lines)
    assert (first["what"], last["what"], last["account"]) == ("opened", "login", made.json["account"])
    assert refused["address"]
    for secret in (body["password"], body["name"], "wrong wrong", made.json["token"], *made.json["codes"]):
        assert secret not in str(told(lines))


def test_an_account_that_is_erased_is_told_by_its_id(site: Site) -> None:
    """The log of the account goes with it: this line is what is left."""
    made = site.post("/accounts", {"name": "Wilhelmina", "password": "correct horse battery"})
    with capture_logs() as lines:
        assert site.delete("/me", made.json["token"]).status_code == 204
    (told_,) = told(lines)
    assert (told_["event"], told_["what"], told_["account"]) == ("account_changed", "erased", made.json["account"])


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"data": b"{", "content_type": "application/json"}, "not_json"),
        ({"data": b'{"a": 1, "a": 2}', "content_type": "application/json"}, "duplicate_key"),
        ({"data": b"<a/>", "content_type": "text/xml"}, "unsupported_media_type"),
        ({"json": {"ruleset": "orders@1", "seats": 3, "role": "admin"}}, "unknown_field"),
        ({"json": {"ruleset": ["' OR 1=1"], "seats": 3}}, "invalid_body"),
        ({"json": {}, "query_string": {"seats": "1;drop"}}, "invalid_query"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_input_that_is_none_of_ours(site: Site, sent: dict[str, Any], problem: str) -> None:
    """At the level that is the default, with its route; never what was sent."""
    with capture_logs() as lines:
        for _ in range(3):
            assert site.client.post("/v1/games", **sent).status_code >= 400
    (line,) = told(lines)
    assert (line["event"], line["problem"], line["route"]) == ("input_refused", problem, "/v1/games")
    assert line["address"]
    assert not any(text in str(line) for text in ("OR 1", "drop", "xml", "admin"))


def test_what_the_rules_refuse_is_no_such_input(orders: Table) -> None:
    with capture_logs() as lines:
        assert orders.move(0, {"type": "nonsense"}).status_code == 409
    assert told(lines) == []


class TestFloods:
    def test_what_comes_again_and_again_is_told_once_and_summed_up(
        self, orders: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with capture_logs() as lines:
            for _ in range(50):
                orders.post("/moves", {}, WRONG)
        assert named(lines) == ["token_refused"]
        monkeypatch.setattr(security_log, "PERIOD", 0)
        with capture_logs() as lines:
            orders.site.get("/rulesets")
        (line,) = told(lines)
        assert (line["event"], line["count"]) == ("token_refused", 50)
        assert line["address"]

    def test_addresses_without_end_take_no_memory_without_end(self) -> None:
        tally = RefusalTally()
        first = [tally.count("token_refused", f"10.0.{n // 256}.{n % 256}") for n in range(MAX_TALLIED + 500)]
        assert first.count(True) == MAX_TALLIED + 1
        assert tally.drain(0) == []
        ((event, address, count),) = tally.drain(tally._begun + PERIOD + 1)
        assert (event, address, count) == ("token_refused", OTHERS, 500)
        assert tally.count("token_refused", "10.0.0.1")


def test_every_event_is_documented() -> None:
    text = (ROOT / "docs" / "operations.md").read_text()
    commands = ("log_repaired", "key_admitted", "key_changed")
    assert [event for event in (*EVENTS, *commands) if f"`{event}`" not in text] == []
