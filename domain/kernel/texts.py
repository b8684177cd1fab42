"""Text catalogues: one file per game and language, `texts/<lang>.json` in the game's package.

A flat object of key -> template. Keys: `title`, `move.<type>`, `fact.<kind>`, `decision.<kind>`, `refusal.<code>`,
`option.<name>` and `word.<id>` for every id that players see (regions, tiles, unit kinds, numbers are left as they
are). A template names members of the fact in braces: `{region}` gives the word of its value, `{seat:seat}` a seat's
name, `{order:values}` an object's values alone, `{units:lot}` each item by the template `item.lot`, whose places are
the members of an object or the numbers of a list; a list gives its items joined, an object its keys with their values,
null nothing, inside another value a dash. A clause in square brackets is left out where one of its places is empty.
An id of parts, `france-3`, reads part by part if one of them has a word. Facts without a text are silent (steps of the
flow).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from domain.ids import Doc, Json, Seat
from domain.kernel.data import load

LANGUAGES = ("en", "fr")

_PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")
_CLAUSE = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True)
class Texts:
    """The texts of one language: the game's own before the kernel's."""

    lang: str
    own: Mapping[str, str]
    common: Mapping[str, str] = field(default_factory=dict)

    def get(self, key: str) -> str | None:
        """The template of a key, None where there is none."""
        return self.own.get(key) or self.common.get(key)

    def word(self, value: Json) -> str:
        """How an id, number, list or object of them reads."""
        if isinstance(value, list):
            return ", ".join(self.word(v) or "-" for v in value)
        if isinstance(value, dict):
            return "; ".join(f"{self.word(k)} {self.word(v) or '-'}" for k, v in value.items())
        if isinstance(value, bool):
            return self.get("word.yes" if value else "word.no") or str(value)
        return "" if value is None else self.get(f"word.{value}") or self._parts(str(value))

    def _parts(self, value: str) -> str:
        parts = [(part, self.get(f"word.{part}")) for part in value.split("-")]
        return " ".join(word or part for part, word in parts) if any(word for _, word in parts) else value

    def fill(self, key: str, members: Mapping[str, Json], name: Callable[[Seat], str] | None = None) -> str | None:
        """The text of a key with its places filled; None where there is no text. `name` names a seat."""
        template = self.get(key)
        if template is None:
            return None

        def place(found: re.Match[str]) -> str:
            value, form = members.get(found[1]), found[2]
            if form == "values" and isinstance(value, dict):
                return self.word(list(value.values()))
            if form is None or form == "values" or value is None:
                return self.word(value)
            items = value if isinstance(value, list) else [value]
            if form != "seat":
                return ", ".join(self.fill(f"item.{form}", _members(x), name) or self.word(x) for x in items)
            return ", ".join((name or self.seat)(x) if isinstance(x, int) else self.word(x) for x in items)

        def clause(text: str) -> str:
            return _PLACE.sub(place, text) if all(map(place, _PLACE.finditer(text))) else ""

        pieces = enumerate(_CLAUSE.split(template))
        return "".join(clause(text) if i % 2 else _PLACE.sub(place, text) for i, text in pieces)

    def seat(self, seat: Seat) -> str:
        """A seat that has no name: counted from 1, as people do."""
        return f"{self.get('word.seat') or 'seat'} {seat + 1}"

    def sentence(self, fact: Doc, name: Callable[[Seat], str] | None = None) -> str | None:
        """What a fact says; None for a silent one."""
        return self.fill(f"fact.{fact['t']}", fact, name)


def _members(item: Json) -> Mapping[str, Json]:
    """What the places of an item's template stand for: members of an object, numbers in a list."""
    if isinstance(item, dict):
        return item
    return {str(i): value for i, value in enumerate(item if isinstance(item, list) else [item])}


def texts(package: str, lang: str) -> Texts:
    """The catalogue of a game's package in one language of LANGUAGES."""
    own = load(package, f"texts/{lang}.json") if package else {}
    return Texts(lang, own, load("domain.kernel", f"texts/{lang}.json"))
