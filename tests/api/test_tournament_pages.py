"""Pages of tournaments: a person enters, follows and organises by forms."""

from __future__ import annotations

import re

import pytest

from api.pages.tournaments import entrant_pages
from domain.tournaments.aggregate.result_commands import AddTable, Report
from domain.tournaments.draw import commit_nonce
from domain.tournaments.scoring import rank_points
from tests.api import messages
from tests.api.conftest import ROOT, Site
from tests.api.game_pages import Page, Person
from tests.api.members import register
from tests.api.oauth.browser import Browser
from tests.api.test_tournaments import BODY, NONCE, finish


def person(site: Site, name: str) -> Person:
    member = register(site, name)
    browser = Browser(site)
    assert browser.log_in(name).status_code == 303
    return Person(site, browser, member)


def act(who: Person, path: str, name: str, *more: tuple[str, str]) -> Page:
    """The page after an act by its form."""
    answer = who.send(Page(who.read(path).text).act(name), *more)
    assert answer.status_code == 303, answer.text
    return Page(who.follow(answer).text)


@pytest.fixture
def event(site: Site) -> tuple[Person, list[Person], str]:
    """A tournament with three entrants, entered by forms."""
    host = person(site, "Organiser")
    made = host.api.post("/tournaments", {**BODY, "stages": [{"format": "league", "rounds": 1}]})
    path = f"/tournaments/{made.json['tournament']}"
    people = [person(site, f"Anne {number}") for number in range(3)]
    for who in people:
        act(who, path, "enter")
    return host, people, path


def test_a_tournament_is_entered_organised_and_won_by_forms(
    site: Site, event: tuple[Person, list[Person], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    host, people, path = event
    act(host, path, "checking")
    for number, who in enumerate(people):
        act(who, path, "check_in", ("nonce_hash", commit_nonce(NONCE.format(number))))
    act(host, path, "drawing")
    for number, who in enumerate(people):
        act(who, path, "nonce", ("nonce", NONCE.format(number)))
    act(host, path, "draw")
    act(host, path, "draw", ("reason", "The first draw was a rehearsal."))
    page = act(host, path, "tables")
    assert "in play" in " ".join(page.texts)
    (pod,) = site.get(f"{path}/stages/1/rounds/1").json["pods"]
    assert f'href="/games/{pod["game"]}"' in host.read(path).text
    shown = [who.read(path).text for who in (people[0], host, people[1])]
    is_directed = [f'href="/games/{pod["game"]}/desk"' in text for text in shown]
    assert is_directed == [False, True, False], "kept rows of a round are those of the reader's office"
    assert f'href="{path}?stage=1&amp;round=1#round"' in people[0].read(f"/games/{pod['game']}").text
    finish(site, host.api, [who.api for who in people], pod)
    act(host, path, "reports")
    act(host, path, "rank")
    texts = act(host, path, "close", ("sure", "yes")).texts
    assert "finished" in texts
    standings = site.get(f"{path}/standings").json["standings"]
    shown = people[0].read(path + "?after=1").text
    rows = re.findall(r'<td>(\d)</td><th scope="row"><a [^>]*>(.*?)</a></th><td><details><summary>(.*?)<', shown)
    assert rows == [(str(row["place"]), f"Anne {row['entrant']}", f"{row['ticks'] / 5040:.3f}") for row in standings]
    first, *_, last = (row["entrant"] for row in standings)
    card = site.get(f"{path}/entrants/{first}?lang=fr").json
    assert (card["places"], card["ticks"], len(card["opponents"])) == ([1], standings[0]["ticks"], 2)
    shown = people[0].read(f"{path}/entrants/{first}", Accept_Language="fr").text
    assert {card["sentence"], *(part["sentence"] for part in card["parts"])} <= set(Page(shown).texts)
    assert f'href="/games/{pod["game"]}"' in shown
    assert "Pourquoi devant" in shown  # its neighbour in the standings
    met = site.get(f"{path}/meetings").json
    assert [{each["a"], each["b"]} for each in met["meetings"]] == [{0, 1}, {0, 2}, {1, 2}]
    assert people[0].read(f"{path}/meetings").text.count("<td>1.1</td>") == 6
    monkeypatch.setattr(entrant_pages, "MOST_IN_SQUARE", 2)
    assert people[0].read(f"{path}/meetings").text.count("<small>1.1</small>") == 6
    assert site.get(f"{path}/entrants/3").status_code == 404
    assert first in [each["entrant"] for each in site.get(f"{path}/explain?a={first}&b={last}").json["points"]]
    told = site.get(f"{path}/explain?a=0&b=1&lang=fr").json["sentences"]
    reason = people[0].read(path + "/places?a=0&b=1", Accept_Language="fr").text
    assert [line for line in told if line in Page(reason).texts] == told
    assert "Genoa Open" in Page(site.client.get("/tournaments").text).texts


def test_ranked_round_offers_next_step_and_no_second_ranking(site: Site) -> None:
    host, people = person(site, "Organiser"), [person(site, f"Anne {number}") for number in range(3)]
    body = {**BODY, "stages": [{"format": "swiss", "rounds": 2}], "title": "Genoa Open"}
    path = f"/tournaments/{host.api.post('/tournaments', body).json['tournament']}"
    for who in people:
        act(who, path, "enter")
    act(host, path, "checking")
    for who in people:
        act(who, path, "check_in")
    assert "nonces are shown until" not in act(host, path, "drawing").texts
    act(host, path, "draw")
    act(host, path, "tables")
    (pod,) = site.get(f"{path}/stages/1/rounds/1").json["pods"]
    for page in ("/", "/games"):
        assert "Genoa Open, 1.1" in Page(people[0].read(page, Accept="text/html").text).texts
    tournament, handle = path.rpartition("/")[2], site.services.tournaments.handle

    def report(game: str, *points: int) -> None:
        version = handle(tournament, Report(1, 1, 1, game, 9, "0" * 64, rank_points(points), points))
        site.services.notify_appended(version.position)

    report(pod["game"], 3, 2, 1)
    texts = " ".join(act(host, path, "rank").texts)
    assert "The standings are official. Next step: draw round 2." in texts
    assert "Draw round 2" in texts
    shown = f"{path}?stage=1&round=1"
    assert not [form for form in Page(host.read(shown).text).forms if ("act", "rank") in form.fields]
    again = {"act": "annulled", "table": "1.1", "how": "replay", "reason": "The wrong set-up."}
    effect = host.api.post(f"{path}/rulings?dry_run=1", again).headers["ETag"]
    assert host.api.post(f"{path}/rulings", again, If_Match=effect).status_code == 201
    handle(tournament, AddTable(1, 1, 1, "later", tuple(pod["entrants"])))
    report("later", 1, 2, 3)
    assert site.get(f"{path}/stages/1/rounds/1").json["outdated"]
    answer = host.send(Page(host.read(shown).text).act("rank"))
    assert (answer.status_code, site.get(f"{path}/stages/1/rounds/1").json["outdated"]) == (303, False)
    act(host, path, "draw")
    (number,) = re.findall(r'name="round"[^>]* value="(\d+)"', host.read(f"{path}/around").text)
    assert number == "2", "the round that is in play"


def test_who_is_alone_at_a_table_reads_how_it_can_end(site: Site, event: tuple[Person, list[Person], str]) -> None:
    host, people, path = event
    for name in ("checking", "drawing", "draw", "tables"):
        if name == "drawing":
            for who in people:
                act(who, path, "check_in")
        act(host, path, name)
    (pod,) = site.get(f"{path}/stages/1/rounds/1").json["pods"]
    table = f"/games/{pod['game']}"
    last = people[pod["entrants"][0]]
    assert "the only player left" not in last.read(table).text
    for seat, entrant in enumerate(pod["entrants"][1:], 1):
        assert people[entrant].api.delete(f"{table}/seats/{seat}").status_code == 200
    page = last.read(table).text
    assert "the only player left" in page
    assert f'href="{path}"' in page
    assert "has no result in the tournament" in page
    assert f'href="{table}/desk"' in host.read(path).text
    assert "/desk" not in last.read(path).text.partition('id="round"')[2]


def test_a_refused_act_says_why_and_changes_nothing(site: Site, event: tuple[Person, list[Person], str]) -> None:
    host, people, path = event
    form = Page(host.read(path).text).act("checking")
    assert [host.send(form).status_code for _ in range(2)] == [303, 303]
    late = Page(people[0].read(path).text).act("check_in")
    act(host, path, "drawing")
    answer = people[0].send(late)
    assert answer.status_code == 409
    assert "The tournament is in another phase" in answer.text
    stolen = Page(host.read(path).text).act("draw")
    stolen.fields = [("form", dict(late.fields)["form"]) if name == "form" else (name, v) for name, v in stolen.fields]
    assert people[0].send(stolen).status_code == 403
    assert people[1].send(Page(people[1].read(path).text).act("withdraw"), ("sure", "yes")).status_code == 303
    assert [one["withdrawn"] for one in site.get(path).json["people"]] == [False, True, False]


def test_a_stranger_reads_it_in_french_and_logs_in_where_it_was(
    site: Site, event: tuple[Person, list[Person], str]
) -> None:
    path = event[2]
    english = messages.Told()
    for name in ("tournament", "tournaments", "tournament_words", "tournament_terms", "tournament_places", "base"):
        messages.read_page(ROOT / f"api/pages/templates/{name}.html", english)
    for page in (path, "/tournaments", path + "/places"):
        answer = site.client.get(page, headers={"Accept-Language": "fr"})
        assert answer.status_code == 200
        assert not set(Page(answer.text).texts) & set(english.messages)
        assert not re.search(r"<script(?! src)|<style|\sstyle=|\son\w+=", answer.text)
    texts = Page(site.client.get(path).text)
    assert not [form for form in texts.forms if form.action.startswith(path)]
    answer = Browser(site).log_in("Anne 0", target=path)
    assert answer.headers["Location"] == path


@pytest.mark.parametrize("odd", ["1\r\nX: y", "0", "1e3", "999999999999"])
def test_a_place_that_is_none_is_no_form_of_ours(site: Site, event: tuple[Person, list[Person], str], odd: str) -> None:
    """It is refused before the act, and never stands in an address."""
    _, (who, *_), path = event
    answer = who.send(Page(who.read(path).text).act("withdraw"), ("sure", "yes"), ("stage", odd))
    assert answer.status_code == 403
    assert not any(entrant["withdrawn"] for entrant in site.get(path).json["people"])


def test_ratings_are_pages_in_both_languages(site: Site, event: tuple[Person, list[Person], str]) -> None:
    host, people, path = event
    for name in ("checking", "drawing"):
        act(host, path, name)
        for who in people if name == "checking" else ():
            act(who, path, "check_in")
    act(host, path, "draw")
    act(host, path, "tables")
    (pod,) = site.get(f"{path}/stages/1/rounds/1").json["pods"]
    finish(site, host.api, [who.api for who in people], pod)
    listed = Page(host.read("/ratings/orders").text)
    assert "Anne 1" in " ".join(listed.texts)
    player = people[1].api.doc["player"]
    told = host.read(f"/ratings/orders/players/{player}").text
    assert f'href="/games/{pod["game"]}"' in told
    french = site.client.get(f"/ratings/orders/players/{player}", headers={"Accept-Language": "fr"}).text
    assert "Moyenne avant et après" in french
    assert site.client.get("/ratings/chess").status_code == 404


def test_who_withdrew_comes_back_by_a_form(event: tuple[Person, list[Person], str]) -> None:
    host, people, path = event
    act(host, path, "checking")
    for who in people:
        act(who, path, "check_in")
    act(host, path, "drawing")
    act(host, path, "draw")
    act(people[0], path, "withdraw", ("sure", "yes"))
    assert "Return to this tournament" in people[0].read(path).text
    page = act(people[0], path, "enter")
    assert "You have entered." in " ".join(page.texts)


def test_seats_are_bid_for_by_forms(site: Site) -> None:
    host, people = person(site, "Organiser"), [person(site, f"Anne {number}") for number in range(3)]
    made = host.api.post("/tournaments", {**BODY, "stages": [{"rounds": 1, "seating": "bid"}]})
    path = f"/tournaments/{made.json['tournament']}"
    for who in people:
        act(who, path, "enter")
    act(host, path, "checking")
    for who in people:
        act(who, path, "check_in")
    for name in ("drawing", "draw", "bidding"):
        act(host, path, name)
    assert people[0].send(Page(people[0].read(path).text).act("file"), ("wish", "60 50")).status_code == 422
    for who, wish in zip(people, ("60, 30, 10", "50 40 10", "34 33 33"), strict=True):
        act(who, path, "file", ("wish", wish))
    assert "3 of 3 have filed" in " ".join(Page(host.read(path).text).texts)
    texts = " ".join(act(host, path, "tables").texts)
    assert all(f"handicap {points}" in texts for points in ("-0.039", "0.011", "0.028"))
