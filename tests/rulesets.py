"""The rulesets that join the kernel's machine. A game joins by adding its `registered` module here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from domain.games.imperunde.data import CARDS
from domain.games.struggle_of_empires.data import TILES
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Doc, Json, Seat
from tests import template
from tests.games.age_of_reason import registered as age_of_reason
from tests.games.egc import rare as egc_rare
from tests.games.egc import registered as egc
from tests.games.imperunde import rare as imperunde_rare
from tests.games.imperunde import registered as imperunde
from tests.games.seven_empires import registered as seven_empires
from tests.games.struggle_of_empires import registered as struggle_of_empires
from tests.kernel.flows import orders, passage, sealed, skirmish, windows


@dataclass(frozen=True)
class Registered:
    """A ruleset, and what its tests know of it independently of its code."""

    rules: Ruleset[Any]
    seats: int
    candidates: Callable[[Any, Seat], Iterator[Doc]]
    """Every move that a small world can hold, well-formed or nearly."""
    conserved: Callable[[Json], Json]
    """Of a state's JSON form: what must be the same at any time after the set-up."""
    options: Mapping[str, Json] = field(default_factory=dict)
    things: tuple[str, ...] = ()
    """Ids of cards and tiles, all of which must be named by facts in a soak."""
    rare: tuple[Mapping[str, Json], ...] = ()
    """Tables whose state is patched after the set-up (`seats`, `options`, `patch`), for what games seldom come to."""
    brute: int = 20_000
    """Decisions with more complete moves than this are not compared with brute force."""

    @property
    def name(self) -> str:
        """The ruleset's id."""
        return self.rules.meta.ruleset


FLOWS = (
    Registered(skirmish.RULESET, 4, skirmish.candidates, skirmish.conserved),
    Registered(passage.RULESET, 3, passage.candidates, passage.conserved),
    Registered(sealed.RULESET, 4, sealed.candidates, sealed.conserved),
    Registered(orders.RULESET, 3, orders.candidates, orders.conserved),
    Registered(windows.RULESET, 5, windows.candidates, windows.conserved),
    Registered(template.RULESET, 3, template.candidates, template.conserved),
)

GAMES = (
    Registered(
        age_of_reason.RULESET,
        5,
        age_of_reason.candidates,
        age_of_reason.conserved,
        things=age_of_reason.THINGS,
        rare=age_of_reason.RARE,
        brute=2_000,
    ),
    Registered(
        egc.RULESET,
        10,
        egc.candidates,
        egc.conserved,
        things=egc.THINGS,
        rare=egc_rare.RARE,
        brute=egc.BRUTE,
    ),
    Registered(
        struggle_of_empires.RULESET,
        4,
        struggle_of_empires.candidates,
        struggle_of_empires.conserved,
        things=tuple(TILES),
        rare=struggle_of_empires.RARE,
        brute=3_000,
    ),
    Registered(
        seven_empires.RULESET,
        4,
        seven_empires.candidates,
        seven_empires.conserved,
        things=seven_empires.THINGS,
        rare=seven_empires.RARE,
        brute=400,
    ),
    Registered(
        imperunde.RULESET,
        4,
        imperunde.candidates,
        imperunde.conserved,
        options={"turn_limit": 4},
        things=tuple(CARDS),
        rare=imperunde_rare.RARE,
        brute=400,
    ),
)

REGISTERED = (*FLOWS, *GAMES)
