"""Recovery codes: each replaces a forgotten password or a lost second factor once.

An issued code is another kind of them: it lasts for a day, and replaces the password alone, or all factors.
"""

from __future__ import annotations

import secrets
from base64 import b32encode
from collections.abc import Sequence

from domain.accounts.account_tables import DAY, insert_recovery_codes, write
from domain.accounts.credential_tables import CredentialTable, end_tokens, reset_password
from domain.service.database import Execute, Statement
from domain.service.token_text import hash_secret

CODES = 10
"""Codes of an account."""

_CODE, _SHORT = 26, 20
"""Characters of a recovery code, and of an old code, a prefix of the code that the same request gets now."""

ISSUED_LASTS = DAY
"""Lifetime of an issued code, ms."""

FOR_PASSWORD, FOR_ALL = "reset", "release"
"""Kinds of issued codes: for the password alone, by mail; for all factors, from the operator."""

_FIND = """
SELECT kind, secret FROM factors WHERE account = ?
AND (kind = 'recovery' AND id IN (?, ?) OR kind IN ('reset', 'release') AND id = ?)"""
_END_ISSUED = "DELETE FROM factors WHERE account = ? AND kind = ?"
_END_SECOND = "DELETE FROM factors WHERE account = ? AND kind IN ('totp', 'totp_new', 'passkey')"
_USE = "DELETE FROM factors WHERE account = ? AND kind = 'recovery' AND id IN (?, ?) RETURNING id"


class RecoveryCodes(CredentialTable):
    """Rows of recovery codes. Every method may raise StoreUnavailable."""

    def generate(self, account: str, *request: str) -> tuple[list[str], list[str]]:
        """Return ten new recovery codes, and their hashes for storage."""
        chance = (self._derive_bytes((*request, str(n)) if request else (), "recovery", 17) for n in range(CODES))
        texts = [b32encode(each)[:_CODE].decode().lower() for each in chance]
        return [_divide(text) for text in texts], [self._hash(account, text) for text in texts]

    def replace(
        self, account: str, hashes: Sequence[str], extra_statements: Sequence[Statement], session: str = ""
    ) -> None:
        """Store these hashes in place of all earlier ones."""
        old: Statement = ("DELETE FROM factors WHERE account = ? AND kind = 'recovery'", (account,))
        new = [*insert_recovery_codes(account, hashes, self._now()), *extra_statements]
        self._for_account(account, lambda execute: write(execute, [old, *new]), session)

    def count(self, account: str) -> int:
        """Return the number of unused codes."""
        rows = self._database.execute("SELECT id FROM factors WHERE account = ? AND kind = 'recovery'", (account,))
        return len(rows)

    def issue(self, account: str, kind: str) -> tuple[str, list[Statement]]:
        """Return a code of an issued kind, and statements to store it in place of an earlier one."""
        text = b32encode(secrets.token_bytes(17))[:_CODE].decode().lower()
        now = self._now()
        row = (account, kind, self._hash(account, text), str(now + ISSUED_LASTS), now)
        return _divide(text), [(_END_ISSUED, (account, kind)), ("INSERT INTO factors VALUES (?, ?, ?, ?, ?)", row)]

    def store(self, account: str, statements: Sequence[Statement]) -> None:
        """Run the statements of an issued code, all or none; raise AccountError without the account."""
        self._for_account(account, lambda execute: write(execute, statements))

    def find_kind(self, account: str, code: str) -> str:
        """Return the kind of an unused code of the account: `recovery`, FOR_PASSWORD or FOR_ALL; empty for any other.

        It is checked before a slow hash is made.
        """
        return self._find_kind(self._database.execute, account, code)

    def _find_kind(self, execute: Execute, account: str, code: str) -> str:
        typed, former = self._hashes(account, code)
        for kind, until in execute(_FIND, (account, typed, former, typed)):
            if kind == "recovery" or int(until) > self._now():
                return str(kind)
        return ""

    def use(self, account: str, code: str) -> bool:
        """Use up a code in place of a second factor; return whether it was valid."""
        return bool(self._database.execute(_USE, (account, *self._hashes(account, code))))

    def recover(self, account: str, code: str, after: str, extra_statements: Sequence[Statement]) -> bool:
        """Use up a code to store another password, and end all sessions and tokens; return whether it was valid.

        FOR_ALL removes the second factors as well.
        """

        def work(execute: Execute) -> bool:
            kind = self._find_kind(execute, account, code)
            if not kind:
                return False
            execute(_USE, (account, *self._hashes(account, code)))
            if kind == FOR_ALL:
                execute(_END_SECOND, (account,))
            reset_password(execute, account, after)
            end_tokens(execute, account, self._now())
            write(execute, extra_statements)
            return True

        return self._in_transaction(work)

    def _hash(self, account: str, code: str) -> str:
        return hash_secret(f"{account} {code}")

    def _hashes(self, account: str, code: str) -> tuple[str, str]:
        """Return the hash of a typed code, and its hash from the time of shorter codes."""
        text = code.replace("-", "").lower()
        return self._hash(account, text), self._hash(account, text[:_SHORT])


def _divide(text: str) -> str:
    """Return a code with hyphens, for reading."""
    return "-".join([*(text[at : at + 5] for at in range(0, 20, 5)), text[20:]])
