"""Text catalogues: one file per game and language, `texts/<lang>.json` in the game's package.

A flat object of key -> template. Keys: `title`, `move.<type>`, `fact.<kind>`, `decision.<kind>`, `refusal.<code>`,
`option.<name>` and `word.<id>` for every id that players see (regions, tiles, unit kinds, numbers are left as they
are). A template names members of the fact in braces: `{region}` gives the word of its value, `{seat:seat}` a seat's
name, a list its items joined, null nothing. Facts without a text are silent (steps of the flow).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from domain.ids import Json, Seat
from domain.kernel.data import load
from domain.kernel.flow import Fact

LANGUAGES = ("en", "fr")

_PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")


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
        """How an id, number or list of them reads."""
        if isinstance(value, list):
            return ", ".join(self.word(v) for v in value)
        if isinstance(value, bool):
            return self.get("word.yes" if value else "word.no") or str(value)
        return "" if value is None else self.get(f"word.{value}") or str(value)

    def fill(self, key: str, members: Mapping[str, Json], name: Callable[[Seat], str] | None = None) -> str | None:
        """The text of a key with its places filled; None where there is no text. `name` names a seat."""
        template = self.get(key)
        if template is None:
            return None

        def place(found: re.Match[str]) -> str:
            value = members.get(found[1])
            if found[2] != "seat" or value is None:
                return self.word(value)
            seats = value if isinstance(value, list) else [value]
            return ", ".join((name or self.seat)(s) for s in seats)

        return _PLACE.sub(place, template)

    def seat(self, seat: Seat) -> str:
        """A seat that has no name: counted from 1, as people do."""
        return f"{self.get('word.seat') or 'seat'} {seat + 1}"

    def sentence(self, fact: Fact, name: Callable[[Seat], str] | None = None) -> str | None:
        """What a fact says; None for a silent one."""
        return self.fill(f"fact.{fact['t']}", fact, name)


def texts(package: str, lang: str) -> Texts:
    """The catalogue of a game's package in one language of LANGUAGES."""
    own = load(package, f"texts/{lang}.json") if package else {}
    return Texts(lang, own, load("domain.kernel", f"texts/{lang}.json"))
