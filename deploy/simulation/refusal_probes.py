"""Moves that should be refused: tried on the way through a simulated game, so that every refusal is met."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from domain.bots import deciding_seats, random_move
from domain.errors import NeedsChance, RuleError
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.play_commands import Play
from domain.kernel.rules.decide import dry_run, query_builder
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.json_codec import to_json
from domain.kernel.schema.validators import (
    Boolean,
    IntegerRange,
    ListOf,
    MapOf,
    Nullable,
    ObjectOf,
    Validator,
    Word,
    validator_of,
)
from domain.types import Doc, Json, Seat

NOWHERE = "nowhere"
_KEPT = 40
_LATEST = 2
_FRESH = 25
_DECIDING = 0.75
_BAD: Sequence[Json] = ({"a": 1}, 1.5, "\x00", -(2**60), [[]], True, None, "x" * 200)


def _is_word(value: Json) -> bool:
    return isinstance(value, str)


Candidates = Callable[[Any, Seat], Iterator[Doc]]
"""Every move that a small world can hold, legal or not."""


class Prober:
    """Tries illegal moves of all kinds; what it tries changes nothing."""

    def __init__(self, rules: AnyRuleset, rng: random.Random) -> None:
        self.rules, self.rng = rules, rng
        self.words: list[str] = [NOWHERE]
        self.seen: dict[str, list[Doc]] = {}
        self.latest: list[Doc] = []
        self._age = 0
        self._ways: Sequence[tuple[Callable[[InMemoryGame[Any]], str | None], int]] = (
            (self._altered, 8),
            (self._repeated, 4),
            (self._again, 5),
            (self._invented, 6),
            (self._stranger, 2),
            (self._malformed, 2),
            (self._listed, 2),
            (self._not_offered, 1),
            (self._elsewhere, 1),
        )

    def learn(self, move: Doc) -> None:
        """Keep a legal move, to be tried again when it is none."""
        self.latest = [*self.latest[-_LATEST:], move]
        kept = self.seen.setdefault(move["type"], [])
        if len(kept) < _KEPT:
            kept.append(move)
        else:
            kept[self.rng.randrange(_KEPT)] = move

    def code(self, match: InMemoryGame[Any]) -> str | None:
        """One try: the code of the refusal, None where the move happens to be legal."""
        if match.state.over:
            return self._repeated(match)
        if match.state.top.engine:
            return self._stranger(match)
        self._refresh(match.state)
        (way,) = self.rng.choices([w for w, _ in self._ways], [n for _, n in self._ways])
        return way(match)

    def codes_of(self, match: InMemoryGame[Any], candidates: Candidates, most: int) -> Iterator[str]:
        """The refusals of some moves of a small world, for a seat that decides, now and then for any."""
        if match.state.over or match.state.top.engine:
            return
        seat = self._seat(match) if self.rng.random() < _DECIDING else self._any_seat(match)
        for move in self._spread(candidates(match.state, seat), most):
            code = self._refusal(match, seat, move)
            if code is not None:
                yield code

    def _spread(self, moves: Iterator[Doc], most: int) -> Iterator[Doc]:
        """So many of them, evenly over cards, items or whatever stands first: some have far more forms than others."""
        kinds: dict[tuple[str, ...], list[Doc]] = {}
        for move in moves:
            kinds.setdefault(tuple(itertools.islice(filter(_is_word, move.values()), 2)), []).append(move)
        for _ in range(most if kinds else 0):
            yield self.rng.choice(kinds[self.rng.choice(list(kinds))])

    def _refresh(self, state: Any) -> None:
        if self._age % _FRESH == 0:
            self.words = sorted({NOWHERE, *words_of(to_json(state)), *words_of(self.seen)})
        self._age += 1

    # --- ways ---

    def _refusal(self, match: InMemoryGame[Any], seat: Seat, *moves: Json) -> str | None:
        try:
            dry_run(self.rules, match.state, seat, moves)
        except RuleError as error:
            return error.code
        except NeedsChance:
            return None
        return None

    def _seat(self, match: InMemoryGame[Any]) -> Seat:
        return self.rng.choice(deciding_seats(match))

    def _any_seat(self, match: InMemoryGame[Any]) -> Seat:
        return self.rng.randrange(match.game.table.seats)

    def _altered(self, match: InMemoryGame[Any]) -> str | None:
        seat = self._seat(match)
        move: Json = random_move(self.rules, match.state, seat, self.rng)
        for _ in range(self.rng.choice((1, 1, 2))):
            move = altered_move(move, self.rng, self.words)
        return self._refusal(match, seat, move)

    def _known(self) -> Doc:
        kinds = sorted(self.seen) or ["none"]
        return self.rng.choice(self.seen.get(self.rng.choice(kinds), [{"type": NOWHERE}]))

    def _repeated(self, match: InMemoryGame[Any]) -> str | None:
        seat = self._any_seat(match) if match.state.over else self._seat(match)
        return self._refusal(match, seat, self._known())

    def _again(self, match: InMemoryGame[Any]) -> str | None:
        """One of the latest moves, by a seat that decides now."""
        return self._refusal(match, self._seat(match), self.rng.choice(self.latest or [{"type": NOWHERE}]))

    def _invented(self, match: InMemoryGame[Any]) -> str | None:
        """A well-formed move that fits the decision, with ids that occur somewhere."""
        kind = match.state.top.kind
        fitting = [
            t
            for t, m in self.rules.moves.items()
            if m.admission.by != "engine" and (not m.admission.at or kind in m.admission.at)
        ]
        move = self._of_shape(self.rng.choice(fitting or list(self.rules.moves)))
        return self._refusal(match, self._seat(match), move)

    def _stranger(self, match: InMemoryGame[Any]) -> str | None:
        """Any move by any seat."""
        move = self._known() if self.rng.random() < 0.5 else self._of_shape(self.rng.choice(list(self.rules.moves)))
        return self._refusal(match, self._any_seat(match), move)

    def _malformed(self, match: InMemoryGame[Any]) -> str | None:
        seat = self._seat(match)
        move = random_move(self.rules, match.state, seat, self.rng)
        return self._refusal(match, seat, self.rng.choice(list(malformed(move, self.rng))))

    def _listed(self, match: InMemoryGame[Any]) -> str | None:
        """Two moves in one list; really decided, since a draw in the first is what matters."""
        seat = self._seat(match)
        move = random_move(self.rules, match.state, seat, self.rng)
        try:
            Play(seat, [move, self.rng.choice([move, self._known()])]).execute(self.rules, match.game, match.context)
        except RuleError as error:
            return error.code
        return None

    def _not_offered(self, match: InMemoryGame[Any]) -> str | None:
        try:
            query_builder(self.rules, match.state, self._any_seat(match), [self.rng.choice([NOWHERE, 10**6, {}, None])])
        except RuleError as error:
            return error.code
        return None

    def _elsewhere(self, match: InMemoryGame[Any]) -> str | None:
        try:
            match.rewind(match.game.version + self.rng.randrange(3))
        except RuleError as error:
            return error.code
        raise AssertionError("a rewind that goes nowhere is accepted")

    def _of_shape(self, kind: str) -> Doc:
        fields = value_of(validator_of(self.rules.moves[kind]), self.rng, self.words)
        return {**fields, "type": kind}


# --- values ----------------------------------------------------------------------------------------------------


def words_of(doc: Json) -> Iterator[str]:
    """Every string of a document, keys included."""
    if isinstance(doc, str):
        yield doc
    elif isinstance(doc, Mapping):
        for key, value in doc.items():
            yield str(key)
            yield from words_of(value)
    elif isinstance(doc, list | tuple):
        for value in doc:
            yield from words_of(value)


def altered_move(move: Doc, rng: random.Random, words: Sequence[str]) -> Json:
    """The move with one field changed, its type kept."""
    fields = sorted(set(move) - {"type"})
    if not fields:
        return {**move, "type": rng.choice(words)} if rng.random() < 0.1 else move
    name = rng.choice(fields)
    return {**move, name: altered(move[name], rng, words)}


def altered(value: Json, rng: random.Random, words: Sequence[str]) -> Json:
    """Another value of the same type, at one place of it; null becomes a word or a number."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, 0, 1, rng.randrange(12), 99, value + rng.randrange(1, 30)])
    if isinstance(value, str) or value is None:
        return rng.choice([rng.choice(words), rng.choice(words), None, rng.randrange(8), NOWHERE])
    if isinstance(value, dict):
        return _altered_object(value, rng, words)
    return _altered_list(list(value), rng, words)


def _altered_object(value: dict[str, Json], rng: random.Random, words: Sequence[str]) -> Json:
    if not value:
        return {rng.choice(words): rng.randrange(8)}
    key = rng.choice(sorted(value))
    way = rng.randrange(4)
    if way == 0:
        return {k: v for k, v in value.items() if k != key}
    if way == 1:
        return {**{k: v for k, v in value.items() if k != key}, rng.choice(words): value[key]}
    return {**value, key: altered(value[key], rng, words)}


def _altered_list(value: list[Json], rng: random.Random, words: Sequence[str]) -> Json:
    if not value:
        return [rng.choice([rng.choice(words), rng.randrange(8), {}])]
    at, way = rng.randrange(len(value)), rng.randrange(5)
    if way == 0:
        return value[:at] + value[at + 1 :]
    if way == 1:
        return [*value, value[at]]
    if way == 2:
        return value[::-1]
    return [*value[:at], altered(value[at], rng, words), *value[at + 1 :]]


def malformed(move: Doc, rng: random.Random) -> Iterator[Json]:
    """The move with one fault of form put in."""
    yield {**move, "extra": 1}
    yield {k: v for k, v in move.items() if k != "type"}
    yield {**move, "type": "no_such_move"}
    yield [move]
    for name in sorted(set(move) - {"type"}):
        yield {k: v for k, v in move.items() if k != name}
        yield {**move, name: rng.choice(_BAD)}


def value_of(shape: Validator, rng: random.Random, words: Sequence[str]) -> Any:
    """A well-formed value with ids among the words."""
    if isinstance(shape, IntegerRange):
        return min(shape.hi, max(shape.lo, rng.choice([0, 1, 2, rng.randrange(12), 99])))
    if isinstance(shape, Boolean):
        return rng.random() < 0.5
    if isinstance(shape, Word):
        return rng.choice(shape.of or words)
    if isinstance(shape, Nullable):
        return None if rng.random() < 0.3 else value_of(shape.inner, rng, words)
    if isinstance(shape, ListOf):
        count = min(shape.hi, shape.lo + rng.randrange(4))
        return [value_of(shape.item, rng, words) for _ in range(count)]
    if isinstance(shape, MapOf):
        return {rng.choice(words): value_of(shape.item, rng, words) for _ in range(rng.randrange(4))}
    return _object_of(shape, rng, words) if isinstance(shape, ObjectOf) else None


def _object_of(shape: ObjectOf, rng: random.Random, words: Sequence[str]) -> dict[str, Json]:
    fields = dict(shape.fields)
    made: dict[str, Json] = {}
    if shape.tag and shape.variants:
        made[shape.tag] = rng.choice(sorted(shape.variants))
        fields |= shape.variants[made[shape.tag]]
    wanted = {n: s for n, s in fields.items() if n not in made and not (s.optional and rng.random() < 0.5)}
    return made | {n: value_of(s, rng, words) for n, s in wanted.items()}
