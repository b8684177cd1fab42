"""Forks of closed games: opened by anybody with an account, played on at once, and kept out of all lists."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain.bots import is_kept_out
from domain.kernel.game.forks import check_origin
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.ruleset_registry import load_shipped
from tests.api.conftest import CATALOGUE, Reply, Site, Table, refused
from tests.api.members import Member, register
from tests.api.player import pick, play

KEY = "a-key-of-at-least-thirty-two-characters"


@pytest.fixture
def table(site: Site) -> Table:
    """A closed game."""
    table = site.table("windows@1", 3)
    play(table, random.Random(2), 6)
    assert table.post("/close", {"reason": "void"}, table.director).status_code in (200, 201)
    return table


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site, "Anne")


def test_a_bot_that_looks_ahead_gets_no_seat_of_a_fork() -> None:
    """It would tell a player of the running origin the best move there."""
    rules = load_shipped().get("seven_empires@1")
    match = InMemoryGame(rules, 2, bytes(32))
    fork_ = InMemoryGame(rules, 2, bytes(32), terms={"origin": {"game": "g", "version": 1, "head": "h"}}, start=False)
    assert not is_kept_out(match.game, "strong")
    assert is_kept_out(fork_.game, "strong")
    assert not is_kept_out(fork_.game, "heuristic")


def fork(table: Table, member: Member, version: int, **headers: str) -> Reply:
    return member.post(f"{table.path}/forks", {"version": version}, **headers)


def forked(table: Table, member: Member, version: int) -> Table:
    made = fork(table, member, version)
    assert made.status_code == 201, made.text
    return Table(table.site, made.json["game"], member.token, [])


def act(table: Table, member: Member, role: int | str, path: str, body: object = None) -> Reply:
    return member.post(f"{table.path}{path}", body, Annals_Role=str(role))


def test_anybody_with_an_account_plays_on_from_a_version(table: Table, anne: Member) -> None:
    version = table.version - 2
    made = fork(table, anne, version)
    assert (made.status_code, made.headers["Location"]) == (201, f"/v1/games/{made.json['game']}")
    fork_ = Table(table.site, made.json["game"], anne.token, [])
    entry = table.get("/timeline?limit=200").json["items"][version - 1]
    origin = {"game": table.game, "version": version, "head": entry["head"]}
    assert made.json["origin"] == origin
    for path in ("", "/board"):
        assert anne.get(fork_.path + path, Annals_Role="0").json["origin"] == origin
    assert fork_.get("/timeline").json["items"][0]["text"] == [
        f"An analysis is opened. It begins from version {version} of the game {table.game}."
    ]
    past = table.get(f"/board?version={version}").json
    assert fork_.get("/board").json["public"] == past["public"]
    (decision,) = fork_.get("/decisions").json["decisions"]
    seat = decision["must"][0]
    choice = act(fork_, anne, seat, "/choices", {}).json["choice"]
    assert choice is not None
    assert fork_.get("/audit").json["proved"] is True


def test_fork_is_played_out_and_proved_against_its_origin(table: Table, anne: Member) -> None:
    fork_ = forked(table, anne, table.version - 3)
    closed = act(fork_, anne, "director", "/close", {"reason": "void"})
    assert closed.status_code in (200, 201), closed.text
    whole, origin = (export.parse(each.get("/export").data) for each in (fork_, table))
    rules = CATALOGUE.get("windows@1")
    assert verify.verify(rules, whole).closed
    check_origin(rules, whole.records, origin.records)


def test_it_is_in_no_list_and_has_no_result(table: Table, anne: Member) -> None:
    fork_ = forked(table, anne, table.version - 1)
    player = anne.get("/me").json["player"]
    assert [g["game"] for g in anne.get("/me/games").json["items"]] == [fork_.game]
    assert anne.get("/me/games").json["items"][0]["origin"]["game"] == table.game
    assert act(fork_, anne, "director", "/close", {"reason": "void"}).status_code in (200, 201)
    listed = table.site.get("/games").json["items"] + table.site.get(f"/players/{player}/games").json["items"]
    assert fork_.game not in {each["game"] for each in listed}
    assert table.site.get(f"/players/{player}/results").json["items"] == []
    assert anne.get("/me/desk").json["items"] == []
    refused(act(fork_, anne, "director", "/rematches", {}), 409, "is_analysis")


def test_nobody_is_asked_for_anything_by_a_fork(table: Table, anne: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """No challenge and no role comes from it, and a refused fork costs none of the quota of tables."""
    fork_, bert = forked(table, anne, table.version - 1), register(table.site, "Bert")
    assert table.site.delete(f"{fork_.path}/seats/1", anne.token, Annals_Role="1").status_code in (200, 201, 204)
    called = {"player": bert.doc["player"]}
    refused(act(fork_, anne, "director", "/challenges", {**called, "seat": 1}), 409, "is_analysis")
    refused(act(fork_, anne, "director", "/officers", {**called, "role": "arbiter"}), 409, "is_analysis")
    assert bert.get("/me/challenges").json["items"] == []
    assert bert.get("/me/offices").json["offers"] == []
    monkeypatch.setattr("api.routes.table_forks.charge_quota", lambda _: pytest.fail("a refused fork was charged"))
    refused(fork(table, anne, 1), 409, "not_running")


def test_somebody_else_takes_a_seat_that_is_left(table: Table, anne: Member) -> None:
    fork_, bert = forked(table, anne, table.version - 1), register(table.site, "Bert")
    assert table.site.delete(f"{fork_.path}/seats/1", anne.token, Annals_Role="1").status_code in (200, 201, 204)
    taken = bert.post(f"{fork_.path}/seats", {"seat": 1})
    assert taken.status_code == 201, taken.text


def test_the_same_key_forks_once(table: Table, anne: Member) -> None:
    first, again = (fork(table, anne, table.version - 1, Idempotency_Key=KEY) for _ in range(2))
    assert (first.data, again.headers["Idempotency-Replayed"]) == (again.data, "true")
    refused(fork(table, anne, table.version - 2, Idempotency_Key=KEY), 422, "idempotency_key_reused")


def test_only_closed_games_with_open_decisions_are_forked(site: Site, table: Table, anne: Member) -> None:
    running = site.table("windows@1", 3)
    refused(fork(running, anne, running.version), 409, "still_running")
    for version in (1, 3, table.version):
        refused(fork(table, anne, version), 409, "not_running")
    refused(fork(table, anne, table.version + 1), 422, "unknown_version")
    refused(fork(table, anne, 0), 422, "invalid_body")
    refused(site.post(f"{table.path}/forks", {"version": 5}, table.director), 403, "accounts_only")
    refused(site.post(f"{table.path}/forks", {"version": 5}), 401, "unauthenticated")
    refused(anne.post(f"/games/{'0' * 8}-0000-4000-8000-{'0' * 12}/forks", {"version": 5}), 404, "unknown_game")


def directed(site: Site, member: Member, **terms: Any) -> Table:
    """A running game that a member directs from outside."""
    made = member.post("/games", {"ruleset": "windows@1", "seats": 3, **terms})
    assert made.status_code == 201, made.text
    table = Table(site, made.json["game"], member.token, [])
    for seat in range(3):
        joined = site.post(f"{table.path}/seats", {"seat": seat, "name": f"Player {seat}"})
        table.tokens.append(joined.json["token"])
    assert act(table, member, "director", "/start").status_code == 201
    play(table, random.Random(2), 3)
    return table


def test_its_director_forks_a_running_game_from_what_is_public(site: Site, anne: Member) -> None:
    table = directed(site, anne, delay=3600)
    version = table.version
    made = fork(table, anne, version)
    assert made.status_code == 201, made.text
    assert made.json["origin"]["known_to"] == "public"
    line = anne.get(f"/games/{made.json['game']}/timeline", Annals_Role="0").json["items"][0]["text"][0]
    assert line.endswith("It keeps what was public, and all else is dealt anew.")
    fork_ = Table(site, made.json["game"], anne.token, [])
    whole = anne.get(f"{fork_.path}/board", Annals_Role="director").json
    assert whole["public"] == anne.get(f"{table.path}/board", Annals_Role="director").json["public"]
    hand = site.get(f"{table.path}/board", table.tokens[0]).json["own"]["hand"]
    assert len(anne.get(f"{fork_.path}/board", Annals_Role="0").json["own"]["hand"]) == len(hand)
    assert site.get(f"{fork_.path}/board").json["version"] < made.json["version"]  # spectators wait, as for the game
    assert table.version == version
    assert fork_.get("/audit").json["proved"] is True


def test_from_what_a_seat_knows_is_a_look(site: Site, anne: Member) -> None:
    table = directed(site, anne)
    version = table.version
    made = anne.post(f"{table.path}/forks", {"version": version, "seat": 1}, Idempotency_Key=KEY)
    assert made.status_code == 201, made.text
    assert made.json["origin"]["known_to"] == 1
    line = site.get(f"/games/{made.json['game']}/timeline").json["items"][0]["text"][0]
    assert line.endswith("knew, and all else is dealt anew.")
    assert table.version == version + 1
    fork_ = Table(site, made.json["game"], anne.token, [])
    kept = anne.get(f"{fork_.path}/board", Annals_Role="1").json["own"]
    assert kept == site.get(f"{table.path}/board", table.tokens[1]).json["own"]
    assert "own" not in site.get(f"{fork_.path}/board").json
    started = export.parse(site.get(f"{fork_.path}/export").data).records[-1]
    restored = next(fact for fact in started.public["facts"] if fact["t"] == "restored")
    assert not any(restored["state"]["hands"].values())
    path = f"/games/{made.json['game']}"
    refused(anne.post(f"{path}/close", {"reason": "void"}, Annals_Role="director"), 409, "still_running")
    again = anne.post(f"{table.path}/forks", {"version": version, "seat": 1}, Idempotency_Key=KEY)
    assert (again.data, table.version) == (made.data, version + 1)
    assert site.delete(f"{table.path}/seats/2", table.tokens[2]).status_code in (200, 201, 204)
    refused(anne.post(f"{table.path}/seats", {"seat": 2}), 403, "director_looked")


def owes(fork_: Table, member: Member, seat: int) -> bool:
    """Whether a seat owes the open decision: of a secret one it alone knows that."""
    return seat in member.get(f"{fork_.path}/decisions", Annals_Role=str(seat)).json["decisions"][0]["must"]


def finish(fork_: Table, member: Member) -> None:
    """Play a fork to its end, at every seat."""
    rng = random.Random(3)
    while found := member.get(f"{fork_.path}/decisions", Annals_Role="director").json["decisions"]:
        seat, picks = next(s for s in found[0]["must"] if owes(fork_, member, s)), list[Any]()
        while (answer := act(fork_, member, seat, "/choices", {"picks": picks}).json)["move"] is None:
            picks.append(pick(answer["choice"], rng))
        sent = act(fork_, member, seat, "/moves", {"move": answer["move"], "decision": found[0]["id"]})
        assert sent.status_code == 201, sent.text


def test_the_end_of_a_fork_shows_nothing_while_its_origin_runs(site: Site, anne: Member) -> None:
    """Not what the seat knew, nor the seed: the close waits for that of the origin."""
    table = directed(site, anne, options={"turns": 2})
    made = anne.post(f"{table.path}/forks", {"version": table.version, "seat": 1})
    fork_ = Table(site, made.json["game"], anne.token, [])
    refused(act(fork_, anne, "director", "/close", {"reason": "adjourned"}), 409, "still_running")
    finish(fork_, anne)
    assert site.get(fork_.path).json["status"] == "over"
    found = export.parse(site.get(f"{fork_.path}/export").data)
    assert not any(record.packs for record in found.records)
    assert "own" not in site.get(f"{fork_.path}/board").json
    assert site.get(f"{fork_.path}/scores").json.get("final", False) is False
    refused(act(fork_, anne, "director", "/close", {"reason": "void"}), 409, "still_running")
    assert act(table, anne, "director", "/close", {"reason": "void"}).status_code == 201
    assert act(fork_, anne, "director", "/close", {"reason": "void"}).status_code == 201
    assert "own" in site.get(f"{fork_.path}/board").json


def test_fork_of_running_game_is_for_directors_who_do_not_play(site: Site, anne: Member) -> None:
    table, bert = directed(site, anne), register(site, "Bert")
    version = table.version
    refused(fork(table, bert, version), 409, "still_running")
    office = {"name": "Bert", "role": "deputy"}
    assert act(table, anne, "director", "/officers", office).status_code == 202
    assert bert.put(f"/me/offices/{table.game}", {}).status_code == 200
    refused(fork(table, bert, version), 409, "office_insufficient")
    refused(fork(table, anne, 1), 409, "not_running")
    refused(anne.post(f"{table.path}/forks", {"version": version, "seat": 7}), 409, "unknown_seat")


def test_a_director_who_plays_forks_only_after_the_end(site: Site, anne: Member) -> None:
    table = directed(site, anne)
    assert site.delete(f"{table.path}/seats/2", table.tokens[2]).status_code in (200, 201, 204)
    assert anne.post(f"{table.path}/seats", {"seat": 2}).status_code == 201
    refused(fork(table, anne, table.version), 409, "director_has_stake")


def test_a_closed_game_is_forked_from_what_a_seat_knew(table: Table, anne: Member) -> None:
    made = anne.post(f"{table.path}/forks", {"version": table.version - 1, "seat": 0})
    assert made.json["origin"]["known_to"] == 0
    fork_ = Table(table.site, made.json["game"], anne.token, [])
    assert act(fork_, anne, "director", "/close", {"reason": "void"}).status_code in (200, 201)
    whole, origin = (export.parse(each.get("/export").data) for each in (fork_, table))
    check_origin(CATALOGUE.get("windows@1"), whole.records, origin.records)


def test_a_key_stands_for_one_fork_after_the_end_too(site: Site, anne: Member) -> None:
    table = directed(site, anne)
    version = table.version
    first = fork(table, anne, version, Idempotency_Key=KEY)
    assert act(table, anne, "director", "/close", {"reason": "void"}).status_code in (200, 201)
    again = fork(table, anne, version, Idempotency_Key=KEY)
    assert (again.data, again.headers["Idempotency-Replayed"]) == (first.data, "true")


def test_what_spectators_cannot_see_yet_is_not_forked(site: Site, anne: Member) -> None:
    """The same answer as for a running game, or it would tell that the game is over."""
    late = site.table("windows@1", 3, delay=3600)
    play(late, random.Random(2), 3)
    assert late.post("/close", {"reason": "void"}, late.director).status_code in (200, 201)
    running = site.table("windows@1", 3, delay=3600)
    answers = [fork(each, anne, 5) for each in (late, running)]
    assert [(answer.status_code, answer.json["code"]) for answer in answers] == [(409, "still_running")] * 2
