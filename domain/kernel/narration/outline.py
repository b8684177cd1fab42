"""Outlines: the turns of a game as data for digests, as a viewer knows them, without words of any language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Generic

from domain.kernel.narration.chapters import (
    Narration,
    OfficerCommand,
    Powers,
    officer_command,
    record_headlines,
    split_record,
)
from domain.kernel.narration.sentences import SeatNames, first_sentence
from domain.kernel.narration.template_context import ranking
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Chapter, Ruleset
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import Texts
from domain.types import Doc, Viewer

Figures = Mapping[str, int]
"""Figures of a seat: points, and the whole numbers behind them."""

MOST_RUNNERS = 6
"""Most seats named behind the winners of a game; of more, the first three."""


@dataclass(frozen=True)
class TurnPart:
    """Part of a record within one chapter."""

    version: int
    chapter: Chapter
    headlines: tuple[Doc, ...]
    """Facts for a digest, with their context."""


@dataclass(frozen=True)
class TurnEnd:
    """The game after the last record of a turn."""

    figures: tuple[Figures, ...]
    """Figures of each seat; empty if unknown to the viewer."""
    powers: Powers
    is_over: bool
    result: Doc | None
    """Members of the line about the winners; None without a ranking, or before the end of the game."""


@dataclass(frozen=True)
class TurnOutline:
    """A turn: its active versions, and what a digest tells of them."""

    spans: tuple[tuple[int, int], ...]
    """First and last version of each run of active records."""
    parts: tuple[TurnPart, ...]
    """Parts with headlines or in a new chapter; any other active version belongs to the chapter of the part before."""
    end: TurnEnd | None = None
    """None until the turn is finished, or the outline is complete."""

    @property
    def number(self) -> int:
        """Return the number of the turn; 0 before the first."""
        return self.parts[0].chapter.turn

    @property
    def powers(self) -> Powers:
        """Return the powers at its end."""
        return self.end.powers if self.end else {}

    @property
    def last(self) -> int:
        """Return the last active version."""
        return self.spans[-1][1]

    def find_first(self, after: int) -> tuple[int, Chapter]:
        """Return the first active version after another, and the chapter in which it begins."""
        version = next(max(low, after + 1) for low, high in self.spans if high > after)
        before = [part for part in self.parts if part.version < version]
        here = [part for part in self.parts if part.version == version]
        return version, (here[0] if here else before[-1]).chapter

    def add(self, parts: Sequence[TurnPart]) -> TurnOutline:
        """Return the turn with the parts of one more record."""
        version = parts[0].version
        *spans, (low, high) = self.spans
        grown = [(low, high)] if version == high else [(low, version)] if version == high + 1 else None
        told = parts if len(parts) > 1 or parts[0].headlines or parts[0].chapter != self.parts[-1].chapter else ()
        return TurnOutline((*spans, *(grown or [(low, high), (version, version)])), (*self.parts, *told))

    def truncate(self, upto: int) -> TurnOutline:
        """Return the turn without the versions after another, the same if it has none."""
        if self.last <= upto:
            return self
        spans = tuple((low, min(high, upto)) for low, high in self.spans if low <= upto)
        return TurnOutline(spans, tuple(part for part in self.parts if part.version <= upto))


@dataclass(frozen=True)
class GameOutline:
    """The turns of a game, without undone records; the part before the first turn counts as one."""

    turns: tuple[TurnOutline, ...] = ()
    commands: tuple[OfficerCommand, ...] = ()
    """Commands of officers, also undone ones."""

    def find_active(self, upto: int) -> int:
        """Return the newest active version up to another; 0 for none."""
        lows = ((low, high) for turn in reversed(self.turns) for low, high in reversed(turn.spans))
        return next((min(high, upto) for low, high in lows if low <= upto), 0)

    def truncate(self, upto: int) -> GameOutline:
        """Return the outline as it was after an active version."""
        commands = tuple(command for command in self.commands if command.version <= upto)
        return GameOutline(tuple(_truncate_turns(self.turns, upto)), commands)


def figures(rules: Ruleset[S], state: S) -> tuple[Figures, ...]:
    """Return the figures of each seat; empty before the first turn, or if unknown in a state folded for a reader."""
    if not rules.chapter(state).turn:
        return ()
    scores = sorted(ranking(rules, state), key=lambda score: score.seat)
    details = declarations.docs([score.detail for score in scores])
    rows = ({"points": score.points, **detail} for score, detail in zip(scores, details, strict=True))
    return tuple({k: v for k, v in one.items() if isinstance(v, int) and not isinstance(v, bool)} for one in rows)


def _describe_end(rules: Ruleset[S], state: S) -> TurnEnd:
    result = _result_members(rules, state) if state.over else None
    return TurnEnd(figures(rules, state), dict(rules.powers(state)), bool(state.over), result)


def _result_members(rules: Ruleset[S], state: S) -> Doc | None:
    """Return the winners of a finished game, with the points of all; None without a ranking."""
    scores: list[Doc] = [{"seat": x.seat, "points": x.points, "place": x.place} for x in ranking(rules, state)]
    winners = [score["seat"] for score in scores if score["place"] == 1]
    others = [score for score in scores if score["place"] != 1]
    if not winners:
        return None
    named, rest = (others, None) if len(others) <= MOST_RUNNERS else (others[:3], len(others) - 3)
    return {"winners": winners, "points": scores[0]["points"], "others": named, "rest": rest}


class OutlineBuilder(Generic[S]):
    """Continues the outline of a game, record by record; `state` is the one after its last record.

    `texts` of any language decide whether a part of a record says anything.
    """

    def __init__(self, rules: Ruleset[S], texts: Texts, viewer: Viewer, outline: GameOutline, state: S) -> None:
        self._rules, self._texts, self._viewer, self._state = rules, texts, viewer, state
        self._turns = list(outline.turns)
        self._commands = list(outline.commands)

    def add(self, record: Record, state: S) -> None:
        """Add a record with the state after it, as the viewer knows it."""
        before = self._state
        if record.kind == "rewound":
            self._turns = _truncate_turns(self._turns, record.body["to"])
            before = state
        self._state, rules = state, self._rules
        if rules.chapter(before) == rules.chapter(state):
            parts = [TurnPart(record.version, rules.chapter(before), self._find_headlines(record, before))]
        else:
            namer = SeatNames(self._texts, rules.powers(state), {})
            found = split_record(rules, record, self._viewer, self._texts, namer, before, state, first_sentence)
            parts = [TurnPart(record.version, chapter, headlines) for chapter, _, headlines in found]
        if "officer" in record.public:
            command = officer_command(record, before, parts[0].chapter, dict(rules.powers(state)))
            self._commands += [command] if command else []
        _add_parts(self._turns, parts)
        for i in range(len(self._turns) - 2, -1, -1):
            if (turn := self._turns[i]).end is not None:
                break
            at = state if turn.last == record.version else before  # the record may still belong to it
            self._turns[i] = replace(turn, end=_describe_end(rules, at))

    def _find_headlines(self, record: Record, before: S) -> tuple[Doc, ...]:
        return record_headlines(self._rules, record, self._viewer, before)

    def build(self) -> GameOutline:
        """Return the outline up to the last record."""
        turns = self._turns
        if turns and turns[-1].end is None:
            turns[-1] = replace(turns[-1], end=_describe_end(self._rules, self._state))
        return GameOutline(tuple(turns), tuple(self._commands))


def outline_steps(
    rules: Ruleset[S], texts: Texts, viewer: Viewer, start: S, steps: Iterable[tuple[Record, S]]
) -> GameOutline:
    """Return the outline of records with the states after them, as from `fold_steps`; `start` is the one before."""
    builder = OutlineBuilder(rules, texts, viewer, GameOutline(), start)
    for record, state in steps:
        builder.add(record, state)
    return builder.build()


def _truncate_turns(turns: Iterable[TurnOutline], upto: int) -> list[TurnOutline]:
    """Return the turns without the versions after an active one."""
    return [turn.truncate(upto) for turn in turns if turn.spans[0][0] <= upto]


def _add_parts(turns: list[TurnOutline], parts: Iterable[TurnPart]) -> None:
    """Add the parts of one record to the turns."""
    for number, group in groupby(parts, key=lambda part: part.chapter.turn):
        some = tuple(group)
        if turns and turns[-1].number == number:
            turns[-1] = turns[-1].add(some)
        else:
            turns.append(TurnOutline(((some[0].version, some[0].version),), some))


def outline_narration(rules: Ruleset[S], narration: Narration[S]) -> GameOutline:
    """Return the outline of what has been narrated."""
    turns: list[TurnOutline] = []
    active = (TurnPart(p.version, p.chapter, p.headlines) for p in narration.sections if p.is_active)
    for _, group in groupby(active, key=lambda part: part.version):
        _add_parts(turns, group)
    ended = tuple(
        replace(turn, end=_describe_end(rules, narration.states[turn.last])) if turn.number else turn for turn in turns
    )
    return GameOutline(ended, tuple(p.command for p in narration.sections if p.command))
