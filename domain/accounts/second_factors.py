"""Second factors: codes of an authenticator (TOTP, RFC 6238) and passkeys; recovery codes replace either.

They are rows among the factors of an account, like its password. Keys of codes are stored sealed.
"""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import b32encode
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from domain.accounts.account_tables import AccountTable, write
from domain.errors import AccountError
from domain.service.database import Execute, Statement
from domain.types import Doc

SECONDS = 30
"""Lifetime of a code; the step before and after it are accepted too, since clocks differ."""

KINDS = ("totp", "passkey")
"""Kinds of second factors."""

_NEW = "totp_new"
"""Kind of a proposed secret, without a confirmed code."""

_FIND = "SELECT secret FROM factors WHERE account = ? AND kind = ?"
_KEEP = """
INSERT INTO factors VALUES (?, ?, ?, ?, ?)
ON CONFLICT (account, kind, id) DO UPDATE SET secret = excluded.secret, made = excluded.made"""
_TURN = "UPDATE factors SET secret = ? WHERE account = ? AND kind = ? AND id = ? AND secret = ? RETURNING id"


@dataclass(frozen=True)
class SecondFactor:
    """A second factor of an account."""

    id: str
    """Empty for a kind with a single factor."""
    kind: str
    label: str
    made: int
    used: int
    """Time of last use, ms; 0 for never."""


@dataclass(frozen=True)
class TotpSetup:
    """The secret for an authenticator."""

    secret: str
    """Base 32, for typing."""
    uri: str


class SecondFactors(AccountTable):
    """Rows of second factors. Every method may raise StoreUnavailable."""

    def list_factors(self, account: str) -> list[SecondFactor]:
        """Return the second factors of an account, oldest first."""
        statement = "SELECT id, kind, secret, made FROM factors WHERE account = ? AND kind IN (?, ?) ORDER BY made, id"
        return [_parse_factor(*row) for row in self._database.execute(statement, (account, *KINDS))]

    def list_kinds(self, account: str) -> list[str]:
        """Return the kinds of second factors of an account."""
        statement = "SELECT DISTINCT kind FROM factors WHERE account = ? AND kind IN (?, ?) ORDER BY kind DESC"
        return [str(kind) for (kind,) in self._database.execute(statement, (account, *KINDS))]

    # --- codes of an authenticator

    def propose(self, account: str, name: str, issuer: str) -> TotpSetup:
        """Store a secret for an authenticator, in place of an earlier proposal; a first code activates it."""
        key = secrets.token_bytes(20)
        row = (account, _NEW, "", self._seal(account, {"key": key.hex(), "step": 0}), self._now())
        self._for_account(account, lambda execute: write(execute, [(_KEEP, row)]))
        return TotpSetup(b32encode(key).decode(), _totp(key).get_provisioning_uri(name, issuer))

    def confirm(self, account: str, code: str, session: str, extra_statements: Sequence[Statement]) -> bool:
        """Activate the proposed secret if `code` is one of it, and end all other sessions; return whether it is."""
        rows = self._database.execute(_FIND, (account, _NEW))
        sealed = next((str(kept) for (kept,) in rows), "")
        after = self._advance_step(account, sealed, code) if sealed else ""
        statement = "DELETE FROM factors WHERE account = ? AND kind = ? AND secret = ? RETURNING id"

        def work(execute: Execute) -> bool:
            if not execute(statement, (account, _NEW, sealed)):
                return False
            execute(_KEEP, (account, "totp", "", after, self._now()))
            write(execute, [end_other_sessions(account, session), *extra_statements])
            return True

        return bool(after) and self._for_account(account, work, session)

    def use_code(self, account: str, code: str) -> bool:
        """Return whether a code of the account's authenticator is valid; it is used up, with all before it."""
        for (sealed,) in self._database.execute(_FIND, (account, "totp")):
            after = self._advance_step(account, sealed, code)
            return bool(after and self._database.execute(_TURN, (after, account, "totp", "", sealed)))
        return False

    def _advance_step(self, account: str, sealed: str, code: str) -> str:
        """Return the document to store after a code, or an empty text for a wrong or used one."""
        doc = self._open(account, sealed)
        totp, now = _totp(bytes.fromhex(doc["key"])), self._now() // 1000 // SECONDS
        for step in (now, now - 1, now + 1):
            right = totp.generate(step * SECONDS)
            if hmac.compare_digest(right, code.encode()) and step > doc["step"]:
                return self._seal(account, {**doc, "step": step, "used": self._now()})
        return ""

    def _seal(self, account: str, doc: Doc) -> str:
        return self._keys.seal(f"account {account}", "totp", json.dumps(doc).encode()).hex()

    def _open(self, account: str, sealed: str) -> Doc:
        doc: Doc = json.loads(self._keys.open(f"account {account}", "totp", bytes.fromhex(sealed)))
        return doc

    # --- giving one up

    def remove(self, account: str, kind: str, id_: str, extra_statements: Sequence[Statement]) -> None:
        """Remove a second factor; raise AccountError if there is none."""

        def work(execute: Execute) -> None:
            statement = "DELETE FROM factors WHERE account = ? AND kind = ? AND id = ? RETURNING id"
            if not execute(statement, (account, kind, id_)):
                raise AccountError("not_found")
            write(execute, extra_statements)

        self._in_transaction(work)


def end_other_sessions(account: str, session: str) -> Statement:
    """Return a statement that ends sessions started without a new factor."""
    return ("DELETE FROM sessions WHERE account = ? AND id <> ?", (account, session))


def _totp(key: bytes) -> TOTP:
    return TOTP(key, 6, SHA1(), SECONDS)  # noqa: S303 - what every authenticator knows; HMAC does not need more


def _parse_factor(id_: str, kind: str, secret: str, made: int) -> SecondFactor:
    doc = json.loads(secret) if kind == "passkey" else {}
    return SecondFactor(id_, kind, doc.get("label", ""), made, doc.get("used", 0))
