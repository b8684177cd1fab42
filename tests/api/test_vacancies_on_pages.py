"""Seats of running games that people take over on pages, or take again."""

from __future__ import annotations

from tests.api.conftest import Site, Table
from tests.api.game_pages import Page, Person
from tests.api.members import register
from tests.api.oauth.browser import Browser
from tests.api.test_absent_players import PACE, miss


def person(site: Site, name: str) -> Person:
    member, browser = register(site, name), Browser(site)
    assert browser.log_in(name).status_code == 303
    return Person(site, browser, member)


def start(site: Site, *people: Person) -> Table:
    """A running game in which each person has a seat, and a guest the last one."""
    made = site.post("/games", {"ruleset": "orders@1", "seats": 3, "pace": PACE, "misses": {"row": 1}, "hold": 60}).json
    table = Table(site, made["game"], made["token"], [])
    for who in people:
        assert who.api.post(f"{table.path}/seats", {}).status_code == 201
    table.tokens = [*[""] * len(people), table.post("/seats", {}).json["token"]]
    assert table.post("/start", {}, table.director).status_code in (200, 201, 202)
    return table


def test_a_stranger_sees_what_a_free_seat_is_and_takes_it(site: Site) -> None:
    anne, bea, zoe = (person(site, name) for name in ("Anne", "Bea", "Zoe"))
    table = start(site, anne, bea)
    path = f"/games/{table.game}"
    assert "A seat to take over" not in zoe.read(path).text
    assert site.delete(f"{table.path}/seats/2", table.tokens[2]).status_code == 200
    assert "Games with a free seat" in zoe.read("/games").text
    for language, told in {"en": "A seat to take over", "fr": "Une place à reprendre"}.items():
        assert told in zoe.read(path, Accept_Language=language).text
    assert "A seat to take over" not in anne.read(path).text, "who has a seat needs none"
    assert f"/login?next=/games/{table.game}" in Browser(site).get(path).text.replace("%2F", "/")
    page = zoe.follow(zoe.send(Page(zoe.read(path).text).act("join", seat="2"))).text
    assert "A seat to take over" not in page
    assert "What only you see" in page
    assert "Games with a free seat" not in anne.read("/games").text


def test_who_has_conceded_reads_that_no_seat_is_free_for_them(site: Site) -> None:
    anne, bea = person(site, "Anne"), person(site, "Bea")
    table = start(site, anne, bea)
    assert anne.api.post(f"{table.path}/seats/0/concession").status_code == 201
    page = anne.read(f"/games/{table.game}").text
    assert "You have conceded this game" in page
    assert 'value="join"' not in page
    assert anne.api.get(table.path).json["conceded"] is True
    assert all("conceded" not in answer.json for answer in (bea.api.get(table.path), site.get(table.path)))


def test_who_missed_too_many_deadlines_takes_the_own_seat_again(site: Site) -> None:
    anne, bea = person(site, "Anne"), person(site, "Bea")
    table = start(site, anne, bea)
    miss(table, 0)
    page = anne.read(f"/games/{table.game}").text
    assert "Your seat is vacant" in page
    assert anne.send(Page(page).act("join", seat="0")).status_code == 303
    assert "Your seat is vacant" not in anne.read(f"/games/{table.game}").text
    assert table.get().json["seats"][0]["absent"] is False
