"""Personal access tokens: long-lived credentials with scopes, for programs of an account's owner."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from domain.accounts.account_tables import DAY, checksum, write
from domain.accounts.credential_tables import STATE, CredentialOwner, CredentialTable, matches_hash
from domain.errors import AccountError, CommandReused
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Statement
from domain.service.idempotency_keys import IdempotencyKey, bind_key
from domain.service.token_text import hash_secret

LONGEST_TOKEN = 365 * DAY
"""Maximum lifetime of a token, ms."""

MOST_TOKENS = 50

_KEPT = 90 * DAY
"""Time (ms) for which the row of an expired token is kept."""

_PERSONAL = re.compile(r"(anp_([0-9a-f]{16})_[A-Za-z0-9_-]{43})([0-9a-f]{8})")

_BY_TOKEN = f"""
SELECT t.hash, t.scopes, t.until, t.ended, t.used, {STATE} FROM personal_tokens t JOIN accounts a ON a.id = t.account
WHERE t.id = ?"""  # noqa: S608 - our own names
_TOKENS = """
SELECT id, label, scopes, made, used, until FROM personal_tokens
WHERE account = ? AND ended = 0 AND until > ? ORDER BY made, id"""


@dataclass(frozen=True)
class PersonalToken:
    """A personal access token, without its secret."""

    id: str
    label: str
    scopes: tuple[str, ...]
    made: int
    used: int
    """Time of last use, to within ten minutes, ms; 0 for never."""
    until: int


class PersonalTokens(CredentialTable):
    """The table of personal tokens. Every method may raise StoreUnavailable."""

    def find_owner(self, text: str) -> CredentialOwner | None:
        """Return the owner of a token, or None for an invalid one."""
        match = _PERSONAL.fullmatch(text)
        if match is None or checksum(match[1]) != match[3]:
            return None
        return self.find_owner_by_id(match[2], text)

    def find_owner_by_id(self, id_: str, text: str | None = None) -> CredentialOwner | None:
        """Return the owner of a valid token with that id and, if given, that text."""
        now = self._now()
        for kept, scopes, until, ended, used, *account_row in self._database.execute(_BY_TOKEN, (id_,)):
            if (text is None or matches_hash(kept, text)) and not ended and until > now:
                self._record_use("personal_tokens", id_, used, now)
                return self._owner(account_row, id_, tuple(scopes.split()), None)
        return None

    def issue(
        self,
        account: str,
        label: str,
        scopes: Sequence[str],
        until: int,
        extra_statements: Sequence[Statement],
        *request: str,
        instead: str = "",
        session: str = "",
        key: IdempotencyKey | None = None,
    ) -> tuple[str, str]:
        """Store a token, in place of the token `instead`; return its id and text, the same for the same request.

        A repetition stores nothing, even if the token has been deleted since.
        Raises AccountError if the account has too many or `instead` is gone, and CommandReused.
        """
        id_, text = self._make_secret("anp", request)
        text += checksum(text)
        now = self._now()

        def work(execute: Execute) -> None:
            is_new = bind_key(execute, key)
            for (before,) in execute("SELECT hash FROM personal_tokens WHERE id = ?", (id_,)):
                if not matches_hash(before, text):
                    raise CommandReused(id_)
                return
            if not is_new:
                return
            if instead and not self._end(execute, account, instead, now):
                raise AccountError("not_found")
            if len(execute(_TOKENS, (account, now))) >= MOST_TOKENS:
                raise AccountError("too_many", Message("An account has {most} tokens at most.", most=MOST_TOKENS))
            execute("DELETE FROM personal_tokens WHERE account = ? AND until < ?", (account, now - _KEPT))
            row = (id_, hash_secret(text), account, label, " ".join(scopes), now, until)
            execute("INSERT INTO personal_tokens VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0)", row)
            write(execute, extra_statements)

        self._for_account(account, work, session)
        return id_, text

    def list_tokens(self, account: str) -> list[PersonalToken]:
        """Return the valid tokens of an account, oldest first."""
        rows = self._database.execute(_TOKENS, (account, self._now()))
        return [PersonalToken(i, label, tuple(scopes.split()), *times) for i, label, scopes, *times in rows]

    def find_token(self, account: str, id_: str) -> PersonalToken | None:
        """Return one of the account's tokens, also a revoked one."""
        statement = "SELECT id, label, scopes, made, used, until FROM personal_tokens WHERE account = ? AND id = ?"
        rows = self._database.execute(statement, (account, id_))
        return next((PersonalToken(i, label, tuple(scopes.split()), *times) for i, label, scopes, *times in rows), None)

    def revoke(self, account: str, id_: str) -> bool:
        """Revoke a token; return whether it was valid."""
        return self._in_transaction(lambda execute: self._end(execute, account, id_, self._now()))

    def _end(self, execute: Execute, account: str, id_: str, now: int) -> bool:
        statement = "UPDATE personal_tokens SET ended = ? WHERE account = ? AND id = ? AND ended = 0 RETURNING id"
        return bool(execute(statement, (now, account, id_)))
