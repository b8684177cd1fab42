"""Passwords that are guessed first: the commonest ones, and what people make of them to have them let through."""

from __future__ import annotations

import functools
import importlib.util
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

OWN = (
    *("annals", "struggle", "empires", "empire", "imperunde", "reason", "seven"),
    *("egc", "guerres", "cephalees", "céphalées"),
)
"""Words of the service and its games, which are guessed first of its passwords; docs/api/accounts.md lists them."""

MORE = 8
"""Characters that a password has beside such words, at least."""

_SHORTEST = 4
"""Characters of a word that counts, however it is dressed up."""

_LEET = str.maketrans("@4310$5!7+8", "aaeiossittb")
_DRESS = re.compile(r"^[\W\d_]{0,4}(.*?)[\W\d_]{0,8}$", re.DOTALL)
"""Signs, digits and years around a word."""

_OWN = re.compile("|".join(sorted(OWN, key=len, reverse=True)))
_SIGNS = re.compile(r"[\W_]|(?<![a-z])(?:of|et)(?![a-z])", re.DOTALL)
_REPEATED = re.compile(r"(.+?)\1+", re.DOTALL)
_ROWS = ("1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")
_COLUMNS = ("1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6yhn", "7ujm")
_WALKS = tuple(walk for line in (*_ROWS, *_COLUMNS, "abcdefghijklmnopqrstuvwxyz") for walk in (line, line[::-1]))


@functools.cache
def _listed() -> frozenset[str]:
    """The commonest passwords, of any length; some thirty thousand, read when they are first asked for."""
    # Run and not imported: the other lists are of no use here, and go again.
    package = importlib.util.find_spec("zxcvbn")
    (folder,) = (package and package.submodule_search_locations) or [""]
    lists = runpy.run_path(str(Path(folder) / "frequency_lists.py"))["FREQUENCY_LISTS"]
    return frozenset(word for word in lists["passwords"] if len(word) >= _SHORTEST)


def common(password: str) -> bool:
    """Whether it is one of the commonest, or one of those dressed up, said again, or a walk over the keys."""
    text = password.casefold()
    return any(word in _listed() for word in _bases(text)) or _walked(text)


def own(password: str) -> bool:
    """Whether it is little more than words of the service: what is beside them is short, or one of the commonest."""
    text = password.casefold()
    for plain in (text, text.translate(_LEET)):  # of the same length
        ends = [0, *(at for found in _OWN.finditer(plain) for at in found.span()), len(text)]
        rest = _SIGNS.sub("", " ".join(text[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)))
        if len(ends) > 2 and (len(rest) < MORE or common(rest)):
            return True
    return False


def _bases(text: str) -> Iterator[str]:
    """What may have been dressed up: itself, without what stands around it, and with letters for signs."""
    for plain in (text, text.translate(_LEET)):
        yield from _within(plain)
    for bare in _within(text):
        yield from _within(bare.translate(_LEET))


def _within(text: str) -> Iterator[str]:
    found = _DRESS.fullmatch(text)
    for word in {text, found[1] if found else text}:
        yield word
        if again := _REPEATED.fullmatch(word):
            yield again[1]


def _walked(text: str) -> bool:
    """Whether it is made of nothing but runs of three or more neighbours."""
    at = 0
    while at < len(text):
        longest = max(_run(text, at, walk) for walk in _WALKS)
        if longest < 3:
            return False
        at += longest
    return True


def _run(text: str, at: int, walk: str) -> int:
    """How many characters from there follow each other in that walk."""
    begin = walk.find(text[at])
    if begin < 0:
        return 0
    there = walk[begin : begin + len(text) - at]
    return next((n for n, key in enumerate(there) if text[at + n] != key), len(there))
