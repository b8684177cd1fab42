"""The name, seats and options of a ruleset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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


TalkMode = Literal["free", "public", "by_phase", "none"]
"""What the players of a table may write: all, to the table alone, letters when the ruleset allows them, nothing."""


@dataclass(frozen=True)
class TalkRules:
    """Declaration of a ruleset about talk between players."""

    default: TalkMode = "none"
    """Term of a table that names none."""
    private: tuple[str, ...] = ()
    """Frames in which letters may be written at a table with `by_phase`, without which no such table is possible."""
    rule: str = ""
    """Number of the rule that says so."""


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
    talk: TalkRules = TalkRules()
    max_moves: int = 20_000
    """Limit of a terminating game; more moves indicate a fault."""
