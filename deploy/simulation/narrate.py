"""Export files as headings, digests and sentences, in text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from deploy.simulation.replay import NotInFile, check_viewer
from domain.errors import VerificationError
from domain.kernel.narration.chapters import Digest, Section, digests, narrate, section_title, turn_title
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records.export import Export
from domain.kernel.rules.flow import State
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
    """None for undone parts, and for later parts of the same turn."""
    sections: Sequence[tuple[str, Sequence[Section]]]
    """Headings with their sections."""


@dataclass(frozen=True)
class Story:
    """A game, or its records after some version, for one viewer."""

    game_export: Export
    viewer: Viewer
    texts: Texts
    turns: Sequence[StoryTurn]


def build_story(
    game_export: Export, rules: AnyRuleset, lang: str, viewer: Viewer | None = None, since: int = 0
) -> Story:
    """Narrate the records after version `since`. Default viewer: the file's own; the director for a complete file.

    Raises NotInFile, and VerificationError for an unreadable record.
    """
    reader: Viewer = viewer if viewer is not None else DIRECTOR if game_export.is_complete else game_export.viewer
    check_viewer(game_export, reader)
    if since and not 0 < since <= len(game_export.records):
        raise NotInFile(f"the file holds the versions 1 to {len(game_export.records)}")
    words = load_texts(rules.package, lang)

    def namer_at(_: int, state: State) -> SeatNames:
        return SeatNames(words, rules.powers(state), {})

    try:
        tale = narrate(rules, game_export.records, reader, words, namer_at, since)
        short = {d.chapter.turn: d for d in digests(rules, words, namer_at, tale)}
    except Exception as error:  # a forged record can have any shape
        raise VerificationError("unreadable", len(game_export.records), type(error).__name__) from error
    turns = []
    for turn, group in groupby(tale.sections, key=lambda p: p.chapter.turn):
        some = list(group)
        digest = short.pop(turn, None) if any(p.is_active for p in some) else None
        turns.append(StoryTurn(turn_title(words, some[0].chapter), digest, _group_sections(words, some)))
    return Story(game_export, reader, words, turns)


def _group_sections(words: Texts, sections: Sequence[Section]) -> list[tuple[str, Sequence[Section]]]:
    grouped = groupby(sections, key=lambda p: section_title(words, p.chapter))
    return [(head, list(some)) for head, some in grouped]


# --- formats ---------------------------------------------------------------------------------------------------


def render_text(story: Story) -> Iterator[str]:
    """Yield lines for a terminal, each a version and a sentence; `~` marks undone records."""
    for turn in story.turns:
        if turn.title:
            yield f"== {turn.title} =="
        for said in _digest_lines(turn):
            yield f"        {said}"
        for head, some in turn.sections:
            if head != turn.title:
                yield f"-- {head} --"
            for passage in some:
                for said in passage.lines or (UNREADABLE,):
                    yield f"{' ' if passage.is_active else '~'}{passage.version:>5}  {said}"


def render_markdown(story: Story) -> Iterator[str]:
    """Yield lines of CommonMark; undone records are struck out."""
    yield f"# {story.texts.get('title') or story.game_export.ruleset}"
    for turn in story.turns:
        if turn.title:
            yield from ("", f"## {turn.title}")
        if said := _digest_lines(turn):
            yield from ("", *(f"> {_escape_markdown(text)}  " for text in said))
        for head, some in turn.sections:
            if head != turn.title:
                yield from ("", f"### {head}")
            yield ""
            for passage in some:
                for text in passage.lines or (UNREADABLE,):
                    marked = _escape_markdown(text) if passage.is_active else f"~~{_escape_markdown(text)}~~"
                    yield f"- {passage.version}: {marked}"


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
