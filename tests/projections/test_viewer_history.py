"""The past of a game by its keyframes is what a fold from the first record gives, to every viewer."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, select, update

from domain import game_history
from domain.command_handler import new_game_id
from domain.errors import StoreUnavailable, UnknownKind, VerificationError
from domain.kernel.game.game import Game
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.types import PUBLIC, Viewer
from projections import documents, keyframes, schema
from projections.keyframes import Keyframes
from projections.loaded_game import load_game
from projections.projector import Projector
from projections.rebuild import create_generation, switch_generation
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.long_games import play_long_game
from tests.projections.conftest import Harness
from tests.rulesets import FLOWS, GAMES, REGISTERED, Registered

RECORDS = 150
CATALOGUE = RulesetRegistry(entry.rules for entry in REGISTERED)
ORDERS = next(entry for entry in FLOWS if entry.name == "orders@1")


@pytest.fixture(autouse=True)
def _near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short games have many keyframes too."""
    monkeypatch.setattr(game_history, "SPACING", 8)


@dataclass
class Shelf:
    """A stored game, and what reads its past."""

    ledger: Ledger
    views: ViewStore
    game: str
    records: Sequence[Record]

    @property
    def viewers(self) -> list[Viewer]:
        return [PUBLIC, *range(self.records[0].body["seats"])]

    def fresh(self) -> ViewerHistory:
        """As a process has it that has just started."""
        return ViewerHistory(self.ledger, CATALOGUE, self.views)

    def by_hand(self, version: int, viewer: Viewer) -> bytes:
        """The board, folded from the first record."""
        records = self.records[:version]
        loaded = load_game(CATALOGUE, records)
        if loaded.game.status != "closed":
            state = state_known_to(loaded.rules, records, viewer)
            loaded = replace(loaded, game=loaded.game.with_state(state))
        return documents.build_board(loaded, viewer)

    def check(self, past: ViewerHistory, versions: Sequence[int], viewers: Sequence[Viewer] = ()) -> None:
        for version in versions:
            for viewer in viewers or self.viewers:
                found = documents.build_board(past.load_for(self.game, version, viewer), viewer)
                assert found == self.by_hand(version, viewer), (version, viewer)

    def rows(self) -> list[Any]:
        with self.views.reading() as db:
            return list(db.execute(select(schema.keyframes).order_by(schema.keyframes.c.version)).all())

    def change(self, statement: Any) -> None:
        with self.views.transaction() as db:
            db.execute(statement)


def _shelf(folder: Path, entry: Registered, count: int = RECORDS, **table: Any) -> Shelf:
    name = new_game_id()
    match = play_long_game(entry.rules, entry.seats, count, name=name, rewinds=0.1, options=entry.options, **table)
    if not match.state.over:
        match.close("abandoned")
    ledger = Ledger.open(f"sqlite:///{folder / 'ledger'}", bytes(32))
    ledger.migrate()
    for record in match.records:
        ledger.append(name, [record], record.version - 1)
    views = ViewStore(f"sqlite:///{folder / 'views'}", ledger.keys)
    views.migrate()
    return Shelf(ledger, views, name, ledger.read(name))


@pytest.fixture
def make_shelf(tmp_path: Path) -> Iterator[Callable[..., Shelf]]:
    made: list[Shelf] = []

    def make(entry: Registered, count: int = RECORDS, **table: Any) -> Shelf:
        made.append(_shelf(tmp_path, entry, count, **table))
        return made[-1]

    yield make
    for each in made:
        with closing(each.ledger), closing(each.views):
            pass


@pytest.mark.parametrize("entry", REGISTERED, ids=lambda entry: entry.name)
def test_every_past_is_the_fold_from_the_first_record(make_shelf: Callable[..., Shelf], entry: Registered) -> None:
    """Of each ruleset, across rewinds and to the close: first without keyframes, then from them, then from a part."""
    shelf, rng = make_shelf(entry), random.Random(3)
    last, border = len(shelf.records), game_history.SPACING
    rewinds = [r.version for r in shelf.records if r.kind == "rewound"]
    some = sorted({1, 2, border, border + 1, last - 1, last, *rng.sample(range(1, last), 8), *rng.sample(rewinds, 3)})
    shelf.check(shelf.fresh(), some[::-1])
    assert {str(viewer) for viewer in shelf.viewers} < {row.reader for row in shelf.rows()}
    shelf.check(shelf.fresh(), some)
    past = shelf.fresh()
    assert past.check(shelf.game, shelf.records)
    assert shelf.rows()
    k = schema.keyframes
    shelf.change(delete(k).where(k.c.reader == PUBLIC, k.c.version % 3 == 0))
    shelf.change(delete(k).where(k.c.reader == "0", k.c.version > last // 2))
    shelf.check(shelf.fresh(), some)
    shelf.change(delete(k))
    shelf.check(past, some)


def test_neighbours_are_read_together(make_shelf: Callable[..., Shelf], monkeypatch: pytest.MonkeyPatch) -> None:
    """A step up reads the other versions up to the next keyframe as well; no further step reads anything."""
    shelf = make_shelf(ORDERS)
    past = shelf.fresh()
    past.load_for(shelf.game, len(shelf.records), 0)
    first, *steps = range(2 * game_history.SPACING, 3 * game_history.SPACING)
    past.load_for(shelf.game, first, 0)
    read: list[str] = []
    whole = Ledger.read

    def counted(ledger: Ledger, game: str, after: int = 0, upto: int | None = None) -> list[Record]:
        read.append(game)
        return whole(ledger, game, after, upto)

    monkeypatch.setattr(Ledger, "read", counted)
    past.load_for(shelf.game, steps[0], 0)
    assert read
    read.clear()
    for version in (*steps, *reversed(steps)):
        assert past.load_for(shelf.game, version, 0).game.version == version
    assert not read


@pytest.mark.parametrize("error", [VerificationError("unreadable", 70), UnknownKind("game.later@1")])
def test_a_step_holds_before_a_damaged_record(
    make_shelf: Callable[..., Shelf], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The versions that are read together with the next one may be unreadable; it is not."""
    shelf = make_shelf(ORDERS)
    past, first, whole = shelf.fresh(), 2 * game_history.SPACING, Ledger.read

    def damaged(ledger: Ledger, game: str, after: int = 0, upto: int | None = None) -> list[Record]:
        if upto is None or upto > first + 5:
            raise error
        return whole(ledger, game, after, upto)

    monkeypatch.setattr(Ledger, "read", damaged)
    for version in range(first, first + 5):
        assert past.load_for(shelf.game, version, 0).game.version == version
    with pytest.raises(type(error)):
        past.load_for(shelf.game, first + 6, 0)


def test_with_a_delay_no_later_record_is_read(
    make_shelf: Callable[..., Shelf], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of an answer would tell spectators how many records they may not see."""
    shelf = make_shelf(ORDERS)
    past, first, whole = shelf.fresh(), 2 * game_history.SPACING, Ledger.read
    monkeypatch.setattr(Game, "delay", property(lambda _: 60))
    past.load_for(shelf.game, first, PUBLIC)
    read: list[int] = []

    def counted(ledger: Ledger, game: str, after: int = 0, upto: int | None = None) -> list[Record]:
        read.append(upto or 0)
        return whole(ledger, game, after, upto)

    monkeypatch.setattr(Ledger, "read", counted)
    past.load_for(shelf.game, first + 1, PUBLIC)
    assert max(read) == first + 1


class TestWhatIsStored:
    def test_a_record_that_is_another_makes_its_keyframes_void(self, make_shelf: Callable[..., Shelf]) -> None:
        """As after the restore of an older database: what follows a keyframe is that record, by its hash."""
        shelf = make_shelf(ORDERS)
        shelf.check(shelf.fresh(), [100], [1])
        rows = shelf.rows()
        shelf.change(update(schema.keyframes).values(hash="0" * 64))
        shelf.check(shelf.fresh(), [100], [1])
        assert [(row.version, row.hash) for row in shelf.rows()] == [(row.version, row.hash) for row in rows]

    def test_altered_rows_are_made_again(self, make_shelf: Callable[..., Shelf]) -> None:
        """Documents are bound to game, version and reader: nobody is shown another's."""
        shelf = make_shelf(ORDERS)
        shelf.check(shelf.fresh(), [100], [0, 1])
        own = {row.version: row.doc for row in shelf.rows() if row.reader == "0"}
        k = schema.keyframes
        for version, doc in own.items():
            shelf.change(update(k).where(k.c.reader == "1", k.c.version == version).values(doc=doc))
        shelf.check(shelf.fresh(), [100, 99], [1])
        shelf.change(update(k).where(k.c.reader == "game").values(doc=b"nonsense"))
        shelf.check(shelf.fresh(), [100], [1])

    def test_nothing_of_it_can_be_read_without_the_key(self, make_shelf: Callable[..., Shelf]) -> None:
        shelf = make_shelf(ORDERS)
        shelf.check(shelf.fresh(), [100], [0])
        for row in shelf.rows():
            with pytest.raises(ValueError, match="sealed"):
                shelf.ledger.keys.open(shelf.game, f"view|{row.reader}", row.doc)
            with pytest.raises(zlib.error):
                zlib.decompress(row.doc)

    def test_an_audit_drops_what_the_records_do_not_give(self, make_shelf: Callable[..., Shelf]) -> None:
        shelf = make_shelf(ORDERS)
        shelf.check(shelf.fresh(), [100], [0])
        store = Keyframes(shelf.views)
        rules = CATALOGUE.get(ORDERS.name)
        found = store.find(rules, shelf.game, 96, 0)
        assert found is not None
        changed = replace(found.game.lasting, opening=replace(found.game.lasting.opening, opened_at=1))
        store.save(rules, shelf.game, [replace(found, game=replace(found.game, lasting=changed))])
        assert not shelf.fresh().check(shelf.game, shelf.records)
        assert shelf.rows() == []
        shelf.check(shelf.fresh(), [100], [0])

    def test_keyframes_of_another_form_are_not_read(
        self, make_shelf: Callable[..., Shelf], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another version of the code may have another state."""
        shelf = make_shelf(ORDERS)
        shelf.check(shelf.fresh(), [100], [0])
        form = {row.form for row in shelf.rows()}
        monkeypatch.setattr(keyframes, "FORMAT", keyframes.FORMAT + 1)
        keyframes.form_of.cache_clear()
        shelf.check(shelf.fresh(), [100], [0])
        assert form.isdisjoint(row.form for row in shelf.rows())
        keyframes.form_of.cache_clear()

    @pytest.mark.parametrize("entry", GAMES, ids=lambda entry: entry.name)
    def test_documents_of_stored_board_tell_members_as_at_beginning(
        self, make_shelf: Callable[..., Shelf], entry: Registered
    ) -> None:
        """A decoder leaves what a document leaves out to the class, where no other document finds it."""
        shelf = make_shelf(entry, 50)
        shelf.fresh().load_for(shelf.game, 48, 0)
        found = Keyframes(shelf.views).find(entry.rules, shelf.game, 48, 0)
        assert found is not None
        assert found.version == 48
        folded = state_known_to(entry.rules, shelf.records[:48], 0)
        assert msgspec.to_builtins(found.known[0]) == msgspec.to_builtins(folded)
        shelf.check(shelf.fresh(), [48, 49], [0])

    def test_a_store_that_takes_nothing_hinders_no_reader(
        self, make_shelf: Callable[..., Shelf], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A long game with many rewinds is then folded as a whole."""

        def refuse(*_: object) -> None:
            raise StoreUnavailable("full")

        shelf = make_shelf(ORDERS, 400)
        monkeypatch.setattr(Keyframes, "save", refuse)
        monkeypatch.setattr(game_history, "PAGE", 20)
        shelf.check(shelf.fresh(), [399, 200], [0])


class TestAsViews:
    """Keyframes leave with the views that they stand beside."""

    def _game(self, harness: Harness) -> str:
        game = harness.game("orders@1", 3)
        harness.pumped()
        return game

    def _past(self, harness: Harness, game: str, version: int) -> bytes:
        past = ViewerHistory(harness.ledger, CATALOGUE, harness.views)
        return documents.build_board(past.load_for(game, version, 0), 0)

    def _count(self, harness: Harness) -> int:
        with harness.views.reading() as db:
            return len(db.execute(select(schema.keyframes.c.gen)).all())

    def test_a_repaired_game_has_none_of_before(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(game_history, "SPACING", 2)
        game = self._game(harness)
        board = self._past(harness, game, 4)
        assert self._count(harness)
        harness.pump.quarantine(game, 4, harness.now)
        assert self._count(harness) == 0
        harness.pump.restore(game, harness.now)
        assert self._past(harness, game, 4) == board

    def test_a_new_generation_makes_its_own(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(game_history, "SPACING", 2)
        game = self._game(harness)
        board, before = self._past(harness, game, 4), self._count(harness)
        gen = create_generation(harness.views, harness.now)
        harness.pumped(Projector(ViewerHistory(harness.ledger, CATALOGUE, harness.views), "rebuild", gen))
        assert switch_generation(harness.views, gen)
        assert self._past(harness, game, 4) == board
        with harness.views.reading() as db:
            assert len(db.execute(select(schema.keyframes).filter_by(gen=gen)).all()) == before
