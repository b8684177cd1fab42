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
from tests.workers.conftest import CATALOGUE, House
from workers.jobs.audits import audit_game
from workers.maintenance import process
from workers.maintenance.archiving import DAY_MS, GameArchiver
from workers.maintenance.corruption_handler import CorruptionHandler
from workers.maintenance.process import ArchivePacer
from workers.maintenance.scrubbing import REST_MS, Scrubber

DAYS = 30
VIEWERS = (PUBLIC, 0, 1, 2)


def closed(house: House, **body: Any) -> str:
    """A game with secrets that is over."""
    game = house.game(**body)
    house.submit(game, 0, 1, 2)
    house.crew.commands.handle(game, Close("abandoned", "director"))
    house.pumping.catch_up()
    return game


@pytest.fixture
def reader(house: House) -> Reader:
    """As the API has it."""
    return Reader(house.crew.views, ArchivedViewLoader(house.crew.history))


def archived(house: House) -> list[int]:
    """All that is old enough: how many records of each game."""
    archiving, done = GameArchiver(house.crew, DAYS), []
    while found := archiving.find_next():
        done.append(archiving.archive(found))
    return done


def old(house: House) -> None:
    house.time[0] += DAYS * DAY_MS


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


def rows(house: House, game: str) -> dict[str, int]:
    """What the views keep of a game, in all generations."""
    tables = schema.boards, schema.timeline, schema.games, schema.results, schema.leaves
    with house.crew.views.reading() as db:
        return {t.name: len(db.execute(select(t.c.gen).where(t.c.game == game)).all()) for t in tables}


class TestWhatStays:
    def test_all_is_shown_and_proved_as_before(self, house: House, reader: Reader) -> None:
        game, other = closed(house), closed(house)
        before = (
            seen(reader, game),
            seen(reader, other),
            dump(house.crew.ledger.read(game)),
            audit_game(house.crew, game),
        )
        old(house)
        assert archived(house) == [9, 9]
        fresh = Reader(house.crew.views, ArchivedViewLoader(house.crew.history))
        assert seen(fresh, game) == before[0]
        assert (seen(reader, other), dump(house.crew.ledger.read(game)), audit_game(house.crew, game)) == before[1:]

    def test_boards_and_timelines_leave_the_views(self, house: House) -> None:
        game = closed(house)
        before = rows(house, game)
        old(house)
        archived(house)
        assert rows(house, game) == {**before, "boards": 0, "timeline": 0}

    def test_the_past_is_the_same(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its keyframes leave the views too, and whoever reads makes them again."""
        monkeypatch.setattr(game_history, "SPACING", 2)
        game, ledger = closed(house), house.crew.ledger

        def boards() -> list[bytes]:
            past = ViewerHistory(ledger, CATALOGUE, house.crew.views)
            loaded = [(past.load_for(game, version, viewer), viewer) for version in range(1, 10) for viewer in VIEWERS]
            assert set(past.keyframes.list_viewers(game)) == {2, 4, 6, 8}
            return [documents.build_board(*each) for each in loaded]

        before = boards()
        assert audit_game(house.crew, game)["verified"] is True
        assert Keyframes(house.crew.views).list_viewers(game), "an audit keeps what is right"
        old(house)
        archived(house)
        assert Keyframes(house.crew.views).list_viewers(game) == {}
        assert boards() == before

    def test_a_table_with_a_delay_is_the_same_for_both_sides(self, house: House, reader: Reader) -> None:
        game = closed(house, delay=2 * DAYS * DAY_MS // 1000)
        old(house)
        assert archived(house) == [], "spectators do not see its end yet"
        house.time[0] += 3 * DAYS * DAY_MS
        house.pumping.catch_up()
        before = seen(reader, game)
        assert archived(house) == [9]
        assert seen(reader, game) == before

    @pytest.mark.parametrize("otherwise", ["version", "at"])
    def test_another_end_than_was_told_is_told_anew(
        self, house: House, reader: Reader, monkeypatch: pytest.MonkeyPatch, otherwise: str
    ) -> None:
        """As after a database that came back older, in which the game has gone on in another way."""
        game, tell, told = closed(house), ArchivedViewLoader._build, list[str]()

        def counted(retold: ArchivedViewLoader, game: str) -> ArchivedViews:
            told.append(game)
            return tell(retold, game)

        monkeypatch.setattr(ArchivedViewLoader, "_build", counted)
        old(house)
        archived(house)
        boards = [reader.find_board(game, viewer) for viewer in VIEWERS]
        assert told == [game]
        with house.crew.views.transaction() as db:
            t = schema.games
            db.execute(t.update().where(t.c.game == game).values({otherwise: t.c[otherwise] + 1}))
        assert reader.find_board(game, PUBLIC) == boards[0]
        assert told == [game] * 2

    def test_views_that_are_made_anew_are_the_same(self, house: House, reader: Reader) -> None:
        game, running = closed(house), house.game()
        house.pumping.catch_up()
        before = seen(reader, game), seen(reader, running)
        old(house)
        archived(house)
        kept = rows(house, game)
        assert "generation" in house.job(house.ask("rebuild"))
        assert (seen(reader, game), seen(reader, running)) == before
        assert rows(house, game) == kept

    def test_views_that_were_being_made_when_it_was_moved_are_same(
        self, house: House, reader: Reader, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They have read the first half of it before, the other half after; and who moved it was killed."""
        game, views = closed(house), house.crew.views
        before = seen(reader, game)
        old(house)
        monkeypatch.setattr("projections.projector.SLICE", 4)
        gen = create_generation(views, 0)
        pump = Projector(ViewerHistory(house.crew.ledger, CATALOGUE, views), "another", gen)
        assert pump.run(house.crew.clock())
        with monkeypatch.context() as patch:
            patch.setattr("workers.maintenance.archiving.drop_game_everywhere", _killed)
            with pytest.raises(KeyboardInterrupt):
                archived(house)
        while pump.run(house.crew.clock()):
            pass
        assert switch_generation(views, gen)
        assert seen(reader, game) == before

    def test_a_game_with_a_rewind_is_told_with_what_was_undone(self, house: House, reader: Reader) -> None:
        game = house.game()
        house.submit(game, 0)
        head = house.crew.ledger.version(game)
        house.crew.commands.handle(game, Rewind(head - 1, "director", reason=""))
        house.crew.commands.handle(game, Close("abandoned", "director"))
        house.pumping.catch_up()
        before = seen(reader, game)
        old(house)
        assert len(archived(house)) == 1
        assert seen(reader, game) == before


class TestWhichGames:
    def test_only_those_that_were_closed_so_long_ago(self, house: House) -> None:
        game, running = closed(house), house.game()
        house.pumping.catch_up()
        house.time[0] += DAYS * DAY_MS - 1
        assert archived(house) == []
        house.time[0] += 1
        assert archived(house) == [9]
        assert (house.crew.ledger.is_archived(game), house.crew.ledger.is_archived(running)) == (True, False)
        assert archived(house) == [], "again there is nothing to do"

    def test_what_was_cut_off_before_the_views_is_done_to_its_end(
        self, house: House, reader: Reader, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = closed(house)
        before = seen(reader, game)
        old(house)
        with monkeypatch.context() as patch:
            patch.setattr("workers.maintenance.archiving.drop_game_everywhere", _killed)
            with pytest.raises(KeyboardInterrupt):
                archived(house)
        assert seen(reader, game) == before
        assert rows(house, game)["timeline"]
        assert archived(house) == [0]
        assert seen(reader, game) == before
        assert rows(house, game)["timeline"] == 0

    def test_a_game_that_the_tree_does_not_hold_stays(self, house: House) -> None:
        game = closed(house)
        old(house)
        with house.crew.views.transaction() as db:
            db.execute(schema.leaves.delete().filter_by(game=game, version=9))
        assert archived(house) == [0]
        assert not house.crew.ledger.is_archived(game)

    def test_the_keeper_does_so_much_in_a_second(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        games = [closed(house) for _ in range(3)]
        old(house)
        now = [100.0]
        monkeypatch.setattr("time.monotonic", lambda: now[0])
        shelving = ArchivePacer(GameArchiver(house.crew, DAYS))

        def moved() -> int:
            shelving.step()
            return sum(map(house.crew.ledger.is_archived, games))

        assert (moved(), moved()) == (1, 1)
        for seconds, many in (
            (9 / process.ARCHIVE_RATE, 2),
            (9 / process.ARCHIVE_RATE, 3),
            (9 / process.ARCHIVE_RATE, 3),
        ):
            now[0] += seconds + 0.001
            assert moved() == many
        games.append(closed(house))
        old(house)
        now[0] += 1
        assert moved() == 3, "it has just looked"
        now[0] += process.REST_SECONDS
        assert moved() == 4


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


class TestDamages:
    @pytest.fixture
    def games(self, house: House) -> list[str]:
        """Two in the archive, and one that is played."""
        found = [closed(house), closed(house), house.game()]
        house.pumping.catch_up()
        old(house)
        assert archived(house) == [9, 9]
        return found

    def test_a_damaged_piece_is_named_and_sets_only_its_game_aside(
        self, house: House, reader: Reader, games: list[str]
    ) -> None:
        before = [seen(reader, game)["timelines"] for game in games]
        scrub = Scrubber(house.crew, 1000)
        scrub.step()
        assert CorruptRecords(house.crew.ledger).list_all() == [], "those that are whole are sound"
        _rot(house, games[0])
        house.time[0] += REST_MS
        scrub.step()
        found = CorruptRecords(house.crew.ledger).list_all()
        assert [(d.game, d.version, d.said) for d in found] == [(games[0], v, "cannot be read") for v in range(1, 10)]
        CorruptionHandler(house.crew, house.pumping._projector).update_views()
        fresh = Reader(house.crew.views, ArchivedViewLoader(house.crew.history))
        assert fresh.find_board(games[0], PUBLIC) is None
        assert [seen(fresh, game)["timelines"] for game in games[1:]] == before[1:]

    def test_a_stub_that_has_changed_is_named(self, house: House, games: list[str]) -> None:
        spoil(house.crew.ledger, games[0], 4, b"a" + bytes(32))
        assert house.crew.inspector.inspect(games[0]) == 4
        assert house.crew.inspector.inspect(games[1]) is None

    def test_what_is_put_back_is_sound_and_read_as_before(self, house: House, reader: Reader, games: list[str]) -> None:
        """Also by views that are made anew, though its records stand in the log again."""
        game, ledger = games[0], house.crew.ledger
        before, records = seen(reader, game), ledger.read(game)
        damaged = CorruptionHandler(house.crew, house.pumping._projector)
        ledger.reset()
        _rot(house, game)
        assert house.crew.inspector.inspect(game) == 1
        damaged.update_views()
        ledger.repair.restore_records(
            game, [(r, r.hash, ledger.position(game, r.version) or 0) for r in records], "it had rotted"
        )
        assert house.crew.inspector.inspect(game) is None
        damaged.update_views()
        assert (seen(reader, game), ledger.read(game)) == (before, records)
        assert archived(house) == [0], "its rows leave the views again"
        assert rows(house, game)["timeline"] == 0
        assert "generation" in house.job(house.ask("rebuild"))
        assert seen(reader, game) == before

    def test_views_made_anew_show_a_damaged_game_up_to_there(self, house: House, games: list[str]) -> None:
        ledger = house.crew.ledger
        spoil(ledger, games[0], 8, b"a" + bytes(32))
        assert house.crew.inspector.inspect(games[0]) == 8
        assert "generation" in house.job(house.ask("rebuild"))
        reader = Reader(house.crew.views, ArchivedViewLoader(ViewerHistory(ledger, CATALOGUE, house.crew.views)))
        board = reader.find_board(games[0], PUBLIC)
        assert board is not None
        assert json.loads(board.doc)["version"] == 7
        assert [e["version"] for e in reader.read_timeline(games[0], PUBLIC)] == list(range(1, 8))

    @pytest.mark.parametrize("column", ["state", "topic"])
    def test_a_game_that_was_damaged_before_is_not_archived(self, house: House, column: str) -> None:
        game = closed(house)
        old(house)
        if column == "state":
            spoil(house.crew.ledger, game, 5)
        else:
            sql = "UPDATE records SET topic = 'game.melted@1' WHERE originator_version = 5"
            overwrite(house.crew.ledger, sql)
        assert archived(house) == [0]
        assert CorruptRecords(house.crew.ledger).first_version(game) == 5
        CorruptionHandler(house.crew, house.pumping._projector).update_views()
        assert archived(house) == []


def _rot(house: House, game: str) -> None:
    overwrite(house.crew.ledger, "UPDATE archive SET piece = ? WHERE game = ?", (b"rotten", game))
