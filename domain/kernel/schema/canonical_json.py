"""Canonical JSON and its hash, used to compare, seal and chain documents."""

from __future__ import annotations

import hashlib

import msgspec
import orjson

from domain.types import Json


def canonical(doc: Json) -> bytes:
    """Return UTF-8 JSON, keys sorted by code point, no white space; integers up to 64 bits."""
    return orjson.dumps(doc, option=orjson.OPT_SORT_KEYS)


def digest(doc: Json) -> str:
    """Return the SHA-256 of the canonical form, 64 hex digits."""
    return hashlib.sha256(canonical(doc)).hexdigest()


def struct_digest(value: object) -> str:
    """Return the same digest for a value holding declared classes in place of JSON objects."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
