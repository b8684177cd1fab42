"""Draft of a record during its decision."""

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

if TYPE_CHECKING:  # circular: ruleset types name drafts, and drafts name rulesets
    from domain.kernel.rules.ruleset import Ruleset


class Draft(Generic[S]):
    """Record under construction: `decide` reads the current state, takes draws, adds facts."""

    def __init__(self, rules: Ruleset[S], state: S, draws: Draws) -> None:
        self.rules = rules
        self.state = state
        self.draws = draws
        self.facts: list[tuple[str, Fact[S]]] = []
        self.has_barrier = False

    def add(self, fact: Fact[S], to: Audience = ALL, seal: str = "") -> None:
        """Add a fact for one audience; evolve the state at once. With `seal` it has a pack publishable by `unseal`."""
        self.facts.append((audience.key_of(to, seal), fact))
        self.state = fact.evolve(self.state)

    def ask(
        self, context: Context, *seats: Seat, engine: bool = False, secret: bool = False, timed_as: int = 0
    ) -> None:
        """Open a frame. The choice of seats depends on public facts only.

        `timed_as`: the `timer` of an ended frame, to ask the same question again on the same clock.
        """
        asked = Asked(
            self.state.opened + 1,
            declarations.type_name(type(context)),
            declarations.doc(context),
            sorted(seats) or UNSET,
            engine or UNSET,
            secret or UNSET,
            timed_as or UNSET,
        )
        self.add(asked)

    def mark_answered(self, seat: Seat, end: bool = False) -> None:
        """Record the seat's answer to the top frame; with `end` close the frame as well."""
        self.add(Answered(seat), (seat,) if self.state.top.secret else ALL)
        if end:
            self.end()

    def reopen(self, seat: Seat) -> None:
        """Take back the seat's answer: it owes the top frame again."""
        self.add(Reopened(seat), (seat,) if self.state.top.secret else ALL)

    def note(self, **data: Json) -> None:
        """Change members of the top frame's context."""
        self.add(Noted(data))
        self.state.top.context(self.rules.frames[self.state.top.kind])

    def end(self) -> None:
        """Close the top frame."""
        self.add(Ended())

    def finish(self) -> None:
        """End the game: no frame is left."""
        self.add(Finished())

    def unseal(self, *keys: str) -> None:
        """Publish named packs (`0:card`) with their salts. A barrier."""
        self.add(Unsealed(keys))

    def barrier(self) -> None:
        """Make the record a barrier to free undo, for a reason of the game's own."""
        self.has_barrier = True

    @property
    def has_revealed(self) -> bool:
        """Return whether anything was drawn or revealed so far."""
        return self.has_barrier or bool(self.draws.taken) or any(isinstance(f, Unsealed) for _, f in self.facts)

    def has_secret_step(self, seat: Seat | None) -> bool:
        """Return whether seats were asked in secret so far, or this one has answered in secret.

        Later moves would rest on the answers of the others, or answer in advance. A sealed answer counts even if
        everybody sees its existence: a record has one pack for it, and two answers would be opened together.
        """
        return any(
            (isinstance(f, Asked) and f.secret is True)
            or (isinstance(f, Answered) and f.seat == seat and key != ALL_KEY)
            or (":" in key and seat in audience.seats_of(key))
            for key, f in self.facts
        )
