"""Flow as data: frames in the state, changed by the kernel's own facts, never closures.

The kernel knows seats and simultaneous decisions; the game knows its frames and their sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NotRequired, TypedDict, TypeVar

import msgspec

from domain.kernel.schema.declarations import (
    UNSET,
    AnyFact,
    Context,
    Count,
    Fact,
    Id,
    Maybe,
    declared_classes,
    type_name,
)
from domain.kernel.schema.json_codec import from_json, merge_patch, to_json
from domain.types import Doc, Json, Seat

C = TypeVar("C", bound=Context)


@dataclass(frozen=True)
class Frame:
    """One level of the flow, public as a whole, except for the owing and done seats of a `secret` frame."""

    n: int
    """The n-th frame opened on the active versions."""
    kind: str
    asked: tuple[int, ...] = ()
    """Seats asked, ascending; several = at the same time."""
    owing: tuple[int, ...] = ()
    """Seats with an answer still due, ascending."""
    done: tuple[int, ...] = ()
    """Seats with an answer given, in the order of the log."""
    engine: bool = False
    """Owed by no seat: a worker answers (a due row)."""
    secret: bool = False
    """Each seat knows only its own answer until the frame ends."""
    data: Doc = field(default_factory=dict)
    """Public context of the decision, as read by `context`; may hold the list of remaining steps."""
    timed_as: int = 0
    """Number of an earlier frame with a shared clock: a repeated question has no new deadline. 0 = its own."""

    @property
    def timer(self) -> int:
        """Return the number of its clock."""
        return self.timed_as or self.n

    def context(self, kind: type[C]) -> C:
        """Return its context; AssertionError for a frame of another kind."""
        if self.kind != type_name(kind):
            raise AssertionError(f"the frame {self.kind} is no {type_name(kind)}")
        memo: dict[str, C] = self.__dict__.setdefault("_memo", {})
        if "context" not in memo:
            memo["context"] = msgspec.convert(self.data, kind)
        return memo["context"]


@dataclass(frozen=True)
class State:
    """Common fields of every game's state. Games add theirs; values are replaced, never changed."""

    seats: int = 0
    opened: int = 0
    """Number of frames opened on the active versions."""
    frames: tuple[Frame, ...] = ()
    over: bool = False
    vacant: tuple[int, ...] = ()
    """Seats without a player since one left, ascending."""

    @property
    def top(self) -> Frame:
        """Return the frame being decided; IndexError before the set-up and after the end."""
        return self.frames[-1]


S = TypeVar("S", bound=State)
T = TypeVar("T")


_new, _set = object.__new__, object.__setattr__


def assign(value: T, **fields: object) -> T:
    """Return a frozen dataclass with some fields assigned.

    It is `dataclasses.replace` without the checks, several times as fast. For folding, with the same few assignments
    for every fact of every record. Values memoized by `ruleset.memo` for the whole old value are dropped; those for
    parts are kept.
    """
    members = value.__dict__ | fields
    if "_memo" in members:
        del members["_memo"]
    new = _new(type(value))
    _set(new, "__dict__", members)  # one dict of the right size; an empty one would grow twice
    return new


def evolve_all(state: S, facts: Iterable[Fact[S]]) -> S:
    """Return the state after these facts."""
    for fact in facts:
        state = fact.evolve(state)
    return state


class DecisionDoc(TypedDict):
    id: str
    kind: str
    must: list[int]
    may: list[int]
    done: list[int]
    engine: bool
    clock: str
    context: Doc
    deadline: NotRequired[Annotated[int | None, "ms since 1970 UTC; null while the clock is stopped."]]
    due: NotRequired[Annotated[dict[str, int], "Seat -> time of its default, after grace, bank and vacation."]]
    job: NotRequired[Annotated[str, "Job of the engine. Its status: `/v1/jobs/{job}`."]]


@dataclass(frozen=True)
class Decision:
    """Open decision of seats or the engine; all of it is public."""

    id: str
    """`<rewinds>-<n>`: unique in a game."""
    kind: str
    must: tuple[int, ...]
    may: tuple[int, ...]
    done: tuple[int, ...]
    engine: bool
    clock: str
    """Deadline class."""
    context: Doc

    def to_json(self) -> DecisionDoc:
        """Return the decision as sent to clients, without times and job."""
        return {
            "id": self.id,
            "kind": self.kind,
            "must": list(self.must),
            "may": list(self.may),
            "done": list(self.done),
            "engine": self.engine,
            "clock": self.clock,
            "context": self.context,
        }


_BLANK = Frame(0, "")


def _replace_top(s: S, frame: Frame) -> S:
    return assign(s, frames=(*s.frames[:-1], frame))


def _without(seats: tuple[int, ...], seat: Seat) -> tuple[int, ...]:
    return tuple([x for x in seats if x != seat]) if seat in seats else seats


class Asked(AnyFact, frozen=True):
    """A frame is opened: the seats, all at the same time, or the engine must decide."""

    n: Count
    """Number of the frame on the active versions."""
    kind: Id
    data: Doc
    seats: Maybe[Sequence[int]] = UNSET
    engine: Maybe[bool] = UNSET
    secret: Maybe[bool] = UNSET
    timed_as: Maybe[int] = UNSET
    """The frame whose clock goes on."""

    def evolve(self, s: S) -> S:
        seats = tuple(self.seats or ())
        frame = assign(
            _BLANK,
            n=self.n,
            kind=self.kind,
            asked=seats,
            owing=seats,
            engine=self.engine is True,
            secret=self.secret is True,
            data=self.data,
            timed_as=self.timed_as or 0,
        )
        return assign(s, opened=self.n, frames=(*s.frames, frame))


class Answered(AnyFact, frozen=True):
    """A seat has answered the open decision."""

    seat: int

    def evolve(self, s: S) -> S:
        top, seat = s.frames[-1], self.seat
        return _replace_top(s, assign(top, owing=_without(top.owing, seat), done=(*_without(top.done, seat), seat)))


class Reopened(AnyFact, frozen=True):
    """A seat has taken its answer back, and owes it again."""

    seat: int

    def evolve(self, s: S) -> S:
        owing = tuple(sorted({*s.top.owing, self.seat}))
        return _replace_top(s, assign(s.top, owing=owing, done=_without(s.top.done, self.seat)))


class Noted(AnyFact, frozen=True):
    """Some members of the top frame's data have changed."""

    data: Doc

    def evolve(self, s: S) -> S:
        top = s.frames[-1]
        return _replace_top(s, assign(top, data={**top.data, **self.data}))


class Ended(AnyFact, frozen=True):
    """The top frame is closed."""

    def evolve(self, s: S) -> S:
        return assign(s, frames=s.frames[:-1])


class Finished(AnyFact, frozen=True):
    """The game is over: no frame is left."""

    def evolve(self, s: S) -> S:
        return assign(s, frames=(), over=True)


class Vacated(AnyFact, frozen=True):
    """A seat has lost its player."""

    seat: int

    def evolve(self, s: S) -> S:
        return assign(s, vacant=tuple(sorted({*s.vacant, self.seat})))


class Seated(AnyFact, frozen=True):
    """A seat has a player again."""

    seat: int

    def evolve(self, s: S) -> S:
        return assign(s, vacant=_without(s.vacant, self.seat))


class Unsealed(AnyFact, frozen=True):
    """Packs are published with their salts, by name; the record holds them. No state changes."""

    keys: Sequence[str]


class Patched(AnyFact, frozen=True):
    """A scenario has changed the state: a merge patch (RFC 7396)."""

    patch: Json

    def evolve(self, s: S) -> S:
        patched: S = from_json(type(s), merge_patch(to_json(s), self.patch))
        return patched


class Restored(AnyFact, frozen=True):
    """A fork begins: the whole state is that of its origin."""

    state: Doc

    def evolve(self, s: S) -> S:
        restored: S = from_json(type(s), self.state)
        return restored


FLOW: dict[str, type[AnyFact]] = declared_classes(__name__, Fact)
"""The kernel's own facts."""
