"""Services that witness each other over HTTP: their checkpoints bear both names, and a fork bears one alone."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from domain.transparency.checkpoint import Checkpoint, Signer, find_valid_signatures
from domain.transparency.checkpoint_store import SigningKey
from domain.transparency.policy_file import KnownWitness, parse_witnesses
from domain.transparency.signed_note import SignedNote
from domain.transparency.tlog_proof import AddCheckpoint
from domain.transparency.witness_reports import WitnessReport, WitnessReports
from domain.transparency.witness_store import hash_origin
from tests.api.conftest import ROOT, Site, Table, make_site, refused
from workers.maintenance import checkpoint_publisher, witness_client
from workers.maintenance.checkpoint_publisher import CheckpointPublisher

ORDER = {"type": "order", "to": "t01", "units": 1}
VERIFIER = ROOT / "clients" / "verifier" / "annals_verify.py"


@pytest.fixture(autouse=True)
def _at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_publisher, "INTERVAL", 0)


@contextmanager
def served(app: Callable[..., Any]) -> Iterator[str]:
    """A URL of this application on this machine."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Harness:
    """A service with its signer of checkpoints."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.site = make_site(folder)
        self.table: Table = self.site.table("orders@1", 3)
        self.site.context.checkpoints.add_key(0)
        self.log = self.site.context.checkpoints.keys[0]
        self.key = self.site.services.witness.ensure_key(0)
        self.publisher = CheckpointPublisher(self.site.context, self.site.services.reader)

    def know(self, *others: Harness) -> None:
        """Cosign the logs of others."""
        self.site.remake(witnessed_logs={other.log.origin: other.log.keys for other in others})

    def be_witnessed(self, *witnesses: KnownWitness) -> None:
        self.site.remake(witnesses=witnesses)
        self.site.context = replace(self.site.context, witnesses=witnesses)
        self.publisher = CheckpointPublisher(self.site.context, self.site.services.reader)

    def publish(self) -> None:
        """Sign what there is, and wait until the witnesses have answered."""
        self.publisher.publish()
        self.publisher.cosignatures.join(20)

    def move(self) -> None:
        self.table.site.table("orders@1", 3)

    @property
    def note(self) -> SignedNote:
        return SignedNote.parse(self.site.get("/log/checkpoint").text)

    def cosigners(self, *others: Harness) -> list[str]:
        """The witnesses whose cosignatures the checkpoint bears."""
        keys = [key for other in others for key in other.key.keys]
        return [key.name for key, _ in find_valid_signatures(self.note, keys)]

    @property
    def reports(self) -> list[WitnessReport]:
        return WitnessReports(self.site.services.ledger).list_all()

    def tries_again(self) -> None:
        """Some minutes later."""
        for client in self.publisher.cosignatures._clients:
            client._next_at = 0.0


@pytest.fixture
def harnesses(tmp_path: Path) -> Iterator[tuple[Harness, Harness]]:
    first, second = Harness(tmp_path / "first"), Harness(tmp_path / "second")
    with closing(first.site), closing(second.site):
        first.know(second)
        second.know(first)
        yield first, second


def as_witness(harness: Harness, url: str) -> KnownWitness:
    text = "".join(f"witness w{i} {key} {url}/v1/witness\n" for i, key in enumerate(harness.key.keys))
    return parse_witnesses(text)[0]


def ask(harness: Harness, request: AddCheckpoint | str) -> Any:
    return harness.site.client.post("/v1/witness/add-checkpoint", data=str(request).encode())


def test_two_services_witness_each_other(harnesses: tuple[Harness, Harness]) -> None:
    with served(harnesses[0].site.app) as url_0, served(harnesses[1].site.app) as url_1:
        harnesses[0].be_witnessed(as_witness(harnesses[1], url_1))
        harnesses[1].be_witnessed(as_witness(harnesses[0], url_0))
        for _ in range(3):  # the log grows
            for harness, other in (harnesses, harnesses[::-1]):
                harness.move()
                harness.publish()
                assert harness.cosigners(other) == [other.key.name] * 2
                assert harness.reports[0].failure == ""
                seen = other.site.get(f"/witness/{hash_origin(harness.log.origin)}/checkpoint")
                assert SignedNote.parse(seen.text).text == harness.note.text
        policy = harnesses[0].site.client.get("/.well-known/annals-log-policy").text
        assert f"witness w1 {harnesses[1].key.keys[0]} {url_1}/v1/witness\n" in policy
        assert policy.endswith("quorum witnesses\n")
        told = harnesses[1].site.client.get("/.well-known/annals-log-keys").json["witness"]
        assert told["vkeys"] == list(map(str, harnesses[1].key.keys))
        assert told["logs"] == [harnesses[0].log.origin]
        assert told["url"].endswith("/v1/witness")


def test_witness_that_knows_the_log_already_says_at_which_size(harnesses: tuple[Harness, Harness]) -> None:
    """After a restart nobody remembers it: the first answer is 409, and the second request fits."""
    log, witness = harnesses
    with served(witness.site.app) as url:
        for _ in range(2):
            log.be_witnessed(as_witness(witness, url))
            log.move()
            log.publish()
            assert log.cosigners(witness)


class TestAFork:
    def test_it_is_refused_and_the_two_heads_prove_it(self, harnesses: tuple[Harness, Harness], tmp_path: Path) -> None:
        """The host shows one reader a log that no witness has seen; the reader compares with the witness."""
        log, witness = harnesses
        log.publish()
        seen = log.note
        assert ask(witness, AddCheckpoint(0, [], seen)).status_code == 200
        honest = Checkpoint.parse(seen.text)
        fork = Checkpoint(log.log.origin, honest.size, b"f" * 32)
        signer = next(iter(log.site.context.checkpoints._active_signers(0)))
        forked = SignedNote(fork.text, tuple(signer.sign(fork.text, 1)))
        refused(ask(witness, AddCheckpoint(honest.size, [], forked)), 422, "log_inconsistent")
        larger = Checkpoint(log.log.origin, honest.size + 1, b"f" * 32).text
        note = SignedNote(larger, tuple(signer.sign(larger, 1)))
        refused(ask(witness, AddCheckpoint(honest.size, [b"x" * 32], note)), 422, "log_inconsistent")

        kept = witness.site.get(f"/witness/{hash_origin(log.log.origin)}/checkpoint").text
        files = {"theirs": kept, "mine": str(forked), "path": '{"path": []}'}
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        vkey, cosigner = str(log.log.keys[0]), str(witness.key.keys[0])

        def verify(*args: str) -> tuple[int, str]:
            command = [sys.executable, "-I", "-S", str(VERIFIER), "--key", vkey, *args]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

        assert verify("--checkpoint", "mine")[0] == 0  # alone it looks sound
        both = ["--checkpoint", "mine", "--checkpoint", "theirs", "--consistency", "path"]
        assert verify(*both)[1].startswith("FALSE: forked")
        status, text = verify("--checkpoint", "theirs", "--witness", cosigner)
        assert status == 0
        assert f"signed by {witness.key.name}" in text
        assert verify("--checkpoint", "mine", "--witness", cosigner)[1].startswith("FALSE: not_signed")


class TestAnswers:
    def test_each_kind_of_refusal_has_its_status(self, harnesses: tuple[Harness, Harness]) -> None:
        log, witness = harnesses
        log.publish()
        note = log.note
        size = Checkpoint.parse(note.text).size
        for text in ("", "old 1\n", "old x\n\n" + str(note), str(note)):
            refused(ask(witness, text), 400, "bad_request")
        assert witness.site.client.post("/v1/witness/add-checkpoint", data=b"\xff").status_code == 400
        refused(ask(witness, AddCheckpoint(size + 1, [], note)), 400, "bad_request")
        stranger = Signer("stranger.example", b"s" * 32)
        text = Checkpoint("stranger.example", 1, b"r" * 32).text
        refused(ask(witness, AddCheckpoint(0, [], SignedNote(text, tuple(stranger.sign(text, 1))))), 404, "unknown_log")
        unsigned = SignedNote(note.text, tuple(stranger.sign(text, 1)))
        refused(ask(witness, AddCheckpoint(0, [], unsigned)), 403, "log_not_signed")
        answer = ask(witness, AddCheckpoint(size, [], note))
        assert (answer.status_code, answer.content_type, answer.text) == (409, "text/x.tlog.size", "0\n")
        refused(witness.site.get(f"/witness/{hash_origin(log.log.origin)}/checkpoint"), 404, "unknown_log")
        refused(witness.site.get("/witness/abc/checkpoint"), 404, "not_found")
        assert ask(witness, AddCheckpoint(0, [], note)).text.count("\n") == 2

    def test_who_cosigns_nothing_says_so(self, site: Site) -> None:
        assert "witness" not in site.client.get("/.well-known/annals-log-keys").json
        assert site.client.get("/.well-known/annals-log-policy").text.endswith("quorum none\n")


def answering(status: int, body: bytes, media: str = "text/plain") -> Callable[..., Any]:
    """A witness that answers everybody alike."""

    @Request.application
    def app(_: Request) -> Response:
        return Response(body, status, content_type=media)

    return app


FALSE_ANSWERS: dict[str, tuple[Callable[..., Any], str]] = {
    "refusal": (answering(422, b"<b>no</b>"), "status 422"),
    "redirect": (answering(302, b""), "status 302"),
    "size for ever": (answering(409, b"1\n", "text/x.tlog.size"), "refuses the size that it named"),
    "larger size": (answering(409, b"99999\n", "text/x.tlog.size"), "more than were signed here"),
    "no size": (answering(409, b"-1\n", "text/x.tlog.size"), "no size of a log"),
    "size elsewhere": (answering(409, b"1\n"), "status 409"),
    "nothing": (answering(200, b""), "no list of signatures"),
    "no end": (answering(200, b"\xe2\x80\x94 a AAAAAAAA\n" * 9_999), "no list of signatures"),
    "foreign key": (answering(200, b"\xe2\x80\x94 a AAAAAAAA\n"), "no valid cosignature"),
}


class TestABadWitness:
    def test_its_answer_is_reported_and_changes_nothing(self, harnesses: tuple[Harness, Harness]) -> None:
        log, witness = harnesses
        log.publish()
        for name, (app, expected) in FALSE_ANSWERS.items():
            log.move()
            with served(app) as url:
                log.be_witnessed(as_witness(witness, url))
                log.publish()
            assert expected in log.reports[0].failure, name
            assert "<b>" not in log.reports[0].failure
            assert log.cosigners(witness) == [], name
            assert Checkpoint.parse(log.note.text).size == log.site.get("/log").json["size"], name

    def test_a_false_cosignature_is_not_shown(self, harnesses: tuple[Harness, Harness]) -> None:
        log, witness = harnesses
        log.publish()
        key = witness.key.keys[0]
        forged = Signer(key.name, b"x" * 32, witness=True).sign(log.note.text, 1)[0]._replace(key_id=key.id)
        assert forged.is_by(key)
        with served(answering(200, f"{forged}\n".encode())) as url:
            log.be_witnessed(as_witness(witness, url))
            log.publish()
        assert "no valid cosignature" in log.reports[0].failure
        assert key.id not in {each.key_id for each in log.note.signatures}

    def test_one_that_hangs_delays_nothing(
        self, harnesses: tuple[Harness, Harness], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log, witness = harnesses
        monkeypatch.setattr(witness_client, "SECONDS", 0.3)
        release = threading.Event()

        @Request.application
        def app(_: Request) -> Response:
            release.wait(20)
            return Response(b"")

        with served(app) as url:
            log.be_witnessed(as_witness(witness, url))
            began = time.monotonic()
            log.publisher.publish()
            assert Checkpoint.parse(log.note.text).size > 0  # at once, with the log's own signature
            log.move()
            log.publisher.publish()
            assert time.monotonic() - began < 5
            assert Checkpoint.parse(log.note.text).size == log.site.get("/log").json["size"]
            log.publisher.cosignatures.join(20)
            release.set()
        assert log.reports[0].failure == "no answer in time"

    def test_one_that_comes_back_cosigns_again(self, harnesses: tuple[Harness, Harness]) -> None:
        """Also if the log has not grown since. One checkpoint may wait for it: the next signing shows that one."""
        log, witness = harnesses
        is_up = [True]

        def app(environ: Any, start: Any) -> Any:
            return (witness.site.app if is_up[0] else answering(503, b""))(environ, start)

        with served(app) as url:
            log.be_witnessed(as_witness(witness, url))
            log.publish()
            before = log.note.text
            is_up[0] = False
            log.move()
            log.publish()
            assert log.note.text == before  # signed, and not shown before the answer
            log.publish()
            assert Checkpoint.parse(log.note.text).size == log.site.get("/log").json["size"]
            assert log.cosigners(witness) == []
            assert log.reports[0].failure.endswith("status 503")
            is_up[0] = True
            log.publish()
            assert log.cosigners(witness) == []  # it rests a while after a failure
            log.tries_again()
            log.publish()
            assert log.cosigners(witness)
            assert log.reports[0].failure == ""


def test_two_witnesses_cosign_the_same_checkpoint(harnesses: tuple[Harness, Harness], tmp_path: Path) -> None:
    log, second = harnesses
    third = Harness(tmp_path / "third")
    with closing(third.site):
        third.know(log)
        with served(second.site.app) as url_2, served(third.site.app) as url_3:
            log.be_witnessed(*(as_witness(harness, url) for harness, url in ((second, url_2), (third, url_3))))
            log.publish()
            assert set(log.cosigners(second, third)) == {second.key.name, third.key.name}
    assert json.loads(log.site.get("/log").data)["size"] == Checkpoint.parse(log.note.text).size


@contextmanager
def foreign_witness(folder: Path, log: SigningKey) -> Iterator[KnownWitness]:
    """aics-witness, which knows this log; no code of ours."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program, config = [sys.executable, "-m", "aics_witness"], ["--config", str(folder / "witness.json")]
    made = ["init", *config, "--name", "witness.example/w1", "--listen", f"127.0.0.1:{port}"]
    vkey = subprocess.run([*program, *made], check=True, capture_output=True, text=True).stdout.strip()
    known = ["add-log", *config, "--origin", log.origin, "--vkey", str(log.keys[0])]
    subprocess.run([*program, *known], check=True, capture_output=True)
    with subprocess.Popen([*program, "serve", *config], stderr=subprocess.DEVNULL) as running:
        try:
            yield parse_witnesses(f"witness w {vkey} http://127.0.0.1:{port}\n")[0]
        finally:
            running.terminate()


def test_a_program_of_others_cosigns_our_log(tmp_path: Path, harnesses: tuple[Harness, Harness]) -> None:
    pytest.importorskip("aics_witness")
    harness = harnesses[0]
    with foreign_witness(tmp_path, harness.log) as witness:
        harness.be_witnessed(witness)
        for _ in range(2):
            harness.move()
            names: list[str] = []
            for _ in range(50):  # until it listens
                harness.tries_again()
                harness.publish()
                if names := [key.name for key, _ in find_valid_signatures(harness.note, witness.keys)]:
                    break
                time.sleep(0.1)
            assert names == ["witness.example/w1"]
