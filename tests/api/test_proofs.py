"""The log as one hash: a record is in it, and it has only grown."""

from __future__ import annotations

import hashlib

import pytest

from domain.kernel.schema.canonical_json import digest
from domain.transparency.merkle_tree import verify_consistency, verify_inclusion
from tests.api.conftest import Site, Table, refused

ORDER = {"type": "order", "to": "t01", "units": 1}


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


def nodes(path: list[str]) -> list[bytes]:
    return [bytes.fromhex(node) for node in path]


def test_a_record_is_proved_from_what_anybody_may_read(orders: Table) -> None:
    """The leaf is made from the record's public part alone."""
    orders.move(0, ORDER)
    head = orders.site.get("/log").json
    for record in orders.get("/records").json["items"]:
        found = orders.get(f"/records/{record['v']}/proof").json
        assert found["record"] == digest(record)
        assert (found["size"], found["root"]) == (head["size"], head["root"])
        leaf = hashlib.sha256(b"\0" + bytes.fromhex(digest(record))).digest()
        assert verify_inclusion(bytes.fromhex(head["root"]), leaf, found["leaf"], found["size"], nodes(found["path"]))


def test_a_later_head_extends_an_earlier_one(orders: Table) -> None:
    site = orders.site
    old = site.get("/log").json
    position = orders.move(0, ORDER).json["position"]
    new = site.get(f"/log?since={old['size']}&wait={position}").json
    assert new["size"] == old["size"] + 1
    path = nodes(new["path"])
    assert verify_consistency(bytes.fromhex(new["root"]), new["size"], bytes.fromhex(old["root"]), old["size"], path)
    other = hashlib.sha256(b"another log").digest()
    assert not verify_consistency(bytes.fromhex(new["root"]), new["size"], other, old["size"], path)


def test_what_there_is_none_of_is_refused(orders: Table) -> None:
    site = orders.site
    refused(site.get("/log?since=0"), 422, "invalid_query")
    refused(site.get("/log?since=999"), 422, "unknown_position")
    refused(orders.get("/records/999/proof"), 404, "not_found")
    refused(site.get("/games/00000000-0000-4000-8000-000000000000/records/1/proof"), 404, "unknown_game")
