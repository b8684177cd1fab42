"""Records as they are stored."""

import dataclasses
import zlib
from contextlib import suppress
from typing import Any, ClassVar
from uuid import UUID

import pytest
from eventsourcing.persistence import StoredEvent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import UnknownKind, VerificationError, WrongKey
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import KINDS, Record
from domain.kernel.schema.canonical_json import canonical, digest
from domain.ledger import Ledger
from domain.ledger.mapper import RecordMapper, StoredRecord, _split_first, _with_length, pack, unpack
from tests.contracts.context import KEY
from tests.kernel.flows import skirmish

GAME = UUID(int=1)
MAPPER = RecordMapper()
LEAVES = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)
RECORDS = st.builds(
    lambda version, kind, more, packs: Record({**more, "v": version, "kind": kind}, packs),
    st.integers(1, 2**53 - 1),
    st.sampled_from(KINDS),
    st.dictionaries(st.text(), JSON),
    st.dictionaries(st.text(), st.dictionaries(st.text(), JSON)),
)


def stored(record: Record) -> StoredEvent:
    return MAPPER.to_stored_event(StoredRecord(GAME, record))


class TestRoundTrip:
    @given(RECORDS)
    def test_a_record_comes_back_as_it_was(self, record: Record) -> None:
        event = stored(record)
        assert MAPPER.to_domain_event(event) == StoredRecord(GAME, record)
        assert (event.originator_id, event.originator_version) == (GAME, record.version)

    @given(RECORDS)
    def test_the_bytes_do_not_depend_on_the_order_of_members(self, record: Record) -> None:
        def turned(doc: Any) -> Any:
            return {k: turned(v) for k, v in reversed(doc.items())} if isinstance(doc, dict) else doc

        assert stored(record) == stored(Record(turned(record.public), turned(record.packs)))

    def test_the_records_of_a_game_come_back_with_their_hashes(self) -> None:
        match = InMemoryGame(skirmish.RULESET, 3, b"s" * 32)
        match.play(0, {"type": "attack", "target": 1, "offer": 0})
        back = [MAPPER.record(stored(r)) for r in match.records]
        assert [r.hash for r in back] == [r.hash for r in match.records]
        assert back == match.records


class TestTopics:
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_kind_is_stored_as_a_word_with_its_schema_number(self, kind: str) -> None:
        assert stored(Record({"v": 1, "kind": kind}, {})).topic == f"game.{kind}@1"

    @pytest.mark.parametrize(
        "topic",
        ["", "moved", "game.moved", "game.moved@0", "game.moved@2", "game.moved@01", "game.melted@1", "os:system"],
    )
    def test_a_topic_that_is_not_on_the_list_is_refused(self, topic: str) -> None:
        with pytest.raises(UnknownKind):
            MAPPER.record(dataclasses.replace(stored(Record({"v": 1, "kind": "moved"}, {})), topic=topic))

    def test_a_kind_that_is_not_on_the_list_is_not_stored(self) -> None:
        with pytest.raises(UnknownKind):
            stored(Record({"v": 1, "kind": "melted"}, {}))


class TestState:
    def test_what_compresses_is_compressed_and_what_does_not_is_not(self) -> None:
        long, short = {"pad": "." * 500}, {"v": 1}
        assert pack(long)[:1] == b"z"
        assert len(pack(long)) < 100
        assert pack(short) == b"j" + canonical(short)
        assert (unpack(pack(long)), unpack(pack(short))) == (long, short)

    @pytest.mark.parametrize(
        "state",
        [b"", b"{}", b"j", b"j{", b"z", b"zz", b"z" + zlib.compress(b"{"), b"j[]", b"j{}", b"\x80\x04."],
        ids=repr,
    )
    def test_bytes_that_are_no_record_are_named_unreadable(self, state: bytes) -> None:
        with pytest.raises(VerificationError) as caught:
            MAPPER.record(StoredEvent(GAME, 7, "game.moved@1", state))
        assert (caught.value.code, caught.value.version) == ("unreadable", 7)


class TestUpcasts:
    # A made-up history of one kind: first `who`, then `seat`, then a body.
    MAPPER = RecordMapper(
        {"moved": 3},
        {
            "game.moved@1": lambda doc: {
                **doc,
                "public": {"seat" if k == "who" else k: v for k, v in doc["public"].items()},
            },
            "game.moved@2": lambda doc: {**doc, "public": {**doc["public"], "body": {"old": True}}},
        },
    )
    OLD: ClassVar[dict[str, Any]] = {"public": {"v": 1, "kind": "moved", "who": 2}, "packs": {}}

    def test_an_old_form_is_brought_to_todays_step_by_step(self) -> None:
        record = self.MAPPER.record(StoredEvent(GAME, 1, "game.moved@1", pack(self.OLD)))
        assert record.public == {"v": 1, "kind": "moved", "seat": 2, "body": {"old": True}}

    def test_chain_goes_on_from_hash_of_the_form_that_was_written(self) -> None:
        record = self.MAPPER.record(StoredEvent(GAME, 1, "game.moved@1", pack(self.OLD)))
        assert record.hash == digest(self.OLD["public"])

    def test_todays_form_is_left_alone(self) -> None:
        event = self.MAPPER.to_stored_event(StoredRecord(GAME, Record({"v": 1, "kind": "moved"}, {})))
        assert event.topic == "game.moved@3"
        assert self.MAPPER.record(event).public == {"v": 1, "kind": "moved"}

    def test_a_missing_upcast_is_noticed_at_once(self) -> None:
        with pytest.raises(ValueError, match=r"game\.moved@2"):
            RecordMapper({"moved": 3}, {"game.moved@1": lambda doc: doc})


class TestSealedPacks:
    """Whoever has the rows and no key reads what everybody may read."""

    SECRET = "the hand of seat one"
    RECORD = Record({"v": 3, "kind": "moved", "at": 1}, {"1": {"facts": [[0, {"t": SECRET}]], "pad": "." * 200}})

    @pytest.fixture
    def ledger(self) -> Ledger:
        ledger = Ledger.open("sqlite://", KEY)
        ledger.migrate()
        return ledger

    @pytest.fixture
    def mapper(self, ledger: Ledger) -> RecordMapper:
        return RecordMapper(keys=ledger.keys)

    @given(record=RECORDS)
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_a_record_comes_back_as_it_was(self, mapper: RecordMapper, record: Record) -> None:
        assert mapper.record(mapper.to_stored_event(StoredRecord(GAME, record))) == record

    def test_its_packs_rest_sealed_and_its_public_part_does_not(self, mapper: RecordMapper) -> None:
        state = mapper.to_stored_event(StoredRecord(GAME, self.RECORD)).state
        assert (state[:1], canonical(self.RECORD.public) in state) == (b"s", True)
        assert self.SECRET.encode() not in state

    def test_a_record_without_packs_has_nothing_to_seal(self, mapper: RecordMapper) -> None:
        assert mapper.to_stored_event(StoredRecord(GAME, Record({"v": 1, "kind": "moved"}, {}))).state[:1] == b"j"

    def test_records_of_before_stay_readable(self, mapper: RecordMapper) -> None:
        assert mapper.record(stored(self.RECORD)) == self.RECORD

    def test_secrets_of_about_one_size_rest_in_one_size(self, mapper: RecordMapper) -> None:
        """Padding is compressed away: the length would tell how much an answer says."""
        sizes = set()
        for count in range(1, 8):
            record = Record(self.RECORD.public, {"1": {"facts": [[0, {"t": "card", "n": n}] for n in range(count)]}})
            sizes.add(len(mapper.to_stored_event(StoredRecord(GAME, record)).state))
        assert len(sizes) == 1

    @pytest.mark.parametrize("change", [{"originator_version": 4}, {"originator_id": UUID(int=2)}])
    def test_packs_open_in_their_own_record_alone(self, mapper: RecordMapper, change: dict[str, Any]) -> None:
        event = dataclasses.replace(mapper.to_stored_event(StoredRecord(GAME, self.RECORD)), **change)
        with pytest.raises(VerificationError, match="unreadable"):
            mapper.record(event)

    @pytest.mark.parametrize("cut", [1, 3, 60, -1])
    def test_what_is_cut_or_changed_is_unreadable(self, mapper: RecordMapper, cut: int) -> None:
        event = mapper.to_stored_event(StoredRecord(GAME, self.RECORD))
        spoilt = event.state[:-1] + bytes([event.state[-1] ^ 1])
        for state in (event.state[:cut], spoilt):
            with pytest.raises(VerificationError, match="unreadable"):
                mapper.record(dataclasses.replace(event, state=state))

    @pytest.mark.parametrize("depth", [300, 900, 50_000])
    def test_what_is_nested_too_deeply_is_unreadable_or_as_it_was(self, mapper: RecordMapper, depth: int) -> None:
        """The public part stands open: whoever can write to the table can write such a one."""
        event = mapper.to_stored_event(StoredRecord(GAME, self.RECORD))
        _, sealed = _split_first(event.state, 1)
        public = canonical(self.RECORD.public)[:-1] + b',"x":' + b"[" * depth + b"]" * depth + b"}"
        event = dataclasses.replace(event, state=b"s" + _with_length(b"j" + public) + sealed)
        for read in (mapper.record, mapper.hash, mapper.canonical_parts):
            with suppress(VerificationError):
                read(event)
        if depth > 1000:
            with pytest.raises(VerificationError, match="unreadable"):
                mapper.canonical_parts(event)

    def test_without_a_key_nobody_reads_it(self, mapper: RecordMapper) -> None:
        with pytest.raises(WrongKey):
            MAPPER.record(mapper.to_stored_event(StoredRecord(GAME, self.RECORD)))
