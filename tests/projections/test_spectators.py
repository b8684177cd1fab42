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
from tests.projections.conftest import CATALOGUE, House, opened

SECONDS = 60
DELAY = SECONDS * 1000
TABLES = (schema.games, schema.boards, schema.timeline, schema.results, schema.held_back, schema.seated)


@pytest.fixture
def house(house: House) -> House:
    """With the rows of the clocks."""
    Heartbeat(house.ledger).migrate()
    return house


def order(house: House, game: str, seat: int) -> None:
    house.commands.handle(game, Play(seat, [{"type": "order", "to": f"t{seat:02}", "units": 2}]))


def written(house: House, game: str, version: int) -> int:
    return int(house.ledger.read(game, version - 1, version)[0].public["at"])


def seen(house: House, game: str) -> int:
    found = house.reader.find_summary(game)
    return int(found["version"]) if found else 0


def rows(house: House, gen: int) -> dict[str, list[Any]]:
    """All rows of a generation."""
    with house.views.reading() as db:
        found = {
            t.name: [opened(house.views, row) for row in db.execute(select(t).filter_by(gen=gen)).mappings()]
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
    def test_until_the_start_all_is_shown_at_once(self, house: House) -> None:
        game = new_game_id()
        house.commands.open(game, "orders@1", 3, {}, body={"delay": SECONDS})
        house.commands.handle(game, Join(0, "p0"))
        house.pumped()
        assert seen(house, game) == 2
        house.commands.handle(game, Close("void", "director"))
        house.pumped()
        assert seen(house, game) == 3
        assert house.reader.list_results("p0")

    def test_each_version_is_shown_in_its_time(self, house: House) -> None:
        """Boards, summaries, listings; those at the table see the newest."""
        game = house.game("orders@1", 3, delay=SECONDS)
        for seat in (0, 1):
            order(house, game, seat)
        house.pumped()
        assert seen(house, game) == 4
        assert house.reader.shown_versions(game) == {"table": 7, "public": 4}
        assert (house.reader.change_marks([game]), house.reader.newest_versions([game])) == ({game: 11}, {game: 7})
        assert (house.reader.list_seated_tables("p1", 9), house.reader.filter_delayed([game])) == ([game], {game})
        assert house.reader.list_unfinished() == [game]
        for version in (5, 6, 7):
            house.now = written(house, game, version) + DELAY - 1
            house.pumped()
            assert seen(house, game) == version - 1
            house.now += 1
            assert house.pumped() == [game]
            assert seen(house, game) == version
            assert house.reader.list_lobby()[0][1]["version"] == version
        inside = house.reader.find_summary(game, inside=True)
        assert inside == house.reader.find_summary(game)
        assert house.reader.shown_versions(game) == {"table": 7, "public": 7}

    def test_it_is_the_board_that_was_seen_then(self, house: House) -> None:
        """As of a table without a delay."""
        game = house.game("orders@1", 3, delay=SECONDS)
        house.pumped()
        before = house.reader.find_board(game, PUBLIC, inside=True)
        order(house, game, 0)
        house.commands.handle(game, Close("void", "director"))
        house.now = written(house, game, 5) + DELAY
        house.pumped()
        found = house.reader.find_board(game, PUBLIC)
        assert found == before
        assert house.reader.find_board(game, PUBLIC, inside=True) != before

    def test_views_made_anew_are_the_same(self, house: House) -> None:
        """Every row and every place, whatever the slices: what was shown when goes by the log."""
        games = [house.game("orders@1", 3, delay=delay) for delay in (3, SECONDS, 0)]
        for seat in (0, 1, 2):
            for game in games:
                house.pumped()
                order(house, game, seat)
                house.now = written(house, game, house.ledger.version(game))
        house.commands.handle(games[0], Close("void", "director"))
        house.now = written(house, games[0], house.ledger.version(games[0])) + 3_000
        house.pumped()
        gen = create_generation(house.views, 0)
        pump = Projector(ViewerHistory(house.ledger, CATALOGUE, house.views), "rebuild", gen)
        house.pumped(pump)
        old, new = rows(house, gen - 1), rows(house, gen)
        assert new == old
        assert switch_generation(house.views, gen)

    def test_what_is_shown_later_comes_after_all_that_was_listed(self, house: House) -> None:
        """Whoever follows the finished games by a cursor misses none."""
        late = house.game("orders@1", 3, delay=SECONDS)
        house.commands.handle(late, Close("void", "director"))
        soon = house.game("orders@1", 3)
        house.commands.handle(soon, Close("void", "director"))
        house.pumped()
        ((cursor, first),) = house.reader.list_closed()
        assert first == soon
        house.now = written(house, late, house.ledger.version(late)) + DELAY
        assert house.pumped() == [late]
        ((place, second),) = house.reader.list_closed(after=cursor)
        assert second == late
        assert place == cursor + 1
        assert place >> PLACE_BITS == house.reader.read_position()

    def test_a_rewind_is_followed(self, house: House) -> None:
        game = house.game("orders@1", 3, delay=SECONDS)
        order(house, game, 0)
        house.commands.handle(game, Rewind(5, "director"))
        house.now = written(house, game, house.ledger.version(game)) + DELAY
        house.pumped()
        assert house.reader.find_board(game, PUBLIC) == house.reader.find_board(game, PUBLIC, inside=True)

    def test_a_pump_that_is_killed_has_shown_all_or_nothing(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The next one goes on from there."""
        game = house.game("orders@1", 3, delay=SECONDS)
        order(house, game, 0)
        house.pumped()
        house.now = written(house, game, 6) + DELAY

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("projections.projector.SpectatorSlice.save_place", killed)
            with pytest.raises(KeyboardInterrupt):
                house.pump.run(house.now)
        assert seen(house, game) == 4
        other = Projector(ViewerHistory(house.ledger, CATALOGUE, house.views), "pump-1")
        assert house.pumped(other) == [game]
        assert seen(house, game) == 6

    def test_many_are_shown_in_turn(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(game_history, "PAGE", 1)
        games = [house.game("orders@1", 3, delay=SECONDS) for _ in range(5)]
        house.pumped()
        house.now = written(house, games[-1], 5) + DELAY
        assert sorted(house.pumped()) == sorted(games)
        assert len({place for place, _ in house.reader.list_lobby()}) == 5

    def test_time_that_leaps_shows_nothing_early(self, house: House) -> None:
        """An hour forward: the game has another minute to wait."""
        game = house.game("orders@1", 3, delay=SECONDS)
        house.pumped()
        began = written(house, game, 5)
        leapt = began + 1_000 + 3_600_000
        house.ledger.execute("INSERT INTO leaps VALUES (?, ?, 1, 0, ?)", (began + 1_000, 3_600_000, leapt))
        house.now = leapt + DELAY - 1_001
        house.pumped()
        assert seen(house, game) == 4
        house.now += 1
        house.pumped()
        assert seen(house, game) == 5

    def test_a_record_of_the_future_shows_nothing_early(self, house: House) -> None:
        """As the records have by which time is about to leap."""
        game = house.game("orders@1", 3, delay=SECONDS)
        ahead = house.game("orders@1", 3)
        house.commands.handle(ahead, Shift(10_000_000), GameConditions(ahead_ms=10_000_000))
        house.now = written(house, game, 5) + DELAY - 1
        house.pumped()
        assert seen(house, game) == 4

    def test_a_game_that_cannot_be_shown_is_set_aside(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        """And tried no more; the others go on."""
        game, other = (house.game("orders@1", 3, delay=SECONDS) for _ in range(2))
        house.pumped()
        house.now = written(house, other, 5) + DELAY
        known = ViewerHistory.read_records

        def broken(self: ViewerHistory, of: str, *more: int) -> Any:
            if of == game:
                raise ValueError("changed bytes")
            return known(self, of, *more)

        monkeypatch.setattr(ViewerHistory, "read_records", broken)
        house.pumped()
        assert (seen(house, game), seen(house, other)) == (4, 5)
        assert [row["game"] for row in house.reader.list_quarantined()] == [game]
        monkeypatch.undo()
        house.pump.restore(game, house.now)
        assert seen(house, game) == 5

    def test_a_store_that_does_not_answer_sets_no_game_aside(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = house.game("orders@1", 3, delay=SECONDS)
        house.pumped()
        house.now = written(house, game, 5) + DELAY

        def away(*_: object) -> None:
            raise StoreUnavailable("away")

        with monkeypatch.context() as patch:
            patch.setattr(ViewerHistory, "read_records", away)
            with pytest.raises(StoreUnavailable):
                house.pump.run(house.now)
        assert house.pumped() == [game]
        assert (seen(house, game), house.reader.list_quarantined()) == (5, [])

    def test_a_damaged_game_is_shown_no_further(self, house: House) -> None:
        """Not even which record it is, before that could be seen."""
        game = house.game("orders@1", 3, delay=SECONDS)
        for seat in (0, 1):
            order(house, game, seat)
        house.pumped()
        house.pump.quarantine(game, 7, house.now)
        found = house.reader.find_summary(game)
        assert found is not None
        assert (found["version"], "damaged" in found) == (4, False)
        board = house.reader.find_board(game, PUBLIC)
        assert board is not None
        assert "damaged" not in json.loads(board.doc)
        inside = house.reader.find_summary(game, inside=True)
        assert inside is not None
        assert inside["damaged"] == 7
        house.now = written(house, game, 7) + DELAY
        house.pump.restore(game, house.now)
        house.pumped()
        assert seen(house, game) == 7


class TestTree:
    """Its size would tell that something has happened."""

    def test_it_ends_before_what_is_not_shown_and_only_grows(self, house: House) -> None:
        late, other = house.game("orders@1", 3, delay=SECONDS), house.game("orders@1", 3)
        order(house, late, 0)
        hidden = house.ledger.position(late, 6)
        house.pumped()
        proofs, heads = house.reader.proofs, [house.reader.proofs.head()]
        assert (heads[0].size, heads[0].position) == (4, 4), "all before the start of the table"
        for seat in range(3):
            order(house, other, seat)
            house.pumped()
            assert proofs.head() == heads[0]
        assert proofs.prove_inclusion(other, 6) is None
        assert proofs.prove_consistency(6) is None
        for version in range(5, 7):
            house.now = written(house, late, version) + DELAY
            house.pumped()
            heads.append(proofs.head())
        assert heads[1].position == (hidden or 0) - 1
        assert heads[-1].size == len(house.ledger.log(0, 1000))
        for old in heads:
            found = proofs.prove_consistency(old.size)
            assert found is not None
            assert verify_consistency(heads[-1].root, heads[-1].size, old.root, old.size, found[1])
        proof = proofs.prove_inclusion(other, 6)
        assert proof is not None
        assert verify_inclusion(heads[-1].root, leaf_hash(proof.record), proof.leaf, heads[-1].size, proof.path)

    def test_a_game_that_is_set_aside_does_not_hold_up_all_others(self, house: House) -> None:
        late = house.game("orders@1", 3, delay=SECONDS)
        order(house, late, 0)
        house.pumped()
        before = house.reader.proofs.head().size
        house.pump.quarantine(late, 6, house.now)
        assert house.reader.proofs.head().size == len(house.ledger.log(0, 1000)) > before
