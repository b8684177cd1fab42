"""The tables of the read side. Every row belongs to a generation, so that views are rebuilt beside the live ones."""

from __future__ import annotations

import hashlib

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, MetaData, String, Table
from sqlalchemy.schema import CreateIndex, CreateTable

DOCUMENTS = 3
"""Raised when the documents in the tables get another form."""

metadata = MetaData()


def _gen() -> Column[int]:
    return Column("gen", Integer, primary_key=True)


def _game() -> Column[str]:
    return Column("game", String(36), primary_key=True)


generations = Table(
    "generations",
    metadata,
    _gen(),
    Column("position", BigInteger, nullable=False),
    Column("live", Boolean, nullable=False),
    Column("leaves", BigInteger, nullable=False),
    Column("frontier", LargeBinary, nullable=False),
)
"""How far each generation has read the log. `leaves` and `frontier` are the Merkle tree's size and right edge."""

leases = Table(
    "leases",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("owner", String(80), nullable=False),
    Column("until", BigInteger, nullable=False),
)
"""Who alone may pump a generation, and until when (ms)."""

games = Table(
    "games",
    metadata,
    _gen(),
    _game(),
    Column("position", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("ruleset", String(80), nullable=False),
    Column("status", String(10), nullable=False),
    Column("listing", String(10), nullable=False),
    Column("free", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("doc", LargeBinary, nullable=False),
    Index("games_listed", "gen", "listing", "position"),
)
"""One row a game: who sits where, and for whom it waits since when. `free`: how many seats can be taken."""

boards = Table(
    "boards",
    metadata,
    _gen(),
    _game(),
    Column("viewer", String(10), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("doc", LargeBinary, nullable=False),
)
"""One document per game and viewer; `version` is the one at which this document last changed."""

timeline = Table(
    "timeline",
    metadata,
    _gen(),
    _game(),
    Column("version", Integer, primary_key=True),
    Column("audience", String(40), primary_key=True),
    Column("doc", LargeBinary, nullable=False),
)
"""What a record said to everybody (`all`) and to single seats, as facts and as sentences."""

results = Table(
    "results",
    metadata,
    _gen(),
    _game(),
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
    _gen(),
    _game(),
    Column("decision", String(24), primary_key=True),
    Column("work", String(10), primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("deadline", BigInteger),
    Column("last", BigInteger),
    Index("due_at", "gen", "at"),
)
"""Work that somebody must do: `resolve` (the engine), `lapse` (a deadline), `vacant` (a seat without a player),
`sweep` (a table that nobody starts).

`at` is when it must be done (ms), of seats without a player once the first is not held; of a lapse `deadline` is the
first deadline, before grace and banks of time, and `last` is when the last of the seats is due.
"""

leaves = Table(
    "leaves",
    metadata,
    _gen(),
    Column("leaf", BigInteger, primary_key=True),
    Column("game", String(36), nullable=False),
    Column("version", Integer, nullable=False),
    Column("hash", String(64), nullable=False),
    Index("leaves_record", "gen", "game", "version"),
)
"""The records in the order of the log, numbered densely: leaves of the Merkle tree."""

nodes = Table(
    "nodes",
    metadata,
    _gen(),
    Column("level", Integer, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("hash", LargeBinary, nullable=False),
)
"""The roots of the tree's full subtrees: level n has 2**n leaves each, level 0 the leaves themselves."""

aside = Table(
    "aside",
    metadata,
    _gen(),
    _game(),
    Column("position", BigInteger, nullable=False),
    Column("error", String(200), nullable=False),
)
"""Games whose record could not be projected; the others go on."""

shape = Table("shape", metadata, Column("hash", String(64), primary_key=True))
"""What the tables were made for: views of another shape are thrown away and pumped again."""


def fingerprint() -> str:
    """Of all tables and documents, as this version of the code has them."""
    parts = [str(DOCUMENTS)]
    for table in metadata.sorted_tables:
        parts.append(str(CreateTable(table)))
        parts += sorted(str(CreateIndex(index)) for index in table.indexes)
    return hashlib.sha256("".join(parts).encode()).hexdigest()
