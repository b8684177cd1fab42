"""A browser without scripts: it keeps cookies, reads forms, and sends them as people would."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from domain.accounts.credential_tables import SCOPES
from domain.accounts.oauth_clients import GRANT_TYPES
from tests.api.conftest import Doc, Site
from tests.api.members import PASSWORD, Member

REDIRECT = "https://client.example/answer"
VERIFIER = "a-verifier-of-fifty-characters-and-nothing-but-them"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@dataclass
class Form:
    """One form of a page."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(found["action"]))
        if tag == "input" and "name" in found:
            self.forms[-1].fields[found["name"]] = found.get("value", "")


def forms(answer: Any) -> dict[str, Form]:
    """By the path to which they go; of several the first."""
    found: dict[str, Form] = {}
    for form in _Reader(answer.text).forms:
        found.setdefault(urlsplit(form.action).path, form)
    return found


@dataclass
class Browser:
    """With cookies of its own."""

    site: Site
    client: Any = None

    def __post_init__(self) -> None:
        self.client = self.site.app.test_client(use_cookies=True)

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def send(self, form: Form, **fields: str) -> Any:
        return self.client.post(form.action, data=form.fields | fields)

    def log_in(self, name: str = "Anne", password: str = PASSWORD, target: str = "/account") -> Any:
        page = self.get("/login?" + urlencode({"next": target}))
        return self.send(forms(page)["/login"], name=name, password=password)

    def cookie(self, name: str = "annals_session") -> str:
        found = self.client.get_cookie(name)
        return str(found.value) if found else ""


def registered(member: Member, **more: Any) -> Doc:
    """A client of somebody's, which may ask for everything unless it is said."""
    asked = {"name": "A board", "redirects": [REDIRECT], "grant_types": list(GRANT_TYPES), "scopes": list(SCOPES)}
    made = member.post("/me/clients", asked | more)
    assert made.status_code == 201, made.text
    return dict(made.json)


def address(client: Doc, **more: str | None) -> str:
    """Where a client sends people."""
    asked = {
        "response_type": "code",
        "client_id": client["id"],
        "redirect_uri": REDIRECT,
        "scope": "read play",
        "state": "of the client",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **more,
    }
    return "/oauth/authorize?" + urlencode({name: value for name, value in asked.items() if value is not None})


def told(answer: Any) -> dict[str, str]:
    """What a client is told by way of the browser."""
    assert answer.status_code == 303, answer.text
    location = answer.headers["Location"]
    assert location.startswith(REDIRECT), location
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


def allowed(browser: Browser, client: Doc, answer: str = "allow", **more: str | None) -> dict[str, str]:
    """What a client is told once somebody who is logged in has answered."""
    page = browser.get(address(client, **more))
    assert page.status_code == 200, page.text
    return told(browser.send(forms(page)["/oauth/authorize"], answer=answer))


def exchanged(site: Site, client: Doc, code: str, **more: str | None) -> Any:
    """What the token endpoint says to a code."""
    asked = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER}
    return ask(site, client, **(asked | more))


def refreshed(site: Site, client: Doc, token: str, **more: str | None) -> Any:
    return ask(site, client, grant_type="refresh_token", refresh_token=token, **more)


def ask(site: Site, client: Doc, path: str = "/oauth/token", /, **said: str | None) -> Any:
    """As a client asks: with its secret if it has one."""
    proof = {"client_id": client["id"]} | ({"client_secret": client["secret"]} if "secret" in client else {})
    asked = {name: value for name, value in (proof | said).items() if value is not None}
    return site.client.post(path, data=asked)


def failed(answer: Any, error: str, status: int = 400) -> None:
    """It is refused as the RFCs have it."""
    assert (answer.status_code, answer.json["error"]) == (status, error), answer.text
    assert answer.headers["Cache-Control"] == "no-store"
