"""Jobs are told by rows and log: what the queue says is a hint only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.service.job_requests import JobRequest, new_id
from projections.projector import Projector
from projections.rebuild import create_generation
from projections.viewer_history import ViewerHistory
from tests.api.conftest import CATALOGUE, Doc, Site, Table, refused
from workers.context import set_context
from workers.jobs import audits, turns

PASS = {"type": "submit"}


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


def engine(table: Table) -> Doc:
    """All sheets are in: the decision that the engine owes."""
    for seat in range(3):
        assert table.move(seat, PASS).status_code == 201
    (decision,) = table.get("/decisions").json["decisions"]
    assert decision["engine"]
    return dict(decision)


def job(table: Table, id_: str, who: int | None = None) -> Any:
    return table.site.get(f"/jobs/{id_}", table.token(who))


def says(site: Site, state: str) -> None:
    """What the queue says of every job."""
    site.services = replace(site.services, job_state=lambda _: state)
    site.remake()


class TestTurns:
    def test_engines_decision_names_its_job_and_others_have_none(self, orders: Table) -> None:
        assert "job" not in orders.get("/decisions").json["decisions"][0]
        decision = engine(orders)
        assert decision["job"] == f"resolve-{orders.game}-{decision['id']}"
        found = job(orders, decision["job"]).json
        assert found == {"id": decision["job"], "work": "resolve", "game": orders.game, "status": "queued"}

    def test_it_is_done_when_the_log_says_so(self, orders: Table) -> None:
        decision = engine(orders)
        set_context(orders.site.context)
        assert turns.resolve(orders.game, decision["id"]) == turns.DONE
        found = job(orders, decision["job"]).json
        assert (found["status"], found["version"]) == ("done", orders.version)
        assert found["position"] == orders.site.services.reader.read_position()
        assert turns.resolve(orders.game, decision["id"]) == turns.GONE
        says(orders.site, "running")
        assert job(orders, decision["job"]).json == found

    def test_the_queue_tells_whether_it_is_begun_or_met_a_fault(self, orders: Table) -> None:
        id_ = engine(orders)["job"]
        says(orders.site, "running")
        assert job(orders, id_).json["status"] == "running"
        says(orders.site, "failed")
        found = job(orders, id_).json
        assert (found["status"], found["problem"]["code"]) == ("failed", "internal_error")

    def test_a_turn_that_was_undone_before_it_was_resolved_is_gone(self, orders: Table) -> None:
        before = orders.version
        id_ = engine(orders)["job"]
        match = {"If_Match": f'"{orders.version}"'}
        assert orders.post("/rewinds", {"to": before}, orders.director, **match).status_code == 202
        found = job(orders, id_).json
        assert (found["status"], found["problem"]["code"]) == ("failed", "decision_closed")

    def test_a_turn_that_never_was_is_not_found(self, orders: Table) -> None:
        for decision in ("0-99", "7-1", "0-0"):
            refused(job(orders, f"resolve-{orders.game}-{decision}"), 404, "not_found")
        refused(job(orders, "resolve-00000000-0000-0000-0000-000000000000-0-1"), 404, "unknown_game")
        refused(job(orders, "resolve-nothing"), 404, "not_found")

    def test_it_is_read_as_the_games_boards_are(self, orders: Table) -> None:
        id_, other = engine(orders)["job"], orders.site.table("orders@1", 3)
        assert [job(orders, id_, who).status_code for who in (None, 0, 2)] == [200, 200, 200]
        refused(other.site.get(f"/jobs/{id_}", other.tokens[0]), 403, "other_table")
        refused(orders.site.get(f"/jobs/{id_}", "anl_nonsense"), 401, "unauthenticated")


class TestErrands:
    def asked(self, table: Table, work: str, game: str = "") -> str:
        errand = table.site.services.job_requests.submit(JobRequest(new_id(work), work, game))
        assert errand is not None
        return errand.id

    def test_audit_tells_whether_the_game_is_proved_and_no_figures(self, orders: Table) -> None:
        id_ = self.asked(orders, "audit", orders.game)
        assert job(orders, id_).json["status"] == "queued"
        set_context(orders.site.context)
        audits.run_audit(id_)
        doc = {"id": id_, "work": "audit", "game": orders.game, "status": "done", "proved": True}
        assert job(orders, id_).json == doc

    def test_what_could_not_be_done_is_a_problem(self, orders: Table) -> None:
        id_ = self.asked(orders, "audit", "00000000-0000-0000-0000-000000000000")
        set_context(orders.site.context)
        audits.run_audit(id_)
        found = job(orders, id_).json
        assert (found["status"], found["problem"]["code"]) == ("failed", "unknown_game")

    def test_a_rebuild_tells_how_far_it_is(self, orders: Table) -> None:
        id_, services = self.asked(orders, "rebuild"), orders.site.services
        assert "progress" not in job(orders, id_).json
        views = orders.site.context.views
        half = Projector(ViewerHistory(services.ledger, CATALOGUE, views), "rebuild", create_generation(views, 0))
        assert job(orders, id_).json["progress"] == {"done": 0, "of": orders.version}
        half.run(0)
        assert job(orders, id_).json["progress"] == {"done": orders.version, "of": orders.version}

    def test_what_nobody_asked_for_is_not_found(self, orders: Table) -> None:
        refused(job(orders, "audit-" + "0" * 24), 404, "not_found")
