"""Whoever goes back from a preview finds the form as it was written, and nothing has happened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.api.conftest import ROOT, Site, make_site
from tests.api.game_pages import Page, PageForm, Person
from tests.api.played import CATALOGUE
from tests.api.test_staff import PACE
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import BODY, appoint, finish

TEMPLATES = ROOT / "api/pages/templates"
OF_VISIT = {"form", "key", "sure", "effect"}


class Filled(HTMLParser):
    """The forms of a page as a person sees them: each field with the value that stands in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[dict[str, str]] = []
        self._select, self._is_told = "", False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append({})
        elif tag == "select":
            self._select = found["name"]
        elif tag == "option" and ("selected" in found or self._select not in self.forms[-1]):
            self.forms[-1][self._select] = found.get("value", "")
            self._is_told = "value" not in found
        elif tag == "input" and "name" in found and self._is_sent(found):
            self.forms[-1][found["name"]] = found.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._is_told:
            self.forms[-1][self._select], self._is_told = data, False

    @staticmethod
    def _is_sent(found: dict[str, str]) -> bool:
        return found.get("type") not in ("checkbox", "radio") or "checked" in found


def go_back(who: Person, form: PageForm, fields: dict[str, str]) -> None:
    """The form has its fields after the preview, after the way back, and in no address."""
    shown = who.send(form, *fields.items())
    assert shown.status_code == 200, shown.text
    (preview,) = (each for each in Page(shown.text).forms if ("sure", "yes") in each.fields)
    assert ("back", "yes", "quiet") in preview.buttons
    links = re.findall(r'href="([^"]*)"', shown.text)
    assert not [each for each in links if urlsplit(each).query and not each.startswith("/pages/")]
    again = who.send(preview, ("back", "yes"))
    assert again.status_code == 200, again.text
    wanted = {name: value for name, value in {**dict(form.fields), **fields}.items() if name not in OF_VISIT}
    assert [each for each in Filled(again.text).forms if wanted.items() <= each.items()], wanted


def test_each_preview_has_a_way_back_that_keeps_the_form() -> None:
    found = {path.stem: path.read_text("utf-8") for path in TEMPLATES.glob("*.html")}
    previews = {name for name, text in found.items() if '<input type="hidden" name="sure"' in text}
    assert previews == {"direct_preview", "tournament_ruling_preview", "new_tournament", "tournament_list"}
    for name in previews:
        assert '<button name="back" value="yes"' in found[name], name
        assert "for name, value in fields" in found[name], name


# --- the desk of a table ---------------------------------------------------------------------------------------

DESK = {
    "start": {"reason": "All are here."},
    "extend": {"seconds": "86400", "until": "2031-01-01T12:00", "reason": "A storm."},
    "pause": {"until": "2031-01-01T12:00", "moves": "yes", "reason": "A holiday."},
    "hold": {"seat": "1", "seconds": "21600", "until": "", "reason": "A journey."},
    "remove": {"seat": "1", "reason": "Long gone."},
    "bot": {"seat": "1", "reason": "To go on."},
    "appoint": {"name": "Anne", "role": "deputy", "reason": "I travel."},
    "close": {"ending": "adjourned", "reason": "It is late."},
    "withdraw": {"reason": "It is early."},
    "resume": {"reason": "All are back."},
}


def test_the_desk_of_a_table_keeps_what_was_written(site: Site) -> None:
    zoe = person(site, "Zoe")
    game = zoe.api.post("/games", {"ruleset": "orders@1", "seats": 2, "pace": PACE}).json["game"]
    path, table, seen = f"/games/{game}/desk", f"/games/{game}", set()

    def walk(**more: dict[str, str]) -> None:
        version = zoe.api.get(table).json["version"]
        for form in Page(zoe.read(path).text).forms:
            if form.action == path:
                name = dict(form.fields)["act"]
                seen.add(name)
                go_back(zoe, form, {**DESK[name], **more.get(name, {})})
        assert zoe.api.get(table).json["version"] == version

    token = [site.post(f"{table}/seats", {"seat": n, "name": f"P{n}"}).json["token"] for n in range(2)][1]
    walk(close={"ending": "void"})
    assert zoe.api.post(f"{table}/start").status_code == 201
    walk()
    close = Page(zoe.read(path).text).act("close")
    more = {"forfeit.1": "yes", "place.0": "2", "place.1": "1"}
    go_back(zoe, close, {"ending": "forfeited", "reason": "Nobody came.", **more})
    refused = zoe.send(
        Page(zoe.send(close, ("ending", "forfeited"), ("reason", "None.")).text).act("close", sure="yes")
    )
    assert (refused.status_code, ("reason", "None.") in Page(refused.text).act("close").fields) == (422, True)
    assert site.delete(f"{table}/seats/1", token).status_code == 200
    walk(hold={"seat": "0"}, remove={"seat": "0"})
    assert zoe.api.post(f"{table}/pauses").status_code == 201
    walk(hold={"seat": "0"}, remove={"seat": "0"})
    assert zoe.api.post(f"{table}/resumptions").status_code == 201
    assert zoe.api.post(f"{table}/close", {"reason": "annulled"}).status_code == 201
    walk()
    assert seen == DESK.keys()


# --- tournaments -----------------------------------------------------------------------------------------------

RULINGS = {
    "placed": {"table": "1.1", "places": "3 2 1"},
    "annulled": {"table": "1.1", "how": "average"},
    "penalised": {"entrant": "1", "ticks": "42"},
    "excluded": {"entrant": "2", "results": "last"},
    "restored": {},
}


def test_rulings_appeals_and_answers_keep_what_was_written(site: Site) -> None:
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
    body = {"act": "penalised", "entrant": 0, "ticks": 1, "reason": "Late."}
    effect = host.api.post(f"{path}/rulings?dry_run=1", body).headers["ETag"]
    ruling = host.api.post(f"{path}/rulings", body, If_Match=effect).json["ruling"]
    version, seen = site.get(path).json["version"], set()
    for form in Page(host.read(f"{path}/rulings").text).forms:
        name = dict(form.fields).get("ruling_act", "")
        if form.action == f"{path}/rulings":
            seen.add(name)
            go_back(host, form, {**RULINGS[name], "reason": "The wrong set-up."})
    assert seen == RULINGS.keys()
    go_back(people[0], Page(people[0].read(f"{path}/rulings").text).act("appeal"), {"reason": "I was there."})
    assert site.get(path).json["version"] == version
    assert people[0].api.post(f"{path}/appeals", {"ruling": ruling, "reason": "No."}).status_code == 201
    fields = {"outcome": "overturned", "reason": "Rule 4.2."}
    go_back(other, Page(other.read(f"{path}/rulings").text).act("answer"), fields)


@pytest.fixture
def games_site(tmp_path: Path) -> Iterator[Site]:
    with closing(make_site(tmp_path, CATALOGUE)) as site:
        yield site


def test_the_opening_of_a_tournament_keeps_what_was_written(games_site: Site) -> None:
    who = person(games_site, "Organiser")
    form = Page(who.read("/tournaments/new").text).form("/tournaments/new")
    go_back(who, form, {"example": "3", "title": "All winter", "unlisted": "yes"})
    assert games_site.get("/tournaments").json["items"] == []


def test_a_refused_form_of_a_tournament_keeps_what_was_written(site: Site) -> None:
    host = person(site, "Organiser")
    path = f"/tournaments/{host.api.post('/tournaments', BODY).json['tournament']}"
    fields = {"rule": "FREQ=NEVER", "start": "2031-01-05T18:00", "zone": "Europe/Paris"}
    refused = host.send(Page(host.read(path).text).act("schedule"), *fields.items())
    assert refused.status_code == 422
    assert [each for each in Filled(refused.text).forms if fields.items() <= each.items()]
