"""Accounts: opened once, entered by who knows the password, and never told apart from none by who does not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from structlog.testing import capture_logs

from domain.accounts.account_names import fold_name_as_before
from domain.accounts.account_tables import DAY
from domain.accounts.sessions import ABSOLUTE, FRESH, IDLE, MOST_SESSIONS
from domain.errors import StoreUnavailable
from tests.api.conftest import Site, refused
from tests.api.members import OTHER, PASSWORD, Watch, log_in, register, timed

K = "K" * 32


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


def body(**more: object) -> dict[str, object]:
    return {"name": "Anne", "password": PASSWORD, **more}


class TestOpening:
    def test_an_account_has_codes_and_a_session(self, site: Site) -> None:
        anne = register(site)
        assert len(set(anne.doc["codes"])) == 10
        me = anne.get("/me").json
        assert (me["name"], me["role"], me["state"], me["session"]) == ("Anne", "member", "active", True)
        assert (me["account"], me["player"]) == (anne.id, anne.doc["player"])
        assert me["account"] != me["player"]

    @pytest.mark.parametrize("name", ["anne", "ANNE", "An ne", "A.n-n_e", "\uff21nne"])
    def test_no_two_names_look_alike(self, site: Site, name: str) -> None:
        register(site)
        refused(site.post("/accounts", body(name=name)), 409, "name_taken")

    @pytest.mark.parametrize(
        "pair",
        [
            ("Bill", "BiIl"),
            ("Bill", "B1ll"),
            ("Rome", "R0me"),
            ("Mary", "Rnary"),
            ("Coco", "\u0421\u043e\u0441\u043e"),
            ("Ian", "\u0131an"),
            ("Anne", "\u0251nne"),
            ("Anne", "\u2c6dnne"),
            ("George", "\u0261eorge"),
            ("Lena", "\u029fena"),
            ("Sam", "\ua731\u1d00\u1d0d"),
            ("Lan", "\u01c0an"),
        ],
    )
    def test_nor_do_letters_that_look_alike(self, site: Site, pair: tuple[str, str]) -> None:
        register(site, pair[0])
        refused(site.post("/accounts", body(name=pair[1])), 409, "name_taken")

    def test_a_name_of_an_earlier_version_keeps_its_account(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its key told all Latin letters apart: two such names stay two, and nobody takes a third."""
        with monkeypatch.context() as patch:
            patch.setattr("domain.accounts.accounts.fold_name", fold_name_as_before)
            members = {name: register(site, name) for name in ("I\u015f\u0131l", "I\u015fil")}
        for name, member in members.items():
            assert log_in(site, name).json["account"] == member.id
        refused(site.post("/accounts", body(name="I\u015f\u0131l")), 409, "name_taken")

    @pytest.mark.parametrize("name", ["\u0410nne", "★★", "x", "77", "Ann\u0435"])
    def test_a_name_is_of_one_script_and_has_letters(self, site: Site, name: str) -> None:
        refused(site.post("/accounts", body(name=name)), 422, "unfit_name")

    @pytest.mark.parametrize("name", ["Zoë", "Мария", "山田たろう", "Łukasz 3", "Ødegård", "Νίκος", "I\u015f\u0131l"])
    def test_names_of_all_languages_are_welcome(self, site: Site, name: str) -> None:
        assert register(site, name).get("/me").json["name"] == name

    @pytest.mark.parametrize(
        "password", ["password123", "1234567890", "aaaaaaaaaaaa", "PASSWORD123", "a n n e a n n e"]
    )
    def test_a_password_is_none_of_those_that_are_guessed_first(self, site: Site, password: str) -> None:
        refused(site.post("/accounts", body(name="Anneanne", password=password)), 422, "weak_password")

    def test_and_neither_short_nor_endless(self, site: Site) -> None:
        refused(site.post("/accounts", body(password="short")), 422, "weak_password")
        refused(site.post("/accounts", body(password="long" * 65)), 422, "invalid_body")
        register(site, password="長い言葉の列です。よし" + "x" * 200)

    def test_a_repetition_gets_the_same_bytes_and_makes_nothing(self, site: Site) -> None:
        first = site.post("/accounts", body(), Idempotency_Key=K)
        again = site.post("/accounts", body(), Idempotency_Key=K)
        assert (again.data, again.headers["Idempotency-Replayed"]) == (first.data, "true")
        assert len(site.get("/me/sessions", first.json["token"]).json["items"]) == 1
        assert site.services.account_store.recovery_codes.count(first.json["account"]) == 10

    def test_with_another_password_it_is_none(self, site: Site) -> None:
        site.post("/accounts", body(), Idempotency_Key=K)
        refused(site.post("/accounts", body(password=OTHER), Idempotency_Key=K), 422, "idempotency_key_reused")

    def test_a_repetition_after_logging_out_opens_nothing(self, site: Site) -> None:
        first = site.post("/accounts", body(), Idempotency_Key=K)
        site.delete("/me/sessions", first.json["token"])
        again = site.post("/accounts", body(), Idempotency_Key=K)
        assert again.data == first.data
        refused(site.get("/me", again.json["token"]), 401, "unauthenticated")

    def test_a_repetition_after_erasing_brings_nothing_back(self, site: Site) -> None:
        first = site.post("/accounts", body(), Idempotency_Key=K)
        assert site.delete("/me", first.json["token"]).status_code == 204
        refused(site.post("/accounts", body(), Idempotency_Key=K), 422, "idempotency_key_reused")

    def test_of_many_who_ask_for_a_name_at_once_one_gets_it(self, site: Site) -> None:
        with ThreadPoolExecutor(4) as pool:
            found = list(
                pool.map(lambda _: site.app.test_client().post("/v1/accounts", json=body()).status_code, "1234")
            )
        assert sorted(found) == [201, 409, 409, 409]

    def test_names_that_are_tried_are_counted(self, site: Site) -> None:
        """Since it must be told that one is taken."""
        site.remake(rate=50.0, accounts=2)
        register(site)
        refused(site.post("/accounts", body()), 409, "name_taken")
        assert "Retry-After" in site.post("/accounts", body()).headers

    def test_an_operator_may_close_registration(self, site: Site) -> None:
        site.remake(registration="closed")
        refused(site.post("/accounts", body()), 403, "registration_closed")

    def test_no_line_of_the_log_holds_a_secret(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*args: object, **_: object) -> None:
            raise ValueError(f"{args}")

        monkeypatch.setattr(site.services.account_store.accounts, "find_by_name", fail)
        with capture_logs() as lines:
            site.post("/recovery", body(code="aaaaa-bbbbb-ccccc-ddddd"))
            log_in(site, "Annabella the Great")
        assert [line["event"] for line in lines].count("fault") == 2
        assert PASSWORD not in str(lines)
        assert "Annabella" not in str(lines)
        assert "aaaaa-bbbbb" not in str(lines)

    def test_the_tables_hold_no_secret(self, site: Site) -> None:
        anne = register(site)
        secrets = [PASSWORD, *anne.doc["codes"], anne.token, anne.personal("read")]
        tables = ("accounts", "account_names", "factors", "sessions", "personal_tokens", "account_log", "tokens")
        rows = str([site.services.ledger.execute(f"SELECT * FROM {t}") for t in tables])  # noqa: S608 - fixed names
        parts = [s.split("_", 2)[-1] for s in secrets]  # the secret part of a token has underscores of its own
        assert not [part for part in parts if part in rows or part.replace("-", "") in rows]


class TestLoggingIn:
    def test_who_knows_the_password_gets_a_session(self, site: Site) -> None:
        anne = register(site)
        entered = log_in(site, " anne", label="Tablet")
        assert entered.status_code == 201
        assert entered.json["token"] != anne.token
        listed = anne.get("/me/sessions").json["items"]
        assert [(d["label"], d["current"], d["family"], d["factors"]) for d in listed] == [
            ("Tablet", False, "ipv4", ["password"]),
            ("", True, "ipv4", ["password"]),
        ]
        assert "127.0.0" not in str(listed)

    def test_a_name_that_is_none_is_told_as_a_wrong_password_is(self, site: Site) -> None:
        register(site)
        wrong, none = log_in(site, password=OTHER), log_in(site, "Nobody")
        refused(wrong, 403, "wrong_credentials")
        assert wrong.data == none.data
        wrong, none = (site.post("/recovery", body(name=name, code="x" * 20)) for name in ("Anne", "Nobody"))
        refused(wrong, 403, "wrong_credentials")
        assert wrong.data == none.data

    def test_and_as_much_is_done_for_it(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same statements, and one slow hash of the same cost: it takes the same time."""
        register(site)
        ledger, people = site.services.ledger, site.services.account_store
        done: list[str] = []
        execute, fits = ledger.execute, people.passwords.matches

        def spied(statement: str, params: object = ()) -> object:
            done.append(statement)
            return execute(statement, params)  # type: ignore[arg-type] # as it is called

        def hashed(kept: str, password: str) -> bool:
            done.append("hash")
            return fits(kept, password)

        monkeypatch.setattr(ledger, "execute", spied)
        monkeypatch.setattr(people.passwords, "matches", hashed)
        log_in(site, password=OTHER)
        wrong = done.copy()
        done.clear()
        log_in(site, "Nobody")
        assert done == wrong
        assert done.count("hash") == 1

    def test_a_session_ends_when_nobody_uses_it_and_at_last(self, site: Site, watch: Watch) -> None:
        anne = register(site)
        for _ in range(6):
            watch.now += IDLE - DAY
            assert anne.get("/me").status_code == 200
        watch.now += ABSOLUTE - 6 * (IDLE - DAY)
        refused(anne.get("/me"), 401, "unauthenticated")
        entered = log_in(site).json["token"]
        watch.now += IDLE
        refused(site.get("/me", entered), 401, "unauthenticated")
        assert site.services.account_store.sessions.list_sessions(anne.id) == []

    def test_where_nothing_can_be_written_it_goes_on_reading(
        self, site: Site, watch: Watch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        anne = register(site)
        ledger, execute = site.services.ledger, site.services.ledger.execute

        def full(statement: str, params: object = ()) -> object:
            if not statement.lstrip().startswith("SELECT"):
                raise StoreUnavailable("database or disk is full")
            return execute(statement, params)  # type: ignore[arg-type] # as it is called

        watch.now += DAY
        monkeypatch.setattr(ledger, "execute", full)
        assert anne.get("/me").status_code == 200

    def test_an_account_has_so_many_devices(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domain.accounts.sessions.MOST_SESSIONS", 3)
        anne = register(site)
        tokens = [log_in(site).json["token"] for _ in range(3)]
        refused(anne.get("/me"), 401, "unauthenticated")
        assert [site.get("/me", t).status_code for t in tokens] == [200] * 3
        assert MOST_SESSIONS > 3

    def test_one_device_is_logged_out_or_all(self, site: Site) -> None:
        anne = register(site)
        second, third = (log_in(site).json["token"] for _ in range(2))
        other = register(site, "Bob")
        mine = anne.get("/me/sessions").json["items"]
        current = next(d["id"] for d in mine if d["current"])
        refused(other.delete(f"/me/sessions/{current}"), 404, "not_found")
        gone = next(d["id"] for d in mine if d["id"] == second.split("_")[1])
        assert anne.delete(f"/me/sessions/{gone}").status_code == 204
        refused(anne.delete(f"/me/sessions/{gone}"), 404, "not_found")
        refused(site.get("/me", second), 401, "unauthenticated")
        assert site.delete("/me/sessions", third).status_code == 204
        refused(anne.get("/me"), 401, "unauthenticated")
        assert other.get("/me").status_code == 200

    def test_showing_the_password_again_gives_it_another_token(self, site: Site) -> None:
        """The session stays: its device, its form, its streams."""
        anne = register(site)
        (before,), old = anne.get("/me/sessions").json["items"], anne.token
        new = anne.prove().json["token"]
        assert new != old
        refused(site.get("/me", old), 401, "unauthenticated")
        (after,) = anne.get("/me/sessions").json["items"]
        assert (after["id"], after["current"]) == (before["id"], True)

    def test_a_password_that_does_not_fit_changes_no_token(self, site: Site) -> None:
        anne = register(site)
        refused(anne.post("/me/proofs", {"password": OTHER}), 403, "wrong_credentials")
        assert anne.get("/me").status_code == 200

    def test_of_one_that_ended_meanwhile_no_token_is_made(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        anne = register(site)
        people = site.services.account_store
        real = people.passwords.matches

        def slow(kept: str, password: str) -> bool:
            people.sessions.end(anne.id)
            return real(kept, password)

        monkeypatch.setattr(people.passwords, "matches", slow)
        refused(anne.post("/me/proofs", {"password": PASSWORD}), 401, "unauthenticated")
        assert people.sessions.list_sessions(anne.id) == []

    def test_logging_in_ends_the_session_that_is_shown(self, site: Site) -> None:
        anne, bob = register(site), register(site, "Bob")
        personal = anne.personal("read")
        for shown in (anne.token, bob.token):
            entered = site.post("/sessions", {"name": "Anne", "password": PASSWORD}, shown)
            assert entered.status_code == 201
            refused(site.get("/me", shown), 401, "unauthenticated")
            assert site.get("/me", entered.json["token"]).status_code == 200
        assert site.post("/sessions", {"name": "Anne", "password": PASSWORD}, personal).status_code == 201
        assert site.get("/me", personal).status_code == 200

    def test_logging_in_in_vain_ends_nothing(self, site: Site) -> None:
        anne = register(site)
        refused(site.post("/sessions", {"name": "Anne", "password": OTHER}, anne.token), 403, "wrong_credentials")
        assert anne.get("/me").status_code == 200

    def test_who_logs_out_is_forgotten_by_the_browser(self, site: Site) -> None:
        """Not its cookies, which end one by one; nor by who has logged out another device."""
        anne = register(site)
        another = log_in(site).json["token"]
        said = [anne.delete(f"/me/sessions/{token.split('_')[1]}") for token in (another, anne.token)]
        assert [answer.headers.get("Clear-Site-Data") for answer in said] == [None, '"cache", "storage"']
        everywhere = site.delete("/me/sessions", log_in(site).json["token"])
        assert everywhere.headers["Clear-Site-Data"] == '"cache", "storage"'


class TestPasswords:
    def test_a_new_one_ends_all_sessions_but_the_one_it_gives(self, site: Site) -> None:
        anne = register(site)
        second = log_in(site).json["token"]
        refused(anne.post("/me/password", {"current": OTHER, "password": OTHER}), 403, "wrong_credentials")
        changed = anne.post("/me/password", {"current": PASSWORD, "password": OTHER})
        assert changed.status_code == 201
        for token in (anne.token, second):
            refused(site.get("/me", token), 401, "unauthenticated")
        assert site.get("/me", changed.json["token"]).status_code == 200
        refused(log_in(site), 403, "wrong_credentials")
        assert log_in(site, password=OTHER).status_code == 201

    def test_a_login_that_was_on_its_way_meanwhile_is_none(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        anne = register(site)
        people = site.services.account_store
        real = people.passwords.matches

        def slow(kept: str, password: str) -> bool:
            monkeypatch.setattr(people.passwords, "matches", real)
            assert anne.post("/me/password", {"current": PASSWORD, "password": OTHER}).status_code == 201
            return real(kept, password)

        monkeypatch.setattr(people.passwords, "matches", slow)
        refused(log_in(site), 403, "wrong_credentials")

    def test_a_code_sets_a_new_one_once(self, site: Site) -> None:
        anne = register(site)
        token = anne.personal("read")
        code, *others = anne.doc["codes"]
        ask = {"name": "Anne", "code": code.upper().replace("-", ""), "password": OTHER}
        found = site.post("/recovery", ask)
        assert found.status_code == 201
        for old in (anne.token, token):
            refused(site.get("/me", old), 401, "unauthenticated")
        refused(site.post("/recovery", ask | {"password": PASSWORD}), 403, "wrong_credentials")
        assert log_in(site, password=OTHER).status_code == 201
        assert site.post("/recovery", ask | {"code": others[0]}).status_code == 201

    def test_of_two_who_show_one_code_at_once_one_is_let_in(self, site: Site) -> None:
        ask = {"name": "Anne", "code": register(site).doc["codes"][0]}
        words = [f"{word} and a long tail" for word in ("first", "second", "third")]

        def recover(word: str) -> int:
            return int(site.app.test_client().post("/v1/recovery", json=ask | {"password": word}).status_code)

        with ThreadPoolExecutor(3) as pool:
            assert sorted(pool.map(recover, words)) == [201, 403, 403]

    def test_new_codes_end_the_old_ones(self, site: Site) -> None:
        anne = register(site)
        made = anne.post("/me/recovery-codes")
        assert made.status_code == 201
        old, new = anne.doc["codes"][0], made.json["codes"][0]
        ask = {"name": "Anne", "password": OTHER}
        refused(site.post("/recovery", ask | {"code": old}), 403, "wrong_credentials")
        assert site.post("/recovery", ask | {"code": new}).status_code == 201

    def test_what_is_dangerous_needs_a_password_shown_lately(self, site: Site, watch: Watch) -> None:
        anne, table = register(site), site.table("orders@1", 3, start=False)
        watch.now += FRESH
        ask: list[Callable[[], object]] = [
            lambda: anne.post("/me/tokens", {"label": "x", "scopes": ["read"]}),
            lambda: anne.post("/me/recovery-codes"),
            lambda: anne.put("/me/name", {"name": "Zoe"}),
            lambda: anne.post("/me/claims", {"token": table.tokens[0]}),
            lambda: anne.delete("/me"),
        ]
        for each in ask:
            refused(each(), 403, "password_required")
        refused(anne.post("/me/proofs", {"password": OTHER}), 403, "wrong_credentials")
        refused(ask[0](), 403, "password_required")
        anne.prove()
        assert [each().status_code for each in ask] == [201, 201, 200, 200, 204]  # type: ignore[attr-defined] # answers
