"""Scenarios: a game in one JSON document, with its draws told and its results expected (docs/scenarios.md).

For tests, for judges who reproduce a dispute, for authors of clients. Every fault is a ScenarioError: one in the
document names its JSON pointer, one in the course of the game its step, what was expected and what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from domain.errors import RuleError, ScenarioError, UnknownRuleset
from domain.kernel.game.in_memory_game import AnyMatch
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.scenario.expect import check_names
from domain.kernel.scenario.form import check, parse
from domain.kernel.scenario.start import begin
from domain.kernel.scenario.steps import Play
from domain.kernel.scenario.trace import NOTHING, Change, Seen
from domain.types import Json

__all__ = ["NOTHING", "Change", "Outcome", "Result", "Seen", "Trace", "check", "parse", "play", "run"]

Trace = Callable[[int, Record | RuleError], None]
"""Called after each step (0: the set-up) with its record or refusal, before its expectations are compared."""

Watch = Callable[[Seen], None]
"""Called likewise, with all that a step has brought."""


@dataclass(frozen=True)
class Result:
    """A scenario, or a variant of one, in which everything came as expected."""

    steps: int
    """How many steps were run, without those of variants."""
    match: AnyMatch
    """The game after the last of them."""
    variants: Mapping[str, Result] = field(default_factory=dict)
    """By name."""


@dataclass(frozen=True)
class Outcome:
    """How the steps of the document, or of a variant, came out: either a result or a fault."""

    variant: str
    """Its name; empty for the document."""
    result: Result | None = None
    fault: ScenarioError | None = None


def run(get_ruleset: Callable[[str], AnyRuleset], doc: Json, trace: Trace | None = None) -> Result:
    """Plays a scenario; raises ScenarioError for the first fault, that of a variant once all were played.

    `get_ruleset` raises UnknownRuleset for a name it does not know.
    """
    told = _silent if trace is None else lambda seen: trace(seen.step, seen.done)
    outcomes = {outcome.variant: outcome for outcome in play(get_ruleset, doc, told)}
    for outcome in outcomes.values():
        if outcome.fault:
            if outcome.variant:
                raise ScenarioError(f"variant {outcome.variant}: {outcome.fault}") from outcome.fault
            raise outcome.fault
    results = {name: outcome.result for name, outcome in outcomes.items() if outcome.result}
    return replace(results.pop(""), variants=results)


def play(get_ruleset: Callable[[str], AnyRuleset], doc: Json, watch: Watch | None = None) -> Iterator[Outcome]:
    """Plays a scenario: the outcome of its own steps, and if these came as expected, of one variant after the other."""
    told = watch or _silent
    try:
        base = _base(get_ruleset, doc, told)
    except ScenarioError as error:
        yield Outcome("", fault=error)
        return
    yield Outcome("", Result(len(doc.get("steps", ())), base.match.fork()))
    for variant in doc.get("variants", ()):
        branch = base.fork()
        try:
            _go(branch, variant["steps"], variant.get("expect"), len(branch.match.records), told, variant["name"])
        except ScenarioError as error:
            yield Outcome(variant["name"], fault=error)
        else:
            yield Outcome(variant["name"], Result(len(variant["steps"]), branch.match))


def _silent(_: Seen) -> None:
    """Nobody listens."""


def _base(get_ruleset: Callable[[str], AnyRuleset], doc: Json, told: Watch) -> Play:
    """The game after the document's own steps."""
    check(doc)
    rules = _ruleset(get_ruleset, doc["ruleset"])
    for at, expect in _expectations(doc):
        check_names(rules, doc["table"]["seats"], expect, at)
    patched = "patch" in doc or "blank" in doc
    base = Play(begin(rules, doc), "seed" in doc, doc.get("patch", {}) if patched else None)
    started = base.match.records[-1]
    told(_seen("", 0, started, None, base.match))
    _go(base, doc.get("steps", ()), doc.get("expect"), started.version - 1, told)
    return base


def _ruleset(get_ruleset: Callable[[str], AnyRuleset], name: str) -> AnyRuleset:
    try:
        return get_ruleset(name)
    except UnknownRuleset:
        raise ScenarioError(f"/ruleset: there is no ruleset {name}") from None


def _expectations(doc: Json) -> Iterator[tuple[str, Json]]:
    """All that a document expects, with its JSON pointer."""
    for at, part in [("", doc), *((f"/variants/{i}", v) for i, v in enumerate(doc.get("variants", ())))]:
        yield f"{at}/expect", part.get("expect", {})
        yield from ((f"{at}/steps/{i}/expect", s.get("expect", {})) for i, s in enumerate(part.get("steps", ())))


def _go(game: Play, steps: Sequence[Json], expect: Json, since: int, told: Watch, variant: str = "") -> None:
    """All steps, then what is expected after them of the records from `since` on."""
    for number, step in enumerate(steps, 1):
        before = game.match.state

        def hear(done: Record | RuleError, number: int = number, before: Json = before) -> None:
            told(_seen(variant, number, done, before, game.match))

        try:
            game.step(step, hear)
        except ScenarioError as error:
            raise ScenarioError(f"step {number}: {error}") from error
    if expect is not None:
        try:
            game.compare(expect, since)
        except ScenarioError as error:
            raise ScenarioError(f"at the end: {error}") from error


def _seen(variant: str, step: int, done: Record | RuleError, before: Json, match: AnyMatch) -> Seen:
    return Seen(variant, step, done, [d.to_json() for d in match.decisions()], before, match.state)
