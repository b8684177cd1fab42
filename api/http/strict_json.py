"""JSON as it comes in, without anything that two readers could read differently.

Refused, each with its own code: what is no JSON or no UTF-8, keys that come twice, NaN and infinities, integers beyond
2^53, lone surrogates, and nesting deeper than 64. Fractions pass: whether a number must be whole is the schema's
business.
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

# A string that does not end is taken whole as well, so that no text is read twice.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""A bracket as a step of the depth, in signed bytes."""
_PLAIN = bytes(set(range(256)) - set(b"[{]}"))
_DIGITS = len(str(MAX_INT)) + 1


class StrictJsonError(Exception):
    """The text is refused; `code` says why, `detail` where or what."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


def parse(raw: bytes) -> Json:
    """The document; raises StrictJsonError."""
    _check_depth(raw)
    try:
        doc = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_int=_whole,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise StrictJsonError("not_json", Message("The body is not UTF-8 (byte {at}).", at=error.start)) from error
    except json.JSONDecodeError as error:
        fault = Message("{fault} (character {at}).", fault=Message(error.msg), at=error.pos)
        raise StrictJsonError("not_json", fault) from error
    if b"\\u" in raw:
        _check_text(doc)
    return doc


def _check_depth(raw: bytes) -> None:
    # Almost every body has fewer brackets than the depth that is allowed.
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    steps = array("b", _STRING.sub(b"", raw).translate(_STEPS, _PLAIN))
    if max(accumulate(steps), default=0) > MAX_DEPTH:
        raise StrictJsonError("too_deep", Message("More than {most} levels.", most=MAX_DEPTH))


def _unique(pairs: list[tuple[str, Json]]) -> Doc:
    doc = dict(pairs)
    if len(doc) != len(pairs):
        twice = next(k for k, n in Counter(k for k, _ in pairs).items() if n > 1)
        raise StrictJsonError("duplicate_key", Message("The key {key} comes twice.", key=ascii(twice[:80])))
    return doc


def _no_constant(text: str) -> NoReturn:
    raise StrictJsonError("number_out_of_range", Message("{text} is no JSON number.", text=text))


def _whole(text: str) -> int:
    value = int(text) if len(text) <= _DIGITS else MAX_INT + 1
    if abs(value) > MAX_INT:
        bounds = Message("Integers lie between {least} and {most}.", least=-MAX_INT, most=MAX_INT)
        raise StrictJsonError("number_out_of_range", bounds)
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise StrictJsonError("number_out_of_range", "The number is too large.")
    return value


def _check_text(doc: Json) -> None:
    try:
        json.dumps(doc, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise StrictJsonError("lone_surrogate", "A string holds half a surrogate pair.") from error
