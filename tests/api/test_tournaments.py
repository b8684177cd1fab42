"""Tournaments over HTTP: from the opening to the last standings, and what is refused on the way."""

from __future__ import annotations

import csv
import io
import random
import re
from pathlib import Path
from typing import Any

import pytest

from deploy.cli.arguments import DONE
from deploy.cli.held_results import hold_results, list_reported
from deploy.cli.main import main
from domain.command_handler import CommandHandler
from domain.errors import VerificationError
from domain.kernel.game.play_commands import Lapse
from domain.service.seed_store import SeedStore
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.draw import commit_nonce
from tests.api.conftest import CATALOGUE, Doc, Site, Table, refused
from tests.api.members import Member, register
from tests.api.player import build, play

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


def appoint(host: Member, path: str, person: Member, office: str) -> None:
    """Offer an office, which the person accepts."""
    done(host.post(f"{path}/officers", {"player": person.doc["player"], "office": office}))
    done(person.put(f"/me/event-offers/{path.rpartition('/')[2]}/{office}"))


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


def let_pass(table: Table, decision: str, due: int) -> None:
    """The defaults of a decision, played at a time in ms."""
    s = table.site.services
    late = CommandHandler(s.ledger, s.registry, SeedStore(s.ledger, s.ledger.keys), lambda: due)
    s.notify_appended(late.handle(table.game, Lapse(decision)).position)


def play_without(table: Table, idle: int) -> None:
    """A game to its end, in which a seat never answers."""
    s, rng = table.site.services, random.Random(3)
    while found := table.get("/decisions", "director").json["decisions"]:
        game = s.commands.game(table.game)
        if found[0]["engine"]:
            table.resolve()
            continue
        for seat in (seat for seat in found[0]["must"] if seat != idle):
            body = {"move": build(table, seat, rng), "decision": found[0]["id"]}
            assert table.post("/moves", body, table.tokens[seat]).status_code == 201
        if (now := s.commands.game(table.game)).due_times([idle]):
            let_pass(table, found[0]["id"], max(now.due_times([idle]).values()))
        assert s.commands.game(table.game).version > game.version


def bid(site: Site, director: Member, members: list[Member], round_: str) -> list[list[int]]:
    """The bids of a round, filed by all; nothing of them can be read before the tables are made."""
    refused(director.post(f"{round_}/tables"), 409, "bids_open")
    done(director.post(f"{round_}/bidding"))
    refused(members[0].put(f"{round_}/bids", {"bid": [50, 51, 0]}), 422, "bid_invalid")
    refused(members[0].put(f"{round_}/bids", {"bid": [50, 50, 0], "seats": [1]}), 422, "bid_invalid")
    refused(director.put(f"{round_}/bids", {"bid": [50, 50, 0]}), 409, "not_entered")
    first = 70 + int(round_[-1])
    bids = [[first, 100 - first - number, number] for number in range(len(members))]
    for member, own in zip(members, bids, strict=True):
        answer = member.put(f"{round_}/bids", {"bid": own})
        assert done(answer).keys() == {"tournament", "version", "head", "position"}
    path = round_.partition("/stages")[0]
    views = ("", "/export", "/standings", "/calendar", "/export.csv?sheet=seats", round_.removeprefix(path))
    for who in (site, director, members[0]):
        found = [who.get(path + view).data.replace(b" ", b"") for view in views]
        assert not any(str(own).replace(" ", "")[1:-1].encode() in data for data in found for own in bids)
    shown = done(site.get(round_))
    assert (shown["filed"], [pod["bids"] for pod in shown["pods"]]) == ([*range(len(members))], [[], [], []])
    refused(members[0].put(f"{round_}/bids", {"bid": [100, 0, 0]}), 409, "bids_closed")
    return bids


def check_games(site: Site, path: str, folder: Path) -> None:
    """The results are held against the games; a false place is named, and a missing game is not passed over."""
    event = folder / "event.annals"
    event.write_bytes(site.get(f"{path}/export").data)
    records = parse_export(event.read_bytes())
    games = [table.body["game"] for table in list_reported(records)]
    exports = {game: site.get(f"/games/{game}/export").data for game in games}
    held = hold_results(records, exports.get, CATALOGUE)
    assert (held.tables, held.differences, held.missing) == (6, [], [])
    for game, data in list(exports.items())[1:]:
        (folder / f"{game}.annals").write_bytes(data)
    assert main(["tournament", "verify", str(event), "--games", str(folder)], CATALOGUE) == DONE
    forged = next(record for record in records if record.kind.endswith("reported"))
    forged.body["places"][0] += 1
    table = f"{forged.body['round']}.{forged.body['pod']}"
    (told,) = hold_results(records, exports.get, CATALOGUE).differences
    assert told.startswith(f"Table {table}: the event has places ")
    assert hold_results(records, lambda _: None, CATALOGUE).missing[0].endswith("It is not checked.")
    other = next(iter(set(exports) - {forged.body["game"]}))
    (told,) = hold_results(records, {**exports, forged.body["game"]: exports[other]}.get, CATALOGUE).differences
    assert f"the file has {other}" in told


def test_a_whole_event(site: Site, tmp_path: Path) -> None:
    """Nine entrants bid for their seats in two rounds; everybody can prove every place."""
    director, members, path = drawn(site, stages=[{"format": "league", "rounds": 2, "seating": "bid"}])
    handicaps = 0
    for number in (1, 2):
        round_ = f"{path}/stages/1/rounds/{number}"
        refused(director.post(f"{round_}/rank"), 409, "tables_open")
        bids = bid(site, director, members, round_)
        made = done(director.post(f"{round_}/tables"))
        assert made["left"] == 0
        assert done(director.post(f"{round_}/tables"))["version"] == made["version"]
        pods = done(site.get(round_))["pods"]
        assert sorted(entrant for pod in pods for entrant in pod["entrants"]) == list(range(9))
        assert all(pod["bids"] == [bids[entrant] for entrant in pod["entrants"]] for pod in pods)
        assert all(-3 < sum(pod["handicaps"]) <= 0 for pod in pods)
        handicaps += sum(sum(pod["handicaps"]) for pod in pods)
        if number == 1:
            refused(director.post(f"{path}/stages/1/rounds/2/bidding"), 409, "rounds_open")
        for pod in pods:
            finish(site, director, members, pod)
        assert done(director.post(f"{round_}/reports"))["pods"] == [1, 2, 3]
        assert done(director.post(f"{round_}/reports"))["pods"] == []
        done(director.post(f"{round_}/rank"))
    check_games(site, path, tmp_path)
    last, official = (done(site.get(f"{path}/standings{query}")) for query in ("", "?after_round=2"))
    assert last["standings"] == official["standings"]
    assert sum(row["ticks"] for row in last["standings"]) == 6 * 3 * 2520 + handicaps
    assert sum(row["handicap"] for row in last["standings"]) == handicaps
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

    def test_repetition_enters_once_and_a_stale_version_is_refused(self, site: Site) -> None:
        director = register(site)
        path = opened(site, director)
        first = director.post(f"{path}/entrants", Idempotency_Key="enter-me-once")
        again = director.post(f"{path}/entrants", Idempotency_Key="enter-me-once")
        assert (first.data, again.headers["Idempotency-Replayed"]) == (again.data, "true")
        refused(director.post(f"{path}/entrants"), 409, "already_entered")
        refused(director.delete(f"{path}/entrants/me", If_Match='"1"'), 412, "stale_version")
        done(director.delete(f"{path}/entrants/me", If_Match='"2"'))
        assert done(director.post(f"{path}/entrants"))["entrant"] == 0, "one person has one number"
        assert len(site.get(path).json["people"]) == 1

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

    def test_people_who_have_both_declared_relation_are_kept_apart(self, site: Site) -> None:
        """One alone cannot choose whom not to meet. The record has the pair, and nothing of its cause."""
        members = people(site, 6)
        path = opened(
            site, members[0], stages=[{"format": "swiss", "rounds": 2, "relations": "apart", "seeds": "ratings"}]
        )
        players = [member.doc["player"] for member in members]
        for one, other in ((0, 1), (1, 0), (2, 3)):
            done(members[one].put("/me/relations", {"players": [players[other]]}))
        for member in members:
            done(member.post(f"{path}/entrants"))
        done(members[0].post(f"{path}/phases", {"phase": "checking"}))
        for member in members:
            done(member.post(f"{path}/checkin"))
        done(members[0].post(f"{path}/phases", {"phase": "drawing"}))
        done(members[0].post(f"{path}/stages/1/rounds/1/draw"))
        shown = done(site.get(f"{path}/stages/1/rounds/1"))
        assert (shown["relations"], shown["together"]) == ([[0, 1, "apart"]], [])
        records = parse_export(site.get(f"{path}/export").data)
        assert records[-1].body["ratings"] == [[entrant, 2500] for entrant in range(6)]
        verify_tournament(records)


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
        assert len(cuts) == 3 + 1
        site.ring()
        pods = site.get(f"{path}/stages/1/rounds/1").json["pods"]
        games = [doc["game"] for doc in site.get("/games").json["items"]]
        assert sorted(games) == sorted(pod["game"] for pod in pods)
        assert all(site.get(f"/games/{game}").json["status"] == "running" for game in games)

    def test_who_withdraws_gets_no_table_and_small_pod_has_none(self, site: Site) -> None:
        director, members, path = drawn(site)
        done(members[4].delete(f"{path}/entrants/me"))
        done(director.post(f"{path}/stages/1/rounds/1/tables"))
        pods = site.get(f"{path}/stages/1/rounds/1").json["pods"]
        annulled = [pod for pod in pods if pod["annulled"]]
        assert [(len(pod["entrants"]), pod["game"], pod["annulled"]) for pod in annulled] == [(2, None, "average")]
        verify_tournament(parse_export(site.get(f"{path}/export").data))

    def test_a_table_names_its_tournament_to_who_may_know_it(self, site: Site) -> None:
        director, members, path = drawn(site, 3, listing="unlisted")
        done(director.post(f"{path}/stages/1/rounds/1/tables"))
        game = f"/games/{done(site.get(f'{path}/stages/1/rounds/1'))['pods'][0]['game']}"
        place = {"tournament": path.rpartition("/")[2], "stage": 1, "round": 1, "pod": 1}
        assert [done(who.get(game)).get("tournament") for who in (members[0], site)] == [place, None]

    def test_a_game_without_a_result_does_not_count(self, site: Site) -> None:
        director, _, path = drawn(site)
        round_ = f"{path}/stages/1/rounds/1"
        done(director.post(f"{round_}/tables"))
        pod = site.get(round_).json["pods"][1]
        closed = director.post(f"/games/{pod['game']}/close", {"reason": "void"})
        assert closed.status_code == 201, closed.text
        assert done(director.post(f"{round_}/reports"))["pods"] == [2]
        assert [row["ticks"] for row in site.get(f"{path}/standings").json["standings"]] == [0] * 9


class TestRoundByRound:
    def test_a_swiss_event_with_a_final(self, site: Site) -> None:
        """Two rounds drawn from the standings, a late entrant, and a knockout of three."""
        stages: list[Doc] = [{"format": "swiss", "rounds": 4}, {"format": "knockout", "entrants": 3}]
        director, members, path = drawn(site, 6, stages=stages)
        members.append(register(site, "Late"))
        for number in (1, 2, 3, 4):
            round_ = f"{path}/stages/1/rounds/{number}"
            if number > 1:
                done(director.post(f"{round_}/draw"))
            if number < 4:
                refused(director.post(f"{path}/stages/1/rounds/{number + 1}/draw"), 409, "rounds_open")
            done(director.post(f"{round_}/tables"))
            if number == 1:
                assert done(members[6].post(f"{path}/entrants"))["entrant"] == 6
                done(members[2].delete(f"{path}/entrants/me"))
            for pod in done(site.get(round_))["pods"]:
                assert director.post(f"/games/{pod['game']}/close", {"reason": "void"}).status_code == 201
            done(director.post(f"{round_}/reports"))
            done(director.post(f"{round_}/rank"))
        doc = site.get(path).json
        assert (doc["stage"], doc["format"], doc["stages"][1]["ties"][0]) == (2, "knockout", "reached")
        assert site.get(f"{path}/standings?stage=3").status_code == 404
        assert done(site.get(f"{path}/standings?stage=1&after_round=4"))["official"] is True
        final = f"{path}/stages/2/rounds/1"
        done(director.post(f"{final}/draw"))
        done(director.post(f"{final}/tables"))
        (pod,) = done(site.get(final))["pods"]
        finish(site, director, members, pod)
        done(director.post(f"{final}/reports"))
        done(director.post(f"{final}/rank"))
        assert len(done(site.get(f"{path}/standings"))["standings"]) == 3
        done(director.post(f"{path}/close"))
        assert verify_tournament(parse_export(site.get(f"{path}/export").data)).status == "finished"


class TestFiles:
    def test_sheets_hold_an_event_without_formulas(self, site: Site) -> None:
        director, members, path = drawn(site, 4)
        members[1].put("/me/name", {"name": "=Anne, 1"})
        done(director.post(f"{path}/stages/1/rounds/1/tables"))
        sheets = {}
        for sheet in ("entrants", "tables", "seats", "standings"):
            answer = site.get(f"{path}/export.csv?sheet={sheet}")
            assert (answer.status_code, answer.content_type) == (200, "text/csv; charset=utf-8")
            assert answer.data.endswith(b"\r\n")
            sheets[sheet] = list(csv.DictReader(io.StringIO(answer.data.decode())))
        assert {name: len(rows) for name, rows in sheets.items()} == {
            "entrants": 4,
            "tables": 2,
            "seats": 8,
            "standings": 4,
        }
        assert sheets["standings"][0]["points"] == "0.0000"
        assert {row["entrant"] for row in sheets["seats"] if row["round"] == "1" and not row["table"]} != set()
        names = [row["name"] for rows in sheets.values() for row in rows if "name" in row]
        assert "'=Anne, 1" in names
        assert not any(name.startswith("=") for name in names)
        finish(site, director, members, next(pod for pod in done(site.get(f"{path}/stages/1/rounds/1"))["pods"]))
        done(director.post(f"{path}/stages/1/rounds/1/reports"))
        for sheet in ("seats", "standings"):
            answer = site.get(f"{path}/export.csv?sheet={sheet}")
            sheets[sheet] = list(csv.DictReader(io.StringIO(answer.data.decode())))
        ticks = sorted(int(row["ticks"]) for row in sheets["seats"] if row["place"])
        assert sum(ticks) == 7560
        assert [row for row in sheets["standings"] if row["credits"] != "0" or row["penalties"] != "0"] == []
        assert not any(re.match("-?[0-9]+/", cell) for row in sheets["standings"] for cell in row.values())
        refused(site.get(f"{path}/export.csv?sheet=secrets"), 422, "invalid_query")

    @pytest.mark.parametrize(("lang", "separator", "zero"), [("en", ",", "0.0000"), ("fr", ";", "0,0000")])
    def test_a_sheet_opens_in_a_spreadsheet_of_the_language(
        self, site: Site, lang: str, separator: str, zero: str
    ) -> None:
        """By a double click: such a program knows UTF-8 by its mark alone."""
        _, members, path = drawn(site, 4)
        members[1].put("/me/name", {"name": "Zoé; 1"})
        path += "/export.csv?sheet=standings&dialect=excel"
        for answer in (site.get(f"{path}&lang={lang}"), site.get(path, Accept_Language=lang)):
            assert answer.data.startswith(b"\xef\xbb\xbf")
            rows = list(csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig")), delimiter=separator))
            assert {row["points"] for row in rows} == {zero}
            assert "Zoé; 1" in {row["name"] for row in rows}

    def test_a_calendar_has_the_deadlines_of_an_entrant(self, site: Site) -> None:
        director, members = register(site, "Organiser"), people(site, 3)
        path = opened(site, director, table={"undo": "none", "pace": {"seconds": {"turn": 60}}})
        for member in members:
            done(member.post(f"{path}/entrants"))
        done(director.post(f"{path}/phases", {"phase": "checking"}))
        for number, member in enumerate(members):
            body = {"nonce_hash": commit_nonce(NONCE.format(number))} if number else {}
            done(member.post(f"{path}/checkin", body))
        done(director.post(f"{path}/phases", {"phase": "drawing"}))

        def count(query: str) -> int:
            return int(site.get(f"{path}/calendar{query}").data.count(b"BEGIN:VEVENT"))

        assert [count(query) for query in ("", "?entrant=0", "?entrant=1")] == [1, 0, 1]
        assert b"SUMMARY:Montrer votre nonce" in site.get(f"{path}/calendar?lang=fr").data
        for number, member in list(enumerate(members))[1:]:
            done(member.post(f"{path}/nonce", {"nonce": NONCE.format(number)}))
        done(director.post(f"{path}/stages/1/rounds/1/draw"))
        done(director.post(f"{path}/stages/1/rounds/1/tables"))
        assert [count(query) for query in ("", "?entrant=0")] == [1, 1]
        told = site.get(f"{path}/calendar?entrant=0").text.replace("\r\n ", "")
        assert all(part in told for part in ("SUMMARY:Genoa Open\\, 1.1", "(Anne 1)", "(Anne 2)"))
        assert "(Anne 0)" not in told
        assert site.get(f"{path}/calendar?entrant=3").status_code == 404
        site.services.seat_tokens.texts.set_card(path.rpartition("/")[2], "", "", "")
        untitled, game = site.get(f"{path}/calendar?entrant=0").text, CATALOGUE.get("orders@1").meta.title
        assert f"SUMMARY:{game}\\, 1.1" in untitled.replace("\r\n ", "")
        assert f"X-WR-CALNAME:{game}" in untitled


class TestAbsence:
    def test_who_missed_half_gets_nothing_and_substitute_counts(self, site: Site) -> None:
        """Seat 0 lapses all the time; seat 1 leaves to a substitute; the others keep their places."""
        director, members, path = drawn(site, 3, table={"undo": "none", "pace": {"seconds": {"turn": 60}}})
        round_ = f"{path}/stages/1/rounds/1"
        done(director.post(f"{round_}/tables"))
        (pod,) = done(site.get(round_))["pods"]
        idle, leaving = pod["entrants"][:2]
        substitute = register(site, "Claire")
        named = {"player": substitute.doc["player"]}
        refused(members[idle].post(f"{path}/entrants/me/substitutes", {"name": "Anne 1"}), 409, "substitute_invalid")
        done(members[leaving].post(f"{path}/entrants/me/substitutes", named))
        done(substitute.put(f"/me/substitutions/{path.rpartition('/')[2]}/{members[leaving].doc['player']}"))
        game = f"/games/{pod['game']}"
        done(members[leaving].delete(f"{game}/seats/1"))
        done(substitute.post(f"{game}/seats", {"seat": 1}))
        tokens = [members[idle].token, substitute.token, members[pod["entrants"][2]].token]
        table = Table(site, pod["game"], director.token, tokens)
        play_without(table, 0)
        assert done(director.post(f"{round_}/reports"))["pods"] == [1]
        (pod,) = done(site.get(round_))["pods"]
        assert set(pod["absent"]) == {0, 2}  # seat 2 moved freely, and let the deadline pass
        assert pod["decisions"][:2] == [[0, 3], [3, 3]]
        assert pod["lapses"][0] > 0
        ticks = {row["entrant"]: row["ticks"] for row in site.get(f"{path}/standings").json["standings"]}
        assert ticks[idle] == 0
        assert sum(ticks.values()) > 0
        verify_tournament(parse_export(site.get(f"{path}/export").data))

    def test_the_tables_of_a_round_are_adjourned_by_their_state(self, site: Site) -> None:
        director, members, path = drawn(site, 6)
        round_ = f"{path}/stages/1/rounds/1"
        done(director.post(f"{round_}/tables"))
        refused(members[0].post(f"{round_}/adjournments"), 403, "directors_only")
        assert done(director.post(f"{round_}/adjournments", {"reason": "It is late."}))["pods"] == [1, 2]
        assert done(director.post(f"{round_}/adjournments"))["pods"] == []
        game = done(site.get(round_))["pods"][0]["game"]
        assert site.get(f"/games/{game}").json["status"] == "over"

    def test_organiser_who_plays_leaves_the_adjournment_to_a_deputy(self, site: Site) -> None:
        director, members = register(site, "Organiser"), people(site, 5)
        path = opened(site, director, table={"undo": "none", "officers": "neutral"}, reveal=0)
        for member in (director, *members):
            done(member.post(f"{path}/entrants"))
        done(director.post(f"{path}/phases", {"phase": "checking"}))
        for member in (director, *members):
            done(member.post(f"{path}/checkin"))
        done(director.post(f"{path}/phases", {"phase": "drawing"}))
        round_ = f"{path}/stages/1/rounds/1"
        done(director.post(f"{round_}/draw"))
        done(director.post(f"{round_}/tables"))
        pods = done(site.get(round_))["pods"]
        told = refused(director.post(f"{round_}/adjournments"), 403, "conflict_of_interest")
        assert told["figures"] == {"cause": "name", "officers": []}
        deputy = register(site, "Deputy")
        appoint(director, path, deputy, "deputy")
        told = refused(director.post(f"{round_}/adjournments"), 403, "conflict_of_interest")
        assert told["figures"] == {"cause": "ask", "officers": [deputy.doc["player"]]}
        assert done(deputy.post(f"{round_}/adjournments"))["pods"] == [1, 2]
        assert len(pods) == 2


class TestRulings:
    def test_a_ruling_is_previewed_explained_and_taken_back(self, site: Site) -> None:
        director, members, path = drawn(site, 3)
        round_, rulings = f"{path}/stages/1/rounds/1", f"{path}/rulings"
        done(director.post(f"{round_}/tables"))
        (pod,) = done(site.get(round_))["pods"]
        ruling: Doc = {"act": "placed", "table": "1.1", "places": [1, 1, 1], "reason": "The clock had stopped."}
        refused(director.post(f"{rulings}?dry_run=1", ruling), 409, "no_result")
        finish(site, director, members, pod)
        done(director.post(f"{round_}/reports"))
        done(director.post(f"{round_}/rank"))
        first = site.get(f"{path}/standings").json["standings"]
        order = [row["entrant"] for row in first]
        ruling["places"] = turned = [3 - order.index(entrant) for entrant in pod["entrants"]]
        preview = director.post(f"{rulings}?dry_run=1", ruling)
        moved = done(preview)["moved"]
        assert moved
        assert all(each["before"] != each["after"] for each in moved)
        assert all("Anne" in " ".join(each["sentences"]) for each in moved)
        refused(director.post(rulings, ruling), 428, "precondition_required")
        tag = preview.headers["ETag"]
        refused(director.post(rulings, {**ruling, "reason": ""}, If_Match=tag), 422, "invalid_body")
        refused(director.post(rulings, {**ruling, "places": [1, 1, 3]}, If_Match=tag), 412, "preview_stale")
        refused(members[0].post(f"{rulings}?dry_run=1", ruling), 403, "directors_only")
        number = done(director.post(rulings, ruling, If_Match=tag))["ruling"]
        (told,) = done(site.get(rulings))["items"]
        assert told["ruling"] == number
        assert (told["reason"], told["places"], told["restored"]) == (ruling["reason"], turned, False)
        assert done(site.get(round_))["pods"][0]["places"] == turned
        back: Doc = {"act": "restored", "ruling": told["ruling"], "reason": "It had not."}
        taken = director.post(rulings, back, If_Match=director.post(f"{rulings}?dry_run=1", back).headers["ETag"])
        assert done(taken)["ruling"] == number
        assert site.get(f"{path}/standings?after_round=1").json["standings"] == first
        refused(director.post(f"{rulings}?dry_run=1", {"act": "restored"}), 422, "invalid_body")
        verify_tournament(parse_export(site.get(f"{path}/export").data))

    def test_an_officer_who_plays_leaves_the_matter_to_another(self, site: Site) -> None:
        director, members, path = drawn(site, 3)
        player = members[0].doc["player"]
        refused(members[0].post(f"{path}/officers", {"player": player, "office": "deputy"}), 403, "directors_only")
        appoint(director, path, members[0], "arbiter")
        refused(members[0].post(f"{path}/close"), 403, "directors_only")
        own: Doc = {"act": "penalised", "entrant": 0, "ticks": 5, "reason": "Late."}
        refused(members[0].post(f"{path}/rulings?dry_run=1", own), 403, "conflict_of_interest")
        done(director.post(f"{path}/officers", {"name": "Anne 1", "office": "deputy"}))
        done(members[1].put(f"/me/event-offers/{path.rpartition('/')[2]}/deputy"))
        done(members[0].delete(f"{path}/officers/{player}"))
        other: Doc = {**own, "entrant": 2}
        members[1].put("/me/relations", {"players": [members[2].doc["player"]]})
        refused(members[1].post(f"{path}/rulings?dry_run=1", other), 403, "conflict_of_interest")
        done(director.delete(f"{path}/officers/{members[1].doc['player']}"))
        refused(members[0].post(f"{path}/rulings?dry_run=1", own), 403, "directors_only")
        assert site.get(path).json["officers"] == []


class TestAppeals:
    def test_entrant_contests_once_and_another_officer_answers(self, site: Site) -> None:
        director, members, path = drawn(site, 3)
        ruling: Doc = {"act": "penalised", "entrant": 0, "ticks": 5, "reason": "Late."}
        tag = director.post(f"{path}/rulings?dry_run=1", ruling).headers["ETag"]
        number = done(director.post(f"{path}/rulings", ruling, If_Match=tag))["ruling"]
        appeal, answer = f"{path}/appeals", f"{path}/appeals/{number}/answer"
        refused(director.post(appeal, {"ruling": number, "reason": "x"}), 409, "not_entered")
        refused(members[0].post(appeal, {"ruling": number}), 422, "invalid_body")
        refused(members[0].post(appeal, {"ruling": 1, "reason": "x"}), 409, "unknown_ruling")
        verdict: Doc = {"outcome": "overturned", "reason": "The signals was late."}
        refused(director.post(answer, verdict), 409, "no_appeal")
        done(members[0].post(appeal, {"ruling": number, "reason": "I was there."}))
        refused(members[0].post(appeal, {"ruling": number, "reason": "Once more."}), 409, "appeal_made")
        refused(director.post(answer, verdict), 403, "conflict_of_interest")
        arbiter = register(site, "Arbiter")
        for person in (arbiter, members[0]):
            appoint(director, path, person, "arbiter")
        refused(members[0].post(answer, verdict), 403, "conflict_of_interest")
        done(arbiter.post(answer, verdict))
        refused(arbiter.post(answer, verdict), 409, "appeal_answered")
        (told,) = done(site.get(f"{path}/rulings"))["items"]
        assert (told["appeal"]["entrant"], told["appeal"]["outcome"]) == (0, "overturned")
        assert (told["appeal"]["reason"], told["appeal"]["answer"]) == ("I was there.", "The signals was late.")
        assert told["restored"] is False
        data = site.get(f"{path}/export").data
        verify_tournament(parse_export(data))


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
