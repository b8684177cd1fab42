"""Links to log another device of the same person in: each works once, for two minutes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from domain.accounts.account_tables import write
from domain.accounts.credential_tables import CredentialTable, matches_hash
from domain.accounts.credentials import Credentials
from domain.accounts.sessions import SessionRequest, Sessions
from domain.errors import AccountError
from domain.service.database import Database, Execute, Statement
from domain.service.keyring import Keyring
from domain.service.token_text import encode_bytes, hash_secret

LASTS = 120_000
"""Time (ms) in which a link can be used."""

_KIND = "link"
"""Kind of its row among the factors; the row's id is that of its session."""

_LINK = re.compile(r"anh_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_END = "DELETE FROM factors WHERE account = ? AND kind = 'link'"
_INSERT = f"INSERT INTO factors VALUES (?, '{_KIND}', ?, ?, ?)"  # noqa: S608 - our own word
_FIND = "SELECT account, secret, made FROM factors WHERE kind = 'link' AND id = ?"
_USE = "DELETE FROM factors WHERE account = ? AND kind = 'link' AND id = ? AND secret = ? RETURNING id"
_FACTORS = "SELECT factors FROM sessions WHERE id = ?"


class SessionLinks(CredentialTable):
    """Rows of links. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int]) -> None:
        super().__init__(database, keys, clock)
        self._sessions = Sessions(database, keys, clock)
        self._credentials = Credentials(database, keys, clock)

    def issue(self, account: str, session: str, extra_statements: Sequence[Statement]) -> str:
        """Store a secret in place of the account's earlier one; return it, for the link of another device."""
        text = f"anh_{session}_{encode_bytes(self._derive_bytes((), 'anh', 32))}"
        row = (account, session, hash_secret(text), self._now())
        statements: list[Statement] = [(_END, (account,)), (_INSERT, row), *extra_statements]
        self._for_account(account, lambda execute: write(execute, statements), session)
        return text

    def use(self, text: str, session: SessionRequest, audit: Callable[[str], Sequence[Statement]]) -> tuple[str, str]:
        """Use up a secret; return the account, and the token of a new session with the factors of the first one.

        The new session has checked no password: acts with a fresh one ask for it. `audit` makes statements from the
        account. Raises AccountError for a secret after its time, after its use, or after the end of its session.
        """
        match = _LINK.fullmatch(text)
        owner = self._sessions.find_owner_by_id(match[1]) if match else None
        if match is None or owner is None or not self._consume(text, match[1]):
            raise AccountError("wrong_credentials")
        (factors,) = self._database.execute(_FACTORS, (owner.credential,))[0]
        found = SessionRequest(
            owner.account, session.label, tuple(json.loads(str(factors))), session.family, is_proved=False
        )
        proof = self._credentials.find_password_hash(owner.account)
        return owner.account, self._sessions.start(found, proof, audit(owner.account))

    def _consume(self, text: str, session: str) -> bool:
        """Delete the row of a secret; return whether it was still good, the first time alone."""

        def work(execute: Execute) -> bool:
            for account, kept, made in execute(_FIND, (session,)):
                if matches_hash(str(kept), text):
                    return bool(execute(_USE, (account, session, kept))) and int(made) + LASTS > self._now()
            return False

        return self._in_transaction(work)
