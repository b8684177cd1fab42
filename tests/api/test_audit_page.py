"""The page for those who do not trust a host: each of its commands is run, on a game over HTTP."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.cli.main import main
from domain.transparency.signed_note import SignedNote
from tests.api.conftest import CATALOGUE, ROOT, Site
from tests.api.members import register
from tests.api.test_checkpoints import ORDER, publish, vkeys
from tests.api.test_tournaments import opened
from tests.transparency.test_signed_note import LOG, WITNESS
from workers.maintenance import checkpoint_publisher

COMMANDS = re.findall(r"^    python3 (annals_verify\.py .*)$", (ROOT / "docs" / "audit.md").read_text(), re.MULTILINE)


@pytest.fixture
def downloads(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, str]]:
    """The files that the page tells to download, and the values of its words in capitals."""
    monkeypatch.setattr(checkpoint_publisher, "INTERVAL", 0)
    table = site.table("orders@1", 3, talk="free")
    said = table.post("/talk/messages", {"to": [1], "text": "Peace?"}, table.tokens[0])
    assert said.status_code == 201, said.text
    old = publish(site)
    files = {"annals_verify.py": site.get("/verifier.py").data, "theirs.txt": site.get("/log/checkpoint").data}
    table.move(0, ORDER)
    new = publish(site)
    site.context.checkpoints.show_note(SignedNote(new.text, tuple(WITNESS.sign(new.text, 1))), 2)
    files |= {
        "game.jsonl": table.get("/export").data,
        "mailbox.jsonl": site.get(f"{table.path}/talk/mailbox", table.tokens[0]).data,
        "mine.txt": site.get("/log/checkpoint").data,
        "path.json": site.get(f"/log?since={old.size}&size={new.size}").data,
        "record.tlog-proof": table.get(f"/records/{table.version}/proof", Accept="text/plain").data,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    head = table.get("/timeline?after=" + str(table.version - 1)).json["items"][0]["head"]
    return tmp_path, {"HASH": head, "VKEY": min(vkeys(site), key=len), "WITNESS_VKEY": str(WITNESS.keys[0])}


def test_there_are_commands() -> None:
    assert len(COMMANDS) == 6


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_holds(downloads: tuple[Path, dict[str, str]], command: str) -> None:
    folder, words = downloads
    args = [words.get(word, word) for word in shlex.split(command)]
    done = subprocess.run([sys.executable, "-I", *args], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.startswith("HOLDS")


def test_two_logs_are_told(downloads: tuple[Path, dict[str, str]]) -> None:
    folder, words = downloads
    (folder / "path.json").write_text('{"path": []}')
    args = [words.get(word, word) for word in shlex.split(COMMANDS[-1])]
    done = subprocess.run([sys.executable, "-I", *args], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:14]) == (1, "FALSE: forked ")


def test_the_command_of_the_service_tells_the_same(
    downloads: tuple[Path, dict[str, str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, words = downloads
    monkeypatch.chdir(folder)
    proof = ["game.jsonl", "--no-rules", "--proof", "record.tlog-proof"]
    key = ["--key", words["VKEY"]]
    assert main(["verify", *proof, *key, "--checkpoint", "mine.txt"], CATALOGUE) == 0
    assert "proved_version: " in capsys.readouterr().out
    assert main(["verify", *proof, *key, "--checkpoint", "theirs.txt"], CATALOGUE) == 1
    assert "no_path: no proof between sizes" in capsys.readouterr().err
    theirs = ["--checkpoint", "theirs.txt", "--consistency"]
    assert main(["verify", *proof, *key, *theirs, "path.json"], CATALOGUE) == 0
    (folder / "no-path.json").write_text('{"path": []}', "utf-8")
    assert main(["verify", *proof, *key, *theirs, "no-path.json"], CATALOGUE) == 1
    assert "forked: no proof that the logs of" in capsys.readouterr().err
    assert main(["verify", *proof, *key, "--witness", words["WITNESS_VKEY"]], CATALOGUE) == 0
    assert f"{WITNESS.keys[0].name} (" in capsys.readouterr().out
    for witness, code in (("w.example", "key_malformed"), (str(LOG.keys[0]), "not_signed: no cosignature by ")):
        assert main(["verify", *proof, *key, "--witness", witness], CATALOGUE) == 1
        assert code in capsys.readouterr().err
    assert main(["verify", "game.jsonl", "--no-rules", "--witness", words["WITNESS_VKEY"]], CATALOGUE) == 1
    assert "proof_needed" in capsys.readouterr().err
    assert main(["verify", *proof, "--json"], CATALOGUE) == 1
    assert '"code": "not_signed"' in capsys.readouterr().out
    assert main(["verify", "--no-rules", "game.jsonl", "--head", words["HASH"]], CATALOGUE) == 0


def test_event_is_held_against_log_and_later_records_are_named(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proof of an early record says of the later ones that it does not speak of them."""
    monkeypatch.setattr(checkpoint_publisher, "INTERVAL", 0)
    monkeypatch.chdir(tmp_path)
    path = opened(site, register(site, "Organiser"))
    for number in range(3):
        register(site, f"Anne {number}").post(f"{path}/entrants")
    publish(site)
    records = site.get(f"{path}/export").data
    Path("event.annals").write_bytes(records)
    Path("annals_verify.py").write_bytes(site.get("/verifier.py").data)
    for version in (2, 4):
        proof = site.get(f"{path}/records/{version}/proof", Accept="text/plain")
        assert proof.status_code == 200, proof.text
        Path(f"{version}.tlog-proof").write_bytes(proof.data)
    key, head = ["--key", min(vkeys(site), key=len)], [json.loads(line) for line in records.splitlines()][-1]["head"]
    later = "records 3 to 4: the proof is of record 2"
    for version, told in ((2, True), (4, False)):
        args = ["event.annals", "--proof", f"{version}.tlog-proof", *key]
        assert main(["tournament", "verify", *args, "--head", head], CATALOGUE) == 0
        shown = capsys.readouterr().out
        assert (later in shown, f"proved_version: {version}" in shown, "head_names: " in shown) == (told, True, True)
        run = subprocess.run(
            [sys.executable, "-I", "annals_verify.py", *args], capture_output=True, text=True, check=False
        )
        assert (run.returncode, f"not checked: {later}" in run.stdout) == (0, told), run.stdout + run.stderr
        assert "not checked: " in run.stdout.splitlines()[-1], "it does not end with what holds alone"
    assert main(["tournament", "verify", "event.annals", "--head", "0" * 64], CATALOGUE) == 1
    assert "head_unknown" in capsys.readouterr().err
    other = site.table("orders@1", 3)
    publish(site)
    Path("other.tlog-proof").write_bytes(other.get("/records/1/proof", Accept="text/plain").data)
    assert main(["tournament", "verify", "event.annals", "--proof", "other.tlog-proof", *key], CATALOGUE) == 1
    assert "proof_false" in capsys.readouterr().err
