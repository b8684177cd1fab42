"""Recovery codes: each replaces a forgotten password or a lost second factor once."""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Sequence

from domain.accounts.account_tables import insert_recovery_codes, write
from domain.accounts.credential_tables import CredentialTable, end_tokens, reset_password
from domain.service.database import Execute, Statement
from domain.service.token_text import hash_secret

CODES = 10
"""Codes of an account."""

_CODE, _SHORT = 26, 20
"""Characters of a recovery code, and of an old code, a prefix of the code that the same request gets now."""

_USE = "DELETE FROM factors WHERE account = ? AND kind = 'recovery' AND id IN (?, ?) RETURNING id"


class RecoveryCodes(CredentialTable):
    """Rows of recovery codes. Every method may raise StoreUnavailable."""

    def generate(self, account: str, *request: str) -> tuple[list[str], list[str]]:
        """Return ten new recovery codes, and their hashes for storage."""
        chance = (self._derive_bytes((*request, str(n)) if request else (), "recovery", 17) for n in range(CODES))
        texts = [b32encode(each)[:_CODE].decode().lower() for each in chance]
        codes = ["-".join([*(text[at : at + 5] for at in range(0, 20, 5)), text[20:]]) for text in texts]
        return codes, [self._hash(account, text) for text in texts]

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

    def is_valid(self, account: str, code: str) -> bool:
        """Return whether a code is an unused one of the account; checked before a slow hash is made."""
        statement = "SELECT 1 FROM factors WHERE account = ? AND kind = 'recovery' AND id IN (?, ?)"
        return bool(self._database.execute(statement, (account, *self._hashes(account, code))))

    def use(self, account: str, code: str) -> bool:
        """Use up a code in place of a second factor; return whether it was valid."""
        return bool(self._database.execute(_USE, (account, *self._hashes(account, code))))

    def recover(self, account: str, code: str, after: str, extra_statements: Sequence[Statement]) -> bool:
        """Use up a code to store another password, and end all sessions and tokens; return whether it was valid."""

        def work(execute: Execute) -> bool:
            if not execute(_USE, (account, *self._hashes(account, code))):
                return False
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
