"""Seeds rest encrypted, and only the right key opens them."""

import pytest

from domain.beside.vault import Vault
from domain.errors import UnknownGame, WrongKey
from domain.ledger import Ledger
from tests.contracts.crew import KEY, game


class TestVault:
    def test_a_seed_is_32_bytes_and_comes_back(self, ledger: Ledger) -> None:
        seed = Vault(ledger, KEY).create(game())
        assert len(seed) == 32
        assert Vault(ledger, KEY).seed(game()) == seed

    def test_every_game_has_its_own(self, ledger: Ledger) -> None:
        vault = Vault(ledger, KEY)
        assert len({vault.create(game(n)) for n in range(5)}) == 5

    def test_creating_again_gives_the_seed_that_is_there(self, ledger: Ledger) -> None:
        vault = Vault(ledger, KEY)
        assert vault.create(game()) == vault.create(game())

    def test_a_game_without_a_seed_is_unknown(self, ledger: Ledger) -> None:
        with pytest.raises(UnknownGame):
            Vault(ledger, KEY).seed(game())

    def test_another_key_does_not_open_it(self, ledger: Ledger) -> None:
        Vault(ledger, KEY).create(game())
        other = Vault(ledger, KEY[::-1])
        for use in (other.seed, other.create):
            with pytest.raises(WrongKey):
                use(game())

    def test_the_box_of_another_game_does_not_open(self, ledger: Ledger) -> None:
        vault = Vault(ledger, KEY)
        vault.create(game(1))
        ledger.execute("UPDATE seeds SET game = ?", (game(2),))
        with pytest.raises(WrongKey):
            vault.seed(game(2))

    def test_what_is_stored_shows_neither_seed_nor_key(self, ledger: Ledger) -> None:
        vault = Vault(ledger, KEY)
        seed = vault.create(game())
        ((_, nonce, box),) = ledger.execute("SELECT * FROM seeds")
        assert seed not in bytes(nonce) + bytes(box)
        assert KEY.hex() not in repr(vault) + repr(vars(vault))

    @pytest.mark.parametrize("key", [b"", b"short", b"x" * 31, b"x" * 33])
    def test_a_key_has_32_bytes(self, ledger: Ledger, key: bytes) -> None:
        with pytest.raises(ValueError, match="32 bytes"):
            Vault(ledger, key)


class TestTheKeyOfALedger:
    """A wrong key is told before anything is done with it."""

    def test_the_first_key_stays(self, ledger: Ledger) -> None:
        Vault(ledger, KEY).check()
        Vault(ledger, KEY).check()
        with pytest.raises(WrongKey):
            Vault(ledger, KEY[::-1]).check()

    def test_no_game_is_opened_with_another(self, ledger: Ledger) -> None:
        """Two nodes that have made a key each, and know nothing of each other."""
        Vault(ledger, KEY).create(game(1))
        with pytest.raises(WrongKey):
            Vault(ledger, KEY[::-1]).create(game(2))
        assert len(ledger.execute("SELECT game FROM seeds")) == 1

    def test_in_a_ledger_without_a_mark_a_seed_is_tried(self, ledger: Ledger) -> None:
        Vault(ledger, KEY).create(game())
        ledger.execute("DELETE FROM master_key")
        with pytest.raises(WrongKey):
            Vault(ledger, KEY[::-1]).check()
        Vault(ledger, KEY).check()

    def test_what_is_kept_of_it_opens_nothing(self, ledger: Ledger) -> None:
        Vault(ledger, KEY).check()
        assert KEY.hex() not in str(ledger.execute("SELECT * FROM master_key"))
