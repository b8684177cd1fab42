"""Texts of people in forms, and their limits: told and counted in characters, by pages as by the API."""

from __future__ import annotations

import unicodedata

from flask import request


def read_text(name: str) -> str:
    """Return a text of the submitted form in NFC, as long as it was sent: the API refuses one over its limit."""
    return unicodedata.normalize("NFC", request.form.get(name, "")).strip()


def count_units(characters: int) -> int:
    """Return the most UTF-16 units of a text of so many characters: browsers count these for `maxlength`."""
    return 2 * characters
