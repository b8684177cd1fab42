"""Browsers told by web push: what arrives, where, and when no more."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from domain.accounts.accounts import Account
from domain.errors import AccountError
from domain.notifications.order_news import LAG
from domain.notifications.outbox import BACKOFF
from domain.notifications.push_devices import MOST, PushDevice, PushRequest, encode_point
from domain.standing_orders.order_rules import Act
from tests.notifications.conftest import Receiver, receiver
from tests.notifications.desk import Desk, anne, desk, server
from tests.notifications.test_order_news import CONTENT
from tests.notifications.test_owing import PACE, decision, submit
from tests.notifications.test_unread import LONG, resolve
from workers.notifications import producer
from workers.notifications.notice_relevance import NoticeRelevance
from workers.notifications.push_renderer import PushRenderer

__all__ = ["anne", "desk", "receiver", "server"]

OWN = ec.derive_private_key(17, ec.SECP256R1())
AUTH = bytes(range(16))


@pytest.fixture(autouse=True)
def renderer(desk: Desk) -> None:
    notices = desk.office.notices
    relevance = NoticeRelevance(desk.reader, notices.outbox.unread_messages)
    contact = "https://play.example"
    found = PushRenderer(notices.push_devices, notices.email_subscriptions, desk.describer, relevance, contact)
    desk.office.delivery_pool.push_renderer = found


def decrypt(body: bytes) -> Any:
    """Read a message as a browser does (RFC 8291), from its side of the exchange."""
    salt, size, sender, sealed = body[:16], body[20], body[21:86], body[86:]
    assert (int.from_bytes(body[16:20], "big"), size) == (4096, 65)
    shared = OWN.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
    info = b"WebPush: info\0" + encode_point(OWN.public_key()) + sender
    secret = HKDF(hashes.SHA256(), 32, AUTH, info).derive(shared)
    key, nonce = (
        HKDF(hashes.SHA256(), length, salt, f"Content-Encoding: {name}\0".encode()).derive(secret)
        for name, length in (("aes128gcm", 16), ("nonce", 12))
    )
    plain = AESGCM(key).decrypt(nonce, sealed, None)
    assert plain.endswith(b"\x02")
    return json.loads(plain[:-1])


def save(desk: Desk, who: Account, url: str, language: str = "en") -> PushDevice:
    push = PushRequest(url, encode_point(OWN.public_key()), AUTH, "phone", language)
    return desk.office.notices.push_devices.save(who.id, push, "loopback", desk.office.head(), [])


def told(desk: Desk, receiver: Receiver) -> list[Any]:
    """The messages that came since."""
    desk.pump()
    desk.send()
    found = [decrypt(body) for _, body in receiver.got]
    receiver.got.clear()
    return found


@pytest.mark.parametrize(("language", "title"), [("en", "Your turn: Sunday"), ("fr", "À vous de jouer : Sunday")])
def test_a_turn_is_told_with_nothing_of_the_game(
    desk: Desk, anne: Account, receiver: Receiver, language: str, title: str
) -> None:
    game = desk.office.table(anne, start=False, **PACE)
    desk.office.access.texts.set_card(game, anne.player, "Sunday", "")
    save(desk, anne, f"{receiver.url}/send/1", language)
    desk.office.begin(game)
    desk.pump()
    desk.send()
    headers = receiver.got[0][0]
    assert headers["content-encoding"] == "aes128gcm"
    assert int(headers["ttl"]) > 0
    token, key = headers["authorization"].removeprefix("vapid t=").split(", k=")
    assert urlsafe_b64decode(key + "=") == desk.office.notices.push_devices.load_newest_key()[1]
    claims = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))
    assert (claims["aud"], claims["sub"]) == (receiver.url, "https://play.example")
    link = f"/games/{game}"
    (doc,) = told(desk, receiver)
    assert doc == {"title": title, "body": doc["body"], "url": link, "tag": link, "lang": language}


def test_what_was_answered_meanwhile_is_not_told(desk: Desk, anne: Account, receiver: Receiver) -> None:
    game = desk.office.table(anne, start=False, **LONG)
    save(desk, anne, receiver.url)
    desk.office.begin(game)
    desk.office.owing.produce()
    submit(desk.office, game, 0)
    assert told(desk, receiver) == []
    submit(desk.office, game, 1, 2)
    resolve(desk, game)
    assert len(told(desk, receiver)) == 1


def test_news_of_an_order_replaces_no_turn(desk: Desk, anne: Account, receiver: Receiver) -> None:
    game = desk.office.table(anne, start=False)
    save(desk, anne, receiver.url)
    told(desk, receiver)
    order = desk.office.context.orders.add(game, 0, anne.player, 4, CONTENT)
    desk.office.begin(game)
    desk.office.context.orders.end(order, "attacked")
    found = told(desk, receiver)
    desk.office.time[0] += 2 * LAG
    found += told(desk, receiver)
    assert [each["tag"] for each in found] == [f"/games/{game}", f"/games/{game}#orders"]


@pytest.mark.parametrize("is_by_order", [True, False])
def test_a_decision_is_told_after_an_orders_move_alone(
    desk: Desk, anne: Account, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, is_by_order: bool
) -> None:
    """Each record opens a decision of everybody here: whoever has just moved is there, unless an order did."""
    monkeypatch.setattr(producer, "_owed_decisions", lambda loaded, *_: {f"0-{loaded.game.version}": None})
    office = desk.office
    game = office.table(anne)
    order = office.context.orders.add(game, 0, anne.player, 4, CONTENT)
    save(desk, anne, receiver.url)
    asked = decision(office, game)
    submit(office, game, 0)
    version = office.context.commands.game(game).version
    if is_by_order:
        office.context.ledger.execute(*office.context.orders.record_act(order, Act(version, asked, office.time[0])))
    office.owing.produce()
    assert [row[2] for row in office.rows()].count("turn.due") == int(is_by_order)


def test_a_browser_belongs_to_whoever_registers_it_last(desk: Desk, anne: Account, receiver: Receiver) -> None:
    zoe, store = desk.office.person("Zoe"), desk.office.notices.push_devices
    first = save(desk, anne, receiver.url)
    assert save(desk, zoe, receiver.url).id == first.id
    assert (store.list_by_account(anne.id), len(store.list_by_account(zoe.id))) == ([], 1)
    assert not store.send_test(anne.id, first.id)
    assert not store.remove(anne.id, first.id, [])
    assert store.send_test(zoe.id, first.id)
    assert told(desk, receiver)[0]["url"] == "/account/notices#push"


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_has_ended_it_is_told_no_more(
    desk: Desk, anne: Account, receiver: Receiver, status: int
) -> None:
    store = desk.office.notices.push_devices
    device = save(desk, anne, receiver.url)
    receiver.answer = lambda *_: status
    store.send_test(anne.id, device.id)
    desk.send()
    assert store.list_by_account(anne.id) == []
    assert [each.what for each in desk.office.people.audit_log.list_entries(anne.id)] == ["push_off"]
    receiver.answer = lambda *_: 201
    assert save(desk, anne, receiver.url).id == device.id
    receiver.answer = lambda *_: status
    store.send_test(anne.id, device.id)
    desk.send()
    save(desk, anne, f"{receiver.url}/another")  # what has ended leaves nothing
    rows = desk.office.context.ledger.execute("SELECT webhook FROM push_devices", ())
    assert [row[0] for row in rows] == [each.id for each in store.list_by_account(anne.id)]


def test_a_push_service_that_fails_is_asked_again(desk: Desk, anne: Account, receiver: Receiver) -> None:
    store = desk.office.notices.push_devices
    receiver.answer = lambda *_: 503
    store.send_test(anne.id, save(desk, anne, receiver.url).id)
    desk.send()
    receiver.answer = lambda *_: 201
    receiver.got.clear()
    desk.office.time[0] += 2 * BACKOFF[0]
    assert len(told(desk, receiver)) == 1


def test_older_browsers_are_told_with_the_key_that_they_know(desk: Desk, anne: Account, receiver: Receiver) -> None:
    store = desk.office.notices.push_devices
    before = store.load_newest_key()
    device = save(desk, anne, receiver.url)
    store.rotate_key()
    assert store.load_newest_key() != before
    target = store.find_target(device.id)
    assert target is not None
    assert encode_point(target.signing_key.public_key()) == before[1]
    assert (store.find_target("nobody"), target.auth) == (None, AUTH)


def test_what_no_browser_gives_is_refused(desk: Desk, anne: Account, receiver: Receiver) -> None:
    store, point = desk.office.notices.push_devices, encode_point(OWN.public_key())
    for url, key, auth, code in (
        (receiver.url, bytes(65), AUTH, "push_refused"),
        (receiver.url, point[:64], AUTH, "push_refused"),
        (receiver.url, point, b"short", "push_refused"),
        ("http://10.0.0.1/", point, AUTH, "webhook_refused"),
    ):
        with pytest.raises(AccountError) as refusal:
            store.save(anne.id, PushRequest(url, key, auth, "", "en"), "loopback", 0, [])
        assert refusal.value.code == code
    for number in range(MOST):
        save(desk, anne, f"{receiver.url}/{number}")
    with pytest.raises(AccountError) as refusal:
        save(desk, anne, f"{receiver.url}/more")
    assert refusal.value.code == "too_many"
    save(desk, anne, f"{receiver.url}/0")


def test_an_erased_account_leaves_no_browser(desk: Desk, anne: Account, receiver: Receiver) -> None:
    save(desk, anne, receiver.url)
    for statement in desk.office.notices.erase(anne.id):
        desk.office.context.ledger.execute(*statement)
    for table in ("push_devices", "webhooks", "deliveries"):
        assert desk.office.context.ledger.execute(f"SELECT * FROM {table}", ()) == []  # noqa: S608 - our own names
