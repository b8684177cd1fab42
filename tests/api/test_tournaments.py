"""Tournaments over HTTP: from the opening to the last standings, and what is refused on the way."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain.errors import VerificationError
from domain.tournaments.draw import commit_nonce
from domain.tournaments.event_proof import parse_export, verify_tournament
from tests.api.conftest import Doc, Site, Table, refused
from tests.api.members import Member, register
from tests.api.player import play

BODY: Doc = {
    "title": "Genoa Open",
    "ruleset": "orders@1",
    "table": {"undo": "none"},
    "seats": {"least": 3, "most": 3, "preferred": 3},
    "stages": [{"format": "league", "rounds": 2}],
}
NONCE = "a wind that nobody foresees {}".replace(" ", "_")


def opened(site: Site, director: Member, **more: Any) -> str:
    made = director.post("/tournaments", {**BODY, **more}, Idempotency_Key="k" * 40)
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == f"/v1/tournaments/{made.json['tournament']}"
    return f"/tournaments/{made.json['tournament']}"


def done(answer: Any) -> Doc:
    assert answer.status_code in (200, 201), answer.text
    doc: Doc = answer.json
    return doc


def people(site: Site, count: int) -> list[Member]:
    return [register(site, f"Anne {number}") for number in range(count)]


def drawn(site: Site, count: int = 9, **more: Any) -> tuple[Member, list[Member], str]:
    """A tournament after its draw."""
    director, members = register(site, "Organiser"), people(site, count)
    path = opened(site, director, **more)
    for member in members:
        done(member.post(f"{path}/entrants"))
    done(director.post(f"{path}/phases", {"phase": "checking"}))
    for number, member in enumerate(members):
        done(member.post(f"{path}/checkin", {"nonce_hash": commit_nonce(NONCE.format(number))}))
    done(director.post(f"{path}/phases", {"phase": "drawing"}))
    for number, member in enumerate(members):
        done(member.post(f"{path}/nonce", {"nonce": NONCE.format(number)}))
    done(director.post(f"{path}/stages/1/rounds/1/draw"))
    return director, members, path


def finish(site: Site, director: Member, members: list[Member], pod: Doc) -> None:
    """The game of a pod, played to its end."""
    table = Table(site, pod["game"], director.token, [members[e].token for e in pod["entrants"]])
    play(table, random.Random(pod["table"]), 200)
    assert table.get(who=0).json["status"] == "closed"


def test_a_whole_event(site: Site) -> None:
    """Nine entrants, two rounds; everybody can prove every place."""
    director, members, path = drawn(site)
    for number in (1, 2):
        round_ = f"{path}/stages/1/rounds/{number}"
        refused(director.post(f"{round_}/rank"), 409, "tables_open")
        made = done(director.post(f"{round_}/tables"))
        assert made["left"] == 0
        assert done(director.post(f"{round_}/tables"))["version"] == made["version"]
        pods = done(site.get(round_))["pods"]
        assert sorted(entrant for pod in pods for entrant in pod["entrants"]) == list(range(9))
        if number == 1:
            refused(director.post(f"{path}/stages/1/rounds/2/tables"), 409, "rounds_open")
        for pod in pods:
            finish(site, director, members, pod)
        assert done(director.post(f"{round_}/reports"))["pods"] == [1, 2, 3]
        assert done(director.post(f"{round_}/reports"))["pods"] == []
        done(director.post(f"{round_}/rank"))
    last, official = (done(site.get(f"{path}/standings{query}")) for query in ("", "?after_round=2"))
    assert last["standings"] == official["standings"]
    assert sum(row["ticks"] for row in last["standings"]) == 6 * 3 * 2520
    for lang in ("en", "fr"):
        for a in range(9):
            for b in range(a):
                told = done(site.get(f"{path}/explain?a={a}&b={b}&lang={lang}"))
                order = [row["entrant"] for row in last["standings"]]
                assert {told["first"], told["second"]} == {a, b}
                assert order.index(told["first"]) < order.index(told["second"])
                assert "Anne" in " ".join(told["sentences"])
    done(director.post(f"{path}/close"))
    assert done(site.get(path))["status"] == "finished"
    refused(director.post(f"{path}/close"), 409, "wrong_status")
    assert [doc["title"] for doc in site.get("/tournaments").json["items"]] == ["Genoa Open"]
    records = parse_export(site.get(f"{path}/export").data)
    assert verify_tournament(records).status == "finished"
    proof = done(site.get(f"{path}/records/{len(records)}/proof"))
    assert proof["record"] == records[-1].hash


class TestEntering:
    def test_it_needs_an_account_with_the_scope(self, site: Site) -> None:
        director = register(site)
        path = opened(site, director)
        refused(site.post(f"{path}/entrants"), 401, "unauthenticated")
        guest = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json["token"]
        refused(site.post(f"{path}/entrants", {}, guest), 403, "accounts_only")
        refused(site.post(f"{path}/entrants", {}, director.personal("read")), 403, "scope_missing")
        refused(site.post("/tournaments", BODY, director.personal("play")), 403, "scope_missing")
        other = register(site, "Bertrand")
        refused(other.post(f"{path}/phases", {"phase": "checking"}), 403, "directors_only")
        refused(other.delete(f"{path}/entrants/me"), 409, "not_entered")

    def test_a_repetition_enters_once_and_a_stale_version_is_refused(self, site: Site) -> None:
        director = register(site)
        path = opened(site, director)
        first = director.post(f"{path}/entrants", Idempotency_Key="enter-me-once")
        again = director.post(f"{path}/entrants", Idempotency_Key="enter-me-once")
        assert (first.data, again.headers["Idempotency-Replayed"]) == (again.data, "true")
        refused(director.post(f"{path}/entrants"), 409, "already_entered")
        refused(director.delete(f"{path}/entrants/me", If_Match='"1"'), 412, "stale_version")
        done(director.delete(f"{path}/entrants/me", If_Match='"2"'))
        assert done(director.post(f"{path}/entrants"))["entrant"] == 1

    def test_those_beyond_the_capacity_wait_and_move_up(self, site: Site) -> None:
        members = people(site, 4)
        path = opened(site, members[0], capacity=3)
        for member in members:
            done(member.post(f"{path}/entrants"))
        assert [one["waiting"] for one in site.get(path).json["people"]] == [False, False, False, True]
        done(members[0].post(f"{path}/phases", {"phase": "checking"}))
        for member in members[1:]:
            done(member.post(f"{path}/checkin"))
        done(members[0].post(f"{path}/phases", {"phase": "drawing"}))
        assert [one["takes_part"] for one in site.get(path).json["people"]] == [False, True, True, True]

    @pytest.mark.parametrize(
        ("more", "code", "pointer"),
        [
            ({"seats": {"least": 4, "most": 3, "preferred": 3}}, "invalid_tournament", "/seats"),
            ({"stages": [{"ties": ["wins", "wins"]}]}, "invalid_tournament", "/stages/0/ties"),
            ({"stages": [{"scoring": "table"}]}, "invalid_tournament", "/stages/0/lists"),
            ({"stages": [{"lists": {"3": "many"}}]}, "invalid_body", "/stages/0/lists/3"),
            ({"stages": []}, "invalid_body", "/stages"),
            ({"ruleset": "chess"}, "invalid_table", "/ruleset"),
        ],
    )
    def test_terms_that_cannot_be_are_refused_with_their_place(
        self, site: Site, more: Doc, code: str, pointer: str
    ) -> None:
        answer = register(site).post("/tournaments", {**BODY, **more})
        assert refused(answer, 422, code)["errors"][0]["at"] == pointer
        assert site.services.ledger.log(0, 1) == []


class TestDraw:
    def test_nobody_draws_before_the_nonces_are_shown(self, site: Site) -> None:
        members = people(site, 3)
        path = opened(site, members[0])
        for member in members:
            done(member.post(f"{path}/entrants"))
        refused(members[0].post(f"{path}/phases", {"phase": "drawing"}), 409, "wrong_status")
        done(members[0].post(f"{path}/phases", {"phase": "checking"}))
        for number, member in enumerate(members):
            done(member.post(f"{path}/checkin", {"nonce_hash": commit_nonce(NONCE.format(number))}))
        refused(members[0].post(f"{path}/nonce", {"nonce": NONCE.format(0)}), 409, "wrong_status")
        done(members[0].post(f"{path}/phases", {"phase": "drawing"}))
        refused(members[0].post(f"{path}/nonce", {"nonce": NONCE.format(1)}), 409, "nonce_wrong")
        refused(members[0].post(f"{path}/stages/1/rounds/1/draw"), 409, "nonces_missing")

    def test_another_draw_needs_a_reason_and_no_table(self, site: Site) -> None:
        director, _, path = drawn(site)
        draw, first = f"{path}/stages/1/rounds/1/draw", site.get(path).json["chain"]
        refused(director.post(draw), 409, "already_drawn")
        done(director.post(draw, {"reason": "Two of them share a boat."}))
        again = site.get(path).json["chain"]
        assert (again["secrets"][:-1], again["used"]) == (first["secrets"], 2)
        assert again["key"] != first["key"]
        done(director.post(f"{path}/stages/1/rounds/1/tables"))
        refused(director.post(draw, {"reason": "Once more."}), 409, "tables_made")
        verify_tournament(parse_export(site.get(f"{path}/export").data))


class TestTables:
    def test_a_call_that_is_cut_off_anywhere_makes_no_second_table(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Every append is the last thing that a call does; repeated calls end with one game a pod, all seated."""
        _, _, path = drawn(site)
        tournament, ledger, append = path.rpartition("/")[2], site.services.ledger, site.services.ledger.append
        cuts = []

        def cut(*args: Any, **kwargs: Any) -> Any:
            receipt = append(*args, **kwargs)
            if not receipt.replayed:
                cuts.append(receipt)
                raise KeyboardInterrupt
            return receipt

        monkeypatch.setattr(ledger, "append", cut)
        left = 1
        while left:
            try:
                left = site.services.tournament_tables.make_tables(tournament, 1, 1, 50)
            except KeyboardInterrupt:
                continue
        monkeypatch.undo()
        assert len(cuts) == 3 * (1 + 3 + 1 + 1)
        site.ring()
        pods = site.get(f"{path}/stages/1/rounds/1").json["pods"]
        games = [doc["game"] for doc in site.get("/games").json["items"]]
        assert sorted(games) == sorted(pod["game"] for pod in pods)
        assert all(site.get(f"/games/{game}").json["status"] == "running" for game in games)

    def test_who_withdraws_gets_no_further_table_and_too_small_a_pod_has_none(self, site: Site) -> None:
        director, members, path = drawn(site)
        done(members[4].delete(f"{path}/entrants/me"))
        done(director.post(f"{path}/stages/1/rounds/1/tables"))
        pods = site.get(f"{path}/stages/1/rounds/1").json["pods"]
        annulled = [pod for pod in pods if pod["annulled"]]
        assert [(len(pod["entrants"]), pod["game"], pod["annulled"]) for pod in annulled] == [(2, None, "average")]
        verify_tournament(parse_export(site.get(f"{path}/export").data))

    def test_a_game_without_a_result_does_not_count(self, site: Site) -> None:
        director, _, path = drawn(site)
        round_ = f"{path}/stages/1/rounds/1"
        done(director.post(f"{round_}/tables"))
        pod = site.get(round_).json["pods"][1]
        closed = director.post(f"/games/{pod['game']}/close", {"reason": "void"})
        assert closed.status_code == 201, closed.text
        assert done(director.post(f"{round_}/reports"))["pods"] == [2]
        assert [row["ticks"] for row in site.get(f"{path}/standings").json["standings"]] == [0] * 9


def test_a_result_is_reported_once_spectators_see_it(site: Site) -> None:
    director, _, path = drawn(site, table={"undo": "none", "delay": 3600})
    round_ = f"{path}/stages/1/rounds/1"
    done(director.post(f"{round_}/tables"))
    for pod in site.get(round_).json["pods"]:
        assert director.post(f"/games/{pod['game']}/close", {"reason": "void"}).status_code == 201
    assert done(director.post(f"{round_}/reports"))["pods"] == []
    site.now = 10_000_000
    site.ring()
    assert done(director.post(f"{round_}/reports"))["pods"] == [1, 2, 3]


def test_a_changed_record_is_named(site: Site) -> None:
    _, _, path = drawn(site)
    data = site.get(f"{path}/export").data
    for old, new, code in ((b'"draw":1', b'"draw":2', "secret_mismatch"), (b'"v":3', b'"v":4', "version_gap")):
        assert old in data
        with pytest.raises(VerificationError) as caught:
            verify_tournament(parse_export(data.replace(old, new)))
        assert caught.value.code in (code, "cut_off")
