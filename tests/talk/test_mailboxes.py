"""Mailboxes as chains, the member `talk` of records, and the proof of a mailbox by its file."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from domain.errors import VerificationError
from domain.kernel.game.director_commands import Hold
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import dump, parse
from domain.kernel.schema.canonical_json import canonical
from domain.talk.mailboxes import MAILBOX_CODES, dump_mailbox, leaf_of, path_of, root_of, verify_mailbox
from domain.transparency.merkle_tree import verify_inclusion
from tests.talk.conftest import REGISTRY, TalkingTable

Doc = dict[str, Any]
FILE = Path(__file__).parents[2] / "clients" / "verifier" / "annals_verify.py"
OLDER = Path(__file__).parent / "older"


def mailbox_docs(table: TalkingTable, seat: int) -> tuple[Doc, list[Doc], list[Doc]]:
    """Header, entries and anchors of a seat's mailbox."""
    records = table.ledger.read(table.game)
    found = table.store.list_entries(table.reader(seat), limit=1000, whole=True)
    entries = [{"commitment": e.commitment} | ({"message": e.message} if e.message else {}) for e in found]
    anchors = table.store.find_anchors(table.game, seat, 3, [r.public["talk"] for r in records])
    header = {"annals_mailbox": 1, "game": table.game, "seat": seat, "entries": len(entries)}
    return header, entries, anchors


def prove(table: TalkingTable, seat: int, docs: tuple[Doc, list[Doc], list[Doc]] | None = None) -> Doc:
    """Verify the file of a mailbox against the export, as somebody without the service does."""
    export = parse(dump(table.ledger.read(table.game)))
    verify(REGISTRY.get("orders@1"), export)
    data = dump_mailbox(*(docs or mailbox_docs(table, seat)))
    return verify_mailbox(export, data.splitlines(keepends=True)).to_json()


def ask_one_file(table: TalkingTable, docs: tuple[Doc, list[Doc], list[Doc]], folder: Path) -> tuple[int, str]:
    """The status and the answer of the one file, on another machine."""
    (folder / "game").write_bytes(dump(table.ledger.read(table.game)))
    (folder / "box").write_bytes(dump_mailbox(*docs))
    command = [sys.executable, "-I", "-S", str(FILE), str(folder / "game"), "--mailbox", str(folder / "box")]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize("seats", range(1, 8))
def test_the_path_of_each_seat_leads_to_the_root(seats: int) -> None:
    leaves = [leaf_of(str(seat), "") for seat in range(seats)]
    for seat, leaf in enumerate(leaves):
        path = [bytes.fromhex(each) for each in path_of(leaves, seat)]
        assert verify_inclusion(bytes.fromhex(root_of(leaves)), leaf, seat, seats, path)


class TestTheMember:
    def test_record_of_table_with_talk_has_a_root_of_its_own(self, table: TalkingTable) -> None:
        table.say(0, "Peace?", 1)
        table.handler.handle(table.game, Hold(1, 60))
        table.close()
        records = table.ledger.read(table.game)
        roots = [record.public["talk"] for record in records]
        assert len({*roots}) == len(records) == 7
        assert {len(root) for root in roots} == {64}
        assert all("talk" not in pack for record in records for pack in record.packs.values())

    @pytest.mark.parametrize("terms", [{}, {"talk": "none"}])
    def test_records_of_other_tables_have_none(self, table: TalkingTable, terms: Doc) -> None:
        table.open(**terms)
        table.close()
        assert not any("talk" in record.public for record in table.ledger.read(table.game))

    @pytest.mark.parametrize("change", ["missing", "added", "form"])
    def test_verify_refuses_a_record_with_another_form_of_it(self, table: TalkingTable, change: str) -> None:
        if change == "added":
            table.open()
        export = parse(dump(table.ledger.read(table.game)))
        public = export.records[-1].public
        if change == "missing":
            del public["talk"]
        else:
            public["talk"] = "0" * 64 if change == "added" else "x"
        with pytest.raises(VerificationError) as fault:
            verify(REGISTRY.get("orders@1"), export)
        assert fault.value.code == "malformed"


class TestTheFile:
    def test_it_proves_each_text_and_says_which_record_anchors_it(self, table: TalkingTable) -> None:
        table.say(0, "Peace?", 1)
        table.say(1, "Yes.", 0)
        table.say(2, "Hello, all.")
        table.close()
        report = prove(table, 0)
        assert report | {"head": ""} == {
            "seat": 0,
            "entries": 3,
            "head": "",
            "readable": 3,
            "not_anchored": 0,
            "records_behind": [],
        }
        assert prove(table, 2)["entries"] == 1

    def test_the_one_file_proves_it_too(self, table: TalkingTable, tmp_path: Path) -> None:
        table.say(0, "Peace?", 1)
        table.say(2, "Hello, all.")
        table.close()
        for seat, count in ((0, 2), (1, 2), (2, 1)):
            status, told = ask_one_file(table, mailbox_docs(table, seat), tmp_path)
            assert status == 0, told
            assert f"checked: {count} messages, {count} with their words, {count} anchored" in told

    def test_an_erased_text_leaves_the_chain_whole(self, table: TalkingTable) -> None:
        table.say(0, "Peace?", 1)
        table.say(1, "Yes.", 0)
        for statement, params in table.store.erase(["p0"]):
            table.ledger.execute(statement, params)
        table.close()
        assert prove(table, 1) | {"head": ""} == {
            "seat": 1,
            "entries": 2,
            "head": "",
            "readable": 1,
            "not_anchored": 0,
            "records_behind": [],
        }
        assert b"Peace" not in dump_mailbox(*mailbox_docs(table, 1))

    def test_record_of_process_without_heads_is_behind_and_no_fault(self, table: TalkingTable) -> None:
        table.say(0, "Peace?", 1)
        table.handler.handle(table.game, Hold(1, 60))
        table.handler.anchors._reset()  # another process writes the next record
        table.close()
        report = prove(table, 0)
        assert (report["not_anchored"], report["records_behind"]) == (0, [7])

    def test_a_message_after_the_last_record_waits_for_its_anchor(self, table: TalkingTable) -> None:
        table.say(0, "Peace?", 1)
        assert prove(table, 1)["not_anchored"] == 1

    @pytest.mark.parametrize(
        ("place", "code"),
        [
            ("text", "commitment_differs"),
            ("nonce", "commitment_differs"),
            ("commitment", "anchor_differs"),
            ("blind", "anchor_differs"),
            ("path", "anchor_differs"),
            ("entry", "anchor_differs"),
            ("swapped", "anchor_differs"),
            ("cut", "mailbox_cut_off"),
            ("anchor", "anchor_missing"),
            ("game", "mailbox_other_game"),
            ("seat", "mailbox_other_game"),
            ("header", "mailbox_unreadable"),
        ],
    )
    def test_a_changed_word_is_found(self, table: TalkingTable, place: str, code: str, tmp_path: Path) -> None:
        table.say(0, "Peace?", 1)
        table.say(1, "Yes.", 0)
        table.close()
        header, entries, anchors = json.loads(canonical(mailbox_docs(table, 0)))
        if place in ("text", "nonce"):
            entries[0]["message"][place] = "War."
        elif place == "commitment":
            entries[0] = {"commitment": "0" * 64}
        elif place in ("blind", "path", "entry"):
            anchors[-1][place] = {"blind": "0" * 64, "path": ["0" * 64], "entry": 1}[place]
        elif place == "swapped":
            entries.reverse()
        elif place == "cut":
            header["entries"] = 9
        elif place == "anchor":
            anchors.pop()
        else:
            header |= {"game": {"game": "x"}, "seat": {"seat": 3}, "header": {"annals_mailbox": 2}}[place]
        with pytest.raises(VerificationError) as fault:
            prove(table, 0, (header, entries, anchors))
        assert fault.value.code == code
        assert code in MAILBOX_CODES
        if place not in ("game", "header"):  # the one file finds another game by its roots
            assert ask_one_file(table, (header, entries, anchors), tmp_path)[0] in (1, 2)

    def test_any_other_line_is_refused(self, table: TalkingTable) -> None:
        export = parse(dump(table.ledger.read(table.game)))
        for data in (b"", b"[]\n", b"{}\n", b'{"annals_mailbox": 1}\n', b"\xff\n", b"[" * 5000):
            with pytest.raises(VerificationError) as fault:
                verify_mailbox(export, [data])
            assert fault.value.code == "mailbox_unreadable"


@pytest.mark.parametrize("path", sorted(OLDER.glob("*.py.xz")), ids=lambda path: path.name)
def test_older_copies_of_one_file_say_that_games_with_talk_hold(table: TalkingTable, path: Path) -> None:
    """Somebody has kept such a copy, and compares nothing with the service any more."""
    one_file: dict[str, Any] = {"__name__": "annals_verify"}
    exec(lzma.decompress(path.read_bytes()), one_file)  # noqa: S102 - our own file of an earlier release
    table.say(0, "Peace?", 1)
    for viewer in ("public", "director", 1):
        one_file["verify_export"](dump(table.ledger.read(table.game), viewer).splitlines(keepends=True))
    table.close()
    game = one_file["verify_export"](dump(table.ledger.read(table.game)).splitlines(keepends=True))
    assert game.closed
