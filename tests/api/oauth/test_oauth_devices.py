"""The device flow: a code that is typed elsewhere, and a device that asks until it was answered."""

from __future__ import annotations

import re
from typing import Any

import pytest

from domain.accounts.oauth_devices import PACE, SECONDS
from tests.api.conftest import Doc, Site
from tests.api.members import Member, Watch, promoted, register, timed
from tests.api.oauth.browser import Browser, Form, ask, failed, forms, refreshed, registered

GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site, watch: Watch) -> Member:
    return register(site)


@pytest.fixture
def client(anne: Member) -> Doc:
    return registered(register(anne.site, "Bob"))


@pytest.fixture
def browser(site: Site, anne: Member) -> Browser:
    browser = Browser(site)
    browser.log_in()
    return browser


def begun(site: Site, client: Doc, **more: str) -> Doc:
    answer = ask(site, client, "/oauth/device", **more)
    assert answer.status_code == 200, answer.text
    return dict(answer.json)


def poll(site: Site, client: Doc, doc: Doc) -> Any:
    return ask(site, client, grant_type=GRANT, device_code=doc["device_code"])


def typed(browser: Browser, code: str) -> Any:
    return browser.send(forms(browser.get("/device"))["/device"], code=code)


def answered(browser: Browser, doc: Doc, answer: str = "allow") -> Any:
    return browser.send(forms(typed(browser, doc["user_code"]))["/device"], answer=answer)


def test_what_a_device_is_told(site: Site, client: Doc) -> None:
    doc = begun(site, client)
    assert re.fullmatch(r"[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}", doc["user_code"])
    assert (doc["verification_uri"], doc["expires_in"], doc["interval"]) == ("http://localhost/device", SECONDS, PACE)
    kept = str(site.services.ledger.execute("SELECT * FROM oauth_devices"))
    assert not [text for text in (doc["device_code"], doc["user_code"].replace("-", "")) if text in kept]


def test_who_types_the_code_and_agrees_lets_it_in_once(
    site: Site, client: Doc, browser: Browser, watch: Watch, anne: Member
) -> None:
    doc = begun(site, client, scope="play")
    failed(poll(site, client, doc), "authorization_pending")
    page = typed(browser, doc["user_code"].lower().replace("-", " "))
    for said in ("A board", "Bob", "You are Anne", "take seats"):
        assert said in page.text
    assert browser.send(forms(page)["/device"], answer="allow").status_code == 200
    watch.now += PACE * 1000
    tokens = poll(site, client, doc).json
    assert site.get("/me", tokens["access_token"]).json["account"] == anne.id
    assert anne.get("/me/grants").json["items"][0]["scopes"] == ["play"]
    failed(poll(site, client, doc), "invalid_grant")
    assert refreshed(site, client, tokens["refresh_token"]).status_code == 200


def test_who_refuses_keeps_it_out(site: Site, client: Doc, browser: Browser) -> None:
    doc = begun(site, client)
    answered(browser, doc, "refuse")
    failed(poll(site, client, doc), "access_denied")


def test_a_device_that_asks_too_soon_is_slowed_more_and_more(site: Site, client: Doc, watch: Watch) -> None:
    doc = begun(site, client)
    failed(poll(site, client, doc), "authorization_pending")
    failed(poll(site, client, doc), "slow_down")
    watch.now += PACE * 1000
    failed(poll(site, client, doc), "slow_down")
    watch.now += PACE * 3 * 1000
    failed(poll(site, client, doc), "authorization_pending")


def test_it_is_too_late_after_a_quarter_of_an_hour(site: Site, client: Doc, browser: Browser, watch: Watch) -> None:
    doc = begun(site, client)
    form = forms(typed(browser, doc["user_code"]))["/device"]
    watch.now += SECONDS * 1000
    assert browser.send(form, answer="allow").status_code == 403
    failed(poll(site, client, doc), "expired_token")


def test_it_is_answered_once(site: Site, client: Doc, browser: Browser) -> None:
    doc = begun(site, client)
    form = forms(typed(browser, doc["user_code"]))["/device"]
    assert browser.send(form, answer="refuse").status_code == 200
    assert browser.send(form, answer="allow").status_code == 403
    failed(poll(site, client, doc), "access_denied")


def test_another_client_gets_nothing(site: Site, client: Doc, browser: Browser, anne: Member) -> None:
    doc = begun(site, client)
    answered(browser, doc)
    failed(poll(site, registered(anne), doc), "unauthorized_client")
    assert poll(site, client, doc).status_code in (200, 400)


@pytest.mark.parametrize("more", [{"scope": "everything"}, {"client_id": "0" * 16}, {"client_secret": "x"}])
def test_only_a_client_of_ours_asks_for_what_there_is(site: Site, client: Doc, more: dict[str, str]) -> None:
    answer = ask(site, client, "/oauth/device", **more)
    assert answer.json["error"] in ("invalid_scope", "invalid_client")


def test_a_confidential_one_shows_its_secret(site: Site, anne: Member) -> None:
    client = registered(anne, confidential=True)
    failed(ask(site, client | {"secret": "x"}, "/oauth/device"), "invalid_client", 401)
    assert begun(site, client)["user_code"]


def test_who_guesses_codes_waits_longer_and_longer(site: Site, client: Doc, browser: Browser) -> None:
    doc = begun(site, client)
    found = [typed(browser, "BBBB-BBBB").status_code for _ in range(8)]
    assert found[0] == 403
    assert found[-1] == 429
    assert typed(browser, doc["user_code"]).status_code == 429


def test_codes_are_typed_by_who_is_logged_in(site: Site, client: Doc, browser: Browser) -> None:
    doc = begun(site, client)
    form = forms(typed(browser, doc["user_code"]))["/device"]
    stranger = Browser(site)
    assert "/login" in forms(stranger.get("/device"))
    assert stranger.send(form, answer="allow").status_code == 403
    assert stranger.send(Form("/device", {"code": doc["user_code"]}), answer="allow").status_code == 403


def test_of_somebody_banned_it_gets_nothing(site: Site, client: Doc, browser: Browser, anne: Member) -> None:
    doc = begun(site, client)
    answered(browser, doc)
    site.services.account_store.accounts.set_state(anne.id, "banned", 0, [])
    failed(poll(site, client, doc), "invalid_grant")
    assert typed(browser, begun(site, client)["user_code"]).status_code == 403


def test_admin_is_for_whoever_has_a_role(site: Site, client: Doc, browser: Browser, watch: Watch) -> None:
    promoted(site, "Judge", "moderator")
    judge = Browser(site)
    judge.log_in("Judge")
    for who, scopes in ((browser, "read"), (judge, "read admin")):
        doc = begun(site, client, scope="read admin")
        answered(who, doc)
        assert poll(site, client, doc).json["scope"] == scopes


def test_an_address_begins_so_many(site: Site, client: Doc) -> None:
    site.remake(tables=2, rate=10.0)
    found = [ask(site, client, "/oauth/device").status_code for _ in range(4)]
    assert found[0] == 200
    assert found[-1] == 429
