"""The text form of tokens, and the hashes that are stored in their place."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode


def token_id(token: str) -> str:
    """Return the id within a token; alone it grants no access."""
    return token.split("_")[1]


def hash_secret(text: str) -> str:
    """Return the SHA-256 of a secret, in hex.

    Secrets have 256 random bits, which nobody can guess, so a slow hash would add nothing.
    """
    return hashlib.sha256(text.encode()).hexdigest()


def format_token(prefix: str, chance: bytes) -> tuple[str, str]:
    """Return the id and the text of a token made of 40 bytes: 8 for the id, 32 for the secret."""
    id_ = chance[:8].hex()
    return id_, f"{prefix}_{id_}_{encode_bytes(chance[8:40])}"


def encode_bytes(chance: bytes) -> str:
    """Return bytes as letters, digits, `-` and `_`."""
    return urlsafe_b64encode(chance).rstrip(b"=").decode()
