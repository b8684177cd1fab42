"""The help of a decision: open until its reader has closed it, or has made such a move."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from flask import Response, request

from api.documents.game_help import describe_things, explain_decision
from api.http import public_url
from api.pages.common.geometry import load_geometry
from api.pages.common.labels import Labels, capital
from api.schemas.history_responses import HelpLineDoc
from domain.types import Json

COOKIE = "help"
"""Cookie with the codes of all decisions whose help was read. The script of the table writes it too."""

_EXPLAINED = ("tile", "card")
"""Members of moves with a thing that has an effect."""
MOST_TERMS = 60
"""Most things that are explained below a question."""

LEAST_LINES = 4
"""Least things among the answers to a question with a sentence in each button: a player knows fewer by heart."""

SECONDS = 31_536_000

_CODES = re.compile(r"[0-9a-f]{4}(?:\.[0-9a-f]{4}){0,199}", re.ASCII)


@dataclass(frozen=True)
class HelpShown:
    """The help of a decision. `code` stands for its kind in the cookie."""

    lines: Sequence[str]
    code: str
    is_read: bool


def show_help(labels: Labels, kind: str) -> HelpShown | None:
    """Return the help of a kind of decision, or None for a game without one."""
    lines, code = explain_decision(labels.rules.package, kind, labels.texts.lang), _code(labels, kind)
    return HelpShown(lines, code, code in _list_read()) if lines else None


@dataclass(frozen=True)
class Term:
    """A thing among the answers, with the sentence about it."""

    name: str
    line: HelpLineDoc


def list_terms(labels: Labels, values: Iterable[Json]) -> list[Term]:
    """Return the things among some answers or picks, each once, without the places of the map."""
    package, texts = labels.rules.package, labels.texts
    lines, geometry = describe_things(package, texts.lang), load_geometry(package)
    places = geometry.regions if geometry else ()
    found = dict.fromkeys(word for value in values for word in _list_words(value) if word in lines)
    return [Term(capital(texts.word(each)), lines[each]) for each in found if each not in places][:MOST_TERMS]


def find_lines(labels: Labels, values: Sequence[Json]) -> list[str]:
    """Return the sentence about the thing in each answer to a question; empty texts unless most have their own.

    Words that all answers share, such as the kind of move, are no such thing.
    """
    package = labels.rules.package
    lines, geometry = describe_things(package, labels.texts.lang), load_geometry(package)
    places = geometry.regions if geometry else ()
    words = [{word for word in _list_words(value) if word in lines and word not in places} for value in values]
    shared = set.intersection(*words) if words else set()
    own = [found - shared for found in words]
    said = [lines[next(iter(found))]["text"] if len(found) == 1 else "" for found in own]
    is_worth = len(values) >= LEAST_LINES and len(set(said) - {""}) * 2 > len(said)
    return said if is_worth else [""] * len(said)


def find_line(labels: Labels, path: Sequence[Json]) -> str:
    """Return the sentence about the tile or card in the only move of its kind, or an empty text."""
    lines = describe_things(labels.rules.package, labels.texts.lang)
    things = {value for field, value, _ in path if field in _EXPLAINED and isinstance(value, str) and value in lines}
    return lines[things.pop()]["text"] if len(things) == 1 else ""


def _list_words(value: Json) -> Iterator[str]:
    """Yield the words of an answer, or of the picks of a path."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _list_words(each)


def mark_read(response: Response, labels: Labels, kind: str) -> Response:
    """Note a move of this decision by the visitor: its help is folded from now on."""
    code, read = _code(labels, kind), _list_read()
    if kind and code not in read:
        text = ".".join([*read[-199:], code])
        response.set_cookie(COOKIE, text, SECONDS, path="/", secure=public_url.is_secure(), samesite="Lax")
    return response


def _code(labels: Labels, kind: str) -> str:
    return hashlib.sha256(f"{labels.rules.package}.{kind}".encode()).hexdigest()[:4]


def _list_read() -> list[str]:
    text = request.cookies.get(COOKIE, "")
    return text.split(".") if _CODES.fullmatch(text) else []
