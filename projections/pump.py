"""The pump reads the log and assigns the views.

Game and rows change in one transaction, so nothing is lost or done twice; a record that cannot be projected, or is
known to be damaged, sets its own game aside.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from cachetools import LRUCache
from sqlalchemy import Connection, bindparam, delete, select, update

from domain.beside.damages import Damages
from domain.catalogue import Catalogue
from domain.errors import AnnalsError, WrongKey
from domain.ids import PUBLIC, Doc, Json, Viewer
from domain.kernel.acts import UNSTARTED
from domain.kernel.game import advance
from domain.kernel.record import Record
from domain.ledger import Ledger, LogEntry
from projections import documents, schema
from projections.known import Known, folded, touched
from projections.progress import hold
from projections.scrub import NOBODY_KNOWS
from projections.store import Prepared, Views, upsert
from projections.tree import Hash, grow, leaf_hash

SLICE = 200
"""Log entries in one transaction."""

KEEP = 512
"""Games whose position the pump remembers; others are folded again when they move."""


_G = schema.generations.c
_READ = select(_G.gen, _G.position, _G.leaves, _G.frontier)
GENERATION = Prepared(_READ.where(_G.gen == bindparam("in_gen")))
LIVE = Prepared(_READ.where(_G.live))
PUMPED = Prepared(
    update(schema.generations)
    .where(_G.gen == bindparam("in_gen"))
    .values(position=bindparam("to"), leaves=bindparam("size"), frontier=bindparam("edge"))
)
ASIDE = Prepared(select(schema.aside.c.game).where(schema.aside.c.gen == bindparam("in_gen")))
PUMPED_TO = select(schema.generations.c.position).where(schema.generations.c.gen == bindparam("in_gen"))
STANDS_AT = select(schema.games.c.position).where(
    schema.games.c.gen == bindparam("in_gen"), schema.games.c.game == bindparam("of_game")
)
NOTHING_DUE = Prepared(
    delete(schema.due).where(schema.due.c.gen == bindparam("in_gen"), schema.due.c.game == bindparam("of_game"))
)


DAMAGED = "damaged: version "
"""What is said of a game that is set aside for its damaged record, before the version."""

NO_DECISION = "0-0"
"""Of work that is due to a game in which nothing is to be decided."""


@dataclass
class _Batch:
    """What a slice of the log has changed, written once at its end."""

    known: dict[str, Known] = field(default_factory=dict)
    touched: dict[str, dict[Viewer, Known]] = field(default_factory=dict)
    """Game and viewer -> the game after the last record of the batch that may have changed that board."""
    positions: dict[str, int] = field(default_factory=dict)
    lines: list[dict[str, Json]] = field(default_factory=list)
    leaves: list[tuple[str, int, str]] = field(default_factory=list)
    """Game, version and hash of each record."""
    aside: list[Doc] = field(default_factory=list)
    boards: list[Doc] = field(default_factory=list)
    games: list[Doc] = field(default_factory=list)
    due: list[Doc] = field(default_factory=list)
    results: list[Doc] = field(default_factory=list)

    def show(self, gen: int, game: str, views: Views) -> None:
        """Add the rows that show the game as it is at the end of the batch."""
        known = self.known[game]
        boards = _boards(gen, self.touched[game], views)
        row, due = _game(gen, known, self.positions[game]), _due(gen, known)
        results = _results(gen, known) if known.game.status == "closed" else []
        self.boards += boards
        self.games.append(row)
        self.due += due
        self.results += results

    def set_aside(self, gen: int, game: str, position: int, said: str) -> None:
        """Somebody has to look at that game."""
        self.aside.append({"gen": gen, "game": game, "position": position, "error": said})


class Pump:
    """Pumps one generation. `owner` names this process in the lease."""

    def __init__(self, ledger: Ledger, catalogue: Catalogue, views: Views, owner: str, gen: int | None = None) -> None:
        self._ledger, self._catalogue, self._views, self._owner = ledger, catalogue, views, owner
        self._gen = gen
        self._games: LRUCache[str, Known] = LRUCache(KEEP)

    def run(self, now: int) -> tuple[int, list[str]]:
        """Applies the next slice; returns the position reached and the games that changed.

        The same position as before says that all is read.

        Raises LeaseLostError while another pump holds the lease.
        """
        with self._views.transaction() as db:
            ((gen, position, leaves, edge),) = GENERATION.rows(db, in_gen=self._gen) if self._gen else LIVE.rows(db)
            self._hold(db, gen, now)
            entries = self._ledger.log(position, SLICE)
            if not entries:
                return int(position), []
            batch = self._apply(db, gen, entries)
            _write(db, gen, batch, self._views)
            frontier = [bytes.fromhex(h) for h in json.loads(edge)]
            edge = json.dumps([h.hex() for h in _write_leaves(db, gen, leaves, frontier, batch)]).encode()
            reached = {"to": entries[-1].position, "size": leaves + len(batch.leaves), "edge": edge}
            PUMPED.run(db, [{"in_gen": gen, **reached}])
        self._keep(batch)
        return entries[-1].position, list(batch.known)

    def set_aside(self, game: str, version: int, now: int) -> None:
        """Show the game as it was before that version, which is damaged (0: its seed), and let nobody work on it."""
        records = self._ledger.read(game, upto=version - 1 if version else None) if version != 1 else []
        with self._views.transaction() as db:
            gen = self._gen or live(db)
            self._hold(db, gen, now)
            self._show(db, gen, game, records)
            row = {"gen": gen, "game": game, "position": 0, "error": f"{DAMAGED}{version}"}
            _set_aside(db, gen, [row], {"set_aside": True, "damaged": version}, self._views)
        self._games.pop(game, None)

    def bring_back(self, game: str, now: int) -> None:
        """Show the game as it is: none of its records is damaged any more."""
        records = self._ledger.read(game)
        with self._views.transaction() as db:
            gen = self._gen or live(db)
            self._hold(db, gen, now)
            db.execute(delete(schema.aside).filter_by(gen=gen, game=game))
            self._show(db, gen, game, records)

    def _show(self, db: Connection, gen: int, game: str, records: list[Record]) -> None:
        """All views of a game anew, from these records alone."""
        stood = db.execute(STANDS_AT, {"in_gen": gen, "of_game": game}).scalar()
        for table in (schema.games, schema.boards, schema.timeline, schema.results):
            db.execute(delete(table).filter_by(gen=gen, game=game))
        if not records:
            return
        batch = _Batch()
        for record in records:
            self._follow(batch, LogEntry(0, game, record.version, partial(_same, record)))
        batch.positions[game] = stood or db.execute(PUMPED_TO, {"in_gen": gen}).scalar_one()
        batch.show(gen, game, self._views)
        _write(db, gen, batch, self._views)

    def _hold(self, db: Connection, gen: int, now: int) -> None:
        if not hold(db, f"pump-{gen}", self._owner, now):
            self._games.clear()

    def _keep(self, batch: _Batch) -> None:
        """Only after the commit: what was rolled back is not remembered."""
        self._games.update(batch.known)
        for row in batch.aside:
            self._games.pop(row["game"], None)

    def _apply(self, db: Connection, gen: int, entries: Iterable[LogEntry]) -> _Batch:
        batch = _Batch()
        poisoned = {game for (game,) in ASIDE.rows(db, in_gen=gen)}
        damaged = {(d.game, d.version): d.hash for d in Damages(self._ledger).all()}
        for entry in entries:
            named = damaged.get((entry.game, entry.version))
            batch.leaves.append((entry.game, entry.version, named or self._hash(entry)))
            if entry.game in poisoned:
                continue
            if said := f"{DAMAGED}{entry.version}" if named is not None else self._failure(batch, entry):
                poisoned.add(entry.game)
                batch.set_aside(gen, entry.game, entry.position, said)
        for game in list(batch.known):
            try:
                batch.show(gen, game, self._views)
            except WrongKey:
                raise
            except Exception as error:  # noqa: BLE001 - likewise
                known = batch.known.pop(game)
                batch.set_aside(gen, game, batch.positions[game], _said(error, known.game.version))
        return batch

    def _failure(self, batch: _Batch, entry: LogEntry) -> str:
        """What keeps a record from being shown; nothing if it is."""
        try:
            self._follow(batch, entry)
        except WrongKey:  # nothing is wrong with the game: this process has the master key of before
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one game, the others go on
            return _said(error, entry.version)
        return ""

    def _hash(self, entry: LogEntry) -> str:
        """What stands in the tree for an entry: the record's hash, as the next one names it if nobody can read it.

        Zeros where there is no next one.
        """
        try:
            return entry.record.hash
        except WrongKey:
            raise
        except AnnalsError:
            pass
        try:
            after = self._ledger.read(entry.game, entry.version, entry.version + 1)
            return str(after[0].public["prev"]) if after else NOBODY_KNOWS
        except AnnalsError:
            return NOBODY_KNOWS

    def _follow(self, batch: _Batch, entry: LogEntry) -> None:
        record, game = entry.record, entry.game
        before = self._before(batch.known.get(game) or self._games.get(game), entry)
        known = self._next(before, entry)
        batch.lines += _lines(record, before, known, self._views)
        batch.known[game] = known
        batch.touched.setdefault(game, {}).update(dict.fromkeys(touched(record, known), known))
        batch.positions[game] = entry.position

    def _before(self, known: Known | None, entry: LogEntry) -> Known | None:
        """The game before the record; None before the first."""
        if entry.version == 1:
            return None
        if known is not None and known.game.version == entry.version - 1:
            return known
        return folded(self._catalogue, self._ledger.read(entry.game, upto=entry.version - 1))

    def _next(self, before: Known | None, entry: LogEntry) -> Known:
        record = entry.record
        if before is None:
            return folded(self._catalogue, [record])
        if record.kind == "rewound":
            return folded(self._catalogue, self._ledger.read(entry.game, upto=record.version))
        return replace(before, game=advance(before.rules, before.game, record))


def live(db: Connection) -> int:
    """The generation that is read."""
    ((gen, *_),) = LIVE.rows(db)
    return int(gen)


# --- rows ------------------------------------------------------------------------------------------------------


def _write(db: Connection, gen: int, batch: _Batch, views: Views) -> None:
    upsert(db, schema.timeline, [{"gen": gen, **row} for row in batch.lines])
    changed = [*batch.known, *(row["game"] for row in batch.aside)]
    NOTHING_DUE.run(db, [{"in_gen": gen, "of_game": game} for game in changed])
    for table, rows in (
        (schema.boards, batch.boards),
        (schema.games, batch.games),
        (schema.due, batch.due),
        (schema.results, batch.results),
    ):
        upsert(db, table, rows)
    _set_aside(db, gen, batch.aside, {"set_aside": True}, views)


def _set_aside(db: Connection, gen: int, rows: list[Doc], mark: Doc, views: Views) -> None:
    """Nobody can do work on these games until they are brought back, or the views rebuilt."""
    upsert(db, schema.aside, rows)
    NOTHING_DUE.run(db, [{"in_gen": gen, "of_game": row["game"]} for row in rows])
    for row in rows:
        _mark(db, gen, row["game"], mark, views)


def _mark(db: Connection, gen: int, game: str, mark: Doc, views: Views) -> None:
    """Say in its documents that they are not what the game is now."""
    for table in (schema.games, schema.boards):
        rows = [dict(row) for row in db.execute(select(table).filter_by(gen=gen, game=game)).mappings()]
        for row in rows:
            reader = row.get("viewer", PUBLIC)
            doc = json.loads(views.shown(game, reader, row["doc"]))
            row["doc"] = views.kept(game, reader, documents.rendered({**doc, **mark}))
        upsert(db, table, rows)


def _write_leaves(db: Connection, gen: int, size: int, frontier: list[Hash], batch: _Batch) -> list[Hash]:
    """The tree grows by the records of the batch; its new right edge."""
    leaves, nodes = [], []
    for leaf, (game, version, record) in enumerate(batch.leaves, size):
        frontier, filled = grow(frontier, leaf, leaf_hash(record))
        leaves.append({"gen": gen, "leaf": leaf, "game": game, "version": version, "hash": record})
        nodes += [{"gen": gen, "level": level, "number": number, "hash": h} for (level, number), h in filled]
    upsert(db, schema.leaves, leaves)
    upsert(db, schema.nodes, nodes)
    return frontier


def _same(record: Record) -> Record:
    return record


def _said(error: Exception, version: int) -> str:
    return f"{type(error).__name__}: version {version}"


def _lines(record: Record, before: Known | None, known: Known, views: Views) -> list[Doc]:
    """What a record says to each audience."""
    row = {"game": known.game.id, "version": record.version}
    return [
        {**row, "audience": audience, "doc": views.kept(known.game.id, audience, documents.rendered(doc))}
        for audience, doc in documents.entries(record, before, known).items()
    ]


def _boards(gen: int, touched: Mapping[Viewer, Known], views: Views) -> list[Doc]:
    by: dict[int, tuple[Known, list[Viewer]]] = {}
    for viewer, known in touched.items():
        by.setdefault(known.game.version, (known, []))[1].append(viewer)
    rows = []
    for version, (known, viewers) in by.items():
        game = known.game.id
        for viewer, doc in documents.boards(known, viewers).items():
            kept = views.kept(game, str(viewer), doc)
            rows.append({"gen": gen, "game": game, "viewer": str(viewer), "version": version, "doc": kept})
    return rows


def _game(gen: int, known: Known, position: int) -> Doc:
    p = known.game
    row = {"gen": gen, "game": p.id, "position": position, "version": p.version, "ruleset": p.ruleset}
    doc = documents.rendered(documents.summary(known))
    taken = sum(bool(player.id) for player in p.players.values())
    free = p.table.seats - taken if p.status in ("open", "running") else 0
    return {**row, "status": p.status, "listing": known.listing, "free": free, "at": p.at, "doc": doc}


def _due(gen: int, known: Known) -> list[Doc]:
    """The engine's work is due at once, a deadline when it passes, a vacant seat's answer once it is not held."""
    rows = []
    base = {"gen": gen, "game": known.game.id, "deadline": None, "last": None}
    if known.game.status == "open":
        rows.append({**base, "decision": NO_DECISION, "work": "sweep", "at": known.game.at + UNSTARTED})
    for d in known.open("director"):
        if d.engine:
            rows.append({**base, "decision": d.id, "work": "resolve", "at": known.game.at})
        if dues := known.game.dues(d.must).values():
            late = {"at": min(dues), "deadline": min(known.game.deadlines(d.must)), "last": max(dues)}
            rows.append({**base, "decision": d.id, "work": "lapse", **late})
        if vacant := (set(d.must) & set(known.game.state.vacant)) | set(known.game.kept):
            free = min(known.game.accounts[seat].held for seat in vacant)
            rows.append({**base, "decision": d.id, "work": "vacant", "at": max(free, known.game.at)})
    return rows


def _results(gen: int, known: Known) -> list[Doc]:
    p = known.game
    ending = p.ending or {}
    base = {"gen": gen, "game": p.id, "ruleset": p.ruleset, "at": p.at}
    base |= {"place": None, "points": None, "reason": ending["reason"], "by": ending["by"]}
    people = {seat: {"seat": seat, "player": player.id} for seat, player in p.players.items()}
    if not ending["finished"]:
        return [base | sat for sat in people.values() if sat["player"]]
    return [
        base | people.get(s.seat, {"seat": s.seat, "player": ""}) | {"place": s.place, "points": s.points}
        for s in known.rules.scores(p.state)
    ]
