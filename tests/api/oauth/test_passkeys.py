"""Passkeys: made for one account, shown instead of everything else or beside the password, and never twice."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from domain.accounts.passkeys import CHALLENGE_MS
from domain.accounts.sessions import FRESH
from tests.api.conftest import Doc, Site, refused
from tests.api.members import PASSWORD, Member, Watch, log_in, register, timed
from tests.api.oauth.authenticator import ALGORITHMS, Authenticator, b64
from tests.api.oauth.browser import Browser, forms


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site, watch: Watch) -> Member:
    return register(site)


def invited(member: Member) -> Doc:
    made = member.post("/me/factors/passkeys/challenges")
    assert made.status_code == 201, made.text
    return dict(made.json)


def added(member: Member, key: Authenticator) -> Any:
    return member.post("/me/factors/passkeys", {"label": "a key", "passkey": key.create(invited(member))})


@pytest.fixture
def key(anne: Member) -> Authenticator:
    key = Authenticator()
    made = added(anne, key)
    assert made.status_code == 201, made.text
    return key


def challenge(site: Site) -> Doc:
    made = site.post("/passkey-challenges")
    assert made.status_code == 201, made.text
    return dict(made.json)


def enter(site: Site, answer: Doc) -> Any:
    return site.post("/passkey-sessions", {"passkey": answer})


class TestMaking:
    def test_one_is_listed_without_what_it_is(self, site: Site, anne: Member, key: Authenticator) -> None:
        (found,) = anne.get("/me/factors").json["items"]
        assert (found["id"], found["kind"], found["label"], found["used"]) == (b64(key.id), "passkey", "a key", None)

    def test_what_a_browser_is_asked(self, anne: Member, key: Authenticator) -> None:
        options = invited(anne)["publicKey"]
        assert options["rp"] == {"id": "localhost", "name": "Annals"}
        assert options["authenticatorSelection"]["residentKey"] == "required"
        assert [known["id"] for known in options["excludeCredentials"]] == [b64(key.id)]
        assert anne.id not in json.dumps(options["user"])

    def test_each_algorithm_that_is_offered_registers_and_logs_in(self, site: Site, anne: Member) -> None:
        """Also with the longest id: a key of ML-DSA-87 has 2,592 bytes, its signature 4,627."""
        offered = [each["alg"] for each in invited(anne)["publicKey"]["pubKeyCredParams"]]
        assert sorted(offered) == sorted(ALGORITHMS)
        for algorithm in offered:
            key = Authenticator(algorithm=algorithm, id=algorithm.to_bytes(2, "big", signed=True) + bytes(1021))
            made = added(anne, key)
            assert made.status_code == 201, (algorithm, made.text)
            entered = enter(site, key.get(challenge(site)))
            assert entered.status_code == 201, (algorithm, entered.text)
            assert entered.json["account"] == anne.id

    def test_a_key_that_is_too_long_is_told(self, anne: Member) -> None:
        """An id of 1,023 bytes is the longest that there is."""
        refused(added(anne, Authenticator(id=bytes(1024))), 403, "wrong_credentials")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"origin": "https://evil.example"},
            {"origin": "http://localhost:8000"},
            {"rp": "evil.example"},
            {"present": False},
        ],
    )
    def test_what_was_made_elsewhere_is_none(self, anne: Member, wrong: Doc) -> None:
        refused(added(anne, Authenticator(**wrong)), 403, "wrong_credentials")

    def test_challenge_is_answered_once_in_time_by_whom_it_names(self, site: Site, anne: Member, watch: Watch) -> None:
        answer = Authenticator().create(options := invited(anne))
        bob = register(site, "Bob")
        refused(bob.post("/me/factors/passkeys", {"passkey": answer}), 403, "wrong_credentials")
        assert anne.post("/me/factors/passkeys", {"passkey": answer}).status_code == 201
        again = Authenticator().create(options)
        refused(anne.post("/me/factors/passkeys", {"passkey": again}), 403, "wrong_credentials")
        late = Authenticator().create(invited(anne))
        watch.now += CHALLENGE_MS
        refused(anne.post("/me/factors/passkeys", {"passkey": late}), 403, "wrong_credentials")

    def test_one_for_logging_in_makes_none(self, site: Site, anne: Member) -> None:
        options = invited(anne)
        options["publicKey"]["challenge"] = challenge(site)["publicKey"]["challenge"]
        answer = Authenticator().create(options)
        refused(anne.post("/me/factors/passkeys", {"passkey": answer}), 403, "wrong_credentials")

    @pytest.mark.parametrize(
        "broken",
        [
            {},
            {"id": "x"},
            {"id": 1, "rawId": [], "type": {}, "response": 7},
            {
                "id": "x",
                "rawId": "x",
                "type": "public-key",
                "response": {"clientDataJSON": "e30", "attestationObject": "oA"},
            },
            {
                "id": "x",
                "rawId": "x",
                "type": "public-key",
                "response": {"clientDataJSON": "é", "attestationObject": None},
            },
        ],
    )
    def test_whatever_is_sent_is_refused(self, site: Site, anne: Member, broken: Doc) -> None:
        refused(anne.post("/me/factors/passkeys", {"passkey": broken}), 403, "wrong_credentials")
        refused(enter(site, broken), 403, "wrong_credentials")

    @pytest.mark.parametrize("size", [15, 1023, 1024])
    def test_an_id_is_as_long_as_the_standard_lets_it_be(self, anne: Member, size: int) -> None:
        made = added(anne, Authenticator(id=bytes(size)))
        assert made.status_code == (201 if size < 1024 else 403)
        if size < 1024:
            assert anne.delete(f"/me/factors/passkeys/{b64(bytes(size))}").status_code == 204

    def test_a_key_is_no_longer_than_keys_are(self, anne: Member, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domain.accounts.passkeys.LONGEST_KEY", 100)
        refused(added(anne, Authenticator()), 403, "wrong_credentials")

    def test_the_first_one_ends_all_other_sessions(self, site: Site, anne: Member) -> None:
        other = log_in(site).json["token"]
        assert added(anne, Authenticator()).status_code == 201
        refused(site.get("/me", other), 401, "unauthenticated")

    def test_an_account_has_so_many(self, anne: Member, key: Authenticator, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domain.accounts.passkeys.MOST_PASSKEYS", 1)
        refused(added(anne, Authenticator()), 409, "too_many")

    def test_it_needs_a_password_shown_lately(self, anne: Member, watch: Watch) -> None:
        answer = Authenticator().create(invited(anne))
        watch.now += FRESH
        refused(anne.post("/me/factors/passkeys/challenges"), 403, "password_required")
        refused(anne.post("/me/factors/passkeys", {"passkey": answer}), 403, "password_required")


class TestLoggingIn:
    def test_it_is_enough_by_itself(self, site: Site, anne: Member, key: Authenticator) -> None:
        entered = enter(site, key.get(challenge(site)))
        assert entered.status_code == 201, entered.text
        assert entered.json["account"] == anne.id
        (found,) = (s for s in site.get("/me/sessions", entered.json["token"]).json["items"] if s["current"])
        assert found["factors"] == ["passkey"]
        assert anne.get("/me/factors").json["items"][0]["used"] > 0

    def test_only_with_a_user_who_was_verified(self, site: Site, key: Authenticator) -> None:
        key.verified = False
        refused(enter(site, key.get(challenge(site))), 403, "wrong_credentials")

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda key: setattr(key, "origin", "https://evil.example"),
            lambda key: setattr(key, "rp", "evil.example"),
            lambda key: setattr(key, "present", False),
            lambda key: setattr(key, "key", Authenticator().key),
            lambda key: setattr(key, "id", Authenticator().id),
            lambda key: setattr(key, "user", b64encode(b"0" * 16)),
            lambda key: setattr(key, "user", b""),
        ],
    )
    def test_whatever_does_not_fit_is_refused(
        self, site: Site, key: Authenticator, wrong: Callable[[Any], None]
    ) -> None:
        wrong(key)
        refused(enter(site, key.get(challenge(site))), 403, "wrong_credentials")

    def test_an_answer_counts_once(self, site: Site, key: Authenticator) -> None:
        answer = key.get(options := challenge(site))
        assert enter(site, answer).status_code == 201
        refused(enter(site, answer), 403, "wrong_credentials")
        refused(enter(site, key.get(options)), 403, "wrong_credentials")

    def test_also_of_an_authenticator_that_counts_nothing(self, site: Site, anne: Member) -> None:
        key = Authenticator(step=0)
        assert added(anne, key).status_code == 201
        answer = key.get(challenge(site))
        assert [enter(site, answer).status_code for _ in range(2)] == [201, 403]
        assert enter(site, key.get(challenge(site))).status_code == 201

    def test_a_counter_never_goes_back(self, site: Site, key: Authenticator) -> None:
        """A copy of the authenticator is found out."""
        copy = deepcopy_of(key)
        assert enter(site, key.get(challenge(site))).status_code == 201
        assert enter(site, key.get(challenge(site))).status_code == 201
        refused(enter(site, copy.get(challenge(site))), 403, "wrong_credentials")

    def test_a_challenge_ends(self, site: Site, key: Authenticator, watch: Watch) -> None:
        answer = key.get(challenge(site))
        watch.now += CHALLENGE_MS
        refused(enter(site, answer), 403, "wrong_credentials")

    def test_one_of_our_own_making_is_none(self, site: Site, key: Authenticator) -> None:
        refused(enter(site, key.get({"publicKey": {"challenge": b64(bytes([255]) * 40)}})), 403, "wrong_credentials")

    def test_one_that_was_removed_opens_nothing(self, site: Site, anne: Member, key: Authenticator) -> None:
        assert anne.delete(f"/me/factors/passkeys/{b64(key.id)}").status_code == 204
        refused(enter(site, key.get(challenge(site))), 403, "wrong_credentials")
        refused(anne.delete(f"/me/factors/passkeys/{b64(key.id)}"), 404, "not_found")
        assert log_in(site).status_code == 201

    def test_nor_one_of_somebody_erased(self, site: Site, anne: Member, key: Authenticator) -> None:
        assert anne.delete("/me").status_code == 204
        refused(enter(site, key.get(challenge(site))), 403, "wrong_credentials")

    def test_guesses_wait(self, site: Site, key: Authenticator) -> None:
        found = [enter(site, {}).status_code for _ in range(8)]
        assert (found[0], found[-1]) == (403, 429)

    def test_at_the_configured_address(self, site: Site, anne: Member) -> None:
        site.remake(public_url="https://play.example")
        key = Authenticator(origin="https://play.example", rp="play.example")
        assert added(anne, key).status_code == 201
        assert enter(site, key.get(challenge(site))).status_code == 201
        key.origin = "https://play.example.evil.example"
        refused(enter(site, key.get(challenge(site))), 403, "wrong_credentials")


class TestAsSecondFactor:
    def test_it_is_shown_beside_the_password(self, site: Site, anne: Member, key: Authenticator) -> None:
        assert refused(log_in(site), 403, "second_factor_required")["factors"] == ["passkey", "recovery"]
        key.verified = False
        answer = key.get(challenge(site))
        assert log_in(site, passkey=answer).status_code == 201
        refused(log_in(site, passkey=answer), 403, "wrong_credentials")

    def test_that_of_somebody_else_is_none(self, site: Site, anne: Member, key: Authenticator) -> None:
        bob, other = register(site, "Bob"), Authenticator()
        added(bob, other)
        refused(log_in(site, passkey=other.get(challenge(site))), 403, "wrong_credentials")

    def test_removing_it_needs_password_and_factor(
        self, anne: Member, site: Site, key: Authenticator, watch: Watch
    ) -> None:
        watch.now += FRESH
        path = f"/me/factors/passkeys/{b64(key.id)}"
        refused(anne.delete(path), 403, "password_required")
        refused(anne.post("/me/proofs", {"password": PASSWORD}), 403, "second_factor_required")
        anne.prove(passkey=key.get(challenge(site)))
        assert anne.delete(path).status_code == 204


class TestPages:
    """As the script of the pages does it: it fills in what the browser has answered."""

    def test_logging_in_with_one(self, site: Site, anne: Member, key: Authenticator) -> None:
        browser = Browser(site)
        page = browser.get("/login?next=/device")
        options = json.loads(_challenge_of(page.text, "get"))
        answer = browser.send(forms(page)["/login/passkey"], passkey=json.dumps(key.get(options)))
        assert (answer.status_code, answer.headers["Location"]) == (303, "/device")
        assert "Anne" in browser.get("/account").text

    @pytest.mark.parametrize("sent", ["", "x", "[]", "{}", "1"])
    def test_what_is_none_is_refused(self, site: Site, anne: Member, sent: str) -> None:
        browser = Browser(site)
        assert browser.send(forms(browser.get("/login"))["/login/passkey"], passkey=sent).status_code == 403

    def test_after_the_password(self, site: Site, anne: Member, key: Authenticator) -> None:
        browser = Browser(site)
        page = browser.log_in()
        options = json.loads(_challenge_of(page.text, "get"))
        answer = browser.send(forms(page)["/login/factor"], passkey=json.dumps(key.get(options)))
        assert answer.status_code == 303

    def test_adding_and_removing_one(self, site: Site, anne: Member) -> None:
        browser, key = Browser(site), Authenticator()
        browser.log_in()
        page = browser.send(forms(browser.get("/account"))["/account/passkeys"])
        options = json.loads(_challenge_of(page.text, "create"))
        form = forms(page)["/account/passkeys"]
        assert browser.send(form, passkey=json.dumps(key.create(options)), label=" ").status_code == 303
        account = browser.get("/account")
        assert "A passkey" in account.text
        from tests.api.oauth.browser import _Reader

        (end,) = (f for f in _Reader(account.text).forms if f.fields.get("what") == "passkey")
        assert browser.send(end).status_code == 303
        assert "A passkey" not in browser.get("/account").text


def _challenge_of(text: str, use: str) -> str:
    from html import unescape

    return unescape(text.split(f'data-{use}="', 1)[1].split('"', 1)[0])


def deepcopy_of(key: Authenticator) -> Authenticator:
    return Authenticator(count=key.count, id=deepcopy(key.id), key=key.key, user=key.user)
