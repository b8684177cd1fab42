"""Accounts: names, player ids, roles and standing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from domain.accounts.account_names import fold_name, fold_name_as_before
from domain.accounts.account_tables import DAY, AccountTable, delete_oauth_rows, insert_recovery_codes, write
from domain.errors import AccountError, CommandReused
from domain.service.database import Execute, Row, Statement, placeholders
from domain.service.hidden_players import HiddenPlayers, is_shown
from domain.service.idempotency_keys import IdempotencyKey, bind_key
from domain.service.token_text import encode_bytes, hash_secret

ROLES = ("member", "moderator", "admin")
"""Rising roles: each includes the rights of those before it."""

STATES = ("active", "suspended", "banned", "erased")

FREED = 90 * DAY
"""Time (ms) for which an abandoned name is reserved."""

MOST_PLAYERS = 500
"""Guests claimed by one account, and its tables with hidden names, at most."""

_COLUMNS = "a.id, a.name, a.player, a.state, a.until, a.role, a.bot, a.made"
_SELECT = f"SELECT {_COLUMNS} FROM accounts a WHERE "  # noqa: S608 - our own names
_BY_KEY = "a.id = (SELECT account FROM account_names WHERE key = ? AND until = 0) AND a.state <> 'erased'"
_WITH_PLAYER = f"SELECT p.player, {_COLUMNS} FROM account_players p JOIN accounts a ON a.id = p.account"  # noqa: S608 - our own names
_BY_HOLDER = "a.id = (SELECT account FROM account_players WHERE player = ?)"
_BY_PLAYER = f"a.id = (SELECT account FROM account_players p WHERE p.player = ? AND {is_shown('p.player')})"  # noqa: S608 - our own names
_PLAYERS = "SELECT player FROM account_players WHERE account = ? ORDER BY since, player"
_HELD = "SELECT account FROM account_names WHERE key = ? AND (until = 0 OR until > ?)"
_OPEN = "INSERT INTO accounts VALUES (?, ?, ?, 'active', 0, 'member', ?, ?, ?)"
_CALL = """
INSERT INTO account_names VALUES (?, ?, ?, ?, 0)
ON CONFLICT (key, account, since) DO UPDATE SET name = excluded.name, until = 0"""

ExtraStatements = Callable[[Sequence[str]], Sequence[Statement]]
"""Returns statements to run with a change of an account, given its player ids at that moment."""


def no_statements(_: Sequence[str]) -> Sequence[Statement]:
    """Return no statements."""
    return ()


@dataclass(frozen=True)
class Account:
    """A person, or a bot of one."""

    id: str
    name: str
    player: str
    """Player id of the account in new records."""
    state: str
    until: int
    """End of a suspension, ms."""
    role: str
    bot: bool
    made: int

    def has_role(self, role: str) -> bool:
        """Return whether an active account has this role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role) and self.state == "active"

    def outranks(self, other: Account) -> bool:
        """Return whether its role is higher than the other's."""
        return ROLES.index(self.role) > ROLES.index(other.role)


@dataclass(frozen=True)
class AccountRegistration:
    """A request for an account."""

    name: str
    hashed: str = field(repr=False)
    """Hash of the password."""
    codes: Sequence[str] = field(repr=False)
    """Hashes of the recovery codes."""
    bot: bool = False
    invitation: str = field(default="", repr=False)
    request: tuple[str, ...] = field(default=(), repr=False)
    """Key and contents of a repeatable request; empty for any other."""


_AT_ONCE = 500
"""Player ids in one query."""


class Accounts(AccountTable):
    """The tables of accounts and names. Every method may raise StoreUnavailable."""

    # --- finding

    def find(self, account: str) -> Account | None:
        """Return the account with that id, erased ones included."""
        return self._find_one("a.id = ?", account)

    def find_by_name(self, name: str) -> Account | None:
        """Return the account with that name or a confusable one.

        The key of an earlier version goes first: two names with different ones stay two.
        """
        found = (self._find_one(_BY_KEY, key) for key in self._list_name_keys(name))
        return next((account for account in found if account), None)

    def _list_name_keys(self, name: str) -> list[str]:
        """Return the possible keys of a stored name: the one of an earlier version, and the present one."""
        return list(dict.fromkeys([self._keyed_hash("name", fold_name_as_before(name)), self.name_key(name)]))

    def find_by_player(self, player: str) -> Account | None:
        """Return the account of a player id, or None for a guest's and while a table hides its names."""
        return self._find_one(_BY_PLAYER, player)

    def find_holder(self, player: str) -> Account | None:
        """Return the same, also of a table with hidden names: for acts on the holder, and never for an answer."""
        return self._find_one(_BY_HOLDER, player)

    def is_active(self, player: str) -> bool:
        """Return whether a player id is that of an account in good standing."""
        account = self.find_by_player(player)
        return account is not None and account.state == "active"

    def list_inactive(self, players: Sequence[str]) -> set[str]:
        """Return those of these player ids without an account in good standing."""
        active = set[str]()
        for start in range(0, len(players), _AT_ONCE):
            some = players[start : start + _AT_ONCE]
            query = f"{_WITH_PLAYER} WHERE p.player IN ({placeholders(some)})"
            rows = self._database.execute(query, some)
            active |= {str(row[0]) for row in rows if self._parse_account(row[1:]).state == "active"}
        return {*players} - active

    def list_by_role(self, role: str) -> list[Account]:
        """Return the accounts with that role, by name."""
        return self._list_by_role(self._database.execute, role)

    def _list_by_role(self, execute: Execute, role: str) -> list[Account]:
        return [self._parse_account(row) for row in execute(_SELECT + "a.role = ? ORDER BY a.name", (role,))]

    def _find_one(self, where: str, *params: object) -> Account | None:
        return next((self._parse_account(row) for row in self._database.execute(_SELECT + where, params)), None)

    def _parse_account(self, row: Row) -> Account:
        return _parse_account(row, self._now())

    def name_key(self, name: str) -> str:
        """Return the stored key of a name, unique among accounts; it stays when the name is erased."""
        return self._keyed_hash("name", fold_name(name))

    def list_players(self, account: str) -> list[str]:
        """Return the player ids of an account: its own, those of claimed guests, and those of hidden seats."""
        return _list_players(self._database.execute, account)

    def list_alike(self, players: Sequence[str]) -> list[str]:
        """Return these player ids, and all others of the same accounts, those of hidden seats too."""
        if not players:
            return []
        same = f"SELECT account FROM account_players WHERE player IN ({placeholders(players)})"  # noqa: S608 - question marks only
        query = f"SELECT player FROM account_players WHERE account IN ({same})"  # noqa: S608 - question marks only
        return sorted({*players, *(str(player) for (player,) in self._database.execute(query, players))})

    def list_shown_alike(self, players: Sequence[str]) -> list[str]:
        """Return the same without the ids of hidden seats, given or found: for acts on others, which would tell."""
        hidden = HiddenPlayers(self._database)
        return hidden.list_shown(self.list_alike(hidden.list_shown(players)))

    def list_people(self, players: Sequence[str]) -> dict[str, str]:
        """Return people's own ids among these player ids, with their names; empty names of erased ones."""
        named = dict[str, str]()
        for start in range(0, len(players), _AT_ONCE):
            some = players[start : start + _AT_ONCE]
            query = f"SELECT player, name FROM accounts WHERE bot = 0 AND player IN ({placeholders(some)})"  # noqa: S608 - question marks only
            named |= {str(player): str(name) for player, name in self._database.execute(query, some)}
        return named

    def last_use(self, account: str) -> int:
        """Return the time of the last use of the account's credentials, to within ten minutes, ms."""
        tables = ("sessions", "personal_tokens", "oauth_grants")
        query = " UNION ALL ".join(f"SELECT MAX(used) FROM {table} WHERE account = ?" for table in tables)  # noqa: S608 - our own names
        times = [used for (used,) in self._database.execute(query, (account,) * len(tables)) if used]
        made = [made for (made,) in self._database.execute("SELECT made FROM accounts WHERE id = ?", (account,))]
        return max([*times, *made], default=0)

    def list_names(self, account: str) -> list[tuple[str, int, int]]:
        """Return all names of an account with start and end, ms; the present one ends at 0."""
        rows = self._database.execute(
            "SELECT name, since, until FROM account_names WHERE account = ? ORDER BY since", (account,)
        )
        return [(str(name), int(since), int(until)) for name, since, until in rows]

    # --- opening, and what it is called

    def make_id(self, *request: str) -> str:
        """Return the id of the account opened by a request; a random one without a request."""
        return self._derive_bytes(request, "account", 8).hex()

    def open(
        self,
        id_: str,
        registration: AccountRegistration,
        extra_statements: Sequence[Statement] = (),
        key: IdempotencyKey | None = None,
    ) -> tuple[Account, bool]:
        """Store an account; return it, and False if a repeated request found it.

        Raises AccountError for a taken name or an invalid invitation, and CommandReused.
        """
        mark = self._keyed_hash("request", *registration.request) if registration.request else ""

        def work(execute: Execute) -> bool:
            bind_key(execute, key)
            for (before,) in execute("SELECT request FROM accounts WHERE id = ?", (id_,)):
                if not mark or before != mark:
                    raise CommandReused(id_)
                return False
            if registration.invitation:
                self._use_invitation(execute, registration.invitation)
            at, player = self._now(), self.derive_player(id_)
            self._reserve_name(execute, id_, registration.name, at)
            execute(_OPEN, (id_, registration.name, player, int(registration.bot), at, mark))
            execute("INSERT INTO account_players VALUES (?, ?, ?)", (player, id_, at))
            execute("INSERT INTO factors VALUES (?, 'password', '', ?, ?)", (id_, registration.hashed, at))
            write(execute, insert_recovery_codes(id_, registration.codes, at))
            write(execute, extra_statements)
            return True

        is_new = self._in_transaction(work)
        account = self.find(id_)
        if account is None:
            raise AccountError("unknown_account")
        return account, is_new

    def derive_player(self, account: str) -> str:
        """Return an account's own player id; neither id reveals the other."""
        return self._keyed_hash("player", account)[:16]

    def rename(self, account: str, name: str, extra_statements: ExtraStatements = no_statements) -> None:
        """Change an account's name; raise AccountError if another account has it, or had it until lately."""

        def work(execute: Execute) -> None:
            at = self._now()
            if execute("SELECT 1 FROM accounts WHERE id = ? AND name = ?", (account, name)):
                return
            execute("UPDATE account_names SET until = ? WHERE account = ? AND until = 0", (at, account))
            self._reserve_name(execute, account, name, at)
            execute("UPDATE accounts SET name = ? WHERE id = ?", (name, account))
            write(execute, extra_statements(_list_players(execute, account)))

        self._for_account(account, work)

    def _reserve_name(self, execute: Execute, account: str, name: str, at: int) -> None:
        execute("DELETE FROM account_names WHERE account = '' AND until < ?", (at - FREED,))
        for key in self._list_name_keys(name):
            if any(holder != account for (holder,) in execute(_HELD, (key, at - FREED))):
                raise AccountError("name_taken", "This name, or one that looks like it, is taken.")
        execute(_CALL, (self.name_key(name), account, name, at))

    # --- guests, and seats of tables with hidden names

    def add_player(self, account: str, player: str) -> Statement:
        """Return a statement to give an account one more player id."""
        return "INSERT INTO account_players VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (player, account, self._now())

    def claim(
        self, account: str, player: str, extra_statements: Sequence[Statement], once: Sequence[Statement] = ()
    ) -> bool:
        """Add a guest's player id to an account; return whether it is new. Raises AccountError.

        `extra_statements` run with every claim, since the guest may have taken a seat meanwhile; `once` with the first
        only.
        """

        def work(execute: Execute) -> bool:
            for (holder,) in execute("SELECT account FROM account_players WHERE player = ?", (player,)):
                if holder != account:
                    raise AccountError("not_claimable")
                write(execute, extra_statements)
                return False
            if len(_list_players(execute, account)) > MOST_PLAYERS:
                raise AccountError("too_many", "This account has claimed as many guests as it can.")
            execute("INSERT INTO account_players VALUES (?, ?, ?)", (player, account, self._now()))
            write(execute, [*extra_statements, *once])
            return True

        return self._for_account(account, work)

    # --- what it may

    def set_state(
        self, account: str, state: str, until: int, extra_statements: Sequence[Statement], by: str = ""
    ) -> None:
        """Suspend, ban or reinstate an account, unless it is erased.

        Raises AccountError unless the role of the account `by` is higher; it is empty for the operator.
        """
        statement = "UPDATE accounts SET state = ?, until = ? WHERE id = ? AND state <> 'erased'"
        self.judge(account, [(statement, (state, until, account)), *extra_statements], by)

    def judge(self, account: str, statements: Sequence[Statement], by: str = "") -> None:
        """Run statements about the standing of an account.

        Raises AccountError unless the role of the account `by` is higher; it is empty for the operator.
        """

        def work(execute: Execute) -> None:
            judge, judged = (
                require_account_role(execute, by, "moderator", self._now()),
                self._find_current(execute, account),
            )
            if judge and judged and not judge.outranks(judged):
                raise AccountError("role_missing", "This requires a higher role.")
            write(execute, statements)

        self._in_transaction(work)

    def set_role(self, account: str, role: str, extra_statements: Sequence[Statement] = (), by: str = "") -> None:
        """Set the role of an account.

        Raises AccountError if the last administrator would lose the role, and unless the account `by` is an
        administrator; it is empty for the operator.
        """

        def work(execute: Execute) -> None:
            require_account_role(execute, by, "admin", self._now())
            if role != "admin":
                self._check_not_last_admin(execute, account)
            execute("UPDATE accounts SET role = ? WHERE id = ? AND state <> 'erased'", (role, account))
            write(execute, extra_statements)

        self._in_transaction(work)

    def check_not_last_admin(self, account: str) -> None:
        """Raise AccountError for the last administrator: nobody else could administer the service."""
        self._check_not_last_admin(self._database.execute, account)

    def _check_not_last_admin(self, execute: Execute, account: str) -> None:
        staff = self._list_by_role(execute, "admin")
        others = [each for each in staff if each.id != account and each.has_role("admin")]
        if not others and any(each.id == account for each in staff):
            raise AccountError("last_admin")

    def _find_current(self, execute: Execute, account: str) -> Account | None:
        """Return an account as read in an open transaction."""
        return next((self._parse_account(row) for row in execute(_SELECT + "a.id = ?", (account,))), None)

    # --- invitations

    def invite(
        self,
        account: str,
        uses: int,
        until: int,
        extra_statements: Sequence[Statement],
        *request: str,
        key: IdempotencyKey | None = None,
    ) -> str:
        """Return a secret for opening `uses` accounts, the same for the same request, which stores it once.

        Raises AccountError unless the account is an administrator.
        """
        secret = encode_bytes(self._derive_bytes(request, "invitation", 24))
        row = (hash_secret(secret), account, until, uses)
        statement = "INSERT INTO account_invitations VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        old = ("DELETE FROM account_invitations WHERE until < ?", (self._now(),))

        def work(execute: Execute) -> None:
            require_account_role(execute, account, "admin", self._now())
            if not bind_key(execute, key):
                return
            write(execute, [old, (statement, row), *extra_statements])

        self._in_transaction(work)
        return secret

    def _use_invitation(self, execute: Execute, secret: str) -> None:
        statement = (
            "UPDATE account_invitations SET uses = uses - 1 WHERE hash = ? AND uses > 0 AND until > ? RETURNING uses"
        )
        if not execute(statement, (hash_secret(secret), self._now())):
            raise AccountError("not_invited", "The invitation is unknown, used or expired.")

    # --- being forgotten

    def erase(self, account: str, extra_statements: ExtraStatements) -> None:
        """Delete an account's name, credentials and texts; records keep opaque ids, and the name stays reserved.

        Repeat it to scrub the files again. Raises AccountError for the last administrator.
        """
        at = self._now()
        statements: list[Statement] = [
            ("UPDATE accounts SET name = '', state = 'erased', role = 'member', request = '' WHERE id = ?", (account,)),
            ("UPDATE account_names SET until = ? WHERE account = ? AND until = 0", (at, account)),
            ("UPDATE account_names SET name = '', account = '' WHERE account = ?", (account,)),
        ]
        tables = (
            "account_players",
            "factors",
            "sessions",
            "personal_tokens",
            "account_log",
            "reports",
            "account_invitations",
            "account_settings",
            "page_settings",
            "page_visits",
            "imported_games",
            "calendar_keys",
            "blocks",
            "relations",
            "watching",
        )
        statements += [(f"DELETE FROM {table} WHERE account = ?", (account,)) for table in tables]  # noqa: S608 - our names
        statements += delete_oauth_rows(account)

        def work(execute: Execute) -> None:
            self._check_not_last_admin(execute, account)
            write(execute, [*extra_statements(_list_players(execute, account)), *statements])

        self._in_transaction(work)
        self._database.scrub_deleted_pages()


def require_account_role(execute: Execute, account: str, role: str, now: int) -> Account | None:
    """Return the acting account, as read in the open transaction, or None for the operator (an empty id).

    Raises AccountError if it lacks the role.
    """
    if not account:
        return None
    actor = next((_parse_account(row, now) for row in execute(_SELECT + "a.id = ?", (account,))), None)
    if actor is None or not actor.has_role(role):
        raise AccountError("role_missing")
    return actor


def _parse_account(row: Row, now: int) -> Account:
    id_, name, player, state, until, role, bot, made = row
    over = state == "suspended" and until <= now
    return Account(id_, name, player, "active" if over else state, 0 if over else until, role, bool(bot), made)


def _list_players(execute: Callable[[str, Sequence[object]], list[Row]], account: str) -> list[str]:
    return [str(player) for (player,) in execute(_PLAYERS, (account,))]
