"""Signed forms of pages: a stamp proves their origin, a sealed text carries the state of a half-done login."""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import urlsafe_b64decode

from domain.accounts.account_tables import AccountTable
from domain.service.token_text import encode_bytes
from domain.types import Doc

HALF_MS = 300_000
"""Time (ms) between the password and the second factor."""

_PAGES = "pages"
"""Name under which the key ring seals."""


class SignedForms(AccountTable):
    """Stamps and sealed texts of forms. Every method may raise StoreUnavailable."""

    def sign(self, owner: str, action: str) -> str:
        """Return a form's stamp for an action of a session or visit.

        Each stamp differs: a constant one could be guessed character by character from the size of compressed pages.
        """
        chance = secrets.token_hex(16)
        return chance + self._keyed_hash("form", owner, action, chance)

    def is_signed(self, owner: str, action: str, stamp: str) -> bool:
        """Return whether the stamp was made for this session or visit, and this action."""
        chance, mark = stamp[:32], stamp[32:]
        return hmac.compare_digest(self._keyed_hash("form", owner, action, chance).encode(), mark.encode())

    def mark_reader(self, reader: str) -> str:
        """Return a mark of a reader that tells nothing else: the same for the same one."""
        return self._keyed_hash("reader", reader)[:32]

    def seal(self, owner: str, use: str, state: Doc, lasts: int = HALF_MS) -> str:
        """Return a state as encrypted text, for the same visitor to send back within a time (ms)."""
        doc = json.dumps({"until": self._now() + lasts, "said": state}).encode()
        return encode_bytes(self._keys.seal(_PAGES, f"{use}|{owner}", doc))

    def open(self, owner: str, use: str, text: str) -> Doc | None:
        """Return a sealed state; None for an expired or invalid one."""
        try:
            sealed = urlsafe_b64decode(text.encode("ascii") + b"==")
            doc: Doc = json.loads(self._keys.open(_PAGES, f"{use}|{owner}", sealed))
        except ValueError:
            return None
        state: Doc = doc["said"]
        return state if doc["until"] > self._now() else None
