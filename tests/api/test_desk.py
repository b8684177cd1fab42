"""The desk of an officer: all tables that a person directs, and what waits there."""

from __future__ import annotations

import pytest

from api.documents import desk as document
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import Member, register
from tests.api.test_staff import PACE, appoint, opened, owner  # noqa: F401 - a fixture


def desk(member: Member, query: str = "") -> Doc:
    reply = member.get(f"/me/desk{query}")
    assert reply.status_code == 200, reply.text
    found: Doc = reply.json
    return found


def needs(member: Member, table: Table) -> list[str]:
    (found,) = [item for item in desk(member)["items"] if item["game"] == table.game]
    return list(found["needs"])


def test_it_shows_what_waits_for_an_officer(owner: Member, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    table, site = opened(owner), owner.site
    unstarted = owner.post("/games", {"ruleset": "orders@1", "seats": 2}).json["game"]
    ended = opened(owner)
    ended.post("/close", {"reason": "void"}, owner.token)
    assert needs(owner, table) == []
    site.delete(f"{table.path}/seats/2", table.tokens[2])
    proposal = table.post("/proposals", {"act": "close"}, table.tokens[0]).json
    shown = desk(owner)
    assert shown["tables"] == 2
    assert shown["counts"] == {
        "late": 0,
        "empty": 2,
        "pending": 1,
        "unstarted": 1,
        "broken": 0,
        "silent": 0,
        "paused": 0,
        "ruled": 0,
        "appealed": 0,
        "reported": 0,
    }
    items = {item["game"]: item for item in shown["items"]}
    assert items[unstarted]["needs"] == ["empty", "unstarted"]
    running = items[table.game]
    assert (running["needs"], running["office"]) == (["empty", "pending"], "owner")
    assert [(seat["seat"], seat["absent"]) for seat in running["empty"]] == [(2, False)]
    (pending,) = running["pending"]
    assert (pending["id"], pending["act"], pending["missing"]) == (proposal["id"], "close", [1])
    assert running["decision"]["seats"] == [0, 1, 2]
    assert 0 < running["decision"]["left"] <= 3600_000
    deadline = running["decision"]["deadline"]
    monkeypatch.setattr(document, "SILENT_MS", 0)
    object.__setattr__(site.services, "clock", lambda: deadline)
    site.remake()
    assert {"late", "silent"} <= set(needs(owner, table))


def test_filters_and_cursor_lose_nothing_while_tables_move(owner: Member) -> None:  # noqa: F811
    tables = [opened(owner) for _ in range(5)]
    deputy = appoint(owner, tables[0], "Dora", "deputy")
    assert [item["game"] for item in desk(deputy)["items"]] == [tables[0].game]
    assert desk(owner, "?office=deputy")["items"] == desk(owner, "?needs=broken")["items"] == []
    assert desk(owner, "?ruleset=orders@1&status=running")["tables"] == 5
    seen, path = [], "/me/desk?limit=2&status=running"
    while path:
        page = owner.get(path).json
        seen += [item["game"] for item in page["items"]]
        tables[len(seen) % 5].post("/looks", {}, owner.token)
        path = (page["next"] or "").removeprefix("/v1")
    assert seen == sorted(table.game for table in tables)


def test_it_is_of_an_account(site: Site) -> None:
    table = site.table("orders@1", 2)
    refused(site.get("/me/desk", table.director), 403, "accounts_only")
    assert desk(register(site, "Nobody"))["tables"] == 0


def test_a_secret_decision_names_all_that_were_asked(owner: Member) -> None:  # noqa: F811
    table = opened(owner, ruleset="windows@1", pace="none")
    assert table.move(0, {"type": "attack", "target": 1}).status_code == 201
    before = desk(owner)["items"][0]["decision"]
    assert table.move(1, {"type": "pass"}).status_code == 201
    after = desk(owner)["items"][0]["decision"]
    assert (after["seats"], after["due"]) == (before["seats"], before["due"])
