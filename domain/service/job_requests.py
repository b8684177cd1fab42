"""Errands: work that somebody has asked for, each a row until it is done, whatever becomes of queues and workers.

A rewind, an audit, a rebuild of the views. An errand may need the consent of seats: then it is a *motion*, and waits
until all have agreed, or one has declined. What came of it is written down once; whether a rewind was done is told by
the log itself, since its record has the errand's id as the command's.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass

from domain.errors import CommandReused
from domain.service.database import Database, Row, create
from domain.types import MAX_INT, Json, Seat

Doc = dict[str, Json]

_TABLES = (
    """CREATE TABLE IF NOT EXISTS errands (
  id TEXT PRIMARY KEY, work TEXT NOT NULL, game TEXT NOT NULL, version BIGINT NOT NULL, round BIGINT,
  args TEXT NOT NULL, asked TEXT NOT NULL, at BIGINT NOT NULL, outcome TEXT NOT NULL)""",
    # Of the motions at one version each has a number of its own, taken by whoever comes first; other errands have none.
    "CREATE UNIQUE INDEX IF NOT EXISTS errands_motions ON errands (game, version, round)",
    "CREATE INDEX IF NOT EXISTS errands_open ON errands (at) WHERE outcome = ''",
    """CREATE TABLE IF NOT EXISTS consents (
  errand TEXT NOT NULL, seat BIGINT NOT NULL, agrees BIGINT NOT NULL, PRIMARY KEY (errand, seat))""",
)
_INSERT = "INSERT INTO errands VALUES (?, ?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT DO NOTHING"
_SELECT = """SELECT e.id, e.work, e.game, e.version, e.args, e.asked, e.at, e.outcome, c.seat, c.agrees
FROM errands e LEFT JOIN consents c ON c.errand = e.id WHERE """
# Who has declined cannot agree later: another motion may have been opened meanwhile.
_CONSENT = """
INSERT INTO consents VALUES (?, ?, ?) ON CONFLICT (errand, seat) DO UPDATE SET agrees = excluded.agrees
WHERE consents.agrees = 1"""
_SETTLE = "UPDATE errands SET outcome = ? WHERE id = ? AND outcome = ''"


@dataclass(frozen=True)
class Errand:
    """Work that was asked for."""

    id: str
    work: str
    """rewind, audit or rebuild."""
    game: str = ""
    version: int = 0
    """The newest version of the game for whoever asked; 0 where it does not matter."""
    args: Doc | None = None
    asked: tuple[Seat, ...] = ()
    """Seats that must agree."""
    at: int = 0
    """When it was asked for, ms."""
    outcome: Doc | None = None
    """What came of it, with `refused` (a code) if it could not be done; None while it stands."""
    agreed: tuple[Seat, ...] = ()
    declined: tuple[Seat, ...] = ()

    @property
    def missing(self) -> list[Seat]:
        """Seats that must still agree."""
        return [s for s in self.asked if s not in self.agreed]

    @property
    def ready(self) -> bool:
        """Whether a worker may do it."""
        return self.outcome is None and not self.missing and not self.declined


def new_id(work: str, token: str = "") -> str:
    """An id for an errand: random, or made from 24 hex digits that name the request, so that it can be repeated."""
    return f"{work}-{token or secrets.token_hex(12)}"


class Errands:
    """The rows. May raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def migrate(self) -> None:
        """Create the tables that are missing."""
        create(self._database, _TABLES)

    def ask(self, errand: Errand) -> Errand | None:
        """Write it down; the row that stands, which is that of the first time when the same id is asked for again.

        None for a motion while another one is open at that version of the game.
        """
        found = self.find(errand.id)
        if found is None and (round_ := self._round(errand)) is not None:
            row = (errand.id, errand.work, errand.game, errand.version, round_ or None)
            self._database.execute(_INSERT, (*row, json.dumps(errand.args), json.dumps(errand.asked), errand.at))
            found = self.find(errand.id)
        if found is not None and (found.work, found.game) != (errand.work, errand.game):
            raise CommandReused(errand.id)
        return found

    def _round(self, errand: Errand) -> int | None:
        """The number of a motion among those of its version, 0 for what is none; None while another is open."""
        if not errand.asked:
            return 0
        before = self._rows("e.game = ? AND e.version = ? AND e.round IS NOT NULL", errand.game, errand.version)
        return None if any(e.outcome is None and not e.declined for e in before) else len(before) + 1

    def consent(self, errand: str, seat: Seat, *, agrees: bool) -> None:
        """The seat agrees or declines; who has declined stays with it."""
        self._database.execute(_CONSENT, (errand, seat, int(agrees)))

    def settle(self, errand: str, outcome: Doc) -> None:
        """What came of it; what is written first stands."""
        self._database.execute(_SETTLE, (json.dumps(outcome), errand))

    # --- reading

    def find(self, errand: str) -> Errand | None:
        """The row; None for an id that is unknown."""
        return next(iter(self._rows("e.id = ?", errand)), None)

    def standing(self) -> list[Errand]:
        """All that is not settled, the oldest first."""
        return self._rows("e.outcome = ''")

    def motion(self, game: str) -> Errand | None:
        """The newest motion of a game."""
        newest = (
            "(SELECT id FROM errands WHERE game = ? AND round IS NOT NULL ORDER BY version DESC, round DESC LIMIT 1)"
        )
        return next(iter(self._rows(f"e.id = {newest}", game)), None)

    def rewinds(self, game: str, limit: int, before: int | None = None) -> list[Errand]:
        """The newest rewinds that were asked for in a game, the newest first; those of versions before one."""
        known = """e.id IN (SELECT id FROM errands WHERE game = ? AND work = 'rewind' AND version < ?
          ORDER BY version DESC, at DESC LIMIT ?)"""
        return self._rows(known, game, MAX_INT if before is None else before, limit)[::-1]

    def _rows(self, where: str, *params: object) -> list[Errand]:
        found: dict[str, Row] = {}
        said: dict[str, dict[Seat, bool]] = {}
        order = " ORDER BY e.version, e.at, e.round, e.id, c.seat"
        for *row, seat, agrees in self._database.execute(_SELECT + where + order, params):
            found[row[0]] = tuple(row)
            if seat is not None:
                said.setdefault(row[0], {})[seat] = bool(agrees)
        return [_errand(row, said.get(row[0], {})) for row in found.values()]


def _errand(row: Row, said: dict[Seat, bool]) -> Errand:
    id_, work, game, version, args, asked, at, outcome = row
    agreed = tuple(s for s, agrees in said.items() if agrees)
    declined = tuple(s for s, agrees in said.items() if not agrees)
    told = json.loads(outcome) if outcome else None
    return Errand(id_, work, game, version, json.loads(args), tuple(json.loads(asked)), at, told, agreed, declined)
