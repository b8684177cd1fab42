"""Rulings, appeals and answers by forms: the effect is shown before the act, and the record says what was shown."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

from api.pages.tournaments.tournament_opening import load_examples
from tests.api import messages
from tests.api.conftest import ROOT, Site, make_site
from tests.api.game_pages import Page, Person
from tests.api.played import CATALOGUE
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import BODY, appoint, finish


def confirmed(who: Person, path: str, name: str, *fields: tuple[str, str], **chosen: str) -> tuple[Page, Page]:
    """The preview of an act on the page of rulings, and the page after it."""
    shown = Page(who.read(f"{path}/rulings").text)
    form = next(
        form
        for form in shown.forms
        if dict(form.fields).get("act") == name and chosen.items() <= dict(form.fields).items()
    )
    preview = who.send(form, *fields)
    assert preview.status_code == 200, preview.text
    page = Page(preview.text)
    answer = who.send(next(form for form in page.forms if dict(form.fields).get("sure") == "yes"))
    assert answer.status_code == 303, answer.text
    return page, Page(who.follow(answer).text)


def test_officer_rules_an_entrant_appeals_and_another_answers(site: Site) -> None:
    host, other = person(site, "Organiser"), person(site, "Arbiter")
    people = [person(site, f"Anne {number}") for number in range(3)]
    path = f"/tournaments/{host.api.post('/tournaments', {**BODY, 'stages': [{'rounds': 1}]}).json['tournament']}"
    appoint(host.api, path, other.api, "arbiter")
    for who in people:
        act(who, path, "enter")
    act(host, path, "checking")
    for who in people:
        act(who, path, "check_in")
    for name in ("drawing", "draw", "tables"):
        act(host, path, name)
    (pod,) = site.get(f"{path}/stages/1/rounds/1").json["pods"]
    finish(site, host.api, [who.api for who in people], pod)
    act(host, path, "reports")
    act(host, path, "rank")
    before = [row["entrant"] for row in site.get(f"{path}/standings").json["standings"]]
    reason = ("reason", "The wrong set-up.")
    fields = (("entrant", str(before[0])), ("ticks", "9999"), reason)
    preview, page = confirmed(host, path, "rule", *fields, ruling_act="penalised")
    told = " ".join(preview.texts)
    assert f"Anne {before[0]}: from place 1 to 3" in told
    assert "The wrong set-up." in told
    number = site.get(f"{path}/rulings").json["items"][-1]["ruling"]
    assert f"Ruling {number}: Penalty Anne {before[0]}, 1.984 points less" in " ".join(" ".join(page.texts).split())
    assert [row["entrant"] for row in site.get(f"{path}/standings").json["standings"]][-1] == before[0]
    confirmed(people[before[0]], path, "appeal", ("reason", "I was there."))
    assert "Appeal of" in people[1].read(f"{path}/rulings").text
    _, page = confirmed(other, path, "answer", ("outcome", "overturned"), ("reason", "Rule 4.2."))
    assert "Answer: the ruling is to be taken back." in " ".join(page.texts)
    _, page = confirmed(host, path, "rule", ("reason", "After the appeal."), ruling_act="restored")
    assert "taken back" in page.texts
    assert [row["entrant"] for row in site.get(f"{path}/standings").json["standings"]] == before
    form = next(
        form for form in Page(host.read(f"{path}/rulings").text).forms if ("ruling_act", "placed") in form.fields
    )
    refused = host.send(form, ("table", "7.7"), ("places", "1 2 x"), reason)
    assert (refused.status_code, "There is no table of this number." in refused.text) == (409, True)
    kept = next(form for form in Page(refused.text).forms if ("ruling_act", "placed") in form.fields)
    assert {("table", "7.7"), ("places", "1 2 x"), reason} <= set(kept.fields)
    shown = host.send(kept, ("table", "1.1"), ("places", "3, 1, 2"))
    seats = [f"Anne {entrant} at place {place}" for entrant, place in zip(pod["entrants"], (3, 1, 2), strict=True)]
    assert [each for each in seats if each in " ".join(Page(shown.text).texts)] == seats
    answer = people[0].api.post(f"{path}/phases", {"phase": "checking"}, Accept_Language="fr")
    assert (answer.status_code, answer.json["title"]) == (403, "Seul l'organisateur ou un adjoint peut faire cela")
    english = messages.Told()
    for name in ("tournament_rulings", "tournament_ruling_words", "base"):
        messages.read_page(ROOT / f"api/pages/templates/{name}.html", english)
    french = Page(site.client.get(f"{path}/rulings", headers={"Accept-Language": "fr"}).text)
    assert not set(french.texts) & set(english.messages)
    assert not [form for form in french.forms if form.action.startswith(path)]


def test_a_tournament_is_opened_from_an_example_of_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tournaments.md").read_text("utf-8")
    shown = page.partition("## Five events")[2] + page.partition("## A ladder")[2].partition("## Verify")[0]
    assert [json.loads(body) for body in re.findall(r"```json\n(.*?)```", shown, re.DOTALL)] == load_examples()
    with closing(make_site(tmp_path, CATALOGUE)) as site:
        who = person(site, "Organiser")
        (form,) = (each for each in Page(who.read("/tournaments/new").text).forms if each.action == "/tournaments/new")
        preview = Page(who.send(form, ("example", "5"), ("title", "All winter")).text)
        told = " ".join(preview.texts)
        assert {"All winter", "7 Empires", "3 to 4, if possible 4", "2 days for the longest decision"} <= set(
            preview.texts
        )
        assert "ladder, 2 tables at once for each entrant, a wait of 1 day at most" in told
        assert "Going back never" in told
        assert site.get("/tournaments").json["items"] == []
        (form,) = (each for each in preview.forms if ("sure", "yes") in each.fields)
        answers = [who.send(form) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [303, 303]
        (made,) = site.get("/tournaments").json["items"]
        assert answers[1].headers["Location"].endswith(made["tournament"])
        assert (made["title"], made["format"]) == ("All winter", "ladder")
        assert who.send(form, ("example", "99")).status_code == 403
        assert "2 days for the longest decision" in Page(who.follow(answers[0]).text).texts
        (form,) = (each for each in Page(who.read("/tournaments/new").text).forms if each.action == "/tournaments/new")
        chosen = " ".join(Page(who.send(form, ("example", "0")).text).texts)
        assert "Powers by seat, if fixed Britain, France, Spain, Russia" in chosen
        assert all(each["table"]["pace"] for each in load_examples())
