"""A link that logs another device in: once, for two minutes, told to the account, and with no secret in an address."""

from __future__ import annotations

import html
import re

import pytest

from domain.accounts.session_links import LASTS
from domain.accounts.sessions import FRESH
from tests.api.conftest import Site
from tests.api.members import Member, Watch, register, timed
from tests.api.oauth.browser import Browser, forms
from tests.api.oauth.test_second_factors import codes_of, enrolled

MAKE, USE = "/account/hand-over", "/hand-over"


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site, watch: Watch) -> Member:
    return register(site)


@pytest.fixture
def browser(site: Site, anne: Member) -> Browser:
    browser = Browser(site)
    assert browser.log_in().status_code == 303
    return browser


def make_link(browser: Browser) -> str:
    page = browser.send(forms(browser.get("/account"))[MAKE])
    found = re.search(r"<code>(http[^<]*)</code>", page.text)
    assert found is not None, page.text
    assert 'class="qr"' in page.text
    return html.unescape(found[1])


def use_link(browser: Browser, link: str) -> int:
    status: int = browser.send(forms(browser.get(USE))[USE], secret=link).status_code
    return status


def tell_log(anne: Member) -> list[str]:
    return [each["what"] for each in anne.get("/me/audit").json["items"]]


def test_link_logs_one_other_device_in_and_the_account_is_told(site: Site, anne: Member, browser: Browser) -> None:
    phone = Browser(site)
    link = make_link(browser)
    assert re.fullmatch(r"http://[^#]*/hand-over#anh_[0-9a-f]{16}_[A-Za-z0-9_-]{43}", link)
    assert use_link(phone, link) == 303
    assert "Anne" in phone.get("/account").text
    assert use_link(Browser(site), link) == 403
    log = tell_log(anne)
    assert (log.count("link_made"), log.count("link_used")) == (1, 1)


def test_the_new_device_has_checked_no_password(site: Site, browser: Browser) -> None:
    phone = Browser(site)
    assert use_link(phone, make_link(browser)) == 303
    assert 'action="/proof"' in phone.send(forms(phone.get("/account"))[MAKE]).text


def test_a_link_is_made_with_a_fresh_password_alone(browser: Browser, watch: Watch) -> None:
    watch.now += FRESH + 1
    assert 'action="/proof"' in browser.send(forms(browser.get("/account"))[MAKE]).text


def test_a_link_is_over_after_two_minutes(site: Site, browser: Browser, watch: Watch) -> None:
    late, early = make_link(browser), Browser(site)
    watch.now += LASTS
    assert use_link(early, late) == 403
    link = make_link(browser)
    watch.now += LASTS - 1000
    assert use_link(early, link) == 303


def test_the_newest_link_alone_works_and_none_after_a_logout(site: Site, browser: Browser) -> None:
    first, second = make_link(browser), make_link(browser)
    assert use_link(Browser(site), first) == 403
    browser.send(forms(browser.get("/account"))["/logout"])
    assert use_link(Browser(site), second) == 403


@pytest.mark.parametrize("secret", ["", "anh_0000000000000000_" + "A" * 43, "ans_x", "\u00e9", "#" * 500])
def test_another_text_is_refused(site: Site, browser: Browser, secret: str) -> None:
    make_link(browser)
    assert use_link(Browser(site), secret) == 403


def test_the_second_factor_is_handed_on(site: Site, anne: Member, watch: Watch) -> None:
    secret = enrolled(anne, watch)
    browser = Browser(site)
    page = browser.log_in()
    browser.send(forms(page)["/login/factor"], code=codes_of(secret, watch)[1])
    assert use_link(Browser(site), make_link(browser)) == 303
    sessions = site.services.account_store.sessions.list_sessions(_account(site, anne))
    assert [each.factors for each in sessions].count(("password", "totp")) >= 2


def _account(site: Site, anne: Member) -> str:
    owner = site.services.account_store.credentials.find_owner(anne.token)
    assert owner is not None
    return owner.account
