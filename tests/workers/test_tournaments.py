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
from tests.workers.conftest import CATALOGUE, Harness
from workers.maintenance.archiving import GameArchiver
from workers.maintenance.corruption_handler import CorruptionHandler


@pytest.fixture
def handler(harness: Harness) -> TournamentHandler:
    context = harness.context
    return TournamentHandler(context.ledger, CATALOGUE, context.seed_store, context.clock)


def listed(harness: Harness) -> list[StoredTournamentDoc]:
    return [doc for _, doc in harness.reader.list_tournaments("", "")]


class TestOneLog:
    def test_its_records_are_leaves_also_after_rebuild_and_archive(
        self, harness: Harness, handler: TournamentHandler
    ) -> None:
        game, context = harness.game(), harness.context
        t = drawn(handler, stages=[{"format": "league", "rounds": 2, "seating": "bid"}])
        handler.handle(t.id, OpenBids(1, 1))
        handler.handle(t.id, FileBid(("p0",), 1, 1, (7, 86, 7)))
        handler.handle(t.id, CloseTournament())
        context.commands.handle(game, CloseGame("abandoned", "director"))
        harness.pumping.catch_up()
        t = handler.load(t.id)
        before, head = listed(harness), harness.reader.proofs.head()
        assert head.size == t.version + context.ledger.version(game)
        assert [doc["status"] for doc in before] == ["cancelled"]
        proof = harness.reader.proofs.prove_inclusion(t.id, t.version)
        assert proof is not None
        assert proof.record == t.hash
        text = context.ledger.read(t.id)
        assert any(record.packs for record in text)
        archiving, moved = GameArchiver(context, 0), {}
        while found := archiving.find_next():
            moved[found.game] = archiving.archive(found)
        assert moved == {t.id: t.version, game: context.ledger.version(game)}
        assert archiving.find_next() is None
        assert context.ledger.is_archived(t.id)
        assert context.ledger.read(t.id) == text
        gen = create_generation(context.views, harness.time[0])
        pump = Projector(ViewerHistory(context.ledger, context.registry, context.views), "rebuild", gen)
        while pump.run(harness.time[0]):
            pass
        assert switch_generation(context.views, gen)
        assert (listed(harness), harness.reader.proofs.head()) == (before, head)
        assert GameArchiver(context, 0).find_next() is None

    def test_what_is_damaged_is_found_put_aside_and_put_right(
        self, harness: Harness, handler: TournamentHandler
    ) -> None:
        t, context = drawn(handler), harness.context
        harness.pumping.catch_up()
        assert context.inspector.inspect(t.id) is None
        before = spoil(context.ledger, t.id, 5)
        assert context.inspector.inspect(t.id) == 5
        aside = CorruptionHandler(context, harness.pumping._projector)
        aside.update_views()
        assert [(doc["version"], doc["damaged"]) for doc in listed(harness)] == [(4, 5)]
        with pytest.raises(GameDamaged):
            handler.handle(t.id, CloseTournament())
        spoil(context.ledger, t.id, 5, before)
        assert context.inspector.inspect(t.id) is None
        aside.update_views()
        assert [(doc["version"], "damaged" in doc) for doc in listed(harness)] == [(t.version, False)]
        overwrite(context.ledger, "UPDATE seeds SET box = ?", (b"x" * 80,))
        assert context.inspector.inspect(t.id) == 0

    def test_an_id_has_one_family(self, harness: Harness, handler: TournamentHandler) -> None:
        t, game = drawn(handler), harness.game()
        with pytest.raises(UnknownGame):
            harness.context.commands.game(t.id)
        with pytest.raises(UnknownTournament):
            handler.load(game)
        with pytest.raises(UnknownKind):
            handler.open(new_game_id(), "organiser", TERMS)
        with pytest.raises(UnknownKind):
            harness.context.commands.open(tournament_id(7), "orders@1", 3)


def test_an_export_proves_itself(harness: Harness, handler: TournamentHandler) -> None:
    t = drawn(handler)
    records = harness.context.ledger.read(t.id)
    parsed = parse_export(b"".join(export_lines(records[0], records[-1], records)))
    assert verify_tournament(parsed) == t


def test_a_result_is_reported_without_being_asked_for(harness: Harness, handler: TournamentHandler) -> None:
    """Once the views know the end of a game, the next pass has its result put on the list; then there is no more."""
    t, context = drawn(handler), harness.context
    tokens = SeatTokens(context.ledger, context.ledger.keys)
    tokens.migrate()
    tables = TournamentTables(context.ledger, handler, context.commands, tokens, lambda _: set())
    tables.make_tables(t.id, 1, 1, 50)
    games = [table.game for table in handler.load(t.id).play.tables.values()]
    harness.pumping.catch_up()
    assert harness.reader.list_unreported() == []
    harness.context.commands.handle(games[1], CloseGame("void", "director"))
    harness.pumping.catch_up()
    (due,) = harness.reader.list_unreported()
    assert (due.game, due.decision, due.work) == (games[1], "0-0", "report")
    assert harness.reconciler.pass_once() >= 1
    assert harness.worked()
    assert [table.result is not None for table in handler.load(t.id).play.tables.values()] == [False, True, False]
    harness.pumping.catch_up()
    assert harness.reader.list_unreported() == []


def test_who_is_banned_after_the_draw_gets_no_seat(harness: Harness, handler: TournamentHandler) -> None:
    context = harness.context
    tokens = SeatTokens(context.ledger, context.ledger.keys)
    tokens.migrate()
    t = drawn(handler, 3, least=2, stages=[{"format": "swiss", "rounds": 2}])
    tables = TournamentTables(context.ledger, handler, context.commands, tokens, {"p1"}.intersection)
    tables.make_tables(t.id, 1, 1, 50)
    after = handler.load(t.id)
    assert sorted(after.play.tables[1, 1].entrants) == [0, 2]
    assert [entrant.withdrawn for entrant in after.entrants] == [False, True, False]
    assert verify_tournament(context.ledger.read(t.id)) == after


def test_a_table_from_a_queue_is_due_when_patience_ends(harness: Harness, handler: TournamentHandler) -> None:
    context, tournament = harness.context, tournament_id(3)
    SeatTokens(context.ledger, context.ledger.keys).migrate()
    ladder = {"format": "ladder", "total": "best:8", "patience": 60}
    handler.open(tournament, "organiser", {**TERMS, "least": 2, "stages": [ladder]})
    accounts = AccountStore(context.ledger, context.ledger.keys)
    accounts.migrate()
    people = [accounts.accounts.open(name, AccountRegistration(name, "hash", []))[0].player for name in ("Anne", "Bob")]
    for player in people:
        handler.handle(tournament, Enter(player))
        handler.handle(tournament, JoinQueue((player,)))
    harness.pumping.catch_up()
    since = handler.load(tournament).play.queue[0]
    assert harness.reader.list_due(since + 59_999) == []
    harness.time[0] = since + 60_000
    (due,) = harness.reader.list_due(harness.time[0])
    assert (due.game, due.work, due.at) == (tournament, "queue", since + 60_000)
    assert harness.reconciler.pass_once() >= 1
    assert harness.worked()
    t = handler.load(tournament)
    assert [bool(table.game) for table in t.play.tables.values()] == [True]
    assert context.commands.game(t.play.tables[1, 1].game).status == "running"
    harness.pumping.catch_up()
    assert [row.work for row in harness.reader.list_due(harness.time[0]) if row.game == tournament] == []
