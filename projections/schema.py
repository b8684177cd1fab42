"""The tables of the views. Every row belongs to a generation, so a rebuild runs in parallel with the live views."""

from __future__ import annotations

import hashlib

from sqlalchemy import BigInteger, Boolean, Column, Index, Insert, Integer, LargeBinary, MetaData, String, Table, insert
from sqlalchemy.schema import CreateIndex, CreateTable

from domain.ledger.store import VIEWS_PREFIX

DOCUMENT_FORMAT = 10
"""Format of the stored documents. Raise it when they change."""

TREE = -1
"""The partition of the Merkle tree, which has no games."""

metadata = MetaData()


def _gen_column() -> Column[int]:
    return Column("gen", Integer, primary_key=True)


def _game_column() -> Column[str]:
    return Column("game", String(36), primary_key=True)


generations = Table(
    "generations",
    metadata,
    _gen_column(),
    Column("position", BigInteger, nullable=False),
    Column("live", Boolean, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("leaves", BigInteger, nullable=False),
    Column("frontier", LargeBinary, nullable=False),
    Column("place", BigInteger, nullable=False),
)
"""Generations: log position of the tree and number of game partitions.

`leaves` and `frontier` are the Merkle tree's size and right edge. `place` is the place of the last change shown to
spectators after its delay.
"""

parts = Table(
    "parts",
    metadata,
    _gen_column(),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("owner", String(80), nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("game", String(36), nullable=False),
    Column("version", Integer, nullable=False),
    Column("hash", String(64), nullable=False),
)
"""Partitions: log position, last record read, owner and end of its lease (ms).

Partition -1 is the tree.
"""

AT_THE_TABLE, SPECTATORS, ALL = "table", "public", "all"
"""Readers of a summary or public board: at a delayed table, players and spectators have different ones."""

leases = Table(
    "leases",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("owner", String(80), nullable=False),
    Column("until", BigInteger, nullable=False),
)
"""Leases of other work, with owner and end (ms); presence of projectors."""

games = Table(
    "games",
    metadata,
    _gen_column(),
    _game_column(),
    Column("shown_to", String(6), primary_key=True),
    Column("place", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("ruleset", String(80), nullable=False),
    Column("status", String(10), nullable=False),
    Column("listing", String(10), nullable=False),
    Column("free", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("doc", LargeBinary, nullable=False),
    Index("games_listed", "gen", "listing", "place"),
)
"""Summaries: one row for each game, two at a delayed table.

`place` orders the last changes of all games and only rises. `free` is the number of seats to take.
"""

boards = Table(
    "boards",
    metadata,
    _gen_column(),
    _game_column(),
    Column("viewer", String(10), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("doc", LargeBinary, nullable=False),
)
"""Boards: one document for each game and viewer; `version` is that of the document's last change.

At a delayed table, viewer `public` has the spectators' board, and `table` the public board for players.
"""

timeline = Table(
    "timeline",
    metadata,
    _gen_column(),
    _game_column(),
    Column("version", Integer, primary_key=True),
    Column("audience", String(40), primary_key=True),
    Column("doc", LargeBinary, nullable=False),
)
"""Timeline: facts of each record for everybody (`all`) and for single seats."""

keyframes = Table(
    "keyframes",
    metadata,
    _gen_column(),
    _game_column(),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("reader", String(10), primary_key=True),
    Column("form", String(16), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("doc", LargeBinary, nullable=False),
)
"""Keyframes: past versions of games, from which the versions after them are folded (`projections.keyframes`).

`game` has the game without its board, every other reader the state known to it. `form` names the form of the document,
`hash` is that of the version's record.
"""

outlines = Table(
    "outlines",
    metadata,
    _gen_column(),
    _game_column(),
    Column("reader", String(12), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("form", String(16), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("doc", LargeBinary, nullable=False),
)
"""Outlines: the turns of a game as data for digests, one row for each reader (`projections.stored_outlines`).

`form` and `hash` as for keyframes.
"""

results = Table(
    "results",
    metadata,
    _gen_column(),
    _game_column(),
    Column("seat", Integer, primary_key=True),
    Column("player", String(80), primary_key=True),
    Column("ruleset", String(80), nullable=False),
    Column("place", Integer),
    Column("points", Integer),
    Column("reason", String(40), nullable=False),
    Column("by", String(10), nullable=False),
    Column("conceded", Boolean, nullable=False),
    Column("forfeited", Boolean, nullable=False),
    Column("penalty", BigInteger, nullable=False),
    Column("held", Boolean, nullable=False),
    Column("adopted", Boolean, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("results_player", "gen", "player", "at"),
)
"""Seats and places of closed games, and penalty points. An unfinished or annulled game has no places (NULL), nor has a
concession. `held` is false for a seat without a person behind two thirds of its decisions, `adopted` true
for one with another person at the start.
"""

due = Table(
    "due",
    metadata,
    _gen_column(),
    _game_column(),
    Column("decision", String(24), primary_key=True),
    Column("work", String(10), primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("deadline", BigInteger),
    Column("last", BigInteger),
    Index("due_at", "gen", "at"),
)
"""Due work: `resolve` (the engine), `lapse` (a deadline), `vacant` (a seat without a player), `bot`, `think` (a bot
that looks ahead), `sweep` (a table never started), `ruling` (a game to be closed after a ruling), `queue` (a table of a
ladder or arena), `series` (the next of repeating events), `clock` (the next act by a timetable).

`at` is the due time (ms), for vacant seats the end of the first hold. A lapse has its first `deadline`, without grace
and time banks, and in `last` the time at which its last seat is due.
"""

held_back = Table(
    "held_back",
    metadata,
    _gen_column(),
    _game_column(),
    Column("shown", Integer, nullable=False),
    Column("head", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("held_back_at", "gen", "at"),
)
"""Delayed tables: version shown to spectators, newest version, and time (ms) of the next one to show."""

seated = Table(
    "seated",
    metadata,
    _gen_column(),
    _game_column(),
    Column("seat", Integer, primary_key=True),
    Column("player", String(80), nullable=False),
    Index("seated_player", "gen", "player"),
)
"""Seats at delayed tables as spectators see them; `player` is empty for a vacant seat."""

tournaments = Table(
    "tournaments",
    metadata,
    _gen_column(),
    _game_column(),
    Column("place", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("ruleset", String(80), nullable=False),
    Column("status", String(12), nullable=False),
    Column("listing", String(10), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("doc", LargeBinary, nullable=False),
    Index("tournaments_listed", "gen", "listing", "place"),
)
"""Summaries of tournaments; `game` is the tournament's id, `place` orders last changes as in `games`."""

tournament_tables = Table(
    "tournament_tables",
    metadata,
    _gen_column(),
    _game_column(),
    Column("stage", Integer, primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("pod", Integer, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("table_game", String(36), nullable=False),
    Column("reported", Boolean, nullable=False),
    Column("counts", Boolean, nullable=False),
    Column("places", String(40), nullable=False),
    Index("tournament_tables_game", "gen", "table_game"),
)
"""Tables of tournaments; `game` is the tournament's id, `table_game` that of the table, empty without one.

`counts` is false for an annulled table. `places` has places by seat, separated by commas, if a ruling gave them.
"""

leaves = Table(
    "leaves",
    metadata,
    _gen_column(),
    Column("leaf", BigInteger, primary_key=True),
    Column("game", String(36), nullable=False),
    Column("version", Integer, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("position", BigInteger, nullable=False),
    Index("leaves_record", "gen", "game", "version"),
)
"""Records in log order, numbered without gaps: the leaves of the Merkle tree, with their log positions."""

nodes = Table(
    "nodes",
    metadata,
    _gen_column(),
    Column("level", Integer, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("hash", LargeBinary, nullable=False),
)
"""Root hashes of the tree's full subtrees: level n has 2**n leaves. Level 0 follows from the rows of `leaves`."""

aside = Table(
    "aside",
    metadata,
    _gen_column(),
    _game_column(),
    Column("position", BigInteger, nullable=False),
    Column("error", String(200), nullable=False),
)
"""Games in quarantine, because a record could not be projected."""

progress = Table(
    "progress",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("doc", LargeBinary, nullable=False),
)
"""Progress of background work: scrubbing and the continuous backup."""

shape = Table("shape", metadata, Column("hash", String(64), primary_key=True))
"""Fingerprint of the tables. On SQLite views with another fingerprint are dropped and rebuilt."""


def fingerprint() -> str:
    """Return the hash of all table definitions and of the document format."""
    parts = [str(DOCUMENT_FORMAT)]
    for table in metadata.sorted_tables:
        parts.append(str(CreateTable(table)))
        parts += sorted(str(CreateIndex(index)) for index in table.indexes)
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def schema_name() -> str:
    """Return the schema of these views on PostgreSQL.

    Versions with other tables or documents have schemas of their own.
    """
    return f"{VIEWS_PREFIX}{fingerprint()[:12]}"


def insert_generation(gen: int, count: int, *, live: bool = False) -> list[Insert]:
    """Return the statements that insert an empty generation with `count` game partitions."""
    row = {"gen": gen, "position": 0, "live": live, "parts": count, "leaves": 0, "frontier": b"[]", "place": 0}
    nothing = {"gen": gen, "owner": "", "until": 0, "position": 0, "game": "", "version": 0, "hash": ""}
    rows = [{**nothing, "part": part} for part in (TREE, *range(count))]
    return [insert(generations).values(row), insert(parts).values(rows)]
