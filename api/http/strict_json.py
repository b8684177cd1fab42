"""Strict JSON parsing: rejects input that two parsers could read differently.

Each fault has its own code: invalid JSON or UTF-8, duplicate keys, NaN and infinities, integers beyond 2^53, lone
surrogates, and nesting deeper than 64. Fractions pass; schemas decide on integers.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections import Counter
from itertools import accumulate
from typing import NoReturn

from domain.kernel.text.message_catalog import Message
from domain.types import MAX_INT, Doc, Json

MAX_DEPTH = 64

# Also matches an unterminated string, so that no text is scanned twice.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""Maps brackets to depth changes, as signed bytes."""
_PLAIN = bytes(set(range(256)) - set(b"[{]}"))
_DIGITS = len(str(MAX_INT)) + 1


class StrictJsonError(Exception):
    """The text is rejected. `code` is the reason, `detail` the place or value."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


def parse(raw: bytes) -> Json:
    """Return the parsed document. Raise StrictJsonError."""
    _check_depth(raw)
    try:
        doc = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_reject_duplicates,
            parse_constant=_reject_constant,
            parse_int=_parse_integer,
            parse_float=_parse_fraction,
        )
    except UnicodeDecodeError as error:
        raise StrictJsonError("not_json", Message("The body is not UTF-8 (byte {at}).", at=error.start)) from error
    except json.JSONDecodeError as error:
        fault = Message("{fault} (character {at}).", fault=Message(error.msg), at=error.pos)
        raise StrictJsonError("not_json", fault) from error
    if b"\\u" in raw:
        _check_surrogates(doc)
    return doc


def _check_depth(raw: bytes) -> None:
    # Almost all bodies have fewer brackets than the depth limit.
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    steps = array("b", _STRING.sub(b"", raw).translate(_STEPS, _PLAIN))
    if max(accumulate(steps), default=0) > MAX_DEPTH:
        raise StrictJsonError("too_deep", Message("More than {most} levels.", most=MAX_DEPTH))


def _reject_duplicates(pairs: list[tuple[str, Json]]) -> Doc:
    doc = dict(pairs)
    if len(doc) != len(pairs):
        twice = next(k for k, n in Counter(k for k, _ in pairs).items() if n > 1)
        raise StrictJsonError("duplicate_key", Message("The key {key} is repeated.", key=ascii(twice[:80])))
    return doc


def _reject_constant(text: str) -> NoReturn:
    raise StrictJsonError("number_out_of_range", Message("{text} is not a JSON number.", text=text))


def _parse_integer(text: str) -> int:
    value = int(text) if len(text) <= _DIGITS else MAX_INT + 1
    if abs(value) > MAX_INT:
        bounds = Message("Integers lie between {least} and {most}.", least=-MAX_INT, most=MAX_INT)
        raise StrictJsonError("number_out_of_range", bounds)
    return value


def _parse_fraction(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise StrictJsonError("number_out_of_range", "The number is too large.")
    return value


def _check_surrogates(doc: Json) -> None:
    try:
        json.dumps(doc, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise StrictJsonError("lone_surrogate", "A string contains a lone surrogate.") from error
