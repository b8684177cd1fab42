"""Make the exercises of a game: `python -m tests.players.make_exercises seven_empires 4 seed`. It prints the file.

Heuristic bots play a game. Then each decision of it is tried with the moves of other decisions, and with single members
exchanged. What the rules refuse by rules that are seldom met makes the exercises.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import msgspec

from domain.errors import RuleError
from domain.exercises import (
    ExerciseFile,
    ExerciseSpec,
    answer,
    count_points,
    find_refusal,
    open_match,
)
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.game.in_memory_game import AnyInMemoryGame
from domain.kernel.narration.move_sentences import MoveSentences
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.rollouts import heuristic_proposals, random_move
from domain.ruleset_registry import load_shipped
from domain.types import Doc, Json, Seat

EXERCISES, COUNTS = 12, 2
ANSWERS = 4
MOST_MOVES = 450

FORMS = ("malformed_move", "unknown_move", "not_offered", "bot_has_no_say")

PLAIN = ("self", "same", "not_your_army", "wrong_empire")
"""Parts of codes of refusals that nobody would take for a legal move."""

COMMON = ("unit", "units", "kind", "type", "why")
"""Members of a refusal that name no single thing."""

FIT = (0.5, 2.0)
"""Least and greatest length of the right answer, by the mean length of the others."""


@dataclass(frozen=True)
class Try:
    """A move that the rules refuse at a decision."""

    at: int
    seat: Seat
    move: Doc
    refusal: RuleError


def find_code(rules: AnyRuleset, state: State, seat: Seat, move: Doc) -> tuple[str, str] | None:
    """Return the code and the rule of a refusal. What comes of a legal move may rest on things unknown to the seat."""
    try:
        refusal = find_refusal(rules, state, seat, move)
    except (LookupError, TypeError, AttributeError):
        return None
    return (refusal.code, refusal.rule) if refusal else None


@dataclass
class Maker:
    """What is known of a game while its exercises are made."""

    rules: AnyRuleset
    match: AnyInMemoryGame
    moves: list[tuple[Seat | None, Doc]]
    rng: random.Random
    first: int
    """The version before the first move."""
    tries: list[Try] = field(default_factory=list)
    legal: dict[int, list[Doc]] = field(default_factory=lambda: defaultdict(list))

    def state(self, at: int) -> State:
        found: State = self.match.game_at(self.first + at).state
        return found

    def is_known(self, at: int, seat: Seat, moves: Sequence[Doc]) -> bool:
        """Return True if the answers follow from what the seat may know."""
        known = state_known_to(self.rules, self.match.records[: self.first + at], seat)
        return [find_code(self.rules, known, seat, move) for move in moves] == [
            find_code(self.rules, self.state(at), seat, move) for move in moves
        ]

    def words(self, seat: Seat, at: int, move: Doc) -> list[str]:
        found = []
        for lang in LANGUAGES:
            texts = load_texts(self.rules.package, lang)
            namer = SeatNames(texts, {}, {})
            found.append(MoveSentences(self.rules, texts, namer, seat, self.state(at)).move(move))
        return found

    def reasons(self, refusal: RuleError) -> list[str]:
        return [load_texts(self.rules.package, lang).refusal(refusal.code, refusal.detail) or "" for lang in LANGUAGES]


def play_game(
    rules: AnyRuleset, seats: int, seed: str, options: Doc
) -> tuple[AnyInMemoryGame, list[tuple[Seat | None, Doc]]]:
    match, rng = open_match(rules, seats, seed, options), random.Random(seed)
    moves: list[tuple[Seat | None, Doc]] = []
    while not match.state.over and len(moves) < MOST_MOVES:
        top = match.state.top
        if top.engine:
            match.resolve()
            moves.append((None, {}))
            continue
        seat = rng.choice(top.owing)
        proposals = heuristic_proposals(rules, match.state, seat, rng)
        for move in chain(proposals, [None]):
            made = move or random_move(rules, match.state, seat, rng)
            try:
                match.play(seat, made)
            except RuleError:
                continue
            moves.append((seat, made))
            break
    return match, moves


@dataclass
class Samples:
    """Moves of the game by type, and the values of their members."""

    moves: dict[str, dict[bytes, Doc]] = field(default_factory=lambda: defaultdict(dict))
    values: dict[tuple[str, str], dict[bytes, Json]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, move: Doc) -> None:
        self.moves[move["type"]][canonical(move)] = move
        for member, value in move.items():
            self.values[move["type"], member][canonical(value)] = value

    def vary(self, made: Doc, types: Sequence[str], rng: random.Random) -> list[Doc]:
        """Return moves of these types, each once, also with one member exchanged."""
        found = [m for t in types for m in rng.sample(list(self.moves[t].values()), min(8, len(self.moves[t])))]
        for base in [made, *found[:10]]:
            for member in [each for each in base if each != "type"]:
                known = list(self.values[base["type"], member].values())
                found += [{**base, member: value} for value in rng.sample(known, min(6, len(known)))]
        return list({canonical(move): move for move in found if move["type"] in types}.values())


def try_moves(maker: Maker) -> None:
    """Try moves at each decision that others made elsewhere, and with one member exchanged."""
    samples = Samples()
    for seat, move in maker.moves:
        if seat is not None:
            samples.add(move)
    for at, (seat, made) in enumerate(maker.moves):
        if seat is None:
            continue
        state = maker.state(at)
        admissions = {name: kind.admission for name, kind in maker.rules.moves.items()}
        types = [name for name, each in admissions.items() if state.top.kind in each.at and each.by != "may"]
        for move in samples.vary(made, types, maker.rng):
            refusal = find_refusal(maker.rules, state, seat, move)
            if refusal is None:
                maker.legal[at].append(move)
            elif (
                refusal.rule
                and refusal.code not in FORMS
                and all(maker.reasons(refusal))
                and not is_plain(move, refusal)
            ):
                maker.tries.append(Try(at, seat, move, refusal))


def is_plain(move: Doc, refusal: RuleError) -> bool:
    """Return True for a refusal that nobody overlooks: of one thing twice, to where it began, or of others' things."""
    places = [value for value in move.values() if isinstance(value, str)]
    is_double = len({*places}) < len(places) or move.get("a", -1) == move.get("b", -2)
    return is_double or any(part in refusal.code for part in PLAIN)


def is_alike(one: Doc, other: Doc) -> int:
    return sum(other.get(member) == value for member, value in one.items())


def list_words(value: Json) -> set[str]:
    """Return the words in a value."""
    if isinstance(value, str):
        return {value}
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return {word for each in parts for word in list_words(each)}


def may_be_said(refusal: RuleError, move: Doc) -> bool:
    """Return True if a reason names nothing but what is in the move: then a learner may believe it of that move."""
    named = {name: value for name, value in refusal.detail.items() if name not in COMMON}
    return list_words(named) <= list_words(move)


def is_hidden(right: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return True if the length of the right answer does not tell it, in any language."""
    means = [sum(map(len, each)) / len(each) for each in zip(*others, strict=True)]
    return all(FIT[0] <= len(text) / mean <= FIT[1] for text, mean in zip(right, means, strict=True))


def place_right(specs: Sequence[ExerciseSpec], rights: Sequence[int], rng: random.Random) -> Iterator[ExerciseSpec]:
    """Yield the exercises with their right answers at all places alike."""
    met = Counter[int]()
    for spec, right in zip(specs, rights, strict=True):
        if spec.kind == "count":
            met[right] += 1
            yield spec
            continue
        place = min(range(len(spec.moves)), key=lambda each: (met[each], rng.random()))
        met[place] += 1
        moves = [move for n, move in enumerate(spec.moves) if n != right]
        moves.insert(place, spec.moves[right])
        yield msgspec.structs.replace(spec, moves=moves, asked=place if spec.kind == "refused" else 0)


def pick_rules(maker: Maker, count: int) -> Iterator[ExerciseSpec]:
    """Yield exercises of refused moves, each of another rule, seldom met ones first."""
    met = Counter((t.refusal.code, t.refusal.rule) for t in maker.tries)
    rng, used = maker.rng, set[str]()
    places: list[int] = []
    by_place = defaultdict(list)
    for each in maker.tries:
        by_place[each.at].append(each)
    made = 0
    span = len(maker.moves) // (count * 2)
    for rule, _ in sorted(met.items(), key=lambda item: item[1] + rng.random()):
        if made == count:
            return
        if rule[0] in used:
            continue
        found = [t for t in maker.tries if (t.refusal.code, t.refusal.rule) == rule]
        rng.shuffle(found)
        for asked in found:
            if any(abs(asked.at - place) < span for place in places):
                continue
            others = sorted(by_place[asked.at], key=lambda t: (-is_alike(asked.move, t.move), rng.random()))
            spec = make_refused(maker, asked, others) or make_allowed(maker, asked, others)
            if spec is None:
                continue
            used.add(rule[0])
            places.append(asked.at)
            made += 1
            yield spec
            break


def make_refused(maker: Maker, asked: Try, others: Sequence[Try]) -> ExerciseSpec | None:
    chosen, codes = [asked], {asked.refusal.code, *(code for code, _ in asked.refusal.also)}
    said = {tuple(maker.reasons(asked.refusal))}
    for each in others:
        reason = tuple(maker.reasons(each.refusal))
        is_fit = each.move["type"] == asked.move["type"] and may_be_said(each.refusal, asked.move)
        if is_fit and each.refusal.code not in codes and reason not in said and len(chosen) < ANSWERS:
            chosen.append(each)
            codes.add(each.refusal.code)
            said.add(reason)
    reasons = [maker.reasons(each.refusal) for each in chosen]
    if len(chosen) < 3 or not is_hidden(reasons[0], reasons[1:]):
        return None
    maker.rng.shuffle(chosen)
    moves = [each.move for each in chosen]
    if not maker.is_known(asked.at, asked.seat, moves):
        return None
    return ExerciseSpec("refused", maker.first + asked.at, asked.seat, moves, chosen.index(asked))


def make_allowed(maker: Maker, asked: Try, others: Sequence[Try]) -> ExerciseSpec | None:
    legal = sorted(maker.legal[asked.at], key=lambda move: (-is_alike(asked.move, move), maker.rng.random()))
    if not legal or legal[0]["type"] != asked.move["type"]:
        return None
    chosen = [legal[0], asked.move]
    codes = {asked.refusal.code}
    for fresh in (True, False):
        for each in others:
            is_fit = each.move["type"] == asked.move["type"] and each.move not in chosen
            if is_fit and (each.refusal.code not in codes) == fresh and len(chosen) < ANSWERS:
                chosen.append(each.move)
                codes.add(each.refusal.code)
    words = [tuple(maker.words(asked.seat, asked.at, move)) for move in chosen]
    if len(chosen) < 3 or any(len({w[i] for w in words}) < len(words) for i in range(len(LANGUAGES))):
        return None
    if not is_hidden(words[0], words[1:]):
        return None
    if not maker.is_known(asked.at, asked.seat, chosen):
        return None
    maker.rng.shuffle(chosen)
    return ExerciseSpec("allowed", maker.first + asked.at, asked.seat, chosen)


def pick_counts(maker: Maker) -> Iterator[ExerciseSpec]:
    """Yield countings of points after which another seat leads, without a draw."""
    found = []
    for at, (seat, _) in enumerate(maker.moves):
        before = count_points(maker.rules, maker.state(at))
        after = count_points(maker.rules, maker.state(at + 1))
        changed = sum(a != b for a, b in zip(before, after, strict=True))
        drawn = maker.match.records[maker.first + at].head.draws
        if changed < 2 or after.count(max(after)) > 1 or drawn:
            continue
        lead = after.index(max(after)) != before.index(max(before))
        found.append((lead, changed, maker.rng.random(), at, seat))
    for _, _, _, at, seat in sorted(found, reverse=True)[:COUNTS]:
        yield ExerciseSpec("count", maker.first + at, seat or 0)


def main(game: str, seats: int, seed: str) -> None:
    rules = load_shipped().latest(game)
    options: Doc = {}
    match, moves = play_game(rules, seats, seed, options)
    maker = Maker(rules, match, moves, random.Random(seed), match.game.version - len(moves))
    try_moves(maker)
    specs = [*pick_counts(maker)]
    specs += pick_rules(maker, EXERCISES - len(specs))
    specs.sort(key=lambda spec: spec.version)
    whole = ExerciseFile(rules.meta.ruleset, seats, seed, options, moves, specs)
    rights = [answer(rules, whole, match, spec).right for spec in specs]
    specs = [*place_right(specs, rights, maker.rng)]
    last = max(spec.version for spec in specs) - maker.first + 1
    file = ExerciseFile(rules.meta.ruleset, seats, seed, options, moves[:last], specs)
    print(msgspec.json.encode(file).decode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
