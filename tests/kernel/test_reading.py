"""Records that were read from their text say what those say that were just made."""

from __future__ import annotations

import json
import lzma
from typing import Any

import pytest

from domain.errors import VerificationError
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records import export
from domain.kernel.records.record import Record, facts_for
from domain.kernel.rules.draws import Scripted
from domain.kernel.schema.canonical_json import canonical
from domain.ruleset_registry import load_shipped
from domain.types import DIRECTOR, Doc
from tests.kernel.flows import sealed
from tests.test_logs import LOGS

PUBLIC: Doc = {"v": 1, "kind": "moved", "at": 7}


def written(record: Record) -> Record:
    return Record.from_json(canonical(record.public), canonical(record.packs))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_game_is_folded_from_texts_to_what_it_is(path: Any) -> None:
    """Facts in their order, draws, clocks, rewinds: in whole games of every ruleset."""
    found = export.parse(lzma.decompress(path.read_bytes()))
    rules = load_shipped().get(found.ruleset)
    texts = list(map(written, found.records))
    assert fold(rules, texts) == fold(rules, found.records)
    for text, record in zip(texts, found.records, strict=True):
        assert list(rules.decode_record(text).facts) == list(rules.decode_facts(facts_for(record, DIRECTOR)))
        assert text.hash == record.hash
        assert text == record


def test_a_named_pack_is_kept_until_it_is_published() -> None:
    match = InMemoryGame(sealed.RULESET, 3, bytes(32), source=Scripted(["alliance"] * 3))
    match.play(0, {"type": "attack", "target": 1, "card": "f3"})
    game = fold(match.rules, list(map(written, match.records)))
    assert game.reversible.sealed == match.game.reversible.sealed
    assert any(":" in key for key in game.reversible.sealed)


def test_packs_without_an_order_are_read_as_facts_are() -> None:
    """None of ours has such, but a record is what stands there."""
    packs: dict[str, Doc] = {"0": {"facts": [[1, {"t": "vacated", "seat": 1}]]}}
    record = Record({**PUBLIC, "facts": [{"t": "ended"}, {"t": "ended"}]}, packs)
    assert [type(f).__name__ for f in sealed.RULESET.decode_record(record).facts] == ["Ended", "Vacated", "Ended"]
    assert list(sealed.RULESET.decode_record(written(record)).facts) == list(sealed.RULESET.decode_record(record).facts)


@pytest.mark.parametrize(
    "public",
    [b"", b"[]", b"{", b'{"v":1}', b'{"v":"1","kind":"moved"}', b"\xff", b'{"acts":"\xff","v":1,"kind":"moved"}'],
)
def test_what_is_no_record_is_refused_at_once(public: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        Record.from_json(public, b"{}")


@pytest.mark.parametrize("packs", [b"", b"[]", b"{"])
def test_packs_that_are_none_are_named_when_they_are_asked_for(packs: bytes) -> None:
    record = Record.from_json(canonical(PUBLIC), packs)
    assert record.version == 1
    with pytest.raises(VerificationError) as caught:
        _ = record.packs
    assert (caught.value.code, caught.value.version) == ("unreadable", 1)
    with pytest.raises(ValueError, match=r".*"):
        sealed.RULESET.decode_record(record)


@pytest.mark.parametrize(
    "fact", [{"t": "unheard_of"}, {"t": "answered"}, {"t": "answered", "seat": "0"}, {"t": "ended", "more": 1}, 5]
)
def test_what_is_no_fact_is_refused(fact: Any) -> None:
    public = {**PUBLIC, "facts": [fact]}
    for record in (Record(public, {}), Record.from_json(canonical(public), b"{}")):
        with pytest.raises(ValueError, match=r".*"):
            sealed.RULESET.decode_record(record)
    packs: dict[str, Doc] = {"table": {"facts": [[0, fact]], "order": ["table"]}}
    for record in (Record(PUBLIC, packs), written(Record(PUBLIC, packs))):
        with pytest.raises(ValueError, match=r".*"):
            sealed.RULESET.decode_record(record)


LEVELS = 100_000
"""More than any Python's stack holds: from 3.12 on it is told apart from the interpreter's, and ten times as deep."""

DEEP = b"[" * LEVELS + b"]" * LEVELS


@pytest.mark.parametrize("member", [b'"x":', b'"body":{"x":'], ids=["passed over", "read"])
def test_what_is_nested_too_deeply_is_no_record(member: bytes) -> None:
    """However deep whoever reads it stands: what the library finds too deep for the stack is a fault of the text."""
    text = canonical(PUBLIC)[:-1] + b"," + member + DEEP + b"}" * (1 + member.count(b"{"))
    with pytest.raises(ValueError, match="deep"):
        Record.from_json(text, b"{}")


def test_packs_deeper_than_can_be_written_are_not_those_sealed() -> None:
    assert not Record.from_json(canonical(PUBLIC), b'{"table":{"x":%b}}' % (b"[" * 300 + b"]" * 300)).has_valid_seals


@pytest.mark.parametrize(
    "packs",
    [
        b'{"table":{"order":["all"]}}',
        b'{"table":{"order":["nobody"]}}',
        b'{"table":{"order":5}}',
        b'{"table":5}',
        b'{"table":{"facts":5}}',
        b'{"table":{"facts":[5]}}',
        b'{"table":{"x":%b}}' % DEEP,
    ],
    ids=lambda packs: packs[:40].decode(),
)
def test_packs_of_another_form_are_refused(packs: bytes) -> None:
    read = [Record.from_json(canonical(PUBLIC), packs)]
    if len(packs) < len(DEEP):
        read.append(Record(PUBLIC, json.loads(packs)))
    for record in read:
        with pytest.raises(ValueError, match=r".*"):
            sealed.RULESET.decode_record(record)


def test_what_nobody_can_have_written_has_no_hash() -> None:
    deep: Any = 0
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(VerificationError, match="unreadable"):
        _ = Record({**PUBLIC, "x": deep}, {}).hash


def test_a_record_is_equal_to_what_says_the_same() -> None:
    record = Record(PUBLIC, {})
    assert record == Record(dict(PUBLIC), {})
    assert {record, written(record)} == {record}
    assert record != Record({**PUBLIC, "v": 2}, {})
    assert record != PUBLIC
    assert "moved" in repr(record)
