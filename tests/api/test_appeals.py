"""Appeals over HTTP: who appeals and who answers, and where it is seen."""

from __future__ import annotations

import pytest

from domain.service.player_texts import PlayerTexts
from tests.api.conftest import Doc, Reply, Site, Table, refused
from tests.api.members import Member, register, timed
from tests.api.test_staff import appoint, entry, opened

DAY = 86_400_000


@pytest.fixture
def owner(site: Site) -> Member:
    timed(site)
    return register(site, "Olga")


@pytest.fixture
def table(owner: Member) -> Table:
    return opened(owner)


def hold(table: Table, token: str) -> int:
    reply = table.site.put(f"{table.path}/seats/1/hold", {"seconds": 60}, token)
    assert reply.status_code == 200, reply.text
    return int(reply.json["version"])


def appeal(table: Table, version: int, who: int, reason: str = "I was not asked") -> Reply:
    return table.post("/appeals", {"version": version, "reason": reason}, table.tokens[who])


def answer(table: Table, version: int, token: str, outcome: str = "upheld") -> Reply:
    return table.post(f"/appeals/{version}/answer", {"outcome": outcome, "reason": "Rule 4"}, token)


def test_another_officer_answers_and_everybody_reads_it(owner: Member, table: Table) -> None:
    arbiter = appoint(owner, table, "Ada", "arbiter")
    version = hold(table, arbiter.token)
    refused(table.post("/appeals", {"version": version, "reason": "x"}, arbiter.token), 403, "seats_only")
    made = appeal(table, version, 0)
    assert made.status_code == 201, made.text
    refused(appeal(table, version, 0), 409, "already_appealed")
    shown = {"version": version, "appeal": made.json["version"], "seat": 0}
    for doc in (table.get().json, table.get("/board").json, owner.get("/me/desk?needs=appealed").json["items"][0]):
        assert doc["appeals"][0].items() >= shown.items()
    assert owner.get("/me/desk").json["counts"]["appealed"] == 1
    lines = entry(table)
    assert lines["text"] == [f"Guest 0 appeals against the decision of version {version}: “I was not asked”."]
    assert (lines["reason"], "reason" in lines["body"]) == ("I was not asked", False)
    french = f"Guest 0 fait appel de la décision de la version {version}\u00a0: «\u00a0I was not asked\u00a0»."
    assert entry(table, "fr")["text"] == [french]
    refused(answer(table, version, table.tokens[0]), 403, "directors_only")
    refused(answer(table, version, arbiter.token), 409, "own_act")
    assert answer(table, version, owner.token, "overturned").status_code == 201
    (item,) = table.get("/appeals").json["items"]
    assert (item["status"], item["answered_by"], item["reason"]) == ("overturned", "officer", "I was not asked")
    assert (item["answer"]["officer"]["name"], item["answer"]["officer"]["reason"]) == ("Olga", "Rule 4")
    first = f"The decision of version {version} is overturned: the appeal against it is allowed."
    assert entry(table)["text"][0] == first
    assert entry(table, "fr")["text"][0].startswith(f"La décision de la version {version} est infirmée\u00a0: l'appel")
    assert table.get().json["appeals"] == []
    refused(answer(table, version, owner.token), 409, "appeal_answered")


def test_the_desk_shows_what_has_lapsed(owner: Member, table: Table) -> None:
    version = hold(table, owner.token)
    appeal(table, version, 0)
    (item,) = table.get("/appeals").json["items"]
    assert (item["status"], item["answered_by"]) == ("open", "owner")
    object.__setattr__(table.site.services, "clock", lambda: item["answer_by"])
    table.site.remake()
    assert table.get("/appeals").json["items"][0]["status"] == "lapsed"
    (row,) = owner.get("/me/desk").json["items"]
    assert ("appealed" in row["needs"], row["appeals"][0]["status"]) == (False, "lapsed")


def test_the_owner_alone_answers_and_the_page_says_so(owner: Member, table: Table) -> None:
    version = hold(table, owner.token)
    appeal(table, version, 0)
    assert answer(table, version, owner.token).status_code == 201
    assert table.get("/appeals").json["items"][0]["answered_by"] == "owner"
    assert entry(table)["text"][0].endswith("since the table has no other officer.")


def test_an_officer_with_a_seat_answers_at_no_table(owner: Member) -> None:
    table = opened(owner, officers="any")
    arbiter = appoint(owner, table, "Ada", "arbiter")
    version = hold(table, owner.token)
    table.site.delete(f"{table.path}/seats/2", table.tokens[2])
    assert table.post("/seats", {"seat": 2}, arbiter.token).status_code == 201
    appeal(table, version, 0)
    reply = table.site.post(
        f"{table.path}/appeals/{version}/answer",
        {"outcome": "upheld", "reason": "x"},
        arbiter.token,
        Annals_Role="director",
    )
    refused(reply, 409, "director_has_stake")


def test_a_look_and_a_secret_move_are_contested_alike(owner: Member, table: Table) -> None:
    looked = table.post("/looks", {}, owner.token).json["version"]
    assert appeal(table, looked, 0).status_code == 201


def test_tables_choose_their_times(owner: Member, site: Site) -> None:
    pace = {"seconds": {"turn": 2 * DAY // 1000}}
    table = opened(owner)
    assert table.get().json["appeal_times"] == {"appeal": 3600, "answer": 3600}
    for terms, times in (
        ({"pace": pace}, {"appeal": 172_800, "answer": 172_800}),
        ({"appeals": {"appeal": 60, "answer": 90}}, {"appeal": 60, "answer": 90}),
        ({"appeals": None}, None),
    ):
        table = opened(owner, **terms)
        assert table.get().json["appeal_times"] == times
    refused(appeal(table, hold(table, owner.token), 0), 409, "appeals_off")
    for wrong in ({"appeal": 60}, {"appeal": 0, "answer": 60}, 5):
        body: Doc = {"ruleset": "orders@1", "seats": 3, "appeals": wrong}
        refused(site.post("/games", body), 422, "invalid_body")
    refused(table.post("/appeals", {"version": 3, "reason": ""}, table.tokens[0]), 422, "invalid_body")


def test_erasure_takes_the_reason_and_leaves_the_appeal(owner: Member, table: Table) -> None:
    texts: PlayerTexts = table.site.services.seat_tokens.texts
    version = hold(table, owner.token)
    appeal(table, version, 0)
    texts.erase_now(table.get().json["seats"][0]["player"])
    assert table.get("/appeals").json["items"][0]["reason"] is None
    assert entry(table)["text"][0].endswith(f"against the decision of version {version}.")
