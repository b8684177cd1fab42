"""The name, seats and options of a ruleset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.kernel.schema import validators
from domain.types import Json


@dataclass(frozen=True)
class Table:
    """Agreement before a game: number of seats, and the value of every option."""

    seats: int
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class OptionType:
    """One option of a ruleset."""

    validator: validators.Validator
    default: Json
    rule: str = ""


@dataclass(frozen=True)
class Meta:
    """Static description of a ruleset."""

    ruleset: str
    """`struggle_of_empires@1`."""
    title: str
    prefix: str
    """Prefix of the numbers on the rules page, `SOE`."""
    seats: tuple[int, ...]
    """Allowed seat counts."""
    options: Mapping[str, OptionType] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    """Refusal code of the game -> number of its rule."""
    clocks: Mapping[str, str] = field(default_factory=dict)
    """Frame kind -> deadline class; `move` for kinds without an entry."""
    paces: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Preset (`live`, `correspondence`) -> deadline class -> seconds."""
    demo_options: Mapping[str, Json] = field(default_factory=dict)
    """Options of a demo, to bring its game to a quick end."""
    headlines: tuple[str, ...] = ()
    """Facts repeated in the digest of a turn, the most important kinds first: conquests, battles, scores."""
    weightless: tuple[str, ...] = ()
    """Headlines without weight, left out of brief digests."""
    undo: bool = True
    """The rules allow seats to undo at all."""
    max_moves: int = 20_000
    """Limit of a terminating game; more moves indicate a fault."""
