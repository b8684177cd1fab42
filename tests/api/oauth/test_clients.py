"""Registered clients: whose they are, where they may be answered, and what they prove themselves by."""

from __future__ import annotations

import re

import pytest

from domain.accounts.oauth_clients import GRANT_TYPES, OAuthClient, redirect_error
from domain.accounts.sessions import FRESH
from tests.api.conftest import Site, refused
from tests.api.members import Member, register, timed
from tests.api.oauth.browser import (
    Browser,
    address,
    allowed,
    ask,
    exchanged,
    failed,
    refreshed,
    registered,
    told,
)

DEVICE_CODE = GRANT_TYPES[2]
NEW = {"name": "A board for telephones", "redirects": ["https://client.example/answer"]}
FIT = [
    "https://client.example/answer",
    "https://client.example:8443/a?b=c",
    "https://client.example",
    "http://127.0.0.1/answer",
    "http://127.0.0.1:5000/answer",
    "http://[::1]/answer",
]
UNFIT = [
    "",
    "client.example/answer",
    "http://client.example/answer",
    "http://localhost/answer",
    "http://127.0.0.1.client.example/answer",
    "http://127.0.0.2/answer",
    "http://2130706433/answer",
    "https://client.example/answer#part",
    "https://client.example/#",
    "https://user@client.example/answer",
    "https://*.client.example/answer",
    "https://client_.example/answer",
    "https://client.example\\@other.example/",
    "https://client.example/\u00e9",
    "https://client.example/a b",
    'https://client.example/"',
    "https://client.example:99999/",
    "https://client.example:x/",
    "https://[::1/",
    "https:///answer",
    "javascript:alert(1)",
    "data:text/html,x",
    "app.example:/answer",
    "https://client.example/" + "x" * 300,
]


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


class TestRegistering:
    def test_a_public_one_has_no_secret(self, anne: Member) -> None:
        made = anne.post("/me/clients", NEW)
        assert made.status_code == 201, made.text
        assert set(made.json) == {"id", "name", "redirects", "grant_types", "scopes", "confidential"}
        assert anne.get("/me/clients").json["items"] == [made.json | {"made": pytest.approx(1.8e12, rel=0.2)}]
        assert anne.get(f"/me/clients/{made.json['id']}").json["name"] == NEW["name"]
        refused(anne.post(f"/me/clients/{made.json['id']}/secrets"), 409, "public_client")

    def test_the_secret_of_a_confidential_one_is_shown_once(self, site: Site, anne: Member) -> None:
        made = anne.post("/me/clients", NEW | {"confidential": True}).json
        assert re.fullmatch(r"anx_[0-9a-f]{16}_[A-Za-z0-9_-]{43}[0-9a-f]{8}", made["secret"])
        assert made["secret"] not in anne.get("/me/clients").text
        kept = site.services.account_store.oauth_clients.find(made["id"])
        assert kept is not None
        assert (kept.has_secret(made["secret"]), kept.has_secret("")) == (True, False)
        assert made["secret"] not in str(site.services.ledger.execute("SELECT * FROM oauth_clients"))
        other = anne.post(f"/me/clients/{made['id']}/secrets").json["secret"]
        kept = site.services.account_store.oauth_clients.find(made["id"])
        assert kept is not None
        assert (kept.has_secret(made["secret"]), kept.has_secret(other)) == (False, True)

    @pytest.mark.parametrize("redirect", FIT)
    def test_where_it_may_be_answered(self, anne: Member, redirect: str) -> None:
        assert anne.post("/me/clients", NEW | {"redirects": [redirect]}).status_code == 201

    @pytest.mark.parametrize("redirect", UNFIT)
    def test_and_where_not(self, anne: Member, redirect: str) -> None:
        problem = refused(anne.post("/me/clients", NEW | {"redirects": [redirect]}), 422, "invalid_body")
        assert problem["errors"][0]["at"] == "/redirects/0"

    def test_repetition_gets_the_same_after_a_change_of_client(self, anne: Member) -> None:
        body = NEW | {"confidential": True}
        first = anne.post("/me/clients", body, Idempotency_Key="my-client")
        path = f"/me/clients/{first.json['id']}"
        assert anne.put(path, NEW | {"name": "Other"}).status_code == 200
        assert anne.post("/me/clients", body, Idempotency_Key="my-client").data == first.data
        assert anne.get(path).json["name"] == "Other"
        refused(anne.post("/me/clients", NEW, Idempotency_Key="my-client"), 422, "idempotency_key_reused")
        assert anne.delete(path).status_code == 204
        assert anne.post("/me/clients", body, Idempotency_Key="my-client").data == first.data
        assert anne.get("/me/clients").json["items"] == []

    def test_it_needs_a_session_with_a_password_shown_lately(self, site: Site) -> None:
        watch = timed(site)
        anne = register(site)
        made = anne.post("/me/clients", NEW | {"confidential": True}).json["id"]
        refused(site.post("/me/clients", NEW, anne.personal("play", "admin")), 403, "session_required")
        watch.now += FRESH
        for answer in (
            anne.post("/me/clients", NEW),
            anne.put(f"/me/clients/{made}", NEW),
            anne.post(f"/me/clients/{made}/secrets"),
        ):
            refused(answer, 403, "password_required")
        assert anne.delete(f"/me/clients/{made}").status_code == 204

    def test_an_account_has_so_many(self, anne: Member, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domain.accounts.oauth_clients.MOST_CLIENTS", 1)
        assert anne.post("/me/clients", NEW).status_code == 201
        refused(anne.post("/me/clients", NEW), 409, "too_many")

    def test_nobody_else_touches_it(self, site: Site, anne: Member) -> None:
        made, bob = anne.post("/me/clients", NEW).json["id"], register(site, "Bob")
        path = f"/me/clients/{made}"
        for answer in (bob.get(path), bob.put(path, NEW), bob.delete(path), bob.post(f"{path}/secrets")):
            refused(answer, 404, "not_found")
        assert bob.get("/me/clients").json["items"] == []
        assert anne.get(path).status_code == 200

    def test_one_that_was_removed_is_gone(self, anne: Member) -> None:
        path = f"/me/clients/{anne.post('/me/clients', NEW).json['id']}"
        assert anne.delete(path).status_code == 204
        for answer in (anne.get(path), anne.put(path, NEW), anne.delete(path)):
            refused(answer, 404, "not_found")

    def test_it_goes_with_its_account(self, site: Site, anne: Member) -> None:
        made = anne.post("/me/clients", NEW).json["id"]
        assert anne.delete("/me").status_code == 204
        assert site.services.account_store.oauth_clients.find(made) is None
        for table in ("oauth_clients", "oauth_client_rights"):
            assert site.services.ledger.execute(f"SELECT * FROM {table}") == []  # noqa: S608 - fixed names


class TestRights:
    """What a client may ask for is what it was registered for."""

    @pytest.fixture
    def browser(self, site: Site, anne: Member) -> Browser:
        browser = Browser(site)
        browser.log_in()
        return browser

    def test_without_a_word_it_reads_by_way_of_a_browser(self, anne: Member) -> None:
        made = anne.post("/me/clients", NEW).json
        assert (made["grant_types"], made["scopes"]) == (["authorization_code", "refresh_token"], ["read"])

    @pytest.mark.parametrize("member", ["grant_types", "scopes"])
    @pytest.mark.parametrize("wrong", [[], ["password"], "read", ["read"] * 9])
    def test_only_of_what_there_is(self, anne: Member, member: str, wrong: object) -> None:
        refused(anne.post("/me/clients", NEW | {member: wrong}), 422, "invalid_body")

    def test_what_is_left_out_stays(self, anne: Member) -> None:
        asked = {"grant_types": [DEVICE_CODE], "scopes": ["play", "read", "play"]}
        made = anne.post("/me/clients", NEW | asked).json
        assert made["scopes"] == ["read", "play"]
        path = f"/me/clients/{made['id']}"
        assert anne.put(path, NEW).json["scopes"] == ["read", "play"]
        changed = anne.put(path, NEW | {"scopes": ["read"]}).json
        assert (changed["grant_types"], changed["scopes"]) == ([DEVICE_CODE], ["read"])

    def test_it_asks_for_no_other_scope(self, site: Site, anne: Member, browser: Browser) -> None:
        client = registered(anne, scopes=["read"])
        for scope in ("play", "read play", "admin"):
            assert told(browser.get(address(client, scope=scope)))["error"] == "invalid_scope"
            failed(ask(site, client, "/oauth/device", scope=scope), "invalid_scope")
        for asked in ("read", None):
            code = allowed(browser, client, scope=asked)["code"]
            assert exchanged(site, client, code).json["scope"] == "read"

    def test_it_shows_nothing_else_for_tokens(self, site: Site, anne: Member, browser: Browser) -> None:
        everything = registered(anne)
        kept = exchanged(site, everything, allowed(browser, everything)["code"]).json["refresh_token"]
        asked = ask(site, everything, "/oauth/device", scope="read").json["device_code"]
        code = allowed(browser, everything)["code"]
        body = {"name": "A board", "redirects": everything["redirects"]}
        anne.put(f"/me/clients/{everything['id']}", body | {"grant_types": [DEVICE_CODE]})
        assert told(browser.get(address(everything)))["error"] == "unauthorized_client"
        failed(exchanged(site, everything, code), "unauthorized_client")
        failed(refreshed(site, everything, kept), "unauthorized_client")
        anne.put(f"/me/clients/{everything['id']}", body | {"grant_types": ["authorization_code"]})
        failed(ask(site, everything, "/oauth/device", scope="read"), "unauthorized_client")
        failed(ask(site, everything, grant_type=DEVICE_CODE, device_code=asked), "unauthorized_client")
        assert "refresh_token" not in exchanged(site, everything, allowed(browser, everything)["code"]).json

    def test_what_it_may_no_more_ask_for_ends_with_next_exchange(
        self, site: Site, anne: Member, browser: Browser
    ) -> None:
        client = registered(anne)
        tokens = exchanged(site, client, allowed(browser, client)["code"]).json
        code = allowed(browser, client)["code"]
        anne.put(f"/me/clients/{client['id']}", NEW | {"redirects": client["redirects"], "scopes": ["read"]})
        for answer in (refreshed(site, client, tokens["refresh_token"]), exchanged(site, client, code)):
            assert answer.json["scope"] == "read"
            assert site.get("/me", answer.json["access_token"]).json["scopes"] == ["read"]

    def test_one_of_before_may_ask_for_all(self, site: Site, anne: Member) -> None:
        made = registered(anne, scopes=["read"])
        site.services.ledger.execute("DELETE FROM oauth_client_rights")
        assert len(anne.get(f"/me/clients/{made['id']}").json["scopes"]) == 6


class TestRedirects:
    @pytest.mark.parametrize(
        ("known", "asked", "fits"),
        [
            ("https://client.example/a", "https://client.example/a", True),
            ("https://client.example/a", "https://client.example/a/", False),
            ("https://client.example/a", "https://client.example/a?b", False),
            ("https://client.example/a", "https://client.example:443/a", False),
            ("https://client.example/a", "https://CLIENT.example/a", False),
            ("https://client.example/a", "https://client.example/A", False),
            ("https://client.example:1/a", "https://client.example:2/a", False),
            ("http://127.0.0.1/a", "http://127.0.0.1:5000/a", True),
            ("http://127.0.0.1:80/a", "http://127.0.0.1:5000/a", True),
            ("http://127.0.0.1/a", "http://127.0.0.1/a", True),
            ("http://127.0.0.1/a", "http://127.0.0.1:5000/b", False),
            ("http://127.0.0.1/a", "http://127.0.0.1:5000/a?b", False),
            ("http://127.0.0.1/a", "http://[::1]:5000/a", False),
            ("http://127.0.0.1/a", "https://127.0.0.1:5000/a", False),
            ("http://127.0.0.1/a", "http://127.0.0.1:0/a", False),
            ("http://127.0.0.1/a", "http://127.0.0.1:05000/a", False),
            ("http://127.0.0.1/a", "http://127.0.0.1:5000@client.example/a", False),
            ("http://127.0.0.1/a", "http://127.0.0.1:99999/a", False),
            ("http://[::1]/a", "http://[::1]:5000/a", True),
        ],
    )
    def test_are_compared_exactly_but_for_ports_of_this_machine(self, known: str, asked: str, fits: bool) -> None:
        assert redirect_error(known) is None
        client = OAuthClient(id="c", account="a", name="n", redirects=(known,), secret="", made=0)
        assert client.allows_redirect(asked) is fits
