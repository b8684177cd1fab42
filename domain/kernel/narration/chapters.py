"""Where in a game something happened, and what came of a turn: headings and digests of the chronicle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic

from domain.kernel.game.game import line, opened
from domain.kernel.narration.sentences import repeated, sentences, told
from domain.kernel.narration.template_context import as_told, asides, ranked
from domain.kernel.records.record import Record, facts_for, visible_packs
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Chapter, Ruleset
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import Name, Texts
from domain.types import DIRECTOR, Doc, Json, Viewer

MINUS = "\N{MINUS SIGN}"

Turns = Sequence[tuple[int, Chapter]]
"""Before which of a record's facts another chapter begins: index, chapter."""

Figures = Mapping[str, int]
"""What a seat has: points, and the whole numbers behind them."""


def title(texts: Texts, chapter: Chapter) -> str:
    """The heading of a turn: `War 2`; nothing in a game that has none."""
    return _said(texts, "chapter", chapter)


def heading(texts: Texts, chapter: Chapter) -> str:
    """The heading of what stands in a turn: `War 2, round 1`."""
    return _said(texts, "section", chapter)


def _said(texts: Texts, key: str, chapter: Chapter) -> str:
    if texts.get(key) is None:  # a game in one piece
        return ""
    return texts.say(key if chapter.turn else "chapter.setup", declarations.doc(chapter)) or ""


def turned(rules: Ruleset[S], state: S, facts: Sequence[Doc]) -> list[tuple[int, Chapter]]:
    """Where chapters begin among facts; `state` is the one before them.

    What ends a turn, when its rounds are over, belongs to the last of them.
    """
    now = rules.chapter(state)
    found: list[tuple[int, Chapter]] = []
    for i, fact in enumerate(rules.read(facts) if facts else ()):
        state = fact.evolve(state)
        then = rules.chapter(state)
        if then.turn != now.turn or (then != now and then.round >= now.round):
            now = then
            found.append((i, now))
    return found


def turned_publicly(rules: Ruleset[S], before: S, after: S, record: Record) -> list[tuple[int, Chapter]]:
    """Where chapters begin among a record's public facts; the states are whole."""
    now, then = rules.chapter(before), rules.chapter(after)
    if now == then:
        return []
    if record.kind == "rewound":
        return [(0, then)]
    facts = facts_for(record, DIRECTOR)
    public = {id(fact) for fact in record.public.get("facts", ())}
    return [(sum(id(f) in public for f in facts[:i]), chapter) for i, chapter in turned(rules, before, facts)]


@dataclass(frozen=True)
class Passage:
    """What is told of a record under one heading."""

    version: int
    counted: bool
    """It was not undone."""
    chapter: Chapter
    lines: tuple[str, ...]
    headlines: tuple[str, ...]
    """Those of them that a digest repeats."""


@dataclass(frozen=True)
class Tale(Generic[S]):
    """A game, or its end, as a viewer may read it, with the states that the viewer knows."""

    passages: Sequence[Passage]
    states: Mapping[int, S]
    """Version -> the state after it, of those that are told and of the one before them."""
    first: int
    """The version before them; 0 where all is told."""


def tell(
    rules: Ruleset[S], records: Sequence[Record], viewer: Viewer, texts: Texts, name: Name, after: int = 0
) -> Tale[S]:
    """What came after the version `after`. Raises whatever a forged record can break."""
    told: list[Passage] = []
    states: dict[int, S] = {}
    state, counted = opened(rules, records[0]).state, set(line(records))
    marks = {r.body["to"]: state for r in records if r.kind == "rewound"}
    for record in records:
        before, facts = state, facts_for(record, viewer)
        state = marks[record.body["to"]] if record.kind == "rewound" else state
        state = rules.fold(state, facts)
        if record.version in marks:
            marks[record.version] = state
        if record.version > after:
            if (
                record.kind == "rewound"
            ):  # told where it leads to, or a turn that was undone would stand among the others
                before = state
            turns = turned(rules, before, facts)
            said = as_told(rules, facts, asides(rules, before, facts))
            for chapter, lines, headlines in _parts(rules, record, viewer, texts, name, said, turns, before):
                told.append(Passage(record.version, record.version in counted, chapter, lines, headlines))
        if record.version >= after:
            states[record.version] = state
    return Tale(told, states, after)


def _parts(
    rules: Ruleset[S],
    record: Record,
    viewer: Viewer,
    texts: Texts,
    name: Name,
    facts: Sequence[Doc],
    turns: Turns,
    before: S,
) -> Iterator[tuple[Chapter, tuple[str, ...], tuple[str, ...]]]:
    chapter = rules.chapter(before)
    acts = Record(record.public, visible_packs(record, viewer)).acts()
    said = split(texts, name, record.kind, record.public.get("seat"), record.body, acts, facts, turns)
    for new, lines, some in said:
        chapter = new or chapter
        if len(said) > 1 and not lines:
            continue
        great = [fact for fact in some if fact["t"] in rules.meta.headlines]
        yield chapter, tuple(lines), tuple(sentences(texts, name, great))


def split(
    texts: Texts,
    name: Name,
    kind: str,
    seat: int | None,
    body: Mapping[str, Json],
    acts: Sequence[tuple[int, Doc]],
    facts: Sequence[Doc],
    turns: Turns,
) -> list[tuple[Chapter | None, list[str], Sequence[Doc]]]:
    """The sentences of a record (`told`) with the facts that they tell, cut where chapters begin.

    What begins a chapter names it; the last part may say nothing.
    """
    ends = [*(i for i, _ in turns), len(facts)]
    silent = not sentences(texts, name, facts)
    first = told(texts, name, kind, seat, body, acts if silent else (), facts[: ends[0]])
    parts: list[tuple[Chapter | None, list[str], Sequence[Doc]]] = [(None, first, facts[: ends[0]])]
    for n, (i, chapter) in enumerate(turns):
        some = facts[i : ends[n + 1]]
        parts.append((chapter, sentences(texts, name, some), some))
    return [part for part in parts[:-1] if part[1]] + parts[-1:]


# --- digests ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Digest:
    """What came of a turn, or of what is told of it."""

    chapter: Chapter
    first: int
    last: int
    """Versions."""
    lines: tuple[str, ...]
    """What was won and lost."""
    standings: tuple[str, ...]
    """What each seat has at its end, and how much more or less than before; none with whom nothing has changed."""


def figures(rules: Ruleset[S], state: S) -> tuple[Figures, ...]:
    """What each seat has; nothing where the state, folded for a reader, does not say it, or there is no game yet."""
    if not rules.chapter(state).turn:
        return ()
    scores = sorted(ranked(rules, state), key=lambda score: score.seat)
    found = ({"points": s.points, **declarations.doc(s.detail)} for s in scores)
    return tuple({k: v for k, v in one.items() if isinstance(v, int) and not isinstance(v, bool)} for one in found)


def digests(rules: Ruleset[S], texts: Texts, name: Name, tale: Tale[S]) -> list[Digest]:
    """One for each turn, what was undone left out."""
    out, kept = [], [p for p in tale.passages if p.counted]
    before = figures(rules, tale.states[tale.first]) if tale.first else ()
    for turn, group in groupby(kept, key=lambda p: p.chapter.turn):
        some = list(group)
        if not turn:
            continue
        told = Counter(text for passage in some for text in passage.headlines)
        lines = tuple(repeated(texts, text, times) for text, times in told.items())
        now = figures(rules, tale.states[some[-1].version])
        said = tuple(filter(None, (_standing(texts, name, seat, now, before) for seat in range(len(now)))))
        out.append(Digest(some[0].chapter, some[0].version, some[-1].version, lines, said))
        before = now
    return out


def _standing(texts: Texts, name: Name, seat: int, now: Sequence[Figures], before: Sequence[Figures]) -> str | None:
    old = before[seat] if before else {}
    if old == now[seat]:
        return None
    more = {key: _signed(value - old[key]) for key, value in now[seat].items() if value != old.get(key, value)}
    return texts.say("standing", {"seat": seat, **now[seat], "more": more}, name)


def _signed(number: int) -> str:
    return f"+{number}" if number > 0 else f"{MINUS}{-number}"
