"""The desk of an event: all that waits for its officers stands on one page, each with its button."""

from __future__ import annotations

from typing import Any

from domain.tournaments.aggregate.result_commands import Report
from domain.tournaments.draw import commit_nonce
from domain.tournaments.scoring import rank_points
from tests.api.conftest import Doc, Site, refused
from tests.api.game_pages import Page, Person
from tests.api.test_tournament_pages import person
from tests.api.test_tournaments import BODY, NONCE, appoint, done, finish

SWISS: Doc = {**BODY, "stages": [{"format": "swiss", "rounds": 3}]}


def opened(site: Site, count: int, **more: Any) -> tuple[Person, list[Person], str]:
    """Organiser, entrants and path of an event with its check-in open."""
    host, people = person(site, "Organiser"), [person(site, f"Anne {number}") for number in range(count)]
    path = f"/tournaments/{host.api.post('/tournaments', {**SWISS, **more}).json['tournament']}"
    for who in people:
        done(who.api.post(f"{path}/entrants"))
    return host, people, path


def desk(who: Person, path: str) -> Doc:
    return done(who.api.get(f"{path}/desk"))


def steps(who: Person, path: str) -> list[str]:
    return [each["step"] for each in desk(who, path)["steps"]]


def press(who: Person, path: str, name: str, *more: tuple[str, str]) -> None:
    """Send a form of the desk, which leads back to it."""
    answer = who.send(Page(who.read(f"{path}/desk").text).act(name), *more)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{path}/desk"), answer.text


def test_an_event_is_run_from_its_desk(site: Site) -> None:
    host, people, path = opened(site, 6)
    refused(people[0].api.get(f"{path}/desk"), 403, "directors_only")
    assert people[0].browser.get(f"{path}/desk").status_code == 403
    assert steps(host, path) == ["open_checkin"]
    press(host, path, "checking")
    for number, who in enumerate(people[:4]):
        done(who.api.post(f"{path}/checkin", {"nonce_hash": commit_nonce(NONCE.format(number))}))
    found = desk(host, path)["check_in"]
    assert (found["open"], found["present"], found["missing"], found["works"]) == (True, 4, [4, 5], True)
    assert "4 have checked in, 2 are missing." in " ".join(Page(host.read(f"{path}/desk").text).texts)
    press(host, path, "check_in_other", ("entrant", "4"))
    press(host, path, "check_in_other", ("entrant", "5"))
    assert desk(host, path)["check_in"]["missing"] == []
    press(host, path, "drawing")
    assert (desk(host, path)["nonces"]["missing"], steps(host, path)) == ([0, 1, 2, 3], [])
    for number, who in enumerate(people[:4]):
        done(who.api.post(f"{path}/nonce", {"nonce": NONCE.format(number)}))
    press(host, path, "draw")
    assert steps(host, path) == ["make_tables"]
    press(host, path, "tables")
    found = desk(host, path)
    assert [(each["table"], each["state"], each["empty"]) for each in found["tables"]] == [
        ("1.1", "playing", []),
        ("1.2", "playing", []),
    ]
    pods = done(site.get(f"{path}/stages/1/rounds/1"))["pods"]
    gone = pods[0]["entrants"][0]
    done(people[gone].api.delete(f"{path}/entrants/me"))
    seat = site.delete(f"/games/{pods[0]['game']}/seats/0", people[gone].api.token)
    assert seat.status_code < 300, seat.text
    found = desk(host, path)
    assert [(each["entrant"], each["game"]) for each in found["withdrawals"]] == [(gone, pods[0]["game"])]
    assert found["tables"][0]["empty"] == [0]
    asker = pods[1]["entrants"][0]
    friend = person(site, "Denise")
    done(people[asker].api.post(f"{path}/entrants/me/substitutes", {"player": friend.api.doc["player"]}))
    done(people[asker].api.post(f"{path}/entrants/me/byes", {"round": 2}))
    found = desk(host, path)
    assert [each["entrant"] for each in found["substitutes"]] == [asker]
    assert found["byes"] == [{"round": 2, "entrant": asker}]
    shown = host.read(f"{path}/desk", Accept_Language="fr").text
    assert f'href="/games/{pods[0]["game"]}/desk"' in shown
    finish(site, host.api, [who.api for who in people], pods[1])
    assert [(each["table"], each["state"]) for each in desk(host, path)["tables"]][1] == ("1.2", "closed")
    assert "over: its result is not confirmed" in " ".join(Page(host.read(f"{path}/desk").text).texts)
    press(host, path, "reports")
    report(site, path, pods[0]["game"])
    press(host, path, "rank")
    found = desk(host, path)
    assert (found["tables"], [each["step"] for each in found["steps"]]) == ([], ["draw"])


def report(site: Site, path: str, game: str) -> None:
    """A result of the first table, without its game."""
    made = Report(1, 1, 1, game, 9, "0" * 64, rank_points((3, 2, 1)), (3, 2, 1))
    site.services.notify_appended(site.services.tournaments.handle(path.rpartition("/")[2], made).position)


def test_an_appeal_waits_for_another_officer(site: Site) -> None:
    host, people, path = opened(site, 3)
    judge = person(site, "Judge")
    appoint(host.api, path, judge.api, "arbiter")
    for phase in ("checking", "drawing"):
        done(host.api.post(f"{path}/phases", {"phase": phase}))
        for who in people if phase == "checking" else ():
            done(who.api.post(f"{path}/checkin"))
    done(host.api.post(f"{path}/stages/1/rounds/1/draw"))
    ruling = {"act": "penalised", "entrant": 1, "ticks": 5040, "reason": "Late."}
    effect = host.api.post(f"{path}/rulings?dry_run=1", ruling).headers["ETag"]
    number = done(host.api.post(f"{path}/rulings", ruling, If_Match=effect))["ruling"]
    done(people[1].api.post(f"{path}/appeals", {"ruling": number, "reason": "I was there."}))
    told = {who: desk(each, path)["appeals"][0]["may_answer"] for who, each in (("host", host), ("judge", judge))}
    assert told == {"host": False, "judge": True}
    assert f'href="{path}/rulings#ruling-{number}"' in judge.read(f"{path}/desk").text
    assert f'id="ruling-{number}"' in judge.read(f"{path}/rulings").text
    done(judge.api.post(f"{path}/appeals/{number}/answer", {"outcome": "upheld", "reason": "No."}))
    assert desk(judge, path)["appeals"] == []
    done(host.api.post(f"{path}/close", {"outcome": "cancelled"}))
    found = desk(host, path)
    assert (found["steps"], found["check_in"]["missing"], found["tables"]) == ([], [], [])
    assert "Nothing waits for you here." in Page(host.read(f"{path}/desk").text).texts


def test_numbers_without_a_design_are_told_before_the_draw(site: Site) -> None:
    host, people, path = opened(site, 8, stages=[{"format": "design"}])
    done(host.api.post(f"{path}/phases", {"phase": "checking"}))
    for who in people[:5]:
        done(who.api.post(f"{path}/checkin"))
    found = desk(host, path)["check_in"]
    assert (found["works"], found["nearest"]) == (False, [4, 7])
    closed = done(host.api.post(f"{path}/phases", {"phase": "drawing"}))
    assert (closed["works"], closed["nearest"]) == (False, [4, 7])
    assert steps(host, path) == ["open_checkin"]
    assert "with which the draw works: 4, 7." in " ".join(Page(host.read(f"{path}/desk").text).texts)
    press(host, path, "checking")
    for who in people[:7]:
        done(who.api.post(f"{path}/checkin"))
    assert done(host.api.post(f"{path}/phases", {"phase": "drawing"}))["nearest"] == []
    assert steps(host, path) == ["draw"]
    press(host, path, "draw")
