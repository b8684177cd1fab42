"""A battle as a card shows it: two sides with dice, strengths and their reasons, losses, and the winner.

A game reads its battles from the facts of its chronicle, each with the context of its sentence. It needs no state, so
a reader's battles hold no more than the same reader's facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from domain.types import Doc, Json

BattleEnd = Literal["attacker", "defender", "tie", ""]
"""The winner; empty while nobody has won, or where the rules name no winner."""


@dataclass
class BattleSide:
    """A side of a battle."""

    who: Json
    """A seat, or the id of a power, a marker or a party without a seat."""
    dice: list[Sequence[int]] = field(default_factory=list)
    """Values of the dice, a list for each round."""
    strength: int | None = None
    reasons: list[Doc] = field(default_factory=list)
    """Members of `item.part`: the parts of the strength."""
    force: Counter[str] = field(default_factory=Counter)
    """Kind of unit -> number, before the battle."""
    lost: Counter[tuple[Json, str]] = field(default_factory=Counter)
    """(an ally who loses it, or None; what is lost) -> number."""

    def lose(self, what: str, number: int = 1, ally: Json = None) -> None:
        """Note a loss; an ally is named if it is not the side itself."""
        if number:
            self.lost[None if ally == self.who else ally, what] += number


@dataclass
class Battle:
    """A battle, as far as the facts tell it."""

    version: int
    """The last version that tells of it."""
    region: str
    attacker: BattleSide
    defender: BattleSide
    _: KW_ONLY
    winner: BattleEnd = ""
    stage: str = ""
    """Id of the kind of battle where a combat has several, such as one at sea before that on land."""
    is_open: bool = True
    """False once it is over; before its dice it is an attack that somebody answers."""
    facts: list[Doc] = field(default_factory=list)
    """The facts that it is read from: a page that shows it need not tell them again."""

    @property
    def sides(self) -> Mapping[str, BattleSide]:
        """Return both sides by their names."""
        return {"attacker": self.attacker, "defender": self.defender}

    @property
    def has_dice(self) -> bool:
        """Return True if dice of it have been rolled."""
        return any(side.dice for side in self.sides.values())

    def count_lost(self) -> int:
        """Return the number of things lost so far."""
        return sum(side.lost.total() for side in self.sides.values())

    def side_of(self, who: Json) -> BattleSide | None:
        """Return the side with this principal, or None."""
        return next((side for side in self.sides.values() if side.who == who), None)


ToldFact = tuple[int, Doc]
"""The version of a fact, and the fact with the context of its sentence."""
