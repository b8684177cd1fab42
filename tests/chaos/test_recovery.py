"""A short look at what `./run chaos recovery` and `./run chaos upgrade` use, and the first of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.chaos.upgrade import SHIPPED


def test_the_shipped_balancer_repeats_no_write_without_a_key() -> None:
    """It would be done twice."""
    lines = [line.strip() for line in SHIPPED.read_text("utf-8").splitlines()]
    assert "option httpchk GET /readyz" in lines
    assert "retry-on conn-failure empty-response" in lines
    assert "http-request disable-l7-retry if METH_POST !{ req.hdr(Idempotency-Key) -m found }" in lines


@pytest.mark.timeout(600)
@pytest.mark.xdist_group("storm")
def test_a_database_goes_back_to_moments_around_a_failover(assert_holds: Callable[..., None]) -> None:
    assert_holds("recovery")
