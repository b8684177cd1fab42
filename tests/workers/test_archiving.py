"""Games that were closed long ago leave the hot tables; what could be read or proved stays so, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select

from domain import game_history
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.table_commands import Close
from domain.kernel.records.export import dump
from domain.service.corruption import CorruptRecords
from domain.types import PUBLIC
from projections import documents, schema
from projections.archived_views import ArchivedViewLoader, ArchivedViews
from projections.keyframes import Keyframes
from projections.projector import Projector
from projections.reader import Reader
from projections.rebuild import create_generation, switch_generation
from projections.viewer_history import ViewerHistory
from tests.damage import overwrite, spoil
from tests.workers.conftest import CATALOGUE, Harness
from workers.jobs.audits import audit_game
from workers.maintenance import process
from workers.maintenance.archiving import DAY_MS, GameArchiver
from workers.maintenance.corruption_handler import CorruptionHandler
from workers.maintenance.process import ArchivePacer
from workers.maintenance.scrubbing import REST_MS, Scrubber

DAYS = 30
VIEWERS = (PUBLIC, 0, 1, 2)


def closed(harness: Harness, **body: Any) -> str:
    """A game with secrets that is over."""
    game = harness.game(**body)
    harness.submit(game, 0, 1, 2)
    harness.context.commands.handle(game, Close("abandoned", "director"))
    harness.pumping.catch_up()
    return game


@pytest.fixture
def reader(harness: Harness) -> Reader:
    """As the API has it."""
    return Reader(harness.context.views, ArchivedViewLoader(harness.context.history))


def archived(harness: Harness) -> list[int]:
    """All that is old enough: how many records of each game."""
    archiving, done = GameArchiver(harness.context, DAYS), []
    while found := archiving.find_next():
        done.append(archiving.archive(found))
    return done


def old(harness: Harness) -> None:
    harness.time[0] += DAYS * DAY_MS


def seen(reader: Reader, game: str) -> dict[str, Any]:
    """All that anybody is shown of a game, and can prove of it."""
    head = reader.proofs.head()
    return {
        "boards": [reader.find_board(game, viewer, inside=inside) for viewer in VIEWERS for inside in (False, True)],
        "timelines": [reader.read_timeline(game, viewer, 0, 1000) for viewer in VIEWERS],
        "pages": [reader.read_timeline(game, 1, after, 2) for after in range(9)],
        "summary": reader.find_summary(game),
        "results": [reader.list_results(f"p{seat}") for seat in range(3)],
        "head": head,
        "inclusion": [reader.proofs.prove_inclusion(game, version) for version in range(1, 11)],
        "consistency": [reader.proofs.prove_consistency(old) for old in range(1, head.size + 1)],
        "lobby": reader.list_lobby(),
    }


def rows(harness: Harness, game: str) -> dict[str, int]:
    """What the views keep of a game, in all generations."""
    tables = schema.boards, schema.timeline, schema.games, schema.results, schema.leaves
    with harness.context.views.reading() as db:
        return {t.name: len(db.execute(select(t.c.gen).where(t.c.game == game)).all()) for t in tables}


class TestWhatStays:
    def test_all_is_shown_and_proved_as_before(self, harness: Harness, reader: Reader) -> None:
        game, other = closed(harness), closed(harness)
        before = (
            seen(reader, game),
            seen(reader, other),
            dump(harness.context.ledger.read(game)),
            audit_game(harness.context, game),
        )
        old(harness)
        assert archived(harness) == [9, 9]
        fresh = Reader(harness.context.views, ArchivedViewLoader(harness.context.history))
        assert seen(fresh, game) == before[0]
        assert (
            seen(reader, other),
            dump(harness.context.ledger.read(game)),
            audit_game(harness.context, game),
        ) == before[1:]

    def test_boards_and_timelines_leave_the_views(self, harness: Harness) -> None:
        game = closed(harness)
        before = rows(harness, game)
        old(harness)
        archived(harness)
        assert rows(harness, game) == {**before, "boards": 0, "timeline": 0}

    def test_the_past_is_the_same(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its keyframes leave the views too, and whoever reads makes them again."""
        monkeypatch.setattr(game_history, "SPACING", 2)
        game, ledger = closed(harness), harness.context.ledger

        def boards() -> list[bytes]:
            past = ViewerHistory(ledger, CATALOGUE, harness.context.views)
            loaded = [(past.load_for(game, version, viewer), viewer) for version in range(1, 10) for viewer in VIEWERS]
            assert set(past.keyframes.list_viewers(game)) == {2, 4, 6, 8}
            return [documents.build_board(*each) for each in loaded]

        before = boards()
        assert audit_game(harness.context, game)["verified"] is True
        assert Keyframes(harness.context.views).list_viewers(game), "an audit keeps what is right"
        old(harness)
        archived(harness)
        assert Keyframes(harness.context.views).list_viewers(game) == {}
        assert boards() == before

    def test_a_table_with_a_delay_is_the_same_for_both_sides(self, harness: Harness, reader: Reader) -> None:
        game = closed(harness, delay=2 * DAYS * DAY_MS // 1000)
        old(harness)
        assert archived(harness) == [], "spectators do not see its end yet"
        harness.time[0] += 3 * DAYS * DAY_MS
        harness.pumping.catch_up()
        before = seen(reader, game)
        assert archived(harness) == [9]
        assert seen(reader, game) == before

    @pytest.mark.parametrize("otherwise", ["version", "at"])
    def test_another_end_than_was_told_is_told_anew(
        self, harness: Harness, reader: Reader, monkeypatch: pytest.MonkeyPatch, otherwise: str
    ) -> None:
        """As after a database that came back older, in which the game has gone on in another way."""
        game, tell, told = closed(harness), ArchivedViewLoader._build, list[str]()

        def counted(retold: ArchivedViewLoader, game: str) -> ArchivedViews:
            told.append(game)
            return tell(retold, game)

        monkeypatch.setattr(ArchivedViewLoader, "_build", counted)
        old(harness)
        archived(harness)
        boards = [reader.find_board(game, viewer) for viewer in VIEWERS]
        assert told == [game]
        with harness.context.views.transaction() as db:
            t = schema.games
            db.execute(t.update().where(t.c.game == game).values({otherwise: t.c[otherwise] + 1}))
        assert reader.find_board(game, PUBLIC) == boards[0]
        assert told == [game] * 2

    def test_views_that_are_made_anew_are_the_same(self, harness: Harness, reader: Reader) -> None:
        game, running = closed(harness), harness.game()
        harness.pumping.catch_up()
        before = seen(reader, game), seen(reader, running)
        old(harness)
        archived(harness)
        kept = rows(harness, game)
        assert "generation" in harness.job(harness.ask("rebuild"))
        assert (seen(reader, game), seen(reader, running)) == before
        assert rows(harness, game) == kept

    def test_views_that_were_being_made_when_it_was_moved_are_same(
        self, harness: Harness, reader: Reader, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They have read the first half of it before, the other half after; and who moved it was killed."""
        game, views = closed(harness), harness.context.views
        before = seen(reader, game)
        old(harness)
        monkeypatch.setattr("projections.projector.SLICE", 4)
        gen = create_generation(views, 0)
        pump = Projector(ViewerHistory(harness.context.ledger, CATALOGUE, views), "another", gen)
        assert pump.run(harness.context.clock())
        with monkeypatch.context() as patch:
            patch.setattr("workers.maintenance.archiving.drop_game_everywhere", _killed)
            with pytest.raises(KeyboardInterrupt):
                archived(harness)
        while pump.run(harness.context.clock()):
            pass
        assert switch_generation(views, gen)
        assert seen(reader, game) == before

    def test_a_game_with_a_rewind_is_told_with_what_was_undone(self, harness: Harness, reader: Reader) -> None:
        game = harness.game()
        harness.submit(game, 0)
        head = harness.context.ledger.version(game)
        harness.context.commands.handle(game, Rewind(head - 1, "director", reason=""))
        harness.context.commands.handle(game, Close("abandoned", "director"))
        harness.pumping.catch_up()
        before = seen(reader, game)
        old(harness)
        assert len(archived(harness)) == 1
        assert seen(reader, game) == before


class TestWhichGames:
    def test_only_those_that_were_closed_so_long_ago(self, harness: Harness) -> None:
        game, running = closed(harness), harness.game()
        harness.pumping.catch_up()
        harness.time[0] += DAYS * DAY_MS - 1
        assert archived(harness) == []
        harness.time[0] += 1
        assert archived(harness) == [9]
        assert (
            harness.context.ledger.is_archived(game),
            harness.context.ledger.is_archived(running),
        ) == (True, False)
        assert archived(harness) == [], "again there is nothing to do"

    def test_what_was_cut_off_before_the_views_is_done_to_its_end(
        self, harness: Harness, reader: Reader, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = closed(harness)
        before = seen(reader, game)
        old(harness)
        with monkeypatch.context() as patch:
            patch.setattr("workers.maintenance.archiving.drop_game_everywhere", _killed)
            with pytest.raises(KeyboardInterrupt):
                archived(harness)
        assert seen(reader, game) == before
        assert rows(harness, game)["timeline"]
        assert archived(harness) == [0]
        assert seen(reader, game) == before
        assert rows(harness, game)["timeline"] == 0

    def test_a_game_that_the_tree_does_not_hold_stays(self, harness: Harness) -> None:
        game = closed(harness)
        old(harness)
        with harness.context.views.transaction() as db:
            db.execute(schema.leaves.delete().filter_by(game=game, version=9))
        assert archived(harness) == [0]
        assert not harness.context.ledger.is_archived(game)

    def test_the_keeper_does_so_much_in_a_second(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        games = [closed(harness) for _ in range(3)]
        old(harness)
        now = [100.0]
        monkeypatch.setattr("time.monotonic", lambda: now[0])
        shelving = ArchivePacer(GameArchiver(harness.context, DAYS))

        def moved() -> int:
            shelving.step()
            return sum(map(harness.context.ledger.is_archived, games))

        assert (moved(), moved()) == (1, 1)
        for seconds, many in (
            (9 / process.ARCHIVE_RATE, 2),
            (9 / process.ARCHIVE_RATE, 3),
            (9 / process.ARCHIVE_RATE, 3),
        ):
            now[0] += seconds + 0.001
            assert moved() == many
        games.append(closed(harness))
        old(harness)
        now[0] += 1
        assert moved() == 3, "it has just looked"
        now[0] += process.REST_SECONDS
        assert moved() == 4


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


class TestDamages:
    @pytest.fixture
    def games(self, harness: Harness) -> list[str]:
        """Two in the archive, and one that is played."""
        found = [closed(harness), closed(harness), harness.game()]
        harness.pumping.catch_up()
        old(harness)
        assert archived(harness) == [9, 9]
        return found

    def test_a_damaged_piece_is_named_and_sets_only_its_game_aside(
        self, harness: Harness, reader: Reader, games: list[str]
    ) -> None:
        before = [seen(reader, game)["timelines"] for game in games]
        scrub = Scrubber(harness.context, 1000)
        scrub.step()
        assert CorruptRecords(harness.context.ledger).list_all() == [], "those that are whole are sound"
        _rot(harness, games[0])
        harness.time[0] += REST_MS
        scrub.step()
        found = CorruptRecords(harness.context.ledger).list_all()
        assert [(d.game, d.version, d.said) for d in found] == [(games[0], v, "cannot be read") for v in range(1, 10)]
        CorruptionHandler(harness.context, harness.pumping._projector).update_views()
        fresh = Reader(harness.context.views, ArchivedViewLoader(harness.context.history))
        assert fresh.find_board(games[0], PUBLIC) is None
        assert [seen(fresh, game)["timelines"] for game in games[1:]] == before[1:]

    def test_a_stub_that_has_changed_is_named(self, harness: Harness, games: list[str]) -> None:
        spoil(harness.context.ledger, games[0], 4, b"a" + bytes(32))
        assert harness.context.inspector.inspect(games[0]) == 4
        assert harness.context.inspector.inspect(games[1]) is None

    def test_what_is_put_back_is_sound_and_read_as_before(
        self, harness: Harness, reader: Reader, games: list[str]
    ) -> None:
        """Also by views that are made anew, though its records stand in the log again."""
        game, ledger = games[0], harness.context.ledger
        before, records = seen(reader, game), ledger.read(game)
        damaged = CorruptionHandler(harness.context, harness.pumping._projector)
        ledger.reset()
        _rot(harness, game)
        assert harness.context.inspector.inspect(game) == 1
        damaged.update_views()
        ledger.repair.restore_records(
            game, [(r, r.hash, ledger.position(game, r.version) or 0) for r in records], "it had rotted"
        )
        assert harness.context.inspector.inspect(game) is None
        damaged.update_views()
        assert (seen(reader, game), ledger.read(game)) == (before, records)
        assert archived(harness) == [0], "its rows leave the views again"
        assert rows(harness, game)["timeline"] == 0
        assert "generation" in harness.job(harness.ask("rebuild"))
        assert seen(reader, game) == before

    def test_views_made_anew_show_a_damaged_game_up_to_there(self, harness: Harness, games: list[str]) -> None:
        ledger = harness.context.ledger
        spoil(ledger, games[0], 8, b"a" + bytes(32))
        assert harness.context.inspector.inspect(games[0]) == 8
        assert "generation" in harness.job(harness.ask("rebuild"))
        reader = Reader(
            harness.context.views,
            ArchivedViewLoader(ViewerHistory(ledger, CATALOGUE, harness.context.views)),
        )
        board = reader.find_board(games[0], PUBLIC)
        assert board is not None
        assert json.loads(board.doc)["version"] == 7
        assert [e["version"] for e in reader.read_timeline(games[0], PUBLIC)] == list(range(1, 8))

    @pytest.mark.parametrize("column", ["state", "topic"])
    def test_a_game_that_was_damaged_before_is_not_archived(self, harness: Harness, column: str) -> None:
        game = closed(harness)
        old(harness)
        if column == "state":
            spoil(harness.context.ledger, game, 5)
        else:
            sql = "UPDATE records SET topic = 'game.melted@1' WHERE originator_version = 5"
            overwrite(harness.context.ledger, sql)
        assert archived(harness) == [0]
        assert CorruptRecords(harness.context.ledger).first_version(game) == 5
        CorruptionHandler(harness.context, harness.pumping._projector).update_views()
        assert archived(harness) == []


def _rot(harness: Harness, game: str) -> None:
    overwrite(harness.context.ledger, "UPDATE archive SET piece = ? WHERE game = ?", (b"rotten", game))
