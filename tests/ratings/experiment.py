"""Which model rates people at tables of 3 to 10 seats? `python -m tests.ratings.experiment` prints a table.

People of known strength play tables of all sizes, with ties and with some who leave and so come last. Each model rates
the same tables. The table of decision 58 is of this run.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple

from openskill.models import (
    BradleyTerryFull,
    BradleyTerryPart,
    PlackettLuce,
    ThurstoneMostellerFull,
    ThurstoneMostellerPart,
)

from domain.ratings import BETA, MU, SIGMA, Skill, rate_table

PEOPLE, TABLES, RUNS = 60, 400, 6
SIZES = tuple(range(3, 11))

Table = tuple[list[int], list[int]]
"""People by seat, and their places."""
Rule = Callable[[Sequence[Skill], Sequence[int]], list[Skill]]


def whole(model: type) -> Rule:
    """The library's model as it is."""
    made = model()

    def rate(skills: Sequence[Skill], places: Sequence[int]) -> list[Skill]:
        teams = [[made.rating(each.mu, each.sigma)] for each in skills]
        return [Skill(team[0].mu, team[0].sigma) for team in made.rate(teams, ranks=[float(p) for p in places])]

    return rate


def both_orders(model: type) -> Rule:
    """The mean of the ties in the order of seats and in the opposite one."""
    single = whole(model)

    def rate(skills: Sequence[Skill], places: Sequence[int]) -> list[Skill]:
        orders = []
        for sign in (1, -1):
            keys = [(place, sign * seat) for seat, place in enumerate(places)]
            orders.append(single(skills, [1 + sum(other < own for other in keys) for own in keys]))
        return [Skill((a.mu + b.mu) / 2, (a.sigma + b.sigma) / 2) for a, b in zip(*orders, strict=True)]

    return rate


def scaled(model: type, weight: float = 1.0) -> Rule:
    """The model's changes of mu and of the variance, divided by the number of opponents, times a weight."""
    single = whole(model)

    def rate(skills: Sequence[Skill], places: Sequence[int]) -> list[Skill]:
        opponents = (len(skills) - 1) / weight
        return [
            Skill(
                old.mu + (new.mu - old.mu) / opponents,
                math.sqrt(old.sigma**2 + (new.sigma**2 - old.sigma**2) / opponents),
            )
            for old, new in zip(skills, single(skills, places), strict=True)
        ]

    return rate


RULES: dict[str, Rule] = {
    "PlackettLuce": whole(PlackettLuce),
    "PlackettLuce, ties in both orders": both_orders(PlackettLuce),
    "BradleyTerryFull": whole(BradleyTerryFull),
    "BradleyTerryFull / (n - 1)": scaled(BradleyTerryFull),
    "2 BradleyTerryFull / (n - 1)": scaled(BradleyTerryFull, 2),
    "3 BradleyTerryFull / (n - 1)": scaled(BradleyTerryFull, 3),
    "BradleyTerryPart": whole(BradleyTerryPart),
    "ThurstoneMostellerFull": whole(ThurstoneMostellerFull),
    "ThurstoneMostellerFull / (n - 1)": scaled(ThurstoneMostellerFull),
    "2 ThurstoneMostellerFull / (n - 1)": scaled(ThurstoneMostellerFull, 2),
    "ThurstoneMostellerPart": whole(ThurstoneMostellerPart),
    "ThurstoneMostellerFull / (n - 1), rounded (ours)": rate_table,
}


def play(chance: random.Random) -> tuple[list[float], list[Table]]:
    """Strengths of people, and tables in their order."""
    strengths = [chance.gauss(0, 1) for _ in range(PEOPLE)]
    tables = list[Table]()
    for _ in range(TABLES):
        people = chance.sample(range(PEOPLE), chance.choice(SIZES))
        results = [round(2 * (strengths[p] + chance.gauss(0, 1))) for p in people]
        results = [-99 if chance.random() < 0.03 else result for result in results]
        tables.append((people, [1 + sum(other > own for other in results) for own in results]))
    return strengths, tables


def expect(one: Skill, other: Skill) -> float:
    """The chance that one is before the other."""
    spread = math.sqrt(2 * BETA**2 + one.sigma**2 + other.sigma**2)
    return 0.5 * (1 + math.erf((one.mu - other.mu) / spread / math.sqrt(2)))


class Run(NamedTuple):
    correlation: float
    loss: float
    early: float


def ranks(values: Sequence[float]) -> list[int]:
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(i) for i in range(len(values))]


def rate_all(rule: Rule, strengths: list[float], tables: list[Table]) -> Run:
    """Rank correlation after all tables and after a fifth, log loss of pairs in the second half."""
    skills, losses, early = [Skill(MU, SIGMA)] * PEOPLE, list[float](), 0.0
    for number, (people, places) in enumerate(tables):
        before = [skills[p] for p in people]
        if 2 * number >= len(tables):
            for i, one in enumerate(before):
                for j, other in enumerate(before[:i]):
                    chance = min(max(expect(one, other), 1e-9), 1 - 1e-9)
                    share = 0.5 if places[i] == places[j] else float(places[i] < places[j])
                    losses.append(-share * math.log(chance) - (1 - share) * math.log(1 - chance))
        for person, skill in zip(people, rule(before, places), strict=True):
            skills[person] = skill
        if number == len(tables) // 5:
            early = statistics.correlation(ranks([s.mu for s in skills]), ranks(strengths))
    return Run(statistics.correlation(ranks([s.mu for s in skills]), ranks(strengths)), statistics.fmean(losses), early)


def gain(rule: Rule, seats: int) -> Skill:
    """The first of newcomers after one table."""
    return rule([Skill(MU, SIGMA)] * seats, list(range(1, seats + 1)))[0]


def settle(rule: Rule) -> int:
    """Tables of five, all of newcomers at first, until the last of them has a sigma of 4."""
    chance, skills = random.Random(1), [Skill(MU, SIGMA)] * 5
    for number in range(1, 200):
        results = [seat + 2 * chance.gauss(0, 1) for seat in range(5)]
        skills = rule(skills, [1 + sum(other > own for other in results) for own in results])
        if max(skill.sigma for skill in skills) <= 4:
            return number
    return 0


def unfairness(rule: Rule) -> float:
    """The greatest difference of mu between tied newcomers, or between two orders of the same table."""
    tied = rule([Skill(MU, SIGMA)] * 5, [1, 2, 2, 2, 5])[1:4]
    skills = [Skill(MU + n, SIGMA - n / 2) for n in range(6)]
    one, other = rule(skills, [2, 1, 2, 2, 5, 5]), rule(skills[::-1], [5, 5, 2, 2, 1, 2])[::-1]
    spread = max(s.mu for s in tied) - min(s.mu for s in tied)
    return max(spread, *(abs(a.mu - b.mu) for a, b in zip(one, other, strict=True)))


def main() -> None:
    events = [play(random.Random(seed)) for seed in range(RUNS)]
    names = ("model", "rank correlation", "after a fifth", "log loss", "first of 3, of 10", "sigma of 10")
    print(f"| {' | '.join((*names, 'tables to settle', 'order'))} |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, rule in RULES.items():
        runs = [rate_all(rule, *event) for event in events]
        correlation, loss, early = (statistics.fmean(values) for values in zip(*runs, strict=True))
        three, ten = gain(rule, 3), gain(rule, 10)
        print(
            f"| {name} | {correlation:.3f} | {early:.3f} | {loss:.3f} | {three.mu:.1f}, {ten.mu:.1f} "
            f"| {ten.sigma:.2f} | {settle(rule) or 'over 200'} | {unfairness(rule):.2f} |"
        )


if __name__ == "__main__":
    main()
