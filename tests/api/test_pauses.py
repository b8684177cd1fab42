"""Pauses over HTTP: what they stop, who sees them, and all tables at once."""

from __future__ import annotations

import pytest

from domain.command_handler import CommandHandler
from domain.kernel.game.play_commands import Play
from domain.service.seed_store import SeedStore
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import Member, register, timed
from tests.api.test_staff import PACE, appoint, entry, opened

HOUR = 3_600_000


@pytest.fixture
def owner(site: Site) -> Member:
    timed(site)
    return register(site, "Olga")


@pytest.fixture
def table(owner: Member) -> Table:
    return opened(owner)


def first(table: Table) -> Doc:
    found: Doc = table.get("/decisions").json["decisions"][0]
    return found


def pause(table: Table, **body: object) -> None:
    reply = table.post("/pauses", body, table.director)
    assert reply.status_code == 201, reply.text


def test_a_pause_is_seen_everywhere_and_takes_deadlines_away(owner: Member, table: Table) -> None:
    assert table.get().json["pause"] is None
    pause(table, reason="A storm")
    shown = table.get().json["pause"]
    assert (shown["until"], shown["moves"]) == (None, False)
    assert table.get("/board").json["pause"] == table.get("/board", 0).json["pause"] == shown
    assert "deadline" not in first(table)
    assert (table.get().json["deadline"], table.get().json["due"]) == (None, None)
    assert b"BEGIN:VEVENT" not in table.get("/calendar").data
    (row,) = owner.get("/me/desk?needs=paused").json["items"]
    assert (row["pause"], row["needs"]) == (shown, ["paused"])
    assert entry(table)["text"][0] == "The game pauses: no time runs, and no moves are made."
    assert "A storm" in entry(table)["text"][1]


def now(table: Table) -> int:
    return table.site.services.clock()


def test_the_chronicle_tells_it_in_both_languages(table: Table) -> None:
    pause(table, until=now(table) + 2 * HOUR + 1000, moves=True)
    assert entry(table)["text"][0] == "The game pauses: no time runs for 2 hours, and moves can be made."
    assert entry(table, "fr")["text"][0].endswith("pendant 2\u00a0heures, et on peut jouer.")
    assert table.post("/resumptions", {}, table.director).status_code == 201
    assert entry(table)["text"][0] == "The game goes on, and all time runs again."
    assert entry(table, "fr")["text"][0] == "La partie reprend, et le temps court de nouveau."


def test_no_move_is_made_unless_the_pause_says_so(table: Table) -> None:
    pause(table)
    sent: Doc = {"move": {"type": "submit"}, "decision": table.decision}
    figures = refused(table.post("/moves", sent, table.tokens[0]), 409, "game_paused")["figures"]
    assert figures == {"until": None}
    refused(table.post("/moves?dry_run=1", sent, table.tokens[0]), 409, "game_paused")
    refused(table.post("/moves", sent | {"seat": 0}, table.director), 409, "game_paused")
    refused(
        table.post("/rewinds", {"to": table.version - 1}, table.tokens[0], If_Match=f'"{table.version}"'),
        409,
        "game_paused",
    )
    pause(table, moves=True)
    assert table.post("/moves", sent, table.tokens[0]).status_code == 201


def test_a_pause_with_an_end_ends_by_itself(owner: Member, table: Table) -> None:
    due, until = first(table)["due"]["0"], now(table) + 5 * HOUR
    pause(table, until=until)
    moved = first(table)["due"]["0"]
    assert due + 5 * HOUR - 10_000 < moved <= due + 5 * HOUR, "its beginning is a little later"
    refused(table.post("/pauses", {"until": until}, table.director), 409, "already_until")
    s = table.site.services
    later = CommandHandler(s.ledger, s.registry, SeedStore(s.ledger, s.ledger.keys), lambda: until)
    s.notify_appended(later.handle(table.game, Play(0, [{"type": "submit"}], table.decision)).position)
    assert first(table)["due"]["1"] == moved
    assert table.get().json["pause"] is None
    assert owner.get("/me/desk").json["counts"]["paused"] == 0


def test_what_makes_no_sense_is_refused(table: Table) -> None:
    refused(table.post("/resumptions", {}, table.director), 409, "not_paused")
    refused(table.post("/pauses", {"until": now(table) - 1}, table.director), 409, "time_passed")
    refused(table.post("/pauses", {"until": "x"}, table.director), 422, "invalid_body")
    refused(table.post("/pauses", {}, table.tokens[0]), 403, "directors_only")
    pause(table)
    hold = table.site.put(f"{table.path}/seats/0/hold", {"until": now(table) + HOUR}, table.director)
    refused(hold, 409, "game_paused")


class TestAllTables:
    def test_one_request_pauses_all_and_one_resumes_them(self, owner: Member, table: Table) -> None:
        tables = [table, opened(owner), opened(owner)]
        owner.post("/games", {"ruleset": "orders@1", "seats": 3, "pace": PACE})  # it has not started
        made = owner.post("/me/pauses", {"reason": "A storm"}).json
        assert [item["game"] for item in made["items"]] == sorted(each.game for each in tables)
        assert {item["refused"] for item in made["items"]} == {None}
        assert made["more"] is False
        assert all(each.get().json["pause"] for each in tables)
        again = owner.post("/me/pauses", {"reason": "A storm"}).json["items"]
        assert {item["refused"] for item in again} == {"already_until"}
        assert owner.post("/me/resumptions", {"games": [table.game]}).json["items"][0]["refused"] is None
        assert [bool(each.get().json["pause"]) for each in tables] == [False, True, True]

    def test_all_resumptions_end_no_pause_of_others(self, owner: Member, table: Table) -> None:
        agreed, ordered = opened(owner), opened(owner)
        arbiter = appoint(owner, ordered, "Ada", "arbiter")
        assert arbiter.post(f"{ordered.path}/pauses").status_code == 201
        asked = agreed.post("/proposals", {"act": "pause"}, agreed.tokens[0]).json
        for seat in (1, 2):
            agreed.post(f"/proposals/{asked['id']}/consents", {"agrees": True}, agreed.tokens[seat])
        assert agreed.get().json["pause"] is not None
        pause(table)
        items = {item["game"]: item["refused"] for item in owner.post("/me/resumptions").json["items"]}
        assert items == {table.game: None, agreed.game: "paused_by_others", ordered.game: "paused_by_others"}
        named = owner.post("/me/resumptions", {"games": [agreed.game, ordered.game]}).json["items"]
        assert [item["refused"] for item in named] == [None, None]

    def test_a_refusal_at_one_table_does_not_stop_the_others(self, owner: Member, table: Table) -> None:
        seated = opened(owner)
        seated.site.delete(f"{seated.path}/seats/1?hold=0", seated.tokens[1])
        joined = owner.post(f"{seated.path}/seats", {"seat": 1})
        assert joined.status_code == 201, joined.text
        items = {item["game"]: item["refused"] for item in owner.post("/me/pauses").json["items"]}
        assert items == {table.game: None, seated.game: "director_has_stake"}

    def test_an_arbiter_may_and_a_stranger_may_not(self, owner: Member, table: Table) -> None:
        arbiter, eve = appoint(owner, table, "Ada", "arbiter"), register(owner.site, "Eve")
        assert arbiter.post("/me/pauses", {"games": [table.game]}).json["items"][0]["refused"] is None
        refused(eve.post("/me/pauses", {"games": [table.game]}), 403, "not_at_table")
        assert eve.post("/me/pauses").json == {"items": [], "more": False}

    def test_it_goes_on_after_the_last_table(
        self, owner: Member, table: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("api.routes.pauses.MOST_TABLES", 1)
        opened(owner)
        head = owner.post("/me/pauses").json
        assert (len(head["items"]), head["more"]) == (1, True)
        tail = owner.post("/me/pauses", {"after": head["items"][0]["game"]}).json
        assert (len(tail["items"]), tail["more"], tail["items"][0]["refused"]) == (1, False, None)
