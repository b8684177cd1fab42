"""Who may do what: tokens of seats and directors, the people behind them, tickets for streams.

Ordinary tables of the ledger's database. People are opaque ids in records; what they are called, and what they wrote,
stands here alone and can be erased. Of a secret only its hash is kept: what is stored opens nothing.

What a record gives or ends (a token, a name, an invitation) is written in the record's own transaction, as statements
that are made here. A request that is repeated writes nothing: what it was given is derived from it again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from domain.service.database import Database, Statement, create
from domain.service.keyring import Keyring
from domain.types import DIRECTOR, PUBLIC, Seat, Viewer

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
    "CREATE INDEX IF NOT EXISTS tokens_player ON tokens (player)",
    """CREATE TABLE IF NOT EXISTS cards (
  game TEXT PRIMARY KEY, player TEXT NOT NULL, title TEXT NOT NULL, note TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS streams (
  hash TEXT PRIMARY KEY, token TEXT NOT NULL, browser TEXT NOT NULL, until BIGINT)""",
)
# One live token for each role at a table: who takes a seat over makes the old token worthless in the same statement.
_ISSUE = """
INSERT INTO tokens (game, role, id, hash, player, revoked) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (game, role) DO UPDATE
SET id = excluded.id, hash = excluded.hash, player = excluded.player, revoked = excluded.revoked"""
_FIND = "SELECT game, role, player, id, hash, revoked FROM tokens WHERE id = ? AND revoked <> 1"
_ROLES = "SELECT game, role FROM tokens WHERE revoked <> 1 AND player IN "
_HERE = "SELECT role, player, id FROM tokens WHERE game = ? AND revoked <> 1 AND player IN "
_CLAIM = "UPDATE tokens SET revoked = 3 WHERE player = ? AND revoked <> 1"
_NAME = "INSERT INTO people (player, name) VALUES (?, ?) ON CONFLICT (player) DO UPDATE SET name = excluded.name"
_REDEEM = "DELETE FROM tickets WHERE id = ? RETURNING hash, token, until"
# 1: worthless; 2: from a director's hand, who may have kept it; 3: opens nothing, the role is an account's.
_REPLACE = "UPDATE tokens SET id = ?, hash = ?, revoked = 2 WHERE game = ? AND role = ?"
_OPENED = "INSERT INTO streams (hash, token, browser, until) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_AGAIN = "SELECT token, browser, until FROM streams WHERE hash = ?"
_REVOKE = "UPDATE tokens SET revoked = 1 WHERE game = ? AND role = ?"
_INVITE = "INSERT INTO invitations VALUES (?, ?) ON CONFLICT (game) DO UPDATE SET hash = excluded.hash"
_LABEL = """
INSERT INTO cards VALUES (?, ?, ?, ?)
ON CONFLICT (game) DO UPDATE SET player = excluded.player, title = excluded.title, note = excluded.note"""
_KEEP = "INSERT INTO texts (hash, player, salt, said) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"


@dataclass(frozen=True)
class Principal:
    """Who asks: a seat or the director of one game, and the person behind it."""

    game: str
    role: Role
    player: str
    token: str
    """The token's id, which opens nothing."""
    lent: bool = False
    """A director has given it out in place of one that was lost: it opens the seat, and speaks for no person."""
    claimed: bool = False
    """It opens nothing any more: the role is an account's."""
    account: str = ""
    """Whose session or personal token it was that was shown instead of the role's own."""
    credential: str = ""
    """The id of that session or token."""

    @property
    def caller(self) -> str:
        """By whom requests are counted."""
        return self.account or self.token

    @property
    def seat(self) -> Seat | None:
        """The seat, None for the director."""
        return self.role if isinstance(self.role, int) else None

    @property
    def viewer(self) -> Viewer:
        """Whose board is shown. A director sees what everybody sees: a look at what is hidden would be an act."""
        return PUBLIC if self.seat is None else self.seat


@dataclass(frozen=True)
class Grant:
    """What a request that opens a game or takes a seat is given; shown in its answer alone."""

    game: str
    """An id for the game, if it opens one."""
    player: str
    """An id for the person: nothing is known from it."""
    token: str = field(repr=False)
    invitation: str = field(repr=False)


def id_of(token: str) -> str:
    """The token's id, which opens nothing."""
    return token.split("_")[1]


def _hash(text: str) -> str:
    # The secret has 256 bits of chance: there is nothing to guess, so a slow hash would only slow down.
    return hashlib.sha256(text.encode()).hexdigest()


def _text(prefix: str, chance: bytes) -> tuple[str, str]:
    """Of 40 bytes an id, and the text that holds it and its secret."""
    id_ = chance[:8].hex()
    return id_, f"{prefix}_{id_}_{_encoded(chance[8:40])}"


def _encoded(chance: bytes) -> str:
    return urlsafe_b64encode(chance).rstrip(b"=").decode()


def _now() -> int:
    return int(time.time())


def _role(text: str) -> Role:
    return DIRECTOR if text == DIRECTOR else int(text)


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _entry(principal: Principal) -> str:
    """What a ticket or cookie is kept with: by which token it was asked for, and by which credential."""
    return " ".join(filter(None, (principal.token, principal.account, principal.credential)))


class Access:
    """Tokens, people and tickets; may raise StoreUnavailable.

    What is derived from requests, with `keys`, can be derived by nobody else. `now` gives seconds since 1970.
    """

    def __init__(self, database: Database, keys: Keyring, now: Callable[[], int] = _now) -> None:
        self._database, self._keys, self._now = database, keys, now

    def migrate(self) -> None:
        """Create the tables that are missing. May be run any number of times, also by several at once."""
        create(self._database, _TABLES)

    # --- requests

    def named(self, *request: str) -> str:
        """The id of a command that was asked for with a key: 40 hex digits, from which nobody can guess the key."""
        return self._derived("command", request, 20).hex()

    def grant(self, *request: str) -> Grant:
        """What such a request is given, the same whenever it is repeated; without a request by chance."""
        game, player, token, invitation = (
            self._derived(use, request, size) if request else secrets.token_bytes(size)
            for use, size in (("game", 16), ("player", 8), ("token", 40), ("invitation", 24))
        )
        return Grant(str(UUID(bytes=game, version=4)), player.hex(), _text("anl", token)[1], _encoded(invitation))

    def _derived(self, use: str, request: Iterable[str], size: int) -> bytes:
        asked = json.dumps([use, *request]).encode()
        key = self._keys.requests()
        return b"".join(hmac.digest(key, bytes([n]) + asked, "sha256") for n in range(2))[:size]

    # --- tokens

    def issued(
        self, game: str, role: Role, player: str, token: str, name: str = "", *, account: bool = False
    ) -> list[Statement]:
        """To be written with the record: the token opens that seat or the director's place, and no other one does.

        An account's opens nothing: the account's own sessions and tokens do.
        """
        row = (game, str(role), id_of(token), _hash(token), player, 3 if account else 0)
        return [(_ISSUE, row), *(self.called(player, name) if name else [])]

    def called(self, player: str, name: str) -> list[Statement]:
        """To be written with what names the person."""
        return [(_NAME, (player, name))]

    def claimed(self, player: str) -> list[Statement]:
        """To be written with the claim: what that person has at tables opens to the account alone."""
        return [(_CLAIM, (player,))]

    def forgotten(self, player: str) -> list[Statement]:
        """To be written with whatever erases the person: neither name nor texts are kept."""
        tables = ("people", "texts", "cards")
        return [(f"DELETE FROM {table} WHERE player = ?", (player,)) for table in tables]  # noqa: S608 - our own names

    def replaced(self, game: str, role: Role, token: str) -> list[Statement]:
        """To be written with the record: whoever has the role has this token, lent, in place of the one before."""
        return [(_REPLACE, (id_of(token), _hash(token), game, str(role)))]

    def ended(self, game: str, role: Role) -> list[Statement]:
        """To be written with the record: whatever token the role has opens nothing any more."""
        return [(_REVOKE, (game, str(role)))]

    def authenticate(self, token: str) -> Principal | None:
        """Who holds this token; None for one that was never issued, was replaced or revoked, or is an account's now."""
        found = self.bearer(token)
        return None if found is None or found.claimed else found

    def bearer(self, token: str) -> Principal | None:
        """The same, also of a token that an account has claimed: it may be shown for that again."""
        found = _SHAPE.fullmatch(token)
        return self._find(found[1], _hash(token)) if found else None

    def _find(self, id_: str, hashed: str | None = None) -> Principal | None:
        for game, role, player, known, kept, state in self._database.execute(_FIND, (id_,)):
            if hashed is None or hmac.compare_digest(kept, hashed):
                return Principal(game, _role(role), player, known, lent=state == 2, claimed=state == 3)
        return None

    def roles(self, *players: str) -> dict[str, list[Role]]:
        """Game -> what a person, by any of these ids, is there: seats, the director, or both."""
        out: dict[str, list[Role]] = {}
        for game, role in self._database.execute(f"{_ROLES}({_marks(players)}) ORDER BY role", players):
            out.setdefault(game, []).append(_role(role))
        return out

    def here(self, game: str, players: Sequence[str], account: str, credential: str) -> list[Principal]:
        """All that an account is at a table, by the ids that it has."""
        rows = self._database.execute(f"{_HERE}({_marks(players)}) ORDER BY role", (game, *players))
        return [Principal(game, _role(r), p, id_, account=account, credential=credential) for r, p, id_ in rows]

    def director(self, game: str) -> str | None:
        """The player who directs a table."""
        rows = self._database.execute("SELECT player FROM tokens WHERE game = ? AND role = ?", (game, DIRECTOR))
        return str(rows[0][0]) if rows else None

    def current(self, principal: Principal) -> bool:
        """Whether that principal still has its role; long streams ask now and then."""
        found = self._find(principal.token)
        return found is not None and (not found.claimed or bool(principal.account))

    # --- tickets and cookies

    def ticket(self, principal: Principal) -> str:
        """A ticket that opens one stream within a minute, for clients that cannot send a header."""
        return self._admitted("ant", principal, TICKET_SECONDS)

    def cookie(self, principal: Principal) -> str:
        """What opens streams for a while, as often as it is shown: for pages of our own."""
        return self._admitted("anc", principal, COOKIE_SECONDS)

    def _admitted(self, prefix: str, principal: Principal, seconds: int) -> str:
        id_, text = _text(prefix, secrets.token_bytes(40))
        now = self._now()
        self._database.execute("DELETE FROM tickets WHERE until < ?", (now,))
        row = (id_, _hash(text), _entry(principal), now + seconds)
        self._database.execute("INSERT INTO tickets VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
        return text

    def shown(self, cookie: str) -> Principal | None:
        """Who asked for the cookie; None once it is too old, was taken back, or the token behind it is gone."""
        found = _COOKIE.fullmatch(cookie)
        rows = "SELECT hash, token, until FROM tickets WHERE id = ?"
        for kept, entry, until in self._database.execute(rows, (found[1],)) if found else ():
            if hmac.compare_digest(kept, _hash(cookie)) and self._now() <= until:
                return self._behind(entry)
        return None

    def take_back(self, principal: Principal) -> None:
        """All tickets and cookies of that token open nothing any more."""
        for table in ("tickets", "streams"):
            self._database.execute(f"DELETE FROM {table} WHERE token = ?", (_entry(principal),))  # noqa: S608 - our names

    def redeem(self, ticket: str, browser: str = "", *, again: bool = False) -> Principal | None:
        """Who asked for the ticket; None the second time, after a minute, or once the token behind it is gone.

        `again`: a stream that has broken; the browser (where and what it is) that opened it opens it once more.
        """
        found, now = _TICKET.fullmatch(ticket), self._now()
        hashed, seen = _hash(ticket), _hash(browser)
        for kept, entry, until in self._database.execute(_REDEEM, (found[1],)) if found else ():
            if hmac.compare_digest(kept, hashed) and now <= until:
                self._database.execute("DELETE FROM streams WHERE until < ?", (now,))
                self._database.execute(_OPENED, (kept, entry, seen, now + COOKIE_SECONDS))
                return self._behind(entry)
        for entry, by, until in self._database.execute(_AGAIN, (hashed,)) if again else ():
            if hmac.compare_digest(by, seen) and now <= until:
                return self._behind(entry)
        return None

    def _behind(self, entry: str) -> Principal | None:
        """Who asked for a ticket or cookie, if their token still opens anything; an account's may have ended."""
        token, account, credential = (*entry.split(" "), "", "")[:3]
        found = self._find(token)
        if found is None or (found.claimed and not account):
            return None
        return replace(found, account=account, credential=credential)

    # --- invitations

    def invites(self, game: str, secret: str) -> list[Statement]:
        """To be written with the record: that secret, and none before it, lets people take a seat at this table."""
        return [(_INVITE, (game, _hash(secret)))]

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
        found = self._database.execute(
            f"SELECT player, name FROM people WHERE player IN ({_marks(asked)})",  # noqa: S608 - question marks only
            asked,
        )
        return {player: name for player, name in found}  # noqa: C416 - rows of two

    def forget(self, player: str) -> None:
        """Erase a person's name and texts. Games go on under the opaque id, hashes of texts stay in records."""
        for statement, params in self.forgotten(player):
            self._database.execute(statement, params)
        self._database.wipe()

    def keep(self, player: str, said: str) -> str:
        """Keep a person's text; returns the salted hash that stands for it in a record."""
        salt = secrets.token_hex(16)
        hashed = _hash(salt + said)
        self._database.execute(_KEEP, (hashed, player, salt, said))
        return hashed

    def texts(self, players: Sequence[str]) -> list[str]:
        """All that a person, by any of these ids, has written."""
        mine = f"WHERE player IN ({_marks(players)})"
        rows = self._database.execute(f"SELECT said FROM texts {mine}", players)  # noqa: S608 - question marks only
        rows += self._database.execute(f"SELECT title FROM cards {mine}", players)  # noqa: S608 - question marks only
        rows += self._database.execute(f"SELECT note FROM cards {mine}", players)  # noqa: S608 - question marks only
        return [str(said) for (said,) in rows if said]

    # --- cards of tables

    def label(self, game: str, player: str, title: str, note: str) -> None:
        """What a table is called and what is said of it, by that person; nothing if both are empty."""
        if title or note:
            self._database.execute(_LABEL, (game, player, title, note))
        else:
            self._database.execute("DELETE FROM cards WHERE game = ?", (game,))

    def cards(self, games: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Game -> title and note, of those that have any."""
        if not games:
            return {}
        rows = self._database.execute(
            f"SELECT game, title, note FROM cards WHERE game IN ({_marks(games)})",  # noqa: S608 - question marks only
            games,
        )
        return {game: (title, note) for game, title, note in rows}

    def said(self, hashed: str) -> str | None:
        """The text behind a hash; None once it is erased."""
        rows = self._database.execute("SELECT said FROM texts WHERE hash = ?", (hashed,))
        return str(rows[0][0]) if rows else None
