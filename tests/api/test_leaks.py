"""What leaks by the side: log lines, figures, and what strangers are shown."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from deploy.cli import doctor
from deploy.cli.main import main as cli
from deploy.config.settings import load_settings
from deploy.runtime import logging_setup
from domain.errors import StoreUnavailable
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from tests.api.conftest import ROOT, Doc, Site, Table

EVIL = 'evil\r\n2026-01-01 00:00:00 ERROR annals x\x1b[31m\x9b31m\u2028"}{\x00\u202e'
TOKEN = "anl_0123456789abcdef_" + "s3cret-" * 6 + "x"
TICKET, COOKIE = TOKEN.replace("anl", "ant"), TOKEN.replace("anl", "anc")
SECRETS = (TOKEN, TICKET, COOKIE, "postgresql://user:s3cret@host/db", "password=s3cret", "redis://:s3cret@host:1/0")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]")


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


def printed(message: str, error: Exception | None = None) -> str:
    """The line of a message as it is written."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging_setup.LineFormatter(logging_setup.LOG_FORMAT))
    trace = (type(error), error, error.__traceback__) if error else None
    handler.handle(logging.LogRecord("annals.test", logging.DEBUG, "", 0, "%s", (message,), trace))
    return out.getvalue()


def rendered(**more: Any) -> str:
    """The line of a request as it is written."""
    out = io.StringIO()
    structlog.wrap_logger(structlog.PrintLogger(out), logging_setup.PROCESSORS).info("request", **more)
    return out.getvalue()


class TestLines:
    def test_its_time_is_in_utc_and_says_so(self) -> None:
        record = logging.LogRecord("annals", logging.WARNING, "", 0, "said", (), None)
        record.created, record.msecs = 1_700_000_000.5, 500.0
        assert (
            logging_setup.LineFormatter(logging_setup.LOG_FORMAT).format(record)
            == "2023-11-14T22:13:20.500Z WARNING annals said"
        )

    def test_a_message_is_one_line(self) -> None:
        text = printed(EVIL)
        assert text.count("\n") == 1
        assert not CONTROL.search(text)
        assert "evil" in text

    def test_no_line_of_a_trace_can_pass_for_another(self) -> None:
        text = printed("it failed", ValueError(EVIL))
        assert not CONTROL.search(text)
        first, *rest = text.splitlines()
        assert first.endswith("it failed")
        assert rest
        assert all(line.startswith("    ") for line in rest)

    def test_a_line_of_the_api_is_one_object(self) -> None:
        text = rendered(method=EVIL, trace=EVIL)
        assert text.count("\n") == 1
        assert json.loads(text)["method"] == EVIL

    @pytest.mark.parametrize("secret", SECRETS)
    def test_no_secret_is_written(self, secret: str) -> None:
        """Neither in a message, nor in that of an exception."""
        for text in (printed(secret), printed("x", ValueError(f"'{secret}'")), rendered(trace=f"'{secret}'")):
            assert "s3cret" not in text

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("ANNALS_DATABASE_URL", "postgresql://user:s3cret@1:2@host/db"),
            ("ANNALS_DATABASE_URL", "postgresql://user:x%s3cret@host/db"),
            ("ANNALS_REDIS_URL", "redis://:x/s3cret@host:1/0"),
            ("ANNALS_METRICS_TOKEN", "s3cret"),
            ("ANNALS_KEY", "s3cret"),
        ],
    )
    def test_not_even_a_part_of_our_own(self, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
        """As in the message of a library that was given a misspelt address."""
        monkeypatch.setenv(name, value)
        assert "s3cret" not in printed("failed to resolve host 's3cret@1'")
        assert "s3cret" not in rendered(trace='invalid percent-encoded token: "x%s3cret"')

    def test_a_long_line_takes_no_time(self) -> None:
        for text in ("a://" * 20_000, "password='" * 10_000, "anl_" * 20_000, "\x1b" * 50_000):
            assert len(printed(text)) > 1000


class TestRequests:
    def test_a_line_holds_nothing_that_a_client_says(self, orders: Table) -> None:
        said = "EVILTEXT"
        client = orders.site.client
        names = ("Host", "Origin", "Cookie", "Authorization", "Idempotency-Key", "If-Match", "Accept-Language", said)
        with capture_logs() as lines:
            client.open("/v1/games", method=said)
            client.open(f"/v1/{said}/{said}?{said}={said}", headers=dict.fromkeys(names, said))
            client.open(f"/v1/players/{said}/results")
            client.open(f"/v1/problems/{said.lower()}")
            client.open("/v1/rulesets/eviltext@1")
            client.post("/v1/games", json={"ruleset": "eviltext@1", "seats": 3, "name": said, said: said})
            orders.post("/moves", {"move": {"type": said}, "decision": orders.decision}, orders.tokens[0])
        assert [line["event"] for line in lines].count("request") == 7
        assert {line["event"] for line in lines} == {"request", "input_refused"}
        assert said.lower() not in str(lines).lower()
        assert lines[0]["method"] == "other"

    def test_the_trace_of_a_fault_holds_no_secret_that_was_sent(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also those whose form nobody can know."""
        table = site.table("orders@1", 3, start=False)
        secrets = {"nonce": "ab" * 16, "invitation": "invitation-secret", "name": "Anne the Great"}
        key = "the-key-of-somebody-who-asks-0001"

        def fail(*args: Any, **more: Any) -> None:
            raise ValueError(f"{args} {more} {key} {table.tokens[0]} {secrets}")

        monkeypatch.setattr(site.services.commands, "handle", fail)
        with capture_logs() as lines:
            for path, body in (("/nonces", {"nonce": secrets["nonce"]}), ("/seats", secrets | {"seat": 0})):
                body.pop("nonce") if path == "/seats" else None
                answer = table.post(path, body, table.tokens[0], Idempotency_Key=key)
                assert answer.status_code == 500
                assert answer.json.keys() == {"type", "title", "status", "code", "instance", "request"}
        first, second = (line["trace"] for line in lines if line["event"] == "fault")
        for trace in (first, second):
            assert "ValueError" in trace
            assert key not in trace
            assert table.tokens[0] not in trace
        assert secrets["nonce"] not in first
        assert secrets["invitation"] not in second
        assert secrets["name"] not in second

    def test_a_store_that_is_away_tells_no_address(self, orders: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        def gone(*_: Any, **__: Any) -> None:
            raise StoreUnavailable('connection to "postgresql://user:s3cret@host/db" failed')

        for name in ("execute", "log", "read", "append", "version"):
            monkeypatch.setattr(orders.site.services.ledger, name, gone)
        with capture_logs() as lines:
            texts = [orders.get(path, 0).text for path in ("", "/board", "/records", "/export", "/audit")]
            texts += [orders.site.client.get(path).text for path in ("/readyz", "/metrics", "/v1/log")]
        assert "s3cret" not in str([*texts, *lines])


class TestCommands:
    def test_what_is_said_obeys_nobody(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A file from somebody else may hold anything."""
        assert cli(["simulate", EVIL]) == 1
        said = capsys.readouterr().err
        assert "evil" in said
        assert not CONTROL.search(said)

    def test_nor_what_the_doctor_says(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        def gone(*_: Any) -> None:
            raise StoreUnavailable(f"postgresql://user:s3cret@host {EVIL}")

        monkeypatch.setattr(doctor, "create_services", gone)
        (check,) = doctor.run_checks(load_settings({"data": str(tmp_path)}), RulesetRegistry([]))
        assert "s3cret" not in check.said
        assert not CONTROL.search(check.said)

    def test_an_address_that_cannot_be_read_is_not_quoted(self) -> None:
        address = "postgresql://user:x%s3" + "cret@127.0.0.1:1/db"  # a trace quotes this line
        with pytest.raises(StoreUnavailable) as caught:
            Ledger.open(address).migrate()
        assert "s3cret" not in "".join(traceback.format_exception(caught.value))


# --- what strangers are shown ----------------------------------------------------------------------------------


def addresses(site: Site, **ids: str) -> list[str]:
    """Everything that can be read."""
    found: Doc = site.client.get("/v1/openapi.json").json["paths"]
    known = {"rewind": "rewind-" + "0" * 24, "job": "audit-" + "0" * 24, "version": "1", "code": "not_json"}
    known |= {
        "proposal": "proposal-" + "0" * 24,
        "webhook": "0" * 16,
        "device": "0" * 16,
        "delivery": "msg_" + "0" * 32,
        "account": "0" * 16,
        "client": "0" * 16,
        "name": "orders@1",
        "player": "nobody",
        "tile": "entries/000.p/1",
        "origin_hash": "0" * 64,
        "game": "00000000-0000-0000-0000-000000000000",
        "tournament": "00000000-0000-8000-8000-000000000000",
        "stage": "1",
        "number": "1",
        "pod": "1",
        "family": "orders",
        "entrant": "0",
        "part": "entrant",
        "disclosure": "0" * 24,
    } | ids
    return [path.format(**known) for path, methods in found.items() if "get" in methods] + [
        "/v1/docs",
        "/v1/docs/start.js",
        "/v1/openapi.json",
        "/.well-known/oauth-authorization-server",
        "/.well-known/annals-log-keys",
        "/.well-known/annals-log-policy",
        "/login",
        "/register",
        "/oauth/authorize",
        "/nothing",
    ]


class TestStrangers:
    def test_see_neither_paths_nor_versions_nor_secrets(self, orders: Table, tmp_path: Path) -> None:
        site, closed = orders.site, r"(werkzeug|flask|granian|python|marshmallow|structlog|sqlite)[/ -]?\d"
        here = [str(ROOT), str(tmp_path), sys.prefix, "site-packages", "Traceback"]
        secrets = [*orders.tokens, orders.director, *(t.split("_", 2)[2] for t in orders.tokens)]
        for path in addresses(site, game=orders.game):
            answer = site.client.get(path, buffered=not path.endswith("/stream"))
            head = str(answer.headers)
            text = head if path.endswith("/stream") else head + answer.text
            answer.close()
            assert "Server" not in answer.headers
            assert "X-Powered-By" not in answer.headers
            assert not re.search(closed, head, re.IGNORECASE), path
            assert not [x for x in [*here, *secrets] if x in text], path
            if path in ("/healthz", "/readyz", "/v1/log", "/metrics", "/nothing"):
                assert not re.search(closed, text, re.IGNORECASE), path

    @pytest.mark.parametrize("listing", ["unlisted", "invitation"])
    def test_find_no_game_that_is_not_listed(self, site: Site, listing: str) -> None:
        """Nor by the people who have played there."""
        made = site.post("/games", {"ruleset": "orders@1", "seats": 2, "listing": listing, "name": "Zoltan"}).json
        path, secret = f"/games/{made['game']}", made.get("invitation", "")
        names = ("Yolanda", "Yolanthe")
        people = [site.post(path + "/seats", {"name": name, "invitation": secret}).json for name in names]
        for closed in (False, True):
            if closed:
                assert site.post(path + "/start", token=made["token"]).status_code == 201
                assert site.post(path + "/close", {"reason": "void"}, made["token"]).status_code == 201
            for address in [*addresses(site), *(f"/v1/players/{p['player']}/results" for p in people)]:
                if address.endswith("/stream"):
                    continue
                answer = site.client.get(address)
                text = answer.text + str(answer.headers)
                answer.close()
                assert made["game"] not in text, address
                assert "Zoltan" not in text, address

    def test_redirects_name_no_host(self, site: Site) -> None:
        """What a client says of the host is not given back to others."""
        for path in ("/v1/games//", "/v1//games", "//evil.example/..", "/v1/games/", "/v1/docs/"):
            answer = site.client.get(path, headers={"Host": "evil.example"})
            assert "evil.example" not in answer.text + str(answer.headers.get("Location", ""))


class TestFigures:
    def test_grow_by_nothing_that_a_client_says(self, orders: Table) -> None:
        """Series are bounded: by the templates of routes, known methods, statuses, and codes of ours."""
        site, counts = orders.site, []
        for n in range(3):
            for said in (f"evil{n}{i}" for i in range(20)):
                site.client.open(f"/v1/{said}", method=said.upper())
                site.client.open("/v1/games", method=said.upper())
                site.client.get(f"/v1/players/{said}/results")
                site.client.get(f"/v1/problems/{said}")
                site.client.get(f"/v1/rulesets/{said}@1")
                site.client.get("/v1/games", query_string={said: said})
                site.client.post("/v1/games", json={"ruleset": f"{said}@1", "seats": 3})
                orders.post("/moves", {"move": {"type": said}, "decision": orders.decision}, orders.tokens[0])
            text = site.client.get("/metrics").text
            assert "evil" not in text.lower()
            counts.append(len(text.splitlines()))
        assert counts[1] == counts[2]

    def test_are_of_no_game_and_of_nobody(self, orders: Table) -> None:
        orders.move(0, {"type": "order", "to": "t01", "units": 1})
        text = orders.site.client.get("/metrics").text
        for name in re.findall(r"[{,]([a-z_]+)=", text):
            assert name in {"method", "route", "status", "code", "le"}
        assert orders.game not in text
        assert not re.search(r"orders@|Player|anl_", text)
        players = [s["player"] for s in orders.get().json["seats"]]
        assert not [x for x in players if x in text]
