"""Canonical JSON and its hash, used to compare, seal and chain documents."""

from __future__ import annotations

import hashlib

import msgspec

from domain.types import Json


def canonical(doc: Json) -> bytes:
    """Return UTF-8 JSON, keys sorted by code point, no white space; raise TypeError for what JSON cannot hold."""
    try:
        return msgspec.json.encode(doc, order="sorted", enc_hook=plain_text)
    except (RecursionError, UnicodeError) as error:  # nested too deeply, or no text
        raise TypeError(str(error)) from error


def plain_text(value: object) -> str:
    """Return a string for a subclass of `str`, such as a message; raise TypeError for anything else."""
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"no JSON: {type(value).__name__}")


def digest(doc: Json) -> str:
    """Return the SHA-256 of the canonical form, 64 hex digits."""
    return hashlib.sha256(canonical(doc)).hexdigest()


def struct_digest(value: object) -> str:
    """Return the same digest for a value holding declared classes in place of JSON objects."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
