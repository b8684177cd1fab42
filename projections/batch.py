"""The rows of one slice of the log, collected and then written in one transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, delete, false, select, true, update

from domain.kernel.records.record import Record
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.attendance import PRESENT, GameAttendance
from domain.transparency.merkle_tree import Hash, append_leaf, leaf_hash
from domain.types import PUBLIC, Doc, Json, Viewer
from projections import documents, schema
from projections.archived_views import drop_game
from projections.delayed_views import NEVER, STOP_SHOWING, DelayedGame, SpectatorSlice
from projections.loaded_game import LoadedGame
from projections.partitions import PartitionLease
from projections.row_builders import (
    build_board_row,
    build_board_rows,
    build_delay_row,
    build_due_rows,
    build_game_row,
    build_result_rows,
    build_seat_rows,
    build_tournament_due_rows,
)
from projections.tournament_views import PodPlace, build_table_rows, build_tournament_row, list_replayed
from projections.view_store import PreparedStatement, ViewStore, upsert

_G = schema.generations.c
SET_TREE = PreparedStatement(
    update(schema.generations)
    .where(_G.gen == bindparam("in_gen"))
    .values(position=bindparam("to"), leaves=bindparam("size"), frontier=bindparam("edge"))
)
DELETE_DUE = PreparedStatement(
    delete(schema.due).where(schema.due.c.gen == bindparam("in_gen"), schema.due.c.game == bindparam("of_game"))
)
_T = schema.tournament_tables.c
NO_LONGER_COUNT = PreparedStatement(
    update(schema.tournament_tables)
    .where(_T.gen == bindparam("in_gen"), _T.game == bindparam("of_game"), _T.stage == bindparam("in_stage"))
    .where(_T.round == bindparam("in_round"), _T.pod == bindparam("of_pod"), _T.attempt == bindparam("of_attempt"))
    .values(counts=false(), reported=true())
)


@dataclass
class Batch:
    """All changes of one slice of the log, written at its end."""

    loaded: dict[str, LoadedGame] = field(default_factory=dict)
    affected: dict[str, dict[Viewer, LoadedGame]] = field(default_factory=dict)
    """Game and viewer -> the game after the last record of the batch that may have changed that board."""
    places: dict[str, int] = field(default_factory=dict)
    timeline: list[dict[str, Json]] = field(default_factory=list)
    leaves: list[tuple[str, int, str, int]] = field(default_factory=list)
    """Game, version, hash and position of each record to append to the tree."""
    quarantined: list[Doc] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    """Games with known corrupt records."""
    tournaments: dict[str, Tournament] = field(default_factory=dict)
    archived: list[str] = field(default_factory=list)
    """Archived games and tournaments whose last record is in the batch; views of games are rendered on demand."""
    boards: list[Doc] = field(default_factory=list)
    games: list[Doc] = field(default_factory=list)
    due: list[Doc] = field(default_factory=list)
    results: list[Doc] = field(default_factory=list)
    seated: list[Doc] = field(default_factory=list)
    attendance: dict[str, GameAttendance] = field(default_factory=dict)
    """Of closed games with a clock or a leaver."""
    tournament_rows: list[Doc] = field(default_factory=list)
    pods: dict[str, set[PodPlace]] = field(default_factory=dict)
    """Tournament -> stage, round and pod of the changed tables."""
    table_rows: list[Doc] = field(default_factory=list)
    replayed: list[tuple[Tournament, Record]] = field(default_factory=list)
    """Rulings for playing a table again."""

    def add_rows(self, gen: int, game: str, views: ViewStore) -> None:
        """Add the rows of a game as it is at the end of the batch."""
        loaded = self.loaded[game]
        is_delayed = bool(loaded.game.delay)
        boards = build_board_rows(gen, self.affected[game], views)
        row = build_game_row(gen, loaded, self.places[game], schema.AT_THE_TABLE if is_delayed else schema.ALL)
        due = build_due_rows(gen, loaded)
        is_final = loaded.game.status == "closed" and not is_delayed
        results = build_result_rows(gen, loaded, self.attendance.get(game, PRESENT)) if is_final else []
        self.boards += boards
        self.games.append(row)
        self.due += due
        self.results += results

    def add_tournament_row(self, gen: int, tournament: str) -> None:
        """Add the row of a tournament as it is at the end of the batch."""
        t = self.tournaments[tournament]
        row = build_tournament_row(gen, t, self.places[tournament], archived=tournament in self.archived)
        self.tournament_rows.append(row)
        self.due += build_tournament_due_rows(gen, t)
        self.table_rows += build_table_rows(gen, t, self.pods.get(tournament, ()))

    def add_spectator_rows(self, gen: int, delayed: DelayedGame, views: ViewStore) -> None:
        """Add the rows of a game as spectators see it."""
        loaded = delayed.loaded
        if loaded is None:
            return
        board = documents.build_board(delayed.board_game, PUBLIC) if delayed.board_game else None
        row = build_game_row(gen, loaded, delayed.place, schema.SPECTATORS)
        attendance = self.attendance.get(delayed.game, PRESENT)
        results = build_result_rows(gen, loaded, attendance) if loaded.game.status == "closed" else []
        if delayed.board_game and board:
            self.boards.append(build_board_row(gen, delayed.board_game, PUBLIC, board, views))
        self.games.append(row)
        self.results += results
        self.seated += build_seat_rows(gen, loaded)

    def quarantine(self, game: str, position: int, reason: str) -> None:
        """Add a row that puts the game into quarantine, with the reason for the operator."""
        self.quarantined.append({"game": game, "position": position, "error": reason})


def write_batch(db: Connection, gen: int, batch: Batch, spectators: SpectatorSlice, views: ViewStore) -> None:
    for game in batch.archived:  # it may have been archived meanwhile, with rows from an earlier slice
        drop_game(db, gen, game)
    upsert(db, schema.timeline, [{"gen": gen, **row} for row in batch.timeline])
    changed = [*batch.loaded, *batch.tournaments, *(row["game"] for row in batch.quarantined)]
    DELETE_DUE.execute_many(db, [{"in_gen": gen, "of_game": game} for game in changed])
    for table, rows in (
        (schema.boards, batch.boards),
        (schema.games, batch.games),
        (schema.due, batch.due),
        (schema.results, batch.results),
        (schema.seated, batch.seated),
        (schema.tournaments, batch.tournament_rows),
        (schema.tournament_tables, batch.table_rows),
        (schema.held_back, [build_delay_row(gen, delayed) for delayed in spectators.games]),
    ):
        upsert(db, table, rows)
    NO_LONGER_COUNT.execute_many(db, [key for t, record in batch.replayed for key in list_replayed(gen, t, record)])
    spectators.save_place()
    quarantine_games(db, gen, [{"gen": gen, **row} for row in batch.quarantined], {"set_aside": True}, views)


def quarantine_games(db: Connection, gen: int, rows: list[Doc], members: Doc, views: ViewStore) -> None:
    """Stop all work on these games until they are restored or the views rebuilt."""
    upsert(db, schema.aside, rows)
    DELETE_DUE.execute_many(db, [{"in_gen": gen, "of_game": row["game"]} for row in rows])
    STOP_SHOWING.execute_many(db, [{"in_gen": gen, "of_game": row["game"], "never": NEVER} for row in rows])
    for row in rows:
        _mark_documents(db, gen, row["game"], members, views)


def _mark_documents(db: Connection, gen: int, game: str, members: Doc, views: ViewStore) -> None:
    """Add members to the game's documents that mark them as outdated.

    Spectators get no version number that they cannot see yet.
    """
    rows_by_table = {
        table: [dict(row) for row in db.execute(select(table).filter_by(gen=gen, game=game)).mappings()]
        for table in (schema.games, schema.boards, schema.tournaments)
    }
    visible_version = next(
        (row["version"] for row in rows_by_table[schema.games] if row["shown_to"] == schema.SPECTATORS), None
    )
    is_behind = visible_version is not None and visible_version < members.get("damaged", 0) - 1
    for table, rows in rows_by_table.items():
        for row in rows:
            reader = row.get("viewer", PUBLIC)
            added = {"set_aside": True} if is_behind and row.get("shown_to", reader) == schema.SPECTATORS else members
            doc = json.loads(views.open_document(game, reader, row["doc"]))
            row["doc"] = views.seal_document(game, reader, documents.encode_document({**doc, **added}))
        upsert(db, table, rows)


def grow_tree(db: Connection, lease: PartitionLease, position: int, batch: Batch) -> None:
    """Append the batch's leaves and store the log position that the tree has read."""
    frontier = [bytes.fromhex(h) for h in json.loads(lease.frontier)]
    edge = json.dumps([h.hex() for h in _write_leaves(db, lease.gen, lease.leaves, frontier, batch)]).encode()
    row = {"to": position, "size": lease.leaves + len(batch.leaves), "edge": edge}
    SET_TREE.execute_many(db, [{"in_gen": lease.gen, **row}])


def _write_leaves(db: Connection, gen: int, size: int, frontier: list[Hash], batch: Batch) -> list[Hash]:
    """Write the batch's leaves and filled nodes; return the new right edge."""
    leaves: list[Doc] = []
    nodes: list[Doc] = []
    for leaf, (game, version, record, position) in enumerate(batch.leaves, size):
        frontier, filled = append_leaf(frontier, leaf, leaf_hash(record))
        row = {"gen": gen, "leaf": leaf, "game": game, "version": version, "hash": record, "position": position}
        leaves.append(row)
        nodes += [{"gen": gen, "level": level, "number": number, "hash": h} for (level, number), h in filled if level]
    upsert(db, schema.leaves, leaves)
    upsert(db, schema.nodes, nodes)
    return frontier
