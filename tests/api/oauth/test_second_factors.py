"""Second factors: codes of an authenticator, and recovery codes in their place."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from structlog.testing import capture_logs

from domain.accounts.second_factors import SECONDS
from domain.accounts.sessions import FRESH
from tests.api.conftest import Site, refused
from tests.api.members import OTHER, PASSWORD, Member, Watch, log_in, promoted, register, timed

STEP = SECONDS * 1000


@pytest.fixture
def watch(site: Site) -> Watch:
    return timed(site)


@pytest.fixture
def anne(site: Site, watch: Watch) -> Member:
    return register(site)


def codes_of(secret: str, watch: Watch, *, after: int = 0) -> list[str]:
    """What an authenticator shows now and in the next step; `after` so many steps."""
    from base64 import b32decode

    totp = TOTP(b32decode(secret), 6, SHA1(), SECONDS)  # noqa: S303 - what authenticators use
    return [totp.generate(watch.now // 1000 + (after + n) * SECONDS).decode() for n in range(2)]


def enrolled(member: Member, watch: Watch) -> str:
    """The secret of an authenticator that is asked for from now on; its first code was used."""
    made = member.post("/me/factors/totp")
    assert made.status_code == 201, made.text
    shown = member.post("/me/factors/totp/confirmations", {"code": codes_of(made.json["secret"], watch)[0]})
    assert shown.status_code == 201, shown.text
    return str(made.json["secret"])


class TestSettingUp:
    def test_it_counts_once_a_code_was_shown(self, site: Site, anne: Member, watch: Watch) -> None:
        made = anne.post("/me/factors/totp").json
        assert made["uri"] == (
            f"otpauth://totp/Annals:Anne?digits=6&secret={made['secret']}&algorithm=SHA1&issuer=Annals&period=30"
        )
        assert anne.get("/me/factors").json["items"] == []
        assert log_in(site).status_code == 201
        refused(anne.post("/me/factors/totp/confirmations", {"code": "000000"}), 403, "wrong_credentials")
        shown = anne.post("/me/factors/totp/confirmations", {"code": codes_of(made["secret"], watch)[0]})
        assert (shown.status_code, shown.json["kind"]) == (201, "totp")
        assert [each["kind"] for each in anne.get("/me/factors").json["items"]] == ["totp"]
        refused(anne.post("/me/factors/totp"), 409, "too_many")

    def test_its_secret_rests_sealed(self, site: Site, anne: Member, watch: Watch) -> None:
        from base64 import b32decode

        secret = enrolled(anne, watch)
        kept = str(site.services.ledger.execute("SELECT secret FROM factors"))
        assert secret not in kept
        assert b32decode(secret).hex() not in kept
        assert secret not in anne.get("/me/data").text

    def test_sessions_that_were_begun_without_it_end(self, site: Site, anne: Member, watch: Watch) -> None:
        other = log_in(site).json["token"]
        enrolled(anne, watch)
        refused(site.get("/me", other), 401, "unauthenticated")
        assert anne.get("/me").status_code == 200

    def test_another_proposal_takes_the_place_of_one_before(self, anne: Member, watch: Watch) -> None:
        first, second = (anne.post("/me/factors/totp").json["secret"] for _ in range(2))
        code = {"code": codes_of(first, watch)[0]}
        refused(anne.post("/me/factors/totp/confirmations", code), 403, "wrong_credentials")
        code = {"code": codes_of(second, watch)[0]}
        assert anne.post("/me/factors/totp/confirmations", code).status_code == 201
        refused(anne.post("/me/factors/totp/confirmations", code), 403, "wrong_credentials")

    def test_it_needs_a_password_shown_lately(self, site: Site, anne: Member, watch: Watch) -> None:
        refused(site.post("/me/factors/totp", None, anne.personal("play")), 403, "session_required")
        made = anne.post("/me/factors/totp").json
        watch.now += FRESH
        refused(anne.post("/me/factors/totp"), 403, "password_required")
        code = {"code": codes_of(made["secret"], watch)[0]}
        refused(anne.post("/me/factors/totp/confirmations", code), 403, "password_required")


class TestLoggingIn:
    def test_the_password_alone_is_not_enough(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        problem = refused(log_in(site), 403, "second_factor_required")
        assert problem["factors"] == ["totp", "recovery"]
        entered = log_in(site, factor=codes_of(secret, watch)[1])
        assert entered.status_code == 201, entered.text
        (found,) = (s for s in site.get("/me/sessions", entered.json["token"]).json["items"] if s["current"])
        assert found["factors"] == ["password", "totp"]

    def test_nor_the_code_without_the_password(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        refused(log_in(site, password=OTHER, factor=codes_of(secret, watch)[1]), 403, "wrong_credentials")
        assert log_in(site, factor=codes_of(secret, watch)[1]).status_code == 201

    def test_a_code_counts_once(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        refused(log_in(site, factor=codes_of(secret, watch)[0]), 403, "wrong_credentials")
        code = codes_of(secret, watch)[1]
        assert log_in(site, factor=f" {code[:3]} {code[3:]}").status_code == 201
        refused(log_in(site, factor=code), 403, "wrong_credentials")

    def test_clocks_may_differ_by_a_step(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        watch.now += 10 * STEP
        for after in (-2, 2):
            refused(log_in(site, factor=codes_of(secret, watch, after=after)[0]), 403, "wrong_credentials")
        for after in (-1, 0, 1):
            assert log_in(site, factor=codes_of(secret, watch, after=after)[0]).status_code == 201, after
        for after in (-1, 0, 1):
            refused(log_in(site, factor=codes_of(secret, watch, after=after)[0]), 403, "wrong_credentials")

    @pytest.mark.parametrize(
        "code", ["00000", "0000000", "\u0661\u0662\u0663\u0664\u0665\u0666", "x", "-" * 40, "é" * 6]
    )
    def test_what_is_no_code_is_refused(self, site: Site, anne: Member, watch: Watch, code: str) -> None:
        enrolled(anne, watch)
        refused(log_in(site, factor=code), 403, "wrong_credentials")

    def test_a_recovery_code_stands_in_for_it_once(self, site: Site, anne: Member, watch: Watch) -> None:
        enrolled(anne, watch)
        assert log_in(site, factor=anne.doc["codes"][0]).status_code == 201
        refused(log_in(site, factor=anne.doc["codes"][0]), 403, "wrong_credentials")
        assert anne.get("/me").json["codes"] == 9

    def test_guesses_wait_longer_and_longer(self, site: Site, anne: Member, watch: Watch) -> None:
        enrolled(anne, watch)
        found = [log_in(site, factor="000000").status_code for _ in range(8)]
        assert (found[0], found[-1]) == (403, 429)

    def test_asking_what_is_wanted_makes_no_guess_good(self, site: Site, anne: Member, watch: Watch) -> None:
        """The right password alone forgives no failure: else guesses at codes would cost nothing."""
        enrolled(anne, watch)
        found = []
        for _ in range(8):
            found.append(log_in(site, factor="000000").status_code)
            log_in(site)
        assert found[-1] == 429

    def test_who_has_none_is_asked_for_none(self, site: Site, anne: Member) -> None:
        assert log_in(site).status_code == 201
        anne.prove()


class TestWithAFactor:
    def test_recovery_asks_for_it_too(self, site: Site, anne: Member, watch: Watch) -> None:
        """Else a recovery code alone would be a way around it."""
        secret, codes = enrolled(anne, watch), anne.doc["codes"]
        body = {"name": "Anne", "code": codes[0], "password": OTHER}
        refused(site.post("/recovery", body), 403, "second_factor_required")
        refused(site.post("/recovery", body | {"factor": codes[0].replace("-", "")}), 403, "wrong_credentials")
        refused(site.post("/recovery", body | {"factor": "000000"}), 403, "wrong_credentials")
        assert anne.get("/me").json["codes"] == 10
        assert site.post("/recovery", body | {"factor": codes_of(secret, watch)[1]}).status_code == 201
        body = {"name": "Anne", "code": codes[1], "password": PASSWORD, "factor": codes[2]}
        assert site.post("/recovery", body).status_code == 201

    def test_showing_the_password_again_asks_for_it_too(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        watch.now += FRESH
        refused(anne.delete("/me/factors/totp"), 403, "password_required")
        refused(anne.post("/me/proofs", {"password": PASSWORD}), 403, "second_factor_required")
        refused(anne.post("/me/proofs", {"password": PASSWORD, "factor": "000000"}), 403, "wrong_credentials")
        refused(anne.delete("/me/factors/totp"), 403, "password_required")
        anne.prove(factor=codes_of(secret, watch)[0])
        assert anne.delete("/me/factors/totp").status_code == 204
        refused(anne.delete("/me/factors/totp"), 404, "not_found")
        assert log_in(site).status_code == 201

    def test_another_password_asks_for_it_too(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        body = {"current": PASSWORD, "password": OTHER}
        refused(anne.post("/me/password", body), 403, "second_factor_required")
        assert anne.post("/me/password", body | {"factor": codes_of(secret, watch)[1]}).status_code == 201

    def test_it_goes_with_the_account(self, site: Site, anne: Member, watch: Watch) -> None:
        enrolled(anne, watch)
        assert anne.delete("/me").status_code == 204
        assert site.services.ledger.execute("SELECT kind FROM factors") == []

    def test_what_happens_to_it_stands_in_the_log(self, site: Site, anne: Member, watch: Watch) -> None:
        with capture_logs() as lines:
            secret = enrolled(anne, watch)
            log_in(site, factor="000000")
            anne.delete("/me/factors/totp")
        found = [each["what"] for each in anne.get("/me/audit").json["items"]]
        assert found[:3] == ["factor_removed", "factor_refused", "factor_added"]
        assert secret not in str(lines)

    def test_a_change_of_the_key_leaves_it_readable(self, site: Site, anne: Member, watch: Watch) -> None:
        secret = enrolled(anne, watch)
        site.services.ledger.keys.add_master_key(bytes(31) + b"x")
        site.services.ledger.keys.complete_rotation()
        assert log_in(site, factor=codes_of(secret, watch)[1]).status_code == 201


class TestRoles:
    @pytest.mark.parametrize(
        ("setting", "role", "asked"),
        [
            ("none", "admin", False),
            ("admin", "moderator", False),
            ("admin", "admin", True),
            ("moderator", "moderator", True),
        ],
    )
    def test_a_role_may_ask_for_one(self, site: Site, watch: Watch, setting: str, role: str, asked: bool) -> None:
        site.remake(second_factor=setting)
        judge = promoted(site, "Judge", role)
        if asked:
            refused(judge.get("/reports"), 403, "factor_missing")
            refused(site.get("/reports", judge.personal("admin")), 403, "factor_missing")
            enrolled(judge, watch)
        assert judge.get("/reports").status_code == 200
        assert site.get("/reports", judge.personal("admin")).status_code == 200
