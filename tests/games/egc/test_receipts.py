"""A seat can prove afterwards that its sheet is what it filed: its packs, their seals, the export (EGC-6.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.errors import VerificationError
from domain.games.egc import RULESET
from domain.games.egc.data import SEATS
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import dump, parse
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.schema.canonical_json import digest
from domain.types import PUBLIC, Doc, Json, Seat
from tests.spec import SEED

FRANCE: Seat = 3
RESEARCH: Doc = {"type": "set_research", "technology": "naval", "amount": 4_000}


def begun() -> InMemoryGame[Any]:
    """Turn 1, all sheets open."""
    match: InMemoryGame[Any] = InMemoryGame(RULESET, len(SEATS), SEED)
    for seat in SEATS:
        match.play(seat, {"type": "allocate_turn_zero", "points": {"logistics": 18_000}}, {"type": "submit_orders"})
    return match


def closed(match: InMemoryGame[Any]) -> None:
    """The turn is resolved, everybody leaves, the seed is shown."""
    for seat in SEATS:
        match.play(seat, {"type": "submit_orders"})
    match.resolve()
    for seat in SEATS:
        match.play(seat, {"type": "resign"})
    match.close()


def own_pack(records: tuple[Record, ...], version: int) -> dict[str, Json]:
    """The pack of France in a record."""
    return records[version - 1].packs[str(FRANCE)]


def test_pack_of_a_filing_is_its_seats_and_its_seal_public() -> None:
    match = begun()
    record = match.play(FRANCE, RESEARCH)
    assert set(visible_packs(record, FRANCE)) == {str(FRANCE)}
    assert visible_packs(record, PUBLIC) == visible_packs(record, FRANCE + 1) == {}
    pack = visible_packs(record, FRANCE)[str(FRANCE)]
    assert [move for _, _, move in pack["acts"]] == [RESEARCH]
    assert digest(pack) in record.public["seals"]


def test_the_public_part_does_not_say_whose_it_is() -> None:
    """Two equal orders of different seats have different seals: nobody can try them out."""
    match = begun()
    one, two = match.play(FRANCE, RESEARCH), match.play(FRANCE + 1, RESEARCH)
    assert not {"seat", "acts", "facts"} & (one.public.keys() | two.public.keys())
    assert not set(one.public["seals"]) & set(two.public["seals"])


def test_seat_finds_what_it_filed_in_the_closed_export() -> None:
    """What it kept is its own export of that moment: the pack with the salt, and the chain up to there."""
    match = begun()
    version = match.play(FRANCE, RESEARCH).version
    kept = parse(dump(match.records, FRANCE))
    verify(RULESET, kept)
    closed(match)
    final = parse(dump(match.records))
    report = verify(RULESET, final, match.records[-1].hash)
    assert report.closed
    assert own_pack(final.records, version) == own_pack(kept.records, version)
    assert final.records[version - 1].hash == kept.records[-1].hash


def test_another_order_in_its_place_is_found() -> None:
    """By everybody in the seal of the pack, and by the seat in the hash of the record, were the seal changed too."""
    match = begun()
    version = match.play(FRANCE, RESEARCH).version
    known = match.records[-1].hash
    closed(match)
    final = parse(dump(match.records))
    old = final.records[version - 1]
    pack = own_pack(final.records, version)
    forged = {**pack, "acts": [[0, FRANCE, {**RESEARCH, "amount": 9_000}]]}
    for public in (
        old.public,
        {**old.public, "seals": sorted({*old.public["seals"], digest(forged)} - {digest(pack)})},
    ):
        record = Record(public, {**old.packs, str(FRANCE): forged})
        records = (*final.records[: version - 1], record, *final.records[version:])
        with pytest.raises(VerificationError) as refused:
            verify(RULESET, replace(final, records=records))
        assert refused.value.code == ("pack_changed" if public is old.public else "chain_broken")
        assert (record.hash == known) == (public is old.public)
