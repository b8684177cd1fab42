"""A time in place of an amount: a second press adds nothing, and the record holds an amount as ever."""

from __future__ import annotations

from typing import Any

import pytest

from domain.kernel.game.deadlines import DAY, SECOND
from tests.api.conftest import Doc, Site, Table, refused

HOUR = 3_600 * SECOND
ROUTES = ("/extensions", "/vacations", "/hold")


@pytest.fixture
def table(site: Site) -> Table:
    return site.table("orders@1", 3, pace={"seconds": {"turn": 36_000}, "vacation": 9})


def press(table: Table, route: str, **amount: Any) -> Any:
    if route == "/hold":
        return table.site.put(f"{table.path}/seats/0/hold", amount, table.director)
    body = amount | ({"decision": table.decision} if route == "/extensions" else {})
    return table.post(route, body, table.director if route == "/extensions" else table.tokens[0])


def last(table: Table) -> Doc:
    return table.site.services.ledger.read(table.game)[-1].body


def deadline(table: Table) -> int:
    found = table.site.services.commands.game(table.game).deadline
    assert found is not None
    return found


def test_a_deadline_at_a_time(table: Table) -> None:
    before = deadline(table)
    for moved in (HOUR, -2 * HOUR):
        until = before + moved
        step = until - deadline(table)
        assert press(table, "/extensions", until=until).status_code == 201
        assert (deadline(table), last(table)["ms"]) == (until, step)
        assert refused(press(table, "/extensions", until=until), 409, "already_until")["figures"] == {"until": until}
        assert deadline(table) == until


def test_a_vacation_until_a_time_is_as_many_days_as_it_needs(table: Table) -> None:
    bank = table.site.services.commands.game(table.game).timing.banks[0]
    until = table.site.services.clock() + 2 * DAY + HOUR
    assert press(table, "/vacations", until=until).status_code == 201
    bank = table.site.services.commands.game(table.game).timing.banks[0]
    assert (bank.days, last(table)) == (6, {"days": 3})
    assert bank.vacation_end - DAY < until <= bank.vacation_end
    refused(press(table, "/vacations", until=until), 409, "already_until")
    assert press(table, "/vacations", until=bank.vacation_end + 1).status_code == 201
    assert last(table) == {"days": 1}
    assert refused(press(table, "/vacations", until=until + 90 * DAY), 409, "no_vacation_left")["figures"] == {
        "days": 5
    }


def test_a_hold_until_a_time(table: Table) -> None:
    until = table.site.services.clock() + HOUR + 1
    assert press(table, "/hold", until=until).status_code == 200
    end = table.site.services.commands.game(table.game).timing.banks[0].hold_end
    assert until <= end < until + SECOND
    refused(press(table, "/hold", until=until), 409, "already_until")
    assert press(table, "/hold", until=until - HOUR // 2).status_code == 200


@pytest.mark.parametrize("route", ROUTES)
def test_it_is_one_of_both_and_a_time_to_come(table: Table, route: str) -> None:
    amount, version = {"days": 1} if route == "/vacations" else {"seconds": 60}, table.version
    until = table.site.services.clock() + 2 * HOUR
    for body in ({}, amount | {"until": until}, {"until": "tomorrow"}, {"until": None}, {"until": 1.5}, {"until": -1}):
        refused(press(table, route, **body), 422, "invalid_body")
    refused(press(table, route, until=1), 409, "deadline_too_soon" if route == "/extensions" else "time_passed")
    assert table.version == version


def test_without_a_clock_there_is_no_deadline_to_set(site: Site) -> None:
    table = site.table("orders@1", 3)
    refused(press(table, "/extensions", until=table.site.services.clock() + HOUR), 409, "no_deadline")


@pytest.mark.parametrize("act", [{"act": "extend"}, {"act": "hold", "seat": 1}])
def test_players_propose_a_time(table: Table, act: Doc) -> None:
    act |= {"decision": table.decision} if act["act"] == "extend" else {}
    until = deadline(table) + HOUR
    refused(table.post("/proposals", act | {"until": 1}, table.tokens[0]), 409, "time_passed")
    for body in (act, act | {"until": until, "seconds": 5}):
        refused(table.post("/proposals", body, table.tokens[0]), 422, "invalid_body")
    asked = table.post("/proposals", act | {"until": until}, table.tokens[0]).json
    assert asked["act"] == act | {"until": until}
    for seat in (1, 2):
        table.post(f"/proposals/{asked['id']}/consents", {"agrees": True}, table.tokens[seat])
    game = table.site.services.commands.game(table.game)
    assert (
        deadline(table) if act["act"] == "extend" else game.timing.banks[1].hold_end // SECOND * SECOND
    ) >= until // SECOND * SECOND
    refused(table.post("/proposals", {"act": "close", "until": until}, table.tokens[0]), 422, "invalid_body")


def test_such_a_log_proves_itself(table: Table) -> None:
    """The records are those of amounts: nothing in the log tells which form was asked."""
    start = deadline(table)
    press(table, "/extensions", until=start + HOUR)
    press(table, "/hold", until=start)
    press(table, "/vacations", until=start)
    assert table.post("/close", {"reason": "void"}, table.director).status_code == 201
    assert table.get("/audit").json["proved"] is True


def test_a_repetition_under_a_key_is_answered_after_its_time(table: Table) -> None:
    until, key = table.site.services.clock() + 5 * SECOND, {"Idempotency_Key": "vacation-1"}
    first = table.post("/vacations", {"until": until}, table.tokens[0], **key)
    assert first.status_code == 201, first.text
    while table.site.services.clock() <= until:
        pass
    assert table.post("/vacations", {"until": until}, table.tokens[0], **key).data == first.data
