"""Ladders and arenas over HTTP: tables from a queue, made in the request or by a worker, up to the proof."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from tests.api.conftest import Site, make_site, refused
from tests.api.members import promoted, register
from tests.api.played import CATALOGUE
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import BODY, done, finish, opened, people

TABLE = {"ruleset": "orders@1", "options": {"turns": 1}, "table": {"undo": "none"}}
LADDER = {"format": "ladder", "concurrent": 2}


def test_a_whole_ladder_is_queued_for_played_and_proved(site: Site) -> None:
    director, members = register(site, "Organiser"), people(site, 5)
    path = opened(site, director, **TABLE, stages=[LADDER])
    queue, round_ = f"{path}/queue", f"{path}/stages/1/rounds/1"
    refused(members[0].post(queue), 409, "not_entered")
    for member in members:
        done(member.post(f"{path}/entrants"))
    refused(director.post(f"{path}/phases", {"phase": "checking"}), 409, "queue_draws")
    refused(director.post(f"{round_}/draw"), 409, "queue_draws")
    done(members[0].post(queue))
    refused(members[0].post(queue), 409, "already_queued")
    done(members[0].delete(queue))
    refused(members[0].delete(queue), 409, "not_queued")
    for turn in range(8):
        for member in members[turn % 5 :] + members[: turn % 5]:
            answer = member.post(queue)
            assert answer.status_code == 201 or answer.json["code"] == "already_queued", answer.text
        for pod in done(site.get(round_))["pods"]:
            assert pod["game"]
            if not pod["reported"]:
                finish(site, director, members, pod)
        done(director.post(f"{round_}/reports"))
    shown = done(site.get(path))
    assert (shown["status"], shown["format"], shown["chain"]["used"]) == ("running", "ladder", 1)
    done(director.post(f"{round_}/rank"))
    found = done(site.get(f"{path}/standings?after_round=1"))["standings"]
    assert [row["tables"] >= 5 for row in found] == [True] * 5
    for first, second in pairwise(row["entrant"] for row in found):
        for lang in ("en", "fr"):
            told = done(site.get(f"{path}/explain?a={second}&b={first}&after_round=1&lang={lang}"))
            assert (told["first"], told["second"], bool(told["sentences"])) == (first, second, True)
    ruling = {"act": "excluded", "entrant": found[0]["entrant"], "results": "void"}
    for lang, said in (("en", "a place takes 5."), ("fr", "une place en demande 5.")):
        moved = done(director.post(f"{path}/rulings?dry_run=1", ruling, Accept_Language=lang))["moved"]
        lost = [each for each in moved if each["before"] and not each["after"]]
        assert lost
        assert all(said in each["sentences"][0] for each in lost)
    done(director.post(f"{path}/phases", {"phase": "queue_closed"}))
    refused(members[0].post(queue), 409, "queue_closed")
    refused(director.post(f"{path}/close", {"outcome": "cancelled"}), 409, "outcome_other")
    done(director.post(f"{path}/close", {"outcome": "finished"}))
    assert verify_tournament(parse_export(site.get(f"{path}/export").data)).status == "finished"


def test_nobody_whose_account_is_gone_is_seated(site: Site) -> None:
    """The waiting ends with a ban and an erasure, and also if the account is judged behind the queue's back."""
    director, members = register(site, "Organiser"), people(site, 6)
    path = opened(site, director, **TABLE, stages=[LADDER])
    for member in members:
        done(member.post(f"{path}/entrants"))
    done(members[0].post(f"{path}/queue"))
    members[0].prove()
    assert members[0].delete("/me").status_code == 204
    assert done(site.get(path))["queue"]["waiting"] == 0
    judge = promoted(site, "Judge", "moderator")
    done(members[1].post(f"{path}/queue"))
    done(judge.put(f"/accounts/{members[1].id}/standing", {"state": "banned"}))
    assert done(site.get(path))["queue"]["waiting"] == 0
    done(members[2].post(f"{path}/queue"))
    done(judge.put(f"/accounts/{members[2].id}/standing", {"state": "suspended", "days": 9}))
    for member in members[3:]:
        done(member.post(f"{path}/queue"))
    (pod,) = done(site.get(f"{path}/stages/1/rounds/1"))["pods"]
    assert sorted(pod["entrants"]) == [3, 4, 5]


def test_too_few_tables_give_no_place(site: Site) -> None:
    director, members = register(site, "Organiser"), people(site, 3)
    path = opened(site, director, **TABLE, stages=[{"format": "arena", "patience": 0}])
    for member in members:
        done(member.post(f"{path}/entrants"))
        done(member.post(f"{path}/queue"))
    refused(members[0].post(f"{path}/queue"), 409, "in_play")
    found = done(site.get(f"{path}/standings"))
    assert (found["standings"], found["unranked"]) == ([], {"0": 0, "1": 0, "2": 0})
    assert "A place takes 5 tables that count." in site.client.get(path).text
    odd = {**BODY, "stages": [{"format": "arena", "total": "mean"}]}
    assert director.post("/tournaments", odd).json["errors"][0]["at"] == "/stages/0/total"


def test_people_wait_and_leave_by_forms(site: Site) -> None:
    host, who = person(site, "Organiser"), person(site, "Anne")
    path = opened(site, host.api, stages=[{"format": "ladder"}])
    act(who, path, "enter")
    page = act(who, path, "queue")
    assert "1 entrant waits for a table." in " ".join(page.texts)
    page = act(who, path, "leave")
    assert "0 entrants wait for a table." in " ".join(page.texts)
    assert "Open the check-in" not in host.read(path).text
    assert "The queue is closed." in " ".join(act(host, path, "queue_closed").texts)
    assert "Wait for a table" not in who.read(path).text
    act(host, path, "queue_open")
    page = act(who, path, "queue")
    for other in (person(site, "Bob"), person(site, "Chloe")):
        act(other, path, "enter")
        page = act(other, path, "queue")
    assert "Leave the queue" not in who.read(path).text
    assert "Wait for a table" not in who.read(path).text


def test_a_ladder_has_a_draw_a_day_for_years(site: Site) -> None:
    director = register(site, "Organiser")
    for more, draws in (({}, 4096), ({"chain": 9}, 9), ({"stages": [{"format": "league", "rounds": 2}]}, 64)):
        made = done(director.post("/tournaments", {**BODY, "stages": [LADDER], **more}))
        assert done(site.get(f"/tournaments/{made['tournament']}"))["chain"]["draws"] == draws


def test_the_example_of_the_page_opens_and_fills_a_table(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text("utf-8")
    body = json.loads(page.partition("## A ladder")[2].partition("```json\n")[2].partition("```")[0])
    with closing(make_site(tmp_path, CATALOGUE)) as site:
        director, members = register(site, "Organiser"), people(site, body["seats"]["preferred"])
        path = f"/tournaments/{done(director.post('/tournaments', body))['tournament']}"
        for member in members:
            done(member.post(f"{path}/entrants"))
            done(member.post(f"{path}/queue"))
        (pod,) = done(site.get(f"{path}/stages/1/rounds/1"))["pods"]
        assert done(site.get(f"/games/{pod['game']}"))["status"] == "running"
        assert verify_tournament(parse_export(site.get(f"{path}/export").data)).status == "running"
