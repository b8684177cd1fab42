"""Signed checkpoints: what was signed never shrinks, and keys come and go in the open."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.errors import NoteError
from domain.ledger import Ledger
from domain.service.replication import read_replication
from domain.transparency.checkpoint import Checkpoint, open_checkpoint
from domain.transparency.checkpoint_store import OTHER_SERVER, RESTORED, CheckpointStore
from domain.transparency.signed_note import SignedNote

ORIGIN = "example.org/v1/log"
ROOTS = {size: bytes([size]) * 32 for size in range(1, 9)}


@pytest.fixture
def store(ledger: Ledger) -> CheckpointStore:
    store = CheckpointStore(ledger, ledger.keys, ORIGIN)
    store.migrate()
    return store


def size_of(store: CheckpointStore) -> int:
    shown = store.public
    assert shown
    keys = [vkey for key in store.keys for vkey in key.keys]
    checkpoint = open_checkpoint(SignedNote.parse(shown.note), keys)
    assert (checkpoint.size, checkpoint.root) == (shown.size, shown.root)
    return checkpoint.size


class TestSigning:
    def test_a_larger_one_takes_the_place_of_a_smaller(self, store: CheckpointStore) -> None:
        assert store.public is None
        for size in (3, 5):
            assert store.sign(size, ROOTS[size], 1_000, show=True)
            assert size_of(store) == size

    @pytest.mark.parametrize("size", [1, 4, 5])
    def test_nothing_smaller_or_other_is_ever_signed(self, store: CheckpointStore, ledger: Ledger, size: int) -> None:
        """Also not by another process, or by one that starts anew."""
        store.sign(5, ROOTS[5], 1_000, show=True)
        for each in (store, CheckpointStore(ledger, ledger.keys, ORIGIN)):
            assert each.sign(size, bytes(32), 2_000, show=True) is None
            assert size_of(each) == 5

    def test_it_is_stored_before_anybody_sees_it(self, store: CheckpointStore) -> None:
        store.sign(3, ROOTS[3], 1_000, show=True)
        signed = store.sign(5, ROOTS[5], 2_000, show=False)
        assert signed
        assert size_of(store) == 3
        assert store.sign(4, ROOTS[4], 3_000, show=True) is None
        store.show_note(SignedNote.parse(signed.note), 3_000)
        assert size_of(store) == 5

    def test_only_what_was_signed_is_shown(self, store: CheckpointStore) -> None:
        store.sign(5, ROOTS[5], 1_000, show=True)
        for other in (Checkpoint(ORIGIN, 4, ROOTS[4]), Checkpoint(ORIGIN, 5, ROOTS[4])):
            store.show_note(SignedNote(other.text, ()), 2_000)
            assert size_of(store) == 5


class TestSeveralServers:
    """What was signed survives whoever takes over, or signing stops and says why."""

    @pytest.fixture
    def at(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int, int], None]:
        """The server is at a timeline; whether it is confirmed, and has standbys."""

        def at(timeline: int, confirmed: int, standbys: int) -> None:
            monkeypatch.setattr(Ledger, "replication_query", f"SELECT {timeline}, {confirmed}, {standbys}")

        return at

    def test_with_asynchronous_standbys_nothing_is_signed(
        self, store: CheckpointStore, at: Callable[..., None]
    ) -> None:
        at(1, 0, 1)
        with pytest.raises(NoteError, match="unconfirmed"):
            store.sign(3, ROOTS[3], 1_000, show=True)
        assert (store.largest, store.halts) == (None, [])
        at(1, 1, 1)
        assert store.sign(3, ROOTS[3], 1_000, show=True)

    def test_confirmed_signatures_go_on_wherever(self, store: CheckpointStore, at: Callable[..., None]) -> None:
        """Also where a synchronous standby was lost for a while, and nothing was signed."""
        at(1, 1, 1)
        assert store.sign(3, ROOTS[3], 1_000, show=True)
        at(2, 1, 1)
        assert store.sign(5, ROOTS[5], 1_000, show=True)
        at(3, 0, 0)
        assert store.sign(7, ROOTS[7], 1_000, show=True)

    def test_a_server_that_may_lack_some_halts_it(
        self, store: CheckpointStore, at: Callable[..., None], ledger: Ledger
    ) -> None:
        eager = CheckpointStore(ledger, ledger.keys, ORIGIN, sign_unconfirmed=True)
        at(1, 0, 1)
        assert eager.sign(3, ROOTS[3], 1_000, show=True)
        at(2, 0, 1)
        assert eager.sign(5, ROOTS[5], 2_000, show=True) is None
        assert (size_of(store), store.halts) == (3, [OTHER_SERVER])
        store.resume(None, None, 3_000)
        assert eager.sign(5, ROOTS[5], 4_000, show=True)

    def test_a_single_server_restored_to_a_point_in_time_halts_it(
        self, store: CheckpointStore, at: Callable[..., None]
    ) -> None:
        at(1, 0, 0)
        assert store.sign(3, ROOTS[3], 1_000, show=True)
        at(2, 0, 0)
        assert store.sign(5, ROOTS[5], 2_000, show=True) is None
        assert store.halts == [OTHER_SERVER]

    def test_the_server_of_the_tests_is_alone(self, ledger: Ledger) -> None:
        found = read_replication(ledger)
        assert not found.may_lose
        assert not found.is_confirmed


class TestHalts:
    def test_nothing_is_signed_until_an_operator_has_compared(self, store: CheckpointStore) -> None:
        store.sign(5, ROOTS[5], 1_000, show=True)
        store.halt(RESTORED, 2_000)
        store.halt(RESTORED, 3_000)
        assert store.halts == [RESTORED]
        assert store.sign(6, ROOTS[6], 4_000, show=True) is None
        store.resume(None, None, 5_000)
        assert store.sign(6, ROOTS[6], 6_000, show=True)

    def test_a_checkpoint_that_somebody_holds_binds_the_log(self, store: CheckpointStore, ledger: Ledger) -> None:
        """It was signed after the backup from which the log was restored."""
        store.sign(7, ROOTS[7], 1_000, show=True)
        shown = store.public
        assert shown
        note = SignedNote.parse(shown.note)
        ledger.execute("DELETE FROM checkpoints")
        store.sign(3, ROOTS[3], 2_000, show=True)
        store.halt(RESTORED, 3_000)
        for root in (None, ROOTS[6]):  # the restored log is shorter, or another
            with pytest.raises(NoteError, match="forked"):
                store.resume(note, root, 4_000)
        assert store.halts
        store.resume(note, ROOTS[7], 5_000)
        assert size_of(store) == 7
        assert store.sign(6, ROOTS[6], 6_000, show=True) is None

    def test_a_foreign_checkpoint_resumes_nothing(self, store: CheckpointStore) -> None:
        store.sign(3, ROOTS[3], 1_000, show=True)
        store.halt(RESTORED, 2_000)
        with pytest.raises(NoteError, match="not_signed"):
            store.resume(SignedNote(Checkpoint(ORIGIN, 7, ROOTS[7]).text, ()), ROOTS[7], 3_000)


class TestKeys:
    def test_the_first_key_is_made_and_its_secret_is_sealed(self, store: CheckpointStore, ledger: Ledger) -> None:
        store.sign(3, ROOTS[3], 1_000, show=True)
        ((sealed,),) = ledger.execute("SELECT secret FROM signing_keys")
        assert len(bytes.fromhex(sealed)) > 32 + 16
        assert [vkey.name for vkey in store.keys[0].keys] == [ORIGIN, ORIGIN]

    def test_old_and_new_sign_for_while_and_old_one_stays_listed(self, store: CheckpointStore) -> None:
        store.sign(3, ROOTS[3], 1_000, show=True)
        old, new = store.keys[0], store.add_key(2_000)
        for vkey in (*old.keys, *new.keys):
            note = store.sign(5, ROOTS[5], 3_000, show=True) or store.public
            assert note
            open_checkpoint(SignedNote.parse(note.note), [vkey])
        store.end_key(old.number, 4_000, "stolen")
        assert [(k.until, k.reason) for k in store.keys] == [(0, ""), (4_000, "stolen")]
        signed = store.sign(6, ROOTS[6], 5_000, show=True)
        assert signed
        with pytest.raises(NoteError, match="not_signed"):
            open_checkpoint(SignedNote.parse(signed.note), old.keys)

    def test_the_last_key_cannot_end(self, store: CheckpointStore) -> None:
        key = store.add_key(1_000)
        for number, code in ((key.number, "key_needed"), (9, "key_unknown")):
            with pytest.raises(NoteError, match=code):
                store.end_key(number, 2_000, "")

    def test_a_key_of_the_settings_is_not_in_the_database(self, ledger: Ledger) -> None:
        store = CheckpointStore(ledger, ledger.keys, ORIGIN, b"s" * 32)
        store.migrate()
        assert store.sign(3, ROOTS[3], 1_000, show=True)
        assert ledger.execute("SELECT secret FROM signing_keys") == [("",)]
        without = CheckpointStore(ledger, ledger.keys, ORIGIN)
        with pytest.raises(NoteError, match="key_missing"):
            without.sign(4, ROOTS[4], 2_000, show=True)

    def test_another_name_is_another_log(self, store: CheckpointStore) -> None:
        """Nothing that was signed under the old name binds it, and the old keys end."""
        store.sign(7, ROOTS[7], 1_000, show=True)
        store.halt(RESTORED, 2_000)
        store.add_key(3_000, "example.org/log-2")
        assert store.halts == []
        assert [bool(key.until) for key in store.keys] == [False, True]
        signed = store.sign(2, ROOTS[2], 4_000, show=True)
        assert signed
        assert signed.note.startswith("example.org/log-2\n2\n")
