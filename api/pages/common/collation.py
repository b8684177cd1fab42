"""The order of names for readers: letters with accents stand beside those without."""

from __future__ import annotations

import functools
import unicodedata

_LIGATURES = str.maketrans({"æ": "ae", "œ": "oe"})


@functools.lru_cache(4000)
def collation_key(name: str) -> tuple[str, str]:
    """Return the key to sort a name by: its letters without accents and case, then the name as it is."""
    letters = unicodedata.normalize("NFKD", name.casefold().translate(_LIGATURES))
    return "".join(sign for sign in letters if not unicodedata.combining(sign)), name
