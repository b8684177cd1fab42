"""The authorization code flow: who may be asked, what a code gives, and how often."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from structlog.testing import capture_logs

from api.pages.account.consent import MAX_QUERY_BYTES
from api.routes.oauth.endpoints import build_metadata
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import no_statements
from domain.accounts.oauth_grants import ACCESS_SECONDS, CODE_MS, LONGEST, MOST_GRANTS, REFRESH, REPEAT_MS
from tests.api.conftest import Doc, Site, refused
from tests.api.members import OTHER, PASSWORD, Member, Watch, promoted, register, timed
from tests.api.oauth.browser import (
    REDIRECT,
    VERIFIER,
    Browser,
    Form,
    address,
    allowed,
    ask,
    exchanged,
    failed,
    forms,
    refreshed,
    registered,
    told,
)

TABLE = {"ruleset": "orders@1", "seats": 3}


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site, watch: Watch) -> Member:
    return register(site)


@pytest.fixture
def maker(anne: Member) -> Member:
    """Whose the client is."""
    return register(anne.site, "Bob")


@pytest.fixture
def client(maker: Member) -> Doc:
    return registered(maker)


@pytest.fixture
def browser(site: Site, anne: Member) -> Browser:
    browser = Browser(site)
    assert browser.log_in().status_code == 303
    return browser


@pytest.fixture
def tokens(site: Site, browser: Browser, client: Doc) -> Doc:
    made = exchanged(site, client, allowed(browser, client)["code"])
    assert made.status_code == 200, made.text
    return dict(made.json)


class TestAsking:
    def test_who_is_not_logged_in_logs_in_first_and_comes_back(self, site: Site, anne: Member, client: Doc) -> None:
        browser = Browser(site)
        page = browser.get(address(client))
        form = forms(page)["/login"]
        assert form.fields["next"] == address(client)
        answer = browser.send(form, name="Anne", password=PASSWORD)
        assert (answer.status_code, answer.headers["Location"]) == (303, address(client))
        assert "A board" in browser.get(answer.headers["Location"]).text

    def test_the_page_says_who_asks_for_what_of_whom(self, browser: Browser, client: Doc) -> None:
        page = browser.get(address(client, scope="play admin"))
        for said in ("A board", "Bob", "You are Anne", "client.example", "take seats"):
            assert said in page.text, said
        assert "moderator" not in page.text

    def test_a_name_is_text(self, site: Site, browser: Browser, maker: Member) -> None:
        page = browser.get(address(registered(maker, name='<script>"x"</script>')))
        assert "<script>" not in page.text
        assert "&lt;script&gt;" in page.text

    def test_whoever_cannot_be_answered_sends_nobody_anywhere(self, browser: Browser, client: Doc) -> None:
        wrong: list[dict[str, str | None]] = [
            {"client_id": "0" * 16},
            {"client_id": None},
            {"redirect_uri": None},
            {"redirect_uri": REDIRECT + "/"},
            {"redirect_uri": "https://other.example/answer"},
            {"redirect_uri": 'https://client.example/answer"\u00e9'},
        ]
        for more in wrong:
            page = browser.get(address(client, **more))
            assert (page.status_code, "Location" in page.headers) == (404, False), more
            assert page.mimetype == "text/html"
        twice = address(client) + "&redirect_uri=https://other.example/"
        assert browser.get(twice).status_code == 404

    @pytest.mark.parametrize(
        ("more", "error"),
        [
            ({"response_type": None}, "invalid_request"),
            ({"response_type": "token"}, "invalid_request"),
            ({"response_type": 'x"\u00e9'}, "invalid_request"),
            ({"request": "x"}, "invalid_request"),
            ({"scope": "read everything"}, "invalid_scope"),
            ({"resource": "https://evil.example/mcp"}, "invalid_target"),
            ({"resource": "http://localhost/mcp//"}, "invalid_target"),
            ({"code_challenge": None}, "invalid_request"),
            ({"code_challenge": "short"}, "invalid_request"),
            ({"code_challenge": "x" * 43 + "\n"}, "invalid_request"),
            ({"code_challenge_method": None}, "invalid_request"),
            ({"code_challenge_method": "plain"}, "invalid_request"),
        ],
    )
    def test_what_is_wrong_is_told_to_the_client(
        self, site: Site, client: Doc, more: dict[str, str | None], error: str
    ) -> None:
        """Before anybody is asked to log in."""
        found = told(Browser(site).get(address(client, **more)))
        assert (found["error"], found["state"], found["iss"]) == (error, "of the client", "http://localhost")

    def test_what_no_answer_could_hold_is_refused(self, browser: Browser, client: Doc) -> None:
        """The front passes on so much of an answer's head, and the state stands in it."""
        longest = address(client, state="s" * (MAX_QUERY_BYTES - len(urlsplit(address(client, state="")).query)))
        assert browser.send(forms(browser.get(longest))["/oauth/authorize"], answer="allow").status_code == 303
        assert browser.get(address(client, state="s" * 6000)).status_code == 414

    def test_nothing_comes_twice(self, browser: Browser, client: Doc) -> None:
        for name in ("scope", "state", "code_challenge", "code_challenge_method", "response_type"):
            answer = browser.get(address(client) + f"&{name}=x")
            assert "error=invalid_request" in answer.headers["Location"], name

    def test_whatever_else_is_asked_is_ignored(self, browser: Browser, client: Doc) -> None:
        assert allowed(browser, client, prompt="consent", display="x")["code"]

    def test_who_refuses_gives_nothing(self, site: Site, browser: Browser, client: Doc, anne: Member) -> None:
        found = allowed(browser, client, "refuse")
        assert (found["error"], found["state"], found["iss"]) == ("access_denied", "of the client", "http://localhost")
        assert "code" not in found
        assert anne.get("/me/grants").json["items"] == []

    def test_an_answer_says_from_whom_it_is(self, browser: Browser, client: Doc) -> None:
        found = allowed(browser, client)
        assert (found["state"], found["iss"]) == ("of the client", "http://localhost")
        assert re.fullmatch(r"anq_[A-Za-z0-9_-]{43}", found["code"])
        assert "state" not in allowed(browser, client, state=None)

    def test_a_redirect_keeps_its_query(self, site: Site, browser: Browser, maker: Member) -> None:
        client = registered(maker, redirects=[f"{REDIRECT}?a=b"])
        assert allowed(browser, client, redirect_uri=f"{REDIRECT}?a=b")["a"] == "b"

    def test_a_program_on_the_machine_takes_any_port(self, site: Site, browser: Browser, maker: Member) -> None:
        client = registered(maker, redirects=["http://127.0.0.1/answer"])
        here = "http://127.0.0.1:50123/answer"
        page = browser.get(address(client, redirect_uri=here))
        assert "form-action 'self' http://127.0.0.1:50123;" in page.headers["Content-Security-Policy"]
        answer = browser.send(forms(page)["/oauth/authorize"], answer="allow")
        assert answer.headers["Location"].startswith(here + "?code=")
        code = parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]
        assert exchanged(site, client, code, redirect_uri=here).status_code == 200

    def test_who_is_banned_allows_nothing(self, site: Site, browser: Browser, client: Doc, anne: Member) -> None:
        page = browser.get(address(client))
        site.services.account_store.accounts.set_state(anne.id, "banned", 0, [])
        assert browser.get(address(client)).status_code == 403
        assert browser.send(forms(page)["/oauth/authorize"], answer="allow").status_code == 403

    def test_the_client_of_somebody_banned_asks_nobody(
        self, site: Site, browser: Browser, client: Doc, maker: Member
    ) -> None:
        site.services.account_store.accounts.set_state(maker.id, "banned", 0, [])
        assert browser.get(address(client)).status_code == 404

    def test_nobody_but_who_was_asked_answers(self, site: Site, browser: Browser, client: Doc) -> None:
        form = forms(browser.get(address(client)))["/oauth/authorize"]
        register(site, "Zoe")
        other = Browser(site)
        other.log_in("Zoe")
        assert other.send(form, answer="allow").status_code == 403
        assert Browser(site).send(form, answer="allow").status_code == 403
        form.fields["form"] = "x"
        assert browser.send(form, answer="allow").status_code == 403
        del form.fields["form"]
        assert browser.send(form, answer="allow").status_code == 403

    @pytest.mark.parametrize("answer", ["allow", "refuse"])
    def test_an_answer_counts_only_for_what_the_page_showed(
        self, site: Site, browser: Browser, client: Doc, maker: Member, anne: Member, answer: str
    ) -> None:
        """Scopes, client, redirect, challenge and state of the form's URL are those of the page."""
        other = registered(maker, redirects=[REDIRECT, f"{REDIRECT}/other"])
        asked = {"scope": "read", "redirect_uri": f"{REDIRECT}/other"}
        form = forms(browser.get(address(other, **asked)))["/oauth/authorize"]
        stamp = parse_qs(urlsplit(form.action).query)["shown"][0]
        changes: list[dict[str, str | None]] = [
            {"scope": "play"},
            {"scope": "read play"},
            {"scope": "read direct admin"},
            {"scope": None},
            {"redirect_uri": REDIRECT},
            {"code_challenge": "x" * 43},
            {"state": "another"},
            {"client_id": client["id"], "redirect_uri": REDIRECT},
            {"prompt": "none"},
        ]
        for more in changes:
            changed = Form(address(other, **(asked | more), shown=stamp), dict(form.fields))
            page = browser.send(changed, answer=answer)
            assert (page.status_code, "Location" in page.headers) == (403, False), more
        for path in (address(other, **asked), address(other, **asked, shown="x"), address(other, **asked, shown="")):
            assert browser.send(Form(path, dict(form.fields)), answer=answer).status_code == 403
        assert "error=invalid_request" in browser.send(form, answer=answer, scope="play").headers["Location"]
        assert browser.send(form, answer=answer).status_code == 303
        assert site.services.ledger.execute("SELECT scopes FROM oauth_codes") == [("read",)] * (answer == "allow")

    def test_scope_among_the_fields_of_the_form_counts_for_nothing(
        self, site: Site, browser: Browser, client: Doc
    ) -> None:
        form = forms(browser.get(address(client, scope=None)))["/oauth/authorize"]
        assert browser.send(form, answer="allow", scope="play").status_code == 403
        assert site.services.ledger.execute("SELECT scopes FROM oauth_codes") == []
        assert browser.send(form, answer="allow").status_code == 303
        assert site.services.ledger.execute("SELECT scopes FROM oauth_codes") == [("read",)]

    def test_a_page_shown_before_a_role_was_given_does_not_grant_it(
        self, site: Site, browser: Browser, client: Doc, anne: Member
    ) -> None:
        form = forms(browser.get(address(client, scope="read admin")))["/oauth/authorize"]
        site.services.account_store.accounts.set_role(anne.id, "moderator", [])
        assert browser.send(form, answer="allow").status_code == 403
        again = forms(browser.get(address(client, scope="read admin")))["/oauth/authorize"]
        assert browser.send(again, answer="allow").status_code == 303

    def test_a_client_may_have_a_parameter_of_that_name(self, browser: Browser, client: Doc) -> None:
        assert allowed(browser, client, shown="x")["code"]

    def test_who_has_logged_out_meanwhile_answers_nothing(self, site: Site, browser: Browser, client: Doc) -> None:
        form = forms(browser.get(address(client)))["/oauth/authorize"]
        browser.send(forms(browser.get("/account"))["/logout"])
        assert browser.send(form, answer="allow").status_code == 403


class TestCodes:
    def test_one_gives_tokens(self, site: Site, tokens: Doc) -> None:
        assert set(tokens) == {"token_type", "expires_in", "scope", "access_token", "refresh_token"}
        assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", ACCESS_SECONDS, "read play")
        assert re.fullmatch(r"ano_[0-9a-f]{16}_[A-Za-z0-9_-]{43}[0-9a-f]{8}", tokens["access_token"])
        assert re.fullmatch(r"anr_[0-9a-f]{16}_[A-Za-z0-9_-]{44}[0-9a-f]{8}", tokens["refresh_token"])
        kept = str(site.services.ledger.execute("SELECT * FROM oauth_grants"))
        assert not [text for text in tokens.values() if str(text).startswith("an") and str(text) in kept]

    def test_once_and_the_second_time_ends_what_it_gave(
        self, site: Site, browser: Browser, client: Doc, anne: Member
    ) -> None:
        code = allowed(browser, client)["code"]
        first = exchanged(site, client, code).json
        assert site.get("/me", first["access_token"]).status_code == 200
        failed(exchanged(site, client, code), "invalid_grant")
        refused(site.get("/me", first["access_token"]), 401, "unauthenticated")
        failed(refreshed(site, client, first["refresh_token"]), "invalid_grant")
        assert "grant_reused" in [each["what"] for each in anne.get("/me/audit").json["items"]]

    def test_but_not_to_a_stranger(self, site: Site, browser: Browser, client: Doc, maker: Member) -> None:
        code = allowed(browser, client)["code"]
        first = exchanged(site, client, code).json
        failed(exchanged(site, registered(maker), code), "invalid_grant")
        assert site.get("/me", first["access_token"]).status_code == 200

    def test_within_a_minute(self, site: Site, browser: Browser, client: Doc, watch: Watch) -> None:
        code = allowed(browser, client)["code"]
        watch.now += CODE_MS
        failed(exchanged(site, client, code), "invalid_grant")

    @pytest.mark.parametrize(
        ("more", "error"),
        [
            ({"code_verifier": "x" * 43}, "invalid_grant"),
            ({"code_verifier": None}, "invalid_request"),
            ({"code_verifier": "x"}, "invalid_request"),
            ({"redirect_uri": "https://client.example/other"}, "invalid_grant"),
            ({"redirect_uri": None}, "invalid_grant"),
            ({"code": None}, "invalid_request"),
            ({"code": "anq_" + "x" * 43}, "invalid_grant"),
            ({"client_id": None}, "invalid_client"),
            ({"client_id": "\u00e9"}, "invalid_client"),
            ({"client_id": "0123456789abcde\x00"}, "invalid_client"),
            ({"client_secret": "x"}, "invalid_client"),
            ({"grant_type": "password"}, "unsupported_grant_type"),
            ({"grant_type": None}, "unsupported_grant_type"),
            ({"grant_type": '"\u00e9\\'}, "unsupported_grant_type"),
        ],
    )
    def test_only_with_all_that_it_was_asked_with(
        self, site: Site, browser: Browser, client: Doc, more: dict[str, str | None], error: str
    ) -> None:
        code = allowed(browser, client)["code"]
        answer = exchanged(site, client, **{"code": code, **more})  # type: ignore[arg-type]
        failed(answer, error, answer.status_code)
        assert answer.status_code in (400, 401)
        assert exchanged(site, client, code).status_code == 200

    def test_of_another_client_it_is_none(self, site: Site, browser: Browser, client: Doc, maker: Member) -> None:
        code = allowed(browser, client)["code"]
        failed(exchanged(site, registered(maker), code), "invalid_grant")
        assert exchanged(site, client, code).status_code == 200

    def test_who_was_erased_or_banned_meanwhile_gives_nothing(
        self, site: Site, browser: Browser, client: Doc, anne: Member
    ) -> None:
        codes = [allowed(browser, client)["code"] for _ in range(2)]
        site.services.account_store.accounts.set_state(anne.id, "banned", 0, [])
        failed(exchanged(site, client, codes[0]), "invalid_grant")
        site.services.account_store.accounts.erase(anne.id, no_statements)
        failed(exchanged(site, client, codes[1]), "invalid_grant")

    def test_a_client_that_was_removed_gets_nothing(
        self, site: Site, browser: Browser, client: Doc, maker: Member
    ) -> None:
        code = allowed(browser, client)["code"]
        maker.delete(f"/me/clients/{client['id']}")
        failed(exchanged(site, client, code), "invalid_client")

    def test_parameters_come_in_a_form_and_once(self, site: Site, client: Doc) -> None:
        said = {"grant_type": "refresh_token", "client_id": client["id"], "refresh_token": "x"}
        for answer in (
            site.client.post("/oauth/token", json=said),
            site.client.post("/oauth/token?client_id=x", data=said),
            site.client.post("/oauth/token", data=said | {"client_id": ["a", "b"]}),
            site.client.post("/oauth/token"),
        ):
            failed(answer, "invalid_request")


class TestConfidential:
    @pytest.fixture
    def client(self, maker: Member) -> Doc:
        return registered(maker, confidential=True)

    def test_it_shows_its_secret(self, site: Site, browser: Browser, client: Doc) -> None:
        code = allowed(browser, client)["code"]
        for secret in ("", "x", client["secret"][:-1]):
            failed(exchanged(site, client, code, client_secret=secret), "invalid_client", 401)
        failed(exchanged(site, client, code, client_secret=None), "invalid_client", 401)
        assert exchanged(site, client, code).status_code == 200

    def test_also_in_the_header(self, site: Site, browser: Browser, client: Doc) -> None:
        code = allowed(browser, client)["code"]
        said = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER}
        wrong = site.client.post("/oauth/token", data=said, auth=(client["id"], "x"))
        failed(wrong, "invalid_client", 401)
        assert wrong.headers["WWW-Authenticate"].startswith("Basic ")
        assert site.client.post("/oauth/token", data=said, auth=(client["id"], client["secret"])).status_code == 200

    @pytest.mark.parametrize("header", ["Basic", "Basic !", "Basic w6k=", "Basic /w==", "Bearer x", "Basic OjpA", ""])
    def test_whatever_the_header_holds(self, site: Site, client: Doc, header: str) -> None:
        said = {"grant_type": "refresh_token", "refresh_token": "x"}
        answer = site.client.post("/oauth/token", data=said, headers={"Authorization": header})
        failed(answer, "invalid_client", 401)

    def test_pkce_is_asked_of_it_too(self, site: Site, browser: Browser, client: Doc) -> None:
        assert "error=invalid_request" in browser.get(address(client, code_challenge=None)).headers["Location"]
        code = allowed(browser, client)["code"]
        failed(exchanged(site, client, code, code_verifier=None), "invalid_request")


class TestAccess:
    def test_it_does_what_it_is_for(self, site: Site, browser: Browser, client: Doc, anne: Member) -> None:
        read = exchanged(site, client, allowed(browser, client, scope=None)["code"]).json
        assert read["scope"] == "read"
        me = site.get("/me", read["access_token"]).json
        assert (me["account"], me["scopes"], me["session"]) == (anne.id, ["read"], False)
        refused(site.post("/games", TABLE, read["access_token"]), 403, "scope_missing")
        direct = exchanged(site, client, allowed(browser, client, scope="direct")["code"]).json
        assert site.post("/games", TABLE, direct["access_token"]).status_code == 201

    def test_of_the_account_itself_it_changes_nothing(self, site: Site, tokens: Doc) -> None:
        for path in ("/me/grants", "/me/clients", "/me/sessions", "/me/factors", "/me/data"):
            refused(site.get(path, tokens["access_token"]), 403, "session_required")
        refused(
            site.post("/me/tokens", {"label": "x", "scopes": ["play"]}, tokens["access_token"]), 403, "session_required"
        )

    def test_only_the_whole_token_opens(self, site: Site, tokens: Doc) -> None:
        token = tokens["access_token"]
        for text in (
            token[:-1],
            token + "0",
            token[:-8] + "0" * 8,
            token.replace("ano", "anp"),
            tokens["refresh_token"],
        ):
            refused(site.get("/me", text), 401, "unauthenticated")

    def test_it_lasts_an_hour(self, site: Site, tokens: Doc, watch: Watch) -> None:
        watch.now += (ACCESS_SECONDS - 10) * 1000
        assert site.get("/me", tokens["access_token"]).status_code == 200
        watch.now += 10_000
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")

    def test_admin_is_for_whoever_has_a_role(self, site: Site, client: Doc, browser: Browser, watch: Watch) -> None:
        member = exchanged(site, client, allowed(browser, client, scope="read admin")["code"]).json
        assert (member["scope"], site.get("/me", member["access_token"]).json["scopes"]) == ("read", ["read"])
        promoted(site, "Judge", "moderator")
        judge = Browser(site)
        judge.log_in("Judge")
        asked = exchanged(site, client, allowed(judge, client, scope="admin")["code"]).json
        assert site.get("/reports", asked["access_token"]).status_code == 200
        without = exchanged(site, client, allowed(judge, client, scope="read play direct")["code"]).json
        refused(site.get("/reports", without["access_token"]), 403, "scope_missing")

    def test_it_plays(self, site: Site, anne: Member, client: Doc, browser: Browser) -> None:
        table = site.table("orders@1", 3, start=False)
        site.delete(f"{table.path}/seats/0", table.tokens[0])
        token = exchanged(site, client, allowed(browser, client)["code"]).json["access_token"]
        assert site.post(f"{table.path}/seats", {"seat": 0}, token).status_code == 201
        assert table.post("/start", token=table.director).status_code == 201
        order = {"move": {"type": "order", "to": "t00", "units": 1}, "decision": table.decision}
        assert site.post(f"{table.path}/moves?dry_run=1", order, token).status_code == 200
        ticket = site.post(f"/stream-tickets?game={table.game}", None, token).json["ticket"]
        anne.delete(f"/me/grants/{anne.get('/me/grants').json['items'][0]['id']}")
        refused(site.get(f"{table.path}/stream?ticket={ticket}"), 401, "unauthenticated")


class TestRefreshing:
    def test_each_gives_the_next(self, site: Site, client: Doc, tokens: Doc) -> None:
        turned = refreshed(site, client, tokens["refresh_token"])
        assert turned.status_code == 200, turned.text
        assert set(turned.json) == set(tokens)
        assert turned.json["refresh_token"] != tokens["refresh_token"]
        assert site.get("/me", turned.json["access_token"]).status_code == 200
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")

    def test_one_that_comes_twice_ends_them_all(self, site: Site, client: Doc, tokens: Doc, anne: Member) -> None:
        second = refreshed(site, client, tokens["refresh_token"]).json
        third = refreshed(site, client, second["refresh_token"]).json
        with capture_logs() as lines:
            failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")
        assert [line["what"] for line in lines if line["event"] == "account_changed"] == ["grant_reused"]
        refused(site.get("/me", third["access_token"]), 401, "unauthenticated")
        failed(refreshed(site, client, third["refresh_token"]), "invalid_grant")
        assert anne.get("/me/grants").json["items"] == []
        assert anne.get("/me/audit").json["items"][0]["what"] == "grant_reused"

    def test_one_repeated_within_half_minute_gives_the_same_tokens(
        self, site: Site, client: Doc, tokens: Doc, watch: Watch, anne: Member
    ) -> None:
        """As after a lost answer, or when two windows refresh at once."""
        second = refreshed(site, client, tokens["refresh_token"]).json
        watch.now += REPEAT_MS - 100
        again = refreshed(site, client, tokens["refresh_token"])
        assert again.status_code == 200, again.text
        assert again.json == second | {"expires_in": ACCESS_SECONDS - REPEAT_MS // 1000}
        assert site.get("/me", second["access_token"]).status_code == 200
        assert "grant_reused" not in [each["what"] for each in anne.get("/me/audit").json["items"]]
        assert refreshed(site, client, again.json["refresh_token"]).status_code == 200

    def test_one_repeated_later_ends_them_all(self, site: Site, client: Doc, tokens: Doc, watch: Watch) -> None:
        second = refreshed(site, client, tokens["refresh_token"]).json
        watch.now += REPEAT_MS
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")
        refused(site.get("/me", second["access_token"]), 401, "unauthenticated")
        failed(refreshed(site, client, second["refresh_token"]), "invalid_grant")

    def test_one_repeated_by_another_client_ends_them_all(
        self, site: Site, client: Doc, tokens: Doc, maker: Member
    ) -> None:
        second = refreshed(site, client, tokens["refresh_token"]).json
        failed(refreshed(site, registered(maker), tokens["refresh_token"]), "invalid_grant")
        refused(site.get("/me", second["access_token"]), 401, "unauthenticated")

    def test_one_repeated_gives_the_scopes_of_the_first_answer(self, site: Site, client: Doc, tokens: Doc) -> None:
        assert refreshed(site, client, tokens["refresh_token"], scope="read").json["scope"] == "read"
        again = refreshed(site, client, tokens["refresh_token"], scope="play").json
        assert again["scope"] == "read"
        assert site.get("/me", again["access_token"]).json["scopes"] == ["read"]

    def test_one_repeated_after_ban_or_end_of_grant_gives_nothing(
        self, site: Site, client: Doc, tokens: Doc, anne: Member
    ) -> None:
        refreshed(site, client, tokens["refresh_token"])
        site.services.account_store.accounts.set_state(anne.id, "banned", 0, [])
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")
        site.services.account_store.accounts.set_state(anne.id, "active", 0, [])
        (grant,) = anne.get("/me/grants").json["items"]
        assert anne.delete(f"/me/grants/{grant['id']}").status_code == 204
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")

    def test_what_only_looks_like_one_ends_nothing(self, site: Site, client: Doc, tokens: Doc) -> None:
        """The id of a grant is no secret."""
        from domain.accounts.account_tables import checksum

        made = tokens["refresh_token"][:21] + "x" * 44
        failed(refreshed(site, client, made + checksum(made)), "invalid_grant")
        assert refreshed(site, client, tokens["refresh_token"]).status_code == 200

    def test_it_may_ask_for_less_and_never_for_more(self, site: Site, client: Doc, tokens: Doc) -> None:
        less = refreshed(site, client, tokens["refresh_token"], scope="read").json
        assert site.get("/me", less["access_token"]).json["scopes"] == ["read"]
        failed(refreshed(site, client, less["refresh_token"], scope="direct"), "invalid_scope")
        assert refreshed(site, client, less["refresh_token"]).json["scope"] == "read play"

    def test_another_client_gets_nothing(self, site: Site, client: Doc, tokens: Doc, maker: Member) -> None:
        failed(refreshed(site, registered(maker), tokens["refresh_token"]), "invalid_grant")
        assert refreshed(site, client, tokens["refresh_token"]).status_code == 200

    def test_it_ends_when_nobody_uses_it_and_at_last(
        self, site: Site, client: Doc, tokens: Doc, watch: Watch, anne: Member
    ) -> None:
        token, begun = tokens["refresh_token"], watch.now
        while watch.now < begun + LONGEST - REFRESH:
            watch.now += REFRESH - DAY
            token = refreshed(site, client, token).json["refresh_token"]
        watch.now = begun + LONGEST
        failed(refreshed(site, client, token), "invalid_grant")

    def test_nor_after_a_month_of_silence(self, site: Site, client: Doc, tokens: Doc, watch: Watch) -> None:
        watch.now += REFRESH
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")


class TestEnding:
    def test_who_has_allowed_it_sees_and_ends_it(self, site: Site, client: Doc, tokens: Doc, anne: Member) -> None:
        (found,) = anne.get("/me/grants").json["items"]
        assert (found["client"], found["name"], found["scopes"]) == (client["id"], "A board", ["read", "play"])
        assert anne.delete(f"/me/grants/{found['id']}").status_code == 204
        refused(anne.delete(f"/me/grants/{found['id']}"), 404, "not_found")
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")

    def test_it_stands_in_what_is_kept_of_the_person(
        self, tokens: Doc, anne: Member, maker: Member, client: Doc
    ) -> None:
        assert [each["name"] for each in anne.get("/me/data").json["grants"]] == ["A board"]
        assert [each["id"] for each in maker.get("/me/data").json["clients"]] == [client["id"]]
        assert tokens["access_token"] not in anne.get("/me/data").text

    def test_nobody_else_does(self, site: Site, tokens: Doc, anne: Member, maker: Member) -> None:
        (found,) = anne.get("/me/grants").json["items"]
        refused(maker.delete(f"/me/grants/{found['id']}"), 404, "not_found")
        assert maker.get("/me/grants").json["items"] == []
        assert site.get("/me", tokens["access_token"]).status_code == 200

    def test_a_client_gives_a_token_back(self, site: Site, client: Doc, tokens: Doc, anne: Member) -> None:
        given = ask(site, client, "/oauth/revoke", token=tokens["access_token"], token_type_hint="access_token")
        assert given.status_code == 200
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")
        turned = refreshed(site, client, tokens["refresh_token"]).json
        assert ask(site, client, "/oauth/revoke", token=turned["refresh_token"]).status_code == 200
        refused(site.get("/me", turned["access_token"]), 401, "unauthenticated")
        assert anne.get("/me/grants").json["items"] == []
        assert ask(site, client, "/oauth/revoke", token=turned["refresh_token"]).status_code == 200
        assert ask(site, client, "/oauth/revoke", token="x").status_code == 200

    def test_another_client_gives_nothing_back(self, site: Site, client: Doc, tokens: Doc, maker: Member) -> None:
        other = registered(maker)
        for token in (tokens["access_token"], tokens["refresh_token"]):
            ask(site, other, "/oauth/revoke", token=token)
        assert site.get("/me", tokens["access_token"]).status_code == 200
        failed(ask(site, client, "/oauth/revoke"), "invalid_request")

    def test_with_the_client_all_ends(self, site: Site, client: Doc, tokens: Doc, anne: Member, maker: Member) -> None:
        assert maker.delete(f"/me/clients/{client['id']}").status_code == 204
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")
        assert anne.get("/me/grants").json["items"] == []

    def test_and_with_its_maker(self, site: Site, tokens: Doc, anne: Member, maker: Member) -> None:
        assert maker.delete("/me").status_code == 204
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")
        assert anne.get("/me/grants").json["items"] == []

    def test_another_password_leaves_it_and_recovery_ends_it(
        self, site: Site, client: Doc, tokens: Doc, anne: Member
    ) -> None:
        """As with personal tokens."""
        assert anne.post("/me/password", {"current": PASSWORD, "password": OTHER}).status_code == 201
        assert site.get("/me", tokens["access_token"]).status_code == 200
        body = {"name": "Anne", "code": anne.doc["codes"][0], "password": PASSWORD}
        assert site.post("/recovery", body).status_code == 201
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")

    def test_an_administrator_ends_it_as_after_a_theft(
        self, site: Site, client: Doc, tokens: Doc, anne: Member
    ) -> None:
        root = promoted(site, "Root", "admin")
        assert root.delete(f"/accounts/{anne.id}/credentials").status_code == 204
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")

    def test_of_somebody_banned_it_reads_and_is_not_renewed(
        self, site: Site, client: Doc, tokens: Doc, anne: Member
    ) -> None:
        site.services.account_store.accounts.set_state(anne.id, "banned", 0, [])
        assert site.get("/me", tokens["access_token"]).status_code == 200
        refused(site.post("/games", TABLE, tokens["access_token"]), 403, "scope_missing")
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")

    def test_of_somebody_erased_nothing_is_left(self, site: Site, client: Doc, tokens: Doc, anne: Member) -> None:
        assert anne.delete("/me").status_code == 204
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")
        failed(refreshed(site, client, tokens["refresh_token"]), "invalid_grant")
        assert site.services.ledger.execute("SELECT id FROM oauth_grants") == []

    def test_account_has_so_many_and_the_one_used_longest_ago_ends(
        self, site: Site, browser: Browser, client: Doc, tokens: Doc, anne: Member, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("domain.accounts.oauth_grants.MOST_GRANTS", 2)
        for _ in range(2):
            assert exchanged(site, client, allowed(browser, client)["code"]).status_code == 200
        assert len(anne.get("/me/grants").json["items"]) == 2 < MOST_GRANTS
        refused(site.get("/me", tokens["access_token"]), 401, "unauthenticated")


class TestMetadata:
    def test_it_is_valid_and_says_what_there_is(self, site: Site) -> None:
        from authlib.oauth2 import rfc8414, rfc9207

        found = site.client.get("/.well-known/oauth-authorization-server").json
        rfc8414.AuthorizationServerMetadata(found).validate(metadata_classes=[rfc9207.AuthorizationServerMetadata])
        rules = {rule.rule for rule in site.app.url_map.iter_rules()}
        for name, value in found.items():
            if name.endswith("_endpoint"):
                assert value.removeprefix("http://localhost") in rules, name
        with site.app.test_request_context():
            assert build_metadata() == found

    def test_the_address_is_the_configured_one(self, site: Site) -> None:
        site.remake(public_url="https://play.example")
        found = site.client.get("/.well-known/oauth-authorization-server", headers={"Host": "evil.example"}).json
        assert (found["issuer"], found["token_endpoint"]) == (
            "https://play.example",
            "https://play.example/oauth/token",
        )

    def test_without_one_only_this_machine_is_answered(self, site: Site, client: Doc) -> None:
        for path in ("/.well-known/oauth-authorization-server", address(client)):
            answer = site.client.get(path, headers={"Host": "evil.example"})
            assert answer.status_code == 409, path
        refused(
            site.client.post("/oauth/token", data={"grant_type": "x"}, headers={"Host": "evil.example"}),
            409,
            "address_unset",
        )


class TestSecrecy:
    def test_no_line_holds_a_token_or_a_code(
        self, site: Site, client: Doc, browser: Browser, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level("DEBUG")
        with capture_logs() as lines:
            code = allowed(browser, client)["code"]
            first = exchanged(site, client, code).json
            second = refreshed(site, client, first["refresh_token"]).json
            assert refreshed(site, client, first["refresh_token"]).json["refresh_token"] == second["refresh_token"]
            exchanged(site, client, code)
        told_of = str(lines) + caplog.text
        assert lines
        for text in (code, VERIFIER, browser.cookie(), *first.values(), *second.values()):
            assert str(text) not in told_of or len(str(text)) < 12

    def test_pages_of_other_origins_may_ask_as_clients(self, site: Site) -> None:
        site.remake(origins=("https://client.example",))
        for path, shared in (
            ("/oauth/token", True),
            ("/oauth/authorize", False),
            ("/login", False),
            ("/account", False),
        ):
            answer = site.client.open(path, method="POST", headers={"Origin": "https://client.example"})
            assert ("Access-Control-Allow-Origin" in answer.headers) is shared, path
