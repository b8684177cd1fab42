"""What a person does for the account by forms alone: each act, its refusal beside the field, and its trace."""

from __future__ import annotations

import re
from typing import Any

import pytest

from domain.accounts.sessions import FRESH
from tests.api.conftest import Site, refused
from tests.api.game_pages import Page, Person
from tests.api.members import OTHER, PASSWORD, Watch, promoted, register, timed
from tests.api.oauth.browser import Browser
from tests.api.test_mail import codes
from tests.api.test_tournament_pages import person
from tests.api.test_tournaments import BODY


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site, watch: Watch) -> Person:
    return person(site, "Anne")


def logged_in(site: Site, name: str) -> Person:
    """Somebody whose account is there already."""
    browser = Browser(site)
    assert browser.log_in(name).status_code == 303
    return Person(site, browser)


def send(who: Person, page: str, act: str, *more: tuple[str, str]) -> Any:
    """The answer to a form of a page."""
    return who.send(Page(who.read(page).text).form(f"/{act}"), *more)


def done(who: Person, page: str, act: str, *more: tuple[str, str]) -> str:
    """The text of the page after an act that nobody refuses."""
    answer = send(who, page, act, *more)
    assert answer.status_code == 303, answer.text
    return str(who.follow(answer).text)


class TestSecurity:
    PATH = "/account/security"

    def test_a_password_is_changed_and_other_devices_end(self, site: Site, anne: Person) -> None:
        assert "is changed" in done(anne, self.PATH, "password", ("current", PASSWORD), ("password", OTHER))
        refused(anne.api.get("/me"), 401, "unauthenticated")
        assert site.post("/sessions", {"name": "Anne", "password": OTHER}).status_code == 201

    @pytest.mark.parametrize(("field", "current", "new"), [("current", OTHER, OTHER), ("password", PASSWORD, "short")])
    def test_a_refusal_stands_beside_its_field(self, anne: Person, field: str, current: str, new: str) -> None:
        answer = send(anne, self.PATH, "password", ("current", current), ("password", new))
        assert answer.status_code in (403, 422)
        assert re.search(rf'name="{field}"[^>]* aria-describedby="fault-{field}"', answer.text)
        assert f'id="fault-{field}"' in answer.text
        assert current not in answer.text

    def test_a_name_is_changed_and_a_taken_one_is_refused(self, site: Site, anne: Person) -> None:
        register(site, "Bruno")
        answer = send(anne, self.PATH, "name", ("name", "Bruno"))
        assert (answer.status_code, 'id="fault-name"' in answer.text, 'value="Bruno"' in answer.text) == (
            409,
            True,
            True,
        )
        assert "You are Anna." in done(anne, self.PATH, "name", ("name", "Anna"))

    def test_new_codes_end_the_old_ones(self, site: Site, anne: Person) -> None:
        found = re.findall(r"<code>([^<]+)</code>", send(anne, self.PATH, "codes").text)
        assert len(found) == 10
        old = {"name": "Anne", "code": anne.api.doc["codes"][0], "password": OTHER}
        refused(site.post("/recovery", old), 403, "wrong_credentials")
        assert site.post("/recovery", old | {"code": found[0]}).status_code == 201

    def test_what_is_dangerous_waits_for_the_password(self, anne: Person, watch: Watch) -> None:
        form = Page(anne.read(self.PATH).text).form("/codes")
        watch.now += FRESH
        assert "/codes" not in anne.read(self.PATH).text
        proof = Page(anne.send(form).text).form("/proof")
        assert anne.send(proof, ("password", PASSWORD)).headers["Location"] == self.PATH
        assert "/codes" in anne.read(self.PATH).text

    def test_an_account_is_erased_once_that_is_sure(self, site: Site, anne: Person) -> None:
        assert send(anne, self.PATH, "erase").status_code == 403
        assert "erased" in done(anne, self.PATH, "erase", ("erase", "yes"))
        refused(site.post("/sessions", {"name": "Anne", "password": PASSWORD}), 403, "wrong_credentials")

    def test_all_devices_are_logged_out(self, anne: Person) -> None:
        assert send(anne, self.PATH, "log_out").headers["Location"] == "/login"
        refused(anne.api.get("/me"), 401, "unauthenticated")

    def test_all_data_is_a_file_and_the_log_is_told_in_words(self, anne: Person) -> None:
        answer = anne.browser.get("/account/data/file")
        assert answer.json["name"] == "Anne"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "account opened" in anne.read("/account/data").text


class TestNotices:
    PATH = "/account/notices"

    def test_mail_is_set_up_and_confirmed(self, site: Site) -> None:
        site.remake(mail=True)
        anne = person(site, "Anne")
        answer = send(anne, self.PATH, "mail", ("address", "nowhere"))
        assert (answer.status_code, 'id="fault-address"' in answer.text) == (422, True)
        wish = (("address", "anne@example.org"), ("events", "turn.due"), ("digest", "daily"), ("hour", "6"))
        assert "is on its way" in done(anne, self.PATH, "mail", *wish, ("language", "fr"))
        assert 'id="fault-code"' in send(anne, self.PATH, "code", ("code", "AAAAAAAAAA")).text
        assert "Mail goes to anne@example.org" in done(anne, self.PATH, "code", ("code", codes(site)[-1]))
        kept = anne.api.get("/me/mail").json
        assert (kept["events"], kept["digest"], kept["language"]) == (["turn.due"], "daily", "fr")
        done(anne, self.PATH, "no_mail")
        refused(anne.api.get("/me/mail"), 404, "not_found")

    def test_a_calendar_has_an_address_until_it_is_revoked(self, site: Site, anne: Person) -> None:
        (key,) = re.findall(r"/v1/calendar\?key=([^\"]+)", send(anne, self.PATH, "calendar").text)
        assert site.get(f"/calendar?key={key}").status_code == 200
        done(anne, self.PATH, "no_calendar")
        assert site.get(f"/calendar?key={key}").status_code == 404

    def test_a_webhook_is_made_changed_tested_and_removed(self, anne: Person) -> None:
        answer = send(anne, self.PATH, "webhook", ("url", "http://example.org"), ("events", "turn.due"))
        assert 'id="fault-url"' in answer.text
        url = ("url", "https://example.org/annals")
        assert "whsec_" in send(anne, self.PATH, "webhook", url, ("about", "mine"), ("events", "turn.due")).text
        (hook,) = anne.api.get("/me/webhooks").json["items"]
        chosen = f"{self.PATH}?webhook={hook['id']}"
        answer = send(anne, chosen, "test")
        assert answer.headers["Location"].endswith("#deliveries")
        assert "on its way" in anne.read(answer.headers["Location"]).text
        done(anne, chosen, "change", ("url", hook["url"]), ("events", "game.over"))
        assert anne.api.get("/me/webhooks").json["items"][0]["state"] == "off"
        done(anne, self.PATH, "remove")
        assert anne.api.get("/me/webhooks").json["items"] == []


class TestPrograms:
    PATH = "/account/programs"

    def test_a_token_is_made_and_shown_once(self, site: Site, anne: Person) -> None:
        answer = send(anne, self.PATH, "token", ("label", "a bot"), ("scopes", "read"), ("days", "30"))
        (token,) = re.findall(r'value="(anp_[^"]+)"', answer.text)
        assert site.get("/me", token).json["scopes"] == ["read"]
        assert token not in anne.read(self.PATH).text
        assert send(anne, self.PATH, "token", ("label", ""), ("scopes", "read")).status_code == 422

    def test_a_program_is_registered_for_others(self, anne: Person) -> None:
        fields = (("name", "A board"), ("redirects", "https://client.example/answer"), ("scopes", "read"))
        grants = (("grant_types", "authorization_code"), ("confidential", "yes"))
        assert "only once" in send(anne, self.PATH, "client", *fields, *grants).text
        (client,) = anne.api.get("/me/clients").json["items"]
        assert (client["name"], client["confidential"]) == ("A board", True)


class TestPeople:
    @pytest.fixture
    def bruno(self, site: Site, anne: Person) -> Person:
        return person(site, "Bruno")

    def test_an_invitation_is_sent_shown_and_accepted(self, site: Site, anne: Person, bruno: Person) -> None:
        game = anne.api.post("/games", {"ruleset": "struggle_of_empires@1", "seats": 3}).json["game"]
        path = f"/games/{game}/around"
        assert "is sent" in done(anne, path, "invite", ("name", "Bruno"), ("seat", "1"), ("days", "7"))
        for page in ("/", "/games", "/games/invitations"):
            assert f"/games/{game}" in bruno.read(page, Accept="text/html").text
        assert send(bruno, "/games", "accept").headers["Location"].startswith(f"/games/{game}?wait=")
        assert bruno.api.get("/me/challenges").json["items"] == []
        done(anne, path, "invite", ("name", "Bruno"), ("seat", ""), ("days", "7"))
        assert 'id="fault-seat"' in send(anne, path, "invite", ("name", "Bruno"), ("seat", "1")).text
        done(bruno, "/games/invitations", "decline")
        assert "declined" in anne.read(path).text

    def test_a_person_is_blocked_and_reported(self, site: Site, anne: Person, bruno: Person) -> None:
        page = f"/players/{bruno.api.doc['player']}"
        assert "Unblock" in done(anne, page, "block")
        assert "Bruno" in anne.read("/account/people").text
        done(anne, "/account/people", "unblock")
        assert anne.api.get("/me/blocks").json["items"] == []
        assert 'id="fault-said"' in send(anne, page, "report", ("said", "")).text
        done(anne, page, "report", ("said", "He shouts."))
        promoted(site, "Moderator", "moderator")
        staff = logged_in(site, "Moderator")
        assert "He shouts." in staff.read("/moderation").text
        done(staff, "/moderation", "settle", ("outcome", "He was asked to whisper."))
        assert "He was asked to whisper." in anne.read("/account/people").text
        found = f"/moderation?name={bruno.api.doc['name']}"
        done(staff, found, "judge", ("state", "suspended"), ("days", "2"))
        assert bruno.api.get("/me").json["state"] == "suspended"
        assert anne.browser.get("/moderation").status_code == 403

    def test_figures_of_a_person_are_for_everybody(self, site: Site, bruno: Person) -> None:
        page = f"/players/{bruno.api.doc['player']}"
        text = Person(site, Browser(site)).read(page).text
        assert "0 finished games" in text
        assert "/block" not in text

    def test_a_table_is_watched_and_reported(self, site: Site, anne: Person) -> None:
        game = anne.api.post("/games", {"ruleset": "struggle_of_empires@1", "seats": 3}).json["game"]
        path = f"/games/{game}/around"
        assert "Watch this table no more" in done(anne, path, "watch")
        done(anne, "/account/people", "unwatch")
        assert anne.api.get("/me/watching").json["items"] == []
        done(anne, path, "report", ("said", "They pass on purpose."))
        assert anne.api.get("/me/data").json["reports"][0]["game"] == game


def directed(site: Site, who: Person) -> str:
    """A running game of two guests, directed by somebody without a seat."""
    game = str(who.api.post("/games", {"ruleset": "struggle_of_empires@1", "seats": 2}).json["game"])
    for seat in (0, 1):
        assert site.post(f"/games/{game}/seats", {"seat": seat, "name": f"Guest {seat}"}).status_code == 201
    assert who.api.post(f"/games/{game}/start").status_code == 201
    return game


class TestOfficers:
    PATH = "/desk/all"

    def test_all_tables_are_paused_and_go_on_at_once(self, site: Site, anne: Person) -> None:
        game = directed(site, anne)
        paused = send(anne, self.PATH, "pause", ("reason", "The lights are out."))
        assert (paused.status_code, game in paused.text, "done" in paused.text) == (200, True, True)
        assert site.services.commands.game(game).current_pause is not None
        assert send(anne, self.PATH, "resume").status_code == 200
        assert site.services.commands.game(game).current_pause is None

    def test_a_role_is_offered_at_several_tables(self, site: Site, anne: Person) -> None:
        register(site, "Bruno")
        game = anne.api.post("/games", {"ruleset": "struggle_of_empires@1", "seats": 3}).json["game"]
        fields = (("name", "Bruno"), ("role", "arbiter"), ("games", game))
        assert "is offered" in done(anne, self.PATH, "offer", *fields)

    def test_a_director_looks_and_the_chat_of_a_table_is_named(self, site: Site, anne: Person) -> None:
        path = f"/games/{directed(site, anne)}/around"
        assert "The secrets of the game" in send(anne, path, "look").text
        assert "anl_" in send(anne, path, "token", ("seat", "1")).text
        url = ("url", "https://hooks.example.org/x")
        assert "hooks.example.org" in done(anne, path, "chat", url, ("language", "fr"))
        assert "hooks.example.org" in anne.read("/account/notices").text
        done(anne, path, "no_chat")
        done(anne, path, "card", ("title", "Sunday"), ("note", ""))
        assert "Sunday" in anne.read(path).text

    def test_an_administrator_reads_the_log_and_invites(self, site: Site, anne: Person) -> None:
        promoted(site, "Admin", "admin")
        staff = logged_in(site, "Admin")
        page = "/moderation?name=Anne"
        assert "account opened" in staff.read(page).text
        done(staff, page, "role", ("role", "moderator"))
        assert anne.api.get("/me").json["role"] == "moderator"
        assert re.search(r'readonly value="[\w-]{20,}"', send(staff, page, "invite", ("uses", "1"), ("days", "2")).text)

    def test_an_organiser_names_officers_and_a_chat(self, site: Site, anne: Person) -> None:
        bruno = register(site, "Bruno")
        path = f"/tournaments/{anne.api.post('/tournaments', BODY).json['tournament']}/around"
        assert "asked to be an officer: deputy" in done(anne, path, "officer", ("name", "Bruno"), ("office", "deputy"))
        assert "None" not in done(anne, path, "recall")
        done(anne, path, "officer", ("name", "Bruno"), ("office", "deputy"))
        assert bruno.put(f"/me/event-offers/{path.split('/')[2]}/deputy").status_code == 200
        done(anne, path, "dismiss")
        assert anne.api.get(path.removesuffix("/around")).json["officers"] == []
        assert "hooks.example.org" in done(
            anne, path, "chat", ("url", "https://hooks.example.org/x"), ("language", "en")
        )
        done(anne, path, "no_chat")
