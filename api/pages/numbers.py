"""Whole numbers in forms."""

from __future__ import annotations

from flask import request

from api.http.problems import Problem


def read_number(name: str, most: int, least: int = 0) -> int:
    """Return a whole number of the submitted form. Raise Problem for a form that is not ours."""
    text = request.form.get(name, "")
    digits = text.removeprefix("-")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > 12 or not least <= int(text) <= most:
        raise Problem("form_stale")
    return int(text)
