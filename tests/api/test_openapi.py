"""The document that describes the API, the pages that show it, and docs/http.md tell all there is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from openapi_spec_validator import validate

from api.problems import CODES
from domain.kernel.acts import TABLE_CODES
from domain.kernel.ruleset import COMMON_CODES
from tests.api.conftest import CATALOGUE, ROOT, Site

PLAIN = {"/", "/v1/openapi.json", "/v1/docs", "/v1/docs/start.js", "/v1/docs/assets/{name}"}


@pytest.fixture
def spec(site: Site) -> dict[str, Any]:
    found: dict[str, Any] = site.get("/openapi.json").json
    return found


def operations(spec: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    methods = ("get", "post", "put", "delete")
    return {(path, m): doc for path, item in spec["paths"].items() for m, doc in item.items() if m in methods}


def test_it_is_valid_openapi_31(spec: dict[str, Any]) -> None:
    validate(spec)
    assert spec["openapi"] == "3.1.0"


def test_every_route_is_documented(site: Site, spec: dict[str, Any]) -> None:
    served = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in site.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert {(p, m) for p, m in served if p not in PLAIN} == set(operations(spec))


def test_every_operation_says_what_it_needs(spec: dict[str, Any]) -> None:
    found = operations(spec)
    assert len({doc["operationId"] for doc in found.values()}) == len(found)
    for (path, method), doc in found.items():
        assert doc["summary"], path
        assert "security" in doc, path
        assert "default" in doc["responses"], path
        if method in ("post", "put", "delete") and path not in ("/v1/games", "/v1/games/{game}/seats"):
            assert doc["security"] == [{"token": []}], path
        if "requestBody" in doc:
            assert list(doc["requestBody"]["content"]) == ["application/json"]


def test_moves_are_one_union_per_ruleset(spec: dict[str, Any]) -> None:
    schemas = spec["components"]["schemas"]
    unions = [ref["$ref"].rsplit("/", 1)[1] for ref in schemas["Move"]["anyOf"]]
    assert len(unions) == len(CATALOGUE.names())
    for name, union in zip(CATALOGUE.names(), unions, strict=True):
        mapping = schemas[union]["discriminator"]["mapping"]
        assert set(mapping) == {k for k, m in CATALOGUE.get(name).moves.items() if m.admission.by != "engine"}
        for kind, ref in mapping.items():
            member = schemas[ref.rsplit("/", 1)[1]]
            for schema in member.get("oneOf", [member]):
                assert schema["properties"]["type"]["const"] == kind


def test_the_pages_ask_no_other_host(site: Site) -> None:
    html = site.get("/docs").text
    assert re.findall(r'(?:src|href)="([^"]+)"', html)
    for address in [*re.findall(r'(?:src|href)="([^"]+)"', html), "/v1/openapi.json"]:
        assert address.startswith("/v1/")
        with site.client.get(address) as answer:
            assert answer.status_code == 200
    assert site.get("/docs/assets/../../app.py").status_code == 404


def test_the_page_on_http_tells_every_route_code_and_header(spec: dict[str, Any]) -> None:
    text = (ROOT / "docs" / "http.md").read_text("utf-8")
    for path, method in operations(spec):
        assert f"`{method.upper()} {path}`" in text, (method, path)
    for code in {*CODES, *COMMON_CODES, *TABLE_CODES} - {"refused"}:
        assert f"`{code}`" in text, code
    for code in CODES:
        assert code == "refused" or f"| {CODES[code][0]} | `{code}` |" in text, code
