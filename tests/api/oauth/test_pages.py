"""The pages: who is let in, what their forms prove, and what a browser is told of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from api.pages.common.session import safe_target
from domain.accounts.sessions import FRESH
from domain.accounts.signed_forms import HALF_MS
from tests.api.conftest import Site, refused
from tests.api.members import OTHER, PASSWORD, Member, Watch, register, timed
from tests.api.oauth.browser import Browser, Form, address, forms, registered
from tests.api.oauth.test_second_factors import codes_of, enrolled

PAGES = ("/login", "/register", "/account", "/device", "/proof")


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


class TestLoggingIn:
    def test_gives_a_cookie_that_no_script_reads(self, site: Site, anne: Member) -> None:
        answer = Browser(site).log_in()
        (set_cookie,) = [c for c in answer.headers.getlist("Set-Cookie") if c.startswith("annals_session=ans_")]
        assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= set(set_cookie.split("; "))

    def test_over_tls_it_is_one_that_only_this_host_can_set(self, site: Site, anne: Member) -> None:
        site.remake(public_url="https://play.example")
        client = site.app.test_client(use_cookies=True)
        page = client.get("/login", base_url="https://play.example")
        form = forms(page)["/login"]
        sent = form.fields | {"name": "Anne", "password": PASSWORD}
        answer = client.post("/login", data=sent, base_url="https://play.example")
        found = [c for told in (page, answer) for c in told.headers.getlist("Set-Cookie")]
        assert len(found) == 3
        for cookie in found:
            assert cookie.startswith("__Host-annals_")
            assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))
            assert "Domain" not in cookie

    def test_who_is_wrong_is_told_no_more_than_that(self, site: Site, anne: Member) -> None:
        for name in ("Anne", "Nobody"):
            answer = Browser(site).log_in(name, OTHER)
            assert (answer.status_code, "Wrong name, password or code" in answer.text) == (403, True)

    def test_guesses_wait_as_those_at_the_api_do(self, site: Site, anne: Member) -> None:
        browser = Browser(site)
        assert [browser.log_in(password=OTHER).status_code for _ in range(6)][-1] == 429
        refused(site.post("/sessions", {"name": "Anne", "password": PASSWORD}), 429, "too_many_requests")

    def test_a_browser_that_was_logged_in_before_keeps_its_way(self, site: Site, browser: Browser) -> None:
        browser.send(forms(browser.get("/account"))["/logout"])
        for _ in range(8):
            Browser(site).log_in(password=OTHER)
        assert Browser(site).log_in().status_code == 429
        assert browser.log_in().status_code == 303

    def test_a_new_session_takes_the_place_of_the_one_before(self, site: Site, browser: Browser, anne: Member) -> None:
        before = browser.cookie()
        form = Form("/login", forms(browser.get("/account"))["/logout"].fields)
        assert browser.send(form, name="Anne", password=PASSWORD).status_code == 403
        site.services.account_store.sessions.end(anne.id)
        assert browser.log_in().status_code == 303
        assert browser.cookie() not in ("", before)

    def test_logging_out_ends_the_session(self, site: Site, browser: Browser) -> None:
        token = browser.cookie()
        answer = browser.send(forms(browser.get("/account"))["/logout"])
        assert (answer.status_code, answer.headers["Clear-Site-Data"]) == (303, '"cache", "storage"')
        assert browser.cookie() == ""
        refused(site.get("/me", token), 401, "unauthenticated")
        assert "/login" in forms(browser.get("/account"))

    @pytest.mark.parametrize(
        "target",
        [
            *("https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example", "/v1/docs", "account"),
            *("javascript:alert(1)", "/account\r\nLocation: x", "/device\u00e9", "http:/account", "", "/accounts"),
        ],
    )
    def test_nobody_is_sent_to_another_place(self, site: Site, anne: Member, target: str) -> None:
        assert Browser(site).log_in(target=target).headers["Location"] == "/account"
        assert safe_target(target) == "/account"

    def test_nor_who_is_logged_in_already(self, browser: Browser) -> None:
        assert browser.get("/login?next=//evil.example").headers["Location"] == "/account"
        assert browser.get("/login?next=/device").headers["Location"] == "/device"


class TestRegistering:
    def test_opens_an_account_and_shows_its_codes(self, site: Site, watch: Watch) -> None:
        browser = Browser(site)
        form = forms(browser.get("/register?next=/device"))["/register"]
        answer = browser.send(form, name="Zoe", password=PASSWORD)
        assert len(re.findall(r"<code>([a-z2-7]{5}(?:-[a-z2-7]{5,6}){3,4})</code>", answer.text)) == 10
        assert 'href="/device"' in answer.text
        assert "<summary>Zoe</summary>" in answer.text
        assert "Zoe" in browser.get("/account").text

    def test_what_does_not_fit_is_told(self, site: Site, anne: Member) -> None:
        browser = Browser(site)
        form = forms(browser.get("/register"))["/register"]
        for fields, status in (
            ({"name": "Anne", "password": PASSWORD}, 409),
            ({"name": "Zoe", "password": "short"}, 422),
            ({"name": "\u200b", "password": PASSWORD}, 422),
            ({"name": "x" * 41, "password": PASSWORD}, 422),
            ({}, 422),
        ):
            answer = browser.send(form, **fields)
            told = 'class="problem"' in answer.text or 'class="fault"' in answer.text
            assert (answer.status_code, told) == (status, True), fields
            assert PASSWORD not in answer.text

    def test_only_where_accounts_are_opened(self, site: Site, watch: Watch) -> None:
        site.remake(registration="closed")
        assert Browser(site).get("/register").status_code == 403
        assert "/register" not in Browser(site).get("/login").text
        site.remake(registration="invitation")
        browser = Browser(site)
        form = forms(browser.get("/register"))["/register"]
        assert "invitation" in form.fields
        assert browser.send(form, name="Zoe", password=PASSWORD).status_code == 403


class TestForms:
    def test_only_ours_and_only_by_whom_they_were_given_to(self, site: Site, anne: Member) -> None:
        browser, other = Browser(site), Browser(site)
        form = forms(browser.get("/login"))["/login"]
        fields = {"name": "Anne", "password": PASSWORD}
        assert other.send(form, **fields).status_code == 403
        assert browser.send(Form("/login"), **fields).status_code == 403
        assert browser.send(Form("/register", form.fields), **fields).status_code == 403
        assert browser.send(form, **fields).status_code == 303

    def test_each_has_a_stamp_of_its_own(self, browser: Browser) -> None:
        """The size of compressed pages tells nothing of one that never comes twice."""
        stamps = [forms(browser.get("/account"))["/logout"].fields["form"] for _ in range(2)]
        assert stamps[0] != stamps[1]

    def test_nothing_that_another_site_has_sent(self, browser: Browser) -> None:
        form = forms(browser.get("/account"))["/logout"]
        for site in ("cross-site", "same-site"):
            answer = browser.client.post(form.action, data=form.fields, headers={"Sec-Fetch-Site": site})
            assert answer.status_code == 403
        assert browser.client.post(form.action, json=form.fields).status_code == 415
        assert browser.cookie()

    def test_every_page_that_changes_something_asks_for_one(self, site: Site, browser: Browser) -> None:
        asked = 0
        for rule in site.app.url_map.iter_rules():
            if rule.rule == "/mail/end":  # its link opens it, and programs that know no form use it
                continue
            if rule.endpoint.startswith("pages.") and "POST" in (rule.methods or ()):
                path = rule.rule.replace("<game:game>", "00000000-0000-4000-8000-000000000000")
                path = path.replace("<tournament:tournament>", "00000000-0000-8000-8000-000000000000")
                path = path.replace("<player:player>", "p").replace("<code:act>", "x")
                path = path.replace("<ruleset:ruleset>", "struggle_of_empires@1")
                assert browser.send(Form(path), what="x").status_code == 403, path
                asked += 1
        assert asked >= 13

    def test_cookies_count_for_pages_alone(self, site: Site, browser: Browser) -> None:
        """Whatever the API is asked for with a cookie it is asked for by nobody."""
        for path in ("/v1/me", "/v1/me/grants", "/v1/me/games"):
            assert browser.get(path).status_code == 401
        assert browser.client.post("/v1/me/tokens", json={"label": "x", "scopes": ["play"]}).status_code == 401

    def test_no_other_token_counts_as_a_cookie(self, site: Site, anne: Member) -> None:
        browser = Browser(site)
        browser.client.set_cookie("annals_session", anne.personal("read", "play", "admin"))
        assert "/login" in forms(browser.get("/account"))


def _pages(site: Site, browser: Browser, anne: Member) -> Iterator[tuple[str, object]]:
    client = registered(register(site, "Bob"))
    for path in (*PAGES, address(client), address(client, client_id="x")):
        for who in (browser, Browser(site)):
            yield path, who.get(path)


class TestWhatABrowserIsTold:
    def test_nothing_runs_and_nothing_frames_them(self, site: Site, browser: Browser, anne: Member) -> None:
        shown = 0
        for path, answer in _pages(site, browser, anne):
            if answer.status_code == 303:  # type: ignore[attr-defined] # the test client's
                continue
            policy = answer.headers["Content-Security-Policy"]  # type: ignore[attr-defined]
            assert policy.startswith("default-src 'none'; style-src 'self'; "), path
            assert policy.endswith("; frame-ancestors 'none'; base-uri 'none'"), path
            assert re.search(r"form-action 'self'( https://client\.example)?;", policy), path
            assert "unsafe" not in policy
            headers = answer.headers  # type: ignore[attr-defined]
            assert (headers["X-Frame-Options"], headers["Cache-Control"]) == ("DENY", "no-store")
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["Content-Type"] == "text/html; charset=utf-8"
            text = answer.text  # type: ignore[attr-defined]
            assert not re.search(r"<script(?! src)|\son\w+=|style=|javascript:", text), path
            assert ("<script" in text) is ("script-src 'self'" in policy), path
            shown += 1
        assert shown >= 10

    @pytest.mark.parametrize("path", ["/pages/style.css", "/pages/passkey.js"])
    def test_their_files_are_ours(self, site: Site, path: str) -> None:
        answer = site.client.get(path)
        assert (answer.status_code, answer.headers["X-Content-Type-Options"]) == (200, "nosniff")
        assert "http" not in answer.text

    def test_they_speak_the_language_of_who_asks(self, site: Site, browser: Browser, anne: Member) -> None:
        for path, title in (("/login", "Se connecter"), ("/account", "Mon compte")):
            who = Browser(site) if path == "/login" else browser
            answer = who.get(path, Accept_Language="fr")
            assert (answer.headers["Content-Language"], f"<h1>{title}</h1>" in answer.text) == ("fr", True), answer.text
            assert '<html lang="fr">' in answer.text

    def test_passwords_can_be_pasted_and_kept(self, site: Site) -> None:
        text = Browser(site).get("/login").text
        assert re.search(r'name="password" type="password"[^>]* autocomplete="current-password"', text)
        assert "onpaste" not in text


class TestTheSecondFactor:
    def test_is_asked_for_after_the_password(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        browser = Browser(site)
        page = browser.log_in(target="/device")
        assert (page.status_code, browser.cookie()) == (200, "")
        form = forms(page)["/login/factor"]
        wrong = browser.send(form, code="000000")
        assert (wrong.status_code, browser.cookie()) == (403, "")
        answer = browser.send(forms(wrong)["/login/factor"], code=codes_of(secret, watch)[1])
        assert (answer.status_code, answer.headers["Location"]) == (303, "/device")
        (session,) = (each for each in anne_sessions(site, anne) if each.label == "browser")
        assert session.factors == ("password", "totp")

    def test_nobody_else_goes_on_from_there(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        browser, other = Browser(site), Browser(site)
        half = forms(browser.log_in())["/login/factor"].fields["half"]
        other.get("/login")
        form = forms(other.log_in())["/login/factor"]
        assert (
            other.send(Form(form.action, form.fields | {"half": half}), code=codes_of(secret, watch)[1]).status_code
            == 403
        )
        assert other.send(Form(form.action, form.fields | {"half": "x"}), code="1").status_code == 403

    def test_nor_too_late_nor_with_a_password_that_has_changed(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        browser = Browser(site)
        form = forms(browser.log_in())["/login/factor"]
        watch.now += HALF_MS
        assert browser.send(form, code=codes_of(secret, watch)[0]).status_code == 403
        form = forms(browser.log_in())["/login/factor"]
        kept = site.services.account_store.credentials.find_password_hash(anne.id)
        site.services.account_store.credentials.replace_password(anne.id, kept, "another", [])
        assert browser.send(form, code=codes_of(secret, watch)[0]).status_code == 403
        assert browser.cookie() == ""

    def test_guesses_at_it_wait(self, site: Site, anne: Member, watch: Watch) -> None:
        enrolled(anne, watch)
        browser = Browser(site)
        form = forms(browser.log_in())["/login/factor"]
        assert [browser.send(form, code="000000").status_code for _ in range(8)][-1] == 429


def anne_sessions(site: Site, anne: Member) -> list:  # type: ignore[type-arg]
    return site.services.account_store.sessions.list_sessions(anne.id)


class TestTheAccount:
    def test_shows_what_is_one_s_own_and_ends_it(self, site: Site, browser: Browser, anne: Member) -> None:
        token = anne.personal("read")
        page = browser.get("/account/programs")
        assert "a bot" in page.text
        assert browser.send(forms(page)["/account/programs/revoke"]).status_code == 303
        refused(site.get("/me", token), 401, "unauthenticated")
        mine = browser.cookie().split("_")[1]
        sessions = [f for f in _all(browser.get("/account")) if f.fields.get("what") == "session"]
        for form in sorted(sessions, key=lambda f: f.fields["id"] == mine):
            assert browser.send(form).status_code == 303
        refused(anne.get("/me"), 401, "unauthenticated")
        assert browser.cookie() == ""

    def test_nobody_else_s(self, site: Site, browser: Browser, watch: Watch) -> None:
        zoe = register(site, "Zoe")
        made = zoe.post("/me/tokens", {"label": "x", "scopes": ["read"]}).json
        form = forms(browser.get("/account"))["/account/end"]
        for what in ("token", "session", "grant", "passkey", "totp", "account", ""):
            answer = browser.send(form, what=what, id=made["id"])
            assert answer.status_code in (403, 404), what
        assert site.get("/me", made["token"]).status_code == 200

    def test_an_authenticator_is_set_up_there(self, site: Site, browser: Browser, anne: Member, watch: Watch) -> None:
        page = browser.send(forms(browser.get("/account"))["/account/totp"])
        secret = re.findall(r"<code>([A-Z2-7]{32})</code>", page.text)[0]
        assert browser.send(forms(page)["/account/totp"], code="000000").status_code == 403
        assert browser.send(forms(page)["/account/totp"], code=codes_of(secret, watch)[0]).status_code == 303
        assert "An authenticator" in browser.get("/account").text

    def test_what_is_dangerous_asks_for_the_password_again(self, site: Site, browser: Browser, watch: Watch) -> None:
        watch.now += FRESH
        page = browser.send(forms(browser.get("/account"))["/account/totp"])
        assert "<code>" not in page.text
        wrong = browser.send(forms(page)["/proof"], password=OTHER)
        assert wrong.status_code == 403
        before = browser.cookie()
        assert browser.send(forms(wrong)["/proof"], password=PASSWORD).headers["Location"] == "/account"
        refused(site.get("/me", before), 401, "unauthenticated")
        assert "<code>" in browser.send(forms(browser.get("/account"))["/account/totp"]).text

    def test_a_name_in_the_query_is_no_more_than_text(self, browser: Browser) -> None:
        answer = browser.get("/login?" + urlencode({"next": '"><script>'}))
        assert answer.status_code == 303


def _all(answer: object) -> list[Form]:
    from tests.api.oauth.browser import _Reader

    return _Reader(answer.text).forms  # type: ignore[attr-defined] # the test client's
