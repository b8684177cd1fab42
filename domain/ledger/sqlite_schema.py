"""Tables, triggers and settings of the ledger on SQLite."""

from __future__ import annotations

from domain.ledger import store

# rowid is the position. As a named column it survives VACUUM, which may otherwise renumber it.
TABLES = """
CREATE TABLE IF NOT EXISTS records (
  rowid INTEGER PRIMARY KEY, originator_id TEXT NOT NULL, originator_version INTEGER NOT NULL,
  topic TEXT NOT NULL, state BLOB NOT NULL, UNIQUE (originator_id, originator_version));
CREATE TABLE IF NOT EXISTS commands (
  game TEXT NOT NULL, id TEXT NOT NULL, body_hash TEXT NOT NULL,
  first_version INTEGER NOT NULL, last_version INTEGER NOT NULL, PRIMARY KEY (game, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS archive (
  game TEXT NOT NULL, first_version INTEGER NOT NULL, last_version INTEGER NOT NULL, piece BLOB NOT NULL,
  PRIMARY KEY (game, first_version));
CREATE TABLE IF NOT EXISTS imported_games (
  game TEXT PRIMARY KEY, account TEXT NOT NULL, ruleset TEXT NOT NULL, version INTEGER NOT NULL, at BIGINT NOT NULL,
  piece BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS imported_games_account ON imported_games (account);
CREATE TABLE IF NOT EXISTS seeds (game TEXT PRIMARY KEY, nonce BLOB NOT NULL, box BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS damages (
  game TEXT NOT NULL, version INTEGER NOT NULL, hash TEXT NOT NULL, said TEXT NOT NULL, found BIGINT NOT NULL,
  PRIMARY KEY (game, version));
CREATE TABLE IF NOT EXISTS master_key (id INTEGER PRIMARY KEY, mark TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS keyring (
  number INTEGER NOT NULL, mark TEXT NOT NULL, wrapped TEXT NOT NULL, PRIMARY KEY (number, mark));
CREATE TABLE IF NOT EXISTS repairs (
  id INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, why TEXT NOT NULL)"""

KEYS = {
    "records": "rowid = NEW.rowid"
    " OR (originator_id = NEW.originator_id AND originator_version = NEW.originator_version)",
    "commands": "game = NEW.game AND id = NEW.id",
    "archive": "game = NEW.game AND first_version = NEW.first_version",
    "repairs": "id = NEW.id",
}
"""Append-only tables, each with a condition for an existing row with the key of a new one, since REPLACE deletes rows
without triggers."""


def guards_of(table: str) -> dict[str, str]:
    """Return the statements of triggers by name; together they refuse everything except appends."""
    refuse = f"BEGIN SELECT RAISE(ABORT, '{store.APPEND_ONLY}'); END"
    when = {
        "updated": "UPDATE ON {0}",
        "deleted": "DELETE ON {0}",
        "replaced": f"INSERT ON {{0}} WHEN EXISTS (SELECT 1 FROM {{0}} WHERE {KEYS[table]})",  # noqa: S608 - our names
    }
    names = {f"{table}_not_{verb}": event.format(table) for verb, event in when.items()}
    return {name: f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {event} {refuse}" for name, event in names.items()}


LIFTED = guards_of("records") | guards_of("commands") | guards_of("archive")

GUARDS = LIFTED | guards_of("repairs")

# In WAL mode NORMAL delays the flush to the next checkpoint: acknowledged writes survive the death of the process, but
# not a power loss. FULL flushes the log at every commit and survives both; a tournament's move is worth it. fullfsync
# is the same for macOS, whose ordinary flush stops at the drive's cache; it has no effect elsewhere. Deleted contents
# are overwritten: an erased name disappears from the file, not only from the table.
WAL = "PRAGMA journal_mode=WAL"

SETTINGS = ("PRAGMA synchronous=FULL", "PRAGMA fullfsync=ON", "PRAGMA secure_delete=ON")
