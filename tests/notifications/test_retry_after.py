"""A receiver that names a time gets no delivery before it."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from domain.notifications.outbox import BACKOFF
from tests.notifications.conftest import Office, Receiver
from workers.notifications.webhook_client import read_retry_after

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        ("", 0),
        ("0", 0),
        ("60", 60_000),
        (formatdate(NOW + 90, usegmt=True), 90_000),
        (formatdate(NOW - 90, usegmt=True), 0),
        ("9" * 5000, 999_999_999_000),
        *[(value, 0) for value in ("-5", "1.5", "soon", "٦", "Wed, 99 Oct 2015 07:28:00 GMT")],
    ],
)
def test_both_forms_are_read_and_others_count_as_none(value: str, ms: int) -> None:
    assert read_retry_after(value, NOW) == ms


@pytest.mark.parametrize(("seconds", "least"), [(3600, 3_600_000), (1, BACKOFF[0]), (10**9, BACKOFF[-1])])
@pytest.mark.parametrize("status", [429, 503])
def test_the_next_attempt_waits_as_long_as_the_receiver_asks(
    office: Office, receiver: Receiver, status: int, seconds: int, least: int
) -> None:
    """At most a day, the longest time that the service would wait by itself."""
    receiver.answer, receiver.headers = lambda _: status, {"Retry-After": str(seconds)}
    hook = office.hook(office.person("Anne"), receiver.url)
    office.notices.outbox.send_test(hook)
    assert office.deliver() == 1
    (found,) = office.notices.outbox.list_deliveries(hook.id)
    assert least <= found.due - office.time[0] <= least * 1.2
    assert set(found.log[-1]) == {"at", "status", "ms", "said"}


def test_other_deliveries_of_the_webhook_wait_too(office: Office, receiver: Receiver) -> None:
    receiver.answer, receiver.headers = lambda _: 429, {"Retry-After": "600"}
    hook = office.hook(office.person("Anne"), receiver.url)
    for _ in range(2):
        office.notices.outbox.send_test(hook)
    assert office.deliver() == 1
    office.time[0] += 599_000
    assert office.deliver() == 0
    receiver.answer = lambda _: 204  # an answer that accepts a delivery closes nothing
    office.time[0] += 200_000
    assert office.deliver() == 2
