"""Section 3 and readings 1 and 2 of section 15: the chain of secrets, keys and orders of draws."""

from __future__ import annotations

import hashlib
import hmac
import json
from itertools import pairwise

import pytest

from domain.errors import TournamentError
from domain.tournaments.draw import commit_nonce, draw_order, follows_in_chain, make_chain, tournament_draw_key

SECRET = bytes(range(32))


def plain_json(value: object) -> bytes:
    """The canonical form, by another library."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def test_3_each_secret_proves_the_one_before() -> None:
    chain = make_chain(SECRET, 64)
    assert (len(chain), chain[-1]) == (65, SECRET)
    assert all(hashlib.sha256(after).digest() == before for before, after in pairwise(chain))
    assert follows_in_chain(chain[2], chain[1])
    assert not follows_in_chain(chain[3], chain[1])


@pytest.mark.parametrize("draws", [0, 4097])
def test_3_a_chain_has_1_to_4096_draws(draws: int) -> None:
    with pytest.raises(TournamentError, match="chain_impossible"):
        make_chain(SECRET, draws)


def test_15_2_the_key_is_that_of_the_formula() -> None:
    """Nonces in entrant order with "" for one not shown, UTF-8 unescaped, the inner hash in lower-case hex."""
    nonces = {10: "é\u2028", 2: "", 0: "aa"}
    inner = hashlib.sha256(plain_json([[0, "aa"], [2, ""], [10, "é\u2028"]])).hexdigest()
    expected = hmac.digest(SECRET, plain_json(["annals/draw/1", "spring", 3, 7, inner]), "sha256")
    assert tournament_draw_key(SECRET, "spring", 3, 7, nonces) == expected
    assert commit_nonce("é") == hashlib.sha256("é".encode()).hexdigest()


def test_15_1_entrants_stand_by_their_keyed_hash() -> None:
    def value(entrant: int) -> bytes:
        return hmac.digest(SECRET, f'["order",{entrant}]'.encode(), "sha256")

    assert draw_order(SECRET, range(50)) == sorted(range(50), key=value)


def test_15_1_entrant_outside_the_draw_does_not_move_the_others() -> None:
    assert [entrant for entrant in draw_order(SECRET, range(30)) if entrant % 2] == draw_order(SECRET, range(1, 30, 2))
