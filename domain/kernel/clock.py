"""Deadlines: how long a decision may take, as pure arithmetic on the times of records.

Every frame has a clock of its own. It runs while the frame is the top one and stands while another covers it, so that
an interruption costs nobody time. A frame that asks the same question anew goes on with the clock of the one before.
A rewind starts the clocks of the line anew. All times are ms, points in time since
1970 UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from domain.errors import InvalidTable
from domain.ids import MAX_INT, Json
from domain.kernel.flow import Frame
from domain.kernel.ruleset import Meta

SECOND = 1000
LONGEST = 400 * 24 * 3600
"""Seconds that a deadline class may have."""


@dataclass(frozen=True)
class Clock:
    """The clock of one frame, or of several after each other that ask the same question."""

    n: int
    """Their `timer`."""
    left: int
    """What it had left when it last started or stopped."""
    since: int | None
    """When it started to run; None while it stands."""

    @property
    def deadline(self) -> int | None:
        """When it runs out; None while it stands."""
        return None if self.since is None else self.since + self.left


@dataclass(frozen=True)
class Pace:
    """Seconds per deadline class, and the grace after a deadline before it is enforced; no class, no deadline."""

    seconds: Mapping[str, int]
    grace: int = 0

    def to_json(self) -> dict[str, Json]:
        """As it stands in the record `opened`."""
        return {"seconds": dict(self.seconds), "grace": self.grace}


NO_PACE = Pace({})


def pace_of(meta: Meta, doc: Json) -> Pace:
    """A preset's name, or `{"seconds": {class: n}, "grace": n}`; None or `none` for no deadlines.

    Raises InvalidTable with a pointer. Classes that are not named have no deadline.
    """
    if doc is None or doc == "none":
        return NO_PACE
    if isinstance(doc, str):
        if doc not in meta.paces:
            raise InvalidTable("one of " + ", ".join(["none", *meta.paces]) + " is expected", "/pace")
        return Pace(meta.paces[doc])
    if not isinstance(doc, dict) or set(doc) - {"seconds", "grace"} or not isinstance(doc.get("seconds"), dict):
        raise InvalidTable("a preset, or an object with `seconds` is expected", "/pace")
    known = {*meta.clocks.values(), "move"}
    for name, value in {**doc["seconds"], "": doc.get("grace", 0)}.items():
        at = f"/pace/seconds/{name}" if name else "/pace/grace"
        if name and name not in known:
            raise InvalidTable("no such deadline class", at)
        if type(value) is not int or not (0 if not name else 1) <= value <= LONGEST:
            raise InvalidTable(f"whole seconds up to {LONGEST} are expected", at)
    return Pace(doc["seconds"], doc.get("grace", 0))


def class_of(meta: Meta, frame: Frame) -> str:
    """The deadline class of a frame."""
    return meta.clocks.get(frame.kind, "move")


def tick(meta: Meta, pace: Pace, clocks: tuple[Clock, ...], frames: tuple[Frame, ...], at: int) -> tuple[Clock, ...]:
    """The clocks after a record at that time has left these frames."""
    known = {c.n: c for c in clocks}
    top = frames[-1].timer if frames else 0
    out = []
    for frame in frames:
        seconds = pace.seconds.get(class_of(meta, frame))
        if seconds is None or not (frame.owing or frame.timer in known):
            continue
        clock = known.get(frame.timer, Clock(frame.timer, min(seconds * SECOND, MAX_INT), None))
        out.append(_run(clock, at) if frame.timer == top else _stop(clock, at))
    return tuple(out)


def moved(clocks: tuple[Clock, ...], n: int, ms: int) -> tuple[Clock, ...]:
    """The clocks after the deadline of the frames with timer `n` was moved."""
    return tuple(replace(c, left=max(c.left + ms, 0)) if c.n == n else c for c in clocks)


def _run(clock: Clock, at: int) -> Clock:
    return replace(clock, since=at) if clock.since is None else clock


def _stop(clock: Clock, at: int) -> Clock:
    if clock.since is None:
        return clock
    return Clock(clock.n, max(clock.left - (at - clock.since), 0), None)


def due_at(pace: Pace, clocks: tuple[Clock, ...], frames: tuple[Any, ...]) -> int | None:
    """When the top frame's default is played, grace included; None for never."""
    running = next((c for c in clocks if frames and c.n == frames[-1].timer), None)
    deadline = None if running is None else running.deadline
    return None if deadline is None else deadline + pace.grace * SECOND
