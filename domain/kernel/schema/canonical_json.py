"""Canonical JSON and its hash: the one way in which documents are compared, sealed and chained."""

from __future__ import annotations

import hashlib

import msgspec
import orjson

from domain.types import Json


def canonical(doc: Json) -> bytes:
    """UTF-8 JSON, keys sorted by code point, no white space; integers up to 64 bits."""
    return orjson.dumps(doc, option=orjson.OPT_SORT_KEYS)


def digest(doc: Json) -> str:
    """SHA-256 of the canonical form, 64 hex digits."""
    return hashlib.sha256(canonical(doc)).hexdigest()


def digest_of(shown: object) -> str:
    """The same of what is declared: classes where `digest` has objects."""
    return hashlib.sha256(msgspec.json.encode(shown, order="sorted")).hexdigest()
