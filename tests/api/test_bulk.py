"""Many tables opened at once, many finished games taken at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.conftest import Doc, Site, Table, refused

KEY = "k" * 40
BODY = {"table": {"ruleset": "orders@1", "seats": 3, "undo": "free"}, "count": 4}


def batch(site: Site, body: Doc = BODY, key: str = KEY, token: str = "") -> Any:
    return site.post("/games/batches", body, token, Idempotency_Key=key)


class TestBatches:
    def test_each_table_is_what_its_opening_would_be(self, site: Site) -> None:
        items = batch(site).json["items"]
        assert len({item["game"] for item in items}) == len({item["token"] for item in items}) == 4
        for item in items:
            table = Table(site, item["game"], item["token"], [])
            assert table.get().json["undo"] == "free"
            assert table.post("/close", {"reason": "void"}, item["token"]).status_code == 201

    def test_a_repetition_opens_none_twice(self, site: Site) -> None:
        first, again = batch(site), batch(site)
        assert first.data == again.data
        assert len(site.get("/games").json["items"]) == 4

    def test_what_was_cut_off_is_gone_on_with(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        site.remake(rate=50.0, tables=2)
        refused(batch(site), 429, "too_many_requests")
        assert len(site.get("/games").json["items"]) == 2
        site.remake(rate=50.0, tables=2)
        whole = batch(site).json["items"]
        assert len(whole) == len(site.get("/games").json["items"]) == 4

    def test_another_number_is_another_request(self, site: Site) -> None:
        first = batch(site)
        for count in (3, 5):
            refused(batch(site, BODY | {"count": count}), 422, "idempotency_key_reused")
        assert len(site.get("/games").json["items"]) == 4
        assert batch(site).data == first.data

    def test_other_tables_are_no_repetition(self, site: Site) -> None:
        batch(site)
        other = {"ruleset": "orders@1", "seats": 3, "undo": "none"}
        refused(batch(site, BODY | {"table": other}), 422, "idempotency_key_reused")

    @pytest.mark.parametrize("change", [{"count": 0}, {"count": 51}, {"table": {}}, {"table": None}, {"more": 1}])
    def test_a_body_that_does_not_fit_is_refused(self, site: Site, change: Doc) -> None:
        refused(batch(site, BODY | change), 422, "unknown_field" if "more" in change else "invalid_body")

    def test_tables_that_cannot_be_are_refused_before_the_first(self, site: Site) -> None:
        refused(batch(site, BODY | {"table": {"ruleset": "orders@1", "seats": 9}}), 422, "invalid_table")
        assert site.services.ledger.log(0, 1) == []

    def test_it_needs_a_key(self, site: Site) -> None:
        refused(site.post("/games/batches", BODY), 422, "invalid_headers")


class TestExports:
    def closed(self, site: Site, **terms: Any) -> Table:
        table = site.table("orders@1", 3, **terms)
        assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201
        return table

    def test_a_page_is_the_exports_one_after_the_other(self, site: Site) -> None:
        tables = [self.closed(site) for _ in range(3)]
        site.table("orders@1", 3)
        self.closed(site, listing="unlisted")
        page = site.get("/exports")
        assert page.data == b"".join(t.get("/export").data for t in tables)
        docs = [json.loads(line) for line in page.data.splitlines()]
        assert [doc["game"] for doc in docs if "annals" in doc] == [t.game for t in tables]

    def test_whoever_comes_back_gets_what_was_closed_since(self, site: Site) -> None:
        tables = [self.closed(site) for _ in range(3)]
        page, seen = site.get("/exports?limit=2"), []
        for _ in range(3):
            seen.append(page.data)
            page = site.get(page.headers["Link"].split(">")[0].removeprefix("</v1"))
        assert seen == [
            tables[0].get("/export").data + tables[1].get("/export").data,
            tables[2].get("/export").data,
            b"",
        ]
        late = self.closed(site)
        assert site.get(page.headers["Link"].split(">")[0].removeprefix("</v1")).data == late.get("/export").data

    def test_of_a_ruleset_or_a_player(self, site: Site) -> None:
        mine, other = self.closed(site), self.closed(site)
        player = mine.get().json["seats"][1]["player"]
        assert site.get(f"/exports?player={player}").data == mine.get("/export").data
        assert site.get("/exports?ruleset=windows@1").data == b""
        assert site.get("/exports?ruleset=orders@1&limit=1").data == mine.get("/export").data
        assert other.game.encode() not in site.get(f"/exports?player={player}").data
