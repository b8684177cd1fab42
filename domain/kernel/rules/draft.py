"""A record in the making."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from domain.kernel.records import audience
from domain.kernel.records.audience import ALL, ALL_KEY, Audience
from domain.kernel.rules.draws import Draws
from domain.kernel.rules.flow import (
    Answered,
    Asked,
    Ended,
    Finished,
    Noted,
    Reopened,
    S,
    Unsealed,
)
from domain.kernel.schema import declarations
from domain.kernel.schema.declarations import UNSET, Context, Fact
from domain.types import Json, Seat

if TYPE_CHECKING:  # a ruleset names drafts in its types, and a draft its ruleset
    from domain.kernel.rules.ruleset import Ruleset


class Draft(Generic[S]):
    """The record in the making: `decide` reads the state as it becomes, asks for draws, adds facts."""

    def __init__(self, rules: Ruleset[S], state: S, draws: Draws) -> None:
        self.rules = rules
        self.state = state
        self.draws = draws
        self.facts: list[tuple[str, Fact[S]]] = []
        self.barred = False

    def add(self, fact: Fact[S], to: Audience = ALL, seal: str = "") -> None:
        """A fact for one audience; evolves the state at once. With `seal` it has a pack that `unseal` can publish."""
        self.facts.append((audience.key_of(to, seal), fact))
        self.state = fact.evolve(self.state)

    def ask(self, about: Context, *seats: Seat, engine: bool = False, secret: bool = False, timed_as: int = 0) -> None:
        """Open a frame. Who is asked depends on public facts only.

        `timed_as`: the `timer` of a frame that has ended, when the same question is asked anew on the same clock.
        """
        asked = Asked(
            self.state.opened + 1,
            declarations.tag(type(about)),
            declarations.doc(about),
            sorted(seats) or UNSET,
            engine or UNSET,
            secret or UNSET,
            timed_as or UNSET,
        )
        self.add(asked)

    def answered(self, seat: Seat, end: bool = False) -> None:
        """The seat owes the top frame nothing more; with `end` the frame is over as well."""
        self.add(Answered(seat), (seat,) if self.state.top.secret else ALL)
        if end:
            self.end()

    def reopened(self, seat: Seat) -> None:
        """The seat takes its answer back and owes the top frame again."""
        self.add(Reopened(seat), (seat,) if self.state.top.secret else ALL)

    def note(self, **data: Json) -> None:
        """Change members of the top frame's context."""
        self.add(Noted(data))
        self.state.top.of(self.rules.frames[self.state.top.kind])

    def end(self) -> None:
        """Close the top frame."""
        self.add(Ended())

    def finish(self) -> None:
        """The game is over: no frame is left."""
        self.add(Finished())

    def unseal(self, *keys: str) -> None:
        """Publish named packs (`0:card`) with their salts. A barrier."""
        self.add(Unsealed(keys))

    def barrier(self) -> None:
        """Past this record undo is not free, for a reason of the game's own."""
        self.barred = True

    @property
    def revealing(self) -> bool:
        """Whether something was drawn or shown so far."""
        return self.barred or bool(self.draws.taken) or any(isinstance(f, Unsealed) for _, f in self.facts)

    def confiding(self, seat: Seat | None) -> bool:
        """Whether seats were asked in secret so far, or this one has answered so.

        What comes next then rests on what the others have answered, or answer in advance. A sealed answer counts even
        where everybody sees that it was given: a record has one pack for it, and two of them would be opened together.
        """
        return any(
            (isinstance(f, Asked) and f.secret is True)
            or (isinstance(f, Answered) and f.seat == seat and key != ALL_KEY)
            or (":" in key and seat in audience.seats_of(key))
            for key, f in self.facts
        )
