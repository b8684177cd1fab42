"""Job requests: rows that keep a requested job until it is done, whatever happens to queues and workers.

A job is a rewind, a proposal, an audit or a rebuild of the views. A rewind that needs the consent of seats is a
*motion*: it waits until all agree, one declines or a week has passed, and so does a proposal. The outcome is written
once. The log itself shows whether a rewind or a proposal was done, since its record has the request's id as the id of
its command.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from domain.errors import CommandReused
from domain.kernel.game.proposals import SILENCE_MS
from domain.service.database import Database, Execute, Row, create_tables, placeholders
from domain.service.idempotency_keys import IdempotencyKey, bind_key
from domain.types import MAX_INT, Doc, Seat

_TABLES = (
    """CREATE TABLE IF NOT EXISTS errands (
  id TEXT PRIMARY KEY, work TEXT NOT NULL, game TEXT NOT NULL, version BIGINT NOT NULL, round BIGINT,
  args TEXT NOT NULL, asked TEXT NOT NULL, at BIGINT NOT NULL, outcome TEXT NOT NULL)""",
    # Motions at one version are numbered in order of arrival; other requests have no number.
    "CREATE UNIQUE INDEX IF NOT EXISTS errands_motions ON errands (game, version, round)",
    "CREATE INDEX IF NOT EXISTS errands_open ON errands (at) WHERE outcome = ''",
    """CREATE TABLE IF NOT EXISTS consents (
  errand TEXT NOT NULL, seat BIGINT NOT NULL, agrees BIGINT NOT NULL, PRIMARY KEY (errand, seat))""",
)
_INSERT = "INSERT INTO errands VALUES (?, ?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT DO NOTHING"
_SELECT = """SELECT e.id, e.work, e.game, e.version, e.args, e.asked, e.at, e.outcome, c.seat, c.agrees
FROM errands e LEFT JOIN consents c ON c.errand = e.id WHERE """
# A refusal is final: another motion may have been opened meanwhile.
_CONSENT = """
INSERT INTO consents VALUES (?, ?, ?) ON CONFLICT (errand, seat) DO UPDATE SET agrees = excluded.agrees
WHERE consents.agrees = 1"""
_SETTLE = "UPDATE errands SET outcome = ? WHERE id = ? AND outcome = ''"


@dataclass(frozen=True)
class JobRequest:
    """A request for a job."""

    id: str
    work: str
    """`rewind`, `proposal`, `audit` or `rebuild`."""
    game: str = ""
    version: int = 0
    """The newest version of the game for the requester; 0 if irrelevant."""
    args: Doc | None = None
    asked: tuple[Seat, ...] = ()
    """Seats with a vote: all must agree."""
    at: int = 0
    """Time of the request, ms."""
    outcome: Doc | None = None
    """The result, with `refused` (a code) for a failure; None while the request is open."""
    agreed: tuple[Seat, ...] = ()
    declined: tuple[Seat, ...] = ()

    @property
    def missing_seats(self) -> list[Seat]:
        """Seats without an agreeing vote."""
        return [s for s in self.asked if s not in self.agreed]

    @property
    def expires_at(self) -> int:
        """Time at which a request with missing votes ends, ms."""
        return self.at + SILENCE_MS

    def is_expired(self, now: int) -> bool:
        """Return whether votes were still missing when the time ended."""
        return bool(self.missing_seats) and now >= self.expires_at

    @property
    def is_ready(self) -> bool:
        """True if a worker may do the job."""
        return self.outcome is None and not self.missing_seats and not self.declined


@dataclass(frozen=True)
class Allowance:
    """Requests still open to a seat, beside those known at the count."""

    seat: Seat
    known: frozenset[str]
    """Ids of the seat's requests at the count."""
    room: int


def new_id(work: str, token: str = "") -> str:
    """Return an id of a request: random, or derived from 24 hex digits that name a repeatable request."""
    return f"{work}-{token or secrets.token_hex(12)}"


class JobRequests:
    """The tables of job requests and consents. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def migrate(self) -> None:
        """Create missing tables."""
        create_tables(self._database, _TABLES)

    def submit(
        self, request: JobRequest, key: IdempotencyKey | None = None, allowance: Allowance | None = None
    ) -> JobRequest | None:
        """Store a request and return its row, or the first row if the id is known; bind its key with it.

        Returns None for a motion while another one is open at the same version of the game, and for a request beyond
        the allowance: requests at the same time are counted one after the other. Raises CommandReused.
        """
        if key is None and allowance is None:
            return self._submit(self._database.execute, request, None, None)
        results: list[JobRequest | None] = []
        self._database.run_in_append_order(
            lambda execute: results.append(self._submit(execute, request, key, allowance))
        )
        return results[-1]

    def _submit(
        self, execute: Execute, request: JobRequest, key: IdempotencyKey | None, allowance: Allowance | None
    ) -> JobRequest | None:
        (stored,) = self._select("e.id = ?", request.id, execute=execute) or (None,)
        if stored is not None and key is not None:
            key.check(execute)
        if stored is None:
            round_ = self._next_round(execute, request)
            if round_ is None or not self._has_room(execute, request.game, allowance):
                return None
            bind_key(execute, key)
            row = (request.id, request.work, request.game, request.version, round_ or None)
            execute(_INSERT, (*row, json.dumps(request.args), json.dumps(request.asked), request.at))
            (stored,) = self._select("e.id = ?", request.id, execute=execute) or (None,)
        if stored is not None and (stored.work, stored.game) != (request.work, request.game):
            raise CommandReused(request.id)
        return stored

    def _has_room(self, execute: Execute, game: str, allowance: Allowance | None) -> bool:
        if allowance is None:
            return True
        added = [r for r in self._list_motions(execute, game, allowance.seat) if r.id not in allowance.known]
        return len(added) < allowance.room

    def _next_round(self, execute: Execute, request: JobRequest) -> int | None:
        """Return the number of a motion at its version, 0 for any other request; None while another is open."""
        if not request.asked or request.work != "rewind":
            return 0
        condition = "e.game = ? AND e.version = ? AND e.round IS NOT NULL"
        before = self._select(condition, request.game, request.version, execute=execute)
        is_open = any(e.outcome is None and not e.declined and not e.is_expired(request.at) for e in before)
        return None if is_open else len(before) + 1

    def consent(self, request_id: str, seat: Seat, *, agrees: bool) -> None:
        """Store a seat's vote; a refusal is final."""
        self._database.execute(_CONSENT, (request_id, seat, int(agrees)))

    def record_outcome(self, request_id: str, outcome: Doc) -> None:
        """Store the outcome, unless one is stored."""
        self._database.execute(_SETTLE, (json.dumps(outcome), request_id))

    # --- reading

    def find(self, request_id: str) -> JobRequest | None:
        """Return the request with that id, or None."""
        return next(iter(self._select("e.id = ?", request_id)), None)

    def list_open(self) -> list[JobRequest]:
        """Return all requests without an outcome, oldest first."""
        return self._select("e.outcome = ''")

    def list_pending(self, games: Sequence[str]) -> list[JobRequest]:
        """Return the requests in these games without all votes, oldest first."""
        if not games:
            return []
        found = self._select(f"e.outcome = '' AND e.asked <> '[]' AND e.game IN ({placeholders(games)})", *games)
        return sorted((r for r in found if r.missing_seats and not r.declined), key=lambda r: r.at)

    def find_motion(self, game: str) -> JobRequest | None:
        """Return the newest motion of a game."""
        newest = (
            "(SELECT id FROM errands WHERE game = ? AND round IS NOT NULL ORDER BY version DESC, round DESC LIMIT 1)"
        )
        return next(iter(self._select(f"e.id = {newest}", game)), None)

    def list_rewinds(self, game: str, limit: int, before: int | None = None) -> list[JobRequest]:
        """Return the newest rewinds requested in a game, newest first, below version `before` if given."""
        condition = """e.id IN (SELECT id FROM errands WHERE game = ? AND work = 'rewind' AND version < ?
          ORDER BY version DESC, at DESC LIMIT ?)"""
        return self._select(condition, game, MAX_INT if before is None else before, limit)[::-1]

    def list_motions(self, game: str, seat: Seat) -> list[JobRequest]:
        """Return all rewinds and proposals of a seat with votes of others."""
        return self._list_motions(self._database.execute, game, seat)

    def _list_motions(self, execute: Execute, game: str, seat: Seat) -> list[JobRequest]:
        condition = "e.game = ? AND e.work IN ('rewind', 'proposal') AND e.asked <> '[]'"
        found = self._select(condition, game, execute=execute)
        return [r for r in found if r.args and r.args["seat"] == seat]

    def list_proposals(self, game: str, limit: int) -> list[JobRequest]:
        """Return the newest proposals in a game, newest first."""
        condition = """e.id IN (SELECT id FROM errands WHERE game = ? AND work = 'proposal'
          ORDER BY version DESC, at DESC, id LIMIT ?)"""
        return self._select(condition, game, limit)[::-1]

    def _select(self, where: str, *params: object, execute: Execute | None = None) -> list[JobRequest]:
        requests: dict[str, Row] = {}
        votes: dict[str, dict[Seat, bool]] = {}
        order = " ORDER BY e.version, e.at, e.round, e.id, c.seat"
        for *row, seat, agrees in (execute or self._database.execute)(_SELECT + where + order, params):
            requests[row[0]] = tuple(row)
            if seat is not None:
                votes.setdefault(row[0], {})[seat] = bool(agrees)
        return [_parse_request(row, votes.get(row[0], {})) for row in requests.values()]


def _parse_request(row: Row, votes: dict[Seat, bool]) -> JobRequest:
    id_, work, game, version, args, asked, at, outcome = row
    agreed = tuple(s for s, agrees in votes.items() if agrees)
    declined = tuple(s for s, agrees in votes.items() if not agrees)
    result = json.loads(outcome) if outcome else None
    return JobRequest(
        id_, work, game, version, json.loads(args), tuple(json.loads(asked)), at, result, agreed, declined
    )
