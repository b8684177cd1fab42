"""Who may do what: tokens of seats and directors, the people behind them, tickets for streams.

Ordinary tables of the ledger's database. People are opaque ids in records; what they are called, and what they wrote,
stands here alone and can be erased. Of a secret only its hash is kept: what is stored opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from domain.ids import DIRECTOR, PUBLIC, Seat, Viewer
from domain.tables import Database, create

TICKET_SECONDS = 60
"""How long a ticket opens a stream."""

COOKIE_SECONDS = 900
"""How long a cookie opens streams."""

Role = int | str
"""A seat, or "director"."""

_SHAPE = re.compile(r"anl_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_COOKIE = re.compile(r"anc_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_TICKET = re.compile(r"ant_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")

_TABLES = (
    """CREATE TABLE IF NOT EXISTS tokens (
  game TEXT NOT NULL, role TEXT NOT NULL, id TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, player TEXT NOT NULL,
  revoked INTEGER NOT NULL, PRIMARY KEY (game, role))""",
    "CREATE TABLE IF NOT EXISTS people (player TEXT PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS tickets (id TEXT PRIMARY KEY, hash TEXT NOT NULL, token TEXT NOT NULL, until BIGINT)",
    "CREATE TABLE IF NOT EXISTS invitations (game TEXT PRIMARY KEY, hash TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS texts (
  hash TEXT PRIMARY KEY, player TEXT NOT NULL, salt TEXT NOT NULL, said TEXT NOT NULL)""",
)
# One live token for each role at a table: who takes a seat over makes the old token worthless in the same statement.
_ISSUE = """
INSERT INTO tokens (game, role, id, hash, player, revoked) VALUES (?, ?, ?, ?, ?, 0)
ON CONFLICT (game, role) DO UPDATE
SET id = excluded.id, hash = excluded.hash, player = excluded.player, revoked = 0"""
_FIND = "SELECT game, role, player, id, hash FROM tokens WHERE id = ? AND revoked = 0"
_NAME = "INSERT INTO people (player, name) VALUES (?, ?) ON CONFLICT (player) DO UPDATE SET name = excluded.name"
_REDEEM = "DELETE FROM tickets WHERE id = ? RETURNING hash, token, until"
_INVITE = "INSERT INTO invitations VALUES (?, ?) ON CONFLICT (game) DO UPDATE SET hash = excluded.hash"
_KEEP = "INSERT INTO texts (hash, player, salt, said) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"


@dataclass(frozen=True)
class Principal:
    """Who asks: a seat or the director of one game, and the person behind it."""

    game: str
    role: Role
    player: str
    token: str
    """The token's id, which opens nothing."""

    @property
    def seat(self) -> Seat | None:
        """The seat, None for the director."""
        return self.role if isinstance(self.role, int) else None

    @property
    def viewer(self) -> Viewer:
        """Whose board is shown. A director sees what everybody sees: a look at what is hidden would be an act."""
        return PUBLIC if self.seat is None else self.seat


def new_player() -> str:
    """An id for a person: random, and nothing else is known from it."""
    return secrets.token_hex(8)


def _hash(text: str) -> str:
    # The secret has 256 bits of chance: there is nothing to guess, so a slow hash would only slow down.
    return hashlib.sha256(text.encode()).hexdigest()


def _made(prefix: str) -> tuple[str, str]:
    """A new id, and the text that holds it and its secret."""
    id_ = secrets.token_hex(8)
    return id_, f"{prefix}_{id_}_{secrets.token_urlsafe(32)}"


def _now() -> int:
    return int(time.time())


class Access:
    """Tokens, people and tickets; may raise StoreUnavailable. `now` gives seconds since 1970."""

    def __init__(self, database: Database, now: Callable[[], int] = _now) -> None:
        self._database, self._now = database, now

    def migrate(self) -> None:
        """Create the tables that are missing. May be run any number of times, also by several at once."""
        create(self._database, _TABLES)

    # --- tokens

    def issue(self, game: str, role: Role, player: str, name: str = "") -> str:
        """A token for a seat or the director of a game; shown once. It replaces the role's token before it."""
        id_, token = _made("anl")
        self._database.execute(_ISSUE, (game, str(role), id_, _hash(token), player))
        if name:
            self._database.execute(_NAME, (player, name))
        return token

    def authenticate(self, token: str) -> Principal | None:
        """Who holds this token; None for one that was never issued, was replaced or revoked."""
        found = _SHAPE.fullmatch(token)
        return self._find(found[1], _hash(token)) if found else None

    def _find(self, id_: str, hashed: str | None = None) -> Principal | None:
        for game, role, player, known, kept in self._database.execute(_FIND, (id_,)):
            if hashed is None or hmac.compare_digest(kept, hashed):
                return Principal(game, DIRECTOR if role == DIRECTOR else int(role), player, known)
        return None

    def current(self, principal: Principal) -> bool:
        """Whether the token of that principal still opens anything; long streams ask now and then."""
        return self._find(principal.token) is not None

    def holder(self, game: str, role: Role) -> str:
        """The id of the role's token, empty if none was issued: what is revoked later is this one and no other."""
        rows = self._database.execute("SELECT id FROM tokens WHERE game = ? AND role = ?", (game, str(role)))
        return str(rows[0][0]) if rows else ""

    def revoke(self, token: str) -> None:
        """The token with that id opens nothing any more."""
        self._database.execute("UPDATE tokens SET revoked = 1 WHERE id = ?", (token,))

    # --- tickets and cookies

    def ticket(self, principal: Principal) -> str:
        """A ticket that opens one stream within a minute, for clients that cannot send a header."""
        return self._admitted("ant", principal, TICKET_SECONDS)

    def cookie(self, principal: Principal) -> str:
        """What opens streams for a while, as often as it is shown: for pages of our own."""
        return self._admitted("anc", principal, COOKIE_SECONDS)

    def _admitted(self, prefix: str, principal: Principal, seconds: int) -> str:
        id_, text = _made(prefix)
        now = self._now()
        self._database.execute("DELETE FROM tickets WHERE until < ?", (now,))
        row = (id_, _hash(text), principal.token, now + seconds)
        self._database.execute("INSERT INTO tickets VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
        return text

    def shown(self, cookie: str) -> Principal | None:
        """Who asked for the cookie; None once it is too old, was taken back, or the token behind it is gone."""
        found = _COOKIE.fullmatch(cookie)
        rows = "SELECT hash, token, until FROM tickets WHERE id = ?"
        for kept, token, until in self._database.execute(rows, (found[1],)) if found else ():
            if hmac.compare_digest(kept, _hash(cookie)) and self._now() <= until:
                return self._find(token)
        return None

    def take_back(self, principal: Principal) -> None:
        """All tickets and cookies of that token open nothing any more."""
        self._database.execute("DELETE FROM tickets WHERE token = ?", (principal.token,))

    def redeem(self, ticket: str) -> Principal | None:
        """Who asked for the ticket; None the second time, after a minute, or once the token behind it is gone."""
        found = _TICKET.fullmatch(ticket)
        for kept, token, until in self._database.execute(_REDEEM, (found[1],)) if found else ():
            if hmac.compare_digest(kept, _hash(ticket)) and self._now() <= until:
                return self._find(token)
        return None

    # --- invitations

    def invite(self, game: str) -> str:
        """The secret that lets people take a seat at this table; it replaces the one before it."""
        secret = secrets.token_urlsafe(24)
        self._database.execute(_INVITE, (game, _hash(secret)))
        return secret

    def invited(self, game: str, secret: str) -> bool:
        """Whether that secret lets people take a seat."""
        rows = self._database.execute("SELECT hash FROM invitations WHERE game = ?", (game,))
        return any(hmac.compare_digest(kept, _hash(secret)) for (kept,) in rows)

    # --- people

    def names(self, players: Iterable[str]) -> dict[str, str]:
        """What these people are called; those who gave no name, or had it erased, are left out."""
        asked = sorted(set(players))
        if not asked:
            return {}
        marks = ", ".join("?" * len(asked))
        found = self._database.execute(
            f"SELECT player, name FROM people WHERE player IN ({marks})",  # noqa: S608 - question marks only
            asked,
        )
        return {player: name for player, name in found}  # noqa: C416 - rows of two

    def forget(self, player: str) -> None:
        """Erase a person's name and texts. Games go on under the opaque id, hashes of texts stay in records."""
        self._database.execute("DELETE FROM people WHERE player = ?", (player,))
        self._database.execute("DELETE FROM texts WHERE player = ?", (player,))

    def keep(self, player: str, said: str) -> str:
        """Keep a person's text; returns the salted hash that stands for it in a record."""
        salt = secrets.token_hex(16)
        hashed = _hash(salt + said)
        self._database.execute(_KEEP, (hashed, player, salt, said))
        return hashed

    def said(self, hashed: str) -> str | None:
        """The text behind a hash; None once it is erased."""
        rows = self._database.execute("SELECT said FROM texts WHERE hash = ?", (hashed,))
        return str(rows[0][0]) if rows else None
