"""A record as people read it: sentences, each beginning with who does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.kernel.text.grammar import Noun, named
from domain.kernel.text.message_catalog import Name, Texts
from domain.types import Doc, Json, Seat


@dataclass(frozen=True)
class Who:
    """Names seats: by the power that is played, else by the person, else by the number."""

    texts: Texts
    powers: Mapping[Seat, str]
    people: Mapping[Seat, str]

    def __call__(self, seat: Seat) -> Noun:
        return self.texts.noun(self.powers[seat]) if seat in self.powers else self.person(seat)

    def person(self, seat: Seat) -> Noun:
        """Who sits there, whatever is played."""
        return named(self.people[seat]) if self.people.get(seat) else self.texts.seat(seat)


def told(
    texts: Texts,
    name: Name,
    kind: str,
    seat: Seat | None = None,
    body: Mapping[str, Json] | None = None,
    acts: Sequence[tuple[Seat, Doc]] = (),
    facts: Sequence[Doc] = (),
) -> list[str]:
    """The sentences of a record, as far as its reader may know its acts and facts.

    What was done is told by what became true; moves are named only where that says nothing.
    """
    members = {**(body or {}), "seat": seat}
    keys = (f"record.{kind}.{members.get('act')}", f"record.{kind}")
    about = next((line for key in keys if (line := texts.say(key, members, name))), None)
    said = sentences(texts, name, facts)
    if not said:
        said = [line for who, move in acts if (line := _named(texts, name, who, move))]
    return [*([about] if about else []), *said]


def sentences(texts: Texts, name: Name, facts: Sequence[Doc]) -> list[str]:
    """What each says, line by line, and each once.

    What several facts say alike, one for each of their readers, is one thing; what is true several times is counted.
    """
    said: dict[str, list[Doc]] = {}
    for fact in facts:
        if text := texts.sentence(fact, name):
            said.setdefault(text, []).append(fact)
    return [line for text, alike in said.items() for line in repeated(texts, text, alike.count(alike[0])).split("\n")]


def repeated(texts: Texts, text: str, times: int) -> str:
    """A sentence that is true so many times."""
    return f"{text[:-1]} {texts.fill('line.times', {'times': times})}{text[-1]}" if times > 1 else text


def _named(texts: Texts, name: Name, seat: Seat, move: Doc) -> str | None:
    if "type" not in move:  # hidden from this reader
        return None
    if line := texts.say(f"made.{move['type']}", {"seat": seat}, name):
        return line
    label = texts.get(f"move.{move['type']}") or str(move["type"])
    return texts.say("line.move", {"seat": seat, "move": label}, name)
