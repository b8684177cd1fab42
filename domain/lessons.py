"""The guided first game of a ruleset: a fixed game, played in memory from `lesson.json`, and its steps.

The file names the table (`seats`, `options`, `seed`, the learner's `seat`) and the steps in order. A step may have

- `before`: the moves of others since the last step, each with its seat; null is the engine;
- `mark`: regions to mark on the map;
- `figures`: name -> pointer into the learner's board, for `{name}` in its words;
- `checks`: pointers with the values that they must have, since a sentence says so;
- `moves`: what the learner does here, made as one; without it the learner reads on;
- `words`: by language, with `title`, `text`, and for a move `wait`, why the lesson waits for it.

Pointers lead into the board (`/public`, `/own`, `/decisions`), the points by seat (`/points`), the data of the game
(`/data`), or the `/moves` of the step. In a list of things with an id, the id names one.

Nothing of it is recorded: every learner of a process plays the same game in memory.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.text.package_data import load
from domain.types import PUBLIC, Doc, Json, Seat

_FIGURE = re.compile(r"\{([a-z0-9_]+)\}")


class StepWords(msgspec.Struct, forbid_unknown_fields=True):
    """The words of a step in one language."""

    title: str
    text: str
    wait: str = ""


class LessonStep(msgspec.Struct, forbid_unknown_fields=True):
    """A step of a lesson as its file has it."""

    words: Mapping[str, StepWords]
    before: Sequence[tuple[Seat | None, Doc]] = ()
    mark: Sequence[str] = ()
    figures: Mapping[str, str] = {}
    checks: Sequence[tuple[str, Json]] = ()
    moves: Sequence[Doc] = ()


class LessonFile(msgspec.Struct, forbid_unknown_fields=True):
    """`lesson.json` of a game."""

    ruleset: str
    seats: int
    seat: Seat
    seed: str
    options: Doc
    steps: Sequence[LessonStep]


@dataclass(frozen=True)
class Lesson:
    """A lesson that has been played to its end."""

    file: LessonFile
    digest: str
    """Names this lesson and no other: what a learner has kept of an earlier one is void."""
    match: AnyInMemoryGame
    versions: Sequence[int]
    """The version that each step shows."""

    @property
    def steps(self) -> Sequence[LessonStep]:
        """Return the steps."""
        return self.file.steps

    def find_start(self, step: int) -> int:
        """Return the version before the last move of the learner, or that of the step itself if it follows none."""
        has_moved = step > 0 and (self.steps[step - 1].moves or self.steps[step].before)
        return self.versions[step - 1] if has_moved else self.versions[step]

    def facts(self, step: int) -> Doc:
        """Return what figures and checks of a step point into."""
        rules, state, seat = self.match.rules, self.match.game_at(self.versions[step]).state, self.file.seat
        return {
            "public": rules.player_view(state, PUBLIC),
            "own": rules.player_view(state, seat),
            "decisions": [each.to_json() for each in decisions(rules, state, 0, seat)],
            "points": {str(score.seat): score.points for score in rules.scores(state)},
            "data": load(rules.package, "data.json"),
            "moves": list(self.steps[step].moves),
        }

    def read_figures(self, step: int) -> dict[str, Json]:
        """Return the figures in the words of a step, by name. Raise LookupError."""
        facts = self.facts(step)
        return {name: read_pointer(facts, pointer) for name, pointer in self.steps[step].figures.items()}

    def is_expected(self, step: int, moves: Sequence[Json]) -> bool:
        """Return True if the lesson goes on with these moves. The order of units in them does not matter."""
        return canonical(_sort_lists(moves)) == canonical(_sort_lists(self.steps[step].moves))


@functools.cache
def _read_file(rules: AnyRuleset) -> tuple[LessonFile, str] | None:
    with suppress(FileNotFoundError):
        doc: Json = load(rules.package, "lesson.json") if rules.package else None
        file = msgspec.convert(doc, LessonFile) if doc else None
        if file is not None and file.ruleset == rules.meta.ruleset:
            return file, hashlib.sha256(canonical(doc)).hexdigest()[:16]
    return None


def has_lesson(rules: AnyRuleset) -> bool:
    """Return True if a ruleset has a lesson."""
    return _read_file(rules) is not None


@functools.cache
def load_lesson(rules: AnyRuleset) -> Lesson | None:
    """Return the lesson of a ruleset, or None if it has none. Raise RuleError if the rules refuse a move of it."""
    found = _read_file(rules)
    return _play(rules, *found) if found else None


def _play(rules: AnyRuleset, file: LessonFile, digest: str) -> Lesson:
    seed = hashlib.sha256(file.seed.encode()).digest()
    match = InMemoryGame(rules, file.seats, seed, options=file.options, game=f"lesson-{file.ruleset}")
    versions = list[int]()
    for step in file.steps:
        for seat, move in step.before:
            if seat is None:
                match.resolve()
            else:
                match.play(seat, move)
        versions.append(match.game.version)
        if step.moves:
            match.play(file.seat, *step.moves)
    return Lesson(file, digest, match, versions)


def _sort_lists(value: Json) -> Json:
    """Return a value with its lists in one order."""
    if isinstance(value, dict):
        return {name: _sort_lists(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return sorted((_sort_lists(each) for each in value), key=canonical)
    return value


def read_pointer(doc: Json, pointer: str) -> Json:
    """Return the value at a JSON pointer; an id names a thing in a list. Raise LookupError."""
    found = doc
    for part in pointer.split("/")[1:]:
        if isinstance(found, dict):
            found = found[part]
        elif part.isdecimal():
            found = found[int(part)]
        else:
            found = {each["id"]: each for each in found}[part]
    return found


def fill_figures(text: str, figures: Mapping[str, str]) -> str:
    """Return the text with its figures. Raise KeyError for a name without one."""
    return _FIGURE.sub(lambda name: figures[name[1]], text)
