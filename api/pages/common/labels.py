"""Words for the members and values of documents, in the visitor's language. They know no game.

The names of members come from `presentation.json` of the game, and of `domain.games.common`. It maps the name of a
member to its label in each language, with three marks: `seat`, if its numbers are seats, `seats`, if its keys are, and
`figures`, if the numbers of its own members are no seats.
A member without an entry has the name of the game's text `word.<member>`, or its own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from api.http.i18n import translate
from api.pages.common.geometry import load_geometry
from api.pages.common.presentation import load_groups, load_item_members, load_lists, load_members
from api.services import services
from domain.bots import BEGINNER, BUILDER, HEURISTIC, STRONG
from domain.kernel.game.seat_players import Player, bot_of, is_bot
from domain.kernel.narration.move_sentences import MoveSentences
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.grammar import ISOLATE, ISOLATE_END, PERSON_MARK, parse_noun
from domain.kernel.text.message_catalog import Message, Texts, load_texts
from domain.types import Doc, Json, Seat

_PAIR = re.compile(r"([a-z0-9_]+)(?:[:-](\d{1,2}))?", re.ASCII)
"""A seat, or a pair: two seats, or a thing and a seat."""

_NUMBERED = re.compile(r"([a-z0-9_]+)-(\d{1,4})", re.ASCII)
"""The third army of a power, for example."""


@functools.cache
def _load_places(package: str) -> frozenset[str]:
    """Return the regions of a game's map."""
    geometry = load_geometry(package)
    return frozenset(geometry.regions if geometry else ())


def _are_alike(package: str, word: str | None, other: str | None) -> bool:
    """Return True for two words in one list of the game, or two in none: a reader may take one for the other.

    None may stand for any word.
    """
    if word is None or other is None:
        return True
    lists = (_load_places(package), *load_lists(package))
    kinds, others = ({number for number, ids in enumerate(lists) if each in ids} for each in (word, other))
    return bool(kinds & others) or not (kinds or others)


def capital(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


@functools.lru_cache(10_000)  # a page of the largest game has some six hundred
def _name_member(package: str, lang: str, name: str) -> str:
    """Return the name of a member of a game's documents."""
    entry = load_members(package).get(name, {})
    return capital(entry.get(lang) or load_texts(package, lang).label(f"word.{name}") or name.replace("_", " "))


@functools.lru_cache(10_000)
def _say_word(package: str, lang: str, member: str, value: str) -> str:
    """Return a word of a member as text."""
    texts = load_texts(package, lang)
    if (numbered := _NUMBERED.fullmatch(value)) and texts.label(f"word.{numbered[1]}"):
        return f"{texts.word(numbered[1])} {texts.grammar.number(int(numbered[2]))}"
    kind = {"type": "move", "deciding": "decision"}.get(member, member)
    if text := texts.label(f"word.{value}") or texts.get(f"{kind}.{value}"):
        return text
    return _name_member(package, lang, value) if value in load_members(package) else texts.word(value)


_BOTS = {
    BUILDER: Message("Bot (random)"),
    BEGINNER: Message("Bot (beginner)"),
    HEURISTIC: Message("Bot (ordinary)"),
    STRONG: Message("Bot (strong)"),
}
"""Names of bots, by level."""


def mark_names(summary: Doc, lang: str) -> dict[str, str]:
    """Return the names of a table's guests and bots, each with its form on pages, for documents with plain names."""
    names: dict[str, str] = summary["names"]
    guests = (names[each] for each in summary.get("guests", ()))
    levels = {name: bot_of(Player(each)) for each, name in names.items() if is_bot(each)}
    return {name: translate(Message("{name} (guest)", name=name), lang) for name in guests} | {
        name: translate(_BOTS[level], lang) for name, level in levels.items() if level in _BOTS
    }


def name_people(summary: Doc, lang: str) -> dict[str, str]:
    """Return the names of a table's people, each guest's with a mark: no account has it, so nobody passes for one."""
    names: dict[str, str] = summary["names"]
    marked = mark_names(summary, lang)
    unproven = {each for each in names if is_bot(each)} | {*summary.get("guests", ())}
    return names | {each: marked.get(names[each], names[each]) for each in unproven}


@dataclass(frozen=True)
class Labels:
    """Words of one table in one language."""

    rules: AnyRuleset
    texts: Texts
    names: SeatNames

    @classmethod
    def of_table(cls, summary: Doc, lang: str, own: Seat | None = None) -> Labels:
        """Return the labels for a table, with the names of its seats. `own`: the visitor's."""
        rules = services().registry.get(summary["ruleset"])
        texts = load_texts(rules.package, lang)
        names = name_people(summary, lang)
        people = {s["seat"]: names.get(s["player"], "") for s in summary["seats"] if s["player"]}
        powers = {int(seat): power for seat, power in summary.get("powers", {}).items()}
        known = {seat: name for seat, name in people.items() if name}
        return cls(rules, texts, SeatNames(texts, powers, known, own=own))

    def title(self) -> str:
        """Return the title of the game."""
        return self.texts.get("title") or self.rules.meta.title

    def seat(self, seat: Seat) -> str:
        """Return the name of a seat, with its player if it plays a power."""
        return self._add_person(self.short_seat(seat), seat)

    def said_seat(self, seat: Seat, *, begins: bool = False) -> str:
        """Return the name of a seat in a sentence, or at its beginning: a power with its article, and its player."""
        said = self.said_short(seat)
        return self._add_person(capital(said) if begins and seat in self.names.powers else said, seat)

    def said_short(self, seat: Seat) -> str:
        """Return the short name of a seat within a sentence: a power with its article."""
        grammar = self.texts.grammar
        return grammar.forms[grammar.subject](self.names(seat)).strip(PERSON_MARK + ISOLATE + ISOLATE_END)

    def _add_person(self, name: str, seat: Seat) -> str:
        person = self.names.people.get(seat)
        if not person or person == self.short_seat(seat):
            return name
        return f"{name} \u2013 {person}" if person.endswith(")") else f"{name} ({person})"

    def short_seat(self, seat: Seat) -> str:
        """Return the name of a seat: its power, its player or its number."""
        return self.names(seat).bare.strip(PERSON_MARK + ISOLATE + ISOLATE_END)

    def number_seat(self, seat: Seat) -> str:
        """Return the name of a seat before it has a power: its number, or an empty text if a person has a name."""
        return "" if self.names.people.get(seat) else SeatNames(self.texts, {}, {})(seat).bare

    def member(self, name: str) -> str:
        """Return the name of a member of a document."""
        return _name_member(self.rules.package, self.texts.lang, name)

    def holder(self, member: str, value: Json) -> str:
        """Return the name of a member with this value: a plural in its singular for a single word."""
        name, noun = self.member(member), parse_noun(self.texts.get(f"word.{member}") or "")
        is_single = isinstance(value, str) and name.lower() == noun.plural.lower()
        return capital(noun.bare) if is_single else name

    def has_name(self, member: str) -> bool:
        """Return True if the texts name a member in words."""
        return bool(self._entry(member) or self.texts.label(f"word.{member}"))

    def is_seat(self, member: str) -> bool:
        """Return True for a member with seats for numbers."""
        return "seat" in self._entry(member)

    def value(self, member: str, value: Json) -> str:
        """Return a single value of a member as text."""
        if value is None or isinstance(value, bool):
            return self.texts.word({None: "none", True: "yes", False: "no"}[value])
        if isinstance(value, int):
            return self.short_seat(value) if "seat" in self._entry(member) else self.texts.word(value)
        if not isinstance(value, str):
            return self.describe(member, value)
        if self.rules.meta.ruleset.startswith(f"{value}@"):
            return self.title()
        if value[:1].isdecimal() and "seats" in self._entry(member):
            return self.key(member, value)
        return _say_word(self.rules.package, self.texts.lang, member, value)

    def key(self, member: str, key: str) -> str:
        """Return a key of a mapping as text."""
        if "seats" in self._entry(member) and (parts := _PAIR.fullmatch(key)):
            return " \u2013 ".join(self._end(part) for part in parts.groups() if part)
        return self.texts.word(int(key)) if key.isdecimal() else self.value(member, key)

    def place(self, member: str, index: int) -> str:
        """Return the name of a place in a list: a seat, or a number from 1."""
        is_seat = "seats" in self._entry(member) and index in {**self.names.powers, **self.names.people}
        return self.short_seat(index) if is_seat else self.texts.grammar.number(index + 1)

    def key_name(self, member: str, key: str) -> str:
        """Return a key of an object: a seat, a number, an item of the game, or the name of a member."""
        if member in load_item_members(self.rules.package):
            return self.value(member, key)
        is_number = key.replace(":", "").replace("-", "").isdecimal()
        return self.key(member, key) if is_number or _NUMBERED.fullmatch(key) else self.member(key)

    def child(self, member: str, key: str) -> str:
        """Return the member that names the values below a key: that of the mapping, if its numbers are seats."""
        is_plain = "figures" in self._entry(member)
        return member if is_plain or ("seat" in self._entry(member) and not self._entry(key)) else key

    def describe(self, member: str, value: Json) -> str:
        """Return a value of any shape in one line."""
        if isinstance(value, dict):
            if counted := self._count(value):
                return counted
            parts = [
                self.pair(self.key_name(member, k), self.describe(self.child(member, k), v)) for k, v in value.items()
            ]
            return self.join(parts) or self.texts.word("none")
        if isinstance(value, list | tuple):
            return ", ".join(self._describe_item(member, v) for v in value) or self.texts.word("none")
        return self.value(member, value)

    def _describe_item(self, member: str, value: Json) -> str:
        """Return a part of a list in one line: two words of different kinds without their names."""
        words = list(value.values()) if isinstance(value, dict) and not self._count(value) else []
        if len(words) != 2 or not all(isinstance(word, str) for word in words):
            return self.describe(member, value)
        if _are_alike(self.rules.package, *words):
            return self.describe(member, value)
        first, second = (self.value(name, word) for name, word in value.items())
        return f"{first} ({second})"

    def _count(self, value: Doc) -> str:
        """Return a number of things, or an empty text for another object."""
        rest = [each for name, each in value.items() if name != "count"]
        if len(rest) != 1 or not isinstance(rest[0], str) or not isinstance(value.get("count"), int):
            return ""
        return f"{self.texts.grammar.number(value['count'])} {self.value('', rest[0])}"

    def option(
        self, field: str, value: Json, kind: str = "", answers: Mapping[str, Json] = MappingProxyType({})
    ) -> str:
        """Return an option of the move builder as text.

        `kind`: the type of the move, if it is known; `answers`: those before, by their fields.
        """
        text = self._sentences.option(kind, field, value, answers)
        if text is None and field == "type" and isinstance(value, str):
            text = self.texts.get(f"move.{value}")
        return capital(self.describe(field, value) if text is None else text)

    def move(self, move: Doc) -> str:
        """Return a move as a sentence."""
        return self._sentences.move(move)

    @property
    def _sentences(self) -> MoveSentences[Any]:
        return MoveSentences(self.rules, self.texts, self.names, self.names.own)

    def cost(self, cost: Mapping[str, Json]) -> str:
        """Return a cost in one line."""
        return ", ".join(self._amount(what, amount) for what, amount in cost.items())

    def _amount(self, what: str, amount: Json) -> str:
        """Return a cost with its thing in singular or plural, if the texts have both; a mark by its name alone.

        A text `cost.<name>` with a place for `amount` replaces that.
        """
        if amount is True:
            return self.member(what).lower()
        if said := self.texts.fill(f"cost.{what}", {"amount": amount}):
            return said
        texts = (self.texts.get(f"word.{name}") for name in (what, what.removesuffix("s")))
        nouns = [parse_noun(text) for text in texts if text]
        counted = next((noun for noun in nouns if noun.plural), None)
        if counted and isinstance(amount, int):
            return self.texts.grammar.count_phrase(amount, counted)
        return f"{self.describe(what, amount)} {self.member(what).lower()}"

    def group(self, field: str, value: Json) -> str:
        """Return the name of the group of an option, or an empty text."""
        found = load_groups(self.rules.package, field).get(value) if isinstance(value, str) else None
        return (found.names.get(self.texts.lang) or self.member(found.member)) if found else ""

    def question(self, field: str, value: Json = None) -> str:
        """Return the name of a question of the move builder. `value`: one of its options."""
        return self.holder(field, value)

    def decision(self, kind: str) -> str:
        """Return the name of a kind of decision, as a heading."""
        return capital(self.decision_noun(kind))

    def decision_noun(self, kind: str) -> str:
        """Return the name of a kind of decision within a sentence."""
        return self.texts.get(f"decision.{kind}") or kind.replace("_", " ")

    def refusal(self, code: str) -> str:
        """Return the sentence of a refusal, or an empty text if it needs figures."""
        text = self.texts.get(f"refusal.{code}") or ""
        return "" if "{" in text else text

    def pair(self, name: str, text: str) -> str:
        """Return a name with its text: `Name: text`."""
        return self.sentence(f"{name}: {text}")

    def join(self, parts: Iterable[str]) -> str:
        """Return parts in one line: `one; another`."""
        return self.sentence("; ".join(parts))

    def sentence(self, sentence: str) -> str:
        """Return a text with the punctuation of the language."""
        return self.texts.grammar.punctuate(sentence)

    def _end(self, part: str) -> str:
        return self.short_seat(int(part)) if part.isdecimal() else self.texts.word(part)

    def _entry(self, member: str) -> Doc:
        return load_members(self.rules.package).get(member, {})
