"""The pump reads the log and assigns the views.

Game and rows change in one transaction, so nothing is lost or done twice; a record that cannot be projected sets
its own game aside.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from cachetools import LRUCache
from sqlalchemy import Connection, bindparam, delete, select, update

from domain.catalogue import Catalogue
from domain.errors import AnnalsError, WrongKey
from domain.ids import PUBLIC, Doc, Json, Viewer
from domain.kernel.acts import UNSTARTED
from domain.kernel.game import advance
from domain.ledger import Ledger, LogEntry
from projections import documents, schema
from projections.known import Known, folded, touched
from projections.store import Views, upsert
from projections.tree import Hash, grow, leaf_hash

SLICE = 200
"""Log entries in one transaction."""

KEEP = 512
"""Games whose position the pump remembers; others are folded again when they move."""

LEASE = 10_000
"""How long a pump holds its lease without renewing it, ms."""


# Made once: building a statement takes longer than running it.
GENERATION = select(schema.generations).where(schema.generations.c.gen == bindparam("in_gen"))
PUMPED = (
    update(schema.generations)
    .where(schema.generations.c.gen == bindparam("in_gen"))
    .values(position=bindparam("to"), leaves=bindparam("size"), frontier=bindparam("edge"))
)
LEASE_HELD = select(schema.leases).where(schema.leases.c.name == bindparam("lease")).with_for_update()
ASIDE = select(schema.aside.c.game).where(schema.aside.c.gen == bindparam("in_gen"))
LIVE = select(schema.generations.c.gen).where(schema.generations.c.live)
NOTHING_DUE = delete(schema.due).where(
    schema.due.c.gen == bindparam("in_gen"), schema.due.c.game == bindparam("of_game")
)


NO_DECISION = "0-0"
"""Of work that is due to a game in which nothing is to be decided."""


class LeaseLostError(Exception):
    """Another pump works on this generation."""


@dataclass
class _Batch:
    """What a slice of the log has changed, written once at its end."""

    known: dict[str, Known] = field(default_factory=dict)
    boards: dict[tuple[str, str], Doc] = field(default_factory=dict)
    """Game and viewer -> row of the newest board that a record of the batch may have changed."""
    positions: dict[str, int] = field(default_factory=dict)
    lines: list[dict[str, Json]] = field(default_factory=list)
    leaves: list[tuple[str, int, str]] = field(default_factory=list)
    """Game, version and hash of each record."""
    aside: list[dict[str, Json]] = field(default_factory=list)


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
            gen = self._gen or live(db)
            self._hold(db, gen, now)
            row = db.execute(GENERATION, {"in_gen": gen}).one()
            entries = self._ledger.log(row.position, SLICE)
            if not entries:
                return int(row.position), []
            batch = self._apply(db, gen, entries)
            _write(db, gen, batch, self._views)
            frontier = [bytes.fromhex(h) for h in json.loads(row.frontier)]
            edge = json.dumps([h.hex() for h in _write_leaves(db, gen, row.leaves, frontier, batch)]).encode()
            reached = {"to": entries[-1].position, "size": row.leaves + len(batch.leaves), "edge": edge}
            db.execute(PUMPED, {"in_gen": gen, **reached})
        self._keep(batch)
        return entries[-1].position, list(batch.known)

    def _hold(self, db: Connection, gen: int, now: int) -> None:
        name = f"pump-{gen}"
        held = db.execute(LEASE_HELD, {"lease": name}).first()
        if held and held.owner != self._owner and held.until > now:
            raise LeaseLostError(held.owner)
        if held is None or held.owner != self._owner:
            self._games.clear()
        upsert(db, schema.leases, [{"name": name, "owner": self._owner, "until": now + LEASE}])

    def _keep(self, batch: _Batch) -> None:
        """Only after the commit: what was rolled back is not remembered."""
        self._games.update(batch.known)
        for row in batch.aside:
            self._games.pop(row["game"], None)

    def _apply(self, db: Connection, gen: int, entries: Iterable[LogEntry]) -> _Batch:
        batch = _Batch()
        poisoned = set(db.execute(ASIDE, {"in_gen": gen}).scalars())
        for entry in entries:
            batch.leaves.append((entry.game, entry.version, _hash(entry)))
            if entry.game in poisoned:
                continue
            try:
                self._follow(batch, entry)
            except WrongKey:  # nothing is wrong with the game: this process has the master key of before
                raise
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one game, the others go on
                poisoned.add(entry.game)
                said = f"{type(error).__name__}: version {entry.version}"
                batch.aside.append({"gen": gen, "game": entry.game, "position": entry.position, "error": said})
        return batch

    def _follow(self, batch: _Batch, entry: LogEntry) -> None:
        record, game = entry.record, entry.game
        known = self._next(batch.known.get(game) or self._games.get(game), entry)
        boards = [self._board(known, viewer) for viewer in touched(record, known)]
        for audience, doc in documents.entries(record).items():
            row = {"game": game, "version": record.version, "audience": audience}
            batch.lines.append({**row, "doc": self._views.kept(game, audience, documents.rendered(doc))})
        batch.known[game] = known
        batch.boards |= {(game, row["viewer"]): row for row in boards}
        batch.positions[game] = entry.position

    def _board(self, known: Known, viewer: Viewer) -> Doc:
        p = known.game
        doc = self._views.kept(p.id, str(viewer), documents.board(known, viewer))
        return {"game": p.id, "viewer": str(viewer), "version": p.version, "doc": doc}

    def _next(self, before: Known | None, entry: LogEntry) -> Known:
        record, game = entry.record, entry.game
        if record.kind == "opened":
            return folded(self._catalogue, [record])
        if before is not None and before.game.version == record.version - 1 and record.kind != "rewound":
            return replace(before, game=advance(before.rules, before.game, record))
        return folded(self._catalogue, self._ledger.read(game, upto=record.version))


def _hash(entry: LogEntry) -> str:
    """What stands in the tree for an entry: the record's hash, zeros for one that nobody can read."""
    try:
        return entry.record.hash
    except WrongKey:
        raise
    except AnnalsError:
        return "0" * 64


def live(db: Connection) -> int:
    """The generation that is read."""
    found: int = db.execute(LIVE).scalar_one()
    return found


# --- rows ------------------------------------------------------------------------------------------------------


def _write(db: Connection, gen: int, batch: _Batch, views: Views) -> None:
    upsert(db, schema.timeline, [{"gen": gen, **row} for row in batch.lines])
    upsert(db, schema.boards, [{"gen": gen, **row} for row in batch.boards.values()])
    for game, known in batch.known.items():
        upsert(db, schema.games, [_game(gen, known, batch.positions[game])])
        db.execute(NOTHING_DUE, {"in_gen": gen, "of_game": game})
        upsert(db, schema.due, _due(gen, known))
        if known.game.status == "closed":
            upsert(db, schema.results, _results(gen, known))
    upsert(db, schema.aside, batch.aside)
    for row in batch.aside:  # nobody can do work on it before a rebuild
        db.execute(NOTHING_DUE, {"in_gen": gen, "of_game": row["game"]})
        _mark(db, gen, row["game"], views)


def _mark(db: Connection, gen: int, game: str, views: Views) -> None:
    """Say in its documents that they are not what the game is now."""
    for table in (schema.games, schema.boards):
        rows = [dict(row) for row in db.execute(select(table).filter_by(gen=gen, game=game)).mappings()]
        for row in rows:
            reader = row.get("viewer", PUBLIC)
            doc = json.loads(views.shown(game, reader, row["doc"]))
            row["doc"] = views.kept(game, reader, documents.rendered({**doc, "set_aside": True}))
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
