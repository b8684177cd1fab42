"""Timeline, records, export, audit."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import pytest

from api.http import rate_limits
from api.routes import history
from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from domain.kernel.schema.canonical_json import digest
from domain.kernel.schema.json_codec import merge_patch
from projections.archived_views import ArchivedViewLoader
from projections.projector import Projector
from projections.reader import Reader
from projections.rebuild import create_generation, switch_generation
from projections.viewer_history import ViewerHistory
from tests.api.conftest import CATALOGUE, Site, Table, refused
from tests.api.player import play
from tests.damage import overwrite
from workers.maintenance.archiving import GameArchiver

ORDER = {"type": "order", "to": "t01", "units": 2}


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


class TestHeadings:
    def test_each_entry_says_where_in_the_game_it_ends(self, site: Site) -> None:
        """A heading stands before the line with which a chapter begins, in the middle of a record too."""
        table = site.table("struggle_of_empires@1", 3)
        play(table, random.Random(3), 40)
        found = pages(table, "/timeline?limit=7&lang=en")
        assert found[0]["chapter"] == {"turn": 0, "round": 0, "phase": "", "title": "Set-up"}
        (begun,) = [e for e in found if any(h["text"] == "War 1, alliances" for h in e["headings"])]
        line = begun["headings"][0]["line"]
        assert line > 0, "what ends the set-up stands before it"
        assert begun["text"][line] == "The first War begins."
        assert begun["chapter"]["turn"] == 1
        told = [h["text"] for e in found for h in e["headings"]]
        assert told[:2] == ["War 1, alliances", "War 1, round 1"]
        assert [h["text"] for e in pages(table, "/timeline?lang=fr") for h in e["headings"]][1] == "Guerre 1, manche 1"

    def test_they_are_the_same_however_the_views_were_made(self, site: Site) -> None:
        table = site.table("struggle_of_empires@1", 3)
        play(table, random.Random(3), 40)
        found = pages(table, "/timeline")
        gen = create_generation(site.context.views, 0)
        site.pump = Projector(ViewerHistory(site.services.ledger, CATALOGUE, site.context.views), "another", gen)
        site.ring()
        assert switch_generation(site.context.views, gen)
        assert pages(table, "/timeline") == found

    def test_a_game_in_one_piece_has_none(self, orders: Table) -> None:
        entry = pages(orders, "/timeline")[-1]
        assert (entry["chapter"]["title"], entry["headings"]) == ("", [])


class TestDigest:
    def test_who_was_away_reads_what_came_of_each_turn(self, site: Site) -> None:
        table = site.table("struggle_of_empires@1", 3)
        play(table, random.Random(3), 60)
        doc = table.get("/digest?lang=en").json
        (turn,) = doc["turns"]
        assert (turn["title"], turn["chapter"]["turn"], turn["last"]) == ("War 1", 1, table.version)
        assert len(turn["standings"]) == 3
        assert all("victory point" in text for text in turn["standings"])
        later = table.get(f"/digest?after={turn['last'] - 1}&lang=fr").json["turns"][0]
        assert later["title"] == "Guerre 1"
        assert later["first"] == later["last"] == table.version

    def test_a_version_that_is_to_come_is_refused(self, orders: Table) -> None:
        refused = orders.get("/digest?after=999")
        assert (refused.status_code, refused.json["code"]) == (422, "unknown_version")
        assert orders.get(f"/digest?after={orders.version}").json["turns"] == []

    def test_of_a_table_by_invitation_only_its_people_read_it(self, site: Site) -> None:
        table = site.table("orders@1", 3)
        assert table.get("/digest", 0).status_code == 200
        assert site.get("/games/00000000-0000-4000-8000-000000000000/digest").status_code == 404


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
        monkeypatch.setattr(type(orders.site.services.ledger), "read", lambda *_, **__: records)
        audit = orders.get("/audit").json
        assert (audit["proved"], audit["fault"]["code"], audit["fault"]["version"]) == (False, "chain_broken", 4)


def test_what_never_changes_may_be_kept_for_ever(site: Site) -> None:
    """Pages of records that are full, and exports of closed games."""
    table = site.table("windows@1", 3, options={"turns": 1})
    for_ever = "public, max-age=31536000, immutable"
    full = table.get("/records?limit=3")
    assert full.headers["Cache-Control"] == for_ever
    assert table.get("/records?limit=200").headers["Cache-Control"] == "private, no-cache"
    assert table.get("/export", 0).headers["Cache-Control"] == "private, no-store"
    table.post("/close", {"reason": "void"}, table.director)
    assert table.get("/records?limit=3").data == full.data
    exports = [table.get("/export", who) for who in (0, None)]
    assert {answer.headers["Cache-Control"] for answer in exports} == {for_ever}
    assert exports[0].data == exports[1].data


def test_a_large_export_is_made_in_slices_and_waits_in_a_file(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    table = site.table("windows@1", 3, options={"turns": 1})
    play(table, random.Random(1), 200)
    whole = table.get("/export").data
    monkeypatch.setattr(history, "RECORDS_PER_SLICE", 7)
    monkeypatch.setattr(history, "MAX_IN_MEMORY", 100)
    with table.get("/export") as answer:
        assert answer.data == whole
        assert int(answer.headers["Content-Length"]) == len(whole)


def _too_much(*_: object) -> None:
    raise AssertionError("a whole game is folded")


def archived(site: Site) -> None:
    """All closed games rest in the archive, and nothing is remembered of them."""
    archiving = GameArchiver(site.context, 0)
    while found := archiving.find_next():
        assert archiving.archive(found)
    site.services = replace(site.services, reader=Reader(site.context.views, ArchivedViewLoader(site.services.history)))
    site.remake()


class TestBoardChanges:
    """The difference between two boards of one viewer."""

    def test_patch_turns_one_board_into_the_other_both_ways(self, orders: Table) -> None:
        play(orders, random.Random(1), 8)
        for who, (before, after) in product((None, 0, 1), permutations((2, 6, orders.version), 2)):
            old, new = (orders.get(f"/board?version={v}", who).json for v in (before, after))
            found = orders.get(f"/board/changes?from={before}&to={after}", who).json
            assert [found[name] for name in ("viewer", "from", "to")] == [new["viewer"], before, after]
            assert (merge_patch(old, found["patch"]) if "patch" in found else found["board"]) == new

    def test_its_digest_is_that_of_the_turns_between(self, site: Site) -> None:
        table = site.table("struggle_of_empires@1", 3)
        play(table, random.Random(3), 30)
        version = table.version
        turns = table.get("/digest?after=9").json["turns"]
        assert table.get("/board/changes?from=9").json["turns"] == turns != []
        assert table.get(f"/board/changes?from={version}&to=9").json["turns"] == turns
        same = table.get(f"/board/changes?from={version}&to={version}").json
        assert (same["patch"], same["turns"]) == ({}, [])

    def test_a_version_that_is_not_there_is_refused(self, orders: Table) -> None:
        for query in (f"from={orders.version + 1}", f"from=1&to={orders.version + 1}"):
            refused(orders.get(f"/board/changes?{query}"), 422, "unknown_version")
        for query in ("", "?from=0", "?from=x"):
            refused(orders.get(f"/board/changes{query}"), 422, "invalid_query")


class TestArchived:
    PATHS = (
        "",
        "/board",
        "/board?version=7",
        "/board/parts?fields=public,seats",
        "/decisions",
        "/timeline",
        "/timeline?after=3&limit=2&lang=fr",
        "/digest",
        "/board/changes?from=7&to=3",
        "/records",
        "/export",
        "/audit",
        "/scores",
        "/records/3/proof",
    )

    @pytest.fixture
    def table(self, site: Site) -> Table:
        """A game that was played to its end, beside another."""
        site.table("orders@1", 3)
        table = site.table("sealed@1", 3, options={"turns": 3})
        play(table, random.Random(3), 300)
        assert table.get("").json["status"] == "closed"
        return table

    def test_every_answer_is_the_same_byte_for_byte(self, table: Table) -> None:
        asked = [(path, who) for path in self.PATHS for who in (None, 0, 2, "director")]
        before = {(path, who): table.get(path, who) for path, who in asked}
        assert {answer.status_code for answer in before.values()} == {200}
        archived(table.site)
        for (path, who), told in before.items():
            again = table.get(path, who)
            assert (again.status_code, again.data) == (told.status_code, told.data), path
            for header in ("ETag", "Cache-Control", "Annals-Version", "Link"):
                assert again.headers.get(header) == told.headers.get(header), path

    def test_heads_and_lists_are_the_same(self, table: Table) -> None:
        paths = "/games", "/log", "/log?since=3"
        before = [table.site.get(path).data for path in paths]
        archived(table.site)
        assert [table.site.get(path).data for path in paths] == before

    def test_whoever_follows_it_is_told_the_same(self, table: Table) -> None:
        def told() -> list[str]:
            with table.get("/stream", 0) as whole, table.get("/stream", 0, Last_Event_ID="3") as rest:
                return [whole.until("end"), rest.until("end")]

        before = told()
        archived(table.site)
        assert told() == before

    def test_who_is_in_the_way_of_others_waits(self, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """Telling it again is work on a whole game, and counts as a past board; once told it is remembered."""
        archived(table.site)
        site = table.site
        with monkeypatch.context() as patch:
            patch.setattr(rate_limits.Gate, "_may_enter", lambda *_: False)
            patch.setattr(rate_limits.Gate.__init__, "__defaults__", (4, 2, 0.01, 4))
            site.remake()
            for path in ("/board", "/timeline"):
                refused(table.get(path), 429, "too_many_requests")
        site.remake(rate=0.001, burst=3)
        answers = [table.get("/board") for _ in range(3)]
        assert [a.status_code for a in answers] == [200] * 3
        assert "r=1" in answers[0].headers["RateLimit"]
        assert "RateLimit" not in answers[2].headers

    def test_past_its_end_nothing_is_told_again(self, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of no closed game, archived or not: whoever asks for more of one is answered without any work."""
        end = f"/timeline?after={table.version}"
        before = table.get(end)
        assert before.json["items"] == []
        with monkeypatch.context() as patch:
            patch.setattr("projections.archived_views.ArchivedViewLoader.load", _too_much)
            assert table.get(end).data == before.data
            archived(table.site)
            assert table.get(end).data == before.data

    def test_a_name_that_is_erased_afterwards_stands_nowhere(self, table: Table) -> None:
        archived(table.site)
        assert "Player 1" in table.get("/timeline?lang=en").text
        player = table.get("").json["seats"][1]["player"]
        table.site.services.seat_tokens.texts.erase_now(player)
        for path in ("/timeline?lang=en", "/board", "", "/digest", "/export"):
            assert "Player 1" not in table.get(path).text

    def test_what_has_rotted_is_said(self, table: Table) -> None:
        """Nobody has looked yet: who asks for it has the game judged, and others are answered."""
        other = table.site.table("sealed@1", 3)
        for path in ("/board", "/timeline", "/export"):
            archived(table.site)
            overwrite(table.site.services.ledger, "UPDATE archive SET piece = ?", (b"rotten",))
            table.site.services.ledger.reset()
            refused(table.get(path), 503, "record_damaged")
            assert other.get(path).status_code == 200
            table.site.services.ledger.execute("DELETE FROM damages")
