"""Export files as headings, digests and sentences, in text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from deploy.simulation.replay import NotInFile, check_viewer
from domain.errors import VerificationError
from domain.kernel.narration.chapters import (
    NamerAt,
    Powers,
    Section,
    fold_steps,
    narrate,
    section_title,
    turn_title,
)
from domain.kernel.narration.outline import figures, outline_steps
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.narration.turn_digests import LEVELS, Digest, digests, outline_digests
from domain.kernel.records.export import Export
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.types import DIRECTOR, Json, Viewer

UNREADABLE = "..."
"""Placeholder for text hidden from the viewer."""


@dataclass(frozen=True)
class StoryTurn:
    """A turn of the game, or the part before the first turn."""

    title: str
    digest: Digest | None
    """None for undone parts, and for earlier parts of the same turn."""
    sections: Sequence[tuple[str, Sequence[Section]]]
    """Headings with their sections; none in a summary."""


@dataclass(frozen=True)
class Story:
    """A game, or its records after some version, for one viewer."""

    game_export: Export
    viewer: Viewer
    texts: Texts
    turns: Sequence[StoryTurn]

    def summary_title(self, turn: StoryTurn) -> str:
        """Return the heading of a turn's digest."""
        return self.texts.fill("line.summary", {"title": turn.title}) or ""


def build_story(
    game_export: Export,
    rules: AnyRuleset,
    lang: str,
    viewer: Viewer | None = None,
    since: int = 0,
    level: str = LEVELS[1],
) -> Story:
    """Narrate the records after version `since`; a `brief` story has digests alone.

    Default viewer: the file's own; the director for a complete file.
    Raises NotInFile, and VerificationError for an unreadable record.
    """
    reader: Viewer = viewer if viewer is not None else DIRECTOR if game_export.is_complete else game_export.viewer
    check_viewer(game_export, reader)
    if since and not 0 < since <= len(game_export.records):
        raise NotInFile(f"the file holds the versions 1 to {len(game_export.records)}")
    words = load_texts(rules.package, lang)

    def namer_at(_: int, powers: Powers) -> SeatNames:
        return SeatNames(words, powers, {})

    tell = _narrate_turns if level == LEVELS[1] else _summarize_turns
    try:
        turns = tell(rules, game_export.records, reader, words, namer_at, since)
    except Exception as error:  # a forged record can have any shape
        raise VerificationError("unreadable", len(game_export.records), type(error).__name__) from error
    return Story(game_export, reader, words, turns)


def _summarize_turns(
    rules: AnyRuleset, records: Sequence[Record], viewer: Viewer, words: Texts, namer_at: NamerAt, since: int
) -> list[StoryTurn]:
    """Return the turns with digests alone: no other sentence is rendered."""
    start, steps = fold_steps(rules, records, viewer, since)
    outline, before = outline_steps(rules, words, viewer, start, steps), figures(rules, start) if since else ()
    played = {turn.number for turn in outline.turns}
    found = outline_digests(rules, words, namer_at, outline, before)
    return [StoryTurn(turn_title(words, d.chapter), d, ()) for d in found if d.chapter.turn in played]


def _narrate_turns(
    rules: AnyRuleset, records: Sequence[Record], viewer: Viewer, words: Texts, namer_at: NamerAt, since: int
) -> list[StoryTurn]:
    """Return the turns with all their records."""
    tale = narrate(rules, records, viewer, words, namer_at, since)
    short = {d.chapter.turn: d for d in digests(rules, words, namer_at, tale)}
    turns: list[StoryTurn] = []
    parts = [(turn, list(group)) for turn, group in groupby(tale.sections, key=lambda p: p.chapter.turn)]
    for turn, some in reversed(parts):  # a turn that an undone one interrupts has its digest at its end
        digest = short.pop(turn, None) if any(p.is_active for p in some) else None
        turns.insert(0, StoryTurn(turn_title(words, some[0].chapter), digest, _group_sections(words, some)))
    return turns


def _group_sections(words: Texts, sections: Sequence[Section]) -> list[tuple[str, Sequence[Section]]]:
    grouped = groupby(sections, key=lambda p: section_title(words, p.chapter))
    return [(head, list(some)) for head, some in grouped]


# --- formats ---------------------------------------------------------------------------------------------------


def render_text(story: Story) -> Iterator[str]:
    """Yield lines for a terminal, each a version and a sentence; `~` marks undone records."""
    for turn in story.turns:
        if turn.title:
            yield f"== {turn.title} =="
        for head, some in turn.sections:
            if head != turn.title:
                yield f"-- {head} --"
            for passage in some:
                for said in passage.lines or (UNREADABLE,):
                    yield f"{' ' if passage.is_active else '~'}{passage.version:>5}  {said}"
        if summary := _digest_lines(turn):
            yield f"-- {story.summary_title(turn)} --"
            yield from (f"        {said}" for said in summary)


def render_markdown(story: Story) -> Iterator[str]:
    """Yield lines of CommonMark; undone records are struck out."""
    yield f"# {story.texts.get('title') or story.game_export.ruleset}"
    for turn in story.turns:
        if turn.title:
            yield from ("", f"## {turn.title}")
        for head, some in turn.sections:
            if head != turn.title:
                yield from ("", f"### {head}")
            yield ""
            for passage in some:
                for text in passage.lines or (UNREADABLE,):
                    marked = _escape_markdown(text) if passage.is_active else f"~~{_escape_markdown(text)}~~"
                    yield f"- {passage.version}: {marked}"
        if summary := _digest_lines(turn):
            yield from ("", f"### {story.summary_title(turn)}", "")
            yield from (f"> {_escape_markdown(text)}  " for text in summary)


def render_json(story: Story) -> Iterator[str]:
    """Yield one JSON document."""
    turns: list[dict[str, Json]] = []
    for turn in story.turns:
        sections = [{"title": head, "entries": [_section_to_json(p) for p in some]} for head, some in turn.sections]
        short = turn.digest
        digest = short and {"lines": list(short.lines), "standings": list(short.standings)}
        turns.append({"title": turn.title, "digest": digest, "sections": sections})
    doc = {
        "game": story.game_export.game,
        "ruleset": story.game_export.ruleset,
        "lang": story.texts.lang,
        "viewer": str(story.viewer),
    }
    yield json.dumps({**doc, "turns": turns}, ensure_ascii=False, indent=2)


FORMATS: dict[str, Callable[[Story], Iterator[str]]] = {
    "text": render_text,
    "markdown": render_markdown,
    "json": render_json,
}


def _digest_lines(turn: StoryTurn) -> Sequence[str]:
    return (*turn.digest.lines, *turn.digest.standings) if turn.digest else ()


def _section_to_json(passage: Section) -> dict[str, Json]:
    where = declarations.doc(passage.chapter)
    return {"version": passage.version, "undone": not passage.is_active, "chapter": where, "text": list(passage.lines)}


def _escape_markdown(text: str) -> str:
    """Escape Markdown: texts by players must not become headings, links or tags."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!~" else c for c in text)
