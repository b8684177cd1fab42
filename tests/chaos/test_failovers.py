"""A short run of `./run chaos failovers`: one primary is killed under load."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from domain.ledger import postgres
from domain.ledger.socket_timeouts import CONNECT_OPTIONS

ROOT = Path(__file__).resolve().parents[2]


def test_the_next_host_is_tried_while_a_request_still_waits() -> None:
    """A frozen server takes connections and answers none."""
    assert 2 <= CONNECT_OPTIONS["connect_timeout"] < postgres.PATIENCE


def test_what_is_shipped_loses_no_acknowledged_move() -> None:
    shipped = yaml.safe_load((ROOT / "deploy" / "cluster" / "patroni.yml").read_text("utf-8"))
    agreed = shipped["bootstrap"]["dcs"]
    assert agreed["synchronous_mode"]
    assert agreed["postgresql"]["use_pg_rewind"]
    assert agreed["loop_wait"] + 2 * agreed["retry_timeout"] <= agreed["ttl"]  # Patroni's own rule


@pytest.mark.timeout(600)
@pytest.mark.xdist_group("storm")
def test_nothing_is_lost_with_a_killed_primary(assert_holds: Callable[..., None]) -> None:
    assert_holds("failovers", "--runs", "1")
