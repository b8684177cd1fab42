"""Whatever is sent, the answer is a typed problem, and nothing has changed."""

from __future__ import annotations

import gzip
import io
from typing import Any

import pytest

from api.http.strict_json import MAX_DEPTH, StrictJsonError, parse
from api.openapi.smorest import StrictParser
from api.schemas.query_args import ChoicesArgs
from tests.api.conftest import Reply, Site, Table, refused

DEEP = "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
MOVE = '{"type":"order","to":"t01","units":2}'


@pytest.fixture
def table(site: Site) -> Table:
    return site.table("orders@1", 3)


def send(table: Table, raw: str | bytes, path: str = "/moves", **headers: str) -> Reply:
    """A body as it is."""
    sent = {"Authorization": f"Bearer {table.tokens[0]}", "Content-Type": "application/json"}
    sent |= {"If-Match": f'"{table.version}"'} | {k.replace("_", "-"): v for k, v in headers.items()}
    return table.site.client.post(f"/v1{table.path}{path}", data=raw, headers=sent)


class TestBodies:
    @pytest.mark.parametrize(
        ("raw", "code"),
        [
            ("", "not_json"),
            ("{", "not_json"),
            ("nothing", "not_json"),
            ("{} {}", "not_json"),
            ('{"move":{"type":"x",}}', "not_json"),
            (b'{"move":"\xff"}', "not_json"),
            (b'{"move":"\xed\xa0\x80"}', "not_json"),
            ('\ufeff{"move":1}', "not_json"),
            ('{"move":"\x00"}', "not_json"),
            ('{"move":{"type":"order","type":"spy"}}', "duplicate_key"),
            ('{"decision":"0-1","decision":"0-2","move":{}}', "duplicate_key"),
            ('{"move":NaN}', "number_out_of_range"),
            ('{"move":-Infinity}', "number_out_of_range"),
            ('{"move":1e999}', "number_out_of_range"),
            ('{"move":9007199254740992}', "number_out_of_range"),
            ('{"move":-' + "9" * 5000 + "}", "number_out_of_range"),
            (r'{"move":"\ud800"}', "lone_surrogate"),
            (r'{"\udc00":1}', "lone_surrogate"),
            ('{"move":' + DEEP + "}", "too_deep"),
            ('{"move":' + "[" * 100_000, "too_deep"),
            ("[" * 70 + '"' * 100_000, "too_deep"),
        ],
    )
    def test_what_is_no_strict_json_is_refused(self, table: Table, raw: str | bytes, code: str) -> None:
        before = table.version
        refused(send(table, raw), 400, code)
        assert table.version == before

    @pytest.mark.parametrize(
        ("raw", "code"),
        [
            ("[]", "invalid_body"),
            ("null", "invalid_body"),
            ("3", "invalid_body"),
            ("{}", "invalid_body"),
            ('{"move":{},"moves":[]}', "invalid_body"),
            ('{"moves":[]}', "invalid_body"),
            ('{"moves":{}}', "invalid_body"),
            ('{"move":null}', "invalid_body"),
            ('{"move":' + MOVE + ',"decision":"x"}', "invalid_body"),
            ('{"move":' + MOVE + ',"decision":"0-1\\n"}', "invalid_body"),
            ('{"move":' + MOVE + ',"seat":"0"}', "invalid_body"),
            ('{"move":' + MOVE + ',"seat":true}', "invalid_body"),
            ('{"move":' + MOVE + ',"seat":0.0}', "invalid_body"),
            ('{"move":' + MOVE + ',"more":1}', "unknown_field"),
            ('{"move":[]}', "malformed_move"),
            ('{"move":{}}', "malformed_move"),
            ('{"move":{"type":3}}', "malformed_move"),
            ('{"move":{"type":"order"}}', "malformed_move"),
            ('{"move":{"type":"order","to":"t01","units":2.0}}', "malformed_move"),
            ('{"move":{"type":"order","to":"t01","units":2,"more":1}}', "malformed_move"),
            ('{"move":{"type":"order","to":"' + "x" * 81 + '","units":2}}', "malformed_move"),
            ('{"move":{"type":"order","to":"\\u0000","units":2}}', "malformed_move"),
        ],
    )
    def test_what_does_not_fit_is_told_where(self, table: Table, raw: str, code: str) -> None:
        before = table.version
        doc = refused(send(table, raw), 422, code)
        assert doc.get("errors") or doc["figures"]["at"]
        assert table.version == before

    def test_unknown_moves_are_refused_by_the_rules(self, table: Table) -> None:
        """The engine's are unknown as well."""
        for kind in ("attack", "resolve"):
            refused(send(table, '{"move":{"type":"' + kind + '"}}'), 409, "unknown_move")

    def test_a_pointer_names_the_place(self, site: Site) -> None:
        doc = refused(site.post("/games", {"ruleset": "orders@1", "seats": "3", "a/b": 1}), 422, "unknown_field")
        assert {e["at"] for e in doc["errors"]} == {"/seats", "/a~1b"}

    def test_large_bodies_are_not_read(self, table: Table) -> None:
        limit = table.site.services.settings.max_body
        refused(send(table, '"' + "x" * limit + '"'), 413, "body_too_large")
        refused(send(table, '"' + "x" * (limit - 2) + '"'), 422, "invalid_body")

    def test_nor_are_those_that_come_in_chunks(self, table: Table) -> None:
        """The rest would be cut off without a word."""
        raw = b'{"move":' + MOVE.encode() + b"}" + b" " * table.site.services.settings.max_body
        answer = table.site.client.post(
            f"/v1{table.path}/moves",
            input_stream=io.BytesIO(raw),
            headers={"Authorization": f"Bearer {table.tokens[0]}", "Content-Type": "application/json"},
            environ_overrides={"wsgi.input_terminated": True},
        )
        refused(answer, 413, "body_too_large")

    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
    def test_only_json_is_read(self, table: Table, kind: str) -> None:
        refused(send(table, '{"move":{}}', Content_Type=kind), 415, "unsupported_media_type")

    def test_compressed_bodies_are_not_opened(self, table: Table) -> None:
        raw = gzip.compress(b'{"move":{}}')
        refused(send(table, raw, Content_Encoding="gzip"), 415, "unsupported_encoding")
        assert send(table, '{"move":' + MOVE + "}", Content_Encoding="identity").status_code == 201

    def test_a_body_that_may_be_left_out(self, site: Site) -> None:
        table = site.table("orders@1", 3, start=False)
        headers = {"Authorization": f"Bearer {table.director}"}
        assert site.client.post(f"/v1{table.path}/start", headers=headers).status_code == 201


class TestQueriesAndHeaders:
    @pytest.mark.parametrize(
        "query",
        [
            "?wait=x",
            "?wait=-1",
            "?wait=1.0",
            "?wait=",
            "?wait=1&wait=2",
            "?wait=9007199254740992",
            "?waits=1",
            "?wait=\uff11",
        ],
    )
    def test_queries_are_checked(self, table: Table, query: str) -> None:
        refused(table.get("/board" + query), 422, "invalid_query")

    @pytest.mark.parametrize("version", ["0", "-1", "1e3", "99999999999999999"])
    def test_versions_are_numbers(self, table: Table, version: str) -> None:
        refused(table.get(f"/board?version={version}"), 422, "invalid_query")

    @pytest.mark.parametrize("match", ["5", "*", '"x"', 'W/"5"', '"5", "6"', '"-5"', '"1234567890"'])
    def test_if_match_names_one_version(self, table: Table, match: str) -> None:
        refused(send(table, '{"move":' + MOVE + "}", If_Match=match), 422, "invalid_headers")

    @pytest.mark.parametrize("key", ["short", "x" * 129, "with space in it", "umläut-umläut"])
    def test_keys_are_visible_ascii(self, table: Table, key: str) -> None:
        refused(send(table, '{"move":' + MOVE + "}", Idempotency_Key=key), 422, "invalid_headers")

    @pytest.mark.parametrize(
        "path",
        ["/games/nothing", "/games/C3DE44A0-1563-4C54-90E9-FBAA33878461", "/rulesets/x", "/players/a%20b/results"],
    )
    def test_addresses_that_are_none_are_not_found(self, site: Site, path: str) -> None:
        refused(site.get(path), 404, "not_found")

    def test_a_method_that_is_none_is_told_which_are(self, table: Table) -> None:
        answer = table.site.delete(table.path + "/moves", table.director)
        refused(answer, 405, "method_not_allowed")
        assert answer.headers["Allow"] == "OPTIONS, POST"

    def test_a_very_long_number_is_no_seat(self, table: Table) -> None:
        refused(table.site.delete(f"{table.path}/seats/{'9' * 5000}", table.director), 404, "not_found")


class TestStrictJson:
    @pytest.mark.parametrize(
        ("raw", "value"),
        [
            (b"9007199254740991", 2**53 - 1),
            (b"-9007199254740991", 1 - 2**53),
            (b"2.5", 2.5),
            (rb'"\ud83d\ude00"', "😀"),
            ('"é"'.encode(), "é"),
            (b'["[[[[", "]"]', ["[[[[", "]"]),
            (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
            (b'"' + b"[" * 500 + b'"', "[" * 500),
        ],
    )
    def test_what_is_strict_json_passes(self, raw: bytes, value: Any) -> None:
        found = parse(raw)
        assert value is None or found == value

    def test_the_key_that_comes_twice_is_named(self) -> None:
        with pytest.raises(StrictJsonError) as caught:
            parse(b'{"a":1,"b":{"c":1,"c":2}}')
        assert "'c'" in caught.value.detail


class TestEmptyQueries:
    def test_empty_query_is_read_once_and_belongs_to_one_request(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        parser, schema, loads = StrictParser(), ChoicesArgs(), []

        def load(data: object, **_: object) -> dict[str, int]:
            loads.append(data)
            return {"wait": 0}

        monkeypatch.setattr(schema, "load", load)
        with site.app.test_request_context("/"):
            parser.parse(schema, location="query").clear()
            assert parser.parse(schema, location="query") == {"wait": 0}
        with site.app.test_request_context("/?wait=3"):
            parser.parse(schema, location="query")
        assert len(loads) == 2
