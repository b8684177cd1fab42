"""Sentences of a record for its readers, each beginning with its subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from domain.kernel.records.record import Record
from domain.kernel.rules.flow import State
from domain.kernel.text.grammar import Noun, person_noun
from domain.kernel.text.message_catalog import SeatNamer, Texts
from domain.types import PUBLIC, Doc, Json, Seat

Say = Callable[[Texts, SeatNamer, Sequence[Doc]], list[str]]
"""Function from facts to sentences about them."""


@dataclass(frozen=True)
class SeatNames:
    """Names seats: by the power played, else by the person, else by the number."""

    texts: Texts
    powers: Mapping[Seat, str]
    people: Mapping[Seat, str]
    players: Mapping[str, str] = field(default_factory=dict)
    """Opaque id of a person -> name."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Hash of an officer's reason -> its text."""
    own: Seat | None = None
    """The reader's own seat."""

    def __call__(self, seat: Seat) -> Noun:
        return self.texts.noun(self.powers[seat]) if seat in self.powers else self.person(seat)

    def person(self, seat: Seat) -> Noun:
        """Return the name of the seat's player, regardless of the power."""
        return person_noun(self.people[seat]) if self.people.get(seat) else self.texts.seat(seat)

    def you(self, seat: Seat) -> Noun:
        """Return "you" for the reader's own seat, or else its name."""
        return self.texts.noun("you") if seat == self.own else self(seat)

    def player(self, player: str) -> Noun:
        """Return the name of a person by the opaque id."""
        return person_noun(self.players[player]) if self.players.get(player) else self.texts.noun("somebody")


def record_sentences(
    texts: Texts,
    namer: SeatNamer,
    kind: str,
    seat: Seat | None = None,
    body: Mapping[str, Json] | None = None,
    moves: Sequence[tuple[Seat, Doc]] = (),
    facts: Sequence[Doc] = (),
    say: Say | None = None,
) -> list[str]:
    """Return the sentences of a record, as far as its reader may know its moves and facts.

    Facts describe the actions; moves are named only if the facts have no text. `say`: `fact_sentences`, or the like.
    """
    lines = (say or fact_sentences)(texts, namer, facts) or move_sentences(texts, namer, moves)
    return record_heading(texts, namer, kind, seat, body or {}) + lines


def record_heading(texts: Texts, namer: SeatNamer, kind: str, seat: Seat | None, body: Mapping[str, Json]) -> list[str]:
    """Return the sentences of a record about its kind and the officer behind it, without its moves and facts."""
    if kind not in texts.headed_kinds and not body.get("officer"):
        return []
    members = {**body, "seat": seat}
    reason = _reason_text(namer, members.get("reason")) if members.get("act") == "appeal" else None
    if members.get("act") == "appeal":
        members["reason"] = _REASON_MARK if reason else None
    keys = (f"record.{kind}.{_variant(members)}", f"record.{kind}")
    heading = next((line for key in keys if (line := texts.render(key, members, namer))), None)
    heading = heading and heading.replace(_REASON_MARK, str(reason))
    author = _officer_sentence(texts, namer, members["officer"]) if members.get("officer") else None
    return [line for line in (heading, author) if line]


def _variant(members: Mapping[str, Json]) -> Json:
    """Return the last part of a text's key, for kinds with several texts."""
    return (
        members.get("act")
        or members.get("role")
        or next((n for n in ("conceded", "imported", "origin") if members.get(n)), "")
    )


_REASON_MARK = "\ue000"
"""Stands for a reason while its sentence is made: the words of people stay as they wrote them."""


def _officer_sentence(texts: Texts, namer: SeatNamer, officer: Mapping[str, Json]) -> str | None:
    """Return the sentence about the officer behind a record, with the text of the reason if it is known."""
    reason = _reason_text(namer, officer.get("reason"))
    if officer["office"] == "owner" and not reason and not getattr(namer, "players", {}).get(officer["player"]):
        return None  # nothing that the heading does not say
    line = texts.render("line.officer", {**officer, "reason": _REASON_MARK if reason else None}, namer)
    return line and line.replace(_REASON_MARK, str(reason))


def _reason_text(namer: SeatNamer, hashed: Json) -> str | None:
    """Return the text of a reason by its hash, or None after its erasure."""
    text: str | None = getattr(namer, "reasons", {}).get(hashed)
    return text


def record_members(record: Record, state: State) -> Doc:
    """Return the public members of a record for sentences; `state` is the public state before it.

    For a moved deadline these are also its seats, for a pause its length in seconds, for a pace its daily hour. A
    secret decision names all its seats, or the list would show the answers. For a fork the viewer of its knowledge.
    """
    members = {name: value for name, value in record.body.items() if name in _MEMBERS}
    members |= {"officer": officer} if (officer := record.public.get("officer")) else {}
    if isinstance(pace := record.body.get("pace"), dict) and "daily" in pace:
        members["daily"] = {name: value for name, value in pace["daily"].items() if name != "offsets"}
    if members.get("act") == "extend" and state.frames:
        top, ms = state.top, record.body["ms"]
        members["seats"] = list(top.asked if top.secret else top.owing)
        members["later" if ms > 0 else "earlier"] = abs(ms) // 1000
    if members.get("act") == "pause" and "until" in members:
        members["lasting"] = (members["until"] - record.time) // 1000
    if (known_to := members.get("origin", {}).get("known_to")) is not None:
        members["known" if known_to == PUBLIC else "knower"] = known_to
    if "penalties" in members:
        members["penalized"] = sorted(map(int, members["penalties"]))
    return members


_MEMBERS = (
    "act",
    "ms",
    "days",
    "to",
    "hold",
    "reason",
    "player",
    "role",
    "cause",
    "conceded",
    "moves",
    "until",
    "version",
    "outcome",
    "answered_by",
    "places",
    "forfeits",
    "penalties",
    "origin",
    "imported",
)


def fact_sentences(texts: Texts, namer: SeatNamer, facts: Sequence[Doc]) -> list[str]:
    """Return the lines of the facts' sentences, each sentence once.

    The same sentence from several facts, one for each reader, is one line; repeated equal facts are counted.
    """
    return [line for line, _ in told_facts(texts, namer, facts)]


def told_facts(texts: Texts, namer: SeatNamer, facts: Sequence[Doc]) -> list[tuple[str, Doc]]:
    """Return the same lines, each with the first fact that it tells."""
    facts_by_text: dict[str, list[Doc]] = {}
    for fact in facts:
        if text := texts.sentence(fact, namer):
            facts_by_text.setdefault(text, []).append(fact)
    return [
        (line, alike[0])
        for text, alike in facts_by_text.items()
        for line in with_count(texts, text, alike.count(alike[0])).split("\n")
    ]


def first_sentence(texts: Texts, namer: SeatNamer, facts: Sequence[Doc]) -> list[str]:
    """Return the first sentence of the facts, as the only item; nothing if all are silent."""
    return list(islice(filter(None, (texts.sentence(fact, namer) for fact in facts)), 1))


def with_count(texts: Texts, text: str, times: int) -> str:
    """Return a sentence after the number of its repetitions."""
    if times < 2:
        return text
    key = f"line.times.{times}"
    return f"{texts.render(key if texts.get(key) else 'line.times', {'times': times})} {text}"


def move_sentences(texts: Texts, namer: SeatNamer, moves: Sequence[tuple[Seat, Doc]]) -> list[str]:
    """Return the sentences of moves, for a record without sentences about its facts."""
    return [line for mover, move in moves if (line := _move_sentence(texts, namer, mover, move))]


def _move_sentence(texts: Texts, namer: SeatNamer, seat: Seat, move: Doc) -> str | None:
    if "type" not in move:  # hidden from this reader
        return None
    if line := texts.render(f"made.{move['type']}", {"seat": seat}, namer):
        return line
    label = texts.get(f"move.{move['type']}") or str(move["type"])
    return texts.render("line.move", {"seat": seat, "move": label}, namer)
