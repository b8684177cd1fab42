"""People who are gone, by an erasure or a ban: no event counts on them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from tests.api.conftest import Doc, Site, refused
from tests.api.members import Member, promoted, register
from tests.api.test_tournaments import done, opened, people

PHASES = ("registering", "checking", "drawing", "running")
SWISS: Doc = {"stages": [{"format": "swiss", "rounds": 2}]}


def erase(site: Site, member: Member) -> None:
    member.prove()
    assert member.delete("/me").status_code == 204


def ban(site: Site, member: Member) -> None:
    done(promoted(site, "Judge", "moderator").put(f"/accounts/{member.id}/standing", {"state": "banned"}))


def begin(site: Site, phase: str, count: int = 7) -> tuple[Member, list[Member], str]:
    """An event in a phase, with its entrants checked in as far as the phase has come."""
    director, members = register(site, "Organiser"), people(site, count)
    path = opened(site, director, **SWISS)
    for member in members:
        done(member.post(f"{path}/entrants"))
    if phase != "registering":
        done(director.post(f"{path}/phases", {"phase": "checking"}))
        for member in members:
            done(member.post(f"{path}/checkin"))
    if phase in ("drawing", "running"):
        done(director.post(f"{path}/phases", {"phase": "drawing"}))
    if phase == "running":
        done(director.post(f"{path}/stages/1/rounds/1/draw"))
    return director, members, path


def withdrawn(site: Site, path: str) -> list[int]:
    return [n for n, person in enumerate(done(site.get(path))["people"]) if person["withdrawn"]]


@pytest.mark.parametrize("leave", [erase, ban], ids=["erased", "banned"])
@pytest.mark.parametrize("phase", PHASES)
def test_whoever_is_gone_has_left_the_events(site: Site, phase: str, leave: Callable[[Site, Member], None]) -> None:
    _, members, path = begin(site, phase)
    leave(site, members[4])
    assert withdrawn(site, path) == [4]
    assert done(site.get(path))["status"] == phase
    verify_tournament(parse_export(site.get(f"{path}/export").data))


@pytest.mark.parametrize("leave", [erase, ban], ids=["erased", "banned"])
@pytest.mark.parametrize("phase", ["checking", "drawing"])
def test_all_others_get_a_table(site: Site, phase: str, leave: Callable[[Site, Member], None]) -> None:
    director, members, path = begin(site, phase)
    leave(site, members[4])
    if phase == "checking":
        done(director.post(f"{path}/phases", {"phase": "drawing"}))
    done(director.post(f"{path}/stages/1/rounds/1/draw"))
    done(director.post(f"{path}/stages/1/rounds/1/tables"))
    made = done(site.get(f"{path}/stages/1/rounds/1"))
    assert (made["byes"], [bool(pod["game"]) for pod in made["pods"]]) == ([], [True, True])
    assert sorted(e for pod in made["pods"] for e in pod["entrants"]) == [0, 1, 2, 3, 5, 6]


@pytest.mark.parametrize("phase", ["checking", "drawing"])
def test_a_draw_looks_itself_for_those_who_are_gone(site: Site, phase: str) -> None:
    """An account that is judged without the routes, or that enters at the same moment, is withdrawn at the draw."""
    director, members, path = begin(site, phase)
    site.services.account_store.accounts.set_state(members[4].id, "banned", 0, [])
    if phase == "checking":
        done(director.post(f"{path}/phases", {"phase": "drawing"}))
    done(director.post(f"{path}/stages/1/rounds/1/draw"))
    assert withdrawn(site, path) == [4]
    assert done(site.get(f"{path}/stages/1/rounds/1"))["byes"] == []


@pytest.mark.parametrize("phase", ["checking", "drawing"])
def test_a_refused_act_withdraws_nobody(site: Site, phase: str) -> None:
    """The version that its sender has seen is enough for the act: who is gone leaves with the act, or not at all."""
    director, members, path = begin(site, phase)
    site.services.account_store.accounts.set_state(members[4].id, "banned", 0, [])
    seen = done(site.get(path))["version"]
    act = ("/phases", {"phase": "drawing"}) if phase == "checking" else ("/stages/1/rounds/1/draw", {})
    refused(director.post(f"{path}{act[0]}", act[1], If_Match=f'"{seen - 1}"'), 412, "stale_version")
    if phase == "drawing":
        refused(director.post(f"{path}/stages/9/rounds/1/draw"), 409, "unknown_stage")
    assert (withdrawn(site, path), done(site.get(path))["version"]) == ([], seen)
    done(director.post(f"{path}{act[0]}", act[1], If_Match=f'"{seen}"'))
    assert withdrawn(site, path) == [4]


def test_nobody_who_is_refused_at_queue_ends_waiting_of_others(site: Site) -> None:
    director, members = register(site, "Organiser"), people(site, 3)
    path = opened(site, director, stages=[{"format": "ladder"}])
    for member in members[:2]:
        done(member.post(f"{path}/entrants"))
    done(members[0].post(f"{path}/queue"))
    site.services.account_store.accounts.set_state(members[0].id, "banned", 0, [])
    seen = done(site.get(path))["version"]
    refused(members[2].post(f"{path}/queue"), 409, "not_entered")
    assert done(site.get(path))["version"] == seen
    done(members[1].post(f"{path}/queue"))
    assert done(site.get(path))["version"] == seen + 2, "one leaves the queue, the other waits"


def test_somebody_who_is_only_suspended_before_check_in_stays(site: Site) -> None:
    director, members, path = begin(site, "registering")
    site.services.account_store.accounts.set_state(members[4].id, "suspended", 2**50, [])
    done(director.post(f"{path}/phases", {"phase": "checking"}))
    for member in [*members[:4], *members[5:]]:
        done(member.post(f"{path}/checkin"))
    done(director.post(f"{path}/phases", {"phase": "drawing"}))
    assert withdrawn(site, path) == []


@pytest.mark.parametrize("leave", [erase, ban], ids=["erased", "banned"])
def test_a_deputy_who_is_gone_has_no_office_there(site: Site, leave: Callable[[Site, Member], None]) -> None:
    director, _, path = begin(site, "registering")
    deputy = register(site, "Deputy")
    done(director.post(f"{path}/officers", {"player": deputy.doc["player"], "office": "deputy"}))
    leave(site, deputy)
    assert done(site.get(path))["officers"] == []
    assert withdrawn(site, path) == []


@pytest.mark.parametrize("leave", [erase, ban], ids=["erased", "banned"])
def test_no_challenge_waits_for_whoever_is_gone(site: Site, leave: Callable[[Site, Member], None]) -> None:
    host, anne = register(site, "Host"), register(site, "Anne")
    game = done(host.post("/games", {"ruleset": "orders@1", "seats": 3}))["game"]
    done(host.post(f"/games/{game}/challenges", {"name": "Anne"}))
    leave(site, anne)
    assert done(host.get(f"/games/{game}/challenges"))["items"] == []
