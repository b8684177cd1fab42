"""Ratings of people: the rule for one table, and the fold over all tables (decision 58).

The rule is Thurstone and Mosteller's full model by the openskill library: every two seats are compared, and shared
places count as a draw. Its changes are divided by the number of opponents: a table of ten moves nobody further than one
of three. Numbers are rounded to three decimals after each table. The library is imported with the first table.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from openskill.models import ThurstoneMostellerFull
    from openskill.models.weng_lin.thurstone_mosteller_full import ThurstoneMostellerFullRating

MU, SIGMA, BETA = 25.0, 25.0 / 3, 25.0 / 6
"""Mean and uncertainty of newcomers, and the luck of one table, in points."""

DECIMALS = 3
SETTLED, FEW = 4.0, 5
"""A rating is provisional above this sigma, or after fewer tables."""

LEAVERS_LAST = "last"
"""Value of the term `leavers` of tables where giving a seat back counts as a concession; earlier tables lack it."""

OVERALL = "all"
"""Name of the list of all rulesets together."""


class Skill(NamedTuple):
    """A rating: mean and uncertainty."""

    mu: float
    sigma: float

    @property
    def points(self) -> float:
        """The rating in lists: hardly anybody plays worse than this."""
        return round(self.mu - 3 * self.sigma, DECIMALS)


NEWCOMER = Skill(round(MU, DECIMALS), round(SIGMA, DECIMALS))


@functools.cache
def _load_model() -> ThurstoneMostellerFull:
    from openskill.models import ThurstoneMostellerFull  # noqa: PLC0415 - few processes rate anybody

    return ThurstoneMostellerFull()


@functools.cache
def _list_blanks(count: int) -> list[ThurstoneMostellerFullRating]:
    """Return ratings to be filled in: the library gives each new one a random id, which takes time."""
    return [_load_model().rating() for _ in range(count)]


def rate_table(skills: Sequence[Skill], places: Sequence[int]) -> list[Skill]:
    """Return the ratings after a table, in the same order; equal places are shared ones. One alone stays."""
    if len(skills) == 1:
        return list(skills)
    model, share, teams = _load_model(), 1 / (len(skills) - 1), []
    for (mu, sigma), blank in zip(skills, _list_blanks(len(skills)), strict=True):
        blank.mu, blank.sigma = mu, sigma
        teams.append([blank])
    return [
        Skill(
            round(mu + (new.mu - mu) * share, DECIMALS),
            round(math.sqrt(sigma * sigma + (new.sigma * new.sigma - sigma * sigma) * share), DECIMALS),
        )
        for (mu, sigma), (new,) in zip(skills, model.rate(teams, ranks=[float(place) for place in places]), strict=True)
    ]


class RatedSeat(NamedTuple):
    """A person at the end of a table. An adopter took the seat over from somebody."""

    player: str
    place: int
    is_adopter: bool = False


@dataclass(frozen=True)
class RatedTable:
    """A closed table with places, without the seats of bots and guests. Leavers gave their seats up."""

    game: str
    at: int
    """Time of its end, ms since 1970 UTC."""
    family: str
    """Name of the ruleset without its version."""
    seats: tuple[RatedSeat, ...]
    leavers: tuple[str, ...] = ()

    @property
    def is_rated(self) -> bool:
        """Return whether at least two different people played, one of them to the end, and nobody held two seats."""
        people = {seat.player for seat in self.seats}
        return len(people) == len(self.seats) > 0 and len(people | set(self.leavers)) > 1


class RatingChange(NamedTuple):
    """Effect of a table on a rating. `place` is 0 for somebody who left."""

    game: str
    at: int
    place: int
    before: Skill
    after: Skill


@dataclass
class RatingList:
    """Ratings of one family of rulesets, or of all together, folded table by table."""

    skills: dict[str, Skill] = field(default_factory=dict)
    changes: defaultdict[str, list[RatingChange]] = field(default_factory=lambda: defaultdict(list))
    """Player -> the tables, in their order."""

    def add(self, table: RatedTable) -> None:
        """Rate one more table.

        The others keep their order without those who left. Those are rated as last, an adopter only upwards.
        """
        skills, changes, places = self.skills, self.changes, [seat.place for seat in table.seats]
        before = [skills.get(seat.player, NEWCOMER) for seat in table.seats]
        after = rate_table(before, places)
        left = {}
        for player in table.leavers:
            old = skills.get(player, NEWCOMER)
            left[player] = old, rate_table([*before, old], [*places, max(places) + 1])[-1]
        for (player, place, is_adopter), old, new in zip(table.seats, before, after, strict=True):
            if not is_adopter or new.mu > old.mu:
                skills[player] = new
                changes[player].append(RatingChange(table.game, table.at, place, old, new))
        for player, (old, new) in left.items():
            skills[player] = new
            changes[player].append(RatingChange(table.game, table.at, 0, old, new))

    def is_provisional(self, player: str) -> bool:
        """Return whether a rating may still move far."""
        return self.skills[player].sigma > SETTLED or len(self.changes[player]) < FEW


@dataclass
class Ratings:
    """All lists: one for each family of rulesets, and `all`."""

    lists: dict[str, RatingList] = field(default_factory=dict)

    def list_hundredths(self, ruleset: str, players: Iterable[str]) -> dict[str, int]:
        """Return the ratings of people at tables of a ruleset in whole hundredths, rounded down.

        Newcomers have 2500.
        """
        found = self.lists.get(ruleset.partition("@")[0], RatingList()).skills
        return {player: math.floor(Decimal(str(found.get(player, NEWCOMER).mu)) * 100) for player in players}

    def add(self, tables: Iterable[RatedTable]) -> None:
        """Rate tables in their order; those without two people count nothing."""
        for table in tables:
            if table.is_rated:
                for name in (table.family, OVERALL):
                    self.lists.setdefault(name, RatingList()).add(table)
