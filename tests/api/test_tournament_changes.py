"""A running event changes: its timetable, a pause of everything, and terms between rounds, each told on its page."""

from __future__ import annotations

from tests.api.conftest import Doc, Site, refused
from tests.api.game_pages import Page, Person
from tests.api.test_event_desk import SWISS, opened
from tests.api.test_tournament_pages import person
from tests.api.test_tournaments import done

STARTS = {"starts": ["2400-01-06T14:00", "2400-01-06T16:30"], "zone": "Europe/Paris"}
REASON = {"reason": "Two have left."}
ENDS = (("warning", "10"), ("extension", "0"), ("each", "yes"))
SIZES = (("least", "2"), ("most", "3"), ("preferred", "3"))


def begun(site: Site) -> tuple[tuple[Person, list[Person]], str]:
    host, people, path = opened(site, 6)
    done(host.api.post(f"{path}/phases", {"phase": "checking"}))
    for who in people:
        done(who.api.post(f"{path}/checkin"))
    done(host.api.post(f"{path}/phases", {"phase": "drawing"}))
    done(host.api.post(f"{path}/stages/1/rounds/1/draw"))
    done(host.api.post(f"{path}/stages/1/rounds/1/tables"))
    return (host, people), path


def test_a_timetable_is_set_and_told_with_what_comes_next(site: Site) -> None:
    host, people, path = opened(site, 3)
    assert done(host.api.get(path))["timetable"] is None
    done(host.api.put(f"{path}/timetable", {**STARTS, "opens": 3600, "closes": 600}))
    doc = done(site.get(path))
    assert doc["timetable"]["starts"] == [13569944400000, 13569953400000]
    assert doc["clock"] == {"act": "open_checkin", "stage": 1, "round": 1, "at": 13569944400000 - 3_600_000}
    page = " ".join(Page(people[0].read(path).text).texts)
    assert "The check-in of round 1 opens:" in page
    assert "The check-in opens 1 hour before each start, and closes 10 minutes before it." in page
    calendar = site.get(f"{path}/calendar").text
    assert "SUMMARY:Round 1 starts" in calendar
    assert calendar.count("BEGIN:VEVENT") == 2


def test_a_timetable_that_cannot_be_is_refused_with_its_cause(site: Site) -> None:
    host, people, path = opened(site, 3)
    for changes, cause in (
        ({"starts": ["1970-01-01T00:00"], "zone": "UTC"}, "past"),
        ({"closes": 1800}, "check_in"),
        ({"extension": 60}, "limit"),
    ):
        found = refused(host.api.put(f"{path}/timetable", {**STARTS, **changes}), 422, "timetable_invalid")
        assert cause in str(found)
    refused(host.api.put(f"{path}/timetable", {**STARTS, "zone": "Europe/Nowhere"}), 422, "schedule_invalid")
    refused(people[0].api.put(f"{path}/timetable", STARTS), 403, "directors_only")


def test_the_form_of_a_timetable_keeps_what_was_set(site: Site) -> None:
    host, _, path = opened(site, 3)
    form = Page(host.read(path).text).act("timetable")
    answer = host.send(form, ("start", "2400-01-06T14:00"), ("opens", "60"), ("closes", "10"), *ENDS)
    assert answer.status_code == 303, answer.text
    assert done(host.api.get(path))["timetable"]["opens"] == 3600
    assert 'value="2400-01-06T14:00"' in host.read(path).text


def test_a_pause_stops_the_tables_and_its_end_lets_them_go_on(site: Site) -> None:
    (host, _), path = begun(site)
    games = [pod["game"] for pod in done(host.api.get(f"{path}/stages/1/rounds/1"))["pods"]]
    paused = done(host.api.put(f"{path}/pause"))
    assert (len(paused["pods"]), paused["refused"]) == (len(games), [])
    commands = site.services.commands
    assert all(commands.game(game).current_pause for game in games)
    assert done(host.api.put(f"{path}/pause"))["pods"] == []
    assert done(site.get(path))["paused_at"]
    assert "Paused since" in host.read(path).text
    assert done(host.api.get(f"{path}/desk"))["steps"] == []
    assert "Let the event go on" in host.read(f"{path}/desk").text
    refused(host.api.post(f"{path}/stages/1/rounds/1/tables"), 409, "event_paused")
    answer = host.send(Page(host.read(path).text).act("resume"))
    assert answer.status_code == 303, answer.text
    assert not any(commands.game(game).current_pause for game in games)
    assert done(site.get(path))["paused_at"] is None
    refused(host.api.delete(f"{path}/pause"), 409, "event_runs")


def test_terms_change_between_rounds_and_old_ones_are_read(site: Site) -> None:
    host, people, path = opened(site, 3)
    change: Doc = {"seats": {"least": 2, "most": 3, "preferred": 3}, "reveal": 60, **REASON}
    done(host.api.post(f"{path}/amendments", change))
    doc = done(site.get(path))
    (made,) = doc["amendments"]
    assert (doc["seats"]["least"], doc["reveal"], made["reason"]) == (2, 60, REASON["reason"])
    assert {each["at"]: each["before"] for each in made["changes"]} == {"/least": 3, "/reveal": 43200}
    texts = " ".join(Page(people[0].read(path).text).texts)
    assert "least seats at a table: 2, before 3" in texts
    answer = host.send(
        Page(host.read(path).text).act("amend"), ("minutes", "90"), ("reason", "The hall closes."), *SIZES
    )
    assert answer.status_code == 303, answer.text
    assert done(site.get(path))["table"]["time_limit"] == 5400


def test_what_people_play_by_stays_and_players_change_nothing(site: Site) -> None:
    (host, people), path = begun(site)
    refused(host.api.post(f"{path}/amendments", {"reveal": 60, **REASON}), 409, "rounds_open")
    refused(
        host.api.post(f"{path}/amendments", {"seats": {"least": 5, "most": 3, "preferred": 3}, **REASON}),
        422,
        "invalid_tournament",
    )
    refused(people[0].api.post(f"{path}/amendments", {"reveal": 60, **REASON}), 403, "directors_only")
    other = person(site, "Both")
    own = f"/tournaments/{other.api.post('/tournaments', SWISS).json['tournament']}"
    done(other.api.post(f"{own}/entrants"))
    refused(other.api.post(f"{own}/amendments", {"reveal": 60, **REASON}), 403, "conflict_of_interest")
    refused(other.api.put(f"{own}/pause"), 403, "conflict_of_interest")
    done(other.api.put(f"{own}/timetable", STARTS))
    refused(other.api.put(f"{own}/timetable", STARTS), 403, "conflict_of_interest")


def test_pace_that_cannot_be_is_named_where_the_request_has_it(site: Site) -> None:
    host = person(site, "Organiser")
    for pace, at in (("never", "/table/pace"), ({"seconds": {"dream": 5}}, "/table/pace/seconds/dream")):
        body = {**SWISS, "table": {**SWISS["table"], "pace": pace}}
        found = refused(host.api.post("/tournaments", body), 422, "invalid_table")
        assert found["errors"][0]["at"] == at
