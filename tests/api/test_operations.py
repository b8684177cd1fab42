"""For operators: health, figures, log lines, limits, headers, other origins, faults."""

from __future__ import annotations

import re
from typing import Any

import pytest
from structlog.testing import capture_logs

from domain.errors import StoreUnavailable, WrongKey
from domain.service.job_requests import JobRequest
from projections import documents
from tests.api.conftest import Site, Table, refused

ORDER = {"type": "order", "to": "t01", "units": 1}


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


class TestHealth:
    def test_the_process_lives(self, site: Site) -> None:
        assert site.client.get("/healthz").json == {"status": "ok"}

    def test_ready_means_that_the_views_keep_up(self, orders: Table) -> None:
        site = orders.site
        said = {"status": "ok", "behind": 0, "set_aside": 0, "redis": "up", "streams": "up", "clock_offset": 0}
        assert site.client.get("/readyz").json == said
        site.remake(max_lag=2)
        assert site.client.get("/readyz").json == said
        site.asleep = True
        for _ in range(2):
            orders.move(0, ORDER)
        assert site.client.get("/readyz").json["behind"] == 2
        orders.move(0, ORDER)
        assert refused(site.client.get("/readyz"), 503, "not_ready")["behind"] == 3

    def test_after_start_it_is_ready_once_views_have_caught_up(self, orders: Table) -> None:
        """However little they lack: of a game that they have not come to nothing can be shown."""
        site = orders.site
        site.asleep = True
        for seat in range(3):
            assert orders.move(seat, ORDER).status_code == 201
        site.remake()
        assert refused(site.client.get("/readyz"), 503, "not_ready")["behind"] == 3
        site.asleep = False
        site.ring()
        assert site.client.get("/readyz").json["behind"] == 0
        site.asleep = True
        for seat in range(3):
            assert orders.move(seat, ORDER).status_code == 201
        assert site.client.get("/readyz").json["behind"] == 3, "it has been: that much may be missing"

    def test_not_ready_without_a_store(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        away(monkeypatch, site.services.ledger, "execute")
        refused(site.client.get("/readyz"), 503, "not_ready")
        assert site.client.get("/healthz").status_code == 200


def away(monkeypatch: pytest.MonkeyPatch, what: Any, name: str, error: type[Exception] = StoreUnavailable) -> None:
    def gone(*_: Any, **__: Any) -> None:
        raise error("postgresql://user:password@host is gone")

    monkeypatch.setattr(what, name, gone)


class TestFaults:
    def test_a_store_that_is_away_is_said(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        away(monkeypatch, orders.site.services.ledger, "append")
        answer = orders.post("/moves", {"move": ORDER}, orders.tokens[0], If_Match=f'"{orders.version}"')
        refused(answer, 503, "store_unavailable")
        assert answer.headers["Retry-After"] == "1"
        assert "password" not in answer.text

    @pytest.mark.parametrize("error", [WrongKey, ZeroDivisionError])
    def test_a_fault_of_ours_tells_nothing_but_its_request(
        self, orders: Table, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
    ) -> None:
        away(monkeypatch, orders.site.services.reader, "find_board", error)
        with capture_logs() as lines:
            answer = orders.get("/board", 0)
        doc = refused(answer, 500, "internal_error")
        assert doc["request"] == answer.headers["Request-Id"]
        assert "password" not in answer.text
        (fault,) = [line for line in lines if line["event"] == "fault"]
        assert fault["request_id"] == doc["request"]
        assert error.__name__ in fault["trace"]
        assert orders.tokens[0] not in str(lines)

    def test_unknown_addresses_are_problems_too(self, site: Site) -> None:
        refused(site.get("/nothing"), 404, "not_found")
        refused(site.client.get("/index.html"), 404, "not_found")

    def test_the_address_alone_leads_to_the_documentation(self, site: Site) -> None:
        found = site.client.get("/")
        assert (found.status_code, found.headers["Location"]) == (302, "/v1/docs")


class TestLog:
    def test_a_line_names_route_game_status_and_position(self, orders: Table) -> None:
        with capture_logs() as lines:
            answer = orders.move(0, ORDER)
        (line,) = lines
        assert line["request_id"] == answer.headers["Request-Id"]
        assert (line["route"], line["game"]) == ("/v1/games/<game:game>/moves", orders.game)
        assert (line["method"], line["status"], line["position"]) == ("POST", 201, answer.json["position"])
        assert line["ms"] > 0

    def test_it_holds_no_query_and_no_address_that_is_none(self, orders: Table) -> None:
        with capture_logs() as lines:
            orders.get("/board?wait=1")
            orders.site.get("/games/anl_0123_secret/board?ticket=secret")
        assert [line.get("problem") for line in lines] == [None, "not_found"]
        assert not re.search("secret|wait", str(lines))


class TestFigures:
    def test_for_this_machine_alone(self, orders: Table) -> None:
        site = orders.site
        text = site.client.get("/metrics").text
        assert 'annals_requests_total{method="POST",route="/v1/games/<game:game>/start",status="201"} 1.0' in text
        assert orders.game not in text
        refused(site.client.get("/metrics", environ_base={"REMOTE_ADDR": "192.0.2.1"}), 403, "forbidden")
        for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
            refused(site.client.get("/metrics", headers={name: "x"}), 403, "forbidden")

    def test_or_for_whoever_has_the_token(self, site: Site) -> None:
        site.remake(metrics_token="a-token")
        assert "a-token" not in repr(site.services)
        refused(site.client.get("/metrics"), 403, "forbidden")
        refused(site.client.get("/metrics", headers={"Authorization": "Bearer other"}), 403, "forbidden")
        headers = {"Authorization": "Bearer a-token"}
        answer = site.client.get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": "192.0.2.1"})
        assert answer.status_code == 200

    def test_of_the_stores(self, orders: Table) -> None:
        """What no view shows yet, then a turn that nobody resolves."""
        site = orders.site
        assert gauges(site) == {
            "annals_stores_up": 1,
            "annals_redis_up": 1,
            "annals_views_behind": 0,
            "annals_views_behind_seconds": 0,
            "annals_games_set_aside": 0,
            "annals_due_work": 0,
            "annals_due_work_seconds": 0,
            "annals_errands": 0,
            "annals_errands_seconds": 0,
            "annals_records_damaged": 0,
            "annals_pages_damaged": 0,
        }
        site.asleep = True
        orders.move(0, {"type": "submit"})
        assert gauges(site)["annals_views_behind"] == 1
        site.asleep = False
        for seat in (1, 2):
            orders.move(seat, {"type": "submit"})
        assert gauges(site)["annals_views_behind"] == 0
        assert gauges(site)["annals_due_work"] == 1
        site.services.job_requests.submit(
            JobRequest("audit-1", "audit", orders.game, at=site.services.clock() - 60_000)
        )
        site.services.job_requests.submit(JobRequest("rewind-1", "rewind", orders.game, asked=(1,)))
        assert gauges(site)["annals_errands"] == 1, "a motion that waits for consents is nobody's fault"
        assert gauges(site)["annals_errands_seconds"] >= 60

    def test_without_a_store(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        away(monkeypatch, site.services.ledger, "log")
        assert gauges(site) == {"annals_stores_up": 0, "annals_redis_up": 1}

    def test_a_game_that_is_set_aside(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """Operators and seats are told; moves are kept."""
        site = orders.site
        away(monkeypatch, documents, "build_boards", ZeroDivisionError)
        orders.move(0, ORDER)
        monkeypatch.undo()
        assert gauges(site)["annals_games_set_aside"] == 1
        assert site.client.get("/readyz").json["set_aside"] == 1
        assert orders.get("/board", 0).json["set_aside"]
        assert orders.get("").json["set_aside"]


def gauges(site: Site) -> dict[str, float]:
    """The figures that no process counts."""
    lines = site.client.get("/metrics").text.splitlines()
    found = (
        line.split() for line in lines if re.match("annals_(stores|redis|views|games|due|errands|records|pages)", line)
    )
    return {name: float(value) for name, value in found}


class TestHeaders:
    def test_every_answer_has_them(self, orders: Table) -> None:
        for answer in (orders.get("/board"), orders.get("/nothing"), orders.site.client.get("/v1/docs")):
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert "Access-Control-Allow-Origin" not in answer.headers

    def test_tokens_are_kept_by_no_cache(self, site: Site) -> None:
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3})
        joined = site.post(f"/games/{made.json['game']}/seats")
        ticket = site.post("/stream-tickets", token=joined.json["token"])
        assert {a.headers["Cache-Control"] for a in (made, joined, ticket)} == {"no-store"}

    def test_pages_of_other_origins_are_let_in_by_name(self, orders: Table) -> None:
        site = orders.site
        site.remake(origins=("https://play.example",))
        ask = {"Access-Control-Request-Method": "POST"}
        for origin, allowed in (("https://play.example", True), ("https://evil.example", False)):
            answer = orders.get("/board", Origin=origin)
            assert answer.headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)
            assert ("ETag" in answer.headers.get("Access-Control-Expose-Headers", "")) == allowed
            assert "Origin" in answer.headers["Vary"]
            first = site.client.options("/v1/games", headers=ask | {"Origin": origin})
            assert first.status_code == 204
            assert ("Access-Control-Allow-Methods" in first.headers) == allowed

    def test_or_all_with_tokens_but_without_cookies(self, orders: Table) -> None:
        site, ask = orders.site, {"Origin": "https://any.example", "Access-Control-Request-Method": "PUT"}
        site.remake(origins=("*",))
        answer = orders.get("/board", 0, Origin="https://any.example")
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer.headers
        assert "Origin" not in answer.headers["Vary"]
        assert "PUT" in site.client.options("/v1/games", headers=ask).headers["Access-Control-Allow-Methods"]
        assert "Access-Control-Allow-Methods" not in site.client.options("/v1/stream-cookies", headers=ask).headers
        made = site.post("/stream-cookies", token=orders.tokens[0], Origin="https://any.example")
        assert "Access-Control-Allow-Origin" not in made.headers
        assert "Access-Control-Allow-Origin" not in site.client.get("/healthz", headers=ask).headers


def test_two_applications_share_nothing(site: Site) -> None:
    """No globals: figures and limits are each one's own."""
    first = site.client
    site.remake()
    first.get("/healthz")
    assert "/healthz" not in site.client.get("/metrics").text
