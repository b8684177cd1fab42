"""Headings of the chronicle, and its sections."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from domain.kernel.game.game_fold import active_versions, initial_game
from domain.kernel.narration.sentences import (
    Say,
    fact_sentences,
    move_sentences,
    record_heading,
    record_members,
    record_sentences,
)
from domain.kernel.narration.template_context import public_dice, template_context, with_context
from domain.kernel.records.record import Record, facts_for, visible_packs
from domain.kernel.rules.flow import S, State
from domain.kernel.rules.ruleset import Chapter, Ruleset
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import SeatNamer, Texts
from domain.types import DIRECTOR, Doc, Json, Seat, Viewer

ChapterStarts = Sequence[tuple[int, Chapter]]
"""Starts of chapters among a record's facts: index of the first fact, chapter."""

Powers = Mapping[Seat, str]
"""Seat -> id of the power that it plays."""

NamerAt = Callable[[int, Powers], SeatNamer]
"""Function from a version and its powers to its names."""


@dataclass(frozen=True)
class OfficerCommand:
    """Command of an officer, without its effects and without words."""

    version: int
    chapter: Chapter
    kind: str
    seat: Seat | None
    members: Doc
    """As `record_members` gives them."""
    powers: Powers


def turn_title(texts: Texts, chapter: Chapter) -> str:
    """Return the heading of a turn: `War 2`; empty in an undivided game."""
    return _render_title(texts, "chapter", chapter)


def section_title(texts: Texts, chapter: Chapter) -> str:
    """Return the heading of a section within a turn: `War 2, round 1`."""
    return _render_title(texts, "section", chapter)


@functools.lru_cache(4096)
def _render_title(texts: Texts, key: str, chapter: Chapter) -> str:
    if texts.get(key) is None:  # an undivided game
        return ""
    return texts.render(key if chapter.turn else "chapter.setup", declarations.doc(chapter)) or ""


def chapter_starts(rules: Ruleset[S], state: S, facts: Sequence[Doc]) -> list[tuple[int, Chapter]]:
    """Return the starts of chapters among facts; `state` is the state before them.

    The end of a turn, after its rounds, belongs to the last of them.
    """
    now = rules.chapter(state)
    starts: list[tuple[int, Chapter]] = []
    for i, fact in enumerate(rules.decode_facts(facts) if facts else ()):
        state = fact.evolve(state)
        then = rules.chapter(state)
        if then.turn != now.turn or (then != now and then.round >= now.round):
            now = then
            starts.append((i, now))
    return starts


def public_chapter_starts(rules: Ruleset[S], before: S, after: S, record: Record) -> list[tuple[int, Chapter]]:
    """Return the starts of chapters among a record's public facts; the states are complete."""
    now, then = rules.chapter(before), rules.chapter(after)
    if now == then:
        return []
    if record.kind == "rewound":
        return [(0, then)]
    facts = facts_for(record, DIRECTOR)
    public = {id(fact) for fact in record.public.get("facts", ())}
    return [(sum(id(f) in public for f in facts[:i]), chapter) for i, chapter in chapter_starts(rules, before, facts)]


@dataclass(frozen=True)
class Section:
    """Narrated part of a record under one heading."""

    version: int
    is_active: bool
    """The record was not undone."""
    chapter: Chapter
    lines: tuple[str, ...]
    headlines: tuple[Doc, ...]
    """Facts for a digest, with their context."""
    command: OfficerCommand | None = None
    """The officer's command behind the record, in its first section."""


@dataclass(frozen=True)
class Narration(Generic[S]):
    """A game, or its end, as readable by a viewer, with the states known to the viewer."""

    sections: Sequence[Section]
    states: Mapping[int, S]
    """Version -> the state after it, for the narrated versions and the one before them."""
    first: int
    """The version before the narrated ones; 0 for a whole game."""


def narrate(
    rules: Ruleset[S],
    records: Sequence[Record],
    viewer: Viewer,
    texts: Texts,
    namer_at: NamerAt,
    after: int = 0,
) -> Narration[S]:
    """Narrate the versions after `after`. Raise any error a forged record can cause."""
    start, steps = fold_steps(rules, records, viewer, after)
    return narrate_steps(rules, start, steps, viewer, texts, namer_at, after)


def fold_steps(
    rules: Ruleset[S], records: Sequence[Record], viewer: Viewer, after: int = 0
) -> tuple[S, list[tuple[Record, S]]]:
    """Return the state at version `after`, and each later record with the state after it, as the viewer knows them."""
    start = state = initial_game(rules, records[0]).state
    states_after = {r.body["to"]: state for r in records if r.kind == "rewound"}
    steps = []
    for record in records:
        state = states_after[record.body["to"]] if record.kind == "rewound" else state
        state = rules.fold(state, facts_for(record, viewer))
        if record.version in states_after:
            states_after[record.version] = state
        if record.version > after:
            steps.append((record, state))
        else:
            start = state
    return start, steps


def narrate_steps(
    rules: Ruleset[S],
    start: S,
    steps: Sequence[tuple[Record, S]],
    viewer: Viewer,
    texts: Texts,
    namer_at: NamerAt,
    after: int,
) -> Narration[S]:
    """Narrate records with the states after them; `start` is the state before the first, after version `after`."""
    sections: list[Section] = []
    states, before, active = {after: start}, start, set(active_versions(record for record, _ in steps))
    for record, state in steps:
        if record.kind == "rewound":  # placed at its target, or an undone turn would appear among the others
            before = state
        powers = rules.powers(state)
        namer, is_active = namer_at(record.version, powers), record.version in active
        parts = split_record(rules, record, viewer, texts, namer, before, state)
        command = officer_command(record, before, parts[0][0], powers)
        for chapter, lines, headlines in parts:
            sections.append(Section(record.version, is_active, chapter, lines, headlines, command))
            command = None
        states[record.version] = before = state
    return Narration(sections, states, after)


def officer_command(record: Record, before: State, chapter: Chapter, powers: Powers) -> OfficerCommand | None:
    """Return the officer's command behind a record; `before` is the state before it. None for any other record."""
    if "officer" not in record.public:
        return None
    members, seat = record_members(record, before), record.public.get("seat")
    return OfficerCommand(record.version, chapter, record.kind, seat, members, powers)


RecordParts = list[tuple[Chapter, tuple[str, ...], tuple[Doc, ...]]]
"""Chapter, lines and headlines of each part of a record."""


def split_record(
    rules: Ruleset[S],
    record: Record,
    viewer: Viewer,
    texts: Texts,
    namer: SeatNamer,
    before: S,
    after: S,
    say: Say = fact_sentences,
) -> RecordParts:
    """Return the parts of a record, at least one, split where chapters start, given the states around it.

    With `first_sentence` as `say` a part has one line of its facts at most: it tells that there is something to say.
    """
    known, chapter, members = facts_for(record, viewer), rules.chapter(before), record_members(record, before)
    starts = () if chapter == rules.chapter(after) else chapter_starts(rules, before, known)
    facts = _add_context(rules, record, known, before)
    moves = Record(record.public, visible_packs(record, viewer)).moves()
    parts = split_by_chapter(texts, namer, record.kind, record.public.get("seat"), members, moves, facts, starts, say)
    found: RecordParts = []
    for new, lines, part_facts in parts:
        chapter = new or chapter
        if lines or len(parts) == 1:
            found.append((chapter, tuple(lines), _select_headlines(rules, part_facts)))
    return found


def record_headlines(rules: Ruleset[S], record: Record, viewer: Viewer, before: S) -> tuple[Doc, ...]:
    """Return the facts of a record for a digest, with their context; nothing is rendered."""
    known = facts_for(record, viewer)
    if any(fact["t"] in rules.meta.headlines for fact in known):
        return _select_headlines(rules, _add_context(rules, record, known, before))
    return ()


def _select_headlines(rules: Ruleset[S], facts: Sequence[Doc]) -> tuple[Doc, ...]:
    return tuple(fact for fact in facts if fact["t"] in rules.meta.headlines)


def _add_context(rules: Ruleset[S], record: Record, facts: Sequence[Doc], before: S) -> Sequence[Doc]:
    return with_context(rules, facts, template_context(rules, before, facts, public_dice(rules, record)))


def split_by_chapter(
    texts: Texts,
    namer: SeatNamer,
    kind: str,
    seat: int | None,
    body: Mapping[str, Json],
    moves: Sequence[tuple[int, Doc]],
    facts: Sequence[Doc],
    starts: ChapterStarts,
    say: Say = fact_sentences,
) -> list[tuple[Chapter | None, list[str], Sequence[Doc]]]:
    """Return the sentences of a record (`record_sentences`) with their facts, split at the starts of chapters.

    A part beginning a chapter names it; the last part may be empty.
    """
    if not starts:
        return [(None, record_sentences(texts, namer, kind, seat, body, moves, facts, say), facts)]
    begins, ends = [0, *(i for i, _ in starts)], [*(i for i, _ in starts), len(facts)]
    part_facts = [facts[begin:end] for begin, end in zip(begins, ends, strict=True)]
    lines = [say(texts, namer, some) for some in part_facts]
    if not any(lines):
        lines[0] = move_sentences(texts, namer, moves)
    lines[0] = record_heading(texts, namer, kind, seat, body) + lines[0]
    chapters = [None, *(chapter for _, chapter in starts)]
    parts = list(zip(chapters, lines, part_facts, strict=True))
    return [part for part in parts[:-1] if part[1]] + parts[-1:]
