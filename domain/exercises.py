"""Exercises of a ruleset: positions of a recorded game, with questions for the rules to answer.

`exercises.json` of a game names the table (`seats`, `options`, `seed`), the `moves` of the game in order, each with its
seat (null is the engine), and the exercises. Each has a `version` of the game, the `seat` that is asked, and a `kind`:

- `allowed`: one of the `moves` is legal, and no other;
- `refused`: why is the move number `asked` refused? The answers are the refusals of all `moves`;
- `count`: who has the most points after the next move of the game? The answers are the seats.

The rules give the right answer whenever a file is read. Nothing of an exercise is recorded.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import msgspec

from domain.errors import NeedsChance, RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.in_memory_game import AnyInMemoryGame, InMemoryGame
from domain.kernel.rules.decide import dry_run
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.package_data import load
from domain.types import Doc, Json, Seat


class ExerciseSpec(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An exercise as its file has it."""

    kind: Literal["allowed", "refused", "count"]
    version: int
    seat: Seat
    moves: Sequence[Doc] = ()
    asked: int = 0


class ExerciseFile(msgspec.Struct, forbid_unknown_fields=True):
    """`exercises.json` of a game."""

    ruleset: str
    seats: int
    seed: str
    options: Doc
    moves: Sequence[tuple[Seat | None, Doc]]
    exercises: Sequence[ExerciseSpec]


@dataclass(frozen=True)
class Exercise:
    """A position with a question, its answers, and the right one."""

    spec: ExerciseSpec
    rules: AnyRuleset
    game: AnyGame
    refusals: Sequence[RuleError | None]
    """For each of the moves why the rules refuse it, or None if they allow it."""
    points: Sequence[int]
    """For the kind `count`, the points of each seat after the next move."""
    right: int
    """Number of the right answer, from 0."""
    following: tuple[Seat | None, Doc]
    """The next move of the game, with its seat; None is the engine."""

    @property
    def count(self) -> int:
        """Return the number of answers."""
        return len(self.points) or len(self.spec.moves)


def count_exercises(rules: AnyRuleset) -> int:
    """Return the number of exercises of a ruleset, without playing its game."""
    file = read_exercises(rules)
    return len(file.exercises) if file else 0


@functools.lru_cache(maxsize=2)
def load_exercises(rules: AnyRuleset) -> Sequence[Exercise]:
    """Return the exercises of a ruleset in the order of their file; none if it has no file.

    Raise RuleError if the rules refuse a move of the game. The positions of a game take up to 8 MB, and 0.1 to 0.4 s to
    play anew, so those of two games are kept: of the game of the day, and of another one.
    """
    file = read_exercises(rules)
    if file is None:
        return ()
    match = replay(rules, file)
    return [answer(rules, file, match, spec) for spec in file.exercises]


@functools.cache
def read_exercises(rules: AnyRuleset) -> ExerciseFile | None:
    """Return the exercises of a ruleset as its file has them, or None without a file."""
    with suppress(FileNotFoundError):
        doc: Json = load(rules.package, "exercises.json") if rules.package else None
        file = msgspec.convert(doc, ExerciseFile) if doc else None
        if file is not None and file.ruleset == rules.meta.ruleset:
            return file
    return None


def replay(rules: AnyRuleset, file: ExerciseFile) -> AnyInMemoryGame:
    """Return the game of a file after its last move. Raise RuleError."""
    match = open_match(rules, file.seats, file.seed, file.options)
    for seat, move in file.moves:
        if seat is None:
            match.resolve()
        else:
            match.play(seat, move)
    return match


def open_match(rules: AnyRuleset, seats: int, seed: str, options: Doc) -> AnyInMemoryGame:
    """Return a new game for exercises."""
    return InMemoryGame(
        rules, seats, sha256(seed.encode()).digest(), options=options, game=f"exercise-{rules.meta.ruleset}"
    )


def answer(rules: AnyRuleset, file: ExerciseFile, match: AnyInMemoryGame, spec: ExerciseSpec) -> Exercise:
    """Return an exercise with the answers of the rules. `match`: the game of the file after its last move."""
    game = match.game_at(spec.version)
    refusals = [find_refusal(rules, game.state, spec.seat, move) for move in spec.moves]
    points = count_points(rules, match.game_at(spec.version + 1).state) if spec.kind == "count" else []
    right = spec.asked
    if spec.kind == "allowed":
        right = refusals.index(None)
    elif points:
        right = points.index(max(points))
    following = file.moves[spec.version - (match.game.version - len(file.moves))]
    return Exercise(spec, rules, game, refusals, points, right, following)


def find_refusal(rules: AnyRuleset, state: State, seat: Seat, move: Doc) -> RuleError | None:
    """Return why the rules refuse a move, or None if they allow it."""
    try:
        dry_run(rules, state, seat, [move])
    except RuleError as refusal:
        return refusal
    except NeedsChance:
        return None
    return None


def count_points(rules: AnyRuleset, state: State) -> list[int]:
    """Return the points of each seat."""
    found = {score.seat: score.points for score in rules.scores(state)}
    return [found[seat] for seat in sorted(found)]
