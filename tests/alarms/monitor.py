"""Who watches a service: scrapes it, and lets Prometheus' own `promtool` tell which alarms of deploy/alarms.yaml fire.

The time of scrapes is a figure: what lasts for ten minutes need not take ten minutes.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

ALARMS = Path(__file__).resolve().parents[2] / "deploy" / "alarms.yaml"
INTERVAL = 15
"""Seconds between two scrapes."""

MADE: dict[str, str] = {}
"""Alarm -> the test that makes its fault."""

PROMTOOL = shutil.which("promtool")

_UNITS = {"s": 1, "m": 60, "h": 3600}

Test = TypeVar("Test", bound=Callable[..., None])


def makes(alarm: str) -> Callable[[Test], Test]:
    """Of a test: it makes the fault of that alarm on something that runs, and sees the alarm fire."""

    def named(test: Test) -> Test:
        MADE[alarm] = test.__name__
        marked: Test = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not there")(test)
        return marked

    return named


@functools.cache
def durations() -> dict[str, int]:
    """Alarm -> the seconds for which its expression must hold, in the order of the file."""
    doc: dict[str, Any] = yaml.safe_load(ALARMS.read_text())
    found = [rule for group in doc["groups"] for rule in group["rules"]]
    return {rule["alert"]: int(rule["for"][:-1]) * _UNITS[rule["for"][-1]] if "for" in rule else 0 for rule in found}


@functools.cache
def _watched() -> set[str]:
    """Words of the file: no other metric matters, and a metric's name is a word."""
    return set(re.findall(r"\w+", ALARMS.read_text()))


@dataclass
class Monitor:
    """`scrape` gives the text of /metrics, or None where nobody answers."""

    scrape: Callable[[], str | None]
    scrapes: int = 0
    series: dict[str, list[str]] = field(default_factory=dict)
    """Selector of a series -> its value at time 0 and at each scrape, in the notation of promtool."""

    @property
    def at(self) -> int:
        """Seconds, of the newest scrape."""
        return self.scrapes * INTERVAL

    def watch(self, seconds: int, meanwhile: Callable[[], object] = lambda: None) -> set[str]:
        """For so long, with something done before each scrape; the alarms that fire at the end."""
        self.wait(seconds, meanwhile)
        return self.firing()

    def wait(self, seconds: int, meanwhile: Callable[[], object]) -> None:
        """Scrape for so long."""
        end = self.at + seconds
        while self.at < end:
            meanwhile()
            self._keep(self.scrape())

    def _keep(self, text: str | None) -> None:
        found = {'up{job="annals"}': str(int(text is not None))}
        for family in text_string_to_metric_families(text or ""):
            for sample in family.samples:
                if _watched() & {sample.name, family.name}:
                    labels = ",".join(f"{n}={json.dumps(v)}" for n, v in {**sample.labels, "job": "annals"}.items())
                    found[f"{sample.name}{{{labels}}}"] = str(sample.value)
        self.scrapes += 1
        for name in self.series.keys() | found.keys():
            self.series.setdefault(name, ["_"] * self.scrapes).append(found.get(name, "stale"))

    def firing(self) -> set[str]:
        """Those that promtool reports, when it is told to expect none."""
        tests = {
            "rule_files": [str(ALARMS)],
            "evaluation_interval": f"{INTERVAL}s",
            "tests": [
                {
                    "interval": f"{INTERVAL}s",
                    "input_series": [{"series": n, "values": " ".join(v)} for n, v in self.series.items()],
                    "alert_rule_test": [{"eval_time": f"{self.at}s", "alertname": alarm} for alarm in durations()],
                }
            ],
        }
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(tests, file)
            file.flush()
            done = subprocess.run(
                [str(PROMTOOL), "test", "rules", file.name], capture_output=True, text=True, check=False
            )
        told = done.stdout + done.stderr
        found = set(re.findall(r"alertname: ?(\w+), time", told))
        assert done.returncode == bool(found), told
        return found

    def sees(self, alarm: str, fault: Callable[[], object], meanwhile: Callable[[], object] = lambda: None) -> None:
        """All is well; then there is the fault: the alarm fires once it has lasted, not before, and no sooner."""
        assert self.watch(120, meanwhile) == set()
        fault()
        seconds = durations()[alarm]
        if seconds > INTERVAL:
            assert alarm not in self.watch(seconds - INTERVAL, meanwhile)
        assert alarm in self.watch(6 * 60, meanwhile)

    def resolves(self, alarm: str, meanwhile: Callable[[], object] = lambda: None) -> None:
        """The fault is gone: so is the alarm, within the quarter of an hour over which the longest expression looks."""
        assert alarm in self.firing()
        assert alarm not in self.watch(16 * 60, meanwhile)
