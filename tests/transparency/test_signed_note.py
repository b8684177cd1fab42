"""Notes, checkpoints and proofs as text: what is signed is accepted by others, anything else is refused by name."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import NoteError
from domain.transparency.checkpoint import Checkpoint, Signer, open_checkpoint
from domain.transparency.merkle_tree import (
    consistency_path,
    inclusion_path,
    leaf_hash,
    node_hash,
    range_root,
)
from domain.transparency.signed_note import SignedNote, VerifierKey
from domain.transparency.tlog_proof import AddCheckpoint, TlogProof
from tests.kernel.test_one_file_verifier import ONE_FILE

LOG = Signer("example.org/v1/log", b"l" * 32)
WITNESS = Signer("witness.example/w1", b"w" * 32, witness=True)
NOW = 1_795_000_000
RECORDS = [f"{i:064x}" for i in range(1, 12)]


def read(place: tuple[int, int]) -> bytes:
    level, number = place
    if not level:
        return leaf_hash(RECORDS[number])
    return node_hash(read((level - 1, 2 * number)), read((level - 1, 2 * number + 1)))


def signed(size: int, *, witnessed: bool = True) -> SignedNote:
    """A checkpoint of the first records, by the log and by a witness."""
    text = Checkpoint("example.org/v1/log", size, range_root(read, 0, size)).text
    note = SignedNote(text, tuple(LOG.sign(text, NOW)))
    return note.add(WITNESS.sign(text, NOW)) if witnessed else note


KEYS = [*LOG.keys, *WITNESS.keys]


class TestRoundTrips:
    def test_every_text_is_read_back(self) -> None:
        note, path = signed(11), inclusion_path(read, 4, 11)
        assert SignedNote.parse(str(note)) == note
        assert [VerifierKey.parse(str(key)) for key in KEYS] == KEYS
        assert str(TlogProof.parse(str(TlogProof(4, path, note)))) == str(TlogProof(4, path, note))
        request = AddCheckpoint(7, consistency_path(read, 7, 11), note)
        assert str(AddCheckpoint.parse(str(request))) == str(request)

    def test_four_keys_sign_and_each_alone_suffices(self) -> None:
        for key in KEYS:
            assert open_checkpoint(signed(11), [key]) == Checkpoint("example.org/v1/log", 11, range_root(read, 0, 11))

    def test_the_message_of_the_lattice_signature_names_the_log(self) -> None:
        """A signature for one log does not hold for another of the same size and root."""
        other = Checkpoint("example.org/other", 11, range_root(read, 0, 11)).text
        with pytest.raises(NoteError, match="signature_false"):
            open_checkpoint(SignedNote(other, signed(11).signatures), [LOG.keys[1]])


class TestForeignReaders:
    """Programs that others wrote accept checkpoints, cosignatures and proofs."""

    def test_the_verifier_in_one_file(self) -> None:
        keys = list(map(str, KEYS))
        checkpoint = ONE_FILE.Checkpoint(str(signed(11)), keys)
        assert checkpoint.signers == ["example.org/v1/log", "witness.example/w1"]
        assert checkpoint.unchecked == ["example.org/v1/log", "witness.example/w1"]
        for index in range(11):
            proof = str(TlogProof(index, inclusion_path(read, index, 11), signed(11)))
            assert ONE_FILE.verify_proof(proof, keys, RECORDS)[1] == index + 1
        for old in range(1, 12):
            pair = (ONE_FILE.Checkpoint(str(signed(old)), keys), checkpoint)
            assert ONE_FILE.consistency_is_valid(*pair, consistency_path(read, old, 11))
            if old < 11:
                assert not ONE_FILE.consistency_is_valid(*pair, consistency_path(read, old, 11)[:-1])

    @pytest.mark.skipif(sys.platform != "linux", reason="the library has no wheel here")
    def test_metamorphic_log(self) -> None:
        """It knows Ed25519 as the log signs, and RFC 6962."""
        library = pytest.importorskip("metamorphic_log")
        vkeys, note = [str(LOG.keys[0])], str(signed(11))
        assert library.checkpoint_verify(note, vkeys).size == 11
        for index in range(11):
            path = inclusion_path(read, index, 11)
            library.checkpoint_verify_inclusion(note, vkeys, index, leaf_hash(RECORDS[index]), path)
        for old in range(1, 11):
            library.checkpoint_verify_consistency(str(signed(old)), note, vkeys, consistency_path(read, old, 11))
        with pytest.raises(library.VerifyError):
            library.checkpoint_verify(note.replace("\n11\n", "\n10\n"), vkeys)

    def test_tlog_scales(self) -> None:
        """It knows all three kinds of signatures."""
        signing = pytest.importorskip("tlog_scales.signing")
        tlog = pytest.importorskip("tlog_scales.tlog")
        checkpoint = tlog.Checkpoint.from_text(str(signed(11)))
        vkeys = signing.VkeySet(*(signing.Vkey.from_string(str(key)) for key in KEYS))
        valid = {vkey.sig_type for vkey, _ in vkeys.verify(checkpoint.signatures, checkpoint)}
        assert valid == {1, 4, 6}


def test_the_sample_of_the_findings_is_ours() -> None:
    """The checkers of docs/audit.md are given what this code signs and proves."""
    sample = json.loads((Path(__file__).parents[2] / "findings" / "checkpoint.json").read_text("utf-8"))
    assert sample["keys"] == {"log": list(map(str, LOG.keys)), "witness": list(map(str, WITNESS.keys))}
    assert sample["records"] == RECORDS
    for key in KEYS:
        assert open_checkpoint(SignedNote.parse(sample["checkpoint"]), [key]).size == 11
    assert open_checkpoint(SignedNote.parse(sample["old"]), LOG.keys).size == 7
    assert TlogProof.parse(sample["proof"] + sample["checkpoint"]).path == inclusion_path(read, 4, 11)
    assert list(map(bytes.fromhex, sample["consistency"])) == consistency_path(read, 7, 11)


NOTE = str(signed(5))
PROOF = str(TlogProof(3, inclusion_path(read, 3, 5), signed(5)))
REQUEST = str(AddCheckpoint(3, consistency_path(read, 3, 5), signed(5)))
READERS: list[tuple[str, Callable[[str], object]]] = [
    (NOTE, lambda text: open_checkpoint(SignedNote.parse(text), KEYS)),
    (PROOF, lambda text: open_checkpoint(TlogProof.parse(text).note, KEYS)),
    (REQUEST, lambda text: open_checkpoint(AddCheckpoint.parse(text).note, KEYS)),
    (str(LOG.keys[0]), VerifierKey.parse),
]


@pytest.mark.parametrize(("sound", "reader"), READERS, ids=["checkpoint", "proof", "cosignature request", "key"])
class TestBadInput:
    @given(data=st.data())
    def test_any_changed_text_is_refused_by_name_or_says_the_same(
        self, sound: str, reader: Callable[[str], object], data: st.DataObject
    ) -> None:
        at = data.draw(st.integers(0, len(sound) - 1))
        new = data.draw(st.text(max_size=3))
        with suppress(NoteError):
            assert reader(sound[:at] + new + sound[at + 1 :]) == reader(sound)

    @given(st.text(max_size=200))
    def test_any_text_is_refused_by_name(self, sound: str, reader: Callable[[str], object], text: str) -> None:
        with pytest.raises(NoteError):
            reader(text)

    @pytest.mark.parametrize("filler", ["\n", "— a AAAAAAAA\n", "A" * 44 + "\n", "9" * 300])
    def test_large_texts_are_refused_at_once(self, sound: str, reader: Callable[[str], object], filler: str) -> None:
        for text in (sound + filler * 20_000, filler * 20_000 + sound, sound.replace("0", "0" + filler * 20_000, 1)):
            with pytest.raises(NoteError):
                reader(text)


@pytest.mark.parametrize("size", ["05", "-1", "5.0", "0x5", "", "5 ", "9" * 30, "\u0665"])
def test_a_size_has_one_form(size: str) -> None:
    with pytest.raises(NoteError, match="checkpoint_malformed"):
        Checkpoint.parse(signed(5).text.replace("\n5\n", f"\n{size}\n"))
