"""Passwords of accounts, and operations on all of an account's sessions and personal tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.accounts.account_tables import write
from domain.accounts.accounts import require_account_role
from domain.accounts.credential_tables import (
    PASSWORD,
    CredentialOwner,
    CredentialTable,
    check_password_unchanged,
    end_tokens,
    reset_password,
)
from domain.accounts.personal_tokens import PersonalTokens
from domain.accounts.sessions import Sessions
from domain.service.database import Database, Execute, Statement
from domain.service.keyring import Keyring


class Credentials(CredentialTable):
    """Passwords, sessions and personal tokens of accounts. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int]) -> None:
        super().__init__(database, keys, clock)
        self._sessions = Sessions(database, keys, clock)
        self._tokens = PersonalTokens(database, keys, clock)

    def find_owner(self, text: str) -> CredentialOwner | None:
        """Return the owner of a session's token or a personal token, or None for an invalid one."""
        return self._sessions.find_owner(text) or self._tokens.find_owner(text)

    def is_alive(self, credential: str) -> bool:
        """Return whether a session or personal token is still valid; long streams check it now and then."""
        owner = self._sessions.find_owner_by_id(credential) or self._tokens.find_owner_by_id(credential)
        return owner is not None and owner.state != "banned"

    def find_password_hash(self, account: str) -> str:
        """Return the hash of an account's password, or an empty text."""
        return next((str(secret) for (secret,) in self._database.execute(PASSWORD, (account,))), "")

    def replace_password(self, account: str, before: str, after: str, extra_statements: Sequence[Statement]) -> None:
        """Replace the hash `before` by `after`, and end all sessions; raise AccountError if `before` has changed."""

        def work(execute: Execute) -> None:
            check_password_unchanged(execute, account, before)
            reset_password(execute, account, after)
            write(execute, extra_statements)

        self._in_transaction(work)

    def end_all(self, account: str, extra_statements: Sequence[Statement], by: str = "") -> None:
        """End all sessions and personal tokens of an account; password and recovery codes stay.

        Raises AccountError unless the account `by` is an administrator; it is empty for the operator.
        """

        def work(execute: Execute) -> None:
            require_account_role(execute, by, "admin", self._now())
            execute("DELETE FROM sessions WHERE account = ?", (account,))
            end_tokens(execute, account, self._now())
            write(execute, extra_statements)

        self._for_account(account, work)
