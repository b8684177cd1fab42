"""A lost password: a code by mail to the confirmed address, or from the operator, in place of the old one."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from domain.accounts.recovery_codes import FOR_ALL, FOR_PASSWORD
from domain.notifications.email_subscriptions import CODES_A_DAY, EmailPreferences
from tests.api.conftest import Site, refused
from tests.api.members import OTHER, PASSWORD, Member, register
from tests.api.oauth.browser import Browser


@pytest.fixture
def anne(site: Site) -> Member:
    site.remake(mail=True)
    member = register(site, "Anne")
    confirm(site, member)
    return member


def confirm(site: Site, member: Member, *, is_confirmed: bool = True) -> None:
    boxes = site.services.notifications.email_subscriptions
    boxes.save(member.id, EmailPreferences("anne@example.org"), 0, [])
    if is_confirmed:
        site.services.ledger.execute("UPDATE mailboxes SET state = 'on' WHERE account = ?", (member.id,))


def mailed(site: Site) -> list[str]:
    """The codes sent so far, the oldest first."""
    ledger = site.services.ledger
    rows = ledger.execute("SELECT id, box FROM deliveries WHERE type = 'mail.recovery' ORDER BY made, id")
    boxes = [ledger.keys.open("notices", f"delivery|{id_}", bytes.fromhex(box)) for id_, box in rows]
    return [json.loads(box)["data"]["code"] for box in boxes]


def ask(site: Site, name: str = "Anne") -> Any:
    return site.post("/recovery/mails", {"name": name})


def recover(site: Site, code: str, password: str = OTHER, **more: Any) -> Any:
    return site.post("/recovery", {"name": "Anne", "code": code, "password": password, **more})


def test_code_sets_a_new_password_once_and_ends_everything_else(site: Site, anne: Member) -> None:
    token = anne.personal("read")
    assert ask(site).status_code == 204
    (code,) = mailed(site)
    answer = recover(site, code)
    assert answer.status_code == 201, answer.text
    for ended in (anne.token, token):
        assert site.get("/me", ended).status_code == 401
    refused(site.post("/sessions", {"name": "Anne", "password": PASSWORD}), 403, "wrong_credentials")
    assert site.post("/sessions", {"name": "Anne", "password": OTHER}).status_code == 201
    refused(recover(site, code, "another long sentence"), 403, "wrong_credentials")
    log = [each["what"] for each in site.get("/me/audit", answer.json["token"]).json["items"]]
    assert ("recovered" in log, "recovery_mailed" in log) == (True, True)
    assert code not in str(log)


def test_confirmed_address_alone_gets_one_and_nobody_learns(site: Site, anne: Member) -> None:
    bob, chloe = register(site, "Bob"), register(site, "Chloe")
    confirm(site, bob, is_confirmed=False)
    answers = [ask(site, name) for name in ("Anne", "Bob", "Chloe", "Nobody")]
    assert {(answer.status_code, answer.data) for answer in answers} == {(204, b"")}
    names = [sorted(answer.headers.keys()) for answer in answers]
    assert names == [names[0]] * 4
    assert len(mailed(site)) == 1
    assert chloe.get("/me").status_code == 200


def test_a_code_is_good_for_a_day_and_until_the_next_one(
    site: Site, anne: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = site.services.account_store.recovery_codes
    first, rows = store.issue(anne.id, FOR_PASSWORD)
    store.store(anne.id, rows)
    second, rows = store.issue(anne.id, FOR_PASSWORD)
    store.store(anne.id, rows)
    assert (store.find_kind(anne.id, first), store.find_kind(anne.id, second.upper())) == ("", FOR_PASSWORD)
    monkeypatch.setattr(store, "_now", lambda: int(time.time() * 1000) + 10**15)
    assert store.find_kind(anne.id, second) == ""


def test_a_flood_sends_few_and_leaves_one_that_works(site: Site, anne: Member) -> None:
    """Five in a day, which is as long as the last one is good: nobody shuts the owner out by asking."""
    for _ in range(CODES_A_DAY + 3):
        assert ask(site).status_code == 204
        site.services.ledger.execute("UPDATE mail_asked SET at = at - 60000")
    codes = mailed(site)
    assert len(codes) == CODES_A_DAY
    assert recover(site, codes[-1]).status_code == 201


def test_a_second_request_within_a_minute_sends_nothing(site: Site, anne: Member) -> None:
    for _ in range(3):
        assert ask(site).status_code == 204
    assert len(mailed(site)) == 1


def test_a_second_factor_is_still_asked_for(site: Site, anne: Member) -> None:
    with_factor(site, anne)
    ask(site)
    (code,) = mailed(site)
    refused(recover(site, code), 403, "second_factor_required")
    refused(recover(site, code, factor=code), 403, "wrong_credentials")
    assert recover(site, code, factor=anne.doc["codes"][0]).status_code == 201
    assert site.services.account_store.second_factors.list_kinds(anne.id) == ["totp"]


def test_a_code_from_a_mail_is_no_second_factor(site: Site, anne: Member) -> None:
    with_factor(site, anne)
    ask(site)
    (code,) = mailed(site)
    body = {"name": "Anne", "password": PASSWORD, "factor": code}
    refused(site.post("/sessions", body), 403, "wrong_credentials")


def test_a_code_from_the_operator_ends_the_second_factors(site: Site, anne: Member) -> None:
    with_factor(site, anne)
    store = site.services.account_store.recovery_codes
    code, rows = store.issue(anne.id, FOR_ALL)
    store.store(anne.id, rows)
    ask(site)  # takes nothing from the operator's
    assert recover(site, code).status_code == 201
    assert site.services.account_store.second_factors.list_kinds(anne.id) == []
    assert site.post("/sessions", {"name": "Anne", "password": OTHER}).status_code == 201
    refused(recover(site, mailed(site)[0]), 403, "wrong_credentials")


def test_another_password_ends_what_was_sent(site: Site, anne: Member) -> None:
    ask(site)
    (code,) = mailed(site)
    body = {"current": PASSWORD, "password": OTHER}
    assert anne.post("/me/password", body).status_code == 201
    refused(recover(site, code, "another long sentence"), 403, "wrong_credentials")


def test_a_service_without_mail_says_so(site: Site) -> None:
    refused(ask(site), 409, "mail_off")


def with_factor(site: Site, member: Member) -> None:
    site.services.ledger.execute("INSERT INTO factors VALUES (?, 'totp', '', '', 0)", (member.id,))


class TestPages:
    def test_a_code_from_the_account_or_a_mail_sets_the_password(self, site: Site, anne: Member) -> None:
        browser = Browser(site).client
        page = browser.get("/recovery")
        assert "I have no code" in page.text
        stamps = re.findall(r'name="form" value="([^"]+)"', page.text)
        sent = browser.post("/recovery", data={"form": stamps[1], "act": "mail", "name": "Anne"})
        assert "a code is on its way there" in sent.text
        (code,) = mailed(site)
        form = {"form": stamps[0], "name": "Anne", "code": "aaaaa-aaaaa-aaaaa-aaaaa-aaaaaa", "password": OTHER}
        wrong = browser.post("/recovery", data=form)
        assert (wrong.status_code, 'role="alert"' in wrong.text) == (403, True)
        done = browser.post("/recovery", data={**form, "code": code})
        assert (done.status_code, done.headers["Location"]) == (303, "/account")
        assert "Devices that are logged in" in browser.get("/account").text

    def test_without_mail_the_page_names_the_operator(self, site: Site) -> None:
        text = site.client.get("/recovery").text
        assert ("ask the operator" in text, "I have no code" in text) == (True, False)
        assert 'href="/recovery"' in site.client.get("/login").text
