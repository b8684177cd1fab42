"""An export file as people read it: headings, digests and sentences, as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from deploy.simulation.replay import NotInFile, check_viewer
from domain.errors import VerificationError
from domain.kernel.game.game import state_known_to
from domain.kernel.narration.chapters import Digest, Section, digests, narrate, section_title, turn_title
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records.export import Export
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema import declarations
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.types import DIRECTOR, PUBLIC, Json, Viewer

UNREAD = "..."
"""Stands for what the viewer may not read."""


@dataclass(frozen=True)
class Turn:
    """A turn of the game, or what stands before the first."""

    title: str
    digest: Digest | None
    """None of what was undone, and where the game comes back to a turn."""
    sections: Sequence[tuple[str, Sequence[Section]]]
    """Heading and what is told under it."""


@dataclass(frozen=True)
class Story:
    """A game, or its end from some version on, told to one viewer."""

    found: Export
    viewer: Viewer
    texts: Texts
    turns: Sequence[Turn]


def story(found: Export, rules: AnyRuleset, lang: str, viewer: Viewer | None = None, since: int = 0) -> Story:
    """What came after version `since`; to the file's own viewer unless one is named, and all of a closed game.

    Raises NotInFile, and VerificationError for a record that cannot be read.
    """
    reader: Viewer = viewer if viewer is not None else DIRECTOR if found.is_complete else found.viewer
    check_viewer(found, reader)
    if since and not 0 < since <= len(found.records):
        raise NotInFile(f"the file holds the versions 1 to {len(found.records)}")
    words = load_texts(rules.package, lang)
    try:
        name = SeatNames(words, rules.powers(state_known_to(rules, found.records, PUBLIC)), {})
        tale = narrate(rules, found.records, reader, words, name, since)
        short = {d.chapter.turn: d for d in digests(rules, words, name, tale)}
    except Exception as error:  # a forged record can be of any shape
        raise VerificationError("unreadable", len(found.records), type(error).__name__) from error
    turns = []
    for turn, group in groupby(tale.sections, key=lambda p: p.chapter.turn):
        some = list(group)
        digest = short.pop(turn, None) if any(p.is_active for p in some) else None
        turns.append(Turn(turn_title(words, some[0].chapter), digest, _sections(words, some)))
    return Story(found, reader, words, turns)


def _sections(words: Texts, told: Sequence[Section]) -> list[tuple[str, Sequence[Section]]]:
    grouped = groupby(told, key=lambda p: section_title(words, p.chapter))
    return [(head, list(some)) for head, some in grouped]


# --- formats ---------------------------------------------------------------------------------------------------


def as_text(told: Story) -> Iterator[str]:
    """Lines for a terminal: the version, then a sentence; `~` marks what was undone."""
    for turn in told.turns:
        if turn.title:
            yield f"== {turn.title} =="
        for said in _digest(turn):
            yield f"        {said}"
        for head, some in turn.sections:
            if head != turn.title:
                yield f"-- {head} --"
            for passage in some:
                for said in passage.lines or (UNREAD,):
                    yield f"{' ' if passage.is_active else '~'}{passage.version:>5}  {said}"


def as_markdown(told: Story) -> Iterator[str]:
    """CommonMark; what was undone is struck out."""
    yield f"# {told.texts.get('title') or told.found.ruleset}"
    for turn in told.turns:
        if turn.title:
            yield from ("", f"## {turn.title}")
        if said := _digest(turn):
            yield from ("", *(f"> {_escaped(text)}  " for text in said))
        for head, some in turn.sections:
            if head != turn.title:
                yield from ("", f"### {head}")
            yield ""
            for passage in some:
                for text in passage.lines or (UNREAD,):
                    marked = _escaped(text) if passage.is_active else f"~~{_escaped(text)}~~"
                    yield f"- {passage.version}: {marked}"


def as_json(told: Story) -> Iterator[str]:
    """One document."""
    turns: list[dict[str, Json]] = []
    for turn in told.turns:
        sections = [{"title": head, "entries": [_entry(p) for p in some]} for head, some in turn.sections]
        short = turn.digest
        digest = short and {"lines": list(short.lines), "standings": list(short.standings)}
        turns.append({"title": turn.title, "digest": digest, "sections": sections})
    doc = {"game": told.found.game, "ruleset": told.found.ruleset, "lang": told.texts.lang, "viewer": str(told.viewer)}
    yield json.dumps({**doc, "turns": turns}, ensure_ascii=False, indent=2)


FORMATS: dict[str, Callable[[Story], Iterator[str]]] = {"text": as_text, "markdown": as_markdown, "json": as_json}


def _digest(turn: Turn) -> Sequence[str]:
    return (*turn.digest.lines, *turn.digest.standings) if turn.digest else ()


def _entry(passage: Section) -> dict[str, Json]:
    where = declarations.doc(passage.chapter)
    return {"version": passage.version, "undone": not passage.is_active, "chapter": where, "text": list(passage.lines)}


def _escaped(text: str) -> str:
    """What people have written must not become a heading, a link or a tag."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!~" else c for c in text)
