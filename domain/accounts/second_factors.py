"""Second factors: codes of an authenticator (TOTP, RFC 6238), passkeys, and recovery codes in place of either.

They are rows among the factors of an account, as its password is. What a code is made from rests sealed.
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

from domain.accounts.account_tables import Rows, write
from domain.errors import AccountError
from domain.service.database import Execute, Statement
from domain.types import Doc

SECONDS = 30
"""How long a code is shown; one step before and after count too, since clocks differ."""

SECOND = ("totp", "passkey")
"""Kinds that are asked for beside the password."""

_NEW = "totp_new"
"""The kind of a secret that has been shown, and not been used yet."""

_FIND = "SELECT secret FROM factors WHERE account = ? AND kind = ?"
_KEEP = """
INSERT INTO factors VALUES (?, ?, ?, ?, ?)
ON CONFLICT (account, kind, id) DO UPDATE SET secret = excluded.secret, made = excluded.made"""
_TURN = "UPDATE factors SET secret = ? WHERE account = ? AND kind = ? AND id = ? AND secret = ? RETURNING id"


@dataclass(frozen=True)
class Factor:
    """What an account has shown that it has."""

    id: str
    """Empty for that of which there is one."""
    kind: str
    label: str
    made: int
    used: int
    """0 for never, ms."""


@dataclass(frozen=True)
class Setup:
    """What an authenticator is given."""

    secret: str
    """In base 32, as people type it."""
    uri: str


class Factors(Rows):
    """May raise StoreUnavailable."""

    def of(self, account: str) -> list[Factor]:
        """The second factors of an account, the oldest first."""
        statement = "SELECT id, kind, secret, made FROM factors WHERE account = ? AND kind IN (?, ?) ORDER BY made, id"
        return [_factor(*row) for row in self._database.execute(statement, (account, *SECOND))]

    def kinds(self, account: str) -> list[str]:
        """The kinds of second factors that an account has."""
        statement = "SELECT DISTINCT kind FROM factors WHERE account = ? AND kind IN (?, ?) ORDER BY kind DESC"
        return [str(kind) for (kind,) in self._database.execute(statement, (account, *SECOND))]

    # --- codes of an authenticator

    def propose(self, account: str, name: str, issuer: str) -> Setup:
        """A secret for an authenticator, which counts once a code of it was shown. One before it counts no more."""
        key = secrets.token_bytes(20)
        row = (account, _NEW, "", self._sealed(account, {"key": key.hex(), "step": 0}), self._now())
        self._on(account, lambda execute: write(execute, [(_KEEP, row)]))
        return Setup(b32encode(key).decode(), _totp(key).get_provisioning_uri(name, issuer))

    def confirm(self, account: str, code: str, session: str, beside: Sequence[Statement]) -> bool:
        """Whether that is a code of what was proposed: from now on it is asked for. All other sessions end."""
        rows = self._database.execute(_FIND, (account, _NEW))
        sealed = next((str(kept) for (kept,) in rows), "")
        after = self._stepped(account, sealed, code) if sealed else ""
        gone = "DELETE FROM factors WHERE account = ? AND kind = ? AND secret = ? RETURNING id"

        def work(execute: Execute) -> bool:
            if not execute(gone, (account, _NEW, sealed)):
                return False
            execute(_KEEP, (account, "totp", "", after, self._now()))
            write(execute, [others_out(account, session), *beside])
            return True

        return bool(after) and self._on(account, work, session)

    def fits(self, account: str, code: str) -> bool:
        """Whether that is a code of the account's authenticator; it is used up, with all before it."""
        for (sealed,) in self._database.execute(_FIND, (account, "totp")):
            after = self._stepped(account, sealed, code)
            return bool(after and self._database.execute(_TURN, (after, account, "totp", "", sealed)))
        return False

    def _stepped(self, account: str, sealed: str, code: str) -> str:
        """What is to be kept once the code was shown; empty for a code that does not fit, or was shown before."""
        doc = self._opened(account, sealed)
        totp, now = _totp(bytes.fromhex(doc["key"])), self._now() // 1000 // SECONDS
        for step in (now, now - 1, now + 1):
            right = totp.generate(step * SECONDS)
            if hmac.compare_digest(right, code.encode()) and step > doc["step"]:
                return self._sealed(account, {**doc, "step": step, "used": self._now()})
        return ""

    def _sealed(self, account: str, doc: Doc) -> str:
        return self._keys.seal(f"account {account}", "totp", json.dumps(doc).encode()).hex()

    def _opened(self, account: str, sealed: str) -> Doc:
        doc: Doc = json.loads(self._keys.open(f"account {account}", "totp", bytes.fromhex(sealed)))
        return doc

    # --- giving one up

    def drop(self, account: str, kind: str, id_: str, beside: Sequence[Statement]) -> None:
        """It is asked for no more; raises AccountError where there is none."""

        def work(execute: Execute) -> None:
            gone = "DELETE FROM factors WHERE account = ? AND kind = ? AND id = ? RETURNING id"
            if not execute(gone, (account, kind, id_)):
                raise AccountError("not_found")
            write(execute, beside)

        self._together(work)


def others_out(account: str, session: str) -> Statement:
    """To be written with a new factor: sessions that were begun without it end."""
    return ("DELETE FROM sessions WHERE account = ? AND id <> ?", (account, session))


def _totp(key: bytes) -> TOTP:
    return TOTP(key, 6, SHA1(), SECONDS)  # noqa: S303 - what every authenticator knows; HMAC does not need more


def _factor(id_: str, kind: str, secret: str, made: int) -> Factor:
    doc = json.loads(secret) if kind == "passkey" else {}
    return Factor(id_, kind, doc.get("label", ""), made, doc.get("used", 0))
