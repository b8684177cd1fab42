"""Absence: somebody goes on holiday, and one request says so at all tables, each within its own terms."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import Doc, Site, refused
from tests.api.game_pages import Page
from tests.api.members import Member, promoted, register
from tests.api.test_tournament_pages import person

DAY = 86_400_000
PACE: Doc = {"seconds": {"turn": 36_000}, "vacation": 9}


def seat(site: Site, member: Member, **terms: Any) -> str:
    """A running table at which the person has seat 0, and others the rest."""
    owner = register(site, f"Owner {len(site.services.ledger.log(0, 1000))}")
    game = str(owner.post("/games", {"ruleset": "orders@1", "seats": 3, **terms}).json["game"])
    assert member.post(f"/games/{game}/seats", {"seat": 0}).status_code == 201
    for number in (1, 2):
        assert site.post(f"/games/{game}/seats", {"seat": number, "name": f"Guest {number}"}).status_code == 201
    assert owner.post(f"/games/{game}/start").status_code == 201
    return game


def take(member: Member, until: int, **more: Any) -> dict[str, Doc]:
    answer = member.post("/me/vacations", {"until": until, **more})
    assert answer.status_code == 200, answer.text
    return {item["game"]: item for item in answer.json["items"]}


def test_every_table_gives_what_its_terms_have_and_says_so(site: Site) -> None:
    anne = register(site, "Anne")
    whole, short = seat(site, anne, pace=PACE), seat(site, anne, pace={**PACE, "vacation": 2})
    none, untimed = seat(site, anne, pace={"seconds": {"turn": 36_000}}), seat(site, anne)
    bystander = seat(site, register(site, "Bob"), pace=PACE)
    until = site.services.clock() + 5 * DAY
    items = take(anne, until)
    assert items.keys() == {whole, short, none, untimed}
    assert {game: (items[game]["outcome"], items[game]["days"]) for game in items} == {
        whole: ("taken", 5),
        short: ("partly", 2),
        none: ("refused", 0),
        untimed: ("refused", 0),
    }
    assert items[whole]["back"] - DAY < until <= items[whole]["back"]
    assert items[none]["refusal"]["code"] == "no_vacation_left"
    assert items[none]["refusal"]["detail"]
    accounts = {game: site.get(f"/games/{game}?wait=0").json["accounts"] for game in (whole, bystander)}
    assert [accounts[whole][0]["vacation"], accounts[bystander][0]["vacation"]] == [4, 9]
    again = take(anne, until)
    assert (again[whole]["outcome"], again[whole]["days"], again[short]["days"]) == ("already", 0, 0)


def test_the_refusals_are_in_the_language_of_the_caller(site: Site) -> None:
    anne = register(site, "Anne")
    seat(site, anne)
    until, told = site.services.clock() + DAY, set()
    for lang in ("en", "fr"):
        answer = anne.post("/me/vacations", {"until": until}, Accept_Language=lang)
        told.add(answer.json["items"][0]["refusal"]["detail"])
    assert len(told) == 2


def test_many_tables_come_in_pages(site: Site, monkeypatch: Any) -> None:
    monkeypatch.setattr("api.routes.accounts.vacations.MOST_TABLES", 2)
    anne = register(site, "Anne")
    games = {seat(site, anne, pace=PACE) for _ in range(3)}
    until, after, served = site.services.clock() + DAY, "", set()
    while after is not None:
        answer = anne.post("/me/vacations", {"until": until, "after": after}).json
        served |= {item["game"] for item in answer["items"]}
        after = answer["next"]
    assert served == games


def test_times_and_people_that_cannot_be(site: Site) -> None:
    anne, until = register(site, "Anne"), site.services.clock() + DAY
    refused(anne.post("/me/vacations", {"until": until, "days": 2}), 422, "unknown_field")
    refused(anne.post("/me/vacations", {}), 422, "invalid_body")
    refused(anne.post("/me/vacations", {"until": until, "after": "x"}), 422, "invalid_body")
    refused(site.post("/me/vacations", {"until": until}, anne.personal("read")), 403, "scope_missing")
    game = seat(site, anne, pace=PACE)
    assert take(anne, 1)[game]["refusal"]["code"] == "time_passed"
    judge = promoted(site, "Judge", "moderator")
    judge.put(f"/accounts/{anne.id}/standing", {"state": "banned"})
    refused(anne.post("/me/vacations", {"until": until}), 403, "account_banned")


def test_a_form_does_the_same(site: Site) -> None:
    who = person(site, "Anne")
    game = seat(site, who.api, pace=PACE)
    assert 'href="/games/absence"' in who.read("/games").text
    form = Page(who.read("/games/absence").text).form("/games/absence")
    page = who.send(form, ("until", "2070-01-01T12:00"))
    assert page.status_code == 200
    assert f"/games/{game}" in page.text
    assert "All 9 days that were left: you are away until" in " ".join(page.text.split())
