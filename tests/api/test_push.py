"""Browsers told by web push, over HTTP and by the page."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from domain.notifications.push_devices import encode_point
from tests.api.conftest import Site, refused
from tests.api.game_pages import Page, Person
from tests.api.members import PASSWORD, Member, log_in, promoted, register
from tests.api.oauth.browser import Browser
from tests.api.test_tournament_pages import person

POINT = encode_point(ec.derive_private_key(17, ec.SECP256R1()).public_key())


def encoded(plain: bytes) -> str:
    return urlsafe_b64encode(plain).rstrip(b"=").decode()


NEW = {"endpoint": "https://push.example/send/1", "keys": {"p256dh": encoded(POINT), "auth": encoded(bytes(16))}}


@pytest.fixture
def anne(site: Site) -> Member:
    return register(site)


def made(who: Member, **more: Any) -> Any:
    found = who.post("/me/push", NEW | more)
    assert found.status_code == 201, found.text
    return found.json


def test_a_browser_is_listed_without_its_address(anne: Member) -> None:
    device = made(anne, name="phone", language="fr")
    assert made(anne, name="phone", language="fr")["id"] == device["id"]
    listed = anne.get("/me/push").json
    assert listed["items"] == anne.get("/me/data").json["push"]
    assert [each["id"] for each in listed["items"]] == [device["id"]]
    assert "push.example/" not in str(listed)
    assert len(listed["key"]) == 87
    assert anne.get("/me/webhooks").json["items"] == []
    assert "push_made" in [each["what"] for each in anne.get("/me/audit").json["items"]]


def test_an_endpoint_is_one_browser_in_each_spelling(site: Site, anne: Member) -> None:
    spellings = ("push.example", "PUSH.example", "push.example:443", "push.example.")
    assert len({made(anne, endpoint=f"https://{host}/send/1")["id"] for host in spellings}) == 1
    made(register(site, "Zoe"))
    assert anne.get("/me/push").json["items"] == []


def test_others_have_no_part_in_it(site: Site, anne: Member) -> None:
    device = made(anne)["id"]
    zoe = register(site, "Zoe")
    for answer in (zoe.post(f"/me/push/{device}/tests"), zoe.delete(f"/me/push/{device}")):
        refused(answer, 404, "not_found")
    assert anne.post(f"/me/push/{device}/tests").status_code == 204
    assert anne.delete(f"/me/push/{device}").status_code == 204
    refused(anne.delete(f"/me/push/{device}"), 404, "not_found")


def test_what_ends_all_sessions_ends_all_browsers(site: Site, anne: Member) -> None:
    def is_told() -> bool:
        return bool(site.services.notifications.push_devices.list_by_account(anne.id))

    made(anne)
    token = anne.post("/me/password", {"current": PASSWORD, "password": PASSWORD + "!"}).json["token"]
    assert not is_told()
    site.post("/me/push", NEW, token)
    code = {"name": "Anne", "code": anne.doc["codes"][0], "password": PASSWORD}
    token = site.post("/recovery", code).json["token"]
    assert not is_told()
    site.post("/me/push", NEW, token)
    root = promoted(site, "Root", "admin")
    assert root.delete(f"/accounts/{anne.id}/credentials").status_code == 204
    assert not is_told()
    token = log_in(site).json["token"]
    site.post("/me/push", NEW, token)
    assert is_told()
    assert site.delete("/me/sessions", token).status_code == 204
    assert not is_told()


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"endpoint": "http://push.example/1"}, "webhook_refused"),
        ({"endpoint": "https://localhost/"}, "webhook_refused"),
        ({"keys": {"p256dh": encoded(bytes(65)), "auth": NEW["keys"]["auth"]}}, "push_refused"),  # type: ignore[index]
        ({"keys": {"p256dh": "x", "auth": "y"}}, "invalid_body"),
        ({"language": "xx"}, "invalid_body"),
    ],
)
def test_what_no_browser_sends_is_refused(anne: Member, more: Any, code: str) -> None:
    refused(anne.post("/me/push", NEW | more), 422, code)


def test_the_page_keeps_tries_and_removes_a_browser(site: Site) -> None:
    register(site)
    browser = Browser(site)
    assert browser.log_in("Anne").status_code == 303
    visitor = Person(site, browser)
    page = Page(visitor.read("/account/notices").text)
    form = page.form("/notices/push")
    fields = (("endpoint", "https://push.example/2"), ("p256dh", encoded(POINT)), ("auth", encoded(bytes(16))))
    told = visitor.follow(visitor.send(form, *fields, ("name", "my phone")))
    assert "This browser tells you from now on." in told.text
    assert "my phone" in told.text
    tried = visitor.follow(visitor.send(Page(told.text).form("/notices/try_push")))
    assert "A message is on its way." in tried.text
    gone = visitor.follow(visitor.send(Page(tried.text).form("/notices/no_push")))
    assert "my phone" not in gone.text


@pytest.mark.parametrize(("seconds", "is_offered"), [(86_400, True), (60, False)])
def test_a_slow_table_offers_it_after_a_move_until_it_is_on(site: Site, seconds: int, is_offered: bool) -> None:
    anne, offer = person(site, "Anne"), "/account/notices#push"
    pace = {"seconds": {"move": seconds, "turn": seconds}}
    path = f"/games/{anne.api.post('/games', {'ruleset': 'orders@1', 'seats': 3, 'pace': pace}).json['game']}"
    assert anne.api.post(f"{path}/seats", {"seat": 0}).status_code == 201
    for seat in (1, 2):
        assert site.post(f"{path}/seats", {"seat": seat}).status_code == 201
    assert anne.api.post(f"{path}/start", {}, Annals_Role="director").status_code == 201
    assert offer not in anne.read(f"{path}?as=0").text
    (asked,) = anne.api.get(f"{path}/decisions", Annals_Role="0").json["decisions"]
    answer = {"move": {"type": "submit"}, "decision": asked["id"]}
    assert anne.api.post(f"{path}/moves", answer, Annals_Role="0").status_code == 201
    assert (offer in anne.read(f"{path}?as=0").text) == is_offered
    made(anne.api)
    assert offer not in anne.read(f"{path}?as=0").text
