"""What the views show to spectators of a table with a delay, and when."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select

from domain import game_history
from domain.command_handler import GameConditions, new_game_id
from domain.errors import StoreUnavailable
from domain.kernel.game.director_commands import Rewind, Shift
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Close, Join
from domain.service.heartbeat import Heartbeat
from domain.transparency.merkle_tree import leaf_hash, verify_consistency, verify_inclusion
from domain.types import PUBLIC
from projections import schema
from projections.delayed_views import PLACE_BITS, visible_from
from projections.projector import Projector
from projections.rebuild import create_generation, switch_generation
from projections.viewer_history import ViewerHistory
from tests.projections.conftest import CATALOGUE, Harness, opened

SECONDS = 60
DELAY = SECONDS * 1000
TABLES = (schema.games, schema.boards, schema.timeline, schema.results, schema.held_back, schema.seated)


@pytest.fixture
def harness(harness: Harness) -> Harness:
    """With the rows of the clocks."""
    Heartbeat(harness.ledger).migrate()
    return harness


def order(harness: Harness, game: str, seat: int) -> None:
    harness.commands.handle(game, Play(seat, [{"type": "order", "to": f"t{seat:02}", "units": 2}]))


def written(harness: Harness, game: str, version: int) -> int:
    return int(harness.ledger.read(game, version - 1, version)[0].public["at"])


def seen(harness: Harness, game: str) -> int:
    found = harness.reader.find_summary(game)
    return int(found["version"]) if found else 0


def rows(harness: Harness, gen: int) -> dict[str, list[Any]]:
    """All rows of a generation."""
    with harness.views.reading() as db:
        found = {
            t.name: [opened(harness.views, row) for row in db.execute(select(t).filter_by(gen=gen)).mappings()]
            for t in TABLES
        }
    return {name: sorted((list(row.values())[1:] for row in each), key=repr) for name, each in found.items()}


class TestWhen:
    def test_a_record_is_seen_its_delay_after_it_was_written(self) -> None:
        assert visible_from(1_000, 500, ()) == 1_500

    @pytest.mark.parametrize(
        ("at", "found"),
        [
            (90_000, 100_000),
            (95_000, 195_000),
            (99_000, 199_000),
            (50_000, 60_000),
            (190_000, 200_000),
            (191_000, 201_000),
        ],
    )
    def test_what_time_has_leapt_over_has_not_passed(self, at: int, found: int) -> None:
        """From 100 to 190 s: who waited then waits as long as ever, who had waited before and who came later too."""
        assert visible_from(at, 10_000, [(190_000, 90_000)]) == found

    def test_it_leaps_more_than_once(self) -> None:
        assert visible_from(99_000, 10_000, [(190_000, 90_000), (295_000, 100_000)]) == 299_000


class TestViews:
    def test_until_the_start_all_is_shown_at_once(self, harness: Harness) -> None:
        game = new_game_id()
        harness.commands.open(game, "orders@1", 3, {}, body={"delay": SECONDS})
        harness.commands.handle(game, Join(0, "p0"))
        harness.pumped()
        assert seen(harness, game) == 2
        harness.commands.handle(game, Close("void", "director"))
        harness.pumped()
        assert seen(harness, game) == 3
        assert harness.reader.list_results("p0")

    def test_each_version_is_shown_in_its_time(self, harness: Harness) -> None:
        """Boards, summaries, listings; those at the table see the newest."""
        game = harness.game("orders@1", 3, delay=SECONDS)
        for seat in (0, 1):
            order(harness, game, seat)
        harness.pumped()
        assert seen(harness, game) == 4
        assert harness.reader.shown_versions(game) == {"table": 7, "public": 4}
        assert (harness.reader.change_marks([game]), harness.reader.newest_versions([game])) == ({game: 11}, {game: 7})
        assert (harness.reader.list_seated_tables("p1", 9), harness.reader.filter_delayed([game])) == ([game], {game})
        assert harness.reader.list_unfinished() == [game]
        for version in (5, 6, 7):
            harness.now = written(harness, game, version) + DELAY - 1
            harness.pumped()
            assert seen(harness, game) == version - 1
            harness.now += 1
            assert harness.pumped() == [game]
            assert seen(harness, game) == version
            assert harness.reader.list_lobby()[0][1]["version"] == version
        inside = harness.reader.find_summary(game, inside=True)
        assert inside == harness.reader.find_summary(game)
        assert harness.reader.shown_versions(game) == {"table": 7, "public": 7}

    def test_it_is_the_board_that_was_seen_then(self, harness: Harness) -> None:
        """As of a table without a delay."""
        game = harness.game("orders@1", 3, delay=SECONDS)
        harness.pumped()
        before = harness.reader.find_board(game, PUBLIC, inside=True)
        order(harness, game, 0)
        harness.commands.handle(game, Close("void", "director"))
        harness.now = written(harness, game, 5) + DELAY
        harness.pumped()
        found = harness.reader.find_board(game, PUBLIC)
        assert found == before
        assert harness.reader.find_board(game, PUBLIC, inside=True) != before

    def test_views_made_anew_are_the_same(self, harness: Harness) -> None:
        """Every row and every place, whatever the slices: what was shown when goes by the log."""
        games = [harness.game("orders@1", 3, delay=delay) for delay in (3, SECONDS, 0)]
        for seat in (0, 1, 2):
            for game in games:
                harness.pumped()
                order(harness, game, seat)
                harness.now = written(harness, game, harness.ledger.version(game))
        harness.commands.handle(games[0], Close("void", "director"))
        harness.now = written(harness, games[0], harness.ledger.version(games[0])) + 3_000
        harness.pumped()
        gen = create_generation(harness.views, 0)
        pump = Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "rebuild", gen)
        harness.pumped(pump)
        old, new = rows(harness, gen - 1), rows(harness, gen)
        assert new == old
        assert switch_generation(harness.views, gen)

    def test_what_is_shown_later_comes_after_all_that_was_listed(self, harness: Harness) -> None:
        """Whoever follows the finished games by a cursor misses none."""
        late = harness.game("orders@1", 3, delay=SECONDS)
        harness.commands.handle(late, Close("void", "director"))
        soon = harness.game("orders@1", 3)
        harness.commands.handle(soon, Close("void", "director"))
        harness.pumped()
        ((cursor, first),) = harness.reader.list_closed()
        assert first == soon
        harness.now = written(harness, late, harness.ledger.version(late)) + DELAY
        assert harness.pumped() == [late]
        ((place, second),) = harness.reader.list_closed(after=cursor)
        assert second == late
        assert place == cursor + 1
        assert place >> PLACE_BITS == harness.reader.read_position()

    def test_a_rewind_is_followed(self, harness: Harness) -> None:
        game = harness.game("orders@1", 3, delay=SECONDS)
        order(harness, game, 0)
        harness.commands.handle(game, Rewind(5, "director"))
        harness.now = written(harness, game, harness.ledger.version(game)) + DELAY
        harness.pumped()
        assert harness.reader.find_board(game, PUBLIC) == harness.reader.find_board(game, PUBLIC, inside=True)

    def test_a_pump_that_is_killed_has_shown_all_or_nothing(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The next one goes on from there."""
        game = harness.game("orders@1", 3, delay=SECONDS)
        order(harness, game, 0)
        harness.pumped()
        harness.now = written(harness, game, 6) + DELAY

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("projections.projector.SpectatorSlice.save_place", killed)
            with pytest.raises(KeyboardInterrupt):
                harness.pump.run(harness.now)
        assert seen(harness, game) == 4
        other = Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "pump-1")
        assert harness.pumped(other) == [game]
        assert seen(harness, game) == 6

    def test_many_are_shown_in_turn(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(game_history, "PAGE", 1)
        games = [harness.game("orders@1", 3, delay=SECONDS) for _ in range(5)]
        harness.pumped()
        harness.now = written(harness, games[-1], 5) + DELAY
        assert sorted(harness.pumped()) == sorted(games)
        assert len({place for place, _ in harness.reader.list_lobby()}) == 5

    def test_time_that_leaps_shows_nothing_early(self, harness: Harness) -> None:
        """An hour forward: the game has another minute to wait."""
        game = harness.game("orders@1", 3, delay=SECONDS)
        harness.pumped()
        began = written(harness, game, 5)
        leapt = began + 1_000 + 3_600_000
        harness.ledger.execute("INSERT INTO leaps VALUES (?, ?, 1, 0, ?)", (began + 1_000, 3_600_000, leapt))
        harness.now = leapt + DELAY - 1_001
        harness.pumped()
        assert seen(harness, game) == 4
        harness.now += 1
        harness.pumped()
        assert seen(harness, game) == 5

    def test_a_record_of_the_future_shows_nothing_early(self, harness: Harness) -> None:
        """As the records have by which time is about to leap."""
        game = harness.game("orders@1", 3, delay=SECONDS)
        ahead = harness.game("orders@1", 3)
        harness.commands.handle(ahead, Shift(10_000_000), GameConditions(ahead_ms=10_000_000))
        harness.now = written(harness, game, 5) + DELAY - 1
        harness.pumped()
        assert seen(harness, game) == 4

    def test_a_game_that_cannot_be_shown_is_set_aside(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """And tried no more; the others go on."""
        game, other = (harness.game("orders@1", 3, delay=SECONDS) for _ in range(2))
        harness.pumped()
        harness.now = written(harness, other, 5) + DELAY
        known = ViewerHistory.read_records

        def broken(self: ViewerHistory, of: str, *more: int) -> Any:
            if of == game:
                raise ValueError("changed bytes")
            return known(self, of, *more)

        monkeypatch.setattr(ViewerHistory, "read_records", broken)
        harness.pumped()
        assert (seen(harness, game), seen(harness, other)) == (4, 5)
        assert [row["game"] for row in harness.reader.list_quarantined()] == [game]
        monkeypatch.undo()
        harness.pump.restore(game, harness.now)
        assert seen(harness, game) == 5

    def test_a_store_that_does_not_answer_sets_no_game_aside(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = harness.game("orders@1", 3, delay=SECONDS)
        harness.pumped()
        harness.now = written(harness, game, 5) + DELAY

        def away(*_: object) -> None:
            raise StoreUnavailable("away")

        with monkeypatch.context() as patch:
            patch.setattr(ViewerHistory, "read_records", away)
            with pytest.raises(StoreUnavailable):
                harness.pump.run(harness.now)
        assert harness.pumped() == [game]
        assert (seen(harness, game), harness.reader.list_quarantined()) == (5, [])

    def test_a_damaged_game_is_shown_no_further(self, harness: Harness) -> None:
        """Not even which record it is, before that could be seen."""
        game = harness.game("orders@1", 3, delay=SECONDS)
        for seat in (0, 1):
            order(harness, game, seat)
        harness.pumped()
        harness.pump.quarantine(game, 7, harness.now)
        found = harness.reader.find_summary(game)
        assert found is not None
        assert (found["version"], "damaged" in found) == (4, False)
        board = harness.reader.find_board(game, PUBLIC)
        assert board is not None
        assert "damaged" not in json.loads(board.doc)
        inside = harness.reader.find_summary(game, inside=True)
        assert inside is not None
        assert inside["damaged"] == 7
        harness.now = written(harness, game, 7) + DELAY
        harness.pump.restore(game, harness.now)
        harness.pumped()
        assert seen(harness, game) == 7


class TestTree:
    """Its size would tell that something has happened."""

    def test_it_ends_before_what_is_not_shown_and_only_grows(self, harness: Harness) -> None:
        late, other = harness.game("orders@1", 3, delay=SECONDS), harness.game("orders@1", 3)
        order(harness, late, 0)
        hidden = harness.ledger.position(late, 6)
        harness.pumped()
        proofs, heads = harness.reader.proofs, [harness.reader.proofs.head()]
        assert (heads[0].size, heads[0].position) == (4, 4), "all before the start of the table"
        for seat in range(3):
            order(harness, other, seat)
            harness.pumped()
            assert proofs.head() == heads[0]
        assert proofs.prove_inclusion(other, 6) is None
        assert proofs.prove_consistency(6) is None
        for version in range(5, 7):
            harness.now = written(harness, late, version) + DELAY
            harness.pumped()
            heads.append(proofs.head())
        assert heads[1].position == (hidden or 0) - 1
        assert heads[-1].size == len(harness.ledger.log(0, 1000))
        for old in heads:
            found = proofs.prove_consistency(old.size)
            assert found is not None
            assert verify_consistency(heads[-1].root, heads[-1].size, old.root, old.size, found[1])
        proof = proofs.prove_inclusion(other, 6)
        assert proof is not None
        assert verify_inclusion(heads[-1].root, leaf_hash(proof.record), proof.leaf, heads[-1].size, proof.path)

    def test_a_game_that_is_set_aside_does_not_hold_up_all_others(self, harness: Harness) -> None:
        late = harness.game("orders@1", 3, delay=SECONDS)
        order(harness, late, 0)
        harness.pumped()
        before = harness.reader.proofs.head().size
        harness.pump.quarantine(late, 6, harness.now)
        assert harness.reader.proofs.head().size == len(harness.ledger.log(0, 1000)) > before
