"""Sentences of what a seat may do: whole moves, the questions of the move builder, and their options.

They come from the game's texts, by these keys:

- `whole.<type>`: a move. Its places are the members of the move.
- `ask.<type>.<field>`, or `ask.<field>`: a question. Its places are the answers so far, by their fields.
- `loan`: what the bank lends for a move, where its `move_context` has a `loan`.
- `pick.<type>.<field>`, or `pick.<field>`: an option. Its places are the answers so far, `value`, and the members of an
  object. With one more part it is the text of a single option: `none`, `yes`, `no`, or a word.

Members of the ruleset's `move_context` are places too, where a state is at hand: leave their clauses optional.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import AnyRuleset, Ruleset
from domain.kernel.text.message_catalog import SeatNamer, Texts
from domain.types import Doc, Json, Seat

_VARIANTS = {None: "none", True: "yes", False: "no"}

Answers = Mapping[str, Json]
"""Field -> the answer to its question, the last one of several."""


def find_move_type(rules: AnyRuleset, deciding: str, answers: Answers) -> str:
    """Return the type of the move that answers lead to: the only one of the decision, unless it was asked for."""
    if isinstance(chosen := answers.get("type"), str):
        return chosen
    moves = rules.moves.items()
    admitted = [name for name, kind in moves if deciding in kind.admission.at and kind.admission.by != "may"]
    return admitted[0] if len(admitted) == 1 else ""


@dataclass(frozen=True)
class MoveSentences(Generic[S]):
    """Sentences of a game in one language, for a seat."""

    rules: Ruleset[S]
    texts: Texts
    namer: SeatNamer
    seat: Seat | None = None
    state: S | None = None
    """A state of which the seat may know all that `move_context` uses."""

    def move(self, move: Doc) -> str:
        """Return the sentence of a whole move, or its name and values if the game has none."""
        kind = move.get("type")
        if said := self._render([f"whole.{kind}"], move):
            return said
        name = self.texts.get(f"move.{kind}") or str(kind).replace("_", " ")
        values = [self.texts.word(value) for member, value in move.items() if member != "type"]
        return self.texts.grammar.sentence(f"{name}: {', '.join(values)}" if values else name)

    def loan(self, move: Doc) -> str | None:
        """Return the sentence about the loan of a whole move, or None."""
        context = self.rules.move_context(self.state, self.seat, move)
        return self.texts.render("loan", {**move, **context}, self.namer) if "loan" in context else None

    def question(self, kind: str, field: str, answers: Answers) -> str | None:
        """Return the text of a question, or None without one. `kind`: the type of the move, if it is known."""
        return self._render([f"ask.{kind}.{field}", f"ask.{field}"], {**answers, "type": kind})

    def options(self, kind: str, field: str, values: Sequence[Json], answers: Answers) -> list[str]:
        """Return the text of each option, different ones; an empty text for a number or object without one."""
        said = (self.option(kind, field, value, answers) for value in values)
        plain = (self._name(field, value) for value in values)
        return number_alike([text or word for text, word in zip(said, plain, strict=True)])

    def option(self, kind: str, field: str, value: Json, answers: Answers) -> str | None:
        """Return the sentence of an option, or None for a plain word or number."""
        own = value if isinstance(value, dict) else {}
        members = {**answers, **own, field: value, "type": kind, "value": value}
        return self._render(list(_list_option_keys(kind, field, value)), members)

    def _name(self, field: str, value: Json) -> str:
        """Return a plain word of an option; an empty text for a number or an object."""
        key = option_key(field, value)
        word = self.texts.label(key) if key else ""
        return self.texts.word(value).replace("_", " ") if word is None else word

    def _render(self, keys: Sequence[str], members: Answers) -> str | None:
        known = next((key for key in keys if self.texts.get(key) is not None), None)
        if known is None:
            return None
        context = self.rules.move_context(self.state, self.seat, members)
        return self.texts.render(known, {**members, **context}, self.namer)


def _list_option_keys(kind: str, field: str, value: Json) -> Iterator[str]:
    """Yield the keys of an option's text, the special ones first. Nothing has a text of its own or none."""
    names = [f"pick.{kind}.{field}", f"pick.{field}"]
    if value is None or isinstance(value, str | bool):
        variant = value if isinstance(value, str) else _VARIANTS[value]
        yield from (f"{name}.{variant}" for name in names)
    if value is not None:
        yield from names


def option_key(field: str, value: Json) -> str | None:
    """Return the key of an option's plain word, or None for numbers and objects."""
    if value is None or isinstance(value, bool):
        return f"word.{_VARIANTS[value]}"
    return (f"move.{value}" if field == "type" else f"word.{value}") if isinstance(value, str) else None


def number_alike(labels: Sequence[str]) -> list[str]:
    """Return labels with numbers after those that are the same: two equal cards of a hand."""
    seen, total = Counter[str](), Counter(labels)
    found = []
    for label in labels:
        seen[label] += 1
        found.append(f"{label} ({seen[label]})" if label and total[label] > 1 else label)
    return found
