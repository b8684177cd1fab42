"""Repeating events over HTTP: the rule, the calendar, the end."""

from __future__ import annotations

import re

from tests.api.conftest import Site, refused
from tests.api.members import register
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import BODY, done, opened

WEEKLY = {"rule": "RRULE:FREQ=WEEKLY;BYDAY=SU;COUNT=3", "start": "2060-03-21T20:00", "zone": "Europe/Paris"}


def test_rule_gives_event_its_time_and_the_calendar_all_of_them(site: Site) -> None:
    director = register(site, "Organiser")
    path = opened(site, director)
    refused(register(site, "Anne").put(f"{path}/schedule", WEEKLY), 403, "directors_only")
    for change, cause in (
        ({"rule": "FREQ=HOURLY"}, "rule"),
        ({"zone": "Europe/Atlantis"}, "zone"),
        ({"start": "2060-13-20T20:00"}, "start"),
        ({"rule": "FREQ=WEEKLY;BYDAY=MO"}, "first"),
        ({"start": "1960-03-20T20:00"}, "past"),
    ):
        answer = director.put(f"{path}/schedule", WEEKLY | change)
        refused(answer, 422, "schedule_invalid")
        assert answer.json["figures"]["cause"] == cause
    assert done(site.get(path))["schedule"] is None
    done(director.put(f"{path}/schedule", WEEKLY))
    shown = done(site.get(path))["schedule"]
    assert (shown["number"], shown["next_at"] - shown["at"], shown["next"]) == (1, (7 * 24 - 1) * 3_600_000, None)
    feed = site.get(f"{path}/calendar").text
    assert re.findall(r"DTSTART:(\w+)", feed) == ["20600321T190000Z", "20600328T180000Z", "20600404T180000Z"]
    assert "The event begins" in feed
    done(director.delete(f"{path}/schedule"))
    refused(director.delete(f"{path}/schedule"), 409, "not_scheduled")
    assert "VEVENT" not in site.get(f"{path}/calendar").text


def test_an_organiser_repeats_an_event_by_a_form(site: Site) -> None:
    host = person(site, "Organiser")
    path = f"/tournaments/{host.api.post('/tournaments', BODY).json['tournament']}"
    fields = (("rule", WEEKLY["rule"]), ("start", WEEKLY["start"]), ("zone", WEEKLY["zone"]))
    page = act(host, path, "schedule", *fields)
    assert "It repeats by the rule RRULE:FREQ=WEEKLY;BYDAY=SU;COUNT=3 (Europe/Paris)." in " ".join(page.texts)
    page = act(host, path, "unschedule")
    assert "It repeats" not in " ".join(page.texts)
