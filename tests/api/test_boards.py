"""Boards now and then, with tags and versions; standings; coming back."""

from __future__ import annotations

import random
from unittest.mock import Mock

import pytest
from marshmallow import RAISE

from api.schemas import history_responses, play_responses, table_responses
from api.schemas.document_schemas import schema_of
from domain.errors import ScoresHidden
from domain.kernel.game.game_fold import fold
from projections import game_documents
from tests.api.conftest import CATALOGUE, Site, Table, refused
from tests.api.player import play

ORDER = {"type": "order", "to": "t01", "units": 2}


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


class TestParts:
    def test_members_are_read_alone(self, orders: Table) -> None:
        board = orders.get("/board", 0).json
        asked = "decisions,seats.1.player,own,public.no_such,decisions.7,version"
        answer = orders.get(f"/board/parts?fields={asked}", 0)
        parts = answer.json["parts"]
        assert parts["decisions"] == board["decisions"]
        assert parts["seats.1.player"] == board["seats"][1]["player"]
        assert parts["own"] == board["own"]
        assert (parts["public.no_such"], parts["decisions.7"], parts["version"]) == (None, None, board["version"])
        assert {k: answer.json[k] for k in ("game", "viewer", "version")} == {
            k: board[k] for k in ("game", "viewer", "version")
        }
        schema_of(play_responses.BoardPartsDoc)(unknown=RAISE).load(answer.json)

    def test_nobody_reads_more_of_it_than_of_the_board(self, orders: Table) -> None:
        orders.move(1, ORDER)
        told = [orders.get("/board/parts?fields=own,public,decisions", who).json["parts"] for who in (None, 0)]
        boards = [orders.get("/board", who).json for who in (None, 0)]
        assert told == [{name: doc.get(name) for name in ("own", "public", "decisions")} for doc in boards]

    def test_another_part_has_another_tag(self, orders: Table) -> None:
        paths = ["/board/parts?fields=status", "/board/parts?fields=seats", "/board"]
        tags = [orders.get(path).headers["ETag"] for path in paths]
        assert len(set(tags)) == 3
        assert orders.get(paths[0], If_None_Match=tags[0]).status_code == 304

    def test_of_the_past_as_well(self, orders: Table) -> None:
        version = orders.version
        orders.move(0, ORDER)
        assert orders.get(f"/board/parts?fields=own&version={version}", 0).json["parts"] == {
            "own": orders.get(f"/board?version={version}", 0).json["own"]
        }

    @pytest.mark.parametrize(
        "fields", ["", "nothing", "game,nothing", ",", "game.", "a" * 500, ",".join(["game"] * 21)]
    )
    def test_what_no_board_has_is_refused(self, orders: Table, fields: str) -> None:
        refused(orders.get(f"/board/parts?fields={fields}"), 422, "invalid_query")


class TestTags:
    def test_an_unchanged_board_is_not_sent_again(self, orders: Table) -> None:
        first = orders.get("/board", 0)
        tag = first.headers["ETag"]
        assert tag[0] == '"'
        assert first.headers["Annals-Version"] == str(first.json["version"])
        again = orders.get("/board", 0, If_None_Match=tag)
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
        assert again.headers["Annals-Version"] == first.headers["Annals-Version"]

    def test_who_names_a_tag_is_given_it_or_told_of_another(self, orders: Table) -> None:
        for path in ("/board", "/board/parts?fields=public", "/decisions"):
            tag = orders.get(path, 0).headers["ETag"]
            for named in (tag, "*", f'"other", {tag}'):
                assert orders.get(path, 0, If_Match=named).json
            assert orders.get(path, 0, If_Match=tag, If_None_Match=tag).status_code == 304
            for named in ('"other"', f"W/{tag}"):
                refused(orders.get(path, 0, If_Match=named), 412, "precondition_failed")

    def test_another_viewer_has_another_tag(self, orders: Table) -> None:
        tags = [orders.get("/board", who).headers["ETag"] for who in (None, 0, 1, 2)]
        assert len(set(tags)) == 4
        assert orders.get("/board", 1, If_None_Match=tags[0]).status_code == 200
        assert "Authorization" in orders.get("/board").headers["Vary"]

    def test_a_sealed_move_changes_only_its_seats_tag(self, orders: Table) -> None:
        before = {who: orders.get("/board", who).headers["ETag"] for who in (None, 0, 1, 2)}
        orders.move(0, ORDER)
        assert [w for w in before if orders.get("/board", w).headers["ETag"] != before[w]] == [0]

    def test_boards_are_for_their_viewer_alone(self, orders: Table) -> None:
        for who in (None, 0):
            assert orders.get("/board", who).headers["Cache-Control"] == "private, no-cache"


class TestReadingOnesWrites:
    def test_a_read_waits_for_the_views(self, orders: Table) -> None:
        position = orders.move(0, ORDER).headers["Annals-Position"]
        assert orders.get(f"/board?wait={position}", 0).json["own"]["sheet"]

    def test_but_not_for_ever(self, orders: Table) -> None:
        orders.site.asleep = True
        position = orders.move(0, ORDER).headers["Annals-Position"]
        answer = orders.get(f"/board?wait={position}", 0)
        refused(answer, 503, "views_behind")
        assert answer.headers["Retry-After"] == "1"
        assert orders.get("/board", 0).json["own"]["sheet"] == []

    @pytest.mark.parametrize("path", ["", "/board", "/decisions", "/timeline", "/records", "/scores", "/resume"])
    def test_a_position_that_is_none_is_refused_at_once(self, orders: Table, path: str) -> None:
        refused(orders.get(f"{path}?wait=99999"), 422, "unknown_position")

    def test_a_game_that_the_views_do_not_know_yet(self, site: Site) -> None:
        site.asleep = True
        game = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json["game"]
        for path in ("", "/board", "/decisions", "/resume", "/timeline", "/stream"):
            refused(site.get(f"/games/{game}{path}"), 503, "views_behind")


class TestDirector:
    def test_a_director_sees_what_everybody_sees(self, orders: Table) -> None:
        """A look at what is hidden would be an act, and there is none."""
        orders.move(0, ORDER)
        assert orders.get("/board", "director").data == orders.get("/board").data
        for path in ("/export", "/timeline", "/scores"):
            assert orders.get(path, "director").data == orders.get(path).data


@pytest.mark.parametrize("ruleset", ["skirmish@1", "sealed@1", "orders@1", "windows@1", "passage@1"])
def test_any_past_board_is_what_its_viewer_saw_then(site: Site, ruleset: str) -> None:
    """Compared with the boards that were kept while the game went on, also across a rewind."""
    table = site.table(ruleset, 3)
    kept = {}
    rng = random.Random(5)
    for turn in range(25):
        for who in (None, 0, 1, 2):
            doc = table.get("/board", who).json
            kept[who, table.version] = {k: doc[k] for k in ("public", "decisions", "seats", "status")} | {
                "own": doc.get("own")
            }
        if not play(table, rng, 1):
            break
        if turn == 15 and table.get().json["status"] == "running":
            answer = table.post("/rewinds", {"to": table.version - 3}, table.director, If_Match=f'"{table.version}"')
            assert answer.status_code == 202, answer.text
    for (who, version), seen in kept.items():
        answer = table.get(f"/board?version={version}", who)
        assert answer.headers["Annals-Version"] == str(version)
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert {k: answer.json[k] for k in seen if k != "own"} | {"own": answer.json.get("own")} == seen
        assert answer.json["version"] == version
    refused(table.get(f"/board?version={table.version + 1}"), 422, "unknown_version")


def test_after_the_end_everybody_sees_all(site: Site) -> None:
    table = site.table("windows@1", 3, options={"turns": 1})
    play(table, random.Random(1), 200)
    assert table.get().json["status"] == "closed"
    rules = CATALOGUE.get("windows@1")
    position = fold(rules, site.services.ledger.read(table.game))
    full = rules.player_view(position.state, "director")
    for who in (None, 0):
        for path in ("/board", f"/board?version={table.version}"):
            assert table.get(path, who).json["own"] == full
    assert "own" not in table.get("/board?version=5").json


class TestOthers:
    def test_decisions(self, orders: Table) -> None:
        answer = orders.get("/decisions", 0)
        assert answer.json["decisions"] == orders.get("/board", 0).json["decisions"]
        assert orders.get("/decisions", 0, If_None_Match=answer.headers["ETag"]).status_code == 304

    def test_resume_is_all_in_one(self, site: Site) -> None:
        table = site.table("orders@1", 3, pace={"seconds": {"turn": 60}})
        doc = table.get("/resume", 0).json
        assert doc["board"] == table.get("/board", 0).json
        assert doc["decisions"][0]["deadline"] == table.get().json["due"]
        assert doc["now"] > 0

    def test_scores_stand_and_then_are_final(self, site: Site) -> None:
        table = site.table("windows@1", 3, start=False, options={"turns": 1})
        assert table.get("/scores").json["scores"] == []
        table.post("/start", token=table.director)
        standing = table.get("/scores").json
        assert (standing["final"], len(standing["scores"])) == (False, 3)
        play(table, random.Random(1), 200)
        final = table.get("/scores").json
        assert final["final"] is True
        assert min(s["place"] for s in final["scores"]) == 1
        results = site.get(f"/players/{table.get().json['seats'][0]['player']}/results").json
        assert results["name"] == "Player 0"
        assert [(r["game"], r["seat"]) for r in results["items"]] == [(table.game, 0)]

    def test_standings_that_need_a_secret_are_hidden(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        rules = CATALOGUE.get("orders@1")
        monkeypatch.setitem(rules.__dict__, "scores", Mock(side_effect=ScoresHidden))
        refused(orders.get("/scores"), 409, "scores_hidden")

    def test_a_fault_of_the_standings_is_a_fault(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """No error but that of the contract becomes a polite answer; the log has its trace."""
        monkeypatch.setitem(CATALOGUE.get("orders@1").__dict__, "scores", lambda s: [s.garrison["t00"]])
        refused(orders.get("/scores"), 500, "internal_error")

    def test_documents_fit_their_schemas(self, site: Site) -> None:
        """Stored views are decoded without a type, so mypy does not see their members."""
        table = site.table("orders@1", 3, pace={"seconds": {"turn": 60}})
        table.move(0, ORDER)
        found = {
            "/board": game_documents.BoardDoc,
            "": game_documents.SummaryDoc,
            "/decisions": play_responses.DecisionsDoc,
            "/resume": history_responses.ResumeDoc,
            "/scores": history_responses.ScoresDoc,
            "/timeline": history_responses.TimelineDoc,
            "/records": history_responses.RecordsDoc,
            "/audit": history_responses.AuditDoc,
        }
        for path, declaration in found.items():
            schema_of(declaration)(unknown=RAISE).load(table.get(path, 0).json)
        schema_of(table_responses.LobbyDoc)(unknown=RAISE).load(site.get("/games").json)
