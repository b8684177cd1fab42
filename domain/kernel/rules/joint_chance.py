"""Joint chance: the draws of each round join the seed with a nonce of each seat. Only for simulations (decision 48).

A seat commits to the nonce of a round before the round, and shows it after the move is fixed. A seat that withholds a
nonce is named, and takes part in no later round. Commitments name game, seat and round, so no seat can use another's.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.errors import VerificationError
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import Seeded, matches_source
from domain.kernel.schema.canonical_json import canonical
from domain.types import Json, Seat


@dataclass(frozen=True)
class ChanceRound:
    """One round: the draws of one record."""

    number: int
    """From 1, in the order of play; no rewind uses a number again."""
    version: int
    """Version of the record with its draws."""
    nonces: Mapping[Seat, str]
    """The nonces that were shown, hex."""
    withheld: tuple[Seat, ...] = ()
    """Seats that committed to a nonce, and did not show it in time."""
    commitments: Mapping[Seat, str] | None = None
    """Commitments to the nonces of the next round."""


def commit_to_nonce(game: str, seat: Seat, number: int, nonce: str) -> str:
    """Return the commitment of a seat to its nonce (hex) of a round: its SHA-256, hex."""
    return hashlib.sha256(canonical([game, seat, number, nonce])).hexdigest()


def round_source(seed: bytes, game: str, epoch: int, number: int, nonces: Mapping[Seat, str]) -> Seeded:
    """Return the source of the draws of a round."""
    shares: list[Json] = [[seat, nonces[seat]] for seat in sorted(nonces)]
    return Seeded(hmac.digest(seed, canonical(["joint", number, shares]), "sha256"), game, epoch)


def verify_rounds(
    seed: bytes, game: str, commitments: Mapping[Seat, str], rounds: Sequence[ChanceRound], records: Sequence[Record]
) -> tuple[int, tuple[Seat, ...]]:
    """Return the number of draws, each recomputed, and the seats that withheld a nonce.

    `commitments` are those of the first round. Raise VerificationError: `round_gap`, `nonce_mismatch` (a nonce without
    its commitment, or a seat neither shown nor named), `withheld_before`, `round_missing`, `draw_mismatch`.
    """
    sources: dict[int, Seeded] = {}
    excluded: tuple[Seat, ...] = ()
    for number, each in enumerate(rounds, 1):
        if each.number != number or each.version in sources:
            raise VerificationError("round_gap", each.version, str(each.number))
        _check_nonces(game, commitments, each)
        excluded, commitments = (*excluded, *each.withheld), each.commitments or {}
        if set(excluded) & commitments.keys():
            raise VerificationError("withheld_before", each.version)
        sources[each.version] = round_source(seed, game, 0, number, each.nonces)
    return _count_draws(sources, records), excluded


def _check_nonces(game: str, commitments: Mapping[Seat, str], each: ChanceRound) -> None:
    """Check that each committed seat has shown its nonce, or is named as one that withheld it."""
    shown = {seat: commit_to_nonce(game, seat, each.number, nonce) for seat, nonce in each.nonces.items()}
    expected = {seat: commitment for seat, commitment in commitments.items() if seat not in each.withheld}
    if shown != expected or not set(each.withheld) <= commitments.keys():
        raise VerificationError("nonce_mismatch", each.version)


def _count_draws(sources: Mapping[int, Seeded], records: Sequence[Record]) -> int:
    count = 0
    for record in records:
        parts = [("all", record.public), *record.packs.items()]
        for channel, draw in [(channel, draw) for channel, part in parts for draw in part.get("draws", ())]:
            source = sources.get(record.version)
            if source is None:
                raise VerificationError("round_missing", record.version)
            if not matches_source(source, channel, draw):
                raise VerificationError("draw_mismatch", record.version, str(draw[1]))
            count += 1
    return count
