"""The pump reads the log and assigns the views.

Position and rows change in one transaction, so nothing is lost or done twice; a record that cannot be projected, or is
known to be damaged, sets its own game aside. Each pump shows the games of its share, and one builds the tree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from cachetools import LRUCache
from sqlalchemy import Connection, bindparam, delete, select, update

from domain.errors import AnnalsError
from domain.kernel.records.record import Record
from domain.ledger import Ledger, LogEntry
from domain.ruleset_registry import Catalogue
from domain.service.corruption import Damages
from domain.types import PUBLIC, Doc, Json, Viewer
from projections import documents, schema
from projections.archived_views import forget
from projections.delayed_views import CHANGES, NEVER, STOP, Late, Shown, Spectators, passes
from projections.integrity import NOBODY_KNOWS
from projections.leases import LeaseLostError
from projections.loaded_game import Follower, Known, touched
from projections.merkle_tree import Hash, grow, leaf_hash
from projections.partitions import Held, Share
from projections.row_builders import board_of, boards_of, due_of, game_of, held_of, lines_of, results_of, seated_of
from projections.view_store import Prepared, Views, upsert

SLICE = 500
"""Entries shown in one transaction: who is behind shows each game once for all that has happened to it meanwhile."""

WIDEST = 8
"""Slices that are read at most to find one's own entries among those of others: all of them are held in memory."""

KEEP = 512
"""Games whose position the pump remembers; others are folded again when they move."""


_G = schema.generations.c
GROWN = Prepared(
    update(schema.generations)
    .where(_G.gen == bindparam("in_gen"))
    .values(position=bindparam("to"), leaves=bindparam("size"), frontier=bindparam("edge"))
)
ASIDE = Prepared(select(schema.aside.c.game).where(schema.aside.c.gen == bindparam("in_gen")))
STANDS_AT = select(schema.games.c.place).where(
    schema.games.c.gen == bindparam("in_gen"),
    schema.games.c.game == bindparam("of_game"),
    schema.games.c.shown_to != schema.SPECTATORS,
)
NOTHING_DUE = Prepared(
    delete(schema.due).where(schema.due.c.gen == bindparam("in_gen"), schema.due.c.game == bindparam("of_game"))
)


DAMAGED = "damaged: version "
"""What is said of a game that is set aside for its damaged record, before the version."""


class Pumped(NamedTuple):
    """What a slice has come to: the position of its last entry, the games that changed, and how many entries it had."""

    position: int
    games: list[str]
    records: int
    more: bool
    """Whether there may have been more to read or to show than a slice holds."""


@dataclass
class _Batch:
    """What a slice of the log has changed, written once at its end."""

    known: dict[str, Known] = field(default_factory=dict)
    touched: dict[str, dict[Viewer, Known]] = field(default_factory=dict)
    """Game and viewer -> the game after the last record of the batch that may have changed that board."""
    places: dict[str, int] = field(default_factory=dict)
    lines: list[dict[str, Json]] = field(default_factory=list)
    leaves: list[tuple[str, int, str, int]] = field(default_factory=list)
    """Game, version, hash and position of each record that the tree does not hold yet."""
    aside: list[Doc] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    """Games that are known to be."""
    archived: list[str] = field(default_factory=list)
    """Games that are told again when somebody asks, whose last record is in the batch."""
    boards: list[Doc] = field(default_factory=list)
    games: list[Doc] = field(default_factory=list)
    due: list[Doc] = field(default_factory=list)
    results: list[Doc] = field(default_factory=list)
    seated: list[Doc] = field(default_factory=list)

    def show(self, gen: int, game: str, views: Views) -> None:
        """Add the rows that show the game as it is at the end of the batch."""
        known = self.known[game]
        late = bool(known.game.delay)
        boards = boards_of(gen, self.touched[game], views)
        row = game_of(gen, known, self.places[game], schema.AT_THE_TABLE if late else schema.ALL)
        due = due_of(gen, known)
        results = results_of(gen, known) if known.game.status == "closed" and not late else []
        self.boards += boards
        self.games.append(row)
        self.due += due
        self.results += results

    def show_to_spectators(self, gen: int, late: Late, views: Views) -> None:
        """Add the rows that show the game as spectators see it."""
        known = late.known
        if known is None:
            return
        board = documents.board(late.board, PUBLIC) if late.board else None
        row = game_of(gen, known, late.place, schema.SPECTATORS)
        results = results_of(gen, known) if known.game.status == "closed" else []
        if late.board and board:
            self.boards.append(board_of(gen, late.board, PUBLIC, board, views))
        self.games.append(row)
        self.results += results
        self.seated += seated_of(gen, known)

    def set_aside(self, game: str, position: int, said: str) -> None:
        """Somebody has to look at that game."""
        self.aside.append({"game": game, "position": position, "error": said})


def _pass(batch: _Batch, shown: Shown, position: int, at: int | None = None) -> None:
    """Show to spectators what they may see by then, ms, or by now; a game that cannot be shown is set aside."""
    for game, version, error in shown.until(at):
        _fail(batch, shown, game, position, _said(error, version + 1))


def _fail(batch: _Batch, shown: Shown, game: str, position: int, said: str) -> None:
    batch.known.pop(game, None)
    shown.aside.add(game)
    batch.set_aside(game, position, said)


@contextmanager
def _alone(batch: _Batch, shown: Shown, position: int, known: Known | None) -> Iterator[None]:
    """Whatever is wrong with one game, the others go on."""
    try:
        yield
    except Exception as error:
        if passes(error) or known is None:
            raise
        _fail(batch, shown, known.game.id, position, _said(error, known.game.version))


class Pump:
    """Pumps its share of one generation. `owner` names this process."""

    def __init__(self, ledger: Ledger, catalogue: Catalogue, views: Views, owner: str, gen: int | None = None) -> None:
        self._ledger, self._catalogue, self._views = ledger, catalogue, views
        self._follower = Follower(catalogue, ledger)
        self._share = Share(owner, gen)
        self._games: LRUCache[str, Known] = LRUCache(KEEP)
        self._spectators = Spectators(ledger, catalogue, KEEP)
        self._server = ""
        """From which log what it remembers is."""
        self.held: Held | None = None
        """What was this pump's when it looked last."""

    def run(self, now: int) -> Pumped | None:
        """Applies the next slice; None once all is read, and spectators see all that they may.

        Raises LeaseLostError while other pumps hold everything.
        """
        pumped, batch, shown = None, _Batch(), None
        with self._views.transaction() as db:
            held = self._held(db, now)
            if isinstance(held, Held):
                most = _most(held)
                entries = self._ledger.log(held.position, most)
                shown = Shown(self._spectators, db, held.gen, now, held.has)
                batch = self._shown(db, held, entries, shown) if entries or shown.waits else batch
                games = {*batch.known, *(late.game for late in shown.changed)}
                if entries or games:
                    position = entries[-1].position if entries else held.position
                    pumped = Pumped(position, sorted(games), len(entries), len(entries) == most or shown.more)
        if isinstance(held, str):
            raise LeaseLostError(held)
        if shown is not None:
            self._keep(batch, shown)
        return pumped

    def _shown(self, db: Connection, held: Held, entries: Sequence[LogEntry], shown: Shown) -> _Batch:
        """A slice of the log, in the views."""
        batch = self._apply(db, held, entries, shown)
        _write(db, held.gen, batch, shown, self._views)
        if batch.leaves:
            _grow(db, held, entries[-1].position, batch)
        if entries:
            self._share.read(db, held, entries[-1].position, self._named(entries[-1], batch))
        return batch

    def release(self) -> None:
        """Other pumps may go on at once with what this one had."""
        with self._views.transaction() as db:
            self._share.release(db)

    def set_aside(self, game: str, version: int, now: int) -> None:
        """Show the game as it was before that version, which is damaged (0: its seed), and let nobody work on it."""
        records = self._ledger.read(game, upto=version - 1 if version else None) if version != 1 else []
        with self._views.transaction() as db:
            gen = self._hold(db, now, game).gen
            self._show(db, gen, game, records, now)
            row = {"gen": gen, "game": game, "position": 0, "error": f"{DAMAGED}{version}"}
            _set_aside(db, gen, [row], {"set_aside": True, "damaged": version}, self._views)
        self._games.pop(game, None)

    def bring_back(self, game: str, now: int) -> None:
        """Show the game as it is: none of its records is damaged any more."""
        records = self._ledger.read(game)
        with self._views.transaction() as db:
            gen = self._hold(db, now, game).gen
            db.execute(delete(schema.aside).filter_by(gen=gen, game=game))
            self._show(db, gen, game, records, now)

    def _show(self, db: Connection, gen: int, game: str, records: list[Record], now: int) -> None:
        """All views of a game anew, from these records alone."""
        stood = db.execute(STANDS_AT, {"in_gen": gen, "of_game": game}).scalar()
        for table in (schema.games, schema.boards, schema.timeline, schema.results, schema.held_back, schema.seated):
            db.execute(delete(table).filter_by(gen=gen, game=game))
        if not records:
            return
        batch, shown = _Batch(), Shown(self._spectators, db, gen, now)
        position = self._ledger.position(game, records[-1].version) or 0
        for record in records:
            made = partial(_same, record), partial(_hash_of, record)
            self._follow(batch, LogEntry(position, game, record.version, *made), shown)
        for *_, error in shown.until():
            raise error
        batch.places[game] = stood or position << CHANGES
        batch.show(gen, game, self._views)
        for late in shown.changed:
            batch.show_to_spectators(gen, late, self._views)
        _write(db, gen, batch, shown, self._views)

    def _held(self, db: Connection, now: int) -> Held | str:
        held = self._share.held(db, now)
        self.held = held if isinstance(held, Held) else None
        before, self._server = self._server, self._ledger.server
        if self._server != before:  # which may know less: what is remembered may be of records that are lost
            self._spectators = Spectators(self._ledger, self._catalogue, KEEP)
        if self._server != before or self.held is None or self.held.fresh:
            self._games.clear()
        return held

    def _hold(self, db: Connection, now: int, game: str) -> Held:
        """What is this pump's until the transaction ends; raises LeaseLostError if that game is not."""
        held = self._held(db, now)
        if isinstance(held, str) or not held.has(game):
            raise LeaseLostError(f"{game} is another pump's")
        return held

    def _keep(self, batch: _Batch, shown: Shown) -> None:
        """Only after the commit: what was rolled back is not remembered."""
        self._games.update(batch.known)
        self._spectators.keep(shown.changed)
        for row in batch.aside:
            self._games.pop(row["game"], None)

    def _apply(self, db: Connection, held: Held, entries: Sequence[LogEntry], shown: Shown) -> _Batch:
        batch, gen, position = _Batch(), held.gen, entries[-1].position if entries else held.position
        shown.aside.update(game for (game,) in ASIDE.rows(db, in_gen=gen))
        damaged = {(d.game, d.version): d.hash for d in Damages(self._ledger).all()}
        batch.damaged.update(game for game, _ in damaged)
        for entry in entries:
            named = damaged.get((entry.game, entry.version))
            if held.wants(entry.game, entry.position) and entry.game not in shown.aside:
                said = f"{DAMAGED}{entry.version}" if named is not None else self._failure(batch, entry, shown)
                if said:
                    shown.aside.add(entry.game)
                    batch.set_aside(entry.game, entry.position, said)
            if held.grows(entry.position):
                batch.leaves.append((entry.game, entry.version, named or self._hash(entry), entry.position))
        if len(entries) < _most(held):
            _pass(batch, shown, position)
        for game, known in list(batch.known.items()):
            with _alone(batch, shown, position, known):
                batch.show(gen, game, self._views)
        for late in shown.changed:
            with _alone(batch, shown, position, late.known):
                batch.show_to_spectators(gen, late, self._views)
        return batch

    def _failure(self, batch: _Batch, entry: LogEntry, shown: Shown) -> str:
        """What keeps a record from being shown; nothing if it is."""
        try:
            _pass(batch, shown, entry.position - 1, entry.record.public["at"])
            self._follow(batch, entry, shown)
        except Exception as error:
            if passes(error):
                raise
            return _said(error, entry.version)  # whatever is wrong with one game, the others go on
        return ""

    def _named(self, entry: LogEntry, batch: _Batch) -> tuple[str, int, str]:
        """An entry as its leaf has it."""
        return batch.leaves[-1][:3] if batch.leaves else (entry.game, entry.version, self._hash(entry))

    def _hash(self, entry: LogEntry) -> str:
        """What stands in the tree for an entry: the record's hash, as the next one names it if nobody can read it.

        Zeros where there is no next one.
        """
        try:
            return entry.hash
        except AnnalsError as error:
            if passes(error):
                raise
        try:
            after = self._ledger.read(entry.game, entry.version, entry.version + 1)
            return str(after[0].public.get("prev", NOBODY_KNOWS)) if after else NOBODY_KNOWS
        except AnnalsError as error:
            if passes(error):
                raise
            return NOBODY_KNOWS

    def _follow(self, batch: _Batch, entry: LogEntry, shown: Shown) -> None:
        record, game = entry.record, entry.game
        before = self._follower.before(batch.known.get(game) or self._games.get(game), entry)
        known = self._follower.after(before, entry)
        batch.known[game] = known
        boards = batch.touched.setdefault(game, {})
        if not entry.archived or game in batch.damaged:  # else it is told again when somebody asks
            batch.lines += lines_of(record, before, known, self._views)
            boards.update(dict.fromkeys(touched(record, known), known))
        elif record.kind == "closed":
            batch.archived.append(game)
        batch.places[game] = shown.at(entry.position)
        shown.follow(record, before, known)


# --- rows ------------------------------------------------------------------------------------------------------


def _write(db: Connection, gen: int, batch: _Batch, shown: Shown, views: Views) -> None:
    for game in batch.archived:  # it may have been moved while these views were made, some of it read before
        forget(db, gen, game)
    upsert(db, schema.timeline, [{"gen": gen, **row} for row in batch.lines])
    changed = [*batch.known, *(row["game"] for row in batch.aside)]
    NOTHING_DUE.run(db, [{"in_gen": gen, "of_game": game} for game in changed])
    for table, rows in (
        (schema.boards, batch.boards),
        (schema.games, batch.games),
        (schema.due, batch.due),
        (schema.results, batch.results),
        (schema.seated, batch.seated),
        (schema.held_back, [held_of(gen, late) for late in shown.held]),
    ):
        upsert(db, table, rows)
    shown.done()
    _set_aside(db, gen, [{"gen": gen, **row} for row in batch.aside], {"set_aside": True}, views)


def _set_aside(db: Connection, gen: int, rows: list[Doc], mark: Doc, views: Views) -> None:
    """Nobody can do work on these games until they are brought back, or the views rebuilt."""
    upsert(db, schema.aside, rows)
    NOTHING_DUE.run(db, [{"in_gen": gen, "of_game": row["game"]} for row in rows])
    STOP.run(db, [{"in_gen": gen, "of_game": row["game"], "never": NEVER} for row in rows])
    for row in rows:
        _mark(db, gen, row["game"], mark, views)


def _mark(db: Connection, gen: int, game: str, mark: Doc, views: Views) -> None:
    """Say in its documents that they are not what the game is now; to spectators no version that they do not see."""
    found = {
        table: [dict(row) for row in db.execute(select(table).filter_by(gen=gen, game=game)).mappings()]
        for table in (schema.games, schema.boards)
    }
    shown = next((row["version"] for row in found[schema.games] if row["shown_to"] == schema.SPECTATORS), None)
    late = shown is not None and shown < mark.get("damaged", 0) - 1
    for table, rows in found.items():
        for row in rows:
            reader = row.get("viewer", PUBLIC)
            told = {"set_aside": True} if late and row.get("shown_to", reader) == schema.SPECTATORS else mark
            doc = json.loads(views.shown(game, reader, row["doc"]))
            row["doc"] = views.kept(game, reader, documents.rendered({**doc, **told}))
        upsert(db, table, rows)


def _grow(db: Connection, held: Held, position: int, batch: _Batch) -> None:
    """The tree has read the log up to that position."""
    frontier = [bytes.fromhex(h) for h in json.loads(held.frontier)]
    edge = json.dumps([h.hex() for h in _write_leaves(db, held.gen, held.leaves, frontier, batch)]).encode()
    row = {"to": position, "size": held.leaves + len(batch.leaves), "edge": edge}
    GROWN.run(db, [{"in_gen": held.gen, **row}])


def _write_leaves(db: Connection, gen: int, size: int, frontier: list[Hash], batch: _Batch) -> list[Hash]:
    """The tree grows by the records of the batch; its new right edge."""
    leaves: list[Doc] = []
    nodes: list[Doc] = []
    for leaf, (game, version, record, position) in enumerate(batch.leaves, size):
        frontier, filled = grow(frontier, leaf, leaf_hash(record))
        row = {"gen": gen, "leaf": leaf, "game": game, "version": version, "hash": record, "position": position}
        leaves.append(row)
        nodes += [{"gen": gen, "level": level, "number": number, "hash": h} for (level, number), h in filled if level]
    upsert(db, schema.leaves, leaves)
    upsert(db, schema.nodes, nodes)
    return frontier


def _most(held: Held) -> int:
    """How many entries to read at once: the fewer parts are held, the more of what is read is for others to show."""
    few = max(held.games, 1)
    return SLICE * min(held.parts, WIDEST * few) // few


def _same(record: Record) -> Record:
    return record


def _hash_of(record: Record) -> str:
    return record.hash


def _said(error: Exception, version: int) -> str:
    return f"{type(error).__name__}: version {version}"
