"""Nothing that a request names becomes an address to which somebody is sent."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.deploy.harness import Service, serving

pytestmark = pytest.mark.xdist_group("redirects")  # one service

PATHS = (
    "/",
    "//evil.example",
    "//evil.example/",
    "///evil.example",
    "/\\evil.example",
    "/%2F/evil.example",
    "/%5Cevil.example",
    "//evil.example/%2e%2e",
    "/v1//games",
    "/v1/docs",
    "/v1/docs/",
    "/v1/games/",
    "/v1/rulesets/",
    "/v1/docs//evil.example",
    "/?next=//evil.example",
    "/v1/docs/?next=https://evil.example",
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    proxy = {"ANNALS_TRUSTED_PROXIES": "127.0.0.1"}
    with serving(tmp_path_factory.mktemp("redirects") / "data", **proxy) as service:
        yield service


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_who_is_sent_on_stays_here(service: Service, path: str, method: str) -> None:
    named = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    with httpx.Client() as client:
        url = httpx.URL(service.url).copy_with(raw_path=path.encode())
        answer = client.send(client.build_request(method, url, headers=named))
    found = answer.headers.get("Location", "")
    assert "evil.example" not in found
    assert not found or (found.startswith("/") and found[1:2] not in ("/", "\\"))


def test_a_proxy_that_is_trusted_and_asked_with_tls_has_it_said(service: Service) -> None:
    """So do browsers remember it, also where TLS ends before the service."""
    over_tls = service.http.get("/rulesets", headers={"X-Forwarded-Proto": "https"})
    assert over_tls.headers["Strict-Transport-Security"] == "max-age=63072000"
    assert "Strict-Transport-Security" not in service.http.get("/rulesets").headers
    refused = httpx.get(f"{service.url}/{'x' * 9000}", headers={"X-Forwarded-Proto": "https"})
    assert (refused.status_code, "Strict-Transport-Security" in refused.headers) == (414, False)
