"""The verifier in one file agrees with the service's own, and shares nothing with it."""

from __future__ import annotations

import ast
import copy
import importlib.util
import json
import lzma
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import VerificationError
from domain.kernel.game.director_commands import Extend
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import dump, parse
from domain.kernel.schema.canonical_json import canonical, digest
from domain.types import Json
from tests.kernel.flows import sealed, windows
from tests.kernel.machine import play_on
from tests.kernel.test_verify import GAMES
from tests.test_logs import LOGS

FILE = Path(__file__).parents[2] / "clients" / "verifier" / "annals_verify.py"
LEAGUE = Path(__file__).parents[1] / "tournaments" / "league.annals.xz"
DAY = 86_400_000


def load() -> ModuleType:
    """The file as a module."""
    spec = importlib.util.spec_from_file_location("annals_verify", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ONE_FILE: Any = load()


def fault_of(data: bytes, head: str = "") -> str:
    """The code of the first fault found by the one file; empty if there is none."""
    try:
        ONE_FILE.verify_export(data.splitlines(keepends=True), head)
    except ONE_FILE.Fault as fault:
        return str(fault.code)
    return ""


def run(*args: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The file as a program, without any installed package."""
    command = [sys.executable, "-I", "-S", str(FILE), *args]
    return subprocess.run(command, input=text, capture_output=True, check=False)


class TestTheFile:
    def test_it_is_short_and_needs_nothing(self) -> None:
        text = FILE.read_text("utf-8")
        imports = {a.name for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import) for a in n.names}
        imports |= {str(n.module) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom)}
        assert len(text.splitlines()) < 550  # as docs/audit.md promises
        assert imports <= sys.stdlib_module_names

    @pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
    def test_logs_of_earlier_versions_hold_for_ever(self, path: Path) -> None:
        assert fault_of(lzma.decompress(path.read_bytes())) == ""

    def test_it_tells_what_it_checked_and_what_not(self) -> None:
        data = dump(GAMES["sealed@1"].records)
        done = run("-", text=data)
        assert done.returncode == 0
        assert b"checked: the seed, and every salt" in done.stdout
        assert b"not checked: the rules" in done.stdout
        assert b"proves only itself" in done.stdout
        head = GAMES["sealed@1"].records[-1].hash
        assert b"proves only itself" not in run("-", "--head", head, text=data).stdout

    def test_a_false_game_gives_one_line_and_status_1(self) -> None:
        done = run("-", "--head", "00" * 32, text=dump(GAMES["sealed@1"].records))
        assert (done.returncode, done.stderr) == (1, b"")
        assert done.stdout.startswith(b"FALSE: record ")

    @pytest.mark.parametrize("text", [b"", b"\n", b"[]\n", b"{}\n", b"\xff\xfe\n", b"[" * 100_000, b"\x1f\x8b\x08"])
    def test_any_other_bytes_prove_nothing(self, text: bytes) -> None:
        done = run("-", text=text)
        assert (done.returncode, done.stderr) == (2, b"")
        assert done.stdout.startswith(b"UNDECIDED: no_export (")

    @pytest.mark.parametrize(
        "text", [b'{"annals":1}\n', b'{"annals":1,"x":2}\n', b'{"annals":"x"}\n', b'{"annals":' * 9999]
    )
    def test_a_false_header_is_refused(self, text: bytes) -> None:
        done = run("-", text=text)
        assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("viewer", ["public", "director", 0])
class TestEveryGame:
    def test_it_holds_before_and_after_its_end(self, name: str, viewer: str | int) -> None:
        for last in (len(GAMES[name].records), len(GAMES[name].records) - 1):
            assert fault_of(dump(GAMES[name].records[:last], viewer)) == ""


class TestTournaments:
    DOCS: ClassVar[list[Any]] = [json.loads(line) for line in lzma.decompress(LEAGUE.read_bytes()).splitlines()]

    def fault_after(self, kind: str, member: str, value: Json) -> str:
        """The fault of a log in which the host has changed a record, with all hashes after it."""
        docs, prev = copy.deepcopy(self.DOCS), ""
        changed = next(doc for doc in docs[1:-1] if doc["kind"] == f"tournament.{kind}")
        changed["body"][member] = value
        for doc in docs[1:-1]:
            doc["prev"] = prev
            prev = digest(doc)
        docs[-1]["head"] = prev
        return fault_of(b"".join(canonical(doc) + b"\n" for doc in docs))

    def test_its_chain_and_its_draws_hold(self) -> None:
        done = run("-", text=b"".join(canonical(doc) + b"\n" for doc in self.DOCS))
        assert done.stdout.startswith(f"HOLDS: tournament {self.DOCS[0]['tournament']}".encode())
        assert b"checked: the secrets and keys of 1 draws" in done.stdout

    @pytest.mark.parametrize(
        ("kind", "member", "value", "code"),
        [
            ("opened", "secret", "00" * 32, "secret_mismatch"),
            ("drawn", "secret", "00" * 32, "secret_mismatch"),
            ("drawn", "draw", 2, "secret_mismatch"),
            ("drawn", "key", "00" * 32, "key_mismatch"),
            ("revealed", "nonce", "another wind", "nonce_mismatch"),
            ("checkin_closed", "entrants", [0, 1, 2], "key_mismatch"),
            ("checkin_closed", "entrants", [99], "not_checked_in"),
            ("opened", "tournament", "another", "header_mismatch"),
        ],
    )
    def test_another_draw_is_named(self, kind: str, member: str, value: Json, code: str) -> None:
        assert self.fault_after(kind, member, value) == code


def changed_leaves(doc: Json) -> Iterator[tuple[str, Json]]:
    """The document with one leaf changed, a member left out or added, for each of them; and the member's name."""
    if isinstance(doc, dict):
        for key, value in doc.items():
            yield key, {k: v for k, v in doc.items() if k != key}
            for inner, changed in changed_leaves(value):
                yield f"{key}/{inner}", {**doc, key: changed}
        yield "+", {**doc, "zz": 1}
    elif isinstance(doc, list):
        for i, value in enumerate(doc):
            for inner, changed in changed_leaves(value):
                yield f"{i}/{inner}", [*doc[:i], changed, *doc[i + 1 :]]
        yield "+", [*doc, 0]
    elif isinstance(doc, bool):
        yield "", not doc
    elif isinstance(doc, int):
        yield "", doc + 1
    elif isinstance(doc, str):
        yield "", f"{doc}0"
    else:
        yield "", 0


def small() -> InMemoryGame[Any]:
    """A short game with a rewind, a missed deadline and an end."""
    match: InMemoryGame[Any] = InMemoryGame(sealed.RULESET, 3, b"s" * 32)
    play_on(match, random.Random(3), 3)
    match.rewind(match.game.version - 1)
    play_on(match, random.Random(4), 2)
    match.lapse()
    match.rewind(match.game.version - 1, fresh=True)
    match.close("abandoned")
    return match


SMALL = small()
DATA = dump(SMALL.records)
LINES = DATA.splitlines(keepends=True)


def refused_by_both(data: bytes) -> bool:
    """Whether both verifiers refuse."""
    try:
        verify(SMALL.rules, parse(data))
    except VerificationError:
        return bool(fault_of(data))
    return False


class TestTampering:
    """Each change is caught by both verifiers."""

    def test_every_field_of_every_line(self) -> None:
        for number, line in enumerate(LINES):
            for name, changed in changed_leaves(json.loads(line)):
                data = b"".join([*LINES[:number], canonical(changed) + b"\n", *LINES[number + 1 :]])
                assert refused_by_both(data), (number, name)

    @pytest.mark.parametrize("number", range(len(LINES)))
    def test_every_line_dropped_doubled_swapped_and_file_cut_there(self, number: int) -> None:
        before, line, after = LINES[:number], LINES[number], LINES[number + 1 :]
        others = [[*before, *after], [*before, line, line, *after], before]
        if after:
            others.append([*before, after[0], line, *after[1:]])
        if number == len(LINES) - 1:
            others = others[1:2]  # older files lack the last line
        for lines in others:
            assert refused_by_both(b"".join(lines))
            assert refused_by_both(b"".join([*before, line[: len(line) // 2], *after]))


def rechain(docs: list[Any]) -> bytes:
    """The export with seals and hashes computed again, as a forger would."""
    prev = ""
    for doc in docs[1:-1]:
        doc["public"]["prev"] = prev
        if doc["packs"]:
            doc["public"]["seals"] = sorted(map(digest, doc["packs"].values()))
        prev = digest(doc["public"])
    docs[-1]["head"] = prev
    return b"".join(canonical(doc) + b"\n" for doc in docs)


def forge(match: InMemoryGame[Any], change: Callable[[list[Any]], None]) -> bytes:
    """The export of a game, changed by a forger with the whole chain made again."""
    docs = [json.loads(line) for line in dump(match.records).splitlines()]
    change(docs)
    return rechain(docs)


def first_with(docs: list[Any], member: str) -> Any:
    return next(part for doc in docs[1:-1] for part in (doc["public"], *doc["packs"].values()) if part.get(member))


class TestForgery:
    """A forger makes the whole chain again. What follows from the seed gives him away, or a head from elsewhere."""

    def test_the_forger_of_nothing_is_no_forger(self) -> None:
        assert forge(SMALL, lambda docs: None) == DATA

    def test_a_head_from_elsewhere_catches_any(self) -> None:
        def say_later(docs: list[Any]) -> None:
            docs[-2]["public"]["at"] += 1

        data = forge(SMALL, say_later)
        assert fault_of(data) == ""
        assert fault_of(data, SMALL.records[-1].hash) == "chain_broken"

    @pytest.mark.parametrize("name", ["sealed@1", "skirmish@1", "orders@1"])
    def test_a_draw(self, name: str) -> None:
        def change(docs: list[Any]) -> None:
            draw = first_with(docs, "draws")["draws"][0]
            if isinstance(draw[-1], list):
                draw[-1].reverse()
            else:
                draw[-1] = (draw[-1] + 1) % 3

        docs = dump(GAMES[name].records)
        if b'"draws"' in docs:
            assert fault_of(forge(GAMES[name], change)) == "draw_mismatch"

    def test_a_draw_that_is_left_out(self) -> None:
        def change(docs: list[Any]) -> None:
            first_with(docs, "draws")["draws"].pop(0)

        assert fault_of(forge(GAMES["skirmish@1"], change)) == "draw_mismatch"

    def test_the_seed(self) -> None:
        def change(docs: list[Any]) -> None:
            docs[-2]["public"]["body"]["seed"] = "00" * 32

        assert fault_of(forge(SMALL, change)) == "seed_mismatch"

    def test_the_seed_with_its_hash(self) -> None:
        def change(docs: list[Any]) -> None:
            docs[-2]["public"]["body"]["seed"] = "00" * 32
            docs[1]["public"]["body"]["seed_hash"] = ONE_FILE.sha256(bytes(32))

        assert fault_of(forge(SMALL, change)) in ("draw_mismatch", "salt_mismatch")

    def test_a_secret_with_another_salt(self) -> None:
        def change(docs: list[Any]) -> None:
            docs[3]["packs"]["table"]["salt"] = "00" * 16

        assert fault_of(forge(SMALL, change)) == "salt_mismatch"

    def test_an_opening(self) -> None:
        match = next(m for m in GAMES.values() if any(r.public.get("openings") for r in m.records))

        def change(docs: list[Any]) -> None:
            opening = next(o for doc in docs[1:-1] for o in doc["public"].get("openings", ()))
            opening["pack"]["acts"] = []

        assert fault_of(forge(match, change)) == "opening_false"

    def test_a_rewind_to_what_is_undone(self) -> None:
        def change(docs: list[Any]) -> None:
            rewound = [doc["public"] for doc in docs[1:-1] if doc["public"]["kind"] == "rewound"]
            rewound[-1]["body"]["to"] = rewound[0]["v"] - 1

        assert fault_of(forge(SMALL, change)) == "not_on_line"


class TestMissedDeadlines:
    """No default is played before the table's shortest deadline, by the log's own times."""

    def lapsed(self, *, moved: int = 0) -> InMemoryGame[Any]:
        match: InMemoryGame[Any] = InMemoryGame(windows.RULESET, 3, b"s" * 32)
        match.play(0, {"type": "attack", "target": 1})
        if moved:
            match.execute(Extend(match.decisions()[0].id, moved))
        match.lapse()
        match.close("abandoned")
        return match

    def early(self, match: InMemoryGame[Any], ms: int) -> bytes:
        def change(docs: list[Any]) -> None:
            numbers = [i for i, doc in enumerate(docs[1:-1], 1) if doc["public"]["kind"] == "lapsed"]
            for doc in docs[numbers[0] : -1]:
                doc["public"]["at"] -= ms

        return forge(match, change)

    def test_in_time(self) -> None:
        assert fault_of(dump(self.lapsed().records)) == ""

    def test_too_early(self) -> None:
        assert fault_of(self.early(self.lapsed(), DAY // 2)) == "lapsed_early"

    @pytest.mark.parametrize("moved", [-DAY // 2, DAY])
    def test_after_a_ruling(self, moved: int) -> None:
        match = self.lapsed(moved=moved)
        assert fault_of(dump(match.records)) == ""
        assert fault_of(self.early(match, DAY // 4)) == "lapsed_early"


class TestEd25519:
    """The signature's check follows RFC 8032."""

    @pytest.mark.parametrize(
        ("key", "message", "signature"),
        [
            (
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                "",
                (
                    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                    "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
                ),
            ),
            (
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                "72",
                (
                    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
                ),
            ),
            (
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
                "af82",
                (
                    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                    "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
                ),
            ),
        ],
    )
    def test_the_vectors_of_the_rfc(self, key: str, message: str, signature: str) -> None:
        """RFC 8032, section 7.1, tests 1 to 3."""
        parts = (bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature))
        assert ONE_FILE.ed25519_is_valid(*parts)
        assert not ONE_FILE.ed25519_is_valid(parts[0], parts[1] + b"x", parts[2])

    @given(st.binary(min_size=32, max_size=32), st.binary(max_size=99), st.integers(0, 511))
    def test_it_agrees_with_a_library_and_takes_no_changed_bit(self, seed: bytes, message: bytes, bit: int) -> None:
        private = Ed25519PrivateKey.from_private_bytes(seed)
        key, signature = private.public_key().public_bytes_raw(), private.sign(message)
        assert ONE_FILE.ed25519_is_valid(key, message, signature)
        other = (int.from_bytes(signature) ^ 1 << bit).to_bytes(64)
        assert not ONE_FILE.ed25519_is_valid(key, message, other)

    def test_a_second_form_of_a_signature_is_refused(self) -> None:
        """RFC 8032, section 5.1.7: S is smaller than the order of the group."""
        private = Ed25519PrivateKey.from_private_bytes(bytes(32))
        signature = private.sign(b"m")
        second = signature[:32] + (int.from_bytes(signature[32:], "little") + ONE_FILE.L).to_bytes(32, "little")
        assert not ONE_FILE.ed25519_is_valid(private.public_key().public_bytes_raw(), b"m", second)


def test_the_file_is_no_part_of_the_service() -> None:
    """Lines of code longer than a few words are the verifier's own."""
    own = {line.strip() for line in FILE.read_text("utf-8").splitlines() if len(line.strip()) > 60}
    for package in ("domain/kernel", "projections"):
        for path in (FILE.parents[2] / package).rglob("*.py"):
            assert not own & {line.strip() for line in path.read_text("utf-8").splitlines()}, path
