"""Results by ruling over HTTP: what is shown before and after the close, and the withdrawal."""

from __future__ import annotations

import pytest

from domain.command_handler import CommandHandler
from domain.kernel.game.rulings import WITHDRAWAL_MS
from domain.kernel.game.table_commands import Close
from domain.service.seed_store import SeedStore
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import Member, register, timed
from tests.api.test_staff import appoint, entry, opened


@pytest.fixture
def owner(site: Site) -> Member:
    timed(site)
    return register(site, "Olga")


@pytest.fixture
def table(owner: Member) -> Table:
    return opened(owner)


def rule(table: Table, reason: str, token: str = "", **body: object) -> int:
    reply = table.post("/close", {"reason": reason, **body}, token or table.director)
    assert reply.status_code == 201, reply.text
    return int(reply.json["version"])


def close(table: Table) -> None:
    """A worker closes the game after a day."""
    s = table.site.services
    ruling = s.commands.game(table.game).pending_ruling
    assert ruling
    late = CommandHandler(s.ledger, s.registry, SeedStore(s.ledger, s.ledger.keys), lambda: ruling.final_at)
    s.notify_appended(late.handle(table.game, Close(ruling.reason, "clock")).position)


def test_before_the_close_nothing_hidden_is_shown(owner: Member, table: Table) -> None:
    board = table.get("/board", 0).json
    version = rule(table, "adjourned", explanation="The hall closes")
    shown = table.get().json
    assert (shown["status"], shown["ending"], shown["waiting_for"]) == ("over", None, [])
    ruling = shown["ruling"]
    assert (ruling["version"], ruling["reason"]) == (version, "adjourned")
    assert ruling["final_at"] == ruling["at"] + WITHDRAWAL_MS
    now = table.get("/board", 0).json
    assert (now["own"], now["public"], now["decisions"]) == (board["own"], board["public"], [])
    assert "own" not in table.get("/board").json
    assert table.get("/scores").json["final"] is False
    refused(table.post("/moves", {"move": {"type": "submit"}, "decision": "0-1"}, table.tokens[0]), 409, "game_over")
    (row,) = owner.get("/me/desk?needs=ruled").json["items"]
    assert (row["status"], row["ruling"], row["needs"]) == ("over", ruling, ["ruled"])
    lines = entry(table)["text"]
    assert lines[0].startswith("A ruling ends the game: it is ranked as it stands.")
    assert "The hall closes" in " ".join(lines)
    refused(table.post("/close", {"reason": "void"}, table.director), 409, "ruling_pending")


@pytest.mark.parametrize(
    ("reason", "body", "places"),
    [
        ("adjourned", {}, [1, 1, 1]),
        ("adjudicated", {"places": [2, 1, 2], "penalties": {"1": 7}}, [2, 1, 2]),
        ("forfeited", {"forfeits": [1], "penalties": {"1": 7}}, [1, 3, 1]),
        ("annulled", {}, []),
    ],
)
def test_after_the_close_lists_and_scores_tell_endings_apart(
    table: Table, reason: str, body: Doc, places: list[int]
) -> None:
    version = rule(table, reason, **body)
    close(table)
    shown, scores = table.get().json, table.get("/scores").json
    assert (shown["status"], shown["ruling"]) == ("closed", None)
    forfeits, penalties = body.get("forfeits", []), body.get("penalties", {})
    assert shown["ending"] == scores["ending"]
    assert shown["ending"] == {
        "reason": reason,
        "by": "director",
        "finished": False,
        "ruling": version,
        "ranked": reason != "annulled",
        "forfeits": forfeits,
        "penalties": penalties,
    }
    assert [line["place"] for line in scores["scores"]] == places
    assert [line["seat"] for line in scores["scores"] if line["forfeited"]] == (forfeits if places else [])
    assert {str(line["seat"]): line["penalty"] for line in scores["scores"] if "penalty" in line} == penalties
    player = shown["seats"][1]["player"]
    listed = table.site.get(f"/players/{player}/results").json
    (item,) = listed["items"]
    assert (item["reason"], item["place"]) == (reason, places[1] if places else None)
    assert (item["forfeited"], item["penalty"]) == (1 in forfeits, penalties.get("1", 0))
    assert (listed["finished"], listed["unfinished"]) == ((1, 0) if places else (0, 1))
    refused(table.post(f"/rulings/{version}/withdrawal", {}, table.director), 409, "no_ruling")
    rewind = table.post("/rewinds", {"to": version - 1}, table.director, If_Match=f'"{table.version}"')
    refused(rewind, 409, "game_over")


def test_who_was_erased_sits_there_no_more_after_withdrawal(owner: Member, table: Table) -> None:
    table.site.delete(f"{table.path}/seats/1?hold=0", table.tokens[1])
    cora = register(table.site, "Cora")
    assert cora.post(f"{table.path}/seats", {"seat": 1}).status_code == 201
    version = rule(table, "adjourned")
    cora.prove()
    assert cora.delete("/me").status_code == 204
    assert table.post(f"/rulings/{version}/withdrawal", {}, table.director).status_code == 201
    (seat,) = [seat for seat in table.get().json["seats"] if seat["seat"] == 1]
    assert (table.get().json["status"], seat["player"] is None or seat["held"] is not None) == ("running", True)


def test_a_ruling_is_withdrawn_by_an_equal_or_higher_role(owner: Member, table: Table) -> None:
    arbiter, second = appoint(owner, table, "Ada", "arbiter"), appoint(owner, table, "Abe", "arbiter")
    before = table.get("/decisions").json["decisions"]
    version = rule(table, "annulled", arbiter.token)
    refused(table.post(f"/rulings/{version - 1}/withdrawal", {}, second.token), 409, "no_ruling")
    refused(table.post(f"/rulings/{version}/withdrawal", {}, table.tokens[0]), 403, "directors_only")
    assert table.post(f"/rulings/{version}/withdrawal", {"reason": "A slip"}, second.token).status_code == 201
    assert table.get().json["status"] == "running"
    assert table.get().json["ruling"] is None
    assert entry(table)["text"][0] == "The ruling is withdrawn, and the game goes on."
    assert entry(table, "fr")["text"][0] == "La décision est retirée, et la partie continue."
    after = table.get("/decisions").json["decisions"]
    assert [d["id"] for d in after] == [d["id"] for d in before]
    version = rule(table, "annulled")
    refused(table.post(f"/rulings/{version}/withdrawal", {}, arbiter.token), 409, "office_insufficient")


def test_an_arbiter_rules_and_does_not_close(owner: Member, table: Table) -> None:
    arbiter = appoint(owner, table, "Ada", "arbiter")
    refused(table.post("/close", {"reason": "void"}, arbiter.token), 409, "office_insufficient")
    rule(table, "forfeited", arbiter.token, forfeits=[2])


@pytest.mark.parametrize(
    "body",
    [
        {"reason": "adjudicated"},
        {"reason": "annulled", "places": [1, 2, 3]},
        {"reason": "forfeited"},
        {"reason": "void", "penalties": {"0": 1}},
        {"reason": "annulled", "penalties": {"x": 1}},
        {"reason": "annulled", "penalties": {"0": "1"}},
    ],
)
def test_members_of_another_ending_are_refused(table: Table, body: Doc) -> None:
    refused(table.post("/close", body, table.director), 422, "invalid_body")


def test_what_does_not_fit_the_seats_is_refused(table: Table) -> None:
    for body in ({"reason": "adjudicated", "places": [1, 2]}, {"reason": "forfeited", "forfeits": [3]}):
        assert refused(table.post("/close", body, table.director), 409, "ruling_invalid")["figures"]["at"]
