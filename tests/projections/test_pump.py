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
from tests.projections.conftest import CATALOGUE, Harness, opened


class Table:
    """What machine.may_decide wants to know of a game."""

    def __init__(self, rules: Any, state: Any) -> None:
        self.rules, self.state = rules, state


def play(harness: Harness, game: str, seed: int, moves: int) -> None:
    rng = random.Random(seed)
    for _ in range(moves):
        p = harness.commands.game(game)
        if p.status != "running":
            return
        rules = CATALOGUE.get(p.ruleset)
        if p.state.top.engine:
            harness.commands.handle(game, Resolve(harness.decision(game)))
            continue
        table: Any = Table(rules, p.state)
        seat = rng.choice(deciding_seats(table))
        harness.commands.handle(
            game, Play(seat, [random_move(rules, p.state, seat, rng)], decision=harness.decision(game))
        )


def board(harness: Harness, game: str, viewer: Viewer) -> Json:
    found = harness.reader.find_board(game, viewer)
    assert found is not None
    return json.loads(found.doc)


def rows(harness: Harness, table: Any) -> list[Any]:
    """All rows of a table but for their generation."""
    with harness.views.reading() as db:
        found = [opened(harness.views, row) for row in db.execute(select(table)).mappings()]
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
    def test_a_board_is_what_its_viewer_may_see(self, harness: Harness) -> None:
        """Public and own apart, decisions with ids."""
        game = harness.game("sealed@1", 3)
        harness.pumped()
        position: Game[Any] = harness.commands.game(game)
        rules = CATALOGUE.get("sealed@1")
        for viewer in (PUBLIC, 0, 1, 2):
            doc = board(harness, game, viewer)
            assert doc["public"] == rules.player_view(position.state, PUBLIC)
            assert doc["decisions"][0]["id"] == harness.decision(game)
            hands = [c for v in (0, 1, 2) if v != viewer for c in [str(position.state.hands[v])]]
            assert not any(h in json.dumps(doc) for h in hands)
        assert board(harness, game, 1)["own"]["hand"] == list(position.state.hands[1])
        assert "own" not in board(harness, game, PUBLIC)

    def test_a_sealed_record_changes_only_its_audiences_board(self, harness: Harness) -> None:
        """For all others the version at which their document last changed stays."""
        game = harness.game("orders@1", 3)
        harness.pumped()
        before = {v: harness.reader.find_board(game, v) for v in (PUBLIC, 0, 1, 2)}
        harness.commands.handle(game, Play(1, [{"type": "order", "to": "t01", "units": 2}]))
        harness.pumped()
        changed = [v for v in (PUBLIC, 0, 1, 2) if harness.reader.find_board(game, v) != before[v]]
        assert changed == [1]

    def test_what_nobody_has_is_none(self, harness: Harness) -> None:
        """Unknown games and seats."""
        game = harness.game("orders@1", 3)
        harness.pumped()
        assert harness.reader.find_board(game, 7) is None
        assert harness.reader.find_board("nothing", PUBLIC) is None
        assert harness.reader.find_summary("nothing") is None

    def test_a_closed_game_shows_all(self, harness: Harness) -> None:
        """And its results stand in the scoreboard of its players."""
        clocks = dict.fromkeys({"move", *CATALOGUE.get("windows@1").meta.clocks.values()}, 1)
        game = harness.game("windows@1", 2, options={"turns": 1}, pace={"seconds": clocks})
        harness.commands.handle(game, Lapse(harness.decision(game)))
        harness.pumped()
        assert board(harness, game, PUBLIC)["status"] == "closed"
        assert len(board(harness, game, PUBLIC)["own"]["seats"]) == 2
        (result,) = harness.reader.list_results("p1")
        assert (result["game"], result["seat"], result["place"]) == (game, 1, 1)


class TestTheViewsSayTheSame:
    def games(self, harness: Harness) -> list[str]:
        games = [harness.game("skirmish@1", 4), harness.game("orders@1", 3), harness.game("windows@1", 3)]
        for seed, game in enumerate(games):
            play(harness, game, seed, 40)
        head = harness.commands.game(games[0])
        if head.status == "running":
            harness.commands.handle(games[0], Rewind(head.version - 2), GameConditions(expected=head.version))
            play(harness, games[0], 9, 5)
        return games

    def test_pumped_at_once_slowly_or_by_several(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """Views are assigned: slices, restarts and other pumps change nothing."""
        self.games(harness)
        harness.pumped()
        once = {t.name: rows(harness, t) for t in VIEWS}
        monkeypatch.setattr("projections.projector.SLICE", 7)
        gen = create_generation(harness.views, 0)
        turn = 0
        while Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), f"p{turn}", gen).run(turn * 100_000):
            turn += 1
        assert turn > 5
        assert switch_generation(harness.views, gen)
        drop_old_rows(harness.views)
        assert {t.name: rows(harness, t) for t in VIEWS} == once

    def test_the_boards_are_those_of_the_log(self, harness: Harness) -> None:
        """Folded from the ledger alone."""
        for game in self.games(harness):
            harness.pumped()
            records = harness.ledger.read(game)
            rules = CATALOGUE.get(records[0].body["ruleset"])
            p = fold(rules, records)
            assert board(harness, game, PUBLIC)["public"] == rules.player_view(p.state, PUBLIC)

    def test_the_tree_holds_every_record(self, harness: Harness) -> None:
        """Each by a path to the head, and no older head was changed."""
        games = self.games(harness)
        harness.pumped()
        early = MerkleProofs(harness.views).head()
        for _ in range(5):
            harness.game("orders@1", 2)
        harness.pumped()
        proofs, log = MerkleProofs(harness.views), harness.ledger.log(0, 10_000)
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

    def test_a_crash_before_the_commit_leaves_all_as_it_was(self, harness: Harness, monkeypatch: Any) -> None:
        """Position and rows are one transaction."""
        self.games(harness)

        def cut(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("projections.batch._write_leaves", cut)
        with pytest.raises(KeyboardInterrupt):
            harness.pump.run(0)
        assert (harness.reader.read_position(), rows(harness, schema.boards)) == (0, [])
        monkeypatch.undo()
        harness.pumped()
        assert harness.reader.read_position() == harness.ledger.log(0, 10_000)[-1].position


class TestLeases:
    def test_one_pump_at_a_time(self, harness: Harness) -> None:
        """Another takes over when the lease has run out, and the first notices."""
        harness.game("orders@1", 3)
        harness.pump.run(0)
        other = Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "pump-2")
        with pytest.raises(LeaseLostError, match="pump-1"):
            other.run(9_999)
        other.run(10_001)
        with pytest.raises(LeaseLostError, match="pump-2"):
            harness.pump.run(10_002)


class TestPoison:
    def poisoned(self, harness: Harness, monkeypatch: Any) -> tuple[str, str]:
        """Two games; the sight of one fails."""
        bad, good = harness.game("orders@1", 3), harness.game("orders@1", 3)
        harness.pumped()
        from projections import documents

        real: Callable[..., Any] = documents.build_boards

        def boards(known: Any, viewers: Any) -> Any:
            if known.game.id == bad:
                raise ZeroDivisionError
            return real(known, viewers)

        monkeypatch.setattr(documents, "build_boards", boards)
        return bad, good

    def test_one_game_is_set_aside_and_the_others_go_on(self, harness: Harness, monkeypatch: Any) -> None:
        """With what is wrong, but none of its secrets."""
        bad, good = self.poisoned(harness, monkeypatch)
        before = board(harness, bad, 0)
        for game in (bad, good, bad):
            harness.commands.handle(game, Play(0, [{"type": "order", "to": "t01", "units": 1}]))
        assert harness.pumped() == [good]
        assert board(harness, bad, 0) == {**before, "set_aside": True}
        summaries = [harness.reader.find_summary(game) for game in (bad, good)]
        assert [doc is not None and doc.get("set_aside", False) for doc in summaries] == [True, False]
        (aside,) = harness.reader.list_quarantined()
        assert (aside["game"], aside["error"].split(":")[0]) == (bad, "ZeroDivisionError")
        assert harness.reader.read_position() == harness.ledger.log(0, 10_000)[-1].position

    def test_so_is_one_whose_due_work_cannot_be_told(self, harness: Harness, monkeypatch: Any) -> None:
        """Whatever of its rows cannot be made: the pump goes on, and tells which game it is."""
        bad, good = harness.game("orders@1", 3), harness.game("orders@1", 3)
        harness.pumped()
        real: Callable[..., Any] = build_due_rows

        def due(gen: int, known: Any) -> Any:
            if known.game.id == bad:
                raise KeyError("nothing")
            return real(gen, known)

        monkeypatch.setattr(batch, "build_due_rows", due)
        for game in (bad, good):
            harness.commands.handle(game, Play(0, [{"type": "order", "to": "t01", "units": 1}]))
        assert harness.pumped() == [good]
        (aside,) = harness.reader.list_quarantined()
        head = harness.commands.game(bad).version
        assert (aside["game"], aside["error"]) == (bad, f"KeyError: version {head}")
        assert board(harness, good, 0)["own"]["sheet"] == [{"to": "t01", "units": 1}]

    def test_a_rebuild_brings_it_back(self, harness: Harness, monkeypatch: Any) -> None:
        """Once what was wrong is mended."""
        bad, _ = self.poisoned(harness, monkeypatch)
        harness.commands.handle(bad, Play(0, [{"type": "order", "to": "t01", "units": 1}]))
        harness.pumped()
        monkeypatch.undo()
        gen = create_generation(harness.views, 0)
        harness.pumped(Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "rebuild", gen))
        assert switch_generation(harness.views, gen)
        assert harness.reader.list_quarantined() == []
        assert board(harness, bad, 0)["own"]["sheet"] == [{"to": "t01", "units": 1}]

    def test_what_was_before_is_dropped_a_few_rows_at_a_time(self, harness: Harness, monkeypatch: Any) -> None:
        """So that nobody who writes meanwhile waits for long; what a rebuild that died has left goes too."""
        harness.game("orders@1", 3)
        harness.pumped()
        died, gen = (create_generation(harness.views, 0) for _ in range(2))
        assert died != gen, "its lease may still be held"
        harness.pumped(Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "rebuild", gen))
        assert switch_generation(harness.views, gen)
        assert harness.reader.rebuild_progress() is None
        monkeypatch.setattr(rebuild, "SWEEP_BATCH", 2)
        pauses: list[float] = []
        monkeypatch.setattr(ViewStore, "yield_to_writers", lambda _, worked=0.0: pauses.append(worked))
        drop_old_rows(harness.views)
        assert len(pauses) > len(rebuild.TABLES)
        with harness.views.reading() as db:
            for table in rebuild.TABLES:
                assert set(db.execute(select(table.c.gen)).scalars()) <= {gen}, table.name

    def test_a_rebuild_that_is_behind_is_not_switched_to(self, harness: Harness) -> None:
        """Nobody is shown an older game."""
        game = harness.game("orders@1", 3)
        harness.pumped()
        gen = create_generation(harness.views, 0)
        assert not switch_generation(harness.views, gen)
        assert harness.reader.find_summary(game) is not None


class TestDueWork:
    def test_batch_work_is_due_at_once(self, harness: Harness) -> None:
        """Until it is done."""
        game = harness.game("orders@1", 2)
        for seat in (0, 1):
            harness.commands.handle(game, Play(seat, [{"type": "submit"}]))
        harness.pumped()
        (due,) = harness.reader.list_due(10**15)
        assert (due.game, due.decision, due.work) == (game, harness.decision(game), "resolve")
        harness.commands.handle(game, Resolve(due.decision))
        harness.pumped()
        assert harness.reader.list_due(10**15) == []

    def test_a_deadline_is_due_when_it_passes(self, harness: Harness) -> None:
        """Pace and grace come from the record `opened`."""
        game = harness.game("orders@1", 2, pace={"seconds": {"turn": 60}, "grace": 5})
        harness.pumped()
        opened = board(harness, game, PUBLIC)["at"]
        assert board(harness, game, PUBLIC)["decisions"][0]["deadline"] == opened + 60_000
        assert harness.reader.list_due(opened + 64_999) == []
        (due,) = harness.reader.list_due(opened + 65_000)
        assert due.work == "lapse"

    def test_a_deadline_can_be_moved(self, harness: Harness) -> None:
        """By a record that all can see."""
        game = harness.game("orders@1", 2, pace={"seconds": {"turn": 60}})
        harness.pumped()
        before = board(harness, game, PUBLIC)["decisions"][0]["deadline"]
        harness.commands.handle(game, Extend(harness.decision(game), 30_000))
        harness.pumped()
        assert board(harness, game, PUBLIC)["decisions"][0]["deadline"] == before + 30_000
        assert [d.at for d in harness.reader.list_due(10**15)] == [before + 30_000]

    def test_a_vacant_seat_is_answered_for_at_once(self, harness: Harness) -> None:
        """Where the rules go on asking it."""
        game = harness.game("skirmish@1", 3)
        harness.commands.handle(game, Leave(0))
        harness.pumped()
        assert [d.work for d in harness.reader.list_due(10**15)] == ["vacant"]


class TestLobbyAndTimeline:
    def test_the_lobby_lists_public_games(self, harness: Harness) -> None:
        """For whom they wait, since when; unlisted ones are not there."""
        shown, _ = harness.game("orders@1", 3), harness.game("orders@1", 3, listing="unlisted")
        harness.commands.handle(shown, Play(1, [{"type": "submit"}]))
        harness.pumped()
        ((position, game),) = harness.reader.list_lobby()
        assert (game["game"], game["waiting_for"], game["status"]) == (shown, [0, 2], "running")
        assert harness.reader.list_lobby(ruleset="windows@1") == []
        assert harness.reader.list_lobby(before=position) == []

    def test_the_timeline_shows_a_viewer_its_own_entries_too(self, harness: Harness) -> None:
        """An order of another seat is an entry without a word; sentences are made when it is read."""
        game = harness.game("orders@1", 3)
        harness.commands.handle(game, Play(1, [{"type": "order", "to": "t01", "units": 2}]))
        harness.pumped()
        last = {v: harness.reader.read_timeline(game, v)[-1] for v in (PUBLIC, 0, 1)}
        assert last[PUBLIC] == last[0]
        assert (last[0]["acts"], last[0]["facts"], last[0]["seat"]) == ([], [], None)
        assert last[1]["own"][0]["acts"] == [[1, {"type": "order", "to": "t01", "units": 2}]]
        first = harness.reader.read_timeline(game, PUBLIC, 0, 1)[0]
        words = load_texts("", "fr")
        assert add_text(CATALOGUE.get("orders@1"), first, words, words.seat)["text"] == ["La partie est ouverte."]
        assert [e["version"] for e in harness.reader.read_timeline(game, PUBLIC, 2, 2)] == [3, 4]

    def test_the_own_part_names_no_move_that_the_public_part_tells(self, harness: Harness) -> None:
        """Such as one with a hidden card: its name alone would say the same twice."""
        game = harness.game("orders@1", 3)
        harness.commands.handle(game, Play(1, [{"type": "order", "to": "t01", "units": 2}]))
        harness.pumped()
        secret = harness.reader.read_timeline(game, 1)[-1]
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
    harness: Harness, owner: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the tree get a leaf that says nothing: the slice is read again."""
    game = harness.game("orders@1", 3)

    def away(*_: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, property(away) if name == "hash" else away)
        with pytest.raises(StoreUnavailable):
            harness.pump.run(harness.now)
    assert harness.pumped() == [game]
    assert harness.reader.list_quarantined() == []
    assert [found for found in find_corruption(harness.ledger, harness.views) if not isinstance(found, int)] == []


def test_who_has_a_master_key_of_before_sets_no_game_aside(harness: Harness) -> None:
    """The process ends, and goes on once it has the new one: neither views nor tree have changed."""
    game, new = harness.game("orders@1", 3), bytes(range(32))
    harness.pumped()
    position, old = harness.reader.read_position(), harness.ledger._mapper
    harness.ledger.keys.add_master_key(new)
    changed = Keyring(harness.ledger, new)
    changed.complete_rotation()
    harness.ledger._mapper = RecordMapper(keys=changed)
    harness.commands.handle(game, Play(0, [{"type": "submit"}], harness.decision(game)))
    harness.ledger._mapper = old
    with pytest.raises(WrongKey):
        harness.pumped()
    assert (harness.reader.read_position(), harness.reader.list_quarantined()) == (position, [])
    harness.ledger._mapper = RecordMapper(keys=changed)
    harness.pumped()
    assert harness.reader.read_position() > position
    assert harness.reader.list_quarantined() == []
    harness.ledger._mapper = old
    with pytest.raises(WrongKey):
        list(find_corruption(harness.ledger, harness.views))
