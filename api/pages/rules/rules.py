"""The rules of a table's game beside its map: every rule number is an anchor. The index lists rules by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import Response, request

from api.documents.game_help import describe_things
from api.documents.introductions import load_introduction
from api.documents.playing_times import find_length
from api.pages.common.collation import collation_key
from api.pages.common.form_keys import new_form_key
from api.pages.common.geometry import load_geometry
from api.pages.common.in_process import require
from api.pages.common.session import redirect, render_games_page
from api.pages.map.map_drawing import draw_map
from api.pages.rules.rules_names import load_names
from api.pages.rules.rules_source import RulesSource, find_source, find_source_of_table
from domain.exercises import count_exercises
from domain.lessons import has_lesson

_HEADING = re.compile(r"(#{1,4}) (.*)")
_RULE = re.compile(r"(?:- )?\*\*([A-Z0-9]{2,4}-[0-9](?:[0-9a-z.]*[0-9a-z])?)(?:\*\*)?\.? ?(.*)")
_NUMBER = re.compile(r"([A-Z0-9]{2,4}-[0-9][0-9a-z.]*)")
_MARKS = re.compile(r"\*\*|`|(?<!\w)\*(?=\w)|(?<=[\w.,;:!?)])\*(?!\w)")
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")

CHAPTER = 2
"""Level of the headings of chapters."""


@dataclass(frozen=True)
class Block:
    """A heading (its level), a rule (its number), or a paragraph of the rules page."""

    text: str
    level: int = 0
    rule: str = ""
    table: bool = False
    anchor: str = ""
    """The place of a heading on the page."""


def show_rules(game: str) -> Response:
    """Show the rules of the table's game. A name in them leads to the map or to the index."""
    return _show_rules(find_source_of_table(game))


def show_rules_of(ruleset: str) -> Response:
    """Show the rules of a ruleset, without a table."""
    return _show_rules(find_source(ruleset))


def show_introduction(ruleset: str) -> Response:
    """Show how to play a game, in a few lines."""
    source = find_source(ruleset)
    found = load_introduction(source.labels.rules.package)
    if found is None:
        return redirect(f"{source.address}/rules")
    meta = source.labels.rules.meta
    return render_games_page(
        "introduction",
        page=source,
        found=found,
        words=found["words"][source.labels.texts.lang],
        seats=meta.seats,
        length=find_length(meta.ruleset, source.labels.rules.package, min(meta.seats)),
        key=new_form_key(),
        has_lesson=has_lesson(source.labels.rules),
        exercises=count_exercises(source.labels.rules),
    )


def _show_rules(page: RulesSource) -> Response:
    package, lang = page.labels.rules.package, page.labels.texts.lang
    geometry, names = load_geometry(package), load_names(package)
    drawing = draw_map(geometry, lang) if geometry else None
    blocks, find = _load_blocks(page), request.args.get("find", "").strip()[:60]
    return render_games_page(
        "rules",
        wide=True,
        page=page,
        blocks=[(block, names.split(block.text)) for block in _select_blocks(blocks, find)],
        chapters=[block for block in blocks if block.level == CHAPTER],
        find=find,
        has_lesson=has_lesson(page.labels.rules),
        geometry=geometry,
        drawing=f"/pages/maps/{page.ruleset}/{lang}/{drawing.digest}.svg" if drawing else "",
    )


def show_index(game: str) -> Response:
    """Show the rules by the regions, pieces and cards in them."""
    return _show_index(find_source_of_table(game))


def show_index_of(ruleset: str) -> Response:
    """Show the same for a ruleset, without a table."""
    return _show_index(find_source(ruleset))


def _show_index(page: RulesSource) -> Response:
    found = load_names(page.labels.rules.package)
    mentions = found.find_mentions((block.rule, block.text) for block in _load_blocks(page))
    names = {thing.id: thing.find_name(page.labels.texts) for thing in found.things}
    ordered = sorted(found.things, key=lambda thing: (thing.id not in mentions, collation_key(names[thing.id])))
    lines = describe_things(page.labels.rules.package, page.labels.texts.lang)
    places, others = ([t for t in ordered if t.is_place == is_place] for is_place in (True, False))
    return render_games_page(
        "rules_index",
        wide=True,
        page=page,
        parts=[
            (places, "places"),
            ([thing for thing in others if thing.id in mentions or thing.id in lines], "others"),
        ],
        names=names,
        lines=lines,
        mentions=mentions,
    )


def _load_blocks(page: RulesSource) -> list[Block]:
    """Return the blocks from the first chapter on: the preface is for programmers."""
    blocks = read_blocks(require("GET", f"/rulesets/{page.ruleset}/rules")["text"])
    first = next((n for n, block in enumerate(blocks) if block.level == CHAPTER), 0)
    return [
        replace(block, anchor=block.rule or f"chapter-{n}") if block.level else block
        for n, block in enumerate(blocks[first:])
    ]


def _select_blocks(blocks: Sequence[Block], find: str) -> list[Block]:
    """Return the blocks with a text in them, each below its headings; all without one."""
    wanted, above, found = find.casefold(), list[Block](), list[Block]()
    if not wanted:
        return list(blocks)
    for block in blocks:
        if block.level:
            above = [each for each in above if each.level < block.level] + [block]
        if wanted in block.text.casefold() or wanted == block.rule.casefold():
            found += [each for each in above if each not in found and each is not block] + [block]
    return found


def read_blocks(text: str) -> list[Block]:
    """Return the blocks of a rules page. Its marks for emphasis, code and links are left out."""
    return [block for part in re.split(r"\n\s*\n", text) for block in _read_part(part) if block.text]


def _read_part(part: str) -> list[Block]:
    found: list[Block] = []
    for line in part.splitlines():
        if heading := _HEADING.fullmatch(line):
            number = _NUMBER.match(heading[2])
            found.append(Block(_plain(heading[2]), len(heading[1]), number[1] if number else ""))
        elif rule := _RULE.match(line):
            found.append(Block(_plain(rule[2]), 0, rule[1]))
        elif line.startswith("|"):
            found.append(Block(_plain(line.strip("|").replace("|", " \u00b7 ")), table=True))
        elif line.strip("-"):
            if found and not found[-1].level and not found[-1].table and not line.startswith("- "):
                last = found.pop()
                found.append(Block(f"{last.text} {_plain(line)}", 0, last.rule))
            else:
                found.append(Block(_plain(line)))
    return found


def _plain(text: str) -> str:
    return _MARKS.sub("", _LINK.sub(r"\1", text)).strip()
