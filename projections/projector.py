"""The projector: reads the log and writes the views.

Log position and rows change in one transaction, so no record is lost or applied twice. A game with a corrupt or
unprojectable record goes into quarantine; the others continue. Each projector shows the games of its partitions, and
one of them builds the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from cachetools import LRUCache
from sqlalchemy import Connection, bindparam, delete, select

from domain.errors import AnnalsError
from domain.kernel.records.record import Record
from domain.ledger import LogEntry
from domain.ratings import LEAVERS_LAST
from domain.service.corruption import CorruptRecords
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.attendance import (
    GameAttendance,
    find_adopted_seats,
    find_leavers,
    find_unheld_seats,
    list_decisions,
)
from domain.tournaments.records import FINAL_KINDS
from domain.types import is_tournament_id
from projections import schema
from projections.batch import Batch, grow_tree, quarantine_games, write_batch
from projections.delayed_views import PLACE_BITS, SpectatorSlice, is_transient
from projections.integrity import UNKNOWN_HASH
from projections.leases import LeaseLostError
from projections.loaded_game import LoadedGame, affected_viewers
from projections.partitions import PartitionLease, PartitionShare
from projections.row_builders import build_timeline_rows
from projections.tournament_views import TournamentLoader, list_changed_pods
from projections.view_store import PreparedStatement
from projections.viewer_history import ViewerHistory

SLICE = 500
"""Log entries per transaction. A projector that is behind writes each game once per slice."""

MAX_SLICES = 8
"""Most slices read at once to find own entries among those of other projectors; all are held in memory."""

CACHE_TOURNAMENTS = 32
"""Tournaments cached by a projector."""


QUARANTINED = PreparedStatement(select(schema.aside.c.game).where(schema.aside.c.gen == bindparam("in_gen")))
PLACE_OF_GAME = select(schema.games.c.place).where(
    schema.games.c.gen == bindparam("in_gen"),
    schema.games.c.game == bindparam("of_game"),
    schema.games.c.shown_to != schema.SPECTATORS,
)
PLACE_OF_TOURNAMENT = select(schema.tournaments.c.place).where(
    schema.tournaments.c.gen == bindparam("in_gen"), schema.tournaments.c.game == bindparam("of_game")
)


GAME_TABLES = (
    schema.games,
    schema.boards,
    schema.timeline,
    schema.keyframes,
    schema.outlines,
    schema.results,
    schema.held_back,
    schema.seated,
    schema.tournaments,
    schema.tournament_tables,
)
"""Tables with rows of single games and tournaments, made from their records alone."""

DAMAGED_PREFIX = "damaged: version "
"""Error of a game in quarantine for a corrupt record, before the version."""


class ProjectedSlice(NamedTuple):
    """Result of a slice: position of its last entry, changed games and number of entries."""

    position: int
    games: list[str]
    records: int
    has_more: bool
    """True if there may be more to read or to show."""


def _show_delayed(batch: Batch, spectators: SpectatorSlice, position: int, at: int | None = None) -> None:
    """Show spectators all versions due at `at` (ms), or now. Games that cannot be shown go into quarantine."""
    for game, version, error in spectators.show_until(at):
        _quarantine(batch, spectators, game, position, _describe_error(error, version + 1))


def _quarantine(batch: Batch, spectators: SpectatorSlice, game: str, position: int, reason: str) -> None:
    batch.loaded.pop(game, None)
    batch.tournaments.pop(game, None)
    spectators.quarantined.add(game)
    batch.quarantine(game, position, reason)


@contextmanager
def _isolate_failure(
    batch: Batch, spectators: SpectatorSlice, position: int, game: str, version: int
) -> Iterator[None]:
    """Put the game into quarantine if the block fails for it alone, so that the others continue."""
    try:
        yield
    except Exception as error:
        if is_transient(error):
            raise
        _quarantine(batch, spectators, game, position, _describe_error(error, version))


class Projector:
    """Projects its share of one generation. `owner` names this process."""

    def __init__(self, history: ViewerHistory, owner: str, gen: int | None = None) -> None:
        self._ledger, self._views, self._history = history.ledger, history.views, history
        self._tournament_loader = TournamentLoader(history.ledger)
        self._share = PartitionShare(owner, gen)
        self._tournaments: LRUCache[str, Tournament] = LRUCache(CACHE_TOURNAMENTS)
        self._log_id = ""
        """The log of the cached tournaments."""
        self.lease: PartitionLease | None = None
        """The lease of the last transaction."""

    def run(self, now: int) -> ProjectedSlice | None:
        """Project the next slice; return None once all is read and spectators are up to date.

        Raises LeaseLostError while other projectors own everything.
        """
        slice_, batch, spectators = None, Batch(), None
        with self._views.transaction() as db:
            lease = self._acquire(db, now)
            if isinstance(lease, PartitionLease):
                most = _read_limit(lease)
                entries = self._ledger.log(lease.position, most)
                spectators = SpectatorSlice(self._history, db, lease.gen, now, lease.owns)
                batch = self._project(db, lease, entries, spectators) if entries or spectators.has_due else batch
                games = {*batch.loaded, *batch.tournaments, *(delayed.game for delayed in spectators.changed_games)}
                if entries or games:
                    position = entries[-1].position if entries else lease.position
                    slice_ = ProjectedSlice(
                        position, sorted(games), len(entries), len(entries) == most or spectators.has_more
                    )
        if isinstance(lease, str):
            raise LeaseLostError(lease)
        if spectators is not None:
            self._remember(batch, spectators)
        return slice_

    def _project(
        self, db: Connection, lease: PartitionLease, entries: Sequence[LogEntry], spectators: SpectatorSlice
    ) -> Batch:
        """Project entries of the log into the views."""
        batch = self._apply(db, lease, entries, spectators)
        write_batch(db, lease.gen, batch, spectators, self._views)
        if batch.leaves:
            grow_tree(db, lease, entries[-1].position, batch)
        if entries:
            self._share.save_position(db, lease, entries[-1].position, self._last_leaf(entries[-1], batch))
        return batch

    def release(self) -> None:
        """Give up all partitions, so that other projectors can continue at once."""
        with self._views.transaction() as db:
            self._share.release(db)

    def quarantine(self, game: str, version: int, now: int) -> None:
        """Show the game as it was before the corrupt version (0: its seed) and stop all work on it."""
        records = self._ledger.read(game, upto=version - 1 if version else None) if version != 1 else []
        with self._views.transaction() as db:
            gen = self._acquire_game(db, now, game).gen
            self._rebuild_game(db, gen, game, records, now)
            row = {"gen": gen, "game": game, "position": 0, "error": f"{DAMAGED_PREFIX}{version}"}
            quarantine_games(db, gen, [row], {"set_aside": True, "damaged": version}, self._views)
        self._forget(game)

    def _forget(self, game: str) -> None:
        self._history.forget(game)
        self._tournaments.pop(game, None)

    def restore(self, game: str, now: int) -> None:
        """End the quarantine of a game without corrupt records."""
        records = self._ledger.read(game)
        with self._views.transaction() as db:
            gen = self._acquire_game(db, now, game).gen
            db.execute(delete(schema.aside).filter_by(gen=gen, game=game))
            self._rebuild_game(db, gen, game, records, now)

    def _rebuild_game(self, db: Connection, gen: int, game: str, records: list[Record], now: int) -> None:
        """Replace all views of a game by those of `records`."""
        is_tournament = is_tournament_id(game)
        place_query = PLACE_OF_TOURNAMENT if is_tournament else PLACE_OF_GAME
        old_place = db.execute(place_query, {"in_gen": gen, "of_game": game}).scalar()
        for table in GAME_TABLES:
            db.execute(delete(table).filter_by(gen=gen, game=game))
        if not records:
            return
        batch, spectators = Batch(), SpectatorSlice(self._history, db, gen, now)
        position = self._ledger.position(game, records[-1].version) or 0
        for record in records:
            loaders = partial(_identity, record), partial(_hash_of, record)
            self._add_record(batch, LogEntry(position, game, record.version, *loaders), spectators)
        for *_, error in spectators.show_until():
            raise error
        batch.places[game] = old_place or position << PLACE_BITS
        if is_tournament:
            batch.add_tournament_row(gen, game)
        else:
            self._note_attendance(batch, batch.loaded[game])
            batch.add_rows(gen, game, self._views)
        for delayed in spectators.changed_games:
            if delayed.loaded:
                self._note_attendance(batch, delayed.loaded)
            batch.add_spectator_rows(gen, delayed, self._views)
        write_batch(db, gen, batch, spectators, self._views)

    def _acquire(self, db: Connection, now: int) -> PartitionLease | str:
        lease = self._share.acquire(db, now)
        self.lease = lease if isinstance(lease, PartitionLease) else None
        before, self._log_id = self._log_id, self._ledger.log_id
        if self._log_id != before or self.lease is None or self.lease.has_new_partitions:
            self._tournaments.clear()
        return lease

    def _acquire_game(self, db: Connection, now: int, game: str) -> PartitionLease:
        """Return the lease for this transaction; raises LeaseLostError if another projector owns the game."""
        lease = self._acquire(db, now)
        if isinstance(lease, str) or not lease.owns(game):
            raise LeaseLostError(f"{game} is another pump's")
        return lease

    def _remember(self, batch: Batch, spectators: SpectatorSlice) -> None:
        """Cache the games. Call after the commit: the next slice goes on from there."""
        shown = (delayed.loaded for delayed in spectators.changed_games if delayed.loaded is not None)
        for loaded in (*batch.loaded.values(), *shown):
            self._history.remember(loaded.game)
        self._tournaments.update(batch.tournaments)
        for row in batch.quarantined:
            self._forget(row["game"])

    def _apply(
        self, db: Connection, lease: PartitionLease, entries: Sequence[LogEntry], spectators: SpectatorSlice
    ) -> Batch:
        batch, gen, position = Batch(), lease.gen, entries[-1].position if entries else lease.position
        spectators.quarantined.update(game for (game,) in QUARANTINED.fetch_all(db, in_gen=gen))
        damaged = {(d.game, d.version): d.hash for d in CorruptRecords(self._ledger).list_all()}
        batch.damaged.update(game for game, _ in damaged)
        for entry in entries:
            known_hash = damaged.get((entry.game, entry.version))
            if lease.needs_record(entry.game, entry.position) and entry.game not in spectators.quarantined:
                reason = (
                    f"{DAMAGED_PREFIX}{entry.version}"
                    if known_hash is not None
                    else self._add_or_explain(batch, entry, spectators)
                )
                if reason:
                    spectators.quarantined.add(entry.game)
                    batch.quarantine(entry.game, entry.position, reason)
            if lease.extends_tree(entry.position):
                batch.leaves.append((entry.game, entry.version, known_hash or self._leaf(entry), entry.position))
        if len(entries) < _read_limit(lease):
            _show_delayed(batch, spectators, position)
        for game, loaded in list(batch.loaded.items()):
            with _isolate_failure(batch, spectators, position, game, loaded.game.version):
                self._note_attendance(batch, loaded)
                batch.add_rows(gen, game, self._views)
        for tournament, t in list(batch.tournaments.items()):
            with _isolate_failure(batch, spectators, position, tournament, t.version):
                batch.add_tournament_row(gen, tournament)
        for delayed in spectators.changed_games:
            version = delayed.loaded.game.version if delayed.loaded else delayed.shown_version
            with _isolate_failure(batch, spectators, position, delayed.game, version):
                if delayed.loaded:
                    self._note_attendance(batch, delayed.loaded)
                batch.add_spectator_rows(gen, delayed, self._views)
        return batch

    def _note_attendance(self, batch: Batch, loaded: LoadedGame) -> None:
        """Note the seats of a closed game for ratings. Without a clock or a leaver, everybody has played."""
        g = loaded.game
        has_leavers = any(not player for _, _, player in g.seating.changes)
        if g.status == "closed" and (g.timing.control.seconds or has_leavers):
            records = self._ledger.read(g.id, upto=g.version)
            unheld = find_unheld_seats(list_decisions(records))
            leavers = find_leavers(records) if g.terms.get("leavers") == LEAVERS_LAST else ()
            batch.attendance[g.id] = GameAttendance(unheld, find_adopted_seats(records), leavers)

    def _add_or_explain(self, batch: Batch, entry: LogEntry, spectators: SpectatorSlice) -> str:
        """Add a record to the batch; return the error if that fails, else an empty string."""
        try:
            _show_delayed(batch, spectators, entry.position - 1, entry.record.public["at"])
            self._add_record(batch, entry, spectators)
        except Exception as error:
            if is_transient(error):
                raise
            return _describe_error(error, entry.version)  # one bad game must not stop the others
        return ""

    def _last_leaf(self, entry: LogEntry, batch: Batch) -> tuple[str, int, str]:
        """Return game, version and hash of the last entry."""
        return batch.leaves[-1][:3] if batch.leaves else (entry.game, entry.version, self._leaf(entry))

    def _leaf(self, entry: LogEntry) -> str:
        """Return the leaf of an entry. An unreadable record has the hash that its successor names, or zeros."""
        try:
            return entry.hash
        except AnnalsError as error:
            if is_transient(error):
                raise
        try:
            after = self._ledger.read(entry.game, entry.version, entry.version + 1)
            return str(after[0].public.get("prev", UNKNOWN_HASH)) if after else UNKNOWN_HASH
        except AnnalsError as error:
            if is_transient(error):
                raise
            return UNKNOWN_HASH

    def _add_record(self, batch: Batch, entry: LogEntry, spectators: SpectatorSlice) -> None:
        record, game = entry.record, entry.game
        if is_tournament_id(game):
            before_it = batch.tournaments.get(game) or self._tournaments.get(game)
            t = batch.tournaments[game] = self._tournament_loader.load(before_it, entry)
            batch.pods.setdefault(game, set()).update(list_changed_pods(t, record))
            batch.replayed.append((t, record))
            batch.places[game] = spectators.set_position(entry.position)
            if entry.archived and record.kind in FINAL_KINDS:
                batch.archived.append(game)
            return
        before = self._history.load_before(entry, batch.loaded.get(game))
        loaded = self._history.next_game(before, record)
        batch.loaded[game] = loaded
        boards = batch.affected.setdefault(game, {})
        if not entry.archived or game in batch.damaged:  # archived views are rendered on demand
            batch.timeline += build_timeline_rows(record, before, loaded, self._views)
            boards.update(dict.fromkeys(affected_viewers(record, loaded), loaded))
        elif record.kind == "closed":
            batch.archived.append(game)
        batch.places[game] = spectators.set_position(entry.position)
        spectators.add_record(record, before, loaded)


def _read_limit(lease: PartitionLease) -> int:
    """Return the number of entries to read: more for a projector with a smaller share of the partitions."""
    few = max(lease.game_partitions, 1)
    return SLICE * min(lease.parts, MAX_SLICES * few) // few


def _identity(record: Record) -> Record:
    return record


def _hash_of(record: Record) -> str:
    return record.hash


def _describe_error(error: Exception, version: int) -> str:
    return f"{type(error).__name__}: version {version}"
