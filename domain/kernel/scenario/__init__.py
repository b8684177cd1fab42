"""Scenarios: a game in one JSON document, with given draws and expected results (docs/scenarios.md).

For tests, for judges reproducing a dispute, for authors of clients. Every fault is a ScenarioError: one in the document
names its JSON pointer, one in the course of the game its step, the expectation and the finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from domain.errors import RuleError, ScenarioError, UnknownRuleset
from domain.kernel.game.in_memory_game import AnyInMemoryGame
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.scenario.expect import check_names
from domain.kernel.scenario.form import check, parse
from domain.kernel.scenario.start import begin
from domain.kernel.scenario.steps import ScenarioRun
from domain.kernel.scenario.trace import MISSING, Change, StepTrace
from domain.types import Json

__all__ = [
    "MISSING",
    "Change",
    "Result",
    "ScenarioOutcome",
    "StepCallback",
    "StepTrace",
    "check",
    "parse",
    "play",
    "run",
]

StepCallback = Callable[[int, Record | RuleError], None]
"""Called after each step (0: the set-up) with its record or refusal, before its expectations are compared."""

StepObserver = Callable[[StepTrace], None]
"""Called likewise, with the full trace of a step."""


@dataclass(frozen=True)
class Result:
    """A scenario, or a variant of one, with all expectations met."""

    steps: int
    """Number of steps run, without those of variants."""
    match: AnyInMemoryGame
    """The game after the last of them."""
    variants: Mapping[str, Result] = field(default_factory=dict)
    """By name."""


@dataclass(frozen=True)
class ScenarioOutcome:
    """Outcome of the document's own steps, or of a variant: either a result or a fault."""

    variant: str
    """Its name; empty for the document."""
    result: Result | None = None
    fault: ScenarioError | None = None


def run(get_ruleset: Callable[[str], AnyRuleset], doc: Json, callback: StepCallback | None = None) -> Result:
    """Play a scenario; raise ScenarioError for the first fault, one of a variant after all were played.

    `get_ruleset` raises UnknownRuleset for an unknown name.
    """
    observer = _ignore if callback is None else lambda seen: callback(seen.step, seen.done)
    outcomes = {outcome.variant: outcome for outcome in play(get_ruleset, doc, observer)}
    for outcome in outcomes.values():
        if outcome.fault:
            if outcome.variant:
                raise ScenarioError(f"variant {outcome.variant}: {outcome.fault}") from outcome.fault
            raise outcome.fault
    results = {name: outcome.result for name, outcome in outcomes.items() if outcome.result}
    return replace(results.pop(""), variants=results)


def play(
    get_ruleset: Callable[[str], AnyRuleset], doc: Json, observer: StepObserver | None = None
) -> Iterator[ScenarioOutcome]:
    """Play a scenario: yield the outcome of its own steps, and after success the outcome of each variant."""
    notify = observer or _ignore
    try:
        base = _run_own_steps(get_ruleset, doc, notify)
    except ScenarioError as error:
        yield ScenarioOutcome("", fault=error)
        return
    yield ScenarioOutcome("", Result(len(doc.get("steps", ())), base.match.fork()))
    for variant in doc.get("variants", ()):
        branch = base.fork()
        try:
            _run_steps(
                branch, variant["steps"], variant.get("expect"), len(branch.match.records), notify, variant["name"]
            )
        except ScenarioError as error:
            yield ScenarioOutcome(variant["name"], fault=error)
        else:
            yield ScenarioOutcome(variant["name"], Result(len(variant["steps"]), branch.match))


def _ignore(_: StepTrace) -> None:
    """Ignore the step."""


def _run_own_steps(get_ruleset: Callable[[str], AnyRuleset], doc: Json, observer: StepObserver) -> ScenarioRun:
    """Return the game after the document's own steps."""
    check(doc)
    rules = _ruleset(get_ruleset, doc["ruleset"])
    for at, expect in _expectations(doc):
        check_names(rules, doc["table"]["seats"], expect, at)
    patched = "patch" in doc or "blank" in doc
    base = ScenarioRun(begin(rules, doc), "seed" in doc, doc.get("patch", {}) if patched else None)
    started = base.match.records[-1]
    observer(_observe("", 0, started, None, base.match))
    _run_steps(base, doc.get("steps", ()), doc.get("expect"), started.version - 1, observer)
    return base


def _ruleset(get_ruleset: Callable[[str], AnyRuleset], name: str) -> AnyRuleset:
    try:
        return get_ruleset(name)
    except UnknownRuleset:
        raise ScenarioError(f"/ruleset: there is no ruleset {name}") from None


def _expectations(doc: Json) -> Iterator[tuple[str, Json]]:
    """Yield all expectations of a document with their JSON pointers."""
    for at, part in [("", doc), *((f"/variants/{i}", v) for i, v in enumerate(doc.get("variants", ())))]:
        yield f"{at}/expect", part.get("expect", {})
        yield from ((f"{at}/steps/{i}/expect", s.get("expect", {})) for i, s in enumerate(part.get("steps", ())))


def _run_steps(
    game: ScenarioRun, steps: Sequence[Json], expect: Json, since: int, observer: StepObserver, variant: str = ""
) -> None:
    """Run all steps, then compare the final expectations with the records from `since` on."""
    for number, step in enumerate(steps, 1):
        before = game.match.state

        def observe(done: Record | RuleError, number: int = number, before: Json = before) -> None:
            observer(_observe(variant, number, done, before, game.match))

        try:
            game.step(step, observe)
        except ScenarioError as error:
            raise ScenarioError(f"step {number}: {error}") from error
    if expect is not None:
        try:
            game.compare(expect, since)
        except ScenarioError as error:
            raise ScenarioError(f"at the end: {error}") from error


def _observe(variant: str, step: int, done: Record | RuleError, before: Json, match: AnyInMemoryGame) -> StepTrace:
    return StepTrace(variant, step, done, [d.to_json() for d in match.decisions()], before, match.state)
