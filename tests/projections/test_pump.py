"""The pump: views follow the log, and whatever happens to it they say the same."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from domain.bots import deciding_seats
from domain.command_handler import GameConditions
from domain.errors import StoreUnavailable, WrongKey
from domain.kernel.game.director_commands import Extend, Rewind
from domain.kernel.game.game import Game
from domain.kernel.game.game_fold import fold
from domain.kernel.game.play_commands import Lapse, Play, Resolve
from domain.kernel.game.table_commands import Leave
from domain.kernel.text.message_catalog import load_texts
from domain.ledger import LogEntry
from domain.ledger.mapper import RecordMapper
from domain.rollouts import random_move
from domain.service.keyring import Keyring
from domain.transparency.merkle_tree import leaf_hash, verify_consistency, verify_inclusion
from domain.types import PUBLIC, Json, Viewer
from projections import batch, rebuild, schema
from projections.documents import add_text
from projections.integrity import find_corruption
from projections.leases import LeaseLostError
from projections.merkle_proofs import MerkleProofs
from projections.projector import Projector
from projections.rebuild import create_generation, drop_old_rows, switch_generation
from projections.row_builders import build_due_rows
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.projections.conftest import CATALOGUE, House, opened


class Table:
    """What machine.may_decide wants to know of a game."""

    def __init__(self, rules: Any, state: Any) -> None:
        self.rules, self.state = rules, state


def play(house: House, game: str, seed: int, moves: int) -> None:
    rng = random.Random(seed)
    for _ in range(moves):
        p = house.commands.game(game)
        if p.status != "running":
            return
        rules = CATALOGUE.get(p.ruleset)
        if p.state.top.engine:
            house.commands.handle(game, Resolve(house.decision(game)))
            continue
        table: Any = Table(rules, p.state)
        seat = rng.choice(deciding_seats(table))
        house.commands.handle(game, Play(seat, [random_move(rules, p.state, seat, rng)], decision=house.decision(game)))


def board(house: House, game: str, viewer: Viewer) -> Json:
    found = house.reader.find_board(game, viewer)
    assert found is not None
    return json.loads(found.doc)


def rows(house: House, table: Any) -> list[Any]:
    """All rows of a table but for their generation."""
    with house.views.reading() as db:
        found = [opened(house.views, row) for row in db.execute(select(table)).mappings()]
    return sorted(([v for k, v in row.items() if k != "gen"] for row in found), key=repr)


VIEWS = (
    schema.games,
    schema.boards,
    schema.timeline,
    schema.results,
    schema.due,
    schema.held_back,
    schema.seated,
    schema.leaves,
    schema.nodes,
    schema.aside,
)


class TestBoards:
    def test_a_board_is_what_its_viewer_may_see(self, house: House) -> None:
        """Public and own apart, decisions with ids."""
        game = house.game("sealed@1", 3)
        house.pumped()
        position: Game[Any] = house.commands.game(game)
        rules = CATALOGUE.get("sealed@1")
        for viewer in (PUBLIC, 0, 1, 2):
            doc = board(house, game, viewer)
            assert doc["public"] == rules.player_view(position.state, PUBLIC)
            assert doc["decisions"][0]["id"] == house.decision(game)
            hands = [c for v in (0, 1, 2) if v != viewer for c in [str(position.state.hands[v])]]
            assert not any(h in json.dumps(doc) for h in hands)
        assert board(house, game, 1)["own"]["hand"] == list(position.state.hands[1])
        assert "own" not in board(house, game, PUBLIC)

    def test_a_sealed_record_changes_only_its_audiences_board(self, house: House) -> None:
        """For all others the version at which their document last changed stays."""
        game = house.game("orders@1", 3)
        house.pumped()
        before = {v: house.reader.find_board(game, v) for v in (PUBLIC, 0, 1, 2)}
        house.commands.handle(game, Play(1, [{"type": "order", "to": "t01", "units": 2}]))
        house.pumped()
        changed = [v for v in (PUBLIC, 0, 1, 2) if house.reader.find_board(game, v) != before[v]]
        assert changed == [1]

    def test_what_nobody_has_is_none(self, house: House) -> None:
        """Unknown games and seats."""
        game = house.game("orders@1", 3)
        house.pumped()
        assert house.reader.find_board(game, 7) is None
        assert house.reader.find_board("nothing", PUBLIC) is None
        assert house.reader.find_summary("nothing") is None

    def test_a_closed_game_shows_all(self, house: House) -> None:
        """And its results stand in the scoreboard of its players."""
        clocks = dict.fromkeys({"move", *CATALOGUE.get("windows@1").meta.clocks.values()}, 1)
        game = house.game("windows@1", 2, options={"turns": 1}, pace={"seconds": clocks})
        house.commands.handle(game, Lapse(house.decision(game)))
        house.pumped()
        assert board(house, game, PUBLIC)["status"] == "closed"
        assert len(board(house, game, PUBLIC)["own"]["seats"]) == 2
        (result,) = house.reader.list_results("p1")
        assert (result["game"], result["seat"], result["place"]) == (game, 1, 1)


class TestTheViewsSayTheSame:
    def games(self, house: House) -> list[str]:
        games = [house.game("skirmish@1", 4), house.game("orders@1", 3), house.game("windows@1", 3)]
        for seed, game in enumerate(games):
            play(house, game, seed, 40)
        head = house.commands.game(games[0])
        if head.status == "running":
            house.commands.handle(games[0], Rewind(head.version - 2), GameConditions(expected=head.version))
            play(house, games[0], 9, 5)
        return games

    def test_pumped_at_once_slowly_or_by_several(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        """Views are assigned: slices, restarts and other pumps change nothing."""
        self.games(house)
        house.pumped()
        once = {t.name: rows(house, t) for t in VIEWS}
        monkeypatch.setattr("projections.projector.SLICE", 7)
        gen = create_generation(house.views, 0)
        turn = 0
        while Projector(ViewerHistory(house.ledger, CATALOGUE, house.views), f"p{turn}", gen).run(turn * 100_000):
            turn += 1
        assert turn > 5
        assert switch_generation(house.views, gen)
        drop_old_rows(house.views)
        assert {t.name: rows(house, t) for t in VIEWS} == once

    def test_the_boards_are_those_of_the_log(self, house: House) -> None:
        """Folded from the ledger alone."""
        for game in self.games(house):
            house.pumped()
            records = house.ledger.read(game)
            rules = CATALOGUE.get(records[0].body["ruleset"])
            p = fold(rules, records)
            assert board(house, game, PUBLIC)["public"] == rules.player_view(p.state, PUBLIC)

    def test_the_tree_holds_every_record(self, house: House) -> None:
        """Each by a path to the head, and no older head was changed."""
        games = self.games(house)
        house.pumped()
        early = MerkleProofs(house.views).head()
        for _ in range(5):
            house.game("orders@1", 2)
        house.pumped()
        proofs, log = MerkleProofs(house.views), house.ledger.log(0, 10_000)
        head = proofs.head()
        assert (head.size, head.position) == (len(log), log[-1].position)
        for entry in log:
            found = proofs.prove_inclusion(entry.game, entry.version)
            assert found is not None
            assert found.record == entry.record.hash
            assert verify_inclusion(head.root, leaf_hash(found.record), found.leaf, head.size, found.path)
        extended = proofs.prove_consistency(early.size)
        assert extended is not None
        assert verify_consistency(head.root, head.size, early.root, early.size, extended[1])
        assert proofs.prove_consistency(head.size + 1) is None
        assert proofs.prove_inclusion(games[0], 999) is None

    def test_a_crash_before_the_commit_leaves_all_as_it_was(self, house: House, monkeypatch: Any) -> None:
        """Position and rows are one transaction."""
        self.games(house)

        def cut(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("projections.batch._write_leaves", cut)
        with pytest.raises(KeyboardInterrupt):
            house.pump.run(0)
        assert (house.reader.read_position(), rows(house, schema.boards)) == (0, [])
        monkeypatch.undo()
        house.pumped()
        assert house.reader.read_position() == house.ledger.log(0, 10_000)[-1].position


class TestLeases:
    def test_one_pump_at_a_time(self, house: House) -> None:
        """Another takes over when the lease has run out, and the first notices."""
        house.game("orders@1", 3)
        house.pump.run(0)
        other = Projector(ViewerHistory(house.ledger, CATALOGUE, house.views), "pump-2")
        with pytest.raises(LeaseLostError, match="pump-1"):
            other.run(9_999)
        other.run(10_001)
        with pytest.raises(LeaseLostError, match="pump-2"):
            house.pump.run(10_002)


class TestPoison:
    def poisoned(self, house: House, monkeypatch: Any) -> tuple[str, str]:
        """Two games; the sight of one fails."""
        bad, good = house.game("orders@1", 3), house.game("orders@1", 3)
        house.pumped()
        from projections import documents

        real: Callable[..., Any] = documents.build_boards

        def boards(known: Any, viewers: Any) -> Any:
            if known.game.id == bad:
                raise ZeroDivisionError
            return real(known, viewers)

        monkeypatch.setattr(documents, "build_boards", boards)
        return bad, good

    def test_one_game_is_set_aside_and_the_others_go_on(self, house: House, monkeypatch: Any) -> None:
        """With what is wrong, but none of its secrets."""
        bad, good = self.poisoned(house, monkeypatch)
        before = board(house, bad, 0)
        for game in (bad, good, bad):
            house.commands.handle(game, Play(0, [{"type": "order", "to": "t01", "units": 1}]))
        assert house.pumped() == [good]
        assert board(house, bad, 0) == {**before, "set_aside": True}
        summaries = [house.reader.find_summary(game) for game in (bad, good)]
        assert [doc is not None and doc.get("set_aside", False) for doc in summaries] == [True, False]
        (aside,) = house.reader.list_quarantined()
        assert (aside["game"], aside["error"].split(":")[0]) == (bad, "ZeroDivisionError")
        assert house.reader.read_position() == house.ledger.log(0, 10_000)[-1].position

    def test_so_is_one_whose_due_work_cannot_be_told(self, house: House, monkeypatch: Any) -> None:
        """Whatever of its rows cannot be made: the pump goes on, and tells which game it is."""
        bad, good = house.game("orders@1", 3), house.game("orders@1", 3)
        house.pumped()
        real: Callable[..., Any] = build_due_rows

        def due(gen: int, known: Any) -> Any:
            if known.game.id == bad:
                raise KeyError("nothing")
            return real(gen, known)

        monkeypatch.setattr(batch, "build_due_rows", due)
        for game in (bad, good):
            house.commands.handle(game, Play(0, [{"type": "order", "to": "t01", "units": 1}]))
        assert house.pumped() == [good]
        (aside,) = house.reader.list_quarantined()
        head = house.commands.game(bad).version
        assert (aside["game"], aside["error"]) == (bad, f"KeyError: version {head}")
        assert board(house, good, 0)["own"]["sheet"] == [{"to": "t01", "units": 1}]

    def test_a_rebuild_brings_it_back(self, house: House, monkeypatch: Any) -> None:
        """Once what was wrong is mended."""
        bad, _ = self.poisoned(house, monkeypatch)
        house.commands.handle(bad, Play(0, [{"type": "order", "to": "t01", "units": 1}]))
        house.pumped()
        monkeypatch.undo()
        gen = create_generation(house.views, 0)
        house.pumped(Projector(ViewerHistory(house.ledger, CATALOGUE, house.views), "rebuild", gen))
        assert switch_generation(house.views, gen)
        assert house.reader.list_quarantined() == []
        assert board(house, bad, 0)["own"]["sheet"] == [{"to": "t01", "units": 1}]

    def test_what_was_before_is_dropped_a_few_rows_at_a_time(self, house: House, monkeypatch: Any) -> None:
        """So that nobody who writes meanwhile waits for long; what a rebuild that died has left goes too."""
        house.game("orders@1", 3)
        house.pumped()
        died, gen = (create_generation(house.views, 0) for _ in range(2))
        assert died != gen, "its lease may still be held"
        house.pumped(Projector(ViewerHistory(house.ledger, CATALOGUE, house.views), "rebuild", gen))
        assert switch_generation(house.views, gen)
        assert house.reader.rebuild_progress() is None
        monkeypatch.setattr(rebuild, "SWEEP_BATCH", 2)
        pauses: list[float] = []
        monkeypatch.setattr(ViewStore, "yield_to_writers", lambda _, worked=0.0: pauses.append(worked))
        drop_old_rows(house.views)
        assert len(pauses) > len(rebuild.TABLES)
        with house.views.reading() as db:
            for table in rebuild.TABLES:
                assert set(db.execute(select(table.c.gen)).scalars()) <= {gen}, table.name

    def test_a_rebuild_that_is_behind_is_not_switched_to(self, house: House) -> None:
        """Nobody is shown an older game."""
        game = house.game("orders@1", 3)
        house.pumped()
        gen = create_generation(house.views, 0)
        assert not switch_generation(house.views, gen)
        assert house.reader.find_summary(game) is not None


class TestDueWork:
    def test_batch_work_is_due_at_once(self, house: House) -> None:
        """Until it is done."""
        game = house.game("orders@1", 2)
        for seat in (0, 1):
            house.commands.handle(game, Play(seat, [{"type": "submit"}]))
        house.pumped()
        (due,) = house.reader.list_due(10**15)
        assert (due.game, due.decision, due.work) == (game, house.decision(game), "resolve")
        house.commands.handle(game, Resolve(due.decision))
        house.pumped()
        assert house.reader.list_due(10**15) == []

    def test_a_deadline_is_due_when_it_passes(self, house: House) -> None:
        """Pace and grace come from the record `opened`."""
        game = house.game("orders@1", 2, pace={"seconds": {"turn": 60}, "grace": 5})
        house.pumped()
        opened = board(house, game, PUBLIC)["at"]
        assert board(house, game, PUBLIC)["decisions"][0]["deadline"] == opened + 60_000
        assert house.reader.list_due(opened + 64_999) == []
        (due,) = house.reader.list_due(opened + 65_000)
        assert due.work == "lapse"

    def test_a_deadline_can_be_moved(self, house: House) -> None:
        """By a record that all can see."""
        game = house.game("orders@1", 2, pace={"seconds": {"turn": 60}})
        house.pumped()
        before = board(house, game, PUBLIC)["decisions"][0]["deadline"]
        house.commands.handle(game, Extend(house.decision(game), 30_000))
        house.pumped()
        assert board(house, game, PUBLIC)["decisions"][0]["deadline"] == before + 30_000
        assert [d.at for d in house.reader.list_due(10**15)] == [before + 30_000]

    def test_a_vacant_seat_is_answered_for_at_once(self, house: House) -> None:
        """Where the rules go on asking it."""
        game = house.game("skirmish@1", 3)
        house.commands.handle(game, Leave(0))
        house.pumped()
        assert [d.work for d in house.reader.list_due(10**15)] == ["vacant"]


class TestLobbyAndTimeline:
    def test_the_lobby_lists_public_games(self, house: House) -> None:
        """For whom they wait, since when; unlisted ones are not there."""
        shown, _ = house.game("orders@1", 3), house.game("orders@1", 3, listing="unlisted")
        house.commands.handle(shown, Play(1, [{"type": "submit"}]))
        house.pumped()
        ((position, game),) = house.reader.list_lobby()
        assert (game["game"], game["waiting_for"], game["status"]) == (shown, [0, 2], "running")
        assert house.reader.list_lobby(ruleset="windows@1") == []
        assert house.reader.list_lobby(before=position) == []

    def test_the_timeline_shows_a_viewer_its_own_entries_too(self, house: House) -> None:
        """An order of another seat is an entry without a word; sentences are made when it is read."""
        game = house.game("orders@1", 3)
        house.commands.handle(game, Play(1, [{"type": "order", "to": "t01", "units": 2}]))
        house.pumped()
        last = {v: house.reader.read_timeline(game, v)[-1] for v in (PUBLIC, 0, 1)}
        assert last[PUBLIC] == last[0]
        assert (last[0]["acts"], last[0]["facts"], last[0]["seat"]) == ([], [], None)
        assert last[1]["own"][0]["acts"] == [[1, {"type": "order", "to": "t01", "units": 2}]]
        first = house.reader.read_timeline(game, PUBLIC, 0, 1)[0]
        words = load_texts("", "fr")
        assert add_text(CATALOGUE.get("orders@1"), first, words, words.seat)["text"] == ["La partie est ouverte."]
        assert [e["version"] for e in house.reader.read_timeline(game, PUBLIC, 2, 2)] == [3, 4]

    def test_the_own_part_names_no_move_that_the_public_part_tells(self, house: House) -> None:
        """Such as one with a hidden card: its name alone would say the same twice."""
        game = house.game("orders@1", 3)
        house.commands.handle(game, Play(1, [{"type": "order", "to": "t01", "units": 2}]))
        house.pumped()
        secret = house.reader.read_timeline(game, 1)[-1]
        words, rules = load_texts("", "en"), CATALOGUE.get("orders@1")

        def tell(*acts: Any) -> tuple[list[str], list[str]]:
            entry = add_text(rules, {**secret, "acts": acts}, words, words.seat)
            return entry["text"], entry["own"][0]["text"]

        assert tell() == ([], ["Seat 2: order."])
        assert tell([1, {"type": "order"}]) == (["Seat 2: order."], [])
        assert tell([0, {"type": "order"}])[1] == tell([1, {"type": "order"}], [1, {}])[1] == ["Seat 2: order."]


@pytest.mark.parametrize(
    ("owner", "name"),
    [(ViewerHistory, "next_game"), (batch, "build_due_rows"), (LogEntry, "hash")],
    ids=["read", "shown", "proved"],
)
def test_a_store_that_does_not_answer_sets_no_game_aside(
    house: House, owner: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the tree get a leaf that says nothing: the slice is read again."""
    game = house.game("orders@1", 3)

    def away(*_: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, property(away) if name == "hash" else away)
        with pytest.raises(StoreUnavailable):
            house.pump.run(house.now)
    assert house.pumped() == [game]
    assert house.reader.list_quarantined() == []
    assert [found for found in find_corruption(house.ledger, house.views) if not isinstance(found, int)] == []


def test_who_has_a_master_key_of_before_sets_no_game_aside(house: House) -> None:
    """The process ends, and goes on once it has the new one: neither views nor tree have changed."""
    game, new = house.game("orders@1", 3), bytes(range(32))
    house.pumped()
    position, old = house.reader.read_position(), house.ledger._mapper
    house.ledger.keys.add_master_key(new)
    changed = Keyring(house.ledger, new)
    changed.complete_rotation()
    house.ledger._mapper = RecordMapper(keys=changed)
    house.commands.handle(game, Play(0, [{"type": "submit"}], house.decision(game)))
    house.ledger._mapper = old
    with pytest.raises(WrongKey):
        house.pumped()
    assert (house.reader.read_position(), house.reader.list_quarantined()) == (position, [])
    house.ledger._mapper = RecordMapper(keys=changed)
    house.pumped()
    assert house.reader.read_position() > position
    assert house.reader.list_quarantined() == []
    house.ledger._mapper = old
    with pytest.raises(WrongKey):
        list(find_corruption(house.ledger, house.views))
