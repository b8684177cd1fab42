"""Seeds rest encrypted, and only the right key opens them."""

import hmac

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from domain.errors import UnknownGame, WrongKey
from domain.ledger import Ledger
from domain.service.keyring import Keyring, fingerprint
from domain.service.seed_store import SeedStore
from tests.contracts.context import KEY, begin, game, together


def make_seed_store(ledger: Ledger, key: bytes = KEY) -> SeedStore:
    return SeedStore(ledger, Keyring(ledger, key))


class TestSeedStore:
    def test_a_seed_is_32_bytes_and_comes_back(self, ledger: Ledger) -> None:
        seed = make_seed_store(ledger).create(game())
        assert len(seed) == 32
        assert make_seed_store(ledger).seed(game()) == seed

    def test_every_game_has_its_own(self, ledger: Ledger) -> None:
        seed_store = make_seed_store(ledger)
        assert len({seed_store.create(game(n)) for n in range(5)}) == 5

    def test_creating_again_gives_the_seed_that_is_there(self, ledger: Ledger) -> None:
        seed_store = make_seed_store(ledger)
        assert seed_store.create(game()) == seed_store.create(game())

    def test_a_game_without_a_seed_is_unknown(self, ledger: Ledger) -> None:
        with pytest.raises(UnknownGame):
            make_seed_store(ledger).seed(game())

    def test_another_key_does_not_open_it(self, ledger: Ledger) -> None:
        make_seed_store(ledger).create(game())
        other = make_seed_store(ledger, KEY[::-1])
        for use in (other.seed, other.create):
            with pytest.raises(WrongKey):
                use(game())

    def test_the_box_of_another_game_does_not_open(self, ledger: Ledger) -> None:
        seed_store = make_seed_store(ledger)
        seed_store.create(game(1))
        ledger.execute("UPDATE seeds SET game = ?", (game(2),))
        with pytest.raises(WrongKey):
            seed_store.seed(game(2))

    def test_what_is_stored_shows_neither_seed_nor_key(self, ledger: Ledger) -> None:
        seed_store = make_seed_store(ledger)
        seed = seed_store.create(game())
        ((_, nonce, box),) = ledger.execute("SELECT * FROM seeds")
        assert seed not in bytes(nonce) + bytes(box)
        assert KEY.hex() not in repr(seed_store) + repr(vars(seed_store))

    @pytest.mark.parametrize("key", [b"", b"short", b"x" * 31, b"x" * 33])
    def test_a_key_has_32_bytes(self, ledger: Ledger, key: bytes) -> None:
        with pytest.raises(ValueError, match="32 bytes"):
            make_seed_store(ledger, key)


class TestTheKeyOfALedger:
    """A wrong key is told before anything is done with it."""

    def test_the_first_key_stays(self, ledger: Ledger) -> None:
        make_seed_store(ledger).check()
        make_seed_store(ledger).check()
        with pytest.raises(WrongKey):
            make_seed_store(ledger, KEY[::-1]).check()

    def test_no_game_is_opened_with_another(self, ledger: Ledger) -> None:
        """Two nodes that have made a key each, and know nothing of each other."""
        make_seed_store(ledger).create(game(1))
        with pytest.raises(WrongKey):
            make_seed_store(ledger, KEY[::-1]).create(game(2))
        assert len(ledger.execute("SELECT game FROM seeds")) == 1

    def test_what_is_kept_of_it_opens_nothing(self, ledger: Ledger) -> None:
        make_seed_store(ledger).check()
        assert KEY.hex() not in str(ledger.execute("SELECT * FROM keyring"))

    def test_of_two_that_begin_at_once_one_is_the_first(self, url: str, ledger: Ledger) -> None:
        """Two nodes that have made a key each."""
        found = together(4, begin, url)
        assert sorted(set(found)) in ([0, 1], [1])
        assert len(ledger.execute("SELECT DISTINCT mark FROM keyring")) == 1


class TestALedgerOfBefore:
    """Its seeds rest under the master key itself, which a mark names, or nothing."""

    SEED = b"s" * 32

    @pytest.fixture(params=["a mark", "no mark"])
    def old(self, request: pytest.FixtureRequest, ledger: Ledger) -> Ledger:
        box = AESGCM(KEY).encrypt(b"n" * 12, self.SEED, game().encode())
        ledger.execute("INSERT INTO seeds VALUES (?, ?, ?)", (game(), b"n" * 12, box))
        if request.param == "a mark":
            ledger.execute("INSERT INTO master_key VALUES (1, ?)", (fingerprint(KEY),))
        return ledger

    def test_its_seeds_open_with_its_key_and_no_other(self, old: Ledger) -> None:
        with pytest.raises(WrongKey):
            make_seed_store(old, KEY[::-1]).check()
        make_seed_store(old).check()
        assert make_seed_store(old).seed(game()) == self.SEED
        with pytest.raises(WrongKey):
            make_seed_store(old, KEY[::-1]).check()

    def test_repeated_requests_keep_their_answers(self, old: Ledger) -> None:
        assert Keyring(old, KEY).request_key() == hmac.digest(KEY, b"annals requests", "sha256")

    def test_nothing_rests_under_a_master_key_that_is_to_be_changed(self, old: Ledger) -> None:
        seed_store = make_seed_store(old)
        for _ in range(2):
            seed_store.reseal()
            assert seed_store.seed(game()) == self.SEED
        assert [bytes(nonce) for (nonce,) in old.execute("SELECT nonce FROM seeds")] == [b""]


class TestAnotherMasterKey:
    NEW = KEY[::-1]

    def test_both_open_the_ledger_until_the_change_is_finished(self, ledger: Ledger) -> None:
        seed, requests = make_seed_store(ledger).create(game()), Keyring(ledger, KEY).request_key()
        for _ in range(2):
            Keyring(ledger, KEY).add_master_key(self.NEW)
        for key in (KEY, self.NEW):
            assert make_seed_store(ledger, key).seed(game()) == seed
            assert Keyring(ledger, key).request_key() == requests
        assert Keyring(ledger, self.NEW).count_master_keys() == 2

    def test_once_it_is_finished_the_old_one_opens_nothing(self, ledger: Ledger) -> None:
        seed, requests = make_seed_store(ledger).create(game()), Keyring(ledger, KEY).request_key()
        Keyring(ledger, KEY).add_master_key(self.NEW)
        assert Keyring(ledger, self.NEW).complete_rotation() == 1
        with pytest.raises(WrongKey):
            make_seed_store(ledger).check()
        assert make_seed_store(ledger, self.NEW).seed(game()) == seed
        assert Keyring(ledger, self.NEW).request_key() == requests

    def test_finishing_again_changes_nothing(self, ledger: Ledger) -> None:
        keys = Keyring(ledger, KEY)
        keys.check()
        before = ledger.execute("SELECT * FROM keyring")
        assert keys.complete_rotation() == 0
        assert ledger.execute("SELECT * FROM keyring") == before

    def test_who_had_the_old_key_and_old_copy_opens_nothing_newer(self, ledger: Ledger) -> None:
        """What is written after the change rests under a key that no old copy holds."""
        Keyring(ledger, KEY).check()
        thief = Keyring(ledger, KEY)
        thief.check()
        Keyring(ledger, KEY).add_master_key(self.NEW)
        Keyring(ledger, self.NEW).complete_rotation()
        sealed = Keyring(ledger, self.NEW).seal(game(), "hand", b"aces")
        with pytest.raises(WrongKey):
            thief.open(game(), "hand", sealed)

    def test_a_process_that_was_there_before_reads_what_came_after(self, ledger: Ledger) -> None:
        Keyring(ledger, KEY).add_master_key(self.NEW)
        early, late = Keyring(ledger, self.NEW), Keyring(ledger, self.NEW)
        early.check()
        late.complete_rotation()
        assert early.open(game(), "hand", late.seal(game(), "hand", b"aces")) == b"aces"
        assert late.open(game(), "hand", early.seal(game(), "hand", b"aces")) == b"aces"

    def test_only_who_opens_the_ledger_changes_it(self, ledger: Ledger) -> None:
        Keyring(ledger, KEY).check()
        for use in (
            lambda: Keyring(ledger, self.NEW).complete_rotation(),
            lambda: Keyring(ledger, self.NEW).add_master_key(b"x" * 32),
        ):
            with pytest.raises(WrongKey):
                use()


class TestSealing:
    @pytest.mark.parametrize(("name", "about"), [(game(2), "hand"), (game(1), "sheet")])
    def test_what_is_sealed_opens_in_its_place_alone(self, ledger: Ledger, name: str, about: str) -> None:
        keys = Keyring(ledger, KEY)
        sealed = keys.seal(game(1), "hand", b"aces")
        assert b"aces" not in sealed
        with pytest.raises(ValueError, match="not what was sealed"):
            keys.open(name, about, sealed)

    def test_equal_secrets_look_different(self, ledger: Ledger) -> None:
        keys = Keyring(ledger, KEY)
        assert keys.seal(game(), "hand", b"aces") != keys.seal(game(), "hand", b"aces")

    @pytest.mark.parametrize("sealed", [b"", b"\x00\x01", b"\x00\x01" + bytes(27)])
    def test_too_few_bytes_are_no_seal(self, ledger: Ledger, sealed: bytes) -> None:
        with pytest.raises(ValueError, match="short"):
            Keyring(ledger, KEY).open(game(), "hand", sealed)

    def test_a_key_that_is_gone_from_the_ring_is_told(self, ledger: Ledger) -> None:
        keys = Keyring(ledger, KEY)
        sealed = keys.seal(game(), "hand", b"aces")
        keys.add_master_key(KEY[::-1])
        Keyring(ledger, KEY[::-1]).complete_rotation()
        ledger.execute("DELETE FROM keyring WHERE number = 1")
        with pytest.raises(WrongKey):
            Keyring(ledger, KEY[::-1]).open(game(), "hand", sealed)

    @pytest.mark.parametrize("number", [b"\x00\x00", b"\x00\x09", b"\x80\x01"])
    def test_a_key_that_was_never_on_the_ring_means_other_bytes(self, ledger: Ledger, number: bytes) -> None:
        """Nor does the one open anything from which the answers to requests are derived."""
        sealed = number + Keyring(ledger, KEY).seal(game(), "hand", b"aces")[2:]
        with pytest.raises(ValueError, match="no ring"):
            Keyring(ledger, KEY).open(game(), "hand", sealed)
