"""Tournaments are records of the same log: tree, rebuilding, scrubbing, quarantine and archive know them."""

from __future__ import annotations

import pytest

from domain.accounts.account_store import AccountStore
from domain.accounts.accounts import AccountRegistration
from domain.command_handler import new_game_id
from domain.errors import GameDamaged, UnknownGame, UnknownKind, UnknownTournament
from domain.kernel.game.table_commands import Close as CloseGame
from domain.service.seat_tokens import SeatTokens
from domain.tournament_handler import TournamentHandler
from domain.tournament_tables import TournamentTables
from domain.tournaments.aggregate.basic_commands import CloseTournament, Enter
from domain.tournaments.aggregate.queue_commands import JoinQueue
from domain.tournaments.aggregate.seat_commands import FileBid, OpenBids
from domain.tournaments.aggregate.tournament_proof import export_lines, parse_export, verify_tournament
from projections.projector import Projector
from projections.rebuild import create_generation, switch_generation
from projections.tournament_documents import StoredTournamentDoc
from projections.viewer_history import ViewerHistory
from tests.damage import overwrite, spoil
from tests.tournaments.aggregates import TERMS, drawn, tournament_id
from tests.workers.conftest import CATALOGUE, House
from workers.maintenance.archiving import GameArchiver
from workers.maintenance.corruption_handler import CorruptionHandler


@pytest.fixture
def handler(house: House) -> TournamentHandler:
    crew = house.crew
    return TournamentHandler(crew.ledger, CATALOGUE, crew.seed_store, crew.clock)


def listed(house: House) -> list[StoredTournamentDoc]:
    return [doc for _, doc in house.reader.list_tournaments("", "")]


class TestOneLog:
    def test_its_records_are_leaves_also_after_rebuild_and_archive(
        self, house: House, handler: TournamentHandler
    ) -> None:
        game, crew = house.game(), house.crew
        t = drawn(handler, stages=[{"format": "league", "rounds": 2, "seating": "bid"}])
        handler.handle(t.id, OpenBids(1, 1))
        handler.handle(t.id, FileBid(("p0",), 1, 1, (7, 86, 7)))
        handler.handle(t.id, CloseTournament())
        crew.commands.handle(game, CloseGame("abandoned", "director"))
        house.pumping.catch_up()
        t = handler.load(t.id)
        before, head = listed(house), house.reader.proofs.head()
        assert head.size == t.version + crew.ledger.version(game)
        assert [doc["status"] for doc in before] == ["cancelled"]
        proof = house.reader.proofs.prove_inclusion(t.id, t.version)
        assert proof is not None
        assert proof.record == t.hash
        text = crew.ledger.read(t.id)
        assert any(record.packs for record in text)
        archiving, moved = GameArchiver(crew, 0), {}
        while found := archiving.find_next():
            moved[found.game] = archiving.archive(found)
        assert moved == {t.id: t.version, game: crew.ledger.version(game)}
        assert archiving.find_next() is None
        assert crew.ledger.is_archived(t.id)
        assert crew.ledger.read(t.id) == text
        gen = create_generation(crew.views, house.time[0])
        pump = Projector(ViewerHistory(crew.ledger, crew.registry, crew.views), "rebuild", gen)
        while pump.run(house.time[0]):
            pass
        assert switch_generation(crew.views, gen)
        assert (listed(house), house.reader.proofs.head()) == (before, head)
        assert GameArchiver(crew, 0).find_next() is None

    def test_what_is_damaged_is_found_put_aside_and_put_right(self, house: House, handler: TournamentHandler) -> None:
        t, crew = drawn(handler), house.crew
        house.pumping.catch_up()
        assert crew.inspector.inspect(t.id) is None
        before = spoil(crew.ledger, t.id, 5)
        assert crew.inspector.inspect(t.id) == 5
        aside = CorruptionHandler(crew, house.pumping._projector)
        aside.update_views()
        assert [(doc["version"], doc["damaged"]) for doc in listed(house)] == [(4, 5)]
        with pytest.raises(GameDamaged):
            handler.handle(t.id, CloseTournament())
        spoil(crew.ledger, t.id, 5, before)
        assert crew.inspector.inspect(t.id) is None
        aside.update_views()
        assert [(doc["version"], "damaged" in doc) for doc in listed(house)] == [(t.version, False)]
        overwrite(crew.ledger, "UPDATE seeds SET box = ?", (b"x" * 80,))
        assert crew.inspector.inspect(t.id) == 0

    def test_an_id_has_one_family(self, house: House, handler: TournamentHandler) -> None:
        t, game = drawn(handler), house.game()
        with pytest.raises(UnknownGame):
            house.crew.commands.game(t.id)
        with pytest.raises(UnknownTournament):
            handler.load(game)
        with pytest.raises(UnknownKind):
            handler.open(new_game_id(), "organiser", TERMS)
        with pytest.raises(UnknownKind):
            house.crew.commands.open(tournament_id(7), "orders@1", 3)


def test_an_export_proves_itself(house: House, handler: TournamentHandler) -> None:
    t = drawn(handler)
    records = house.crew.ledger.read(t.id)
    parsed = parse_export(b"".join(export_lines(records[0], records[-1], records)))
    assert verify_tournament(parsed) == t


def test_a_result_is_reported_without_being_asked_for(house: House, handler: TournamentHandler) -> None:
    """Once the views know the end of a game, the next pass has its result put on the list; then there is no more."""
    t, crew = drawn(handler), house.crew
    tokens = SeatTokens(crew.ledger, crew.ledger.keys)
    tokens.migrate()
    tables = TournamentTables(crew.ledger, handler, crew.commands, tokens, lambda _: set())
    tables.make_tables(t.id, 1, 1, 50)
    games = [table.game for table in handler.load(t.id).play.tables.values()]
    house.pumping.catch_up()
    assert house.reader.list_unreported() == []
    house.crew.commands.handle(games[1], CloseGame("void", "director"))
    house.pumping.catch_up()
    (due,) = house.reader.list_unreported()
    assert (due.game, due.decision, due.work) == (games[1], "0-0", "report")
    assert house.reconciler.pass_once() >= 1
    assert house.worked()
    assert [table.result is not None for table in handler.load(t.id).play.tables.values()] == [False, True, False]
    house.pumping.catch_up()
    assert house.reader.list_unreported() == []


def test_who_is_banned_after_the_draw_gets_no_seat(house: House, handler: TournamentHandler) -> None:
    crew = house.crew
    tokens = SeatTokens(crew.ledger, crew.ledger.keys)
    tokens.migrate()
    t = drawn(handler, 3, least=2, stages=[{"format": "swiss", "rounds": 2}])
    tables = TournamentTables(crew.ledger, handler, crew.commands, tokens, {"p1"}.intersection)
    tables.make_tables(t.id, 1, 1, 50)
    after = handler.load(t.id)
    assert sorted(after.play.tables[1, 1].entrants) == [0, 2]
    assert [entrant.withdrawn for entrant in after.entrants] == [False, True, False]
    assert verify_tournament(crew.ledger.read(t.id)) == after


def test_a_table_from_a_queue_is_due_when_patience_ends(house: House, handler: TournamentHandler) -> None:
    crew, tournament = house.crew, tournament_id(3)
    SeatTokens(crew.ledger, crew.ledger.keys).migrate()
    ladder = {"format": "ladder", "total": "best:8", "patience": 60}
    handler.open(tournament, "organiser", {**TERMS, "least": 2, "stages": [ladder]})
    accounts = AccountStore(crew.ledger, crew.ledger.keys)
    accounts.migrate()
    people = [accounts.accounts.open(name, AccountRegistration(name, "hash", []))[0].player for name in ("Anne", "Bob")]
    for player in people:
        handler.handle(tournament, Enter(player))
        handler.handle(tournament, JoinQueue((player,)))
    house.pumping.catch_up()
    since = handler.load(tournament).play.queue[0]
    assert house.reader.list_due(since + 59_999) == []
    house.time[0] = since + 60_000
    (due,) = house.reader.list_due(house.time[0])
    assert (due.game, due.work, due.at) == (tournament, "queue", since + 60_000)
    assert house.reconciler.pass_once() >= 1
    assert house.worked()
    t = handler.load(tournament)
    assert [bool(table.game) for table in t.play.tables.values()] == [True]
    assert crew.commands.game(t.play.tables[1, 1].game).status == "running"
    house.pumping.catch_up()
    assert [row.work for row in house.reader.list_due(house.time[0]) if row.game == tournament] == []
