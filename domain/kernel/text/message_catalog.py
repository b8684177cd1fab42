"""Text catalogues: one file per game and language, `texts/<lang>.json` in the game's package.

A flat object of key -> template. Keys: `title`, `move.<type>`, `fact.<kind>`, `record.<kind>`, `decision.<kind>`,
`refusal.<code>`, `option.<name>`, and `word.<id>` for every id that players see, written as `grammar.noun` reads it.
Facts without a text are silent (steps of the flow); of a move whose facts say nothing to a reader, `made.<type>` tells
that it was made, or else its name does. A template has places in braces, which name members of the fact:

- `{totals.0}`, `{offer.gold}`: an item of a list, a member of an object.
- `{region}`: the bare name of an id, a number, a list of them as the language lists things. Nothing gives nothing.
- `{region:in}`, `{region:de}`: the name in a form of the language's (`Grammar.forms`).
- `{seat:seat}`: who sits there, as the subject of a sentence; `{seat:seat.de}` in a form; `{seat:person}`: the same,
  but not by the power that is played.
- `{armies:n.army}`: so many of a thing; `{count:n.@unit}`: of the thing that another member names.
- `{hold:time}`: so many seconds, in the greatest units.
- `{units:lot}`: each item by the template `item.lot`, whose places are the members of an object, or the numbers of a
  list; the items are listed, those that say nothing left out.
- `{armies:each.force}`: each entry of a mapping, or of a list by seat, by the template `item.force`: its place `key` is
  the key or the seat, `value` the value, and the members or numbers of the value are places too. Entries that say
  nothing are left out.
- `{final:said.final}`: each item by the template `item.final`, each a sentence on a line of its own.
- `{why:by.paid}`: the template `paid.<value>`, with the same members. `{order:by.order.type}`: for an object the
  template that its member `type` names, with the members of the object.
- `{seat:seat#mise|misent}`, `{armies#is|are}`: singular or plural, as the place would be.
- `{unit~perdu|perdue}`: masculine or feminine; with four alternatives both in the plural too.
- `{use?fights|withdraws}`: true or false; `{of:seat?some|none}`: a seat, also the first, or none.

A clause in square brackets is left out where one of its places gives nothing. What a member holds is never a template.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from domain.kernel.text.grammar import GRAMMARS, Grammar, Noun, noun, numbered
from domain.kernel.text.package_data import load
from domain.types import Doc, Json, Seat

LANGUAGES = ("en", "fr")

PLACE = re.compile(r"\{(?P<member>\w+(?:\.\w+)*)(?::(?P<form>[\w.@]+))?(?:(?P<choice>[#~?])(?P<words>[^{}]*))?\}")
"""A place of a template: member, form, and the alternatives among which it chooses."""
_CLAUSE = re.compile(r"\[([^\]]*)\]")

Name = Callable[[Seat], Noun]
"""Who sits on a seat. One that names powers has a method `person` besides, which does not."""


_WHO = ("seat", "person")
"""Kinds of places that a seat's number fills."""


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of one language: the game's own before the kernel's."""

    lang: str
    own: Mapping[str, str]
    common: Mapping[str, str] = field(default_factory=dict)

    @property
    def grammar(self) -> Grammar:
        """Of the language."""
        return GRAMMARS[self.lang]

    def get(self, key: str) -> str | None:
        """The template of a key, None where there is none."""
        return self.own.get(key) or self.common.get(key)

    # --- names

    def noun(self, value: Json) -> Noun:
        """The name of an id; of parts, `new_york-3`, part by part if one of them has a name; else the id itself."""
        if (text := self.get(f"word.{value}")) is not None:
            return noun(text)
        parts = [(part, self.get(f"word.{part}")) for part in str(value).split("-")]
        if not any(text for _, text in parts):
            return Noun(str(value))
        return Noun(" ".join(noun(text).bare if text else part for part, text in parts))

    def word(self, value: Json) -> str:
        """How an id, number, list or object of them reads, without articles."""
        if isinstance(value, list | tuple):
            return self.grammar.listed([self.word(v) or "-" for v in value]) if value else ""
        if isinstance(value, dict):
            return "; ".join(f"{self.word(k)} {self.word(v) or '-'}" for k, v in value.items())
        if isinstance(value, bool):
            return self.word("yes" if value else "no")
        if isinstance(value, int):
            return self.grammar.number(value)
        return "" if value is None else self.noun(value).bare

    def label(self, key: str) -> str | None:
        """The text of a key as it stands by itself: a name without its article."""
        text = self.get(key)
        return noun(text).bare if text is not None and key.startswith("word.") else text

    def labels(self) -> dict[str, str | None]:
        """Those of all keys."""
        return {key: self.label(key) for key in (*self.common, *self.own)}

    def seat(self, seat: Seat) -> Noun:
        """A seat that has no name: counted from 1, as people do."""
        return numbered(self.noun("seat"), seat + 1)

    # --- sentences

    def sentence(self, fact: Doc, name: Name | None = None) -> str | None:
        """What a fact says, in one line or several; None for a silent one."""
        return self.say(f"fact.{fact['t']}", fact, name)

    def say(self, key: str, members: Mapping[str, Json], name: Name | None = None) -> str | None:
        """The text of a key as a sentence of the language; None where there is no text, or it says nothing."""
        filled = self.fill(key, members, name)
        return self.grammar.sentence(filled) or None if filled else None

    def fill(self, key: str, members: Mapping[str, Json], name: Name | None = None) -> str | None:
        """The text of a key with its places filled; None where there is no text. `name` tells who sits on a seat."""
        template = self.get(key)
        return None if template is None else _Filling(self, members, name or self.seat).of(template)


@dataclass(frozen=True)
class _Filling:
    """A template being filled."""

    texts: Texts
    members: Mapping[str, Json]
    name: Name

    def of(self, template: str) -> str:
        pieces = enumerate(_CLAUSE.split(template))
        return "".join(self._clause(text) if i % 2 else self._filled(text) for i, text in pieces)

    def _clause(self, text: str) -> str:
        return self._filled(text) if all(map(self._place, PLACE.finditer(text))) else ""

    def _filled(self, text: str) -> str:
        out, at = "", 0
        for found in PLACE.finditer(text):
            out += text[at : found.start()]
            place, at = self._place(found), found.end()
            out = self.texts.grammar.joined(out, place) + place
        return out + text[at:]

    def _place(self, found: re.Match[str]) -> str:
        value, form, choice = self._value(found["member"]), found["form"] or "", found["choice"]
        if choice == "?":
            yes, no = found["words"].split("|")
            return yes if (value is not None if form in _WHO else value) else no
        if choice:
            return self._agreeing(choice, found["words"].split("|"), value, form)
        if value is None or value in ([], (), {}):
            return ""
        return self._shown(value, form)

    def _value(self, path: str) -> Json:
        value: Json = self.members
        for step in path.split("."):
            if isinstance(value, list | tuple):
                value = value[int(step)] if step.isdecimal() and int(step) < len(value) else None
            else:
                value = value.get(step) if isinstance(value, Mapping) else None
        return value

    def _shown(self, value: Json, form: str) -> str:
        kind, _, rest = form.partition(".")
        if kind == "n":
            return self.texts.grammar.counted(value, self._counted(rest))
        if kind == "by":
            return self._by(value, rest)
        if kind == "time":
            return self.texts.grammar.duration(value)
        if not kind:
            return self.texts.word(value)
        if kind == "each":
            return self.texts.grammar.listed([said for k, v in _entries(value) if (said := self._entry(k, v, rest))])
        items = value if isinstance(value, list | tuple) else [value]
        if kind == "said":
            return "\n".join(filter(None, (self._item(x, rest) for x in items)))
        if kind in _WHO or kind in self.texts.grammar.forms:
            of = self.texts.grammar.forms[(rest if kind in _WHO else kind) or self.texts.grammar.subject]
            return self.texts.grammar.listed([of(self._noun(x, kind)) for x in items])
        return self.texts.grammar.listed([said for x in items if (said := self._item(x, kind))])

    def _noun(self, value: Json, kind: str) -> Noun:
        if kind not in _WHO or not isinstance(value, int):
            return self.texts.noun(value)
        return self.name(value) if kind == "seat" else getattr(self.name, "person", self.texts.seat)(value)

    def _counted(self, thing: str) -> Noun:
        return self.texts.noun(self.members.get(thing[1:]) if thing.startswith("@") else thing)

    def _by(self, value: Json, name: str) -> str:
        if isinstance(value, dict):
            name, _, member = name.partition(".")
            return self.texts.fill(f"{name}.{value.get(member)}", value, self.name) or ""
        said = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        return self.texts.fill(f"{name}.{said}", self.members, self.name) or ""

    def _entry(self, key: Json, value: Json, kind: str) -> str:
        parts = {} if value is None else _members(value)
        return self.texts.fill(f"item.{kind}", {**parts, "key": key, "value": value}, self.name) or ""

    def _item(self, value: Json, kind: str) -> str:
        said = self.texts.fill(f"item.{kind}", _members(value), self.name)
        return self.texts.word(value) if said is None else said

    def _agreeing(self, choice: str, words: Sequence[str], value: Json, form: str) -> str:
        """One of the alternatives: by number; by gender, or by both."""
        kind = form.partition(".")[0]
        items = value if isinstance(value, list | tuple) else [value]
        if isinstance(value, int) and kind not in _WHO:
            return words[not self.texts.grammar.singular(value)]
        nouns = [self._noun(x, kind) for x in items]
        many = len(nouns) != 1 or nouns[0].many
        if choice == "#":
            return words[many]
        feminine = all(n.feminine for n in nouns)
        return words[feminine + 2 * (many and len(words) > 2)]


def _entries(value: Json) -> Iterable[tuple[Json, Json]]:
    """Key and value of each entry of a mapping; seat and value of a list by seat."""
    return value.items() if isinstance(value, dict) else enumerate(value)


def _members(item: Json) -> Mapping[str, Json]:
    """What the places of an item's template stand for: members of an object, numbers in a list."""
    if isinstance(item, dict):
        return item
    return {str(i): value for i, value in enumerate(item if isinstance(item, list | tuple) else [item])}


class Message(str):
    """What the service itself says, in English; it remembers the template and members, to be said in other languages.

    A template without members stands as it is. Members may be messages too.
    """

    __slots__ = ("members", "template")

    template: str
    members: Mapping[str, Json]

    def __new__(cls, template: str, /, **members: Json) -> Message:
        english = Texts(LANGUAGES[0], {})
        made = super().__new__(cls, _Filling(english, members, english.seat).of(template) if members else template)
        made.template, made.members = template, members
        return made

    @classmethod
    def of(cls, text: object) -> Message:
        """The message itself, or one that has no members."""
        return text if isinstance(text, cls) else cls(str(text))

    def format(self, *_: object, **members: Json) -> Message:
        """With its members: so the validators of libraries fill the messages that they are given."""
        return Message(self.template, **members)


@functools.lru_cache(maxsize=64)
def texts(package: str, lang: str) -> Texts:
    """The catalogue of a game's package in one language of LANGUAGES."""
    own = load(package, f"texts/{lang}.json") if package else {}
    return Texts(lang, own, load("domain.kernel", f"texts/{lang}.json"))
