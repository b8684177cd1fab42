"""Timeline, records, export, audit, rewinds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain.kernel import export
from domain.kernel.digest import digest
from domain.kernel.verify import verify
from tests.api.conftest import CATALOGUE, Site, Table, refused
from tests.api.player import play

ORDER = {"type": "order", "to": "t01", "units": 2}
SPY = {"type": "spy", "to": "t01"}


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


def pages(table: Table, path: str, who: int | None = None) -> list[Any]:
    """All items, page by page."""
    found, address = [], f"/v1{table.path}{path}"
    while address:
        answer = table.site.get(address.removeprefix("/v1"), table.token(who))
        assert answer.status_code == 200, answer.text
        found += answer.json["items"]
        address = answer.json["next"]
        assert ("Link" in answer.headers) == bool(address)
    return found


class TestTimeline:
    def test_pages_hold_every_entry_once(self, orders: Table) -> None:
        play(orders, random.Random(1), 8)
        versions = [e["version"] for e in pages(orders, "/timeline?limit=3")]
        assert versions == list(range(1, orders.version + 1))

    def test_sentences_come_in_the_language_asked_for(self, orders: Table) -> None:
        first = [orders.get(f"/timeline?lang={lang}&limit=1").json["items"][0]["text"] for lang in ("en", "fr")]
        assert first == [["The game is opened."], ["La partie est ouverte."]]
        assert orders.get("/timeline?limit=1", None, Accept_Language="fr").json["items"][0]["text"] == first[1]

    def test_a_seat_reads_its_own_entries_besides(self, orders: Table) -> None:
        version = orders.move(0, ORDER).json["version"]
        entry = {who: orders.get(f"/timeline?after={version - 1}", who).json["items"][0] for who in (0, 1, None)}
        assert entry[0]["own"][0]["acts"] == [[0, ORDER]]
        assert "own" not in entry[1]
        assert entry[1] == entry[None]


class TestRecords:
    def test_they_form_a_chain(self, orders: Table) -> None:
        orders.move(0, ORDER)
        found = pages(orders, "/records?limit=2")
        assert [r["prev"] for r in found[1:]] == [digest(r) for r in found[:-1]]

    def test_a_page_past_the_end_is_empty(self, orders: Table) -> None:
        answer = orders.get("/records?after=999")
        assert (answer.json["items"], answer.json["next"]) == ([], None)


class TestProof:
    def test_an_export_proves_itself_offline(self, site: Site) -> None:
        table = site.table("sealed@1", 3, options={"turns": 3})
        rules = CATALOGUE.get("sealed@1")
        play(table, random.Random(3), 6)
        for who in (None, 0, 1):
            answer = table.get("/export", who)
            assert answer.mimetype == "application/x-ndjson"
            taken = export.parse(answer.data)
            assert taken.viewer == ("public" if who is None else who)
            verify(rules, taken)
        play(table, random.Random(3), 300)
        report = verify(rules, export.parse(table.get("/export").data))
        assert report.closed
        audit = table.get("/audit").json
        assert audit == {"proved": True, "report": report.to_json()}

    def test_a_forged_record_is_found(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        records = orders.site.services.ledger.read(orders.game)
        records[2].public["at"] = 1
        monkeypatch.setattr(type(orders.site.services.ledger), "read", lambda *_: records)
        audit = orders.get("/audit").json
        assert (audit["proved"], audit["fault"]["code"], audit["fault"]["version"]) == (False, "chain_broken", 4)


class TestRewinds:
    def back(self, table: Table, who: int | str, to: int, version: int | None = None, **body: Any) -> Any:
        match = {"If_Match": f'"{version or table.version}"'}
        return table.post("/rewinds", {"to": to, **body}, table.token(who), **match)

    def turn(self, site: Site, undo: str = "consent") -> Table:
        """A table of the game of marches, where passing tells nobody anything."""
        return site.table("passage@1", 3, undo=undo)

    def test_the_version_that_was_seen_is_named(self, orders: Table) -> None:
        refused(orders.post("/rewinds", {"to": 5}, orders.tokens[0]), 428, "precondition_required")
        refused(self.back(orders, 0, 5, 4), 412, "stale_version")
        refused(self.back(orders, "director", 5, 4), 412, "stale_version")

    def test_own_moves_are_free_up_to_the_last_barrier(self, site: Site) -> None:
        table = self.turn(site)
        before = table.version
        seat = table.get("/decisions").json["decisions"][0]["must"][0]
        table.move(seat, {"type": "delegate", "to": (seat + 1) % 3})
        answer = self.back(table, seat, before)
        assert (answer.status_code, answer.json["to"]) == (201, before)
        entry = pages(table, "/timeline")[-1]
        assert (entry["kind"], entry["to"], entry["reason"]) == ("rewound", before, None)

    def test_beyond_it_the_others_must_agree(self, orders: Table) -> None:
        before = orders.version
        orders.move(0, ORDER)
        doc = refused(self.back(orders, 0, before), 409, "consent_missing")
        assert doc["figures"]["missing"] == doc["figures"]["motion"]["consents"] == [1, 2]
        assert doc["figures"]["motion"]["undone"] == [before + 1]
        assert "hidden" not in doc["figures"]["motion"]
        assert orders.version == before + 1

    def test_a_motion_tells_nothing_of_what_others_did_unseen(self, site: Site) -> None:
        """An order and a spy, which is never undone, look the same to whoever asks."""
        seen = set()
        for move in (ORDER, SPY):
            table = site.table("orders@1", 3)
            before = table.version
            table.move(1, move)
            doc = refused(self.back(table, 0, before), 409, "consent_missing")
            seen.add(str(doc["figures"]))
        assert len(seen) == 1

    @pytest.mark.parametrize("undo", ["director", "none"])
    def test_the_table_may_forbid_it(self, site: Site, undo: str) -> None:
        table = self.turn(site, undo)
        seat = table.get("/decisions").json["decisions"][0]["must"][0]
        before = table.version
        table.move(seat, {"type": "pass"})
        refused(self.back(table, seat, before), 409, "undo_forbidden")

    def test_a_version_that_does_not_count(self, orders: Table) -> None:
        orders.move(0, ORDER)
        for who in (0, "director"):
            refused(self.back(orders, who, 99), 409, "not_on_line")
        refused(self.back(orders, 0, 1), 409, "not_on_line")

    def test_a_director_goes_back_with_a_reason_that_can_be_erased(self, orders: Table) -> None:
        before = orders.version
        orders.move(0, ORDER)
        assert self.back(orders, "director", before, reason="A wrong card was dealt").status_code == 201
        assert "wrong card" not in str(orders.site.services.ledger.read(orders.game))
        assert pages(orders, "/timeline")[-1]["reason"] == "A wrong card was dealt"
        holder = orders.site.services.access.authenticate(orders.director)
        assert holder is not None
        orders.site.services.access.forget(holder.player)
        assert pages(orders, "/timeline")[-1]["reason"] is None
        assert orders.get("/audit").json["proved"] is True

    def test_fresh_chance_is_the_directors(self, orders: Table) -> None:
        before = orders.version
        orders.move(0, ORDER)
        refused(self.back(orders, 0, before, fresh=True), 403, "directors_only")
        refused(self.back(orders, 0, before, reason="because"), 403, "directors_only")
        assert self.back(orders, "director", before, fresh=True).status_code == 201

    def test_a_repeated_request_goes_back_once(self, orders: Table) -> None:
        before = orders.version
        orders.move(0, ORDER)
        body, match = {"to": before, "reason": "because"}, f'"{orders.version}"'
        key = {"If_Match": match, "Idempotency_Key": "rewind-number-1"}
        first = orders.post("/rewinds", body, orders.director, **key)
        again = orders.post("/rewinds", body, orders.director, **key)
        assert (first.status_code, first.data) == (201, again.data)
        refused(orders.post("/rewinds", body | {"to": 4}, orders.director, **key), 422, "idempotency_key_reused")
        refused(orders.post("/rewinds", body | {"reason": "x"}, orders.director, **key), 422, "idempotency_key_reused")

    def test_only_at_a_running_game(self, site: Site) -> None:
        table = site.table("orders@1", 3, start=False)
        for who in (0, "director"):
            refused(self.back(table, who, 2), 409, "not_running")
