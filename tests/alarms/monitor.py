"""Who watches a service: scrapes it, evaluates the rules of deploy/alarms.yaml, and tells which alarms fire.

The time of scrapes is a figure: what lasts for ten minutes need not take ten minutes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import promql_parser as ql
import yaml

from tests.alarms.promql import Samples, evaluate

ALARMS = Path(__file__).resolve().parents[2] / "deploy" / "alarms.yaml"
INTERVAL = 15.0
"""Seconds between two scrapes."""

MADE: dict[str, str] = {}
"""Alarm -> the test that makes its fault."""

Test = TypeVar("Test", bound=Callable[..., None])


def makes(alarm: str) -> Callable[[Test], Test]:
    """Of a test: it makes the fault of that alarm on something that runs, and sees the alarm fire."""

    def named(test: Test) -> Test:
        MADE[alarm] = test.__name__
        return test

    return named


@dataclass(frozen=True)
class Rule:
    """One alarm."""

    alarm: str
    expr: ql.Expr
    seconds: float
    """How long the expression must hold."""


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Those of the file."""
    doc: dict[str, Any] = yaml.safe_load(ALARMS.read_text())
    found = [rule for group in doc["groups"] for rule in group["rules"]]
    return tuple(Rule(r["alert"], ql.parse(r["expr"]), _seconds(r.get("for", ""))) for r in found)


def _seconds(text: str) -> float:
    return float(ql.parse_duration(text).total_seconds()) if text else 0.0


@dataclass
class Monitor:
    """`scrape` gives the text of /metrics, or None where nobody answers."""

    scrape: Callable[[], str | None]
    at: float = 0.0
    samples: Samples = field(default_factory=Samples)
    _since: dict[str, float] = field(default_factory=dict)

    def watch(self, seconds: float, meanwhile: Callable[[], object] = lambda: None) -> set[str]:
        """For so long, with something done before each scrape; the alarms that fire at the end."""
        end = self.at + seconds
        while self.at < end:
            self.at += INTERVAL
            meanwhile()
            self.samples.scraped(self.at, self.scrape())
            for rule in rules():
                if evaluate(rule.expr, self.samples, self.at):
                    self._since.setdefault(rule.alarm, self.at)
                else:
                    self._since.pop(rule.alarm, None)
        return self.firing()

    def firing(self) -> set[str]:
        """Whose expression has held for as long as it must."""
        lasting = {rule.alarm: rule.seconds for rule in rules()}
        return {alarm for alarm, since in self._since.items() if self.at - since >= lasting[alarm]}

    def sees(self, alarm: str, fault: Callable[[], object], meanwhile: Callable[[], object] = lambda: None) -> None:
        """All is well; then there is the fault: the alarm fires once it has lasted, not before, and no sooner."""
        assert self.watch(120, meanwhile) == set()
        self._since.pop(alarm, None)  # it is counted from the fault on
        fault()
        (rule,) = [rule for rule in rules() if rule.alarm == alarm]
        if rule.seconds > INTERVAL:
            assert alarm not in self.watch(rule.seconds - INTERVAL, meanwhile)
        assert alarm in self.watch(6 * 60, meanwhile)

    def resolves(self, alarm: str, meanwhile: Callable[[], object] = lambda: None) -> None:
        """The fault is gone: so is the alarm, within the quarter of an hour over which the longest expression looks."""
        assert alarm in self.firing()
        assert alarm not in self.watch(16 * 60, meanwhile)
