"""Text catalogues: one file per game and language, `texts/<lang>.json` in the game's package.

A flat object of key -> template. Keys: `title`, `move.<type>`, `fact.<kind>`, `record.<kind>`, `decision.<kind>`,
`refusal.<code>`, with `refusal.<code>.<cause>` if a code has several causes, `headline.<kind>` for digests,
`option.<name>`, and `word.<id>` for every id shown to players, written for `grammar.parse_noun`.
Facts without a text are silent (steps of the flow). A move without any sentence for its facts is reported by
`made.<type>`, or else by its name. A template has places in braces with names of members of the fact:

- `{totals.0}`, `{offer.gold}`: an item of a list, a member of an object.
- `{region}`: the bare name of an id, a number, a list of them joined by the language. Nothing gives nothing.
- `{region:in}`, `{region:de}`: the name in a form of the language (`Grammar.forms`).
- `{seat:seat}`: the seat's player or power as the subject of a sentence; `{seat:seat.de}` in a form; `{seat:person}`:
  the player only, never the power; `{seat:you}`: you, if it is the reader's own. `{player:player}`: a person by the
  opaque id, `somebody` if the name is unknown.
- `{armies:n.army}`: a number of things; `{count:n.@unit}`: of the thing named by another member.
- `{hold:time}`: a number of seconds, in the greatest units.
- `{units:lot}`: each item by the template `item.lot`; its places are the members of an object, or the numbers of a
  list; empty items are left out.
- `{armies:each.force}`: each entry of a mapping, or of a list by seat, by the template `item.force`: its place `key` is
  the key or the seat, `value` the value, and the members or numbers of the value are places too. Empty entries are
  left out.
- `{final:said.final}`: each item by the template `item.final`, each a sentence on a line of its own.
- `{why:by.paid}`: the template `paid.<value>`, with the same members. `{order:by.order.type}`: for an object the
  template named by its member `type`, with the members of the object.
- `{seat:seat#mise|misent}`, `{armies#is|are}`: singular or plural, as the place would be.
- `{unit~perdu|perdue}`: masculine or feminine; with four alternatives both in the plural too.
- `{use?fights|withdraws}`: true or false; `{of:seat?some|none}`: a seat, also the first, or none.

A clause in square brackets is left out if one of its places gives nothing. The content of a member is never a template.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.compat import cached_property
from domain.kernel.text.grammar import GRAMMARS, Grammar, Noun, numbered_noun, parse_noun
from domain.kernel.text.package_data import load
from domain.types import Doc, Json, Seat

LANGUAGES = ("en", "fr")

PLACE = re.compile(r"\{(?P<member>\w+(?:\.\w+)*)(?::(?P<form>[\w.@]+))?(?:(?P<choice>[#~?])(?P<words>[^{}]*))?\}")
"""A place of a template: member, form, and its alternatives."""
_CLAUSE = re.compile(r"\[([^\]]*)\]")

SeatNamer = Callable[[Seat], Noun]
"""Function from a seat to the name of its player. A namer of powers also has a method `person` for the player's own
name, and one of people a method `player` for the name of an opaque id.
"""


_SEAT_FORMS = ("seat", "person", "you")
"""Forms of places filled by a seat's number."""

_NAME_FORMS = (*_SEAT_FORMS, "player")
"""Forms of places filled by a name from the namer; a form of the language may follow."""


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of one language; the game's own take precedence over the kernel's."""

    lang: str
    own: Mapping[str, str]
    common: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def grammar(self) -> Grammar:
        """The grammar of the language."""
        return GRAMMARS[self.lang]

    @cached_property
    def headed_kinds(self) -> frozenset[str]:
        """The kinds of records with a sentence of their own."""
        return frozenset(key.split(".")[1] for key in (*self.own, *self.common) if key.startswith("record."))

    def get(self, key: str) -> str | None:
        """Return the template of a key, or None."""
        return self.own.get(key) or self.common.get(key)

    # --- names

    def noun(self, value: Json) -> Noun:
        """Return the name of an id, part by part for `new_york-3` if a part has a name, or else the id itself."""
        if (text := self.get(f"word.{value}")) is not None:
            return parse_noun(text)
        parts = [(part, self.get(f"word.{part}")) for part in str(value).split("-")]
        if not any(text for _, text in parts):
            return Noun(str(value))
        return Noun(" ".join(parse_noun(text).bare if text else part for part, text in parts))

    def word(self, value: Json) -> str:
        """Return an id, number, list or object of them as text, without articles."""
        if isinstance(value, list | tuple):
            return self.grammar.join_list([self.word(v) or "-" for v in value]) if value else ""
        if isinstance(value, dict):
            return "; ".join(f"{self.word(k)} {self.word(v) or '-'}" for k, v in value.items())
        if isinstance(value, bool):
            return self.word("yes" if value else "no")
        if isinstance(value, int):
            return self.grammar.number(value)
        return "" if value is None else self.noun(value).bare

    def label(self, key: str) -> str | None:
        """Return the text of a key for use by itself: a name without its article."""
        text = self.get(key)
        return parse_noun(text).bare if text is not None and key.startswith("word.") else text

    def labels(self) -> dict[str, str | None]:
        """Return the labels of all keys."""
        return {key: self.label(key) for key in (*self.common, *self.own)}

    def seat(self, seat: Seat) -> Noun:
        """Return the name of a seat without a player: its number, counted from 1."""
        return numbered_noun(self.noun("seat"), seat + 1)

    # --- sentences

    def sentence(self, fact: Doc, namer: SeatNamer | None = None) -> str | None:
        """Return the text of a fact, in one line or several; None for a silent one."""
        return self.render(f"fact.{fact['t']}", fact, namer)

    def render(self, key: str, members: Mapping[str, Json], namer: SeatNamer | None = None) -> str | None:
        """Return the text of a key as a sentence of the language; None without a text or content."""
        filled = self.fill(key, members, namer)
        return self.grammar.sentence(filled) or None if filled else None

    def refusal(self, code: str, figures: Mapping[str, Json], namer: SeatNamer | None = None) -> str | None:
        """Return the sentence of a refusal: that of its `cause`, if the code has several; None without a text."""
        keys = (f"refusal.{code}.{figures.get('cause')}", f"refusal.{code}")
        return next((said for key in keys if (said := self.render(key, figures, namer))), None)

    def fill(self, key: str, members: Mapping[str, Json], namer: SeatNamer | None = None) -> str | None:
        """Return the text of a key with its places filled; None without a text. `namer` names the seats."""
        template = self.get(key)
        return None if template is None else _TemplateFiller(self, members, namer or self.seat).fill(template)


class _Place(NamedTuple):
    """A place of a template."""

    member: str
    path: Sequence[str]
    """Steps into the member."""
    form: str
    kind: str
    """First part of the form."""
    rest: str
    """Other parts of the form."""
    choice: str
    words: Sequence[str]
    """Alternatives of a choice."""


class _TemplateSection(NamedTuple):
    """A clause, or the text between two of them."""

    pieces: Sequence[str | _Place]
    optional: bool
    """It is left out if one of its places gives nothing."""


@functools.lru_cache(maxsize=8192)
def _parse(template: str) -> Sequence[_TemplateSection]:
    """Return the parts of a template: parsing takes longer than filling."""
    parts = ((_parse_places(text), i % 2 == 1) for i, text in enumerate(_CLAUSE.split(template)))
    return tuple(_TemplateSection(pieces, optional) for pieces, optional in parts if pieces)


def _parse_places(text: str) -> Sequence[str | _Place]:
    pieces: list[str | _Place] = []
    end = 0
    for match in PLACE.finditer(text):
        member, *path = match["member"].split(".")
        kind, _, rest = (form := match["form"] or "").partition(".")
        place = _Place(member, path, form, kind, rest, match["choice"] or "", (match["words"] or "").split("|"))
        pieces += [text[end : match.start()], place]
        end = match.end()
    return tuple(filter(None, [*pieces, text[end:]]))


class _TemplateFiller:
    """Fills the places of a template with the members of a fact."""

    __slots__ = ("members", "name", "texts")

    def __init__(self, texts: Texts, members: Mapping[str, Json], name: SeatNamer) -> None:
        self.texts, self.members, self.name = texts, members, name

    def fill(self, template: str) -> str:
        return "".join([self._fill_part(part) for part in _parse(template)])

    def _fill_part(self, part: _TemplateSection) -> str:
        out, elide = "", self.texts.grammar.elide
        for piece in part.pieces:
            if isinstance(piece, str):
                out += piece
                continue
            place = self._place(piece)
            if place:
                out = elide(out, place) + place
            elif part.optional:
                return ""
        return out

    def _place(self, place: _Place) -> str:
        member, path, form, kind, rest, choice, words = place
        value = self.members.get(member)
        for step in path:
            value = _step_into(value, step)
        if choice == "?":
            yes, no = words
            return yes if (value is not None if form in _SEAT_FORMS else value) else no
        if choice:
            return self._choose_alternative(choice, words, value, kind)
        if value is None or (not value and value in ([], (), {})):
            return ""
        return self._format(value, kind, rest)

    def _format(self, value: Json, kind: str, rest: str) -> str:
        if not kind:
            return self.texts.word(value)
        grammar = self.texts.grammar
        is_name = kind in _NAME_FORMS
        if is_name or kind in grammar.forms:
            form_of = grammar.forms[(rest if is_name else kind) or grammar.subject]
            if isinstance(value, list | tuple):
                return grammar.join_names([form_of(self._noun(x, kind)) for x in value])
            return form_of(self._noun(value, kind))
        if kind == "n":
            return grammar.count_phrase(value, self._counted_noun(rest))
        if kind == "by":
            return self._choose_template(value, rest)
        if kind == "time":
            return grammar.duration(value)
        if kind == "each":
            return grammar.join_list([text for k, v in _entries(value) if (text := self._render_entry(k, v, rest))])
        items = value if isinstance(value, list | tuple) else [value]
        if kind == "said":
            return "\n".join(filter(None, (self._render_item(x, rest) for x in items)))
        return grammar.join_names([text for x in items if (text := self._render_item(x, kind))])

    def _noun(self, value: Json, kind: str) -> Noun:
        if kind == "player":
            somebody = self.texts.noun("somebody")
            return getattr(self.name, "player", lambda _: somebody)(value)
        if kind not in _SEAT_FORMS or not isinstance(value, int):
            return self.texts.noun(value)
        if kind == "you":
            return getattr(self.name, "you", self.name)(value)
        return self.name(value) if kind == "seat" else getattr(self.name, "person", self.texts.seat)(value)

    def _counted_noun(self, thing: str) -> Noun:
        return self.texts.noun(self.members.get(thing[1:]) if thing.startswith("@") else thing)

    def _choose_template(self, value: Json, namer: str) -> str:
        if isinstance(value, dict):
            namer, _, member = namer.partition(".")
            return self.texts.fill(f"{namer}.{value.get(member)}", value, self.name) or ""
        suffix = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        return self.texts.fill(f"{namer}.{suffix}", self.members, self.name) or ""

    def _render_entry(self, key: Json, value: Json, kind: str) -> str:
        parts = {} if value is None else _members(value)
        return self.texts.fill(f"item.{kind}", {**parts, "key": key, "value": value}, self.name) or ""

    def _render_item(self, value: Json, kind: str) -> str:
        text = self.texts.fill(f"item.{kind}", _members(value), self.name)
        return self.texts.word(value) if text is None else text

    def _choose_alternative(self, choice: str, words: Sequence[str], value: Json, kind: str) -> str:
        """Return one of the alternatives: by number; by gender, or by both."""
        items = value if isinstance(value, list | tuple) else [value]
        if isinstance(value, int) and kind not in _SEAT_FORMS:
            return words[not self.texts.grammar.is_singular(value)]
        nouns = [self._noun(x, kind) for x in items]
        many = len(nouns) != 1 or nouns[0].is_plural
        if choice == "#":
            return words[many]
        feminine = all(n.feminine for n in nouns)
        return words[feminine + 2 * (many and len(words) > 2)]


def _step_into(value: Json, step: str) -> Json:
    """Return the item of a list, or the member of an object; None if it has none."""
    if isinstance(value, list | tuple):
        return value[int(step)] if step.isdecimal() and int(step) < len(value) else None
    return value.get(step) if isinstance(value, Mapping) else None


def _entries(value: Json) -> Iterable[tuple[Json, Json]]:
    """Return key and value of each entry of a mapping; seat and value of a list by seat."""
    return value.items() if isinstance(value, dict) else enumerate(value)


def _members(item: Json) -> Mapping[str, Json]:
    """Return the places of an item's template: members of an object, numbers in a list."""
    if isinstance(item, dict):
        return item
    return {str(i): value for i, value in enumerate(item if isinstance(item, list | tuple) else [item])}


class Message(str):
    """English message of the service; it remembers template and members for translation.

    A template without members is used as it is. Members may be messages too.
    """

    __slots__ = ("members", "template")

    template: str
    members: Mapping[str, Json]

    def __new__(cls, template: str, /, **members: Json) -> Message:
        english = Texts(LANGUAGES[0], {})
        message = super().__new__(
            cls, _TemplateFiller(english, members, english.seat).fill(template) if members else template
        )
        message.template, message.members = template, members
        return message

    @classmethod
    def from_text(cls, text: object) -> Message:
        """Return the message itself, or a message without members."""
        return text if isinstance(text, cls) else cls(str(text))

    def format(self, *_: object, **members: Json) -> Message:
        """Fill in members; validators of libraries call it on the messages given to them."""
        return Message(self.template, **members)


@functools.lru_cache(maxsize=64)
def load_texts(package: str, lang: str) -> Texts:
    """Return the catalogue of a game's package in one of LANGUAGES."""
    game_texts = load(package, f"texts/{lang}.json") if package else {}
    return Texts(lang, game_texts, load("domain.kernel", f"texts/{lang}.json"))
