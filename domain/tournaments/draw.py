"""Draws of a tournament: a chain of secrets, the key of each draw, and the orders by a key.

The host publishes the first secret of the chain, then with each draw the next one. Everybody checks it against the one
before, and computes the key from it and the nonces of the entrants.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping

from domain.errors import TournamentError
from domain.kernel.schema.canonical_json import canonical, digest

DRAW_LABEL = "annals/draw/1"
DEFAULT_CHAIN, MAX_CHAIN = 64, 4096
"""Number of draws in a chain."""


def make_chain(last: bytes, draws: int = DEFAULT_CHAIN) -> list[bytes]:
    """Return the secrets s_0 to s_N of N draws, from the random last one: each is the SHA-256 of the next."""
    if not 1 <= draws <= MAX_CHAIN:
        raise TournamentError("chain_impossible", f"a chain has 1 to {MAX_CHAIN} draws")
    chain = [last]
    for _ in range(draws):
        chain.append(hashlib.sha256(chain[-1]).digest())
    return chain[::-1]


def follows_in_chain(secret: bytes, before: bytes) -> bool:
    """Return whether a draw's secret proves the one published before it."""
    return hmac.compare_digest(hashlib.sha256(secret).digest(), before)


def commit_nonce(nonce: str) -> str:
    """Return the commitment to an entrant's nonce: the SHA-256 of its UTF-8 bytes, hex."""
    return hashlib.sha256(nonce.encode()).hexdigest()


def tournament_draw_key(secret: bytes, tournament: str, round_: int, draw: int, nonces: Mapping[int, str]) -> bytes:
    """Return the key of a draw.

    `round_` counts within the stage, `draw` along the chain. `nonces` holds every entrant at the check-in, with an
    empty string for a nonce that was not shown.
    """
    shown = digest([[entrant, nonces[entrant]] for entrant in sorted(nonces)])
    return hmac.digest(secret, canonical([DRAW_LABEL, tournament, round_, draw, shown]), "sha256")


def draw_value(key: bytes, entrant: int) -> bytes:
    """Return an entrant's value in a draw; the order is that of the values."""
    return hmac.digest(key, canonical(["order", entrant]), "sha256")


def draw_order(key: bytes, entrants: Iterable[int]) -> list[int]:
    """Return the entrants in the order of a draw. An entrant outside the draw has a place by the same values."""
    return sorted(entrants, key=lambda entrant: draw_value(key, entrant))
