"""What a page gives with a form and expects back: proof that the form is ours, and what was shown so far."""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import urlsafe_b64decode

from domain.accounts.account_tables import Rows, encoded
from domain.types import Doc

HALF_MS = 300_000
"""How long somebody who has shown a password may take to show the second factor, ms."""

_PAGES = "pages"
"""In whose name the ring of keys seals."""


class Forms(Rows):
    """May raise StoreUnavailable."""

    def stamp(self, holder: str, action: str) -> str:
        """What a form carries for this action, of whoever has that session or has been given that visit.

        Another one each time: what stays the same could be guessed sign by sign from the size of compressed pages.
        """
        chance = secrets.token_hex(16)
        return chance + self._mark("form", holder, action, chance)

    def stamped(self, holder: str, action: str, stamp: str) -> bool:
        """Whether the form was given to them, for this."""
        chance, mark = stamp[:32], stamp[32:]
        return hmac.compare_digest(self._mark("form", holder, action, chance).encode(), mark.encode())

    def seal(self, holder: str, about: str, said: Doc) -> str:
        """What was shown so far, for the same visitor to bring back for a while; nobody else can read it."""
        doc = json.dumps({"until": self._now() + HALF_MS, "said": said}).encode()
        return encoded(self._keys.seal(_PAGES, f"{about}|{holder}", doc))

    def open(self, holder: str, about: str, text: str) -> Doc | None:
        """What was sealed; None for anything else, or too late."""
        try:
            kept = urlsafe_b64decode(text.encode("ascii") + b"==")
            doc: Doc = json.loads(self._keys.open(_PAGES, f"{about}|{holder}", kept))
        except ValueError:
            return None
        said: Doc = doc["said"]
        return said if doc["until"] > self._now() else None
