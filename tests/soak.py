"""The long proofs: `python -m tests.soak [GAME] [--minutes M] [--jobs N] [--seed S]`, run by `./run soak`.

Rounds of proofs over every registered ruleset until the time is over, one JSON line per proof on standard output,
then one line per ruleset with its totals. Every type of move, kind of fact, refusal code, card and tile must occur,
unless `soak_explained.json` says why it cannot. Exit status 1 when a proof fails or something never occurred.

With `--games K` instead of `--minutes` it is one round, with K games for each number of seats, crossed with every value
of the options that `--cross` names; all other options are drawn at random.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from time import monotonic

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from deploy.simulation.refusal_probes import random_value
from deploy.simulation.simulate import list_fact_kinds, list_refusal_codes, simulate
from domain.errors import InvalidTable
from domain.kernel.rules.meta import OptionType
from domain.kernel.schema.validators import Boolean, IntegerRange, Nullable, Validator, Word
from domain.types import Json
from tests.kernel.machine import machine_of
from tests.rulesets import REGISTERED, Registered

EXPLAINED = Path(__file__).with_name("soak_explained.json")

Doc = dict[str, Json]
Counts = dict[str, Counter[str]]
PARTS = {"moves": "moves_by_type", "facts": "facts_by_kind", "codes": "refusals_by_code", "things": "things_by_id"}
"""Part of the totals -> member of a simulation's figures."""


@dataclass(frozen=True)
class Size:
    """How much one round of proofs does."""

    games: int = 40
    """Games per table that is simulated."""
    probes: float = 2.0
    """Illegal moves per step; five times as many in the proof that is about them."""
    examples: int = 200
    """Walks of the Hypothesis machine; none at 0."""
    steps: int = 40
    """Rules per walk."""


@dataclass(frozen=True)
class Crossed:
    """So many games for each number of seats and each value of some options."""

    games: int
    options: tuple[str, ...] = ()
    """Names of the options; all others are drawn at random."""

    def table(self, seats: int, options: Mapping[str, Json]) -> str:
        """What the totals call the tables that are counted together: `3 seats, setup draft`."""
        return ", ".join([f"{seats} seats", *(f"{name} {options[name]}" for name in self.options)])


@dataclass
class Totals:
    """What occurred in all proofs of a ruleset."""

    counts: Counts = field(default_factory=lambda: {part: Counter() for part in PARTS})
    games: int = 0
    failed: int = 0
    tables: Counter[str] = field(default_factory=Counter)
    """Games that were finished at tables of the same number of seats and the same crossed options."""

    def add(self, proof: Doc) -> None:
        """The counts of one proof."""
        self.games += proof.get("games", 0)
        if "table" in proof:
            self.tables[proof["table"]] += proof["finished"]
        self.failed += not proof["ok"]
        for part, member in PARTS.items():
            self.counts[part].update(proof.get(member, {}))


# --- tables ----------------------------------------------------------------------------------------------------


def option_values(option: OptionType, rng: random.Random) -> list[Json]:
    """Every value of an option with few, the ends and some in between of one with many."""
    return list(dict.fromkeys(v for v in _values(option.validator, rng, option.default) if _hashable(v)))


def _hashable(value: Json) -> bool:
    return not isinstance(value, list | dict)


def _values(shape: Validator, rng: random.Random, default: Json) -> Iterator[Json]:
    yield default
    if isinstance(shape, Boolean):
        yield from (False, True)
    elif isinstance(shape, Word):
        yield from shape.of
    elif isinstance(shape, IntegerRange) and shape.hi - shape.lo < 8:
        yield from range(shape.lo, shape.hi + 1)
    elif isinstance(shape, IntegerRange):
        top = max(shape.lo, min(shape.hi, 4 * max(int(default or 0), 1)))
        yield from (shape.lo, rng.randint(shape.lo, top), top)
    elif isinstance(shape, Nullable):
        yield None
        yield from _values(shape.inner, rng, default)
    else:
        yield random_value(shape, rng, ("none",))


def tables(entry: Registered, rng: random.Random) -> Iterator[tuple[int, Doc]]:
    """Every number of seats with the default options, then every value of every option at some number."""
    meta = entry.rules.meta
    for seats in meta.seats:
        yield seats, dict(entry.options)
    for name, option in meta.options.items():
        for value in option_values(option, rng):
            table = rng.choice(meta.seats), {**entry.options, name: value}
            if value != option.default and _allowed(entry, *table):
                yield table


BATCH = 10
"""So many games of a crossed table have the same options."""


def crossed_tables(entry: Registered, rng: random.Random, crossed: Crossed) -> Iterator[tuple[int, Doc, int]]:
    """Seats, options and number of games, batch by batch, of every crossed table that the ruleset allows."""
    known = entry.rules.meta.options
    values = [option_values(known[name], rng) for name in crossed.options]
    for seats, *picked in product(entry.rules.meta.seats, *values):
        options = {**entry.options, **dict(zip(crossed.options, picked, strict=True))}
        if _allowed(entry, seats, options):
            for begin in range(0, crossed.games, BATCH):
                yield seats, _drawn(entry, rng, seats, options), min(BATCH, crossed.games - begin)


def _drawn(entry: Registered, rng: random.Random, seats: int, options: Doc) -> Doc:
    """The options, and each of the others at random among the values that fit; those that a test sets are kept."""
    found = dict(options)
    for name, option in entry.rules.meta.options.items():
        if name not in found:
            fit = [v for v in option_values(option, rng) if _allowed(entry, seats, {**found, name: v})]
            found |= {name: rng.choice(fit)} if fit else {}
    return found


def _allowed(entry: Registered, seats: int, options: Mapping[str, Json]) -> bool:
    try:
        entry.rules.make_table(seats, options)
    except InvalidTable:
        return False
    return True


# --- proofs ----------------------------------------------------------------------------------------------------


def simulated(
    entry: Registered, seats: int, options: Doc, number: int, size: Size, jobs: int, mutated: bool, patch: Json = None
) -> Doc:
    """Whole games with deadlines, rewinds and changing players; with `mutated` few games and many illegal moves."""
    games, probes = (max(size.games // 5, 1), 5 * size.probes) if mutated else (size.games, size.probes)
    bot = "heuristic" if entry.rules.bot and number % 2 else "builder"
    figures = simulate(
        entry.rules,
        seats,
        games,
        number,
        options,
        bot,
        jobs,
        wild=True,
        probes=probes,
        things=entry.things,
        candidates=entry.candidates,
        patch=patch,
    )
    ok = figures["finished"] == games and not figures["invariant_failures"]
    return {"proof": "mutations" if mutated else "simulation", "ok": ok, **figures}


def walked(entry: Registered, number: int, size: Size) -> Doc:
    """The Hypothesis machine; what it says goes to standard error."""
    of = settings(
        max_examples=size.examples,
        stateful_step_count=size.steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    doc: Doc = {"proof": "machine", "ok": True, "ruleset": entry.name, "seed": number, "examples": size.examples}
    try:
        with redirect_stdout(sys.stderr):
            run_state_machine_as_test(seed(number)(machine_of(entry)), settings=of)
    except Exception as error:  # noqa: BLE001  any failure at all is the result of this proof
        traceback.print_exception(error)
        doc |= {"ok": False, "failure": f"{type(error).__name__}: {error}"[:500]}
    return doc


def proofs(entry: Registered, number: int, size: Size, jobs: int = 1, crossed: Crossed | None = None) -> Iterator[Doc]:
    """One round of all proofs of a ruleset; the same number gives the same round."""
    rng = random.Random(f"{entry.name}|{number}")
    chosen = list(tables(entry, rng))
    every = crossed_tables(entry, rng, crossed) if crossed else ((*table, size.games) for table in chosen)
    for at, (seats, options, games) in enumerate(every):
        proof = simulated(entry, seats, options, 1000 * number + at, replace(size, games=games), jobs, mutated=False)
        yield {**proof, "table": crossed.table(seats, options)} if crossed else proof
    for at, rare in enumerate(entry.rare):
        for turn in (0, 1):
            seed_ = 1000 * number + 500 + 2 * at + turn
            yield simulated(entry, rare["seats"], rare["options"], seed_, size, jobs, turn == 1, rare["patch"])
    for seats, options in rng.sample(chosen, min(2, len(chosen))):
        yield simulated(entry, seats, options, 1000 * number + 999, size, jobs, mutated=True)
    if size.examples:
        yield walked(entry, number, size)


# --- totals ----------------------------------------------------------------------------------------------------


def universe(entry: Registered) -> dict[str, list[str]]:
    """All that must occur."""
    rules = entry.rules
    return {
        "moves": sorted(rules.moves),
        "facts": list_fact_kinds(rules, wild=True),
        "codes": list_refusal_codes(rules),
        "things": sorted(entry.things),
    }


def explained(name: str) -> dict[str, dict[str, str]]:
    """Part -> what need not occur -> the reason."""
    table: dict[str, dict[str, dict[str, str]]] = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    return table.get(name, {})


def never(entry: Registered, totals: Totals) -> dict[str, list[str]]:
    """What did not occur although nothing explains it."""
    reasons = explained(entry.name)
    missing = {
        part: [n for n in names if not totals.counts[part][n] and n not in reasons.get(part, {})]
        for part, names in universe(entry).items()
    }
    return {part: names for part, names in missing.items() if names}


def summary(entry: Registered, totals: Totals, number: int) -> Doc:
    """The line that ends the soak of a ruleset."""
    missing = never(entry, totals)
    counts = {part: {n: totals.counts[part][n] for n in names} for part, names in universe(entry).items()}
    return {
        "proof": "totals",
        "ok": not missing and not totals.failed,
        "ruleset": entry.name,
        "seed": number,
        "games": totals.games,
        "failed_proofs": totals.failed,
        **({"finished_by_table": dict(totals.tables)} if totals.tables else {}),
        "never": missing,
        **counts,
    }


def soak(
    entries: Sequence[Registered],
    number: int,
    minutes: float,
    say: Callable[[Doc], None],
    jobs: int = 1,
    size: Size | None = None,
    crossed: Crossed | None = None,
) -> bool:
    """Rounds over the rulesets until the time is over, at least one; returns whether everything held."""
    end, of, totals = monotonic() + 60 * minutes, size or Size(), {e.name: Totals() for e in entries}
    current = number
    while True:
        for entry in entries:
            for proof in proofs(entry, current, of, jobs, crossed):
                totals[entry.name].add(proof)
                say(proof)
        if monotonic() >= end:
            break
        current += 1
    sums = [summary(entry, totals[entry.name], number) for entry in entries]
    for doc in sums:
        say(doc)
    return all(doc["ok"] for doc in sums)


def chosen_entries(game: str | None) -> list[Registered]:
    """The registered rulesets, or those of one game."""
    return [e for e in REGISTERED if game in (None, e.name, e.name.split("@")[0])]


def _say(doc: Doc) -> None:
    print(json.dumps(doc, ensure_ascii=False), flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 everything held, 1 something did not, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="soak", description="Play random games and try to break the rules.")
    parser.add_argument("game", nargs="?", metavar="GAME", help="one game instead of all")
    long = parser.add_mutually_exclusive_group()
    long.add_argument("--minutes", type=float, default=10.0, metavar="M", help="begin no new round after so long")
    long.add_argument("--games", type=int, metavar="K", help="one round, so many games for each number of seats")
    parser.add_argument(
        "--cross", action="append", default=[], metavar="OPTION", help="with --games: and for each value of this option"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="number of the first round")
    args = parser.parse_args(argv)
    entries = chosen_entries(args.game)
    if not entries:
        parser.error(f"no such game: {args.game}; there are {', '.join(e.name for e in REGISTERED)}")
    unknown = {name for name in args.cross for e in entries if name not in e.rules.meta.options}
    if unknown or (args.cross and not args.games):
        parser.error(f"not every game has the option {min(unknown)}" if unknown else "--cross needs --games")
    crossed = Crossed(args.games, tuple(args.cross)) if args.games else None
    minutes = 0.0 if crossed else args.minutes
    return 0 if soak(entries, args.seed, minutes, _say, args.jobs, crossed=crossed) else 1


if __name__ == "__main__":
    sys.exit(main())
