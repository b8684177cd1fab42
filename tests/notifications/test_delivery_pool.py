"""Deliveries: signed, tried again, given up, replayed; one receiver does not hold up another."""

from __future__ import annotations

import threading
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from domain.accounts.account_tables import DAY
from domain.notifications import outbox
from domain.notifications.deliveries import DeliveryResult
from domain.notifications.ip_ranges import is_public_ip, is_public_or_loopback_ip
from domain.notifications.outbox import BACKOFF, CLAIM_TIME, EACH_HOST, GIVEN_UP, Notice
from domain.notifications.webhooks import OVERLAP, WebhookRequest
from domain.service.database import Execute
from tests.notifications.conftest import Office, Receiver
from workers.notifications.webhook_client import WebhookClient


class TestSigned:
    def test_it_is_what_the_standard_asks_for(self, office: Office, receiver: Receiver) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, receiver.url)
        office.time[0] = time.time_ns() // 1_000_000
        office.table(anne)
        office.owing.produce()
        assert office.deliver() == 1
        (headers, body), secret = receiver.got[0], hook.secrets[0][0]
        assert Webhook(secret).verify(body, headers)["type"] == "turn.due"
        assert headers["webhook-id"] == office.rows()[0][0]
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(body + b" ", headers)

    def test_for_a_day_both_secrets_sign(self, office: Office, receiver: Receiver) -> None:
        office.time[0] = time.time_ns() // 1_000_000
        anne = office.person("Anne")
        hook = office.hook(anne, receiver.url)
        new = office.notices.webhooks.rotate_secret(anne.id, hook.id)
        assert new
        for _ in range(2):
            office.notices.outbox.send_test(hook)
            office.deliver()
            office.time[0] += OVERLAP
        for secret in (new, hook.secrets[0][0]):
            assert Webhook(secret).verify(receiver.got[0][1], receiver.got[0][0])
        assert len(receiver.got[1][0]["webhook-signature"].split()) == 1


class TestTries:
    def test_it_is_tried_again_later_and_later_and_then_given_up(self, office: Office, receiver: Receiver) -> None:
        receiver.answer = lambda _: 500
        hook = office.hook(office.person("Anne"), receiver.url)
        office.notices.outbox.send_test(hook)
        for n, pause in enumerate(BACKOFF, 1):
            assert office.deliver() == 1
            (found,) = office.notices.outbox.list_deliveries(hook.id)
            assert (found.state, found.tries) == ("waiting", n)
            assert pause <= found.due - office.time[0] <= pause * 1.2
            assert office.deliver() == 0
            office.time[0] = found.due
        assert office.deliver() == 1
        (found,) = office.notices.outbox.list_deliveries(hook.id)
        assert (found.state, found.tries, found.log[-1]["status"]) == ("dead", 8, 500)
        assert office.deliver() == 0

    def test_what_was_given_up_is_replayed_under_its_id(self, office: Office, receiver: Receiver) -> None:
        hook = office.hook(office.person("Anne"), receiver.url)
        made = office.notices.outbox.send_test(hook)
        assert made
        office.context.ledger.execute("UPDATE deliveries SET state = 'dead', tries = 8")
        assert office.deliver() == 0
        for _ in range(2):
            office.notices.outbox.replay(hook.id, made.id)
        assert office.deliver() == 1
        assert receiver.got[0][0]["webhook-id"] == made.id
        assert office.notices.outbox.list_deliveries(hook.id)[0].state == "delivered"
        assert office.notices.outbox.replay(hook.id, "msg_none") is None
        assert office.notices.outbox.replay("other", made.id) is None

    def test_a_webhook_through_which_nothing_comes_rests(self, office: Office, receiver: Receiver) -> None:
        receiver.answer = lambda _: 500
        hook = office.hook(office.person("Anne"), receiver.url)
        for _ in range(20):
            office.notices.outbox.send_test(hook)
        assert office.deliver() == 2

    def test_after_days_it_is_switched_off_and_its_owner_told(self, office: Office, receiver: Receiver) -> None:
        receiver.answer = lambda _: 500
        anne = office.person("Anne")
        hook = office.hook(anne, receiver.url)
        for _ in range(3):
            office.notices.outbox.send_test(hook)
        office.deliver()
        office.time[0] += GIVEN_UP
        office.deliver()
        (found,) = office.notices.webhooks.list_by_account(anne.id)
        assert found.state == "off"
        assert {each.state for each in office.notices.outbox.list_deliveries(hook.id)} == {"dead"}
        assert [(e.what, e.detail) for e in office.people.audit_log.list_entries(anne.id)] == [("webhook_off", hook.id)]
        receiver.answer = lambda _: 204
        office.notices.webhooks.update(anne.id, hook.id, WebhookRequest(receiver.url, "mine"), "loopback", 0, on=True)
        office.notices.outbox.send_test(hook)
        assert office.deliver() == 1

    def test_who_wants_no_more_is_asked_no_more(self, office: Office, receiver: Receiver) -> None:
        receiver.answer = lambda _: 410
        anne = office.person("Anne")
        hook = office.hook(anne, receiver.url)
        office.notices.outbox.send_test(hook)
        office.deliver()
        assert office.notices.webhooks.list_by_account(anne.id)[0].state == "off"
        assert office.notices.outbox.list_deliveries(hook.id)[0].state == "dead"

    def test_one_that_was_off_meanwhile_stays_so(self, office: Office, receiver: Receiver) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, receiver.url)
        office.notices.outbox.send_test(hook)

        def off(_: bytes) -> int:
            wanted = WebhookRequest(receiver.url, "mine")
            office.notices.webhooks.update(anne.id, hook.id, wanted, "loopback", 0, on=False)
            return 204

        receiver.answer = off
        assert office.delivery_pool.deliver_next()
        assert office.notices.webhooks.list_by_account(anne.id)[0].state == "off"

    def test_one_that_is_removed_meanwhile_leaves_nothing(self, office: Office, receiver: Receiver) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, receiver.url)
        office.notices.outbox.send_test(hook)
        receiver.answer = lambda _: 204 if office.notices.webhooks.remove(anne.id, hook.id) else 500
        assert office.delivery_pool.deliver_next()
        office.notices.outbox.send_test(hook)
        assert office.rows() == []

    def test_whoever_is_banned_gets_nothing(self, office: Office, receiver: Receiver) -> None:
        anne = office.person("Anne")
        hook = office.hook(anne, receiver.url)
        office.notices.outbox.send_test(hook)
        office.people.accounts.set_state(anne.id, "banned", 0, [])
        assert (office.notices.outbox.has_due(), office.deliver()) == (False, 0)
        assert receiver.got == []


class TestSeveral:
    def test_one_that_was_taken_is_nobody_elses_for_a_minute(self, office: Office, receiver: Receiver) -> None:
        hook = office.hook(office.person("Anne"), receiver.url)
        office.notices.outbox.send_test(hook)
        assert office.notices.outbox.claim()  # and its process is killed
        assert office.notices.outbox.claim() is None
        office.time[0] += CLAIM_TIME
        assert office.deliver() == 1

    def test_of_two_that_settle_the_same_one_counts(self, office: Office, receiver: Receiver) -> None:
        hook = office.hook(office.person("Anne"), receiver.url)
        office.notices.outbox.send_test(hook)
        first = office.notices.outbox.claim()
        office.time[0] += CLAIM_TIME
        second = office.notices.outbox.claim()
        assert first
        assert second
        office.notices.outbox.record_result(first, DeliveryResult(204, 1), 0)
        office.notices.outbox.record_result(second, DeliveryResult(500, 1), 0)
        assert [each.state for each in office.notices.outbox.list_deliveries(hook.id)] == ["delivered"]

    def test_a_host_is_asked_so_often_at_once_and_others_go_on(self, office: Office, receiver: Receiver) -> None:
        people = [office.person(f"P{n}") for n in range(EACH_HOST + 1)]
        hooks = [office.hook(who, receiver.url) for who in people]
        other = office.hook(people[0], "http://127.0.0.2:9/")
        for hook in (*hooks, other):
            office.notices.outbox.send_test(hook)
        taken = [office.notices.outbox.claim() for _ in range(EACH_HOST + 2)]
        assert other.id in {each.webhook.id for each in taken if each}
        assert len([each for each in taken if each]) == EACH_HOST + 1

    def test_of_host_that_many_share_nobody_takes_more_than_a_place(self, office: Office, receiver: Receiver) -> None:
        """One owner's many webhooks wait for each other, not another owner's for them."""
        anne, bob = office.person("Anne"), office.person("Bob")
        for hook in [*(office.hook(anne, receiver.url) for _ in range(6)), office.hook(bob, receiver.url)]:
            for _ in range(2):
                office.notices.outbox.send_test(hook)
        owners = []
        for _ in range(4):
            office.time[0] += 1
            taken = [office.notices.outbox.claim() for _ in range(3)]
            owners.append({each.webhook.account for each in taken if each})
            for each in filter(None, taken):
                office.notices.outbox.record_result(each, DeliveryResult(204, 1), 0)
        assert owners == [{anne.id, bob.id}] * 2 + [{anne.id}] * 2

    def test_whoever_was_served_longest_ago_comes_next(self, office: Office, receiver: Receiver) -> None:
        anne, bob, cleo = (office.person(name) for name in ("Anne", "Bob", "Cleo"))
        for who, count in ((anne, 4), (bob, 1), (cleo, 1)):
            for _ in range(count):
                office.notices.outbox.send_test(office.hook(who, receiver.url))
        owners = []
        for _ in range(6):
            office.time[0] += 1
            taken = office.notices.outbox.claim()
            assert taken
            owners.append(taken.webhook.account)
            office.notices.outbox.record_result(taken, DeliveryResult(204, 1), 0)
        assert (set(owners[:3]), owners[3:]) == ({anne.id, bob.id, cleo.id}, [anne.id] * 3)

    def test_slow_receivers_leave_a_place_at_a_host_to_quick_ones(self, office: Office, receiver: Receiver) -> None:
        slow = [office.hook(office.person(f"P{n}"), receiver.url) for n in range(3)]
        office.context.ledger.execute("UPDATE webhooks SET ms = ?", (outbox.SLOW + 1,))
        for hook in slow:
            office.notices.outbox.send_test(hook)
        assert office.notices.outbox.claim()
        assert office.notices.outbox.claim() is None
        quick = office.hook(office.person("Quick"), receiver.url)
        office.notices.outbox.send_test(quick)
        taken = office.notices.outbox.claim()
        assert taken
        assert taken.webhook.id == quick.id

    def test_a_banner_of_slow_receivers_holds_up_nobody(self, office: Office, receiver: Receiver) -> None:
        """As many as there are delivery_pool never answer; who is quick is told meanwhile."""
        anne, go = office.person("Anne"), threading.Event()
        slow = [office.hook(anne, f"http://127.0.0.{n}:{receiver.url.rpartition(':')[2]}/") for n in range(10, 15)]
        office.context.ledger.execute("UPDATE webhooks SET ms = ?", (outbox.SLOW + 1,))
        quick = office.hook(anne, f"{receiver.url}/quick")
        for hook in slow:
            office.notices.outbox.send_test(hook)

        def permit(address: str) -> bool:
            if address != "127.0.0.1":
                go.wait(20)
            return is_public_or_loopback_ip(address)

        delivery_pool = office.send(WebhookClient(permit))
        delivery_pool.wake()
        office.notices.outbox.send_test(quick)
        delivery_pool.wake()
        assert receiver.came.acquire(timeout=10)
        assert len(receiver.got) == 1
        go.set()
        delivery_pool.stop(10)

    def test_thousands_that_wait_for_one_host_make_no_delivery_slow(self, office: Office) -> None:
        """As all mailboxes do: what grew with the square of them took seconds, in which nobody could move."""
        anne, count, taken = office.person("Anne"), 2000, 10
        hooks = office.notices.webhooks
        row = "INSERT INTO webhooks VALUES (?, ?, 'mail', '', '', 'mail', ?, 'on', 0, 0, 0, 0, 0, 0, 0, 0)"

        def fill(execute: Execute) -> None:
            for n in range(count):
                execute(row, (f"h{n}", anne.id, hooks.seal_box(f"h{n}", "mailto:anne@example.org", [["x", 0]])))

        office.context.ledger.run_in_append_order(fill)
        office.notices.outbox.enqueue(Notice(f"h{n}", "turn.due", (str(n),), 0, {}) for n in range(count))
        began = time.monotonic()
        for _ in range(taken):
            parcel = office.notices.outbox.claim()
            assert parcel
            office.notices.outbox.record_result(parcel, DeliveryResult(250, 1), 0)
        assert time.monotonic() - began < 10

    def test_many_couriers_deliver_each_once(self, office: Office, receiver: Receiver) -> None:
        anne = office.person("Anne")
        hooks = [office.hook(anne, receiver.url) for _ in range(4)]
        for hook in hooks:
            for _ in range(5):
                office.notices.outbox.send_test(hook)
        for _ in range(100):
            office.delivery_pool.wake()
            if receiver.came.acquire(timeout=0.2) and len(receiver.got) == 20:
                break
        office.delivery_pool.stop(10)
        assert len({headers["webhook-id"] for headers, _ in receiver.got}) == len(receiver.got) == 20


def test_what_was_allowed_once_is_looked_at_again(office: Office, receiver: Receiver) -> None:
    hook = office.hook(office.person("Anne"), receiver.url)
    for mode, permit in (("https", is_public_or_loopback_ip), ("loopback", is_public_ip)):
        office.notices.outbox.send_test(hook)
        office.delivery_pool = office.send(WebhookClient(permit), mode)
        office.time[0] += DAY
        assert office.delivery_pool.deliver_next()
    assert receiver.got == []
    assert {each.log[-1]["said"] for each in office.notices.outbox.list_deliveries(hook.id)} == {"address_refused"}
