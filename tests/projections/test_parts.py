"""Several pumps share the games: whoever has which part, the views say the same, and each part has one pump."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import select, update

from domain.service.heartbeat import Heartbeat
from domain.transparency.checkpoint_store import CheckpointStore
from projections import delayed_views, log_identity, schema
from projections.leases import LEASE, LeaseLostError
from projections.merkle_proofs import MerkleProofs
from projections.partitions import partition_of
from projections.projector import Projector
from projections.rebuild import create_generation, drop_old_rows, switch_generation
from projections.schema import TREE
from projections.view_store import PreparedStatement
from projections.viewer_history import ViewerHistory
from tests.projections.conftest import CATALOGUE, Harness
from tests.projections.test_pump import VIEWS, play, rows

PARTS = 6


@pytest.fixture
def shared(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> Harness:
    """A generation of six parts, also where the database has one writer: they take turns."""
    harness.views.parts = PARTS
    gen = create_generation(harness.views, 0)
    assert switch_generation(harness.views, gen)
    drop_old_rows(harness.views)
    monkeypatch.setattr("projections.projector.SLICE", 5)
    return harness


def pumps(harness: Harness, count: int) -> list[Projector]:
    return [Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), f"pump-{n}") for n in range(count)]


def turn(harness: Harness, pump: Projector) -> bool:
    """Whether it had anything to read, or nothing at all is its own."""
    try:
        return pump.run(harness.now) is not None
    except LeaseLostError:
        return False


def settle(harness: Harness, all_: list[Projector]) -> None:
    """All read to the end, and have shared the parts anew."""
    for _ in range(4):
        harness.now += LEASE // 2 + 1
        while sum(turn(harness, pump) for pump in all_):
            pass


def owners(harness: Harness) -> dict[int, str]:
    t = schema.parts.c
    with harness.views.reading() as db:
        live = select(schema.generations.c.gen).where(schema.generations.c.live).scalar_subquery()
        return {row.part: row.owner for row in db.execute(select(t.part, t.owner).where(t.gen == live))}


def had(harness: Harness, owner: str) -> int:
    return sum(has == owner for part, has in owners(harness).items() if part != TREE)


def games(harness: Harness) -> list[str]:
    made = [harness.game("orders@1", 3) for _ in range(6)] + [
        harness.game("skirmish@1", 4),
        harness.game("windows@1", 3),
    ]
    for seed, game in enumerate(made):
        play(harness, game, seed, 8)
    return made


def all_rows(harness: Harness) -> dict[str, list[Any]]:
    return {t.name: rows(harness, t) for t in VIEWS}


class TestShares:
    def test_parts_are_shared_alike_and_the_tree_is_one_pumps(self, shared: Harness) -> None:
        games(shared)
        all_ = pumps(shared, 3)
        settle(shared, all_[:1])
        assert set(owners(shared).values()) == {"pump-0"}
        settle(shared, all_[:2])
        assert [had(shared, f"pump-{n}") for n in range(2)] == [2, 4], "the tree counts as a part"
        settle(shared, all_)
        assert [had(shared, f"pump-{n}") for n in range(3)] == [1, 3, 2]
        assert owners(shared)[TREE] == "pump-0", "it changes hands only when it must"

    def test_nobody_is_left_without_where_they_do_not_divide(self, shared: Harness) -> None:
        all_ = pumps(shared, 4)
        for count in range(1, 5):
            settle(shared, all_[:count])
        assert [had(shared, f"pump-{n}") for n in range(4)] == [0, 2, 2, 2], "the first has the tree"

    def test_of_one_that_has_died_the_others_take_all(self, shared: Harness) -> None:
        game = games(shared)[0]
        first, second = pumps(shared, 2)
        settle(shared, [first, second])
        play(shared, game, 1, 3)
        settle(shared, [second])
        assert set(owners(shared).values()) == {"pump-1"}
        assert shared.reader.read_position() == shared.ledger.log(0, 10_000)[-1].position

    def test_tables_of_a_dead_process_hold_up_no_other_spectators(
        self, shared: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However many of its tables' time came before that of the others."""
        few = delayed_views._DUE_ROWS.suffix_with("LIMIT 2")
        monkeypatch.setattr(delayed_views, "MAX_GAMES", 2)
        monkeypatch.setattr(delayed_views, "FIND_DUE", PreparedStatement(few))
        Heartbeat(shared.ledger).migrate()
        CheckpointStore(shared.ledger, shared.ledger.keys).migrate()
        all_, delayed = pumps(shared, 2), [shared.game("orders@1", 3, delay=60) for _ in range(20)]
        shared.now = shared.ledger.read(delayed[-1])[-1].public["at"] + 60_000 - 4 * (LEASE // 2 + 1)
        settle(shared, all_)
        parts = {part for part, owner in owners(shared).items() if owner == "pump-1"}
        own = [game for game in delayed if partition_of(game, PARTS) in parts][:2]
        others = [game for game in delayed if partition_of(game, PARTS) not in parts][:3]
        ripe = []
        for game in others + own:
            play(shared, game, 1, 1)
            ripe.append(shared.ledger.read(game)[-1].public["at"] + 60_000)
        while sum(turn(shared, pump) for pump in all_):
            pass
        before = [shared.reader.shown_versions(game)["public"] for game in own]
        shared.now = ripe[-1]
        while turn(shared, all_[1]):
            pass
        assert set(owners(shared).values()) == {"pump-0", "pump-1"}, "what the first had is still its own"
        assert [shared.reader.shown_versions(game)["public"] for game in own] == [version + 1 for version in before]

    def test_what_is_given_up_is_taken_at_once(self, shared: Harness) -> None:
        first, second = pumps(shared, 2)
        settle(shared, [first, second])
        first.release()
        shared.now += LEASE // 2 + 1
        turn(shared, second)
        assert set(owners(shared).values()) == {"pump-1"}

    def test_more_pumps_than_parts_stand_by(self, shared: Harness) -> None:
        all_ = pumps(shared, 8)
        settle(shared, all_)
        idle = [n for n in range(8) if f"pump-{n}" not in owners(shared).values()]
        assert len(idle) in (1, 2)
        with pytest.raises(LeaseLostError, match="pump-"):
            all_[idle[0]].run(shared.now)

    def test_who_has_few_parts_reads_more_of_the_log_at_once(
        self, shared: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As many of its own entries as one that has all: what a transaction costs is not paid for others' games."""
        monkeypatch.setattr("projections.projector.MAX_SLICES", 4)
        all_ = pumps(shared, 4)
        settle(shared, all_)
        games(shared)
        read = [pumped.records for pump in all_ if (pumped := pump.run(shared.now))]
        assert read == [4 * 5, 3 * 5, 3 * 5, 3 * 5], "the first has the tree alone"

    def test_who_lost_a_part_writes_nothing_of_it(self, shared: Harness) -> None:
        """It was frozen for longer than its lease, and wakes while another has it."""
        game = games(shared)[0]
        first, second = pumps(shared, 2)
        settle(shared, [first])
        settle(shared, [second])
        play(shared, game, 1, 3)
        with pytest.raises(LeaseLostError, match="pump-1"):
            first.run(shared.now)
        with pytest.raises(LeaseLostError):
            first.quarantine(game, 2, shared.now)


class TestTheViewsSayTheSame:
    @pytest.mark.parametrize("seed", range(4))
    def test_whoever_pumps_which_part_and_dies_when(
        self, shared: Harness, seed: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Pumps take turns at random, are cut off before their commit, come and go; a single one makes the same."""
        rng = random.Random(seed)
        made = games(shared)
        running: list[Projector] = pumps(shared, 2)
        named = 2
        for step in range(60):
            shared.now += rng.choice((1, LEASE // 2 + 1, 2 * LEASE))
            pump = rng.choice(running)
            match rng.randrange(6):
                case 0:
                    play(shared, rng.choice(made), step, 2)
                case 1:
                    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
                        patch.setattr("projections.partitions.PartitionShare.save_position", _cut)
                        turn(shared, pump)
                case 2:
                    running[running.index(pump)] = Projector(
                        ViewerHistory(shared.ledger, CATALOGUE, shared.views), f"pump-{named}"
                    )
                    named += 1
                case _:
                    turn(shared, pump)
        settle(shared, running)
        several = all_rows(shared)
        proofs = MerkleProofs(shared.views)
        assert proofs.head().size == len(shared.ledger.log(0, 10_000))
        shared.views.parts = 1
        gen = create_generation(shared.views, 0)
        shared.pumped(Projector(ViewerHistory(shared.ledger, CATALOGUE, shared.views), "alone", gen))
        assert switch_generation(shared.views, gen)
        drop_old_rows(shared.views)
        assert set(owners(shared)) == {TREE, 0}, "the number of parts is that of the new generation"
        assert all_rows(shared) == several

    def test_the_position_is_that_of_the_part_that_is_behind(self, shared: Harness) -> None:
        made = games(shared)
        first, second = pumps(shared, 2)
        settle(shared, [first, second])
        before = shared.reader.read_position()
        for game in made:
            play(shared, game, 5, 1)
        end = shared.ledger.log(0, 10_000)[-1].position
        while turn(shared, first):
            pass
        assert shared.reader.read_position() == before
        behind = [g for g in made if owners(shared)[partition_of(g, PARTS)] == "pump-1"]
        assert len(log_identity.list_last_records(shared.views)) == 2
        while turn(shared, second):
            pass
        assert shared.reader.read_position() == end
        assert behind

    def test_the_tree_ends_where_a_part_has_not_read(self, shared: Harness) -> None:
        """It may be of a table whose spectators see it later."""
        made = games(shared)
        first, second = pumps(shared, 2)
        settle(shared, [first, second])
        before = shared.reader.proofs.head()
        assert before.size == len(shared.ledger.log(0, 10_000))
        play(shared, made[0], 5, 3)
        for pump in (first, second):
            assert shared.reader.proofs.head() == before
            while turn(shared, pump):
                pass
        assert shared.reader.proofs.head().size == len(shared.ledger.log(0, 10_000)) > before.size

    def test_a_part_of_another_log_is_seen(self, shared: Harness) -> None:
        """Also where the tree has read less than that part, and nothing that is not so."""
        games(shared)
        settle(shared, pumps(shared, 2))
        assert log_identity.contains_all(shared.ledger, log_identity.list_last_records(shared.views))
        with shared.views.transaction() as db:
            db.execute(update(schema.parts).where(schema.parts.c.part == 3).values(hash="0" * 64))
        assert not log_identity.contains_all(shared.ledger, log_identity.list_last_records(shared.views))


def _cut(*_: Any) -> None:
    raise KeyboardInterrupt
