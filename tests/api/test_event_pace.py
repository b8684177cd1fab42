"""The form that opens a tournament offers a pace, and says in words what it means before anything is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from api.pages.lobby.pace_form import TIMES
from api.pages.tournaments.tournament_opening import load_examples
from tests.api.conftest import Site, make_site
from tests.api.game_pages import Page, PageForm, Person
from tests.api.played import CATALOGUE
from tests.api.test_previews import Filled, go_back
from tests.api.test_tournament_pages import person

PATH = "/tournaments/new"
DAILY = {"hour": "20:30", "zone": "Europe/Paris", "off.6": "yes", "off.7": "yes"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(make_site(tmp_path, CATALOGUE)) as site:
        yield site


@pytest.fixture
def host(site: Site) -> Person:
    return person(site, "Organiser")


def chosen(host: Person, example: int = 1) -> Page:
    """The terms of an example."""
    return Page(host.send(Page(host.read(PATH).text).form(PATH), ("example", str(example))).text)


def pace_form(page: Page) -> PageForm:
    return next(form for form in page.forms if ("off.1", "yes") in form.checks)


def confirm_form(page: Page) -> PageForm | None:
    return next((form for form in page.forms if ("sure", "yes") in form.fields), None)


def with_pace(host: Person, *fields: tuple[str, str], example: int = 1, **headers: str) -> Page:
    """The terms with another pace."""
    form = pace_form(chosen(host, example))
    answer = host.browser.client.post(
        PATH, data=form.data(*fields), headers={k.replace("_", "-"): v for k, v in headers.items()}
    )
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def opened(host: Person, page: Page) -> tuple[Any, Page]:
    """The pace in the record, and the page of the tournament."""
    confirm = confirm_form(page)
    assert confirm is not None
    answer = host.send(confirm)
    assert answer.status_code == 303, answer.text
    path = answer.headers["Location"]
    return host.site.get(path).json["table"]["pace"], Page(host.read(path).text)


def test_a_pace_is_told_in_words_and_opened(host: Person) -> None:
    fields = [("pace", "live"), ("seconds.answer", "900"), ("bank", "21600"), ("vacation", "12"), *DAILY.items()]
    fields += [("minutes", "120"), ("last_turn", "15")]
    page = with_pace(host, *fields)
    words = {
        "a time bank of 6 hours for each seat, for the whole game",
        "12 days of vacation for each seat",
        "deadlines at 20:30 (Europe/Paris), and none on Saturday and Sunday",
        "2 hours, then the current turn to its end, for 15 minutes at most; then places follow from its state",
    }
    assert words <= set(page.texts)
    assert [line for line in page.texts if line.startswith("5 minutes for: ") and "building of a palace" in line]
    assert [line for line in page.texts if line.startswith("15 minutes for: ") and "passage" in line]
    assert host.site.get("/tournaments").json["items"] == []
    pace, shown = opened(host, page)
    assert pace["seconds"] == {"move": 300, "answer": 900}
    assert (pace["bank"], pace["vacation"], pace["daily"]["days_off"]) == (21600, 12, [6, 7])
    assert words <= set(shown.texts)
    table = host.site.get("/tournaments").json["items"][0]["tournament"]
    table = host.site.get(f"/tournaments/{table}").json["table"]
    assert (table["time_limit"], table["last_turn"]) == (7200, 900)


@pytest.mark.parametrize("example", range(len(load_examples())))
def test_each_example_keeps_its_pace_or_takes_another(host: Person, example: int) -> None:
    body = load_examples()[example]
    rules = host.site.services.registry.latest(body["ruleset"])
    pace, _ = opened(host, chosen(host, example))
    assert pace["seconds"] == rules.meta.paces[body["table"]["pace"]]
    for name, seconds in rules.meta.paces.items():
        page = with_pace(host, ("pace", name), example=example)
        assert [line for line in page.texts if " for: " in line]
        assert opened(host, page)[0]["seconds"] == seconds
    page = with_pace(host, ("pace", "none"), example=example)
    assert "no deadlines" in page.texts
    assert opened(host, page)[0]["seconds"] == {}
    classes = sorted({*rules.meta.clocks.values()})
    own = dict(zip(classes, TIMES * 2, strict=False))
    page = with_pace(host, *((f"seconds.{name}", str(value)) for name, value in own.items()), example=example)
    assert opened(host, page)[0]["seconds"] == own


def test_the_form_keeps_the_pace_and_the_way_back_keeps_all(host: Person) -> None:
    fields = {"pace": "live", "seconds.move": "3600", "bank": "3600", "vacation": "3", **DAILY}
    page = with_pace(host, *fields.items())
    go_back(host, pace_form(page), fields)
    answer = host.browser.client.post(PATH, data=pace_form(page).data(*fields.items()))
    assert [each for each in Filled(answer.text).forms if fields.items() <= each.items() and "off.1" not in each]
    french = with_pace(host, *fields.items(), Accept_Language="fr")
    assert "échéances à 20:30 (Europe/Paris), sauf samedi et dimanche" in french.texts
    assert [line for line in french.texts if re.fullmatch(r"une réserve de temps de 1\sheure pour .*", line)]


def test_a_pace_that_cannot_be_is_refused_before_the_opening(host: Person) -> None:
    form, whole_week = pace_form(chosen(host)), {f"off.{day}": "yes" for day in range(1, 8)}
    odd_fields = {"zone": "Mars/Olympus"}, {"hour": "25:00"}, {"hour": ""}, whole_week
    for odd in ({**DAILY, **fields} for fields in odd_fields):
        answer = host.send(form, *odd.items())
        assert answer.status_code == 422, odd
        page = Page(answer.text)
        assert confirm_form(page) is None
        assert ("hour", odd["hour"]) in pace_form(page).fields
    for name, value in (("bank", "-1"), ("vacation", "101"), ("seconds.move", "1e3")):
        assert host.send(form, (name, value)).status_code == 403
    assert host.site.get("/tournaments").json["items"] == []
