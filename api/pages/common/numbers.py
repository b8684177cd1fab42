"""Whole numbers in forms."""

from __future__ import annotations

from flask import request

from api.http.problems import Problem

_LONGEST = 16
"""Most digits of a number that is read: 2^53 - 1 has as many."""


def parse_number(text: str, most: int, least: int = 0) -> int | None:
    """Return a whole number in ASCII digits from `least` to `most`, or None for another text of any length."""
    digits = text.removeprefix("-")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > _LONGEST:
        return None
    return int(text) if least <= int(text) <= most else None


def read_number(name: str, most: int, least: int = 0) -> int:
    """Return a whole number of the submitted form. Raise Problem for a form that is not ours."""
    number = parse_number(request.form.get(name, ""), most, least)
    if number is None:
        raise Problem("form_stale")
    return number


def query_number(name: str, most: int, default: int = 0) -> int:
    """Return a whole number of the query, or `default` for another text."""
    number = parse_number(request.args.get(name, ""), most)
    return default if number is None else number
