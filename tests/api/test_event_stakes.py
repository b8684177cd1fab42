"""An organiser who plays in the event decides nothing at its tables, and leaves rulings to officers without a place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Doc, Reply, Site, Table, refused
from tests.api.members import Member, promoted, register
from tests.api.test_officer_forms import Event
from tests.api.test_tournament_pages import act
from tests.api.test_tournaments import appoint, done, opened, people

AS_DIRECTOR = {"Annals_Role": "director"}
PACE = {"seconds": {"turn": 86_400}}


def playing(site: Site, others: int = 5, **more: Any) -> tuple[Member, list[Member], str]:
    """An event whose organiser has entered, with its tables."""
    organiser, members = register(site, "Organiser"), people(site, others)
    path = opened(site, organiser, table={"undo": "none", "pace": PACE}, reveal=0, **more)
    for member in (organiser, *members):
        done(member.post(f"{path}/entrants"))
    done(organiser.post(f"{path}/phases", {"phase": "checking"}))
    for member in (organiser, *members):
        done(member.post(f"{path}/checkin"))
    done(organiser.post(f"{path}/phases", {"phase": "drawing"}))
    done(organiser.post(f"{path}/stages/1/rounds/1/draw"))
    done(organiser.post(f"{path}/stages/1/rounds/1/tables"))
    return organiser, members, path


def find_table(site: Site, path: str, organiser: Member, *, own: bool) -> Table:
    """A table of round 1 with or without the organiser, who directs it."""
    numbers = {each["player"]: each["entrant"] for each in site.get(path).json["people"]}
    entrant = numbers[organiser.doc["player"]]
    pods = site.get(f"{path}/stages/1/rounds/1").json["pods"]
    (game,) = [pod["game"] for pod in pods if (entrant in pod["entrants"]) == own]
    return Table(site, game, organiser.token, [])


def attempts(organiser: Member, table: Table) -> dict[str, Reply]:
    """Every act of a director at a running table, by its name."""
    path, version = table.path, table.get().json["version"]
    decision = table.get("/decisions").json["decisions"][0]["id"]
    match = {"If_Match": f'"{version}"', **AS_DIRECTOR}
    ruling = {"reason": "adjudicated", "places": [1, 2, 3], "explanation": "so"}
    move = {"seat": 0, "move": {"type": "submit"}, "decision": decision}
    return {
        "extend": organiser.post(f"{path}/extensions", {"decision": decision, "seconds": 60}, **AS_DIRECTOR),
        "remove": organiser.site.delete(f"{path}/seats/1", organiser.token, **AS_DIRECTOR),
        "hold": organiser.site.put(f"{path}/seats/1/hold", {"seconds": 60}, organiser.token, **AS_DIRECTOR),
        "rewind": organiser.post(f"{path}/rewinds", {"to": version - 1, "fresh": True, "reason": "x"}, **match),
        "close": organiser.post(f"{path}/close", {"reason": "void"}, **AS_DIRECTOR),
        "rule": organiser.post(f"{path}/close", ruling, **AS_DIRECTOR),
        "pause": organiser.post(f"{path}/pauses", {}, **AS_DIRECTOR),
        "look": organiser.post(f"{path}/looks", {}, **AS_DIRECTOR),
        "move": organiser.post(f"{path}/moves", move, **AS_DIRECTOR),
    }


def test_organiser_who_plays_decides_nothing_at_another_table(site: Site) -> None:
    organiser, members, path = playing(site)
    table = find_table(site, path, organiser, own=False)
    version = table.get().json["version"]
    for name, reply in attempts(organiser, table).items():
        code = "ruling_refused" if name == "move" else "director_in_event"  # a director gets no reason for a move
        assert (reply.status_code, reply.json["code"]) == (409, code), (name, reply.text)
    everywhere = done(organiser.post("/me/pauses", {}))
    assert {each["refused"] for each in everywhere["items"]} == {"director_in_event", "director_has_stake"}
    assert table.get().json["version"] == version
    offer = {"games": [table.game], "player": members[0].doc["player"], "role": "deputy"}
    refused(organiser.post("/me/officers", offer), 409, "director_in_event")
    judge = register(site, "Judge")
    assert organiser.post("/me/officers", {**offer, "player": judge.doc["player"]}).status_code == 202
    assert judge.site.put(f"/me/offices/{table.game}", None, judge.token).status_code == 200
    decision = table.get("/decisions").json["decisions"][0]["id"]
    done(judge.post(f"{table.path}/extensions", {"decision": decision, "seconds": 60}, **AS_DIRECTOR))


def test_a_relation_is_a_stake_at_the_tables_too(site: Site) -> None:
    organiser, members = register(site, "Organiser"), people(site, 3)
    organiser.put("/me/relations", {"players": [members[0].doc["player"]]})
    path = opened(site, organiser, reveal=0)
    for member in members:
        done(member.post(f"{path}/entrants"))
    done(organiser.post(f"{path}/phases", {"phase": "checking"}))
    for member in members:
        done(member.post(f"{path}/checkin"))
    done(organiser.post(f"{path}/phases", {"phase": "drawing"}))
    done(organiser.post(f"{path}/stages/1/rounds/1/draw"))
    refused(organiser.post(f"{path}/stages/1/rounds/1/draw", {"reason": "Again."}), 403, "conflict_of_interest")
    done(organiser.post(f"{path}/stages/1/rounds/1/tables"))
    game = site.get(f"{path}/stages/1/rounds/1").json["pods"][0]["game"]
    refused(organiser.post(f"/games/{game}/close", {"reason": "void"}, **AS_DIRECTOR), 409, "director_in_event")


def test_playing_organiser_runs_event_and_another_rules(site: Site) -> None:
    organiser, _, path = playing(site, 2)
    moderator, judge = promoted(site, "Maud", "moderator"), register(site, "Judge")
    refused(organiser.post(f"{path}/close", {"outcome": "cancelled"}), 403, "conflict_of_interest")
    appoint(moderator, path, judge, "deputy")
    refused(organiser.delete(f"{path}/officers/{judge.doc['player']}"), 403, "conflict_of_interest")
    done(judge.post(f"{path}/stages/1/rounds/1/adjournments"))
    ruling: Doc = {"act": "penalised", "entrant": 1, "ticks": 5, "reason": "Late."}
    tag = judge.post(f"{path}/rulings?dry_run=1", ruling).headers["ETag"]
    refused(organiser.post(f"{path}/rulings", ruling, If_Match=tag), 403, "conflict_of_interest")
    told = refused(organiser.post(f"{path}/rulings?dry_run=1", ruling), 403, "conflict_of_interest")
    assert told["figures"] == {"cause": "ask", "officers": [judge.doc["player"]]}
    assert "ask another officer" in told["detail"]
    done(judge.post(f"{path}/rulings", ruling, If_Match=tag))
    refused(judge.post(f"{path}/entrants"), 403, "conflict_of_interest")
    done(judge.post(f"{path}/close", {"outcome": "cancelled"}))


def test_pages_offer_who_plays_no_form_that_would_be_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    event = Event(site, monkeypatch)
    act(event.host, event.path, "enter")
    event.enter()
    assert "close" in event.check()["Organiser"]
    event.check_in()
    act(event.host, event.path, "check_in")
    event.show_nonces()
    act(event.host, event.path, "draw")
    shown = event.check()
    assert "tables" in shown["Organiser"]
    assert "close" not in shown["Organiser"]
    assert "close" in shown["Deputy"]
    assert event.check("/rulings")["Organiser"] == set()
    assert "have a place in this stage" in event.host.read(event.path).text
    assert "have a place in this stage" in event.host.read(f"{event.path}/rulings").text
    act(event.host, event.path, "tables")
    game = site.get(f"{event.path}/stages/1/rounds/1").json["pods"][0]["game"]
    desk = event.host.read(f"/games/{game}/desk").text
    assert "officers are neutral" in desk or "play in the tournament of this table" in desk


def test_who_has_ruled_becomes_no_substitute(site: Site) -> None:
    organiser, members, path = playing(site)
    judge = register(site, "Judge")
    appoint(organiser, path, judge, "arbiter")
    asked = f"/me/substitutions/{path.rpartition('/')[2]}/{members[0].doc['player']}"
    done(members[0].post(f"{path}/entrants/me/substitutes", {"player": judge.doc["player"]}))
    ruling: Doc = {"act": "penalised", "entrant": 1, "ticks": 5, "reason": "Late."}
    tag = judge.post(f"{path}/rulings?dry_run=1", ruling).headers["ETag"]
    done(judge.post(f"{path}/rulings", ruling, If_Match=tag))
    refused(judge.put(asked), 403, "conflict_of_interest")


def test_who_plays_closes_no_check_in_over_the_heads_of_others(site: Site) -> None:
    organiser, members = register(site, "Organiser"), people(site, 5)
    path, phases = opened(site, organiser, reveal=0), {"phase": "drawing"}
    for member in (organiser, *members):
        done(member.post(f"{path}/entrants"))
    done(organiser.post(f"{path}/phases", {"phase": "checking"}))
    for member in (organiser, *members[:2]):
        done(member.post(f"{path}/checkin"))
    told = refused(organiser.post(f"{path}/phases", phases), 403, "conflict_of_interest")
    assert "ten minutes" in told["detail"]
    assert told["figures"]["cause"] == "wait"
    for _ in range(600):  # the clock of tests goes on with each look
        site.services.tournaments.now()
    done(organiser.post(f"{path}/phases", phases))
