"""Tie-breaks: entrants with equal values stand in the order of the next rule, group by group.

A rule gives each entrant of a group a value. If they split the group, each part goes through the same rule again until
it splits no more, then to the next rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from domain.compat import cached_property
from domain.errors import TournamentError
from domain.tournaments.draw import draw_value
from domain.tournaments.results import Stage, TableResult, Tally
from domain.tournaments.scoring import POINT, count_margins
from domain.tournaments.sizes import MAX_SEATS

Value = int | bytes

SCALE = 2520
"""Divided by every number of seats, and of opponents, up to ten."""

SHARED = "shared"
"""Last rule of a list: the entrants share their places."""
RULES = ("points", "direct", "wins", "beaten", "opponents", "margin", "lapses", "draw", SHARED, "reached", "finish")
FEWER_FIRST = frozenset({"lapses", "draw", "finish"})
"""Rules by which the lower value stands first."""
NOT_ALL_MET, NO_GAME_POINTS, NO_DRAW = "not_all_met", "no_game_points", "no_draw"
"""Reasons to skip a rule."""


@dataclass(frozen=True)
class Step:
    """A rule applied to a group: the value of each entrant, or the reason to skip it."""

    rule: str
    group: tuple[int, ...]
    values: Mapping[int, Value]
    skipped: str = ""
    tables: tuple[str, ...] = ()
    """Tables that `direct` looked at."""


def check_ties(ties: Sequence[str]) -> tuple[str, ...]:
    """Return the list; raise TournamentError for an unknown or repeated rule, or one after `shared`."""
    for place, rule in enumerate(ties):
        if rule not in RULES:
            raise TournamentError("tie_unknown", f"{rule!r} is none of {', '.join(RULES)}")
        if rule in ties[:place] or SHARED in ties[:place]:
            raise TournamentError("tie_invalid", f"{rule!r} comes twice, or after {SHARED!r}")
    return tuple(ties)


class TieBreaks:
    """Values of the rules for a stage, as integers over a denominator for each rule."""

    def __init__(self, stage: Stage) -> None:
        self.rules = check_ties(stage.ties)
        self.tally = Tally(stage)

    # --- values of all entrants

    @cached_property
    def _means(self) -> tuple[list[int], int]:
        """Mean ticks of each entrant, times a common denominator; the denominator."""
        values = self.tally.values
        scale = lcm(*{len(own) for own in values if own})
        return [sum(own) * (scale // len(own)) if own else 0 for own in values], scale

    @cached_property
    def wins(self) -> list[int]:
        """First places; a place shared by k entrants counts 1/k."""
        wins = [0] * len(self.tally.values)
        for table, _ in self.tally.tables:
            firsts = _group_seats(table.places)[-1]
            for seat in firsts:
                if (entrant := table.entrants[seat]) is not None:
                    wins[entrant] += SCALE // len(firsts)
        for entrant, table in self.tally.aside:
            if table.places[table.entrants.index(entrant)] == 1:
                wins[entrant] -= SCALE // table.places.count(1)
        return wins

    @cached_property
    def beaten(self) -> list[int]:
        """Sum over tables of M_j*w/(n - 1), M_j the mean of opponent j, w = 2 behind, 1 level, 0 before."""
        means, _ = self._means
        beaten = [0] * len(means)
        for table, _ in self.tally.tables:
            entrants, weight, behind = table.entrants, SCALE // (len(table.places) - 1), 0
            for seats in _group_seats(table.places):
                if len(seats) == 1:  # by far the most, so it is worth a branch
                    if (single := entrants[seats[0]]) is not None:
                        beaten[single] += 2 * behind * weight
                        behind += means[single]
                    continue
                group = [entrant for seat in seats if (entrant := entrants[seat]) is not None]
                level = sum([means[entrant] for entrant in group])
                for entrant in group:
                    beaten[entrant] += (2 * behind + level - means[entrant]) * weight
                behind += level
        for entrant, table in self.tally.aside:
            beaten[entrant] -= self._count_beaten(entrant, table)
        return beaten

    def _count_beaten(self, entrant: int, table: TableResult) -> int:
        """Return the share of one table in the value `beaten` of an entrant."""
        means, own = self._means[0], table.places[table.entrants.index(entrant)]
        others = [(e, p) for e, p in zip(table.entrants, table.places, strict=True) if e is not None and e != entrant]
        won = sum(means[e] * (2 if place > own else int(place == own)) for e, place in others)
        return won * (SCALE // (len(table.places) - 1))

    # --- values of single entrants: few ties come as far as these rules

    def rate_opponents(self, entrant: int) -> int:
        """Return the mean over own tables of the mean M_j of the opponents there."""
        means, scale = self._means
        tables, rating = self.tally.seats[entrant], 0
        for table in tables:
            members = [means[other] for other in table.entrants if other is not None]
            if len(members) > 1:
                rating += (sum(members) - means[entrant]) * (SCALE // (len(members) - 1))
        return rating * (scale // len(tables)) if tables else 0

    def add_margins(self, entrant: int) -> int:
        """Return the sum of the `margin` ticks."""
        tables = self.tally.seats[entrant]
        return sum([count_margins(table.points)[table.entrants.index(entrant)] for table in tables])

    def count_lapses(self, entrant: int) -> int:
        """Return the number of missed deadlines."""
        tables = self.tally.seats[entrant]
        return sum([table.lapses[table.entrants.index(entrant)] for table in tables if table.lapses])

    @cached_property
    def _finishes(self) -> dict[int, tuple[int, int]]:
        """Last round of each entrant with a table or a bye, and the place there: 1 for a bye, unknown ones last."""
        stage = self.tally.stage
        finishes = {entrant: (round_, 1) for round_, entrant in sorted(stage.byes)}
        for table in stage.tables:
            places = table.places if table.places and not table.annulled else (len(table.entrants),) * MAX_SEATS
            for entrant, place in zip(table.entrants, places, strict=False):
                if entrant is not None and table.round >= finishes.get(entrant, (0, 0))[0]:
                    finishes[entrant] = table.round, place
        return finishes

    def find_last_round(self, entrant: int) -> int:
        """Return the last round with a table or a bye of an entrant, 0 without one."""
        return self._finishes.get(entrant, (0, 0))[0]

    def find_last_place(self, entrant: int) -> int:
        """Return the place at the entrant's last table."""
        return self._finishes.get(entrant, (0, 0))[1]

    # --- rules

    def find_shared_tables(self, group: Sequence[int]) -> list[TableResult] | None:
        """Return the tables with two or more of the group, or None unless every two of them have met."""
        members, seats = set(group), self.tally.seats
        for entrant in group:
            if not members <= {entrant}.union(*[table.entrants for table in seats[entrant]]):
                return None
        tables = {table.name: table for entrant in group for table in seats[entrant]}
        shared = [table for table in tables.values() if len(members.intersection(table.entrants)) > 1]
        return sorted(shared, key=lambda table: (table.round, table.pod))

    def _compare_directly(self, group: Sequence[int], tables: Sequence[TableResult]) -> dict[int, int]:
        """Return for each of the group: members placed behind, less members placed before, over shared tables."""
        values = dict.fromkeys(group, 0)
        for table in tables:
            present = [(e, p) for e, p in zip(table.entrants, table.places, strict=True) if e in values]
            for entrant, place in present:
                if entrant is not None:
                    values[entrant] += sum((p > place) - (p < place) for _, p in present)
        return values

    def apply(self, rule: str, group: tuple[int, ...]) -> Step:
        """Return a rule's values for a group. All but `direct` have the same ones in every group."""
        if rule == "direct":
            tables = self.find_shared_tables(group)
            if tables is None:
                return Step(rule, group, {}, NOT_ALL_MET)
            return Step(rule, group, self._compare_directly(group, tables), tables=tuple(t.name for t in tables))
        if rule == "margin" and not self.has_game_points:
            return Step(rule, group, {}, NO_GAME_POINTS)
        if rule == "draw":
            key = self.tally.stage.key
            values = {entrant: draw_value(key, entrant) for entrant in group} if key else {}
            return Step(rule, group, values, "" if key else NO_DRAW)
        if rule == SHARED:
            return Step(rule, group, dict.fromkeys(group, 0))
        find_value = self._find_rule(rule)
        return Step(rule, group, {entrant: find_value(entrant) for entrant in group})

    @cached_property
    def has_game_points(self) -> bool:
        """True if every counted table has game points."""
        return all(table.points for table, _ in self.tally.tables)

    def _find_rule(self, rule: str) -> Callable[[int], int]:
        """Return the function from an entrant to its value by a rule."""
        match rule:
            case "points":
                return self.tally.totals.__getitem__
            case "wins":
                return self.wins.__getitem__
            case "beaten":
                return self.beaten.__getitem__
            case "opponents":
                return self.rate_opponents
            case "margin":
                return self.add_margins
            case "reached":
                return self.find_last_round
            case "finish":
                return self.find_last_place
            case _:
                return self.count_lapses

    def express(self, rule: str, value: int) -> Fraction:
        """Return a rule's value as an exact fraction: points, places or numbers."""
        return Fraction(value, self._units.get(rule, 1))

    def write(self, rule: str, value: int) -> str:
        """Return the same as text. Of 200 entrants, fractions of 1,400 values took a tenth of a page's first view."""
        unit = self._units.get(rule, 1)
        common = gcd(value, unit)
        whole = unit // common
        return f"{value // common}/{whole}" if whole > 1 else str(value // common)

    @cached_property
    def _units(self) -> Mapping[str, int]:
        """The unit of the values of each rule with one."""
        scale = self._means[1]
        return {
            "points": POINT,
            "wins": SCALE,
            "beaten": SCALE * scale * POINT,
            "opponents": SCALE * scale**2 * POINT,
            "margin": POINT,
        }

    # --- order

    @cached_property
    def ranking(self) -> list[tuple[int, ...]]:
        """The entrants in order of places; those in one tuple share a place."""
        ranking: list[tuple[int, ...]] = []
        waiting = [(self.tally.members, 0)]
        while waiting:
            group, place = waiting.pop()
            if len(group) < 2 or place == len(self.rules):
                ranking += [group] if group else []
                continue
            parts = split_group(self.apply(self.rules[place], group))
            if len(parts) == 1:
                waiting.append((group, place + 1))
            else:  # only the values of `direct` depend on the group
                then = place + (self.rules[place] != "direct")
                waiting += [(part, then) for part in reversed(parts)]
        return ranking

    @cached_property
    def places(self) -> list[int]:
        """Place of each entrant, from 1; shared ones equal, 0 for outsiders."""
        places, before = [0] * self.tally.stage.entrants, 1
        for group in self.ranking:
            for entrant in group:
                places[entrant] = before
            before += len(group)
        return places

    def trace(self, one: int, other: int) -> list[Step]:
        """Return the rules applied to the groups of both entrants, up to the one between them."""
        steps, group, place = list[Step](), self.tally.members, 0
        while place < len(self.rules):
            step = self.apply(self.rules[place], group)
            steps.append(step)
            part = next(part for part in split_group(step) if one in part)
            if other not in part:
                break
            place += self.rules[place] != "direct" or len(part) == len(group)
            group = part
        return steps


@functools.lru_cache(maxsize=4096)
def _group_seats(places: tuple[int, ...]) -> list[list[int]]:
    """Return the seats with the last place, those with the place before, and so on."""
    return [
        [seat for seat, place in enumerate(places) if place == shared] for shared in sorted(set(places), reverse=True)
    ]


def split_group(step: Step) -> list[tuple[int, ...]]:
    """Return the parts of a rule's group in their order, entrants ascending; one part if the rule was skipped."""
    if step.skipped:
        return [step.group]
    parts: dict[Value, list[int]] = {}
    for entrant in step.group:
        parts.setdefault(step.values[entrant], []).append(entrant)
    order = sorted(parts, reverse=step.rule not in FEWER_FIRST)
    return [tuple(parts[value]) for value in order]
