"""Reports of messages, who settles them, and silences."""

from __future__ import annotations

from typing import Any

import pytest

from api import officer_rights
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import Member, promoted, register
from tests.api.test_table_talk import WORD

SAID = {"said": "A threat."}


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site, "Anne")


@pytest.fixture
def bruno(site: Site) -> Member:
    return register(site, "Bruno")


@pytest.fixture
def table(site: Site, anne: Member, bruno: Member) -> Table:
    """A table of three by a director, Anne in seat 0 and Bruno in seat 1; he has written her a letter."""
    made = site.table("orders@1", 3, start=False, talk="free")
    for person, seat in ((anne, 0), (bruno, 1)):
        assert person.post("/me/claims", {"token": made.tokens[seat]}).status_code == 200
    made.post("/start", token=made.director)
    write(anne, made, "Hello.")
    write(bruno, made, f"Meet me in {WORD}.", 0)
    write(bruno, made, "A secret.", 0)
    made.post("/vacations", {"days": 1}, made.tokens[2])
    return made


def write(person: Member, table: Table, text: str, *to: int) -> Any:
    sent = person.post(f"{table.path}/talk/messages", {"to": list(to), "text": text})
    assert sent.status_code == 201, sent.text
    return sent.json


def report(person: Member, table: Table, *entries: int, role: str = "") -> Any:
    more = {"Annals_Role": role} if role else {}
    return person.post(f"{table.path}/talk/reports", SAID | {"entries": list(entries)}, **more)


def listed(table: Table) -> list[Doc]:
    items: list[Doc] = table.get("/talk/reports", "director").json["items"]
    return items


def told(doc: Doc) -> list[str | None]:
    return [each["text"] for each in doc["reported"]["messages"]]


class TestReports:
    def test_officers_read_what_is_reported_with_its_proof_alone(self, table: Table, anne: Member) -> None:
        sent = report(anne, table, 2)
        assert (sent.status_code, sent.json["to"]) == (201, "officers")
        (found,) = listed(table)
        assert told(found) == [f"Meet me in {WORD}."]
        assert (found["reported"]["proved"], found["reported"]["seat"], found["said"]) == (True, 0, "A threat.")
        assert [each["seat"] for each in found["reported"]["writers"]] == [1]
        owner = table.site.services.seat_tokens.find_director(table.game)
        news = table.site.services.notifications.outbox.personal_news.list_waiting()
        assert [(each.type, each.subject, each.player) for each in news] == [
            ("message.reported", sent.json["report"], owner)
        ]
        judge = promoted(table.site, "Judge", "moderator")
        assert judge.get("/reports").json["items"] == []
        refused(judge.put(f"/reports/{sent.json['report']}", {"outcome": "x"}), 404, "not_found")

    def test_others_learn_nothing_of_it(self, table: Table, anne: Member, bruno: Member) -> None:
        before = [table.get(path, None).text for path in ("/talk", "/talk/disclosures", "")]
        report(anne, table, 2)
        assert [table.get(path, None).text for path in ("/talk", "/talk/disclosures", "")] == before
        refused(bruno.get(f"{table.path}/talk/reports"), 403, "directors_only")
        refused(table.get("/talk/reports", None), 401, "unauthenticated")

    def test_what_is_upheld_is_erased_for_everybody(self, table: Table, anne: Member, bruno: Member) -> None:
        sent = report(anne, table, 2).json["report"]
        path = f"{table.path}/talk/reports/{sent}"
        done = table.site.put(path, {"outcome": "He is warned.", "erase": True}, table.director)
        assert (done.json["outcome"], told(done.json)) == ("He is warned.", [None])
        for person in (anne, bruno):
            items = person.get(f"{table.path}/talk/messages").json["items"]
            assert [(each["text"], each["withheld"]) for each in items][1] == (None, "report")
        assert anne.get("/me/data").json["reports"][0]["outcome"] == "He is warned."
        again = table.site.put(path, {"outcome": "No."}, table.director)
        assert again.json["outcome"] == "He is warned."

    def test_the_desk_of_an_officer_shows_an_open_one(self, table: Table, anne: Member, bruno: Member) -> None:
        dora = register(table.site, "Dora")
        dora.post("/me/claims", {"token": table.director})
        sent = report(anne, table, 2).json["report"]
        settled = {"outcome": "He is warned."}
        dora.put("/me/relations", {"players": [bruno.doc["player"]]})
        assert dora.get("/me/desk").json["items"][0]["needs"] == []
        dora.put("/me/relations", {"players": []})
        for wanted in (["reported"], []):
            assert [each["needs"] for each in dora.get("/me/desk").json["items"]] == [wanted]
            assert dora.put(f"{table.path}/talk/reports/{sent}", settled).status_code == 200

    def test_open_report_keeps_its_text_until_it_is_settled(self, table: Table, anne: Member, bruno: Member) -> None:
        sent = report(anne, table, 2).json["report"]
        assert bruno.delete("/me").status_code == 204
        items = anne.get(f"{table.path}/talk/messages").json["items"]
        assert [each["text"] for each in items] == ["Hello.", None, None]
        (found,) = listed(table)
        assert told(found) == [f"Meet me in {WORD}."]
        assert found["reported"]["proved"]
        done = table.site.put(f"{table.path}/talk/reports/{sent}", {"outcome": "He is gone."}, table.director)
        assert told(done.json) == [None]
        rows = table.site.services.ledger.execute("SELECT number FROM talk_keys WHERE game = ?", (table.game,))
        assert rows == [(1,)]
        assert table.site.services.ledger.execute("SELECT * FROM talk_held") == []

    def test_who_reports_and_leaves_takes_the_report_along(self, table: Table, anne: Member, bruno: Member) -> None:
        report(anne, table, 2)
        assert bruno.delete("/me").status_code == anne.delete("/me").status_code == 204
        assert listed(table) == []
        assert table.site.services.ledger.execute("SELECT number FROM talk_keys WHERE game = ?", (table.game,)) == []

    def test_moderators_get_it_where_every_officer_plays(self, site: Site, anne: Member, bruno: Member) -> None:
        game = anne.post("/games", {"ruleset": "orders@1", "seats": 3, "talk": "free"}).json["game"]
        table = Table(site, game, "", [])
        for seat, person in enumerate((anne, bruno, register(site, "Clara"))):
            assert person.post(f"/games/{game}/seats", {"seat": seat}).status_code == 201
        assert anne.post(f"/games/{game}/start", Annals_Role="director").status_code == 201
        write(bruno, table, f"Meet me in {WORD}.", 0)
        sent = report(anne, table, 1, role="0").json
        assert sent["to"] == "moderators"
        refused(anne.get(f"/games/{game}/talk/reports", Annals_Role="director"), 403, "director_plays")
        judge = promoted(site, "Judge", "moderator")
        (found,) = judge.get("/reports").json["items"]
        assert told(found) == [f"Meet me in {WORD}."]
        done = judge.put(f"/reports/{sent['report']}", {"outcome": "Erased.", "erase": True})
        assert told(done.json) == [None]

    def test_moderators_get_it_where_every_officer_is_related(self, table: Table, anne: Member, bruno: Member) -> None:
        dora = register(table.site, "Dora")
        dora.post("/me/claims", {"token": table.director})
        dora.put("/me/relations", {"players": [bruno.doc["player"]]})
        assert report(anne, table, 2).json["to"] == "moderators"
        refused(dora.get(f"{table.path}/talk/reports"), 403, "director_related")

    def test_moderators_get_it_once_every_officer_is_gone(
        self, table: Table, anne: Member, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        id_ = report(anne, table, 2).json["report"]
        judge = promoted(table.site, "Judge", "moderator")
        assert judge.get("/reports").json["items"] == []
        monkeypatch.setattr(officer_rights, "ORPHAN_MS", 0)  # the owner, a guest, gives no sign any more
        (found,) = judge.get("/reports").json["items"]
        assert (found["id"], told(found)) == (id_, [f"Meet me in {WORD}."])
        assert listed(table) == []
        assert judge.put(f"/reports/{id_}", {"outcome": "Warned.", "erase": True}).status_code == 200

    def test_no_moderator_with_a_part_reads_it(self, table: Table, anne: Member, bruno: Member) -> None:
        judge, friend = (promoted(table.site, name, "moderator") for name in ("Judge", "Friend"))
        friend.put("/me/relations", {"players": [bruno.doc["player"]]})
        table.site.services.account_store.accounts.set_role(bruno.id, "moderator")
        body = SAID | {"entries": [2], "to": "moderators"}
        sent = anne.post(f"{table.path}/talk/reports", body).json["report"]
        assert [len(each.get("/reports").json["items"]) for each in (judge, friend, bruno)] == [1, 0, 0]
        for each in (friend, bruno):
            refused(each.put(f"/reports/{sent}", {"outcome": "Nothing."}), 403, "director_plays")

    def test_nobody_reports_what_is_not_in_the_own_mailbox(self, table: Table, anne: Member) -> None:
        refused(report(anne, table, 9), 409, "unknown_reference")
        refused(table.post("/talk/reports", SAID | {"entries": [1]}, table.tokens[2]), 403, "accounts_only")
        refused(report(register(table.site, "Dora"), table, 1), 403, "not_a_participant")
        first = anne.post(f"{table.path}/talk/reports", SAID | {"entries": [2]}, Idempotency_Key="a-report-1")
        again = anne.post(f"{table.path}/talk/reports", SAID | {"entries": [2]}, Idempotency_Key="a-report-1")
        assert first.json == again.json
        assert len(listed(table)) == 1


class TestSilence:
    def test_officers_stop_words_to_the_table_alone(self, table: Table, anne: Member, bruno: Member) -> None:
        path = f"{table.path}/seats/1/silence"
        ask = {"hours": 24, "reason": "Insults."}
        refused(anne.put(path, ask), 403, "directors_only")
        assert table.site.put(path, ask, table.director).status_code == 204
        said = bruno.post(f"{table.path}/talk/messages", {"to": [], "text": "Oh!"})
        assert "Insults." in str(refused(said, 409, "silenced"))
        write(bruno, table, "A letter.", 0)
        assert bruno.post(f"{table.path}/talk/messages", {"to": [], "text": "", "references": [{"version": 1}]}).json
        doc = anne.get(f"{table.path}/talk").json
        assert [(each["seat"], each["reason"]) for each in doc["silences"]] == [(1, "Insults.")]
        assert doc["silenced"] is None
        assert bruno.get(f"{table.path}/talk").json["silenced"]["letters"] is False
        assert bruno.get("/me/audit").json["items"][0]["what"] == "silenced"
        assert table.site.delete(path, table.director).status_code == 204
        write(bruno, table, "Sorry.")

    def test_silenced_player_shows_no_letter_to_the_table(self, table: Table, bruno: Member) -> None:
        ask = {"hours": 24, "reason": "Insults."}
        assert table.site.put(f"{table.path}/seats/1/silence", ask, table.director).status_code == 204
        own, path = write(bruno, table, "An insult.", 0)["entry"], f"{table.path}/talk/disclosures"
        refused(bruno.put(path, {"entries": [own], "to": "table"}), 409, "silenced")
        assert bruno.put(path, {"entries": [own], "to": "officers"}).status_code == 200
        assert bruno.put(path, {"entries": [1], "to": "table"}).status_code == 200

    def test_moderators_stop_all_words_of_an_account_until_a_time(
        self, table: Table, anne: Member, bruno: Member
    ) -> None:
        judge = promoted(table.site, "Judge", "moderator")
        path = f"/accounts/{bruno.id}/silence"
        assert judge.put(path, {"hours": 1, "reason": "Threats."}).status_code == 204
        for to in ([], [0]):
            refused(bruno.post(f"{table.path}/talk/messages", {"to": to, "text": "Oh!"}), 409, "silenced")
        doc = bruno.get(f"{table.path}/talk").json
        assert (doc["silenced"]["letters"], doc["silenced"]["reason"], doc["silences"]) == (True, "Threats.", [])
        refused(anne.put(path, {"hours": 1, "reason": "x"}), 403, "role_missing")
        root = promoted(table.site, "Root", "admin")
        refused(judge.put(f"/accounts/{root.id}/silence", {"hours": 1, "reason": "x"}), 403, "role_missing")
        assert judge.delete(path).status_code == 204
        write(bruno, table, "Sorry.")

    def test_officer_silences_players_at_seats_that_are_taken(self, table: Table) -> None:
        ask = {"hours": 0, "reason": "x"}
        refused(table.site.put(f"{table.path}/seats/1/silence", ask, table.director), 422, "invalid_body")
        refused(table.site.put(f"{table.path}/seats/9/silence", {**ask, "hours": 1}, table.director), 409, "seat_empty")
