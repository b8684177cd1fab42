"""A witness cosigns a log that has only grown, and nothing else, whatever comes at once or in between."""

from __future__ import annotations

import sys
import threading

import pytest

from domain.errors import NoteError
from domain.ledger import Ledger
from domain.transparency.checkpoint import Checkpoint, Signer, find_valid_signatures, open_checkpoint
from domain.transparency.merkle_tree import consistency_path
from domain.transparency.policy_file import parse_logs, parse_witnesses
from domain.transparency.signed_note import SignedNote
from domain.transparency.tlog_proof import AddCheckpoint
from domain.transparency.witness_store import SizeConflict, WitnessStore, hash_origin
from tests.transparency.test_signed_note import LOG, WITNESS, read, signed

ORIGIN = LOG.keys[0].name
LOGS = parse_logs(f"# logs of friends\n\nlog {LOG.keys[0]} https://example.org/v1/log\nlog {LOG.keys[1]}\n")
OTHER = Signer("example.org/v1/log", b"o" * 32)


def ask(old: int, size: int, **changed: object) -> AddCheckpoint:
    path = consistency_path(read, old, size) if 0 < old < size else []
    return AddCheckpoint(**{"old": old, "path": path, "note": signed(size, witnessed=False), **changed})  # type: ignore[arg-type]


def note_of(text: str, signer: Signer = LOG) -> SignedNote:
    return SignedNote(text, tuple(signer.sign(text, 1)))


@pytest.fixture
def witness(ledger: Ledger) -> WitnessStore:
    store = WitnessStore(ledger, ledger.keys, "witness.example/v1/witness", LOGS)
    store.migrate()
    return store


def size_of(witness: WitnessStore) -> int:
    """The size that anybody can read of the witness."""
    note, key = witness.find_note(hash_origin(ORIGIN)), witness.key
    assert note
    assert key
    parsed = SignedNote.parse(note)
    assert len(find_valid_signatures(parsed, key.keys)) == 2
    return open_checkpoint(parsed, LOG.keys).size


class TestGrowth:
    def test_a_log_is_followed_from_its_first_checkpoint(self, witness: WitnessStore) -> None:
        assert witness.find_note(hash_origin(ORIGIN)) is None
        for old, size in ((0, 3), (3, 8), (8, 8), (8, 11)):
            note = ask(old, size).note.add(witness.cosign(ask(old, size), 5_000))
            assert size_of(witness) == size
            assert witness.key
            assert open_checkpoint(note, witness.key.keys[:1]).size == size

    def test_a_request_from_elsewhere_is_told_the_size(self, witness: WitnessStore) -> None:
        witness.cosign(ask(0, 5), 1_000)
        for old in (0, 3, 8):
            with pytest.raises(SizeConflict) as told:
                witness.cosign(ask(old, 8), 2_000)
            assert told.value.size == 5
        assert size_of(witness) == 5

    def test_a_smaller_log_is_none_that_grew(self, witness: WitnessStore) -> None:
        witness.cosign(ask(0, 5), 1_000)
        with pytest.raises(NoteError, match="old_size_larger"):
            witness.cosign(ask(5, 3), 2_000)

    @pytest.mark.parametrize(("old", "size"), [(5, 5), (5, 8)])
    def test_another_tree_is_refused(self, witness: WitnessStore, old: int, size: int) -> None:
        """The log signs two histories; the witness has seen the first."""
        witness.cosign(ask(0, 5), 1_000)
        fork = note_of(Checkpoint(ORIGIN, size, b"f" * 32).text)
        with pytest.raises(NoteError, match="log_inconsistent"):
            witness.cosign(ask(old, size, note=fork), 2_000)
        assert size_of(witness) == 5

    @pytest.mark.parametrize("path", [[], [b"x" * 32]])
    def test_a_false_proof_is_refused(self, witness: WitnessStore, path: list[bytes]) -> None:
        witness.cosign(ask(0, 5), 1_000)
        with pytest.raises(NoteError, match="log_inconsistent"):
            witness.cosign(ask(5, 8, path=path), 2_000)

    def test_the_first_request_has_no_proof(self, witness: WitnessStore) -> None:
        with pytest.raises(NoteError, match="log_inconsistent"):
            witness.cosign(ask(0, 5, path=[b"x" * 32]), 1_000)
        empty = note_of(Checkpoint(ORIGIN, 0, b"x" * 32).text)
        with pytest.raises(NoteError, match="log_inconsistent"):
            witness.cosign(ask(0, 1, note=empty), 1_000)

    def test_of_two_histories_at_once_one_is_cosigned(self, witness: WitnessStore, ledger: Ledger) -> None:
        """Both requests compare with the same stored checkpoint; the store decides."""
        witness.cosign(ask(0, 3), 1_000)
        results: list[str] = []

        def race(size: int) -> None:
            each = WitnessStore(ledger, ledger.keys, "", LOGS)
            try:
                each.cosign(ask(3, size), 2_000)
                results.append("cosigned")
            except SizeConflict as error:
                results.append(f"at {error.size}")

        threads = [threading.Thread(target=race, args=(size,)) for size in (5, 8, 11)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == sorted(["cosigned", *[f"at {size_of(witness)}"] * 2])

    def test_the_state_that_was_compared_must_still_be_there(
        self, witness: WitnessStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A request that was compared before a larger one was stored rolls nothing back."""
        witness.cosign(ask(0, 3), 1_000)
        before = witness._read_state(hash_origin(ORIGIN))
        witness.cosign(ask(3, 11), 1_000)
        states = iter([before])
        real = witness._read_state
        monkeypatch.setattr(witness, "_read_state", lambda place: next(states, None) or real(place))
        with pytest.raises(SizeConflict, match="11"):
            witness.cosign(ask(3, 5), 2_000)
        assert size_of(witness) == 11


class TestSigners:
    def test_an_unknown_log_is_refused(self, witness: WitnessStore) -> None:
        stranger = Signer("stranger.example", b"s" * 32)
        text = Checkpoint("stranger.example", 1, b"r" * 32).text
        with pytest.raises(NoteError, match="log_unknown"):
            witness.cosign(ask(0, 1, note=note_of(text, stranger)), 1_000)

    def test_another_key_or_false_signature_of_known_key_is_refused(self, witness: WitnessStore) -> None:
        text = signed(5).text
        with pytest.raises(NoteError, match="not_signed"):
            witness.cosign(ask(0, 5, note=note_of(text, OTHER)), 1_000)
        with pytest.raises(NoteError, match="signature_false"):
            witness.cosign(ask(0, 5, note=SignedNote(text, signed(4).signatures)), 1_000)

    def test_foreign_signatures_are_not_kept(self, witness: WitnessStore) -> None:
        note = ask(0, 5).note.add(OTHER.sign(signed(5).text, 1))
        witness.cosign(ask(0, 5, note=note), 1_000)
        kept = witness.find_note(hash_origin(ORIGIN))
        assert kept
        assert len(SignedNote.parse(kept).signatures) == 4


class TestKey:
    def test_it_is_made_once_sealed_and_no_key_of_the_log(self, witness: WitnessStore, ledger: Ledger) -> None:
        key = witness.ensure_key(1)
        assert witness.ensure_key(2) == key == WitnessStore(ledger, ledger.keys, "other.example").ensure_key(3)
        assert [each.kind for each in key.keys] == [4, 6]
        assert Signer("a", b"w" * 32).keys[0].key != Signer("a", b"w" * 32, witness=True).keys[0].key
        ((secret,),) = ledger.execute("SELECT secret FROM witness_keys")
        assert len(secret) > 64

    def test_a_renewed_one_is_another_witness(self, witness: WitnessStore) -> None:
        old = witness.ensure_key(1)
        new = witness.renew_key(2)
        assert new.name == old.name
        assert set(new.keys).isdisjoint(old.keys)
        assert witness.key == new


def test_programs_of_others_accept_a_cosignature(witness: WitnessStore) -> None:
    note = str(ask(0, 8).note.add(witness.cosign(ask(0, 8), 9_000_000)))
    assert witness.key
    signing, tlog = pytest.importorskip("tlog_scales.signing"), pytest.importorskip("tlog_scales.tlog")
    checkpoint = tlog.Checkpoint.from_text(note)
    vkeys = signing.VkeySet(*(signing.Vkey.from_string(str(key)) for key in witness.key.keys))
    assert {vkey.sig_type for vkey, _ in vkeys.verify(checkpoint.signatures, checkpoint)} == {4, 6}
    if sys.platform == "linux":
        library = pytest.importorskip("metamorphic_log")
        assert library.checkpoint_verify(note, [str(LOG.keys[0])]).size == 8


class TestFiles:
    def test_two_keys_of_one_url_are_one_witness(self) -> None:
        lines = [f"witness w{i} {key} https://w.example/v1/witness/" for i, key in enumerate(WITNESS.keys)]
        (found,) = parse_witnesses("\n".join(lines))
        assert (found.name, found.url, found.keys) == ("w0", "https://w.example/v1/witness", WITNESS.keys)
        assert {ORIGIN: LOG.keys} == LOGS

    @pytest.mark.parametrize(
        "line",
        [
            "quorum none",
            "witness w",
            f"witness w {WITNESS.keys[0]}",
            f"witness w {WITNESS.keys[0]} ftp://w.example",
            f"witness w {WITNESS.keys[0]} https://u:p@w.example",
            f"witness w {WITNESS.keys[0]} https://w.example?a=b",
            f"witness w {LOG.keys[0]} https://w.example",
            f"witness none {WITNESS.keys[0]} https://w.example",
            f"witness w {WITNESS.keys[0]} https://w.example\nwitness v {WITNESS.keys[0]} https://v.example",
            f"witness w {WITNESS.keys[0]} https://w.example more",
        ],
    )
    def test_any_other_line_is_named(self, line: str) -> None:
        with pytest.raises(NoteError, match=r"policy_malformed: line [23]"):
            parse_witnesses(f"# witnesses\n{line}\n")
        with pytest.raises(NoteError, match="policy_malformed: line 2"):
            parse_logs(f"# logs\n{line}\n")
