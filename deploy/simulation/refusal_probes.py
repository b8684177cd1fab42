"""Probes with illegal moves during simulated games, to trigger every refusal."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from domain.bots import deciding_seats
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
from domain.rollouts import random_move
from domain.types import Doc, Json, Seat

NOWHERE = "nowhere"
_MOVES_PER_KIND = 40
_LATEST_MOVES = 2
_WORDS_PERIOD = 25
_DECIDING_SHARE = 0.75
_BAD_VALUES: Sequence[Json] = ({"a": 1}, 1.5, "\x00", -(2**60), [[]], True, None, "x" * 200)


def _is_word(value: Json) -> bool:
    return isinstance(value, str)


Candidates = Callable[[Any, Seat], Iterator[Doc]]
"""(state, seat) -> all moves of a small subset of the rules, legal or not."""


class RefusalProbe:
    """Tries illegal moves of all kinds without changing the game."""

    def __init__(self, rules: AnyRuleset, rng: random.Random) -> None:
        self.rules, self.rng = rules, rng
        self.words: list[str] = [NOWHERE]
        self.legal_moves: dict[str, list[Doc]] = {}
        self.latest: list[Doc] = []
        self._age = 0
        self._attempts: Sequence[tuple[Callable[[InMemoryGame[Any]], str | None], int]] = (
            (self._try_altered, 8),
            (self._try_repeated, 4),
            (self._try_latest, 5),
            (self._try_invented, 6),
            (self._try_any_seat, 2),
            (self._try_malformed, 2),
            (self._try_list, 2),
            (self._try_not_offered, 1),
            (self._try_rewind, 1),
        )

    def learn(self, move: Doc) -> None:
        """Keep a legal move, to try it again after it has become illegal."""
        self.latest = [*self.latest[-_LATEST_MOVES:], move]
        moves = self.legal_moves.setdefault(move["type"], [])
        if len(moves) < _MOVES_PER_KIND:
            moves.append(move)
        else:
            moves[self.rng.randrange(_MOVES_PER_KIND)] = move

    def probe(self, match: InMemoryGame[Any]) -> str | None:
        """Try one move and return the code of its refusal; None if the move is legal."""
        if match.state.over:
            return self._try_repeated(match)
        if match.state.top.engine:
            return self._try_any_seat(match)
        self._refresh_words(match.state)
        (way,) = self.rng.choices([w for w, _ in self._attempts], [n for _, n in self._attempts])
        return way(match)

    def probe_candidates(self, match: InMemoryGame[Any], candidates: Candidates, most: int) -> Iterator[str]:
        """Yield the refusals of up to `most` candidates, mostly for a deciding seat, at times for any seat."""
        if match.state.over or match.state.top.engine:
            return
        seat = self._pick_deciding_seat(match) if self.rng.random() < _DECIDING_SHARE else self._pick_seat(match)
        for move in self._sample_moves(candidates(match.state, seat), most):
            code = self._find_refusal(match, seat, move)
            if code is not None:
                yield code

    def _sample_moves(self, moves: Iterator[Doc], most: int) -> Iterator[Doc]:
        """Yield `most` moves, drawn evenly by their first words, such as card and item: some have many more forms."""
        kinds: dict[tuple[str, ...], list[Doc]] = {}
        for move in moves:
            kinds.setdefault(tuple(itertools.islice(filter(_is_word, move.values()), 2)), []).append(move)
        for _ in range(most if kinds else 0):
            yield self.rng.choice(kinds[self.rng.choice(list(kinds))])

    def _refresh_words(self, state: Any) -> None:
        if self._age % _WORDS_PERIOD == 0:
            self.words = sorted({NOWHERE, *list_strings(to_json(state)), *list_strings(self.legal_moves)})
        self._age += 1

    # --- ways ---

    def _find_refusal(self, match: InMemoryGame[Any], seat: Seat, *moves: Json) -> str | None:
        try:
            dry_run(self.rules, match.state, seat, moves)
        except RuleError as error:
            return error.code
        except NeedsChance:
            return None
        return None

    def _pick_deciding_seat(self, match: InMemoryGame[Any]) -> Seat:
        return self.rng.choice(deciding_seats(match))

    def _pick_seat(self, match: InMemoryGame[Any]) -> Seat:
        return self.rng.randrange(match.game.table.seats)

    def _try_altered(self, match: InMemoryGame[Any]) -> str | None:
        seat = self._pick_deciding_seat(match)
        move: Json = random_move(self.rules, match.state, seat, self.rng)
        for _ in range(self.rng.choice((1, 1, 2))):
            move = alter_move(move, self.rng, self.words)
        return self._find_refusal(match, seat, move)

    def _pick_legal_move(self) -> Doc:
        kinds = sorted(self.legal_moves) or ["none"]
        return self.rng.choice(self.legal_moves.get(self.rng.choice(kinds), [{"type": NOWHERE}]))

    def _try_repeated(self, match: InMemoryGame[Any]) -> str | None:
        seat = self._pick_seat(match) if match.state.over else self._pick_deciding_seat(match)
        return self._find_refusal(match, seat, self._pick_legal_move())

    def _try_latest(self, match: InMemoryGame[Any]) -> str | None:
        """Try one of the latest moves by a deciding seat."""
        return self._find_refusal(
            match, self._pick_deciding_seat(match), self.rng.choice(self.latest or [{"type": NOWHERE}])
        )

    def _try_invented(self, match: InMemoryGame[Any]) -> str | None:
        """Try a well-formed move for the open decision, with ids from the state or earlier moves."""
        kind = match.state.top.kind
        fitting = [
            t
            for t, m in self.rules.moves.items()
            if m.admission.by != "engine" and (not m.admission.at or kind in m.admission.at)
        ]
        move = self._invent_move(self.rng.choice(fitting or list(self.rules.moves)))
        return self._find_refusal(match, self._pick_deciding_seat(match), move)

    def _try_any_seat(self, match: InMemoryGame[Any]) -> str | None:
        """Try any move by any seat."""
        move = (
            self._pick_legal_move()
            if self.rng.random() < 0.5
            else self._invent_move(self.rng.choice(list(self.rules.moves)))
        )
        return self._find_refusal(match, self._pick_seat(match), move)

    def _try_malformed(self, match: InMemoryGame[Any]) -> str | None:
        seat = self._pick_deciding_seat(match)
        move = random_move(self.rules, match.state, seat, self.rng)
        return self._find_refusal(match, seat, self.rng.choice(list(list_malformed(move, self.rng))))

    def _try_list(self, match: InMemoryGame[Any]) -> str | None:
        """Try two moves in one command; executed in full, since a draw in the first one matters."""
        seat = self._pick_deciding_seat(match)
        move = random_move(self.rules, match.state, seat, self.rng)
        try:
            Play(seat, [move, self.rng.choice([move, self._pick_legal_move()])]).execute(
                self.rules, match.game, match.context
            )
        except RuleError as error:
            return error.code
        return None

    def _try_not_offered(self, match: InMemoryGame[Any]) -> str | None:
        try:
            query_builder(
                self.rules, match.state, self._pick_seat(match), [self.rng.choice([NOWHERE, 10**6, {}, None])]
            )
        except RuleError as error:
            return error.code
        return None

    def _try_rewind(self, match: InMemoryGame[Any]) -> str | None:
        try:
            match.rewind(match.game.version + self.rng.randrange(3))
        except RuleError as error:
            return error.code
        raise AssertionError("a rewind that goes nowhere is accepted")

    def _invent_move(self, kind: str) -> Doc:
        fields = random_value(validator_of(self.rules.moves[kind]), self.rng, self.words)
        return {**fields, "type": kind}


# --- values ----------------------------------------------------------------------------------------------------


def list_strings(doc: Json) -> Iterator[str]:
    """Yield every string of a document, keys included."""
    if isinstance(doc, str):
        yield doc
    elif isinstance(doc, Mapping):
        for key, value in doc.items():
            yield str(key)
            yield from list_strings(value)
    elif isinstance(doc, list | tuple):
        for value in doc:
            yield from list_strings(value)


def alter_move(move: Doc, rng: random.Random, words: Sequence[str]) -> Json:
    """Return the move with one field changed, its type kept."""
    fields = sorted(set(move) - {"type"})
    if not fields:
        return {**move, "type": rng.choice(words)} if rng.random() < 0.1 else move
    name = rng.choice(fields)
    return {**move, name: alter_value(move[name], rng, words)}


def alter_value(value: Json, rng: random.Random, words: Sequence[str]) -> Json:
    """Return the value with one change of the same type; null becomes a word or a number."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, 0, 1, rng.randrange(12), 99, value + rng.randrange(1, 30)])
    if isinstance(value, str) or value is None:
        return rng.choice([rng.choice(words), rng.choice(words), None, rng.randrange(8), NOWHERE])
    if isinstance(value, dict):
        return _alter_object(value, rng, words)
    return _alter_list(list(value), rng, words)


def _alter_object(value: dict[str, Json], rng: random.Random, words: Sequence[str]) -> Json:
    if not value:
        return {rng.choice(words): rng.randrange(8)}
    key = rng.choice(sorted(value))
    way = rng.randrange(4)
    if way == 0:
        return {k: v for k, v in value.items() if k != key}
    if way == 1:
        return {**{k: v for k, v in value.items() if k != key}, rng.choice(words): value[key]}
    return {**value, key: alter_value(value[key], rng, words)}


def _alter_list(value: list[Json], rng: random.Random, words: Sequence[str]) -> Json:
    if not value:
        return [rng.choice([rng.choice(words), rng.randrange(8), {}])]
    at, way = rng.randrange(len(value)), rng.randrange(5)
    if way == 0:
        return value[:at] + value[at + 1 :]
    if way == 1:
        return [*value, value[at]]
    if way == 2:
        return value[::-1]
    return [*value[:at], alter_value(value[at], rng, words), *value[at + 1 :]]


def list_malformed(move: Doc, rng: random.Random) -> Iterator[Json]:
    """Yield malformed variants of the move, each with one fault."""
    yield {**move, "extra": 1}
    yield {k: v for k, v in move.items() if k != "type"}
    yield {**move, "type": "no_such_move"}
    yield [move]
    for name in sorted(set(move) - {"type"}):
        yield {k: v for k, v in move.items() if k != name}
        yield {**move, name: rng.choice(_BAD_VALUES)}


def random_value(shape: Validator, rng: random.Random, words: Sequence[str]) -> Any:
    """Return a random value of the given shape, with ids from `words`."""
    if isinstance(shape, IntegerRange):
        return min(shape.hi, max(shape.lo, rng.choice([0, 1, 2, rng.randrange(12), 99])))
    if isinstance(shape, Boolean):
        return rng.random() < 0.5
    if isinstance(shape, Word):
        return rng.choice(shape.of or words)
    if isinstance(shape, Nullable):
        return None if rng.random() < 0.3 else random_value(shape.inner, rng, words)
    if isinstance(shape, ListOf):
        count = min(shape.hi, shape.lo + rng.randrange(4))
        return [random_value(shape.item, rng, words) for _ in range(count)]
    if isinstance(shape, MapOf):
        return {rng.choice(words): random_value(shape.item, rng, words) for _ in range(rng.randrange(4))}
    return _random_object(shape, rng, words) if isinstance(shape, ObjectOf) else None


def _random_object(shape: ObjectOf, rng: random.Random, words: Sequence[str]) -> dict[str, Json]:
    fields = dict(shape.fields)
    values: dict[str, Json] = {}
    if shape.tag and shape.variants:
        values[shape.tag] = rng.choice(sorted(shape.variants))
        fields |= shape.variants[values[shape.tag]]
    wanted = {n: s for n, s in fields.items() if n not in values and not (s.optional and rng.random() < 0.5)}
    return values | {n: random_value(s, rng, words) for n, s in wanted.items()}
