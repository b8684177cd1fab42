"""The rules of a table's game as a page: every rule number is an anchor."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flask import Response

from api.pages.in_process import require
from api.pages.session import render_games_page
from api.pages.table import load_table

_HEADING = re.compile(r"(#{1,4}) (.*)")
_RULE = re.compile(r"- \*\*([A-Z0-9]{2,4}-[0-9][0-9a-z.]*)\*\* ?(.*)")
_NUMBER = re.compile(r"([A-Z0-9]{2,4}-[0-9][0-9a-z.]*)")
_MARKS = re.compile(r"\*\*|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Block:
    """A heading (its level), a rule (its number), or a paragraph of the rules page."""

    text: str
    level: int = 0
    rule: str = ""
    table: bool = False


def show_rules(game: str) -> Response:
    """Show the rules of the table's game."""
    page = load_table(game)
    text = require("GET", f"/rulesets/{page.summary['ruleset']}/rules")["text"]
    return render_games_page("rules", wide=True, page=page, blocks=read_blocks(text))


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
