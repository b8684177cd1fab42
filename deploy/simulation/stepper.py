"""Steps through an export file in a terminal, forwards and back, by keys."""

from __future__ import annotations

import json
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from deploy.simulation.narrate import UNREADABLE, build_story
from deploy.simulation.replay import build_board
from domain.kernel.narration.chapters import Section
from domain.kernel.records.export import Export
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import Json, Viewer

HELP = "n next, p previous, ] next turn, [ previous turn, 0 first, $ last, b board, q quit"

_KEYS = {
    **dict.fromkeys((" ", "\n", "\x1b[C", "\x1b[B"), "n"),
    **dict.fromkeys(("\x1b[D", "\x1b[A"), "p"),
    "\x1b[6~": "]",
    "\x1b[5~": "[",
    "\x1b[H": "0",
    "\x1b[F": "$",
    "\x04": "q",
    "": "q",
}
"""Arrows and other keys -> the letter that does the same. The end of the input quits."""

MAX_CHANGES = 40
"""Lines of changes shown for one step."""


class Stepper:
    """A viewer's game at one version after the other."""

    def __init__(self, game_export: Export, rules: AnyRuleset, viewer: Viewer, lang: str) -> None:
        """Raises NotInFile, and VerificationError for an unreadable record."""
        story = build_story(game_export, rules, lang, viewer)
        self.last = len(game_export.records)
        self._told: dict[int, list[Section]] = {}
        self._turns = {1: ""}  # first version of each turn -> its title
        title = ""
        for turn in story.turns:
            sections = [section for _, some in turn.sections for section in some]
            if turn.title != title:
                self._turns[sections[0].version] = title = turn.title
            for section in sections:
                self._told.setdefault(section.version, []).append(section)

        @lru_cache(maxsize=64)
        def board(version: int) -> dict[str, Json]:
            return build_board(rules, game_export, version, viewer)

        self.board = board

    def move(self, version: int, key: str) -> int:
        """Return the version shown after a key; the same one at either end."""
        later = [v for v in self._turns if v > version]
        earlier = [v for v in self._turns if v < version]
        to = {"n": version + 1, "p": version - 1, "0": 1, "$": self.last}
        to |= {"]": min(later, default=self.last), "[": max(earlier, default=1)}
        return min(max(to.get(key, version), 1), self.last)

    def describe(self, version: int, before: int) -> Iterator[str]:
        """Yield the sentences of a version, and what differs from the board shown before; `~` marks undone records."""
        title = self._turns[max(v for v in self._turns if v <= version)]
        yield f"[{version}/{self.last}] {title}".rstrip()
        for section in self._told.get(version, ()):
            for text in section.lines or (UNREADABLE,):
                yield f"{' ' if section.is_active else '~'} {text}"
        if before != version:
            changes = list(list_changes(self._visible_parts(before), self._visible_parts(version)))
            yield from (f"    {change}" for change in changes[:MAX_CHANGES])
            if len(changes) > MAX_CHANGES:
                yield f"    and {len(changes) - MAX_CHANGES} other changes"

    def _visible_parts(self, version: int) -> dict[str, Json]:
        return {name: self.board(version)[name] for name in ("public", "own")}


def list_changes(before: Json, after: Json, path: str = "") -> Iterator[str]:
    """Yield a line for each value that differs: its path, the old value and the new one."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            yield from list_changes(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from list_changes(*pair, f"{path}.{number}")
    elif before != after:
        yield f"{path}: {_shorten(before)} -> {_shorten(after)}"


def _shorten(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}..."


def step_through(stepper: Stepper) -> None:
    """Show versions by keys from the standard input until `q`."""
    version = before = 1
    print(HELP)
    with _single_keys():
        while True:
            print("\n".join(stepper.describe(version, before)), flush=True)
            key = _read_key()
            while key == "b" or key not in "np][0$q":
                print(
                    json.dumps(stepper.board(version), ensure_ascii=False, indent=2) if key == "b" else HELP, flush=True
                )
                key = _read_key()
            if key == "q":
                return
            version, before = stepper.move(version, key), version


def _read_key() -> str:
    key = sys.stdin.read(1)
    if key == "\x1b" and sys.stdin.read(1) == "[":
        key = "\x1b[" + sys.stdin.read(1)
        if key[-1].isdigit():
            key += sys.stdin.read(1)
    return _KEYS.get(key, key)


@contextmanager
def _single_keys() -> Iterator[None]:
    """Let a terminal give each key at once. Other inputs stay as they are."""
    if not sys.stdin.isatty():
        yield
        return
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        yield
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
