"""True files in the hands of an honest person who holds them wrongly: no verifier calls them false, and each helps."""

from __future__ import annotations

import gzip
import json
import lzma
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from deploy.cli.main import main
from domain.transparency.checkpoint import Checkpoint, Signer
from domain.transparency.signed_note import SignedNote
from tests.api.conftest import CATALOGUE, make_site
from tests.api.test_checkpoints import ORDER, publish, vkeys
from tests.kernel.test_one_file_verifier import LEAGUE, ONE_FILE
from tests.transparency.test_signed_note import WITNESS
from workers.maintenance import checkpoint_publisher

STRANGER = Signer("stranger.example/v1/log", b"s" * 32)


class World(NamedTuple):
    folder: Path
    words: dict[str, str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A running and a closed game, an event, checkpoints and proofs, each also as other programs change it."""
    folder = tmp_path_factory.mktemp("held")
    (folder / "stores").mkdir()
    with pytest.MonkeyPatch.context() as patch, closing(make_site(folder / "stores")) as site:
        patch.setattr(checkpoint_publisher, "INTERVAL", 0)
        table, ended = site.table("orders@1", 3), site.table("orders@1", 3)
        old = publish(site)
        older_export, older_note = table.get("/export").data, site.get("/log/checkpoint").data
        table.move(0, ORDER)
        ended.post("/close", {"reason": "abandoned"}, ended.token("director"))
        new = publish(site)
        site.context.checkpoints.show_note(SignedNote(new.text, tuple(WITNESS.sign(new.text, 1))), 2)
        plain = {"Accept": "text/plain"}
        game, proof = table.get("/export").data, table.get(f"/records/{table.version}/proof", **plain).data
        note, answer = site.get("/log/checkpoint").data, site.get(f"/log?since={old.size}&size={new.size}").data
        other_proof = ended.get(f"/records/{ended.version}/proof", **plain).data
        json_proof = table.get(f"/records/{table.version}/proof").data
        board, seat_export = table.get("/board").data, table.get("/export", 0).data
        closed, no_path = ended.get("/export").data, site.get("/log").data
        heads = {doc["version"]: doc["head"] for doc in table.get("/timeline").json["items"]}
        closed_heads = {doc["version"]: doc["head"] for doc in ended.get("/timeline").json["items"]}
        key = min(vkeys(site), key=len)
        long_key = max(vkeys(site), key=len)
        version = table.version
    text = Checkpoint(STRANGER.keys[0].name, 3, bytes(32)).text
    lines = game.splitlines(keepends=True)
    files = {
        "game": game,
        "older": older_export,
        "closed": closed,
        "seat": seat_export,
        "event": b"".join(lzma.decompress(LEAGUE.read_bytes()).splitlines(keepends=True)),
        "marked": b"\xef\xbb\xbf" + game,
        "crlf": game.replace(b"\n", b"\r\n"),
        "utf16": game.decode().replace("\n", "\r\n").encode("utf-16"),
        "stripped": game[:-1],
        "spaced": game + b"\r\n",
        "no-last-line": b"".join(lines[:-1]),
        "cut": b"".join(lines[:-2]),
        "cut-in-line": game[: len(game) * 2 // 3],
        "indented": b"".join(json.dumps(json.loads(line), indent=1).encode() + b"\n" for line in lines),
        "game.gz": gzip.compress(game),
        "game.xz": lzma.compress(game),
        "page": b"<!doctype html>\n<html></html>\n",
        "board": board,
        "empty": b"",
        "newer-form": game.replace(b'{"annals":1,', b'{"annals":2,', 1),
        "newer-kind": game.replace(b'"kind":"joined"', b'"kind":"newborn"', 1),
        "proof": proof,
        "proof-crlf": b"\xef\xbb\xbf" + proof.replace(b"\n", b"\r\n"),
        "proof-utf16": proof.decode().encode("utf-16"),
        "proof-stripped": proof.rstrip(b"\n"),
        "other-proof": other_proof,
        "json-proof": json_proof,
        "note": note,
        "note-crlf": note.replace(b"\n", b"\r\n") + b"\r\n",
        "older-note": older_note,
        "strange-note": str(SignedNote(text, tuple(STRANGER.sign(text, 1)))).encode(),
        "path": answer,
        "path-marked": b"\xef\xbb\xbf" + answer,
        "no-path": no_path,
        "bad-path": b'{"path": []}',
        "deep": b"[" * 100_000,
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    words = {
        "KEY": key,
        "LONG": long_key,
        "STRANGER": str(STRANGER.keys[0]),
        "WITNESS": str(WITNESS.keys[0]),
        "LAST": heads[version],
        "EARLY": heads[2],
        "UPPER": f" {heads[version].upper()}\r\n",
        "QUOTED": f'"{heads[version]}"',
        "CLOSED": closed_heads[3],
        "SHORT": heads[version][:16],
        "SIZES": f"sizes {old.size} and {new.size}",
        "SINCE": f"/v1/log?since={old.size}&size={new.size}",
        "UPTO": f"records 1 to 2 are the game that this head names; 3 to {version} came later",
        "WHOLE": f"records 1 to {version} are the game that this head names",
    }
    return World(folder, words)


HOLDS, FALSE, UNDECIDED, USAGE = "HOLDS", "FALSE", "UNDECIDED", "usage"
PROOF = "--proof proof --key KEY"

CASES = [
    # the file of the game
    ("game", HOLDS, "proves only itself", "verified: true"),
    ("older", HOLDS, "draws: the seed is published when the game is closed", "closed: false"),
    ("closed", HOLDS, "the seed, and every salt", "closed: true"),
    ("seat", HOLDS, "packs", "verified: true"),
    ("marked", HOLDS, "", ""),
    ("crlf", HOLDS, "", ""),
    ("utf16", HOLDS, "", ""),
    ("stripped", HOLDS, "", ""),
    ("spaced", HOLDS, "", ""),
    ("no-last-line", HOLDS, "", ""),
    ("cut", FALSE, "download the file again", "download it again"),
    ("cut-in-line", FALSE, "is the file whole?", "download it again"),
    ("indented", UNDECIDED, "download /v1/games/GAME/export", "another program has changed"),
    ("game.gz", UNDECIDED, "packed", "packed"),
    ("game.xz", UNDECIDED, "packed", "packed"),
    ("page", UNDECIDED, "download /v1/games/GAME/export", "export"),
    ("board", UNDECIDED, "download /v1/games/GAME/export", "export"),
    ("proof", UNDECIDED, "download /v1/games/GAME/export", "export"),
    ("note", UNDECIDED, "download /v1/games/GAME/export", "export"),
    ("empty", UNDECIDED, "download /v1/games/GAME/export", "export"),
    ("missing", UNDECIDED, "missing", "missing"),
    (".", UNDECIDED, "is this the file to give?", "directory"),
    ("newer-form", FALSE, "download /v1/verifier.py again", "may be older than the file"),
    # its head
    ("game --head LAST", HOLDS, "WHOLE", "WHOLE"),
    ("game --head EARLY", HOLDS, "UPTO", "UPTO"),
    ("game --head UPPER", HOLDS, "WHOLE", "WHOLE"),
    ("game --head QUOTED", HOLDS, "WHOLE", "WHOLE"),
    ("game --head SHORT", UNDECIDED, "64 hex digits", "64 hex digits"),
    ("game --head KEY", UNDECIDED, "64 hex digits", "64 hex digits"),
    ("older --head LAST", UNDECIDED, "download it again", "download a newer export"),
    ("game --head CLOSED", UNDECIDED, "another game", "another game"),
    ("closed --head LAST", FALSE, "is it of this game?", "is it of this game?"),
    # a proof and a key
    (f"game {PROOF}", HOLDS, "is in the log of", "proved_version"),
    (f"game {PROOF} --witness WITNESS", HOLDS, "signed by witness", "signed_by"),
    ("game --proof proof-crlf --key KEY", HOLDS, "is in the log of", "proved_version"),
    ("game --proof proof-utf16 --key KEY", HOLDS, "is in the log of", "proved_version"),
    ("game --proof proof-stripped --key KEY", HOLDS, "is in the log of", "proved_version"),
    ("game --proof other-proof --key KEY", FALSE, "of this game", "take the proof of a record of this file"),
    ("older --proof proof --key KEY", FALSE, "of this game", "take the proof of a record of this file"),
    ("game --proof json-proof --key KEY", UNDECIDED, "Accept: text/plain", "Accept: text/plain"),
    ("game --proof note --key KEY", UNDECIDED, "Accept: text/plain", "Accept: text/plain"),
    ("proof --proof game --key KEY", UNDECIDED, "download", "download"),
    ("game --proof missing --key KEY", UNDECIDED, "missing", "missing"),
    ("game --proof proof --key STRANGER", FALSE, "annals-log-keys", "annals-log-keys"),
    ("game --proof proof --key LAST", UNDECIDED, "annals-log-keys", "annals-log-keys"),
    ("game --proof proof", USAGE, "--key goes with --proof", "give its --key"),
    ("game --witness WITNESS", USAGE, "--key goes with --proof", "give --proof"),
    ("--head LAST", USAGE, "name an export", "FILE"),
    # two checkpoints
    (f"game {PROOF} --checkpoint note", HOLDS, "begins with", "proved_version"),
    (f"game {PROOF} --checkpoint note-crlf", HOLDS, "begins with", "proved_version"),
    (f"game {PROOF} --checkpoint older-note", UNDECIDED, "no proof between SIZES: --consistency takes SINCE", "SINCE"),
    (f"game {PROOF} --checkpoint older-note --consistency path", HOLDS, "begins with", "proved_version"),
    (f"game {PROOF} --checkpoint older-note --consistency path-marked", HOLDS, "begins with", "proved_version"),
    (f"game {PROOF} --checkpoint older-note --consistency no-path", UNDECIDED, "SINCE", "SINCE"),
    (f"game {PROOF} --checkpoint older-note --consistency bad-path", FALSE, "forked", "SINCE"),
    (f"game {PROOF} --checkpoint older-note --consistency deep", UNDECIDED, "is this the file", "SINCE"),
    (f"game {PROOF} --checkpoint older-note --consistency note", UNDECIDED, "is this the file", "SINCE"),
    (f"game {PROOF} --checkpoint proof", UNDECIDED, "/v1/log/checkpoint", "download"),
    (f"game {PROOF} --checkpoint game", UNDECIDED, "/v1/log/checkpoint", "download"),
    (f"game {PROOF} --key STRANGER --checkpoint strange-note", UNDECIDED, "of two logs", "of two logs"),
]


def arguments(world: World, text: str) -> list[str]:
    return [world.words.get(word, word) for word in text.split(" ")]


def expected(world: World, text: str) -> str:
    for word, value in world.words.items():
        text = text.replace(word, value) if word in ("SIZES", "SINCE", "UPTO", "WHOLE") else text
    return text


@pytest.mark.parametrize(("given", "verdict", "sentence", "_"), CASES, ids=[case[0] for case in CASES])
def test_the_verifier_in_one_file(
    world: World,
    given: str,
    verdict: str,
    sentence: str,
    _: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(world.folder)
    try:
        status = ONE_FILE.main(arguments(world, given))
    except SystemExit as stop:
        status = stop.code
    told = capsys.readouterr()
    assert status == {HOLDS: 0, FALSE: 1, UNDECIDED: 2, USAGE: 2}[verdict], told
    text = told.err if verdict == USAGE else told.out
    assert text.startswith(verdict)
    assert expected(world, sentence) in text


@pytest.mark.parametrize(("given", "verdict", "_", "sentence"), CASES, ids=[case[0] for case in CASES])
def test_the_command_of_the_service(
    world: World,
    given: str,
    verdict: str,
    _: str,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(world.folder)
    status = main(["verify", "--no-rules", *arguments(world, given)], CATALOGUE)
    told = capsys.readouterr()
    assert (status == 0) == (verdict == HOLDS), told
    assert expected(world, sentence) in (told.out if verdict == HOLDS else told.err)
    if verdict == UNDECIDED:
        assert not {"chain_broken", "forked"} & set(told.err.replace(":", "").split())


def test_the_long_key_of_the_log_is_for_the_command(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log has two keys; one file has no arithmetic for the longer one."""
    monkeypatch.chdir(world.folder)
    given = arguments(world, "game --proof proof --key LONG")
    assert ONE_FILE.main(given) == 2
    assert "take a short key" in capsys.readouterr().out
    assert main(["verify", "--no-rules", *given], CATALOGUE) == 0


def test_each_kind_of_export_names_its_command(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(world.folder)
    assert main(["verify", "event"], CATALOGUE) == 1
    assert "try annals tournament verify" in capsys.readouterr().err
    assert main(["tournament", "verify", "game"], CATALOGUE) == 1
    assert "try annals verify" in capsys.readouterr().err
    assert main(["tournament", "verify", "event"], CATALOGUE) == 0
    assert ONE_FILE.main(["event"]) == 0


def test_a_newer_file_in_the_hands_of_an_older_program(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(world.folder)
    assert main(["verify", "newer-kind"], CATALOGUE) == 1
    assert "this program may be older than the file" in capsys.readouterr().err
