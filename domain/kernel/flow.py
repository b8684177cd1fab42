"""Flow as data: frames in the state, changed by the kernel's own facts, never closures.

The kernel knows seats and simultaneous decisions; which frames there are, and what comes next, the game knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from domain.ids import Json, Seat
from domain.kernel.jsonform import from_json, merge_patch, to_json

Fact = dict[str, Json]
"""One thing that is true after a move: a JSON object whose `t` names its kind."""


@dataclass(frozen=True)
class Frame:
    """One level of the flow. Public as a whole, except that `secret` keeps owing and done to the director."""

    n: int
    """The n-th frame opened on this line."""
    kind: str
    asked: tuple[int, ...] = ()
    """Seats that were asked, ascending; several = at the same time."""
    owing: tuple[int, ...] = ()
    """Seats that must still answer, ascending."""
    done: tuple[int, ...] = ()
    """Seats that have answered, in the order of the log."""
    engine: bool = False
    """Owed by no seat: a worker answers (a due row)."""
    secret: bool = False
    """Who has answered is each seat's own until the frame ends."""
    data: dict[str, Any] = field(default_factory=dict)
    """Public context of the decision; may hold the list of steps still to do."""
    timed_as: int = 0
    """The frame whose clock this one goes on with: a question that is asked anew has no new deadline. 0 = its own."""

    @property
    def timer(self) -> int:
        """The number of its clock."""
        return self.timed_as or self.n


@dataclass(frozen=True)
class State:
    """What every game's state has. Games add their fields; values are replaced, never changed."""

    seats: int = 0
    opened: int = 0
    """How many frames were opened on this line."""
    frames: tuple[Frame, ...] = ()
    over: bool = False
    vacant: tuple[int, ...] = ()
    """Seats whose player has left, ascending."""

    @property
    def top(self) -> Frame:
        """The frame that is being decided; IndexError before the set-up and after the end."""
        return self.frames[-1]


S = TypeVar("S", bound=State)
T = TypeVar("T")


def assign(value: T, **fields: Any) -> T:
    """A frozen dataclass with some fields assigned: `dataclasses.replace` without its checks, several times as fast.

    For folding, where the same few assignments are made for every fact of every record. What `ruleset.memo` made of
    the old value alone is left behind; what it made of parts goes on with them.
    """
    new = object.__new__(type(value))
    new.__dict__.update(value.__dict__)
    new.__dict__.pop("_memo", None)
    new.__dict__.update(fields)
    return new


@dataclass(frozen=True)
class Decision:
    """Something that seats or the engine must or may decide now; all of it is public."""

    id: str
    """`<rewinds>-<n>`: never comes twice in a game."""
    kind: str
    must: tuple[int, ...]
    may: tuple[int, ...]
    done: tuple[int, ...]
    engine: bool
    clock: str
    """Deadline class."""
    context: dict[str, Any]

    def to_json(self) -> dict[str, Json]:
        """As clients see it."""
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


def _top(s: S, **change: Any) -> S:
    return assign(s, frames=(*s.frames[:-1], assign(s.frames[-1], **change)))


def _without(seats: tuple[int, ...], seat: Seat) -> tuple[int, ...]:
    return tuple(x for x in seats if x != seat)


def _asked(s: S, f: Fact) -> S:
    seats = tuple(f.get("seats", ()))
    engine, secret = f.get("engine", False), f.get("secret", False)
    frame = Frame(f["n"], f["kind"], seats, seats, (), engine, secret, f["data"], f.get("timed_as", 0))
    return assign(s, opened=f["n"], frames=(*s.frames, frame))


def _answered(s: S, f: Fact) -> S:
    return _top(s, owing=_without(s.top.owing, f["seat"]), done=(*_without(s.top.done, f["seat"]), f["seat"]))


def _reopened(s: S, f: Fact) -> S:
    owing = tuple(sorted({*s.top.owing, f["seat"]}))
    return _top(s, owing=owing, done=_without(s.top.done, f["seat"]))


def _noted(s: S, f: Fact) -> S:
    return _top(s, data={**s.top.data, **f["data"]})


def _ended(s: S, _: Fact) -> S:
    return assign(s, frames=s.frames[:-1])


def _finished(s: S, _: Fact) -> S:
    return assign(s, frames=(), over=True)


def _vacated(s: S, f: Fact) -> S:
    return assign(s, vacant=tuple(sorted({*s.vacant, f["seat"]})))


def _seated(s: S, f: Fact) -> S:
    return assign(s, vacant=_without(s.vacant, f["seat"]))


def _unsealed(s: S, _: Fact) -> S:
    return s


def _patched(s: S, f: Fact) -> S:
    patched: S = from_json(type(s), merge_patch(to_json(s), f["patch"]))
    return patched


Evolve = Callable[[Any, Fact], Any]

FLOW: Mapping[str, Evolve] = {
    "asked": _asked,
    "answered": _answered,
    "reopened": _reopened,
    "noted": _noted,
    "ended": _ended,
    "finished": _finished,
    "vacated": _vacated,
    "seated": _seated,
    "unsealed": _unsealed,
    "patched": _patched,
}
"""The kernel's own facts. `unsealed` changes no state: the record that holds it publishes the packs it names."""
