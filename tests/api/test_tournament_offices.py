"""The chat of a tournament, followers by webhook, and a tournament whose organiser is gone."""

from __future__ import annotations

import pytest

from tests.api.conftest import Site, refused
from tests.api.members import Member, promoted, register
from tests.api.test_tournaments import BODY, appoint, done, drawn

WISH = {"url": "https://hooks.example.org/x", "language": "fr"}


@pytest.fixture
def host(site: Site) -> Member:
    return register(site, "Organiser")


@pytest.fixture
def path(host: Member) -> str:
    return f"/tournaments/{host.post('/tournaments', BODY).json['tournament']}"


def test_officers_name_see_and_remove_the_chat(site: Site, host: Member, path: str) -> None:
    judge, anne = register(site, "Judge"), register(site)
    appoint(host, path, judge, "arbiter")
    for who in (judge, anne):
        refused(who.put(f"{path}/chat", WISH), 403, "directors_only")
    refused(host.get(f"{path}/chat"), 404, "not_found")
    made = host.put(f"{path}/chat", WISH)
    assert made.json == judge.get(f"{path}/chat").json
    assert (made.json["host"], made.json["by"]) == ("hooks.example.org", host.doc["player"])
    assert WISH["url"] not in host.get("/me/data").text
    refused(anne.get(f"{path}/chat"), 403, "directors_only")
    refused(anne.delete(f"{path}/chat"), 403, "directors_only")
    assert judge.delete(f"{path}/chat").status_code == 204
    host.post(f"{path}/close", {"outcome": "cancelled"})
    refused(host.put(f"{path}/chat", WISH), 422, "webhook_refused")


def test_anybody_follows_a_tournament_that_exists(site: Site, path: str) -> None:
    anne, tournament = register(site), path.rpartition("/")[2]
    wish = {"url": "https://receiver.example/x", "about": "event"}
    refused(anne.post("/me/webhooks", wish), 422, "webhook_refused")
    refused(anne.post("/me/webhooks", {**wish, "about": "mine", "tournament": tournament}), 422, "webhook_refused")
    none = f"{tournament[:-4]}0000"
    assert anne.post("/me/webhooks", {**wish, "tournament": none}).status_code == 404
    made = anne.post("/me/webhooks", {**wish, "tournament": tournament}).json
    assert (made["tournament"], made["game"]) == (tournament, "")
    assert "event.drawn" in made["events"]


def test_deputies_and_moderators_go_on_without_the_organiser(site: Site, host: Member, path: str) -> None:
    deputy, moderator = register(site, "Deputy"), promoted(site, "Maud", "moderator")
    appoint(host, path, deputy, "deputy")
    for who in (deputy, moderator):
        refused(who.post(f"{path}/close", {"outcome": "cancelled"}), 403, "directors_only")
    assert host.delete("/me").status_code == 204
    refused(register(site).post(f"{path}/close", {"outcome": "cancelled"}), 403, "directors_only")
    refused(moderator.put(f"{path}/chat", WISH), 403, "directors_only")
    anne = register(site, "Anne 2")
    appoint(moderator, path, anne, "deputy")
    assert deputy.post(f"{path}/phases", {"phase": "checking"}).status_code == 201
    assert anne.post(f"{path}/close", {"outcome": "cancelled"}).status_code == 201
    assert site.get(path).json["status"] == "cancelled"


def test_deputy_without_place_adjourns_by_name_for_organiser(site: Site) -> None:
    organiser, members, path = drawn(site, 6, table={"undo": "none", "officers": "neutral"})
    deputy, round_ = register(site, "Deputy"), f"{path}/stages/1/rounds/1"
    for who in (deputy, members[0]):
        appoint(organiser, path, who, "deputy")
    done(organiser.post(f"{round_}/tables"))
    pods = done(site.get(round_))["pods"]
    assert organiser.delete("/me").status_code == 204
    refused(members[0].post(f"{round_}/adjournments", {"reason": "It is late."}), 403, "conflict_of_interest")
    made = done(deputy.post(f"{round_}/adjournments", {"reason": "It is late."}))
    assert (made["pods"], made["refused"]) == ([1, 2], [])
    officer = site.services.ledger.read(pods[0]["game"])[-1].public["officer"]
    assert (officer["player"], officer["office"]) == (deputy.doc["player"], "owner")
    assert officer["reason"]


def test_tables_that_are_refused_withdraw_nobody(site: Site) -> None:
    organiser, members, path = drawn(site, 3, stages=[{"format": "swiss", "rounds": 2, "seating": "bid"}])
    judged = promoted(site, "Maud", "moderator").put(
        f"/accounts/{members[0].id}/standing", {"state": "suspended", "days": 1}
    )
    assert judged.status_code == 200
    version = done(site.get(path))["version"]
    refused(organiser.post(f"{path}/stages/1/rounds/1/tables"), 409, "bids_open")
    assert done(site.get(path))["version"] == version
