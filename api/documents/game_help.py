"""Help of a game for people: what each decision is for, why a bot makes a move, and a line for each thing."""

from __future__ import annotations

import functools
from contextlib import suppress
from typing import NotRequired, TypedDict

import msgspec

from api.schemas.history_responses import HelpLineDoc
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.kernel.text.package_data import load
from domain.types import Doc, Json


class HelpLine(TypedDict):
    """A sentence about a thing, in each language, with the number of its rule."""

    en: str
    fr: str
    rule: NotRequired[str]


class HelpList(TypedDict):
    """A sentence about each item of a list of the game's data, filled in with the members of the item.

    `at`: path of the list. `where`: members of these items, with their values.
    """

    at: str
    where: NotRequired[dict[str, Json]]
    en: str
    fr: str
    rule: NotRequired[str]


class GameHelp(TypedDict):
    """Help of a game.

    `decisions`: kind -> language -> what it is for, and what to weigh. `reasons`: decision, or decision and kind of
    move -> why the bot makes such a move. `lines`: id -> sentence. `lists`: sentences made of the game's data.
    """

    decisions: dict[str, dict[str, list[str]]]
    reasons: dict[str, HelpLine]
    lines: dict[str, HelpLine]
    lists: list[HelpList]


@functools.cache
def load_help(package: str) -> GameHelp | None:
    """Return `help.json` of a game, or None for a game without one."""
    with suppress(FileNotFoundError):
        found: Json = load(package, "help.json") if package else None
        return msgspec.convert(found, GameHelp) if found else None
    return None


@functools.cache
def describe_things(package: str, lang: str) -> dict[str, HelpLineDoc]:
    """Return id -> a sentence about a region, piece, card or another thing of a game."""
    found = load_help(package)
    if found is None:
        return {}
    data: Json = load(package, "data.json")
    texts, lines = load_texts(package, lang), dict[str, HelpLineDoc]()
    for id_, line in found["lines"].items():
        lines[id_] = {"text": line[lang], "rule": line.get("rule", "")}  # type: ignore[literal-required]
    for each in found["lists"]:
        wanted, template = each.get("where", {}), {"line": each[lang]}  # type: ignore[literal-required]
        filler = Texts(lang, {**texts.own, **template}, texts.common)
        for item in functools.reduce(lambda part, name: part[name], each["at"].split("."), data):
            if item["id"] not in lines and all(item.get(name) == value for name, value in wanted.items()):
                text = filler.render("line", item) or ""
                lines[item["id"]] = {"text": text, "rule": each.get("rule", "")}
    return lines


def explain_decision(package: str, kind: str, lang: str) -> list[str]:
    """Return what a decision is for, and what to weigh; nothing for an unknown one."""
    found = load_help(package)
    return list(found["decisions"].get(kind, {}).get(lang, ())) if found else []


def give_reason(package: str, kind: str, move: Doc, lang: str) -> str:
    """Return why the heuristic makes such a move for a decision, or an empty text."""
    found = load_help(package)
    for key in (f"{kind}.{move['type']}", kind):
        if found and (reason := found["reasons"].get(key)):
            return reason[lang]  # type: ignore[literal-required,no-any-return]
    return ""
