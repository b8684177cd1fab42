"""SOE-13: the final table, and the present standings of a running game."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from domain.games.common.ranking import groups, places
from domain.games.struggle_of_empires.data import CONSTANTS
from domain.games.struggle_of_empires.state import Struggle
from domain.kernel.rules.ruleset import Score
from domain.kernel.schema.declarations import UNSET, Maybe, Part
from domain.types import Seat


class Detail(Part, frozen=True, kw_only=True):
    """SOE-13: the figures of a seat's score."""

    points: int
    vp: int
    """Victory points before any penalty."""
    revolution: Maybe[bool] = UNSET
    """True if unrest has cost all points; absent while totals are withheld, as are the next two."""
    unrest: Maybe[int] = UNSET
    penalty: Maybe[int] = UNSET
    """Points lost for unrest."""
    tokens: int
    """On the map."""
    gold: int


def unrest_shown(s: Struggle) -> bool:
    """SOE-16.2: unrest totals are public at the end, or by the table's option."""
    return s.over or s.terms.unrest_visibility == "open"


def scores(s: Struggle) -> list[Score[Detail]]:
    """SOE-13.2 to SOE-13.4. While unrest totals are withheld they count for nothing here."""
    unrest = s.unrest if unrest_shown(s) else (0,) * s.seats
    lines = [_line(s, seat, unrest) for seat in s.everybody]
    ranked = places([_rank(line) for line in lines])
    return [Score(seat, place, lines[seat].points, lines[seat]) for seat, place in enumerate(ranked)]


def in_revolution(unrest: int) -> bool:
    """SOE-13.2."""
    at_least: int = CONSTANTS["revolution_unrest"]
    return unrest >= at_least


def penalties(unrest: Mapping[Seat, int]) -> dict[Seat, int]:
    """SOE-13.3: the two highest totals lose points, all seats tied at one alike; 0 unrest loses nothing."""
    counted = {seat: total for seat, total in unrest.items() if total and not in_revolution(total)}
    lose = (CONSTANTS["unrest_penalty_first"], CONSTANTS["unrest_penalty_second"])
    return {seat: points for seats, points in zip(groups(counted), lose, strict=False) for seat in seats}


def _line(s: Struggle, seat: Seat, unrest: tuple[int, ...]) -> Detail:
    empire, revolution = s.empires[seat], in_revolution(unrest[seat])
    penalty = penalties(dict(enumerate(unrest))).get(seat, 0)
    points = CONSTANTS["revolution_score"] if revolution else max(0, empire.vp - penalty)
    figures = Detail(points=points, vp=empire.vp, tokens=sum(empire.tokens.values()), gold=empire.gold)
    if not unrest_shown(s):
        return figures
    return replace(figures, revolution=revolution, unrest=unrest[seat], penalty=penalty)


def _rank(figures: Detail) -> tuple[int, ...]:
    """SOE-13.4: greater is better; a seat in revolution is placed behind every other."""
    return int(not figures.revolution), figures.points, -(figures.unrest or 0), figures.tokens, figures.gold
