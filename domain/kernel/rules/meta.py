"""The name, seats and options of a ruleset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.kernel.schema import validators
from domain.types import Json


@dataclass(frozen=True)
class Table:
    """What is agreed before a game: how many seats, and the value of every option."""

    seats: int
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class OptionType:
    """One option of a ruleset."""

    shape: validators.Shape
    default: Json
    rule: str = ""


@dataclass(frozen=True)
class Meta:
    """What is known of a ruleset without playing it."""

    ruleset: str
    """`struggle_of_empires@1`."""
    title: str
    prefix: str
    """Prefix of the numbers on the rules page, `SOE`."""
    seats: tuple[int, ...]
    """Seat counts that are allowed."""
    options: Mapping[str, OptionType] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    """Refusal code of the game -> rule number that defines it."""
    clocks: Mapping[str, str] = field(default_factory=dict)
    """Frame kind -> deadline class; `move` for a kind that is not named."""
    paces: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Preset (`live`, `correspondence`) -> deadline class -> seconds."""
    brief: Mapping[str, Json] = field(default_factory=dict)
    """Options with which a game of players who do not know what they want comes to an end soon: of a demo."""
    headlines: tuple[str, ...] = ()
    """Facts that a digest of a turn repeats: conquests, battles, what is scored."""
    undo: bool = True
    """Whether the rules allow seats to undo at all."""
    max_moves: int = 20_000
    """A game that takes more moves does not terminate: a fault."""
