"""Signed checkpoints over HTTP: others check them, their tiles and their proofs, with the log's keys alone."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from domain.kernel.schema.canonical_json import digest
from domain.transparency.checkpoint import Checkpoint, open_checkpoint
from domain.transparency.checkpoint_store import ANOTHER_LOG, FORGOTTEN, SHORTER_LOG
from domain.transparency.merkle_tree import verify_consistency
from domain.transparency.signed_note import SignedNote, VerifierKey
from tests.api.conftest import Site, Table, refused
from workers.maintenance import checkpoint_publisher
from workers.maintenance.checkpoint_publisher import CheckpointPublisher

ORDER = {"type": "order", "to": "t01", "units": 1}
SKIPPED = "the library has no wheel here"


@pytest.fixture(autouse=True)
def _at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_publisher, "INTERVAL", 0)


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


def publish(site: Site) -> Checkpoint:
    """Sign what there is, and read the checkpoint as anybody would."""
    CheckpointPublisher(site.context, site.services.reader).publish()
    return read(site)


def vkeys(site: Site) -> list[str]:
    items = site.client.get("/.well-known/annals-log-keys").json["items"]
    return [vkey for item in items for vkey in item["vkeys"]]


def read(site: Site) -> Checkpoint:
    answer = site.get("/log/checkpoint")
    assert answer.content_type == "text/plain; charset=utf-8"
    return open_checkpoint(SignedNote.parse(answer.text), list(map(VerifierKey.parse, vkeys(site))))


def test_before_the_first_there_is_none(orders: Table) -> None:
    refused(orders.site.get("/log/checkpoint"), 404, "no_checkpoint")
    refused(orders.get("/records/1/proof", Accept="text/plain"), 404, "no_checkpoint")
    assert orders.site.client.get("/.well-known/annals-log-keys").json == {"items": []}


def test_it_is_the_head_of_the_log_and_grows_with_it(orders: Table) -> None:
    site = orders.site
    old, head = publish(site), site.get("/log").json
    assert (old.size, old.root.hex()) == (head["size"], head["root"])
    orders.move(0, ORDER)
    assert read(site) == old
    new = publish(site)
    answer = site.get(f"/log?since={old.size}&size={new.size}").json
    path = [bytes.fromhex(node) for node in answer["path"]]
    assert verify_consistency(new.root, new.size, old.root, old.size, path)
    assert site.get(f"/log?size={old.size}").json["root"] == old.root.hex()
    refused(site.get(f"/log?size={new.size + 1}"), 422, "unknown_position")


def test_nobody_reads_past_what_was_signed(orders: Table) -> None:
    site, size = orders.site, publish(orders.site).size
    orders.move(0, ORDER)
    refused(orders.get(f"/records/{orders.version}/proof", Accept="text/plain"), 404, "not_found")
    for path in (f"/log/tile/0/000.p/{size + 1}", f"/log/tile/entries/000.p/{size + 1}", f"/log?size={size + 1}"):
        assert site.get(path).status_code in (404, 422)


def test_verifier_in_one_file_needs_a_proof_an_export_and_a_key(orders: Table, tmp_path: Path) -> None:
    """As an auditor would: three downloads, one command."""
    site = orders.site
    orders.move(0, ORDER)
    publish(site)
    file = tmp_path / "annals_verify.py"
    file.write_bytes(site.get("/verifier.py").data)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == site.get("/log").json["verifier"]
    (tmp_path / "game").write_bytes(orders.get("/export").data)
    proof = tmp_path / "proof"
    proof.write_text(orders.get(f"/records/{orders.version}/proof", Accept="text/plain").text)
    key = next(vkey for vkey in vkeys(site) if VerifierKey.parse(vkey).kind == 1)
    command = [sys.executable, "-I", "-S", str(file), str(tmp_path / "game"), "--proof", str(proof), "--key", key]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert f"record {orders.version} is in the log of" in done.stdout
    assert "signed by annals.invalid/" in done.stdout
    proof.write_text(proof.read_text().replace("index ", "index 1"))
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


def test_a_program_of_others_follows_the_log_by_its_tiles(orders: Table) -> None:
    """`tlog-scales` reads checkpoint, tiles and entries, and makes every proof itself."""
    reader, backend = pytest.importorskip("tlog_scales.reader"), pytest.importorskip("tlog_scales.backend")

    class OverHttp(backend.TilesBackend):  # type: ignore[misc,name-defined,unused-ignore] # its base is not typed
        def get(self, *path: str) -> bytes | None:
            answer = orders.site.get("/log/" + "/".join(path))
            return answer.data if answer.status_code == 200 else None

        def put(self, data: bytes, *path: str) -> None:
            raise AssertionError

    for _ in range(60):
        orders.site.table("orders@1", 3)
    checkpoint = publish(orders.site)
    assert checkpoint.size > 256
    log = reader.TilesReader(OverHttp())
    assert log.get_checkpoint().size == checkpoint.size
    assert log.calculate_root_hash() == checkpoint.root
    first = digest(orders.get("/records").json["items"][0])
    assert log.get_entry(0) == bytes.fromhex(first)


@pytest.mark.parametrize(
    "tile", ["0/000", "64/000.p/1", "0/00.p/1", "0/000.p/0", "0/000.p/256", "x/000", "0/x000.p/1", "0/999", "0/../000"]
)
def test_there_is_no_other_tile(orders: Table, tile: str) -> None:
    publish(orders.site)
    refused(orders.site.get(f"/log/tile/{tile}"), 404, "not_found")


def test_the_policy_names_keys_that_sign(orders: Table) -> None:
    site = orders.site
    publish(site)
    old = site.context.checkpoints.keys[0]
    site.context.checkpoints.add_key(1)
    site.context.checkpoints.end_key(old.number, 2, "stolen")
    policy = site.client.get("/.well-known/annals-log-policy").text
    assert policy.endswith("quorum none\n")
    assert all(f"log {vkey} " in policy for vkey in site.context.checkpoints.keys[0].keys)
    assert not any(str(vkey) in policy for vkey in old.keys)
    ended = site.client.get("/.well-known/annals-log-keys").json["items"][1]
    assert (ended["until"], ended["reason"]) == (2, "stolen")


class TestAnotherLog:
    """A log that lost records, or holds others, signs nothing more."""

    def test_it_halts_and_says_so(self, orders: Table) -> None:
        site = orders.site
        size = publish(site).size
        site.services.ledger.execute("UPDATE checkpoints SET root = ?", ("00" * 32,))
        orders.move(0, ORDER)
        CheckpointPublisher(site.context, site.services.reader).publish()
        assert site.client.get("/.well-known/annals-log-keys").json["halted"] == [ANOTHER_LOG]
        assert site.services.checkpoints.largest.size == size  # type: ignore[union-attr]

    def test_a_shorter_one_too(self, orders: Table) -> None:
        site = orders.site
        publish(site)
        site.services.ledger.execute("UPDATE checkpoints SET size = size + 100")
        CheckpointPublisher(site.context, site.services.reader).publish()
        assert site.services.checkpoints.halts == [SHORTER_LOG]

    def test_one_that_this_process_has_signed_is_not_forgotten(self, orders: Table) -> None:
        """A standby that lagged has taken over: its log, its views and its newest checkpoint are all shorter."""
        site = orders.site
        publisher = CheckpointPublisher(site.context, site.services.reader)
        publisher.publish()
        kept = site.services.ledger.execute("SELECT name, size, root, note, at FROM checkpoints")
        orders.move(0, ORDER)
        publisher.publish()
        signed = read(site)
        site.services.ledger.execute("DELETE FROM checkpoints")
        for row in kept:
            site.services.ledger.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?)", row)
        orders.move(1, ORDER)
        publisher.publish()
        assert site.services.checkpoints.halts == [FORGOTTEN]
        assert read(site).size < signed.size
        site.services.checkpoints.resume(None, None, 1)  # an operator knows better
        publisher.publish()
        assert read(site).size > signed.size

    def test_a_new_name_begins_anew(self, orders: Table) -> None:
        site = orders.site
        publisher = CheckpointPublisher(site.context, site.services.reader)
        publisher.publish()
        site.context.checkpoints.add_key(1, "other.example/log")
        publisher.publish()
        assert site.services.checkpoints.halts == []
        assert read(site).origin == "other.example/log"

    def test_views_that_still_read_the_log_are_waited_for(self, orders: Table) -> None:
        site = orders.site
        publish(site)
        site.asleep = True
        orders.move(0, ORDER)
        site.services.ledger.execute("UPDATE checkpoints SET size = size + 1")
        CheckpointPublisher(site.context, site.services.reader).publish()
        assert site.services.checkpoints.halts == []


def test_a_delayed_table_takes_nothing_back(site: Site) -> None:
    """While its newest records are hidden, the published head is smaller; the checkpoint stays."""
    orders = site.table("orders@1", 3)
    before = publish(site)
    hidden = site.table("orders@1", 3, delay=3600)
    orders.move(0, ORDER)
    later = publish(site)
    assert later.size >= before.size
    hidden.move(0, ORDER)
    assert publish(site) == later
    assert json.loads(site.get("/log").data)["size"] <= later.size
