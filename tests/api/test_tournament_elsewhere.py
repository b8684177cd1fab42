"""A table played elsewhere on its pages: an officer names it, one seat enters its scores, the others confirm them."""

from __future__ import annotations

from tests.api.conftest import Site, refused
from tests.api.game_pages import Page
from tests.api.test_event_desk import opened
from tests.api.test_tournaments import done


def test_scores_are_entered_confirmed_and_marked_everywhere(site: Site) -> None:
    host, people, path = opened(site, 3, elsewhere="some")
    done(host.api.post(f"{path}/phases", {"phase": "checking"}))
    for who in people:
        done(who.api.post(f"{path}/checkin"))
    done(host.api.post(f"{path}/phases", {"phase": "drawing"}))
    done(host.api.post(f"{path}/stages/1/rounds/1/draw"))
    assert host.send(Page(host.read(path).text).act("elsewhere")).status_code == 303
    (pod,) = done(site.get(f"{path}/stages/1/rounds/1"))["pods"]
    assert (pod["elsewhere"], pod["game"], pod["scores"]) == (True, None, None)
    first, second, third = (people[entrant] for entrant in pod["entrants"])
    form = Page(first.read(path).text).act("enter_scores")
    answer = first.send(form, ("points", "31"), ("points", "24"), ("points", "-2"))
    assert answer.status_code == 303, answer.text
    table = f"{path}/stages/1/rounds/1/tables/1"
    stranger = refused(host.api.post(f"{table}/confirmations", {"scores": 1}), 409, "not_entered")
    assert stranger["title"]
    assert second.send(Page(second.read(path).text).act("confirm_scores")).status_code == 303
    (waiting,) = done(host.api.get(f"{path}/desk"))["tables"]
    assert (waiting["state"], waiting["scores"]["missing"]) == ("elsewhere", [pod["entrants"][2]])
    assert "Not confirmed yet by" in host.read(f"{path}/desk").text
    scores = waiting["scores"]["scores"]
    refused(host.api.post(f"{table}/settlement", {"scores": scores, "reason": "late"}), 409, "scores_open")
    refused(third.api.post(f"{table}/settlement", {"scores": scores, "reason": "late"}), 403, "directors_only")
    refused(third.api.put(f"{table}/elsewhere"), 403, "directors_only")
    done(third.api.post(f"{table}/confirmations", {"scores": scores}))
    (pod,) = done(site.get(f"{path}/stages/1/rounds/1"))["pods"]
    assert (pod["reported"], pod["places"], pod["points"], pod["scores"]) == (True, [1, 2, 3], [31, 24, -2], None)
    done(host.api.post(f"{path}/stages/1/rounds/1/rank"))
    card = done(site.get(f"{path}/entrants/{pod['entrants'][0]}"))
    assert (card["tables"][0]["elsewhere"], card["parts"][0]["elsewhere"]) == (True, True)
    assert "It was played elsewhere: no game proves it." in card["parts"][0]["sentence"]
    for address in (path, f"{path}/entrants/{pod['entrants'][0]}"):
        assert "played elsewhere" in site.client.get(address).text
    for sheet in ("tables", "seats"):
        columns, row, *_ = site.get(f"{path}/export.csv?sheet={sheet}").text.splitlines()
        assert (columns.split(",")[-1], row.split(",")[-1]) == ("elsewhere", "1")
