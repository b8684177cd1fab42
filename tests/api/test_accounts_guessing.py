"""Guesses at passwords: each waits longer, strangers keep nobody out, and slow hashes are few at once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.http import login_throttle
from api.http.login_throttle import FREE_FAILURES, FailedAttempts
from domain.accounts import audit_log
from domain.accounts.passwords import Passwords
from domain.errors import Busy
from tests.api.conftest import Site, refused
from tests.api.members import OTHER, PASSWORD, log_in, register, timed


class TestGuessing:
    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        now = [1000.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        return now

    def test_each_failure_makes_the_next_guess_wait_longer(self, clock: list[float]) -> None:
        found = FailedAttempts()
        waits = []
        for _ in range(FREE_FAILURES + 12):
            waits.append(found.begin("a"))
            clock[0] += found.begin("a") if waits[-1] == 0 else 0
        assert waits[:FREE_FAILURES] == [0.0] * FREE_FAILURES
        paused: list[float] = []
        while len(paused) < 12:
            wait = found.begin("a")
            paused += [wait] if wait else []
            clock[0] += wait
        assert paused == sorted(paused)
        assert paused[-1] == login_throttle.LONGEST_WAIT
        assert found.begin("b") == 0

    def test_they_are_forgotten_with_time(self, clock: list[float]) -> None:
        found = FailedAttempts()
        for _ in range(FREE_FAILURES):
            assert found.begin("a") == 0
        assert found.begin("a") > 0
        clock[0] += login_throttle.LONGEST_WAIT
        assert found.begin("a") == 0

    def test_guesses_at_a_name_are_slowed_wherever_they_come_from(self, site: Site, clock: list[float]) -> None:
        register(site)
        for n in range(FREE_FAILURES):
            where = {"REMOTE_ADDR": f"192.0.2.{n}"}
            ask = {"name": "Anne", "password": OTHER}
            assert site.client.post("/v1/sessions", json=ask, environ_overrides=where).status_code == 403
        slowed = log_in(site)
        refused(slowed, 429, "too_many_requests")
        assert slowed.headers["Retry-After"] == "1"
        clock[0] += 2
        assert log_in(site).status_code == 201

    def test_a_known_device_keeps_its_way(self, site: Site, clock: list[float]) -> None:
        anne = register(site)
        for _ in range(FREE_FAILURES + 1):
            log_in(site, password=OTHER)
        refused(log_in(site), 429, "too_many_requests")
        assert log_in(site, device=anne.doc["device"]).status_code == 201
        other = register(site, "Bob").doc["device"]
        refused(log_in(site, device=other), 429, "too_many_requests")
        for _ in range(FREE_FAILURES):
            refused(log_in(site, password=OTHER, device=anne.doc["device"]), 403, "wrong_credentials")
        refused(log_in(site, device=anne.doc["device"]), 429, "too_many_requests")

    def test_so_many_may_fail_in_a_day_whatever_a_process_remembers(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """From any number of networks, through all processes; whoever has a device, a code or a passkey gets in."""
        monkeypatch.setattr(audit_log, "MOST_REFUSED", 3)
        watch = timed(site)
        anne = register(site)
        begun = watch.now
        for n in range(3):
            where = {"REMOTE_ADDR": f"2001:db8:{n}::1"}
            ask = {"name": "Anne", "password": OTHER}
            assert site.client.post("/v1/sessions", json=ask, environ_overrides=where).status_code == 403
            site.remake()
        slowed = log_in(site)
        refused(slowed, 429, "too_many_requests")
        assert audit_log.WITHIN // 1000 - 10 <= int(slowed.headers["Retry-After"]) <= audit_log.WITHIN // 1000
        assert log_in(site, device=anne.doc["device"]).status_code == 201
        recovered = site.post("/recovery", {"name": "Anne", "code": anne.doc["codes"][0], "password": OTHER})
        assert recovered.status_code == 201
        watch.now = begun + audit_log.WITHIN
        refused(log_in(site, password=OTHER), 429, "too_many_requests")
        watch.now += 10_000
        assert log_in(site, password=OTHER).status_code == 201

    def test_a_name_that_is_none_is_slowed_as_well(self, site: Site, clock: list[float]) -> None:
        for _ in range(FREE_FAILURES):
            refused(log_in(site, "Nobody"), 403, "wrong_credentials")
        refused(log_in(site, "n0body"), 429, "too_many_requests")

    def test_an_own_account_does_not_pay_for_guesses_at_others(self, site: Site, clock: list[float]) -> None:
        register(site, "Mallory")
        for n in range(FREE_FAILURES):
            assert log_in(site, "Mallory").status_code == 201
            refused(log_in(site, f"Victim {'abcdefg'[n]}"), 403, "wrong_credentials")
        refused(log_in(site, "Victim z"), 429, "too_many_requests")

    def test_what_could_not_be_looked_at_was_no_guess(
        self, site: Site, clock: list[float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        register(site)

        def busy(*_: object) -> bool:
            raise Busy

        with monkeypatch.context() as patch:
            patch.setattr(site.services.account_store.passwords, "matches", busy)
            for _ in range(2 * FREE_FAILURES):
                refused(log_in(site), 503, "busy")
        assert log_in(site).status_code == 201

    def test_who_has_a_session_alone_guesses_no_password(self, site: Site, clock: list[float]) -> None:
        anne = register(site)
        for _ in range(FREE_FAILURES):
            refused(anne.post("/me/proofs", {"password": OTHER}), 403, "wrong_credentials")
        refused(anne.post("/me/proofs", {"password": PASSWORD}), 429, "too_many_requests")


class TestSlowHashes:
    def test_few_are_made_at_once_and_nothing_else_waits(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who comes when all places are taken is told to come again."""
        passwords = Passwords(at_once=1, waiting=1, patience=30)
        begun, go_on = threading.Event(), threading.Event()

        class Hasher:
            def hash(self, _: str) -> str:
                begun.set()
                assert go_on.wait(30)
                return "kept"

        monkeypatch.setattr(passwords, "_hasher", Hasher())
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(passwords.make_hash, PASSWORD)
            assert begun.wait(30)
            second = pool.submit(passwords.make_hash, PASSWORD)
            while passwords._places.in_use < 2:
                pass
            with pytest.raises(Busy):
                passwords.make_hash(PASSWORD)
            monkeypatch.setattr(site.services.account_store, "passwords", passwords)
            answer = site.post("/accounts", {"name": "Anne", "password": PASSWORD})
            refused(answer, 503, "busy")
            assert answer.headers["Retry-After"] == "1"
            assert site.get("/games").status_code == 200
            go_on.set()
            assert (first.result(30), second.result(30)) == ("kept", "kept")
        assert passwords._places.in_use == 0

    def test_a_place_is_free_again_after_a_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        passwords = Passwords(at_once=1, waiting=0)
        hashed = passwords.make_hash(PASSWORD)
        for _ in range(3):
            assert not passwords.matches("no hash at all", PASSWORD)
            assert not passwords.matches("", PASSWORD)
        assert passwords.matches(hashed, PASSWORD)
