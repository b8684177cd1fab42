"""Programs in events: an agent that declares itself marks its seat for all, and an event may refuse it."""

from __future__ import annotations

import pytest
import urllib3
from urllib3 import HTTPResponse

from deploy.cli import agent_command
from tests.api.conftest import Site, refused
from tests.api.game_pages import Page
from tests.api.members import register
from tests.api.test_agent_server import post as call_at_address
from tests.api.test_event_desk import SWISS, opened
from tests.api.test_tournament_changes import REASON, SIZES
from tests.api.test_tournament_pages import person
from tests.api.test_tournaments import done

ORDER = {"type": "order", "to": "t01", "units": 2}
AGENT = {"Annals-Agent": "declared"}


def marks(site: Site, game: str) -> list[bool]:
    return ["agent" in seat for seat in done(site.get(f"/games/{game}"))["seats"]]


def test_a_program_that_declares_itself_marks_its_seat(site: Site) -> None:
    table, seat = site.table("orders@1", 3), 0
    assert marks(site, table.game) == [False] * 3
    assert table.move(seat, ORDER, **AGENT).status_code == 201
    assert marks(site, table.game) == [each == seat for each in range(3)]
    assert "played by an agent" in site.client.get(table.path).text
    assert table.site.delete(f"{table.path}/seats/{seat}", table.tokens[seat]).status_code == 200
    done(site.post(f"{table.path}/seats", {"seat": seat, "name": "Zoe"}))
    assert marks(site, table.game) == [False] * 3, "another player has the seat"
    unknown = table.move(1, ORDER, **{"Annals-Agent": "no"})
    assert unknown.status_code == 422, unknown.text


def test_a_join_marks_the_seat_at_once(site: Site) -> None:
    table = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json
    joined = site.post(f"/games/{table['game']}/seats", {"name": "Anne's program"}, **AGENT)
    assert joined.status_code == 201
    assert marks(site, table["game"]) == [True, False, False]


def test_an_event_without_programs_refuses_them(site: Site) -> None:
    host, people, path = opened(site, 3, bots="none")
    assert done(site.get(path))["bots"] == "none"
    late = person(site, "Program")
    told = refused(late.api.post(f"{path}/entrants", **AGENT), 403, "programs_not_allowed")
    assert told["title"]
    done(host.api.post(f"{path}/phases", {"phase": "checking"}))
    for who in people:
        done(who.api.post(f"{path}/checkin"))
    done(host.api.post(f"{path}/phases", {"phase": "drawing"}))
    done(host.api.post(f"{path}/stages/1/rounds/1/draw"))
    done(host.api.post(f"{path}/stages/1/rounds/1/tables"))
    game = done(site.get(f"{path}/stages/1/rounds/1"))["pods"][0]["game"]
    move = {"move": {"type": "x"}, "decision": "0-1"}
    refused(people[0].api.post(f"/games/{game}/moves", move, **AGENT), 403, "programs_not_allowed")
    assert people[0].api.post(f"/games/{game}/moves", move).json["code"] != "programs_not_allowed"
    refused(people[0].api.post(f"/games/{game}/seats", {}, **AGENT), 403, "programs_not_allowed")
    assert marks(site, game) == [False] * 3
    assert "may not play" in site.client.get(path).text


def test_term_stands_if_given_and_changes_before_first_draw(site: Site) -> None:
    host, _, path = opened(site, 3)
    assert done(site.get(path))["bots"] == "declared"
    assert b'"bots"' not in site.get(f"{path}/export").data
    page = Page(host.read(path).text)
    answer = host.send(page.act("amend"), ("bots", "none"), ("elsewhere", "some"), ("reason", "A hall."), *SIZES)
    assert answer.status_code == 303, answer.text
    doc = done(site.get(path))
    assert (doc["bots"], doc["elsewhere"]) == ("none", "some")
    assert "may not play" in host.read(path).text
    done(host.api.post(f"{path}/amendments", {"bots": "declared", "elsewhere": None, **REASON}))
    assert done(site.get(path))["bots"] == "declared"


@pytest.mark.parametrize("bots", ["all", None])
def test_other_values_of_the_term_are_refused(site: Site, bots: str | None) -> None:
    answer = person(site, "Organiser").api.post("/tournaments", {**SWISS, "bots": bots})
    assert refused(answer, 422, "invalid_body")["errors"][0]["at"] == "/bots"


def test_both_servers_for_agents_declare_themselves(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    anne, sent = register(site), list[dict[str, str]]()
    table = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"]
    joined = call_at_address(site, anne.token, "tools/call", name="join_table", arguments={"game": table})
    assert not joined["result"]["isError"], joined
    assert marks(site, table) == [True, False, False]

    def request(*_: object, headers: dict[str, str], **__: object) -> HTTPResponse:
        sent.append(headers)
        return HTTPResponse(b"{}", {"Content-Type": "application/json"}, 200)

    monkeypatch.setattr(urllib3, "request", request)
    agent_command._send("http://x", "POST", "/games/1/moves", {}, {})
    assert sent[0]["Annals-Agent"] == "declared"
