"""Tokens of seats and directors, and invitations to tables.

These are ordinary tables of the ledger's database. Only hashes of secrets are stored, so stored rows grant no access.

A token, a name or an invitation that belongs to a record is written in the record's own transaction, by statements
made here. A repeated request writes nothing: its token is derived from it again.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from domain.service import (
    agent_seats,
    event_announcements,
    event_people,
    hidden_players,
    officer_rows,
    player_texts,
    stream_tickets,
    substitute_offers,
)
from domain.service.agent_seats import AgentSeats
from domain.service.database import Database, Statement, create_tables, placeholders
from domain.service.event_announcements import EventAnnouncements
from domain.service.event_people import EventPeople
from domain.service.hidden_players import HiddenPlayers
from domain.service.keyring import Keyring
from domain.service.officer_rows import OfficerRows
from domain.service.player_texts import PlayerTexts
from domain.service.principals import Principal, Role, parse_role
from domain.service.stream_tickets import StreamTickets
from domain.service.substitute_offers import SubstituteOffers
from domain.service.token_text import encode_bytes, format_token, hash_secret, token_id
from domain.types import DIRECTOR

_SHAPE = re.compile(r"anl_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")

_TABLES = (
    """CREATE TABLE IF NOT EXISTS tokens (
  game TEXT NOT NULL, role TEXT NOT NULL, id TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, player TEXT NOT NULL,
  revoked INTEGER NOT NULL, PRIMARY KEY (game, role))""",
    "CREATE TABLE IF NOT EXISTS invitations (game TEXT PRIMARY KEY, hash TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS tokens_player ON tokens (player)",
)
# One live token for each role at a table: a takeover of a seat revokes the old token in the same statement.
_ISSUE = """
INSERT INTO tokens (game, role, id, hash, player, revoked) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (game, role) DO UPDATE
SET id = excluded.id, hash = excluded.hash, player = excluded.player, revoked = excluded.revoked"""

_CLAIM = "UPDATE tokens SET revoked = 3 WHERE player = ? AND revoked <> 1"
# 1: revoked; 2: reissued by a director, who may have kept a copy; 3: invalid, the role belongs to an account.
_REPLACE = "UPDATE tokens SET id = ?, hash = ?, revoked = 2 WHERE game = ? AND role = ?"
_REVOKE = "UPDATE tokens SET revoked = 1 WHERE game = ? AND role = ?"
_INVITE = "INSERT INTO invitations VALUES (?, ?) ON CONFLICT (game) DO UPDATE SET hash = excluded.hash"


def _select_roles(condition: str) -> str:
    """Return a query for roles by an SQL condition; give its values twice. Of several offices the highest is first.

    Whoever has the director's token owns the table. Other officers have no token: an account acts for them.
    """
    owner = "CASE WHEN role = 'director' THEN 'owner' ELSE '' END"
    return f"""SELECT game, role, player, id, hash, revoked, {owner} FROM tokens WHERE revoked <> 1 AND {condition}
UNION ALL SELECT game, 'director', player, id, '', 3, office FROM officers WHERE {condition} ORDER BY 2, 7 DESC"""  # noqa: S608 - question marks only


@dataclass(frozen=True)
class IssuedToken:
    """Ids and secrets for a request that opens a game or takes a seat; only its response shows them."""

    game: str
    """An id for the game, if the request opens one."""
    player: str
    """An opaque id for the person."""
    token: str = field(repr=False)
    invitation: str = field(repr=False)


def _now() -> int:
    return int(time.time())


class SeatTokens:
    """Tables of tokens and invitations. Every method may raise StoreUnavailable.

    `keys` derive ids and secrets from requests, `now` returns seconds since 1970. `tickets` holds the tickets of
    streams, `texts` the names and texts of players, `officers` the rows of officers,
    `substitutes` the questions to people, `event_people` the offers and codes of events,
    `announcements` the words of their officers, `hidden_players` the ids of tables that hide their names,
    `agent_seats` the seats played by agents.
    """

    def __init__(self, database: Database, keys: Keyring, now: Callable[[], int] = _now) -> None:
        self._database, self._keys = database, keys
        self.tickets = StreamTickets(database, self._find, now)
        self.texts = PlayerTexts(database)
        self.officers = OfficerRows(database)
        self.substitutes = SubstituteOffers(database)
        self.event_people = EventPeople(database)
        self.announcements = EventAnnouncements(database)
        self.hidden_players = HiddenPlayers(database)
        self.agent_seats = AgentSeats(database)

    def migrate(self) -> None:
        """Create missing tables. Safe to repeat, and to run in several processes at once."""
        people = (player_texts, hidden_players, officer_rows, substitute_offers, event_people)
        others = (*people, stream_tickets, event_announcements, agent_seats)
        create_tables(self._database, (*_TABLES, *(statement for other in others for statement in other.TABLES)))

    # --- requests

    def command_id(self, *request: str) -> str:
        """Return the id of a command with an idempotency key: 40 hex digits that do not reveal the key."""
        return self._derive("command", request, 20).hex()

    def fingerprint(self, *request: str) -> str:
        """Return the fingerprint of a request: 64 hex digits that reveal nothing of it."""
        return self._derive("fingerprint", request, 32).hex()

    def make_token(self, *request: str) -> IssuedToken:
        """Return the ids and secrets for a request, the same for a repeated one; random ones without a request."""
        game, player, token, invitation = (
            self._derive(use, request, size) if request else secrets.token_bytes(size)
            for use, size in (("game", 16), ("player", 8), ("token", 40), ("invitation", 24))
        )
        game_id = str(UUID(bytes=game, version=4))
        return IssuedToken(game_id, player.hex(), format_token("anl", token)[1], encode_bytes(invitation))

    def _derive(self, use: str, request: Iterable[str], size: int) -> bytes:
        message = json.dumps([use, *request]).encode()
        key = self._keys.request_key()
        return b"".join(hmac.digest(key, bytes([n]) + message, "sha256") for n in range(2))[:size]

    # --- tokens

    def issue(
        self, game: str, role: Role, player: str, token: str, name: str = "", *, account: bool = False
    ) -> list[Statement]:
        """Return statements that make `token` the only valid one of that role, and store the player's name.

        For an account the token is stored as invalid: the account's own sessions and tokens grant access.
        """
        row = (game, str(role), token_id(token), hash_secret(token), player, 3 if account else 0)
        return [(_ISSUE, row), *(self.texts.set_name(player, name) if name else [])]

    def claim(self, player: str) -> list[Statement]:
        """Return statements that move a player's roles to an account: their tokens become invalid."""
        return [(_CLAIM, (player,))]

    def replace(self, game: str, role: Role, token: str) -> list[Statement]:
        """Return statements that replace the role's token with a lent one."""
        return [(_REPLACE, (token_id(token), hash_secret(token), game, str(role)))]

    def revoke(self, game: str, role: Role) -> list[Statement]:
        """Return statements that revoke the role's token."""
        return [(_REVOKE, (game, str(role)))]

    def authenticate(self, token: str) -> Principal | None:
        """Return the principal of a token; None if it was never issued, was replaced, revoked or claimed."""
        principal = self.find_bearer(token)
        return None if principal is None or principal.claimed else principal

    def find_bearer(self, token: str) -> Principal | None:
        """Return the principal of a token like `authenticate`, also of one that an account has claimed."""
        match = _SHAPE.fullmatch(token)
        return self._find(match[1], hash_secret(token)) if match else None

    def _find(self, id_: str, hashed: str | None = None) -> Principal | None:
        for game, role, player, stored_id, kept, state, office in self._database.execute(
            _select_roles("id = ?"), (id_, id_)
        ):
            if hashed is None or hmac.compare_digest(kept, hashed):
                lent, claimed = state == 2, state == 3
                return Principal(game, parse_role(role), player, stored_id, lent=lent, claimed=claimed, office=office)
        return None

    def list_roles(self, *players: str) -> dict[str, list[Role]]:
        """Return the roles of a person with these player ids, by game: seats, the director, or both."""
        out: dict[str, list[Role]] = {}
        found = self._database.execute(_select_roles(f"player IN ({placeholders(players)})"), (*players, *players))
        for game, role, *_ in found:
            roles = out.setdefault(game, [])
            roles += [parse_role(role)] if parse_role(role) not in roles else []
        return out

    def list_principals(self, game: str, players: Sequence[str], account: str, credential: str) -> list[Principal]:
        """Return a principal for each role that an account has at a table through its player ids."""
        query = _select_roles(f"game = ? AND player IN ({placeholders(players)})")
        rows = self._database.execute(query, (game, *players) * 2)
        principals = {
            parse_role(role): Principal(
                game, parse_role(role), player, id_, account=account, credential=credential, office=office
            )
            for _, role, player, id_, _, _, office in reversed(rows)
        }
        return list(principals.values())[::-1]

    def find_director(self, game: str) -> str | None:
        """Return the player id of a table's owner, the holder of the director's token."""
        rows = self._database.execute("SELECT player FROM tokens WHERE game = ? AND role = ?", (game, DIRECTOR))
        return str(rows[0][0]) if rows else None

    def list_account_players(self, *games: str) -> list[str]:
        """Return the player ids at these tables with an account, also an erased one."""
        if not games:
            return []
        query = f"SELECT DISTINCT player FROM tokens WHERE game IN ({placeholders(games)}) AND revoked = 3"  # noqa: S608 - question marks only
        rows = self._database.execute(query, games)
        return sorted(str(player) for (player,) in rows)

    def is_owned_by_account(self, game: str) -> bool:
        """Return whether an account owned the table, also an erased one."""
        rows = self._database.execute("SELECT revoked FROM tokens WHERE game = ? AND role = ?", (game, DIRECTOR))
        return any(revoked == 3 for (revoked,) in rows)

    def hand_over(self, game: str, player: str) -> list[Statement]:
        """Return statements to give the table to an account: the token of the former owner opens nothing."""
        token = self.make_token().token
        return [*self.issue(game, DIRECTOR, player, token, account=True), *self.officers.dismiss(game, player)]

    def is_current(self, principal: Principal) -> bool:
        """Return whether the principal still has its role; long streams check it now and then."""
        current = self._find(principal.token)
        return current is not None and (not current.claimed or bool(principal.account))

    # --- invitations

    def set_invitation(self, game: str, secret: str) -> list[Statement]:
        """Return statements that make `secret` the only invitation to this table."""
        return [(_INVITE, (game, hash_secret(secret)))]

    def is_invitation(self, game: str, secret: str) -> bool:
        """Return whether `secret` is the invitation to this table."""
        rows = self._database.execute("SELECT hash FROM invitations WHERE game = ?", (game,))
        return any(hmac.compare_digest(kept, hash_secret(secret)) for (kept,) in rows)
