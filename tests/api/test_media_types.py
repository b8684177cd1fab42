"""Bodies that are not plain JSON: every route that takes a body refuses them, also while the store is unavailable."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import pytest

from domain.errors import StoreUnavailable
from tests.api.conftest import Site, Table, refused
from tests.api.members import promoted

UNUSED = {
    "seat": "0",
    "player": "nobody",
    "rewind": f"rewind-{'0' * 24}",
    "proposal": f"proposal-{'0' * 24}",
    "report": "0" * 24,
    "version": "1",
    "tournament": "00000000-0000-8000-8000-000000000000",
    "stage": "1",
    "number": "1",
    "pod": "1",
    "ruling": "1",
    "entrant": "0",
    "part": "entrant",
}
WRONG: list[tuple[dict[str, str], str]] = [
    ({}, "unsupported_media_type"),
    ({"Content-Type": ""}, "unsupported_media_type"),
    ({"Content-Type": "text/plain"}, "unsupported_media_type"),
    ({"Content-Type": "application/x-www-form-urlencoded"}, "unsupported_media_type"),
    ({"Content-Type": "multipart/form-data; boundary=x"}, "unsupported_media_type"),
    ({"Content-Type": "application/jsonx"}, "unsupported_media_type"),
    ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, "unsupported_encoding"),
]
FORMS = ("/oauth/token", "/oauth/revoke", "/oauth/device")


@pytest.fixture
def table(site: Site) -> Table:
    return site.table("orders@1", 3)


def taking_bodies(table: Table) -> list[tuple[str, str]]:
    """Method and address of each route with a JSON body, from the API's document."""
    paths: dict[str, Any] = table.site.get("/openapi.json").json["paths"]
    known = UNUSED | {"game": table.game}
    return [
        (method.upper(), re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], "0" * 16), path))
        for path, methods in paths.items()
        for method, operation in methods.items()
        if isinstance(operation, dict)
        and "text/plain" not in operation.get("requestBody", {"content": "text/plain"})["content"]
    ]


def callers(table: Table) -> list[str]:
    """The tokens of an administrator, a director and a player, an unknown one, and none."""
    return [promoted(table.site, "Root", "admin").token, table.director, table.tokens[0], "unknown", ""]


def send_away(monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    for name in ("execute", "read", "version", "run_in_append_order"):
        monkeypatch.setattr(site.services.ledger, name, fail)


@pytest.mark.parametrize("chunked", [False, True], ids=["at once", "in chunks"])
@pytest.mark.parametrize("is_away", [False, True], ids=["store there", "store away"])
def test_only_plain_json_is_read(table: Table, monkeypatch: pytest.MonkeyPatch, is_away: bool, chunked: bool) -> None:
    """Callers without a right are told that first, as far as it is known."""
    site = table.site
    routes, tokens = taking_bodies(table), callers(table)
    assert len(routes) > 40
    if is_away:
        send_away(monkeypatch, site)
        assert site.post("/games", {"ruleset": "orders@1", "seats": 3}, tokens[0]).status_code == 503
    for method, address in routes:
        for headers, code in WRONG:
            found = set()
            for token in tokens:
                sent = headers | ({"Authorization": f"Bearer {token}"} if token else {})
                body: dict[str, Any] = {"data": b'{"a": 1}'}
                if chunked:
                    overrides = {"wsgi.input_terminated": True}
                    body = {"input_stream": BytesIO(b'{"a": 1}'), "environ_overrides": overrides}
                answer = site.client.open(address, method=method, headers=sent, **body)
                found.add((answer.status_code, answer.json["code"]))
                if is_away and token not in ("", "unknown"):
                    refused(answer, 415, code)
            assert (415, code) in found, (method, address, headers, found)
            assert {status for status, _ in found} <= {415, 401, 403}, (method, address, headers, found)


def test_the_answer_names_the_type(table: Table) -> None:
    answer = table.site.client.post(
        f"/v1{table.path}/looks", data=b"x", headers={"Authorization": f"Bearer {table.director}"}
    )
    refused(answer, 415, "unsupported_media_type")
    assert answer.headers["Accept"] == "application/json"


def test_no_body_needs_no_type(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that may be left out."""
    answer = table.site.client.post(
        f"/v1{table.path}/looks", headers={"Authorization": f"Bearer {table.director}", "Content-Type": "text/plain"}
    )
    assert answer.status_code == 201, answer.text
    send_away(monkeypatch, table.site)
    answer = table.site.client.post(
        f"/v1{table.path}/looks", headers={"Authorization": f"Bearer {table.director}", "Content-Type": "text/plain"}
    )
    refused(answer, 503, "store_unavailable")


def test_refused_bodies_count_for_the_limit(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the address while the store is away, since nobody knows the caller."""
    table.site.remake(rate=0.001, burst=3)
    send_away(monkeypatch, table.site)
    headers = {"Authorization": f"Bearer {table.director}"}
    asked = [table.site.client.post("/v1/me/tokens", data=b"x", headers=headers).status_code for _ in range(4)]
    assert asked == [415, 415, 415, 429]


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/json"}])
def test_the_endpoints_of_clients_take_forms(
    table: Table, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    """Their refusal is that of RFC 6749, also while the store is away."""
    send_away(monkeypatch, table.site)
    for path in FORMS:
        answer = table.site.client.post(path, data=b'{"a": 1}', headers=headers)
        assert (answer.status_code, answer.json["error"]) == (400, "invalid_request"), path
