"""Accounts: who has one, what it is called, which players of records it is, and what it may not do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from domain.accounts.account_names import folded
from domain.accounts.account_tables import DAY, Rows, delete_oauth_rows, digest, encoded, recovery, write
from domain.errors import AccountError, CommandReused
from domain.service.database import Execute, Row, Statement

ROLES = ("member", "moderator", "admin")
"""Each may do what those before it may."""

STATES = ("active", "suspended", "banned", "erased")

FREED = 90 * DAY
"""For how long a name that was given up is given to nobody else, ms."""

MOST_PLAYERS = 500
"""Guests that one account claims."""

_COLUMNS = "a.id, a.name, a.player, a.state, a.until, a.role, a.bot, a.made"
_SELECT = f"SELECT {_COLUMNS} FROM accounts a WHERE "  # noqa: S608 - our own names
_BY_KEY = "a.id = (SELECT account FROM account_names WHERE key = ? AND until = 0) AND a.state <> 'erased'"
_BY_PLAYER = "a.id = (SELECT account FROM account_players WHERE player = ?)"
_PLAYERS = "SELECT player FROM account_players WHERE account = ? ORDER BY since, player"
_HELD = "SELECT account FROM account_names WHERE key = ? AND (until = 0 OR until > ?)"
_OPEN = "INSERT INTO accounts VALUES (?, ?, ?, 'active', 0, 'member', ?, ?, ?)"
_CALL = """
INSERT INTO account_names VALUES (?, ?, ?, ?, 0)
ON CONFLICT (key, account, since) DO UPDATE SET name = excluded.name, until = 0"""

Beside = Callable[[Sequence[str]], Sequence[Statement]]
"""What is to be written with a change of an account, by the players that it has at that moment."""


def nothing(_: Sequence[str]) -> Sequence[Statement]:
    """Nothing is written beside."""
    return ()


@dataclass(frozen=True)
class Account:
    """A person, or a bot that one answers for."""

    id: str
    name: str
    player: str
    """The id that stands in records of what it plays from now on."""
    state: str
    until: int
    """When a suspension ends, ms."""
    role: str
    bot: bool
    made: int

    def may(self, role: str) -> bool:
        """Whether it has that role, or one above it, and is not kept from using it."""
        return ROLES.index(self.role) >= ROLES.index(role) and self.state == "active"

    def above(self, other: Account) -> bool:
        """Whether its role is above that of another."""
        return ROLES.index(self.role) > ROLES.index(other.role)


@dataclass(frozen=True)
class Opening:
    """A request for an account."""

    name: str
    hashed: str = field(repr=False)
    """Of its password."""
    codes: Sequence[str] = field(repr=False)
    """Hashes of its recovery codes."""
    bot: bool = False
    invitation: str = field(default="", repr=False)
    request: tuple[str, ...] = field(default=(), repr=False)
    """What it can be repeated by: the key, and all that was said; empty for what cannot."""


class Accounts(Rows):
    """May raise StoreUnavailable."""

    # --- finding

    def find(self, account: str) -> Account | None:
        """By its id; erased ones too."""
        return self._one("a.id = ?", account)

    def named(self, name: str) -> Account | None:
        """By what it is called, or anything that people would read as the same."""
        return self._one(_BY_KEY, self.key(name))

    def playing(self, player: str) -> Account | None:
        """Whose a player's id is; None for a guest's."""
        return self._one(_BY_PLAYER, player)

    def staff(self, role: str) -> list[Account]:
        """All who have that role, by name."""
        return self._staff(self._database.execute, role)

    def _staff(self, execute: Execute, role: str) -> list[Account]:
        return [self._account(row) for row in execute(_SELECT + "a.role = ? ORDER BY a.name", (role,))]

    def _one(self, where: str, *params: object) -> Account | None:
        return next((self._account(row) for row in self._database.execute(_SELECT + where, params)), None)

    def _account(self, row: Row) -> Account:
        return _account(row, self._now())

    def key(self, name: str) -> str:
        """What a name is kept as where it may not come twice: it stays when the name itself is erased."""
        return self._mark("name", folded(name))

    def players(self, account: str) -> list[str]:
        """The ids by which records know it: its own, and those that it has claimed."""
        return _players(self._database.execute, account)

    def names(self, account: str) -> list[tuple[str, int, int]]:
        """All that it was called, with when, ms; the last one until 0."""
        rows = self._database.execute(
            "SELECT name, since, until FROM account_names WHERE account = ? ORDER BY since", (account,)
        )
        return [(str(name), int(since), int(until)) for name, since, until in rows]

    # --- opening, and what it is called

    def id_of(self, *request: str) -> str:
        """The id of the account that such a request opens; without a request by chance."""
        return self._chance(request, "account", 8).hex()

    def open(self, id_: str, asked: Opening, beside: Sequence[Statement] = ()) -> tuple[Account, bool]:
        """The account, and whether this made it: a repetition finds it.

        Raises AccountError for a name that is taken or an invitation that is none, and CommandReused.
        """
        mark = self._mark("request", *asked.request) if asked.request else ""

        def work(execute: Execute) -> bool:
            for (before,) in execute("SELECT request FROM accounts WHERE id = ?", (id_,)):
                if not mark or before != mark:
                    raise CommandReused(id_)
                return False
            if asked.invitation:
                self._admit(execute, asked.invitation)
            at, player = self._now(), self.player_of(id_)
            self._name(execute, id_, asked.name, at)
            execute(_OPEN, (id_, asked.name, player, int(asked.bot), at, mark))
            execute("INSERT INTO account_players VALUES (?, ?, ?)", (player, id_, at))
            execute("INSERT INTO factors VALUES (?, 'password', '', ?, ?)", (id_, asked.hashed, at))
            write(execute, recovery(id_, asked.codes, at))
            write(execute, beside)
            return True

        made = self._together(work)
        found = self.find(id_)
        if found is None:
            raise AccountError("unknown_account")
        return found, made

    def player_of(self, account: str) -> str:
        """The id by which records know an account: the one does not lead to the other."""
        return self._mark("player", account)[:16]

    def rename(self, account: str, name: str, beside: Beside = nothing) -> None:
        """Raises AccountError for a name that is taken, or was somebody else's until lately."""

        def work(execute: Execute) -> None:
            at = self._now()
            if execute("SELECT 1 FROM accounts WHERE id = ? AND name = ?", (account, name)):
                return
            execute("UPDATE account_names SET until = ? WHERE account = ? AND until = 0", (at, account))
            self._name(execute, account, name, at)
            execute("UPDATE accounts SET name = ? WHERE id = ?", (name, account))
            write(execute, beside(_players(execute, account)))

        self._on(account, work)

    def _name(self, execute: Execute, account: str, name: str, at: int) -> None:
        key = self.key(name)
        execute("DELETE FROM account_names WHERE account = '' AND until < ?", (at - FREED,))
        if any(holder != account for (holder,) in execute(_HELD, (key, at - FREED))):
            raise AccountError("name_taken", "Somebody has that name, or one that looks like it.")
        execute(_CALL, (key, account, name, at))

    # --- guests

    def claim(self, account: str, player: str, beside: Sequence[Statement], once: Sequence[Statement] = ()) -> bool:
        """From now on that guest's id is one of the account's; whether it was not before. Raises AccountError.

        What stands `beside` is written again with each claim: the guest may have taken a seat meanwhile.
        """

        def work(execute: Execute) -> bool:
            for (holder,) in execute("SELECT account FROM account_players WHERE player = ?", (player,)):
                if holder != account:
                    raise AccountError("not_claimable")
                write(execute, beside)
                return False
            if len(_players(execute, account)) > MOST_PLAYERS:
                raise AccountError("too_many", "An account claims so many guests and no more.")
            execute("INSERT INTO account_players VALUES (?, ?, ?)", (player, account, self._now()))
            write(execute, [*beside, *once])
            return True

        return self._on(account, work)

    # --- what it may

    def judge(self, account: str, state: str, until: int, beside: Sequence[Statement], by: str = "") -> None:
        """Suspend, ban, or lift; an account that is erased stays so.

        Raises AccountError unless whoever does it (`by`; nobody for the operator) has a role above the account's.
        """
        statement = "UPDATE accounts SET state = ?, until = ? WHERE id = ? AND state <> 'erased'"

        def work(execute: Execute) -> None:
            judge, judged = holding(execute, by, "moderator", self._now()), self._inside(execute, account)
            if judge and judged and not judge.above(judged):
                raise AccountError("role_missing", "Only somebody with a higher role may do this.")
            write(execute, [(statement, (state, until, account)), *beside])

        self._together(work)

    def promote(self, account: str, role: str, beside: Sequence[Statement] = (), by: str = "") -> None:
        """Give it a role.

        Raises AccountError for the last administrator who would be none, and unless whoever does it (`by`; nobody for
        the operator) is an administrator.
        """

        def work(execute: Execute) -> None:
            holding(execute, by, "admin", self._now())
            if role != "admin":
                self._spare(execute, account)
            execute("UPDATE accounts SET role = ? WHERE id = ? AND state <> 'erased'", (role, account))
            write(execute, beside)

        self._together(work)

    def spare(self, account: str) -> None:
        """Raises AccountError for the last administrator, without whom there would be none who can do anything."""
        self._spare(self._database.execute, account)

    def _spare(self, execute: Execute, account: str) -> None:
        staff = self._staff(execute, "admin")
        others = [each for each in staff if each.id != account and each.may("admin")]
        if not others and any(each.id == account for each in staff):
            raise AccountError("last_admin")

    def _inside(self, execute: Execute, account: str) -> Account | None:
        """An account as it stands in a transaction that is going on."""
        return next((self._account(row) for row in execute(_SELECT + "a.id = ?", (account,))), None)

    # --- invitations

    def invite(self, account: str, uses: int, until: int, beside: Sequence[Statement], *request: str) -> str:
        """A secret that lets so many people open an account; the same for the same request.

        Raises AccountError unless the account is an administrator's.
        """
        secret = encoded(self._chance(request, "invitation", 24))
        row = (digest(secret), account, until, uses)
        statement = "INSERT INTO account_invitations VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        old = ("DELETE FROM account_invitations WHERE until < ?", (self._now(),))

        def work(execute: Execute) -> None:
            holding(execute, account, "admin", self._now())
            write(execute, [old, (statement, row), *beside])

        self._together(work)
        return secret

    def _admit(self, execute: Execute, secret: str) -> None:
        used = "UPDATE account_invitations SET uses = uses - 1 WHERE hash = ? AND uses > 0 AND until > ? RETURNING uses"
        if not execute(used, (digest(secret), self._now())):
            raise AccountError("not_invited", "The invitation is unknown, used, or too old.")

    # --- being forgotten

    def erase(self, account: str, beside: Beside) -> None:
        """Name, password, tokens, sessions and texts are gone; records keep opaque ids, and the name stays reserved.

        May be done again: then it makes sure that the files forget it too. Raises AccountError for the last
        administrator.
        """
        at = self._now()
        gone: list[Statement] = [
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
            "blocks",
            "watching",
        )
        gone += [(f"DELETE FROM {table} WHERE account = ?", (account,)) for table in tables]  # noqa: S608 - our names
        gone += delete_oauth_rows(account)

        def work(execute: Execute) -> None:
            self._spare(execute, account)
            write(execute, [*beside(_players(execute, account)), *gone])

        self._together(work)
        self._database.wipe()


def holding(execute: Execute, account: str, role: str, now: int) -> Account | None:
    """Who does something for which a role is needed, as they are in the transaction that is going on.

    None for the operator, who is no account. Raises AccountError.
    """
    if not account:
        return None
    found = next((_account(row, now) for row in execute(_SELECT + "a.id = ?", (account,))), None)
    if found is None or not found.may(role):
        raise AccountError("role_missing")
    return found


def _account(row: Row, now: int) -> Account:
    id_, name, player, state, until, role, bot, made = row
    over = state == "suspended" and until <= now
    return Account(id_, name, player, "active" if over else state, 0 if over else until, role, bool(bot), made)


def _players(execute: Callable[[str, Sequence[object]], list[Row]], account: str) -> list[str]:
    return [str(player) for (player,) in execute(_PLAYERS, (account,))]
