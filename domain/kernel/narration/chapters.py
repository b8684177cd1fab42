"""Headings of the chronicle, and digests of its turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Generic

from domain.kernel.game.game import active_versions, initial_game
from domain.kernel.narration.sentences import fact_sentences, record_members, record_sentences, with_count
from domain.kernel.narration.template_context import ranking, template_context, with_context
from domain.kernel.records.record import Record, facts_for, visible_packs
from domain.kernel.rules.flow import S, State
from domain.kernel.rules.ruleset import Chapter, Ruleset
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import SeatNamer, Texts
from domain.types import DIRECTOR, Doc, Json, Viewer

MINUS = "\N{MINUS SIGN}"

LEVELS = ("brief", "full")
"""Levels of detail of a digest."""

MOST_LINES = 12
"""Most lines of gains and losses in a brief digest of a turn; the result of the game is one more."""

MOST_RUNNERS = 6
"""Most seats named behind the winners of a game; of more, the first three."""

ChapterStarts = Sequence[tuple[int, Chapter]]
"""Starts of chapters among a record's facts: index of the first fact, chapter."""

Figures = Mapping[str, int]
"""Figures of a seat: points, and the whole numbers behind them."""


def turn_title(texts: Texts, chapter: Chapter) -> str:
    """Return the heading of a turn: `War 2`; empty in an undivided game."""
    return _render_title(texts, "chapter", chapter)


def section_title(texts: Texts, chapter: Chapter) -> str:
    """Return the heading of a section within a turn: `War 2, round 1`."""
    return _render_title(texts, "section", chapter)


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
    rulings: tuple[str, ...] = ()
    """Lines of an officer's command, for a digest."""


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
    namer_at: Callable[[int, S], SeatNamer],
    after: int = 0,
) -> Narration[S]:
    """Narrate the versions after `after`. Raise any error a forged record can cause.

    `namer_at` gives the names of a version, from the state after it as the viewer knows it.
    """
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
    namer_at: Callable[[int, S], SeatNamer],
    after: int,
    *,
    for_digests: bool = False,
) -> Narration[S]:
    """Narrate records with the states after them; `start` is the state before the first, after version `after`.

    For digests alone, sections have lines only where a turn begins within their record.
    """
    sections: list[Section] = []
    states, before, active = {after: start}, start, set(active_versions(record for record, _ in steps))
    for record, state in steps:
        if record.kind == "rewound":  # placed at its target, or an undone turn would appear among the others
            before = state
        namer, is_active = namer_at(record.version, state), record.version in active
        rulings = _officer_lines(texts, namer, record, before)
        split = _split_headlines if for_digests and rules.chapter(before) == rules.chapter(state) else _split_record
        for chapter, lines, headlines in split(rules, record, viewer, texts, namer, before):
            sections.append(Section(record.version, is_active, chapter, lines, headlines, rulings))
            rulings = ()
        states[record.version] = before = state
    return Narration(sections, states, after)


def _officer_lines(texts: Texts, namer: SeatNamer, record: Record, before: State) -> tuple[str, ...]:
    """Return the lines about an officer's command, without its effects; none for any other record."""
    if "officer" not in record.public:
        return ()
    return tuple(record_sentences(texts, namer, record.kind, record.public.get("seat"), record_members(record, before)))


def _split_record(
    rules: Ruleset[S],
    record: Record,
    viewer: Viewer,
    texts: Texts,
    namer: SeatNamer,
    before: S,
) -> Iterator[tuple[Chapter, tuple[str, ...], tuple[Doc, ...]]]:
    starts, facts = (
        chapter_starts(rules, before, facts_for(record, viewer)),
        _facts_in_context(rules, record, viewer, before),
    )
    chapter, members = rules.chapter(before), record_members(record, before)
    moves = Record(record.public, visible_packs(record, viewer)).moves()
    parts = split_by_chapter(texts, namer, record.kind, record.public.get("seat"), members, moves, facts, starts)
    for new, lines, part_facts in parts:
        chapter = new or chapter
        if len(parts) > 1 and not lines:
            continue
        yield chapter, tuple(lines), _headlines(rules, part_facts)


def _headlines(rules: Ruleset[S], facts: Sequence[Doc]) -> tuple[Doc, ...]:
    """Return the facts for a digest."""
    return tuple(fact for fact in facts if fact["t"] in rules.meta.headlines)


def _split_headlines(
    rules: Ruleset[S], record: Record, viewer: Viewer, texts: Texts, namer: SeatNamer, before: S
) -> Iterator[tuple[Chapter, tuple[str, ...], tuple[Doc, ...]]]:
    """Yield the headlines of a record within a chapter; nothing is rendered."""
    facts: Sequence[Doc] = ()
    if any(fact["t"] in rules.meta.headlines for fact in facts_for(record, viewer)):
        facts = _facts_in_context(rules, record, viewer, before)
    yield rules.chapter(before), (), _headlines(rules, facts)


def _facts_in_context(rules: Ruleset[S], record: Record, viewer: Viewer, before: S) -> Sequence[Doc]:
    facts = facts_for(record, viewer)
    return with_context(rules, facts, template_context(rules, before, facts))


def split_by_chapter(
    texts: Texts,
    namer: SeatNamer,
    kind: str,
    seat: int | None,
    body: Mapping[str, Json],
    moves: Sequence[tuple[int, Doc]],
    facts: Sequence[Doc],
    starts: ChapterStarts,
) -> list[tuple[Chapter | None, list[str], Sequence[Doc]]]:
    """Return the sentences of a record (`record_sentences`) with their facts, split at the starts of chapters.

    A part beginning a chapter names it; the last part may be empty.
    """
    ends = [*(i for i, _ in starts), len(facts)]
    silent = not fact_sentences(texts, namer, facts)
    first = record_sentences(texts, namer, kind, seat, body, moves if silent else (), facts[: ends[0]])
    parts: list[tuple[Chapter | None, list[str], Sequence[Doc]]] = [(None, first, facts[: ends[0]])]
    for n, (i, chapter) in enumerate(starts):
        part_facts = facts[i : ends[n + 1]]
        parts.append((chapter, fact_sentences(texts, namer, part_facts), part_facts))
    return [part for part in parts[:-1] if part[1]] + parts[-1:]


# --- digests ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Digest:
    """Result of a turn, or of its narrated part."""

    chapter: Chapter
    first: int
    last: int
    """Version of the last record."""
    lines: tuple[str, ...]
    """Gains and losses."""
    standings: tuple[str, ...]
    """Figures of each seat at the end, with the difference to the previous turn; unchanged seats are left out."""
    rulings: tuple[str, ...] = ()
    """Commands of officers, with their author and reason."""
    figures: tuple[Figures, ...] = ()
    """Figures of each seat at the end, as numbers: `points` and the ruleset's own."""


def figures(rules: Ruleset[S], state: S) -> tuple[Figures, ...]:
    """Return the figures of each seat; empty before the first turn, or if unknown in a state folded for a reader."""
    if not rules.chapter(state).turn:
        return ()
    scores = sorted(ranking(rules, state), key=lambda score: score.seat)
    rows = ({"points": s.points, **declarations.doc(s.detail)} for s in scores)
    return tuple({k: v for k, v in one.items() if isinstance(v, int) and not isinstance(v, bool)} for one in rows)


def digests(
    rules: Ruleset[S],
    texts: Texts,
    namer_at: Callable[[int, S], SeatNamer],
    narration: Narration[S],
    level: str = LEVELS[0],
) -> list[Digest]:
    """Return one digest for each turn, without undone records. Standings have the names of the turn's last version.

    `brief`: at most MOST_LINES gains and losses, without weightless ones. `full`: all.
    Commands of officers are told although they were undone: moved deadlines and removed players stay.
    """
    out, active = [], [p for p in narration.sections if p.is_active]
    before = figures(rules, narration.states[narration.first]) if narration.first else ()
    for turn, group in groupby(active, key=lambda p: p.chapter.turn):
        sections = list(group)
        if not turn:
            continue
        last = sections[-1].version
        state = narration.states[last]
        now, namer = figures(rules, state), namer_at(last, state)
        result = _result(rules, texts, namer, state) if state.over else None
        headlines = _render_headlines(rules, texts, namer, [fact for part in sections for fact in part.headlines])
        lines = _digest_lines(rules, texts, result, list(headlines), level)
        standings = tuple(
            filter(None, (_standing(texts, namer, seat, now, before, state.over) for seat in range(len(now))))
        )
        rulings = tuple(line for p in narration.sections if p.chapter.turn == turn for line in p.rulings)
        out.append(Digest(sections[0].chapter, sections[0].version, last, lines, standings, rulings, now))
        before = now
    return _with_other_rulings(out, narration)


def _with_other_rulings(found: list[Digest], narration: Narration[S]) -> list[Digest]:
    """Return the digests with the commands of officers of turns without one: of undone turns, and of the set-up."""
    turns = {each.chapter.turn for each in found}
    others = [p for p in narration.sections if p.rulings and p.chapter.turn not in turns]
    if not others:
        return found
    lines = tuple(line for p in others for line in p.rulings)
    if found:
        return [*found[:-1], replace(found[-1], rulings=(*lines, *found[-1].rulings))]
    return [Digest(others[0].chapter, others[0].version, others[-1].version, (), (), lines)]


@dataclass(frozen=True)
class Headline:
    """Line for a digest, with the kind of its fact."""

    kind: str
    text: str


def _render_headlines(rules: Ruleset[S], texts: Texts, namer: SeatNamer, facts: Sequence[Doc]) -> Iterator[Headline]:
    """Yield the lines of a turn for a digest: `headline.<kind>` if there is such a text, else the sentences."""
    for fact in rules.gather_headlines(facts):
        kind = str(fact["t"])
        key = f"headline.{kind}"
        said = fact_sentences(texts, namer, [fact]) if texts.get(key) is None else [texts.render(key, fact, namer)]
        yield from (Headline(kind, line) for line in said if line)


def _result(rules: Ruleset[S], texts: Texts, namer: SeatNamer, state: S) -> str | None:
    """Return the line about the winners of a finished game, with the points of all; None without a ranking."""
    scores = [{"seat": score.seat, "points": score.points, "place": score.place} for score in ranking(rules, state)]
    winners = [score["seat"] for score in scores if score["place"] == 1]
    others = [score for score in scores if score["place"] != 1]
    if not winners:
        return None
    named, rest = (others, None) if len(others) <= MOST_RUNNERS else (others[:3], len(others) - 3)
    members = {"winners": winners, "points": scores[0]["points"], "others": named, "rest": rest}
    return texts.render("line.result", members, namer)


def _digest_lines(
    rules: Ruleset[S], texts: Texts, result: str | None, headlines: Sequence[Headline], level: str
) -> tuple[str, ...]:
    """Return the result and the headlines as lines, repeated ones counted.

    In brief, these are the most important headlines, in the order of the game.
    """
    kinds = {line.text: line.kind for line in headlines if level == "full" or line.kind not in rules.meta.weightless}
    counts = Counter(line.text for line in headlines if line.text in kinds)
    kept = list(counts)
    if level == "brief" and len(kept) > MOST_LINES:
        order = rules.meta.headlines.index
        important = set(sorted(kept, key=lambda text: order(kinds[text]))[: MOST_LINES - 1])
        kept = [text for text in kept if text in important]
    lines = [with_count(texts, text, counts[text]) for text in kept]
    rest = len(counts) - len(kept)
    more = texts.render("line.more", {"rest": rest}) if rest else None
    return tuple(filter(None, [result, *lines, more]))


def _standing(
    texts: Texts, namer: SeatNamer, seat: int, now: Sequence[Figures], before: Sequence[Figures], over: bool
) -> str | None:
    old = before[seat] if before else {}
    if old == now[seat]:
        return None
    more = {key: _signed(value - old[key]) for key, value in now[seat].items() if value != old.get(key, value)}
    return texts.render("standing", {"seat": seat, **now[seat], "more": more, "over": over}, namer)


def _signed(number: int) -> str:
    return f"+{number}" if number > 0 else f"{MINUS}{-number}"
