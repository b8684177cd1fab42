"""A director who plays: everything that decides the game needs the consent of the others."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from domain.command_handler import CommandHandler, GameConditions
from domain.kernel.game import proposals as kernel_proposals
from domain.kernel.game.command import Command
from domain.kernel.game.director_commands import Depute
from domain.kernel.game.officers import Officer
from domain.kernel.game.play_commands import Lapse
from domain.kernel.game.ruling_commands import RuleEnding
from domain.service.job_requests import Allowance
from domain.service.seed_store import SeedStore
from tests.api.conftest import ROOT, Doc, Reply, Site, Table, refused
from tests.api.members import Member, register, timed
from workers.context import set_context
from workers.jobs import proposals

PACE = {"seconds": {"turn": 3600}}


@pytest.fixture
def table(site: Site) -> Table:
    """Three players; the director has seat 0, and its token acts as the director."""
    return playing(site)


def playing(site: Site, **terms: Any) -> Table:
    made = site.post("/games", {"ruleset": "orders@1", "seats": 3, "pace": PACE, **terms}).json
    found = Table(site, made["game"], made["token"], [])
    for seat in range(3):
        joined = found.post("/seats", {"seat": seat}, found.director if seat == 0 else "")
        assert joined.status_code == 201, joined.text
        found.tokens.append(joined.json["token"])
    assert found.post("/start", token=found.director).status_code == 201
    return found


def attempts(table: Table) -> dict[str, Reply]:
    """Every command of a director, by its path."""
    match, director = f'"{table.version}"', table.director
    return {
        "extend": table.post("/extensions", {"decision": table.decision, "seconds": 60}, director),
        "shorten": table.post("/extensions", {"decision": table.decision, "seconds": -60}, director),
        "remove": table.site.delete(f"{table.path}/seats/1", director),
        "hold": table.site.put(f"{table.path}/seats/1/hold", {"seconds": 60}, director),
        "rewind": table.post(
            "/rewinds", {"to": table.version - 1, "fresh": True, "reason": "x"}, director, If_Match=match
        ),
        "close": table.post("/close", {"reason": "abandoned"}, director),
    }


def test_alone_a_playing_director_decides_nothing(table: Table) -> None:
    table.move(1, {"type": "submit"})
    version = table.version
    for reply in attempts(table).values():
        refused(reply, 409, "director_has_stake")
    refused(table.post("/looks", {}, table.director), 403, "director_plays")
    refused(table.post("/seats/1/tokens", {}, table.director), 403, "director_plays")
    assert table.version == version


def test_leaving_the_seat_does_not_end_the_stake(table: Table) -> None:
    """Or one would leave, close the lost game, and be done."""
    assert table.site.delete(f"{table.path}/seats/0?hold=0", table.tokens[0]).status_code == 200
    refused(table.post("/close", {"reason": "abandoned"}, table.director), 409, "director_has_stake")
    refused(
        table.post("/extensions", {"decision": table.decision, "seconds": 60}, table.director),
        409,
        "director_has_stake",
    )


def test_seat_that_was_given_back_before_the_start_is_no_stake(site: Site) -> None:
    made = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
    table = Table(site, made["game"], made["token"], [])
    table.post("/seats", {"seat": 0}, table.director)
    assert site.delete(f"{table.path}/seats/0", table.director).status_code == 200
    for seat in range(2):
        table.tokens.append(table.post("/seats", {"seat": seat}).json["token"])
    assert table.post("/start", token=table.director).status_code == 201
    assert table.post("/close", {"reason": "void"}, table.director).status_code == 201


def test_a_director_without_a_seat_does_it_alone(site: Site) -> None:
    table = site.table("orders@1", 3, pace=PACE)
    table.move(1, {"type": "submit"})
    extended = table.post("/extensions", {"decision": table.decision, "seconds": 60}, table.director)
    assert extended.status_code == 201


def test_a_table_may_trust_its_director(site: Site) -> None:
    table = playing(site, officers="any")
    assert table.get().json["officers"] == "any"
    assert table.post("/close", {"reason": "abandoned"}, table.director).status_code == 201


def test_every_route_goes_through_the_guard() -> None:
    """A new one is guarded by default: commands are executed in one place, and none is open unless it says so."""
    for path in (ROOT / "api").rglob("*.py"):
        if path.name not in ("command_execution.py", "seat_release.py"):
            assert not re.search(r"\bcommands\.handle\(", path.read_text("utf-8")), path
    assert [kind.verb for kind in Command.__subclasses__() if kind.open_to_players] == ["Start"]


WORDS_ALONE = {"label_table", "challenges", "list_officers", "report_messages"}
"""Acts of officers without influence on the game: words and lists."""


def test_what_is_no_command_is_guarded_too() -> None:
    """A new act of officers is guarded, or looked at here."""
    guards = ("execute_command(", "vacate_seat(", "store_offers(", "check_neutrality(")
    open_acts = set()
    for path in (ROOT / "api" / "routes").rglob("*.py"):
        for act in path.read_text("utf-8").split("@bp.operation(")[1:]:
            if "require_officer(" in act and not any(guard in act for guard in guards):
                open_acts.add(re.findall(r"^def (\w+)", act, re.MULTILINE)[0])
    assert open_acts == WORDS_ALONE


# --- the table of the documentation ----------------------------------------------------------------------------


def rewind_once(table: Table, **more: Any) -> Reply:
    to = table.version
    table.move(1, {"type": "submit"})
    return table.post("/rewinds", {"to": to, "reason": "x", **more}, table.director, If_Match=f'"{table.version}"')


def seat_bot(table: Table) -> Reply:
    assert table.site.delete(f"{table.path}/seats/2?hold=0", table.tokens[2]).status_code == 200
    return table.post("/seats", {"seat": 2, "bot": "builder"}, table.director)


def person(table: Table) -> str:
    return str(register(table.site, "Ada").doc["name"])


def end_role(table: Table) -> Reply:
    ada = register(table.site, "Ada")
    s = table.site.services
    made = s.commands.handle(
        table.game, Depute(ada.doc["player"], "arbiter"), GameConditions(author=Officer("somebody", "owner"))
    )
    s.notify_appended(made.position)
    return table.post(f"/officers/{ada.doc['player']}/removals", {}, table.director)


def look_and_answer(table: Table) -> Reply:
    """Answer a seat's appeal against the own look; refuse as the look is refused."""
    reply = table.post("/looks", {}, table.director)
    if reply.status_code != 201:
        return reply
    version = reply.json["version"]
    assert table.post("/appeals", {"version": version, "reason": "why"}, table.token(1)).status_code == 201
    return table.post(f"/appeals/{version}/answer", {"outcome": "upheld", "reason": "so"}, table.director)


def rule_and_withdraw(table: Table) -> Reply:
    s = table.site.services
    made = s.commands.handle(table.game, RuleEnding("annulled"), GameConditions(author=Officer("somebody", "owner")))
    s.notify_appended(made.position)
    return table.post(f"/rulings/{made.versions[-1]}/withdrawal", {}, table.director)


ALONE: dict[str, Callable[[Table], Reply]] = {
    "move a deadline": lambda t: t.post("/extensions", {"decision": t.decision, "seconds": 60}, t.director),
    "hold a seat": lambda t: t.site.put(f"{t.path}/seats/1/hold", {"seconds": 60}, t.director),
    "pause the game, and resume it": lambda t: t.post("/pauses", {}, t.director),
    "remove a player": lambda t: t.site.delete(f"{t.path}/seats/1", t.director),
    "give a free seat to a bot": seat_bot,
    "end the game": lambda t: t.post("/close", {"reason": "abandoned"}, t.director),
    "end the game by a ruling": lambda t: t.post("/close", {"reason": "annulled"}, t.director),
    "withdraw a ruling": rule_and_withdraw,
    "answer appeals": look_and_answer,
    "set another pace": lambda t: t.post("/proposals", {"act": "pace", "pace": "none"}, t.director),
    "rewind, with the same chance": rewind_once,
    "rewind with `fresh` chance": lambda t: rewind_once(t, fresh=True),
    "offer somebody a role": lambda t: t.post("/officers", {"name": person(t), "role": "arbiter"}, t.director),
    "hand over the table": lambda t: t.post("/officers", {"name": person(t), "role": "owner"}, t.director),
    "end somebody's role": end_role,
    "move for a seat": lambda t: t.post(
        "/moves", {"decision": t.decision, "seat": 1, "move": {"type": "submit"}}, t.director
    ),
    "look at hidden data": lambda t: t.post("/looks", {}, t.director),
    "replace a lost token": lambda t: t.post("/seats/1/tokens", {}, t.director),
}
"""Each row of the table in docs/http.md but the start: the request of a director."""


def documented() -> dict[str, list[str]]:
    text = (ROOT / "docs" / "http.md").read_text("utf-8")
    rows = text.partition("| command | a director without a seat |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {first: rest for first, *rest in cells}


def test_the_table_has_every_command() -> None:
    rows = documented()
    assert rows.pop("start the game") == ["alone", "alone", ""]
    assert rows.keys() == ALONE.keys()
    agreed = {act for row in rows.values() for act in re.findall(r'"act": "(\w+)"', row[2])}
    assert agreed == kernel_proposals.ACTS.keys()


@pytest.mark.parametrize("sits", [False, True])
@pytest.mark.parametrize("command", ALONE)
def test_the_table_tells_what_a_director_does_alone(site: Site, command: str, sits: bool) -> None:
    table = playing(site) if sits else site.table("orders@1", 3, pace=PACE)
    reply = ALONE[command](table)
    assert (reply.status_code < 300) == documented()[command][sits].startswith("alone"), reply.text
    assert reply.status_code < 300 or reply.status_code in (403, 409)


# --- seats of those who rule -----------------------------------------------------------------------------------


def account_table(site: Site, **terms: Any) -> tuple[Member, Table]:
    """Three players; the director is an account and plays seat 0."""
    timed(site)
    anne = register(site)
    made = anne.post("/games", {"ruleset": "orders@1", "seats": 3, "pace": PACE, **terms}).json
    table = Table(site, made["game"], anne.token, [anne.token])
    assert anne.post(table.path + "/seats", {"seat": 0}).status_code == 201
    table.tokens += [table.post("/seats", {"seat": seat}).json["token"] for seat in (1, 2)]
    assert anne.post(table.path + "/start", Annals_Role="director").status_code == 201
    return anne, table


def miss(table: Table, seat: int) -> None:
    """Let the seat's time run out."""
    s = table.site.services
    due = s.commands.game(table.game).due_times([seat])[seat]
    late = CommandHandler(s.ledger, s.registry, SeedStore(s.ledger, s.ledger.keys), lambda: due)
    s.notify_appended(late.handle(table.game, Lapse(table.decision)).position)


@pytest.mark.parametrize("scopes", [(), ("play", "direct")])
def test_an_account_that_plays_seats_no_bot_alone(site: Site, scopes: tuple[str, ...]) -> None:
    """By its session, which has no role unless the request names one, or by a token of its own."""
    anne, table = account_table(site)
    site.delete(f"{table.path}/seats/1?hold=3600", table.tokens[1])
    token = anne.personal(*scopes) if scopes else anne.token
    refused(table.post("/seats", {"seat": 1, "bot": "builder"}, token), 409, "director_has_stake")


def test_a_bot_in_an_absent_players_seat_ends_the_token(site: Site) -> None:
    table = site.table("orders@1", 3, pace=PACE, misses={"row": 1, "all": 5}, hold=0)
    miss(table, 1)
    assert table.post("/seats", {"seat": 1, "bot": "builder"}, table.director).status_code == 201
    assert table.get("/board", 1).status_code == 401


def test_a_director_who_removed_a_player_takes_no_seat(site: Site) -> None:
    table = site.table("orders@1", 3, pace=PACE)
    assert site.delete(f"{table.path}/seats/1", table.director).status_code == 200
    refused(table.post("/seats", {"seat": 1}, table.director), 403, "director_ruled")


def test_a_director_who_moved_a_deadline_takes_no_seat(site: Site) -> None:
    table = site.table("orders@1", 3, pace=PACE)
    site.delete(f"{table.path}/seats/1?hold=0", table.tokens[1])
    extended = table.post("/extensions", {"decision": table.decision, "seconds": 600}, table.director)
    assert extended.status_code == 201
    refused(table.post("/seats", {"seat": 1}, table.director), 403, "director_ruled")


def test_a_director_who_seated_a_bot_takes_no_seat(site: Site) -> None:
    """Every officer's record counts as a ruling, also one that is not marked as a director's."""
    table = site.table("orders@1", 3, pace=PACE)
    for seat in (1, 2):
        site.delete(f"{table.path}/seats/{seat}?hold=0", table.tokens[seat])
    assert table.post("/seats", {"seat": 2, "bot": "builder"}, table.director).status_code == 201
    refused(table.post("/seats", {"seat": 1}, table.director), 403, "director_ruled")


def test_a_token_that_only_plays_seats_no_bot(site: Site) -> None:
    anne, table = account_table(site, officers="any")
    site.delete(f"{table.path}/seats/1?hold=3600", table.tokens[1])
    refused(table.post("/seats", {"seat": 1, "bot": "builder"}, anne.personal("play")), 403, "scope_missing")


def test_a_playing_director_keeps_no_seat_for_a_friend(table: Table) -> None:
    assert table.site.delete(f"{table.path}/seats/1", table.tokens[1]).status_code == 200
    kept = table.post("/challenges", {"player": "someone-else", "seat": 1, "days": 30}, table.director)
    refused(kept, 409, "director_has_stake")
    refused(table.site.delete(f"{table.path}/challenges?to=someone", table.director), 409, "director_has_stake")


# --- proposals -------------------------------------------------------------------------------------------------


def propose(table: Table, seat: int, act: Doc, **headers: str) -> Doc:
    reply = table.post("/proposals", act, table.tokens[seat], **headers)
    assert reply.status_code == 202, reply.text
    found: Doc = reply.json
    return found


def answer(table: Table, seat: int, proposal: Doc, agrees: bool = True) -> Reply:
    return table.post(f"/proposals/{proposal['id']}/consents", {"agrees": agrees}, table.tokens[seat])


def work(table: Table) -> None:
    set_context(table.site.context)
    for request in table.site.services.job_requests.list_open():
        proposals.run_proposal(request.id)


ACTS: list[Doc] = [
    {"act": "close"},
    {"act": "hold", "seat": 1, "seconds": 60},
    {"act": "remove", "seat": 1},
    {"act": "pace", "pace": {"seconds": {"turn": 60}}},
    {"act": "pause", "until": 4_102_444_800_000, "moves": True},
    {"act": "pause"},
]


@pytest.mark.parametrize("act", ACTS, ids=lambda act: str(act["act"]))
def test_with_everybodys_consent_it_is_done(table: Table, act: Doc) -> None:
    proposal = propose(table, 0, act)
    assert (proposal["consents"], proposal["status"]) == ([1, 2], "open")
    for seat in (1, 2):
        work(table)
        assert answer(table, seat, proposal).status_code == 200
    work(table)
    (listed,) = table.get("/proposals", 0).json["items"]
    assert (listed["status"], listed["agreed"]) == ("done", [1, 2])
    assert table.site.get(f"/jobs/{proposal['id']}").json["status"] == "done"
    assert table.get("/export", "director").status_code in (200, 403)


def test_a_deadline_is_moved_by_consent(table: Table) -> None:
    before = table.get("/decisions").json["decisions"][0]["deadline"]
    proposal = propose(table, 1, {"act": "extend", "decision": table.decision, "seconds": 600})
    answer(table, 0, proposal)
    answer(table, 2, proposal)
    work(table)
    assert table.get("/decisions").json["decisions"][0]["deadline"] == before + 600_000


def test_one_refusal_ends_it_and_its_author_withdraws_it(table: Table) -> None:
    proposal = propose(table, 0, {"act": "close"})
    assert answer(table, 2, proposal, agrees=False).json["status"] == "declined"
    refused(answer(table, 1, proposal), 409, "proposal_closed")
    mine = propose(table, 0, {"act": "close"})
    assert answer(table, 0, mine, agrees=False).json["status"] == "declined"
    work(table)
    assert table.get().json["status"] == "running"


def test_only_those_who_are_asked_answer(table: Table) -> None:
    proposal = propose(table, 0, {"act": "close"})
    refused(answer(table, 0, proposal), 403, "not_asked")


def test_after_a_week_the_silent_have_no_vote(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    table = playing(site, pace="none")
    proposal = propose(table, 0, {"act": "close"})
    answer(table, 1, proposal)
    work(table)
    assert table.get().json["status"] == "running"
    monkeypatch.setattr(proposals, "SILENCE_MS", -1)
    work(table)
    assert table.get().json["ending"] == {"reason": "agreed", "by": "seat", "finished": False}


@pytest.mark.parametrize("misses", [False, True])
def test_who_has_time_left_is_not_silent(table: Table, monkeypatch: pytest.MonkeyPatch, misses: bool) -> None:
    """Two others could end the game of somebody who thinks; but a new deadline is no time for who missed the last."""
    proposal = propose(table, 0, {"act": "close"})
    answer(table, 1, proposal)
    if misses:
        miss(table, 2)
        table.resolve()
    monkeypatch.setattr(proposals, "SILENCE_MS", -1)
    work(table)
    assert table.get().json["status"] == ("closed" if misses else "running")


def test_who_plays_on_is_not_silent(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    proposal = propose(table, 0, {"act": "close"})
    answer(table, 1, proposal)
    reply = table.move(2, {"type": "submit"})
    assert reply.status_code == 201, reply.text
    monkeypatch.setattr(proposals, "SILENCE_MS", -1)
    work(table)
    assert table.get(f"/proposals/{proposal['id']}").json["status"] == "failed"
    assert table.get().json["status"] == "running"


@pytest.mark.parametrize("mover", [0, 1, 2])
def test_silence_does_not_tell_who_has_moved_in_secret(site: Site, monkeypatch: pytest.MonkeyPatch, mover: int) -> None:
    table = playing(site, ruleset="windows@1", pace="none")
    assert table.move(0, {"type": "attack", "target": 1}).status_code == 201
    proposal = propose(table, 0, {"act": "close"})
    answer(table, 1, proposal)
    assert table.move(mover, {"type": "pass"}).status_code == 201
    monkeypatch.setattr(proposals, "SILENCE_MS", -1)
    work(table)
    assert table.get(f"/proposals/{proposal['id']}").json["status"] == "failed"


def test_a_table_without_director_and_deadlines_has_a_way_out(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The director is gone, a player is silent, and no clock runs: the others agree on a pace."""
    table = site.table("orders@1", 2)
    propose(table, 0, {"act": "pace", "pace": {"seconds": {"turn": 60}}})
    monkeypatch.setattr(proposals, "SILENCE_MS", -1)
    work(table)
    assert table.get().json["pace"]["seconds"] == {"turn": 60}
    assert table.get("/decisions").json["decisions"][0]["deadline"]


def test_at_a_table_of_bots_nobody_is_asked(site: Site) -> None:
    made = site.post("/games", {"ruleset": "orders@1", "seats": 2}).json
    table = Table(site, made["game"], made["token"], [])
    table.tokens.append(table.post("/seats", {"seat": 0}, table.director).json["token"])
    assert table.post("/seats", {"seat": 1, "bot": "builder"}, table.director).status_code == 201
    table.post("/start", token=table.director)
    asked = propose(table, 0, {"act": "close"})
    assert asked["status"] == "queued"
    assert table.get(f"/proposals/{asked['id']}").json["status"] == "done"
    assert table.get().json["status"] == "closed"


def test_the_same_key_proposes_once(table: Table) -> None:
    first, again = (propose(table, 0, {"act": "close"}, Idempotency_Key="proposal-1") for _ in range(2))
    assert first == again
    reply = table.post("/proposals", {"act": "remove", "seat": 1}, table.tokens[0], Idempotency_Key="proposal-1")
    refused(reply, 422, "idempotency_key_reused")


def test_a_seat_has_five_open_proposals_at_most(table: Table) -> None:
    for _ in range(5):
        propose(table, 0, {"act": "resume"})
    refused(table.post("/proposals", {"act": "resume"}, table.tokens[0]), 409, "too_many_proposals")


def test_open_requests_count_among_three_that_may_be_declined(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also requests at the same time: each was counted before the others were stored."""
    for _ in range(3):
        propose(table, 0, {"act": "close"})
    refused(table.post("/proposals", {"act": "close"}, table.tokens[0]), 409, "too_many_proposals")
    before = Allowance(0, frozenset(), 3)
    monkeypatch.setattr("api.routes.proposals.check_motions_left", lambda *_: before)
    refused(table.post("/proposals", {"act": "close"}, table.tokens[0]), 409, "too_many_proposals")


def test_who_is_on_vacation_is_not_silent(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    table = playing(site, pace=PACE | {"vacation": 30})
    assert table.post("/vacations", {"days": 30}, table.tokens[1]).status_code == 201
    proposal = propose(table, 0, {"act": "remove", "seat": 1})
    answer(table, 2, proposal)
    monkeypatch.setattr(proposals, "SILENCE_MS", -1)
    work(table)
    assert table.get(f"/proposals/{proposal['id']}").json["status"] == "failed"


@pytest.mark.parametrize("seat", [0, 1])
def test_a_vote_is_of_the_person_and_not_of_the_seat(table: Table, seat: int) -> None:
    """Its author or one who has agreed leaves, and somebody else comes."""
    proposal = propose(table, 0, {"act": "close"})
    answer(table, 1, proposal)
    table.site.delete(f"{table.path}/seats/{seat}?hold=0", table.tokens[seat])
    assert table.post("/seats", {"seat": seat}).status_code == 201
    answer(table, 2, proposal)
    work(table)
    assert table.get(f"/proposals/{proposal['id']}").json["status"] == "failed"
    assert table.get().json["status"] == "running"


def test_a_substitute_does_not_vote_for_who_comes_back(site: Site) -> None:
    anne, table = account_table(site)
    proposal = propose(table, 1, {"act": "close"})
    site.delete(f"{table.path}/seats/0", anne.token, Annals_Role="0")
    table.tokens[0] = table.post("/seats", {"seat": 0}).json["token"]
    refused(answer(table, 0, proposal), 403, "not_asked")
    site.delete(f"{table.path}/seats/0", table.tokens[0])
    assert anne.post(f"{table.path}/seats", {"seat": 0}).status_code == 201
    assert answer(table, 2, proposal).json["status"] == "open"


def test_proposal_fails_once_its_decision_has_ended(table: Table) -> None:
    proposal = propose(table, 0, {"act": "extend", "decision": table.decision, "seconds": 60})
    for seat in range(3):
        assert table.move(seat, {"type": "submit"}).status_code == 201
    table.resolve()
    for seat in (1, 2):
        assert answer(table, seat, proposal).status_code == 200
    work(table)
    assert table.site.get(f"/jobs/{proposal['id']}").json["problem"]["code"] == "decision_closed"


def test_a_replaced_token_has_no_vote(site: Site) -> None:
    """The director has had it in hand."""
    table = site.table("orders@1", 2, pace=PACE)
    proposal = propose(table, 0, {"act": "close"})
    lent = table.post("/seats/1/tokens", {}, table.director).json["token"]
    reply = site.post(f"{table.path}/proposals/{proposal['id']}/consents", {"agrees": True}, lent)
    refused(reply, 403, "lent_token")
    refused(site.post(f"{table.path}/proposals", {"act": "close"}, lent), 403, "lent_token")
    reply = site.post(f"{table.path}/proposals/{proposal['id']}/consents", {"agrees": False}, lent)
    assert reply.json["status"] == "declined", "its player may always keep the table as it is"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"act": "win"},
        {"act": "close", "seat": 1},
        {"act": "extend", "seconds": 5},
        {"act": "hold", "seat": 1, "seconds": -5},
        {"act": "remove"},
        {"act": "resume", "until": 1},
        {"act": "close", "moves": True},
    ],
)
def test_a_body_that_does_not_fit_is_told(table: Table, body: Doc) -> None:
    refused(table.post("/proposals", body, table.tokens[0]), 422, "invalid_body")


def test_what_can_be_refused_at_once_is(table: Table) -> None:
    refused(table.post("/proposals", {"act": "remove", "seat": 9}, table.tokens[0]), 409, "unknown_seat")
    reply = table.post("/proposals", {"act": "pace", "pace": {"seconds": {"era": 1}}}, table.tokens[0])
    refused(reply, 422, "invalid_table")


# --- tokens of seats -------------------------------------------------------------------------------------------


def test_a_director_who_has_replaced_the_own_token_comes_back(site: Site) -> None:
    """Nobody else's secrets were in that hand."""
    made = site.post("/games", {"ruleset": "orders@1", "seats": 2, "officers": "any"}).json
    table = Table(site, made["game"], made["token"], [])
    for seat, token in enumerate((table.director, "")):
        table.tokens.append(table.post("/seats", {"seat": seat}, token).json["token"])
    table.post("/start", token=table.director)
    mine = table.post("/seats/0/tokens", {}, table.director).json["token"]
    assert site.delete(f"{table.path}/seats/0?hold=0", mine).status_code == 200
    assert table.post("/seats", {"seat": 0}, table.director).status_code == 201


def test_a_director_who_has_replaced_a_token_takes_no_seat(site: Site) -> None:
    """Whoever has had a token of a seat could have read its secrets."""
    table = site.table("orders@1", 3)
    assert table.post("/seats/1/tokens", {}, table.director).status_code == 201
    assert site.delete(f"{table.path}/seats/2?hold=0", table.tokens[2]).status_code == 200
    refused(table.post("/seats", {"seat": 2}, table.director), 403, "director_looked")


def test_players_agree_on_no_bot_that_the_ruleset_lacks(table: Table) -> None:
    """It would sit there and never move."""
    refused(
        table.post("/proposals", {"act": "seat_bot", "seat": 1, "bot": "heuristic"}, table.tokens[0]),
        422,
        "invalid_body",
    )
