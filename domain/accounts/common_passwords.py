"""Detection of guessable passwords: common ones and their usual variations."""

from __future__ import annotations

import functools
import importlib.util
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

SERVICE_WORDS = (
    *("annals", "struggle", "empires", "empire", "imperunde", "reason", "seven"),
    *("egc", "guerres", "cephalees", "céphalées"),
)
"""Words of the service and its games, guessed first; docs/api/accounts.md lists them."""

MIN_OTHER_CHARACTERS = 8
"""Characters besides such words that a password needs."""

_SHORTEST = 4
"""Characters of a word that counts, with any decoration."""

_LEET = str.maketrans("@4310$5!7+8", "aaeiossittb")
_DRESS = re.compile(r"^[\W\d_]{0,4}(.*?)[\W\d_]{0,8}$", re.DOTALL)
"""Punctuation, digits and years around a word."""

_SERVICE_WORDS = re.compile("|".join(sorted(SERVICE_WORDS, key=len, reverse=True)))
_SIGNS = re.compile(r"[\W_]|(?<![a-z])(?:of|et)(?![a-z])", re.DOTALL)
_REPEATED = re.compile(r"(.+?)\1+", re.DOTALL)
_ROWS = ("1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")
_COLUMNS = ("1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6yhn", "7ujm")
_WALKS = tuple(walk for line in (*_ROWS, *_COLUMNS, "abcdefghijklmnopqrstuvwxyz") for walk in (line, line[::-1]))


@functools.cache
def _load_passwords() -> frozenset[str]:
    """Return some thirty thousand common passwords of any length, read on first use."""
    # Run instead of imported, so that the unused lists are freed.
    package = importlib.util.find_spec("zxcvbn")
    (folder,) = (package and package.submodule_search_locations) or [""]
    lists = runpy.run_path(str(Path(folder) / "frequency_lists.py"))["FREQUENCY_LISTS"]
    return frozenset(word for word in lists["passwords"] if len(word) >= _SHORTEST)


def is_common(password: str) -> bool:
    """Return whether a password is common, or a variation or repetition of a common one, or a keyboard pattern."""
    text = password.casefold()
    return any(word in _load_passwords() for word in _list_bases(text)) or _is_keyboard_walk(text)


def is_service_word(password: str) -> bool:
    """Return whether little more than words of the service remains: the rest is short or a common password."""
    text = password.casefold()
    for plain in (text, text.translate(_LEET)):  # both have the same length
        ends = [0, *(at for match in _SERVICE_WORDS.finditer(plain) for at in match.span()), len(text)]
        rest = _SIGNS.sub("", " ".join(text[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)))
        if len(ends) > 2 and (len(rest) < MIN_OTHER_CHARACTERS or is_common(rest)):
            return True
    return False


def _list_bases(text: str) -> Iterator[str]:
    """Yield the words behind a password: itself, without decoration, and with letters for signs."""
    for plain in (text, text.translate(_LEET)):
        yield from _list_words(plain)
    for bare in _list_words(text):
        yield from _list_words(bare.translate(_LEET))


def _list_words(text: str) -> Iterator[str]:
    match = _DRESS.fullmatch(text)
    for word in {text, match[1] if match else text}:
        yield word
        if again := _REPEATED.fullmatch(word):
            yield again[1]


def _is_keyboard_walk(text: str) -> bool:
    """Return whether a text consists of keyboard runs of three or more neighbours."""
    at = 0
    while at < len(text):
        longest = max(_run_length(text, at, walk) for walk in _WALKS)
        if longest < 3:
            return False
        at += longest
    return True


def _run_length(text: str, at: int, walk: str) -> int:
    """Return the number of characters from there that follow that run."""
    begin = walk.find(text[at])
    if begin < 0:
        return 0
    there = walk[begin : begin + len(text) - at]
    return next((n for n, key in enumerate(there) if text[at + n] != key), len(there))
