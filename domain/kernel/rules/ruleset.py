"""The contract between the kernel and a game: a ruleset is pure, and this is all that the kernel asks of it."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_not
from typing import Any, Generic, Protocol, TypeVar

from domain.compat import cached_property
from domain.errors import InvalidTable
from domain.kernel.records.fact_decoder import FactReader, RecordFacts
from domain.kernel.records.record import Record
from domain.kernel.rules.choices import Builder
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.flow import (
    FLOW,
    Decision,
    Frame,
    S,
    State,
    evolved,
)
from domain.kernel.rules.meta import Meta, Table
from domain.kernel.schema import declarations, validators
from domain.kernel.schema.declarations import Context, Fact, Move, Part
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, PUBLIC, Doc, Json, Seat, Viewer

COMMON_CODES: Mapping[str, str] = {
    "malformed_move": "not a JSON object with a known set of well-typed fields",
    "unknown_move": "the game has no move of that type",
    "game_over": "the game has ended",
    "not_your_decision": "another seat decides now",
    "already_answered": "the seat has answered this decision",
    "wrong_phase": "this type of move does not answer what is being decided",
    "not_offered": "the move builder did not offer this pick",
    "barrier_in_list": "in a list only the last move may draw, reveal, or ask or answer in secret",
    "not_on_line": "that version was undone, or is none of a running game",
}
"""The refusals of the kernel, the same in every game."""

M = TypeVar("M", bound=Move)

T = TypeVar("T")

D_co = TypeVar("D_co", bound=Part, covariant=True)


@dataclass(frozen=True)
class Score(Generic[D_co]):
    """One line of the final table, or of the table as it stands."""

    seat: Seat
    place: int
    """1 is best; shared places are equal numbers."""
    points: int
    detail: D_co
    """The figures behind the points and the tie-breaks, in the order in which they count."""

    def to_json(self) -> dict[str, Json]:
        """As clients see it."""
        return {
            "seat": self.seat,
            "place": self.place,
            "points": self.points,
            "detail": declarations.doc(self.detail),
        }


AnyScore = Score[Part]
"""Of whichever game."""


class Chapter(Part, frozen=True):
    """Where in a game: what is told stands under its heading. All of it is public."""

    turn: int = 0
    """A War, a decade, a game turn or a turn, as the game has them; 0 before the first."""
    round: int = 0
    """In the turn; 0 where rounds have no heading."""
    phase: str = ""
    """One of those that have a heading (`phase.<phase>` of the texts)."""


class Dice(Protocol):
    """What a bot may roll: random.Random has it."""

    def random(self) -> float:
        """0 <= x < 1."""

    def randint(self, a: int, b: int) -> int:
        """a..b."""


Bot = Callable[[dict[str, Json], dict[str, Json], Seat, Dice], Iterator[Doc]]
"""(sight: {"public", "own"}, decision as clients see it, seat, dice) -> moves, best first.

The first legal one is played. When none is legal, a seat that owes an answer lets the move builder pick at random, and
a seat that merely may interrupt stays quiet. A bot sees what its seat may see, no more.
"""


def _no_vacancy(draft: object, seat: Seat) -> None:
    """Nothing changes in a game when a player leaves: defaults go on for the seat."""


def no_check(_: object) -> None:
    """Nothing is asked of a state."""


def _sound(_: object) -> list[str]:
    """No invariant but those of the kernel."""
    return []


class Nothing(Part, frozen=True):
    """No member: there is nothing to see."""


class Everything(Part, frozen=True):
    """What the director sees besides the board, and everybody when the game is closed."""

    seats: Mapping[str, Part]
    """What each seat sees, by seat."""
    hidden: Part
    """What no seat sees."""


def _nothing_own(_: object, seat: Seat) -> Nothing:
    return Nothing()


def no_secret(_: object) -> Nothing:
    """There is nothing that no seat sees."""
    return Nothing()


def _as_it_lies(_: object, keep: tuple[Viewer, ...]) -> None:
    """Nothing is dealt face down."""


def no_powers(_: object) -> Mapping[Seat, str]:
    """Seats play no powers."""
    return {}


def _undivided(_: object) -> Chapter:
    """A game in one piece."""
    return Chapter()


def _nobody(_: object) -> tuple[Seat, ...]:
    return ()


def _returned(function: Callable[..., object]) -> Any:
    try:
        return typing.get_type_hints(function)["return"]
    except (KeyError, TypeError):
        raise TypeError(f"{function} does not say what document it returns") from None


Handler = Callable[[Draft[S], Frame, Any, Any], None]
"""(draft, top frame, seat or None for the engine, move)."""

Aside = Callable[[S, S, Any], Mapping[str, Json]]
"""(state before the fact, state after it, fact) -> members of a sentence."""

Gather = Callable[[Sequence[Doc]], Sequence[Doc]]
"""Facts of one kind that follow each other, with their asides -> what is told instead, no more than they are."""


def on(kind: type[M], do: Callable[[Draft[S], Frame, Any, M], None]) -> tuple[str, Handler[S]]:
    """What is done on a move, as an item of `Ruleset.do`."""
    return declarations.tag(kind), do


@dataclass(frozen=True, eq=False)
class Ruleset(Generic[S]):
    """The rules of one game in one version, as tables of pure functions."""

    meta: Meta
    state: type[S]
    moves: Mapping[str, type[Move]]
    """What seats and the engine may ask for, by type."""
    do: Mapping[str, Handler[S]]
    """Move type -> handler (`on`); raises RuleError before it adds the first fact."""
    facts: Mapping[str, type[Fact[S]]]
    """The facts that it declares, by what `t` says, besides the kernel's (`flow.FLOW`)."""
    setup: Callable[[Draft[S]], None]
    build: Callable[[S, Seat], Builder]
    default: Callable[[S, Decision, Seat], Move]
    board: Callable[[S], Part]
    """What everybody sees."""
    scores: Callable[[S], Sequence[AnyScore]]
    blank: Callable[[Table], S]
    frames: Mapping[str, type[Context]]
    """The contexts that it declares, by the kind of frame."""
    own: Callable[[S, Seat], Part] = _nothing_own
    """What a seat sees besides."""
    hidden: Callable[[S], Part] = no_secret
    """What no seat sees."""
    go: Mapping[str, Callable[[Draft[S], Frame], None]] = field(default_factory=dict)
    """Frame kind -> goes on by itself while the top frame owes nothing."""
    check: Callable[[S], list[str]] = _sound
    """Broken invariants, for tests and simulations; a line about an unknown id begins with its JSON pointer."""
    fill: Callable[[S], S] | None = None
    """What follows from the rest of a state (supplies, sizes), for a scenario that begins from an empty board."""
    redeal: Callable[[Draft[S], tuple[Viewer, ...]], None] = _as_it_lies
    """Deals anew what none of these viewers can know; their sights stay as they are."""
    powers: Callable[[S], Mapping[Seat, str]] = no_powers
    """Seat -> id of the power that it plays, where the game has such: who does something is told by its name."""
    chapter: Callable[[S], Chapter] = _undivided
    """Where in the game a state is, by what everybody knows."""
    asides: Mapping[str, Aside[S]] = field(default_factory=dict)
    """Fact -> what its sentence takes besides its own members, by what each of its readers knows."""
    gathers: Mapping[str, Gather] = field(default_factory=dict)
    """Fact -> how several that follow each other are told together."""
    may: Callable[[S], tuple[Seat, ...]] = _nobody
    """Seats that may interrupt or change an answer, by public facts; never waited for."""
    vacated: Callable[[Draft[S], Seat], None] = _no_vacancy
    check_table: Callable[[Table], None] | None = None
    """Raises InvalidTable for options that do not go together."""
    package: str = ""
    """Where the game's texts are, `domain.games.<game>`."""
    bot: Bot | None = None
    """A heuristic player, for demos and simulations."""

    def __post_init__(self) -> None:
        if unknown := set(self.meta.headlines) - set(self.facts):
            raise TypeError(f"headlines that are no facts: {sorted(unknown)}")
        if unknown := {*self.asides, *self.gathers} - set(self.facts):
            raise TypeError(f"asides of what are no facts: {sorted(unknown)}")
        for kind in (*self.frames.values(), *self.documents.values()):
            declarations.prepare(kind)
        _ = self._reader

    @cached_property
    def fact_kinds(self) -> Mapping[str, type[Fact[S]]]:
        """All facts that its records may hold, the kernel's last."""
        return {**self.facts, **FLOW}

    @cached_property
    def _reader(self) -> FactReader:
        return FactReader(self.fact_kinds.values())

    def read(self, docs: Sequence[Doc]) -> Sequence[Fact[S]]:
        """Facts as they stand in records; raises ValueError for one that is none of them, or ill-formed."""
        return self._reader.of_docs(docs)

    def read_record(self, record: Record) -> RecordFacts:
        """What a fold takes of a record of such a game; raises as `read`."""
        return self._reader.of_record(record)

    def fold(self, state: S, docs: Sequence[Doc]) -> S:
        """The state after facts as they stand in records."""
        return evolved(state, self.read(docs))

    def shown(self, state: S, viewer: Viewer) -> Part:
        """`public`: the common board; a seat: what it sees besides; the director: what all seats see, and nobody."""
        if viewer == PUBLIC:
            return self.board(state)
        if viewer == DIRECTOR:
            own = {str(seat): self.own(state, seat) for seat in range(state.seats)}
            return Everything(own, self.hidden(state))
        return self.own(state, int(viewer))

    def sight(self, state: S, viewer: Viewer) -> Doc:
        """The same as a document."""
        return declarations.doc(self.shown(state, viewer))

    @cached_property
    def documents(self) -> Mapping[str, type[Part]]:
        """What the documents are that it shows: `board`, `own`, `hidden`, and the `detail` of a score."""
        shown = {name: _returned(getattr(self, name)) for name in ("board", "own", "hidden")}
        (line,) = typing.get_args(_returned(self.scores))
        (detail,) = typing.get_args(line)
        return {**shown, "detail": detail}

    def table(self, seats: int, options: Mapping[str, Json] | None = None) -> Table:
        """The table with every option, defaults filled in; raises InvalidTable."""
        if seats not in self.meta.seats:
            raise InvalidTable(Message("{seats} are possible", seats=", ".join(map(str, self.meta.seats))), "/seats")
        given = dict(options or {})
        if unknown := sorted(set(given) - set(self.meta.options)):
            raise InvalidTable(Message("no such option"), f"/options/{unknown[0]}")
        for name, value in given.items():
            if fault := self.meta.options[name].shape.fault(value, f"/options/{name}"):
                raise InvalidTable(validators.expected(fault[1]), fault[0])
        table = Table(seats, {n: given.get(n, o.default) for n, o in self.meta.options.items()})
        if self.check_table:
            self.check_table(table)
        return table


AnyRuleset = Ruleset[Any]
"""The rules of whichever game."""


def memo(state: State, key: str, make: Callable[[], T], of: tuple[object, ...] = ()) -> T:
    """A costly value of a state, made once per state object (a projected order sheet, reachability).

    `of`: all parts of the state that it depends on, always as many for a key. The value is then kept through the
    states that follow, for as long as they hold these very objects.
    """
    if of:
        parts: dict[str, tuple[tuple[object, ...], T]] = state.__dict__.setdefault("_kept", {})
        return _kept(parts, key, make, of)
    kept: dict[str, T] = state.__dict__.setdefault("_memo", {})
    if key not in kept:
        kept[key] = make()
    return kept[key]


def _kept(kept: dict[str, tuple[tuple[object, ...], T]], key: str, make: Callable[[], T], of: tuple[object, ...]) -> T:
    """Facts replace what they change, so the same object has the same value; a held object's identity is its own."""
    old = kept.get(key)
    if old is None or any(map(is_not, old[0], of)):
        old = kept[key] = of, make()
    return old[1]
