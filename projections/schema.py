"""The tables of the read side. Every row belongs to a generation, so that views are rebuilt beside the live ones."""

from __future__ import annotations

import hashlib

from sqlalchemy import BigInteger, Boolean, Column, Index, Insert, Integer, LargeBinary, MetaData, String, Table, insert
from sqlalchemy.schema import CreateIndex, CreateTable

DOCUMENT_FORMAT = 6
"""Raised when the documents in the tables get another form."""

TREE = -1
"""The part that holds no games."""

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
"""How far the tree of each generation has read the log, and into how many parts its games are divided.

`leaves` and `frontier` are the Merkle tree's size and right edge.

`place` is that of what was shown last because its time had come.
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
"""How far each part has read the log, with the record that it read last, and who alone pumps it until when (ms).

Part -1 is the tree.
"""

AT_THE_TABLE, SPECTATORS, ALL = "table", "public", "all"
"""Who sees a summary, or a board of what is public: of a table with a delay those at it see another one than others."""

leases = Table(
    "leases",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("owner", String(80), nullable=False),
    Column("until", BigInteger, nullable=False),
)
"""Who alone does other work, and until when (ms); which processes pump."""

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
"""One row a game, two at a table with a delay: who sits where, and for whom it waits since when.

`place` is where its last change stands among those of all games: each is given a larger one than all before. `free`:
how many seats can be taken.
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
"""One document per game and viewer; `version` is the one at which this document last changed.

At a table with a delay the viewer `public` has what spectators see, and `table` what is public for those at it.
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
"""What a record said to everybody (`all`) and to single seats, as facts and as sentences."""

results = Table(
    "results",
    metadata,
    _gen_column(),
    _game_column(),
    Column("seat", Integer, primary_key=True),
    Column("player", String(80), nullable=False),
    Column("ruleset", String(80), nullable=False),
    Column("place", Integer),
    Column("points", Integer),
    Column("reason", String(40), nullable=False),
    Column("by", String(10), nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("results_player", "gen", "player", "at"),
)
"""Who sat where once a game is closed, and with what place; a game that was not finished has none (NULL)."""

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
"""Work that somebody must do: `resolve` (the engine), `lapse` (a deadline), `vacant` (a seat without a player), `bot`,
`sweep` (a table that nobody starts).

`at` is when it must be done (ms), of seats without a player once the first is not held; of a lapse `deadline` is the
first deadline, before grace and banks of time, and `last` is when the last of the seats is due.
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
"""Tables with a delay: up to which version spectators see, the newest one, and when they see the next one, ms."""

seated = Table(
    "seated",
    metadata,
    _gen_column(),
    _game_column(),
    Column("seat", Integer, primary_key=True),
    Column("player", String(80), nullable=False),
    Index("seated_player", "gen", "player"),
)
"""Who sits at tables with a delay, as spectators see it; empty for a seat without a player."""

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
"""The records in the order of the log, numbered densely: leaves of the Merkle tree; where each stands in the log."""

nodes = Table(
    "nodes",
    metadata,
    _gen_column(),
    Column("level", Integer, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("hash", LargeBinary, nullable=False),
)
"""The roots of the tree's full subtrees: level n has 2**n leaves each; level 0, the leaves, follows from their rows."""

aside = Table(
    "aside",
    metadata,
    _gen_column(),
    _game_column(),
    Column("position", BigInteger, nullable=False),
    Column("error", String(200), nullable=False),
)
"""Games whose record could not be projected; the others go on."""

progress = Table(
    "progress",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("doc", LargeBinary, nullable=False),
)
"""How far work in the background has come: reading the log against its tree, the running backup."""

shape = Table("shape", metadata, Column("hash", String(64), primary_key=True))
"""What the tables were made for: views of another shape are thrown away and pumped again."""


def fingerprint() -> str:
    """Of all tables and documents, as this version of the code has them."""
    parts = [str(DOCUMENT_FORMAT)]
    for table in metadata.sorted_tables:
        parts.append(str(CreateTable(table)))
        parts += sorted(str(CreateIndex(index)) for index in table.indexes)
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def insert_generation(gen: int, count: int, *, live: bool = False) -> list[Insert]:
    """The rows of an empty generation whose games are divided into so many parts."""
    row = {"gen": gen, "position": 0, "live": live, "parts": count, "leaves": 0, "frontier": b"[]", "place": 0}
    nothing = {"gen": gen, "owner": "", "until": 0, "position": 0, "game": "", "version": 0, "hash": ""}
    rows = [{**nothing, "part": part} for part in (TREE, *range(count))]
    return [insert(generations).values(row), insert(parts).values(rows)]
