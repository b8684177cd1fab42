"""Joint chance: the draws of each round join the seed with a nonce of each seat. Only for simulations (decision 48).

A seat commits to the nonce of a round before the round, and shows it after the move is fixed. A seat that withholds a
nonce is named, and takes part in no later round. Commitments name game, seat and round, so no seat can use another's.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from domain.errors import VerificationError
from domain.kernel.rules.draws import DrawSource, Seeded
from domain.kernel.schema.canonical_json import canonical
from domain.types import Json, Seat


@dataclass(frozen=True)
class ChanceRound:
    """One round: the draws of one record."""

    round: int
    """From 1, in the order of play; no rewind uses a number again."""
    version: int
    """Version of the record with its draws."""
    nonces: Mapping[Seat, str]
    """The nonces that were shown, hex."""
    withheld: tuple[Seat, ...]
    """Seats that committed to a nonce, and did not show it in time."""
    commitments: Mapping[Seat, str]
    """Commitments to the nonces of the next round."""


class JointTranscript(NamedTuple):
    """The rounds of a game, beside its export; seats are the keys of its mappings, in JSON as strings."""

    game: str
    commitments: Mapping[Seat, str]
    """Those of the first round."""
    rounds: tuple[ChanceRound, ...]


class _TranscriptDocument(msgspec.Struct, forbid_unknown_fields=True):
    game: str
    commitments: dict[Seat, str]
    rounds: list[ChanceRound]


def parse_transcript(data: bytes) -> JointTranscript:
    """Return a transcript; raise VerificationError `unreadable`."""
    try:
        doc = msgspec.json.decode(data, type=_TranscriptDocument)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise VerificationError("unreadable", 0, f"transcript: {error}") from error
    return JointTranscript(doc.game, doc.commitments, tuple(doc.rounds))


def transcript_to_json(transcript: JointTranscript) -> bytes:
    """Return the JSON document of a transcript, one line."""
    doc = _TranscriptDocument(transcript.game, dict(transcript.commitments), list(transcript.rounds))
    return msgspec.json.encode(doc) + b"\n"


def commit_to_nonce(game: str, seat: Seat, number: int, nonce: str) -> str:
    """Return the commitment of a seat to its nonce (hex) of a round: its SHA-256, hex."""
    return hashlib.sha256(canonical([game, seat, number, nonce])).hexdigest()


def round_source(seed: bytes, game: str, number: int, nonces: Mapping[Seat, str]) -> Seeded:
    """Return the source of the draws of a round."""
    shares: list[Json] = [[seat, nonces[seat]] for seat in sorted(nonces)]
    return Seeded(hmac.digest(seed, canonical(["joint", number, shares]), "sha256"), game)


def check_rounds(seed: bytes, transcript: JointTranscript) -> Callable[[int], DrawSource]:
    """Return the source of the draws of each version.

    Raise VerificationError: `round_gap`, `nonce_mismatch` (a nonce without its commitment, or a seat neither shown nor
    named) or `withheld_before`. A source raises `round_missing` for a version without a round.
    """
    sources: dict[int, DrawSource] = {}
    excluded: set[Seat] = set()
    commitments = transcript.commitments
    for number, each in enumerate(transcript.rounds, 1):
        if each.round != number or each.version in sources:
            raise VerificationError("round_gap", each.version, str(each.round))
        _check_nonces(transcript.game, commitments, each)
        excluded.update(each.withheld)
        commitments = each.commitments
        if excluded & commitments.keys():
            raise VerificationError("withheld_before", each.version)
        sources[each.version] = round_source(seed, transcript.game, number, each.nonces)
    return lambda version: sources.get(version) or _NoRound(version)


@dataclass(frozen=True)
class _NoRound:
    """Source for a record that has no round, and so no draws."""

    version: int

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        raise VerificationError("round_missing", self.version, label)

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        raise VerificationError("round_missing", self.version, label)


def list_withholders(transcript: JointTranscript) -> list[Seat]:
    """Return the seats that withheld a nonce."""
    return sorted({seat for each in transcript.rounds for seat in each.withheld})


def _check_nonces(game: str, commitments: Mapping[Seat, str], each: ChanceRound) -> None:
    """Check that each committed seat has shown its nonce, or is named as one that withheld it."""
    shown = {seat: commit_to_nonce(game, seat, each.round, nonce) for seat, nonce in each.nonces.items()}
    expected = {seat: commitment for seat, commitment in commitments.items() if seat not in each.withheld}
    if shown != expected or not set(each.withheld) <= commitments.keys():
        raise VerificationError("nonce_mismatch", each.version)
