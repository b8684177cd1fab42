"""A client program, a person with a browser, and a real service between them, on both stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from authlib.integrations.requests_client import OAuth2Session

from tests.api.members import PASSWORD
from tests.api.oauth.browser import Form, forms
from tests.deploy.harness import Doc, Service, serving
from tests.postgres import postgres_server, postgres_url

pytestmark = pytest.mark.xdist_group("oauth services")  # each store has one service

__all__ = ["postgres_server", "postgres_url"]

REDIRECT = "http://127.0.0.1:50321/answer"
VERIFIER = "a-verifier-of-fifty-characters-and-nothing-but-them"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    env = {}
    if request.param == "postgresql":
        env["ANNALS_DATABASE_URL"] = request.getfixturevalue("postgres_url")
    with serving(tmp_path / "data", **env) as service:
        yield service


class Person:
    """Somebody with an account and a browser."""

    def __init__(self, service: Service, name: str) -> None:
        self.service, self.name = service, name
        self.browser = httpx.Client(base_url=service.url, timeout=10)
        self.token = self.post("/accounts", {"name": name, "password": PASSWORD})["token"]
        self.send(self.page("/login"), "/login", name=name, password=PASSWORD)

    def post(self, path: str, body: Doc) -> Doc:
        headers = {"Authorization": f"Bearer {self.token}"} if hasattr(self, "token") else {}
        answer = self.service.http.post(path, json=body, headers=headers)
        assert answer.status_code in (200, 201), answer.text
        found: Doc = answer.json()
        return found

    def page(self, path: str) -> dict[str, Form]:
        answer = self.browser.get(path)
        assert answer.status_code == 200, answer.text
        return forms(answer)

    def send(self, page: dict[str, Form], path: str, **fields: str) -> httpx.Response:
        answer = self.browser.post(page[path].action, data=page[path].fields | fields)
        assert answer.status_code in (200, 303), answer.text
        return answer

    def close(self) -> None:
        self.browser.close()


@pytest.fixture
def anne(service: Service) -> Iterator[Person]:
    person = Person(service, "Anne")
    yield person
    person.close()


@pytest.fixture
def program(service: Service, anne: Person) -> Iterator[Any]:
    """As its makers would write it: what there is it reads from the metadata."""
    body = {
        "name": "A board",
        "redirects": ["http://127.0.0.1/answer"],
        "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        "scopes": ["read", "play"],
        "confidential": True,
    }
    made = anne.post("/me/clients", body)
    client = OAuth2Session(
        made["id"], made["secret"], redirect_uri=REDIRECT, code_challenge_method="S256", scope="read play"
    )
    client.there = httpx.get(f"{service.url}/.well-known/oauth-authorization-server").json()
    assert client.there["issuer"] == service.url
    yield client
    client.close()


def allowed(anne: Person, program: Any) -> Doc:
    """The tokens that a program gets by way of somebody's browser."""
    asked, state = program.create_authorization_url(program.there["authorization_endpoint"], code_verifier=VERIFIER)
    answer = anne.send(anne.page(asked), "/oauth/authorize", answer="allow")
    told = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert (told["state"], told["iss"]) == ([state], [program.there["issuer"]])
    found: Doc = program.fetch_token(
        program.there["token_endpoint"],
        authorization_response=answer.headers["Location"],
        code_verifier=VERIFIER,
        state=state,
    )
    return dict(found)


def test_a_program_plays_for_a_person_until_it_is_over(service: Service, anne: Person, program: Any) -> None:
    me = f"{service.url}/v1/me"
    first = allowed(anne, program)
    assert program.get(me).json()["name"] == "Anne"
    second = dict(program.refresh_token(program.there["token_endpoint"]))
    assert program.get(me).json()["scopes"] == ["read", "play"]

    def refresh_again() -> httpx.Response:
        """The first token once more."""
        return httpx.post(
            program.there["token_endpoint"],
            data={"grant_type": "refresh_token", "refresh_token": first["refresh_token"]},
            auth=(program.client_id, program.client_secret),
        )

    assert second["refresh_token"] != first["refresh_token"]
    assert refresh_again().json()["refresh_token"] == second["refresh_token"], "the answer may have been lost"
    program.refresh_token(program.there["token_endpoint"])
    again = refresh_again()
    assert (again.status_code, again.json()) == (400, {"error": "invalid_grant"})
    assert program.get(me).status_code == 401
    third = allowed(anne, program)
    assert program.get(me).status_code == 200
    given = program.revoke_token(
        program.there["revocation_endpoint"], third["refresh_token"], token_type_hint="refresh_token"
    )
    assert given.status_code == 200
    assert program.get(me).status_code == 401
    assert service.complaints() == ""


def test_a_bot_is_let_in_by_a_code(service: Service, anne: Person, program: Any) -> None:
    proof = {"client_id": program.client_id, "client_secret": program.client_secret}
    there = program.there
    asked = httpx.post(there["device_authorization_endpoint"], data=proof | {"scope": "play"}).json()
    page = anne.page(asked["verification_uri"])
    typed = forms(anne.send(page, "/device", code=asked["user_code"]))
    anne.send(typed, "/device", answer="allow")
    said = proof | {"grant_type": DEVICE, "device_code": asked["device_code"]}
    tokens = httpx.post(there["token_endpoint"], data=said).json()
    program.token = tokens
    assert program.get(f"{service.url}/v1/me").json()["scopes"] == ["play"]
    assert httpx.post(there["token_endpoint"], data=said).json() == {"error": "invalid_grant"}
